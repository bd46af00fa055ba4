#!/usr/bin/env python3
"""What `neardups.spark` moves between machines: seconds, shuffle and broadcast bytes of each stage, as a table in Markdown.

    python3 benches/spark.py CORPUS.jsonl FOLDER
    python3 benches/spark.py CORPUS.jsonl FOLDER --scan target/release/dedup algo=simhash
    python3 benches/spark.py CORPUS.jsonl FOLDER --master 'local-cluster[2,1,2048]' threshold=0.7 hot=64

CORPUS has `id` and `text` in each line. Other arguments are those of `dedup`. With `--scan`, the pairs, similarities and kept documents are
compared with those of that program, and a difference is an error.

Needs Java 17 and a Python environment with pyspark, pyarrow and the wheel of this package (tests/python/run), and in FOLDER about twice the size
of the corpus; what a run leaves there is deleted by the next one.

No join is turned into a broadcast because the corpus is small (`--small` allows it): so the bytes are those that a document costs in a large
corpus too. The bytes are what the tasks of a stage wrote for others to read, from the status store of Spark, compressed as Spark
does by default (lz4). A broadcast is measured as Spark builds it, before compression; each machine gets it once.
"""

import argparse
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from neardups import spark as neardups_spark

UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def read(file):
    with open(file, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def write(rows, folder, files=8):
    """The documents as Parquet files, in order. Returns the bytes of their texts."""
    folder.mkdir(parents=True)
    schema = pa.schema([("id", pa.string()), ("text", pa.string()), ("n", pa.int64())])
    each = -(-len(rows) // files)
    for number in range(files):
        part = rows[number * each : (number + 1) * each]
        part = [{"id": row["id"], "text": row["text"], "n": number * each + at} for at, row in enumerate(part)]
        pq.write_table(pa.Table.from_pylist(part, schema), folder / f"part-{number:02}.parquet", compression="zstd")
    return sum(len(row["text"].encode()) for row in rows)


class Meter:
    """Sums over all that Spark has done since the meter was made."""

    def __init__(self, spark):
        self.context, self.session = spark.sparkContext._jsc.sc(), spark._jsparkSession
        gateway = spark.sparkContext._gateway
        self.no_quantiles = gateway.new_array(gateway.jvm.double, 0)
        # Spark forgets old ones.
        self.of_stages, self.of_executions = {}, {}

    def settle(self):
        """Events reach the store a little later."""
        self.context.listenerBus().waitUntilEmpty()

    def stages(self):
        stages = self.context.statusStore().stageList(None, False, False, self.no_quantiles, None)
        return [stages.apply(at) for at in range(stages.size())]

    def sums(self):
        self.settle()
        for stage in self.stages():
            self.of_stages[stage.stageId(), stage.attemptId()] = collections.Counter({
                "shuffle": stage.shuffleWriteBytes(),
                "rows": stage.shuffleWriteRecords(),
                "task seconds": stage.executorRunTime() / 1000,
            })
        self.count_broadcasts()
        found = collections.Counter(broadcast=sum(self.of_executions.values()))
        for own in self.of_stages.values():
            found.update(own)
        return found

    def count_broadcasts(self):
        store = self.session.sharedState().statusStore()
        executions = store.executionsList()
        for at in range(executions.size()):
            number, total = executions.apply(at).executionId(), 0
            if self.of_executions.get(number):
                continue
            values = store.executionMetrics(number)
            nodes = store.planGraph(number).allNodes()
            for node in (nodes.apply(of) for of in range(nodes.size())):
                if node.name() != "BroadcastExchange":
                    continue
                metrics = node.metrics()
                for metric in (metrics.apply(of) for of in range(metrics.size())):
                    value = values.get(metric.accumulatorId())
                    if metric.name() == "data size" and value.isDefined():
                        total += size(value.get())
            self.of_executions[number] = total


def size(text):
    """The bytes of a metric, which is a text such as `total (min, med, max ...)\\n4.0 MiB (...)`."""
    found = re.search(r"([\d.,]+) (B|KiB|MiB|GiB)", text)
    return float(found[1].replace(",", "")) * UNITS[found[2]] if found else 0


def value(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def flags(options):
    out = []
    for name, own in options.items():
        out += ["--" + name.replace("_", "-")] + ([] if own is True else [str(own)])
    return out


def compare(program, corpus, found, options):
    """The differences from a scan on one machine."""

    def scan(emit):
        command = [program, "scan", corpus, "--emit", emit, "--quiet", *flags(options)]
        return [json.loads(line) for line in subprocess.run(command, capture_output=True, check=True).stdout.splitlines()]

    own = {(row["a"], row["b"]): row["similarity"] for row in found.pairs.toLocalIterator()}
    expected = {(row["a"], row["b"]): row["similarity"] for row in scan("pairs")}
    unequal = sum(own[pair] != expected[pair] for pair in own.keys() & expected.keys())
    kept = {row["id"] for row in found.kept.select("id").toLocalIterator()}
    expected_kept = {row["id"] for row in scan("verdicts") if row["keep"]}
    differences = [len(own.keys() - expected.keys()), len(expected.keys() - own.keys()), unequal, len(kept ^ expected_kept)]
    print(
        f"\n{len(own):,} pairs, of the scan {len(expected):,}: {differences[0]} extra, {differences[1]} missing, {differences[2]} similarities "
        f"unequal; {len(kept):,} kept, of the scan {len(expected_kept):,}: {differences[3]} different"
    )
    if any(differences):
        sys.exit("the results differ")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("options", nargs="*", help="arguments of dedup: NAME=VALUE")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--shuffle-partitions", default="16")
    parser.add_argument("--small", action="store_true", help="let Spark broadcast what is small")
    parser.add_argument("--scan", metavar="PROGRAM", help="compare with this program")
    given = parser.parse_intermixed_args()
    options = {name: value(text) for name, text in (option.split("=", 1) for option in given.options)}
    rows = read(given.corpus)
    for name in ("in", "work"):
        shutil.rmtree(given.folder / name, ignore_errors=True)
    bytes_of_texts, documents = write(rows, given.folder / "in"), len(rows)
    del rows

    builder = SparkSession.builder.master(given.master).config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.sql.shuffle.partitions", given.shuffle_partitions).config("spark.driver.memory", "3g")
    builder = builder.config("spark.ui.retainedStages", "100000").config("spark.sql.ui.retainedExecutions", "100000")
    if not given.small:
        builder = builder.config("spark.sql.autoBroadcastJoinThreshold", "-1")
        builder = builder.config("spark.sql.adaptive.autoBroadcastJoinThreshold", "-1")
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")

    meter, table = Meter(spark), []
    frame_of = neardups_spark._Stages.frame

    def frame(self, name, make):
        before, start = meter.sums(), time.monotonic()
        came = frame_of(self, name, make)
        seconds, after = time.monotonic() - start, meter.sums()
        # A stage may be made of others.
        inner = sum((row[2] for row in table if row[3] >= start), collections.Counter())
        own = collections.Counter({key: after[key] - before[key] - inner[key] for key in after})
        table.append((name, seconds, own, start))
        return came

    neardups_spark._Stages.frame = frame
    begin, before = time.monotonic(), meter.sums()
    found = neardups_spark.dedup(spark.read.parquet(str(given.folder / "in")), id="id", work=str(given.folder / "work"), **options)
    report = found.report
    seconds, after = time.monotonic() - begin, meter.sums()

    print(f"{documents:,} documents, {bytes_of_texts / documents:,.0f} bytes of text each; {given.options or 'defaults'}; Spark {spark.version}\n")
    print("| stage | s | task s | rows moved | shuffle bytes a document | of the text | broadcast bytes a document |")
    print("|---|---|---|---|---|---|---|")
    named = sum((row[2] for row in table), collections.Counter())
    rest = collections.Counter({key: after[key] - before[key] - named[key] for key in after})
    whole = collections.Counter({key: after[key] - before[key] for key in after})
    lines = [*table, ("the rest", seconds - sum(row[1] for row in table), rest), ("all", seconds, whole)]
    for name, took, own, *_ in lines:
        moved = own["shuffle"]
        print(
            f"| {name} | {took:.1f} | {own['task seconds']:.1f} | {own['rows']:,} | {moved / documents:.1f} | "
            f"{100 * moved / bytes_of_texts:.2f} % | {own['broadcast'] / documents:.1f} |"
        )
    counts = ("copies", "distinct", "hot_members", "candidates", "edges", "removed", "changed")
    print("\n" + ", ".join(f"{name} {report[name]}" for name in counts))
    if given.scan:
        own = {"hot", "partitions", "memory", "sorts", "edges", "block", "crowd", "broadcast"}
        compare(given.scan, given.corpus, found, {name: value for name, value in options.items() if name not in own})
    spark.stop()


if __name__ == "__main__":
    main()
