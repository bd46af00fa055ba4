"""Spark finds what the command finds: pairs, similarities, kept documents, explanations and clusters.

    pip install pyspark pyarrow pytest, the wheel of this package; Java 17
    python -m pytest tests/python/test_spark.py

Takes some minutes. The command is `dedup` of the wheel, or that which the variable DEDUP names. CORPUS names a file of JSON lines with `id`
and `text` that is compared too; MASTER another master than `local[2]`, such as `local-cluster[2,1,2048]`.
"""

import json
import os
import pathlib
import random
import subprocess
import sys

import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from neardups.spark import dedup


@pytest.fixture(scope="session")
def spark():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master(os.environ.get("MASTER", "local[2]"))
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "97")
        .config("spark.driver.memory", "2g")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


def texts(seed=1, families=60):
    """Families of texts with edits, copies, a frame that many share, and texts without words."""
    rng = random.Random(seed)
    stop = ["the", "a", "is", "of", "to", "and", "in"]
    frame = " ".join(f"frame{i}" for i in range(60))
    found = ["", "...", "one", "one"]
    for family in range(families):
        base = [rng.choice(stop) if rng.random() < 0.3 else f"f{family}w{i}" for i in range(30 + rng.randrange(60))]
        for _ in range(1 + rng.randrange(6)):
            words = list(base)
            for _ in range(rng.randrange(6)):
                words[rng.randrange(len(words))] = f"x{rng.randrange(1 << 40)}"
            words = words[: len(words) - rng.randrange(4)]
            text = (frame + " " if family % 3 == 0 else "") + " ".join(words)
            found += [text] * (1 + (rng.random() < 0.25))
    rng.shuffle(found)
    return found


class Corpus:
    """Documents as JSON lines for the command, and as Parquet files for Spark, in the same order."""

    def __init__(self, folder: pathlib.Path, rows, name="in", files=3):
        self.rows, self.lines, self.folder = rows, folder / f"{name}.jsonl", folder / name
        self.lines.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        self.folder.mkdir()
        each = -(-len(rows) // files)
        for number in range(files):
            part = rows[number * each : (number + 1) * each]
            table = pa.Table.from_pylist(part, pa.schema([("id", pa.string()), ("text", pa.string()), ("n", pa.int64())]))
            pq.write_table(table, self.folder / f"part {number:02}.parquet", row_group_size=50)

    def scan(self, emit, *flags):
        command = [os.environ.get("DEDUP", "dedup"), "scan", str(self.lines), "--emit", emit, "--quiet", *flags]
        ran = subprocess.run(command, capture_output=True, check=False)
        assert ran.returncode == 0, ran.stderr.decode()
        return [json.loads(line) for line in ran.stdout.splitlines()]


def corpus_of(folder, found, **more):
    return Corpus(folder, [{"id": f"d{i}", "text": text, "n": i} for i, text in enumerate(found)], **more)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    return corpus_of(tmp_path_factory.mktemp("corpus"), texts())


def flags(options):
    out = []
    for name, value in options.items():
        out += ["--" + name.replace("_", "-")] + ([] if value is True else [str(value)])
    return out


def check(spark, corpus, frame, work, *, keep="first", order=None, against=None, **options):
    """Compares everything that a run finds with what the command finds."""
    own = ("hot", "partitions", "edges", "block", "memory", "sorts")
    of_scan = flags({name: value for name, value in options.items() if name not in own})
    of_scan += ["--against", str(against.lines)] if against else []
    of_keep = [] if against or keep == "first" else ["--keep", keep]
    reference = spark.read.parquet(str(against.folder)) if against else None
    found = dedup(frame, text="text", id="id", work=str(work), keep=keep, order=order, against=reference, **options)
    pairs = {(r["a"], r["b"]): r["similarity"] for r in found.pairs.collect()}
    expected = {(r["a"], r["b"]): r["similarity"] for r in corpus.scan("pairs", *of_scan)}
    # Equal as doubles.
    assert pairs == expected
    verdicts = corpus.scan("verdicts", *of_scan, *of_keep)
    kept = sorted(r["id"] for r in found.kept.collect())
    assert kept == sorted(r["id"] for r in verdicts if r["keep"])
    assert found.kept.schema == frame.schema
    removed = {r["id"]: (r["duplicate_of"], r["similarity"]) for r in found.removed.collect()}
    assert removed == {r["id"]: (r["duplicate_of"], r["similarity"]) for r in verdicts if not r["keep"]}
    clusters = {}
    for row in found.clusters.collect():
        clusters.setdefault(row["cluster"], []).append((row["id"], row["kept"]))
    expected_clusters = [
        sorted((id, id in r["keep"]) for id in r["members"]) for r in corpus.scan("clusters", *of_scan, *of_keep)
    ]
    assert sorted(map(sorted, clusters.values())) == sorted(expected_clusters)
    return found, pairs


METHODS = [
    {},
    {"threshold": 0.6, "shingle": 3, "keep": "longest"},
    {"exact": True, "threshold": 0.6, "shingle": 2, "keep": "last"},
    {"count_repeats": True, "shingle": 2, "keep": "shortest"},
    {"supershingles": "6x14", "shingle": 2},
    {"tokenizer": "char:5", "seed": 7, "keep": "last"},
    {"algo": "simhash", "distance": 6, "keep": "longest"},
    {"algo": "projection"},
    {"algo": "projection", "cosine": 0.9, "keep": "shortest"},
    {"algo": "spotsigs", "min_spots": 2},
    {"drop_common": 0.1, "shingle": 2, "keep": "longest"},
    {"algo": "simhash", "weights": "idf", "distance": 6},
    {"algo": "imatch", "keep": "last"},
]


@pytest.mark.parametrize("number", range(len(METHODS)))
def test_everything_is_what_the_command_finds(spark, corpus, tmp_path, number):
    # Shuffled, with hot keys, on several numbers of partitions.
    frame = spark.read.parquet(str(corpus.folder))
    variants = [
        {"hot": 4, "partitions": 2},
        {"hot": 8, "partitions": 7, "memory": 40_000, "block": 2},
        {"hot": 4, "edges": 3, "partitions": 3},
    ]
    options = {**METHODS[number], **variants[number % 3]}
    order = None
    if number % 2:
        frame, order = frame.orderBy(F.rand(number)).repartition(5), "n"
    found, pairs = check(spark, corpus, frame, tmp_path / "work", order=order, **options)
    assert len(pairs) > 30 and any(similarity < 1 for similarity in pairs.values())
    assert found.report["documents"] == len(corpus.rows) and found.report["featureless"] >= 1


def test_a_reference(spark, tmp_path):
    found = texts(5)
    half = len(found) // 2
    reference = corpus_of(tmp_path, found[:half], name="reference", files=2)
    rows = [{"id": f"d{half + i}", "text": text, "n": i} for i, text in enumerate(found[half:])]
    own = Corpus(tmp_path, rows)
    for number, options in enumerate([{"hot": 4}, {"order": "n", "edges": 2}]):
        frame = spark.read.parquet(str(own.folder))
        _, pairs = check(spark, own, frame, tmp_path / f"work{number}", against=reference, **options)
        assert len(pairs) > 10


def test_rows_without_a_text_are_kept(spark, tmp_path):
    rows = [{"id": f"d{i}", "text": text, "n": i} for i, text in enumerate(["a b c d", None, "A b c d", None, ""])]
    frame = spark.read.parquet(str(Corpus(tmp_path, rows).folder))
    found = dedup(frame, id="id", work=str(tmp_path / "work"))
    assert sorted(r["id"] for r in found.kept.collect()) == ["d0", "d1", "d3", "d4"]
    assert [(r["id"], r["duplicate_of"], r["similarity"]) for r in found.removed.collect()] == [("d2", "d0", 1.0)]
    assert (found.report["documents"], found.report["without_text"], found.report["featureless"]) == (3, 2, 1)
    assert "1 removed" in repr(found)


def test_nothing(spark, tmp_path):
    frame = spark.createDataFrame([], "id string, text string, n long")
    found = dedup(frame, id="id", order="n", work=str(tmp_path / "work"))
    assert [f.count() for f in (found.pairs, found.kept, found.removed, found.clusters)] == [0, 0, 0, 0]


def test_numbers_that_are_no_order_are_refused(spark, tmp_path):
    frame = spark.createDataFrame([("a b", 1), ("c d", 1)], "text string, n long")
    with pytest.raises(ValueError, match="numbers in 'n' must not repeat, as 1 do"):
        dedup(frame, order="n", work=str(tmp_path / "a"))
    with pytest.raises(ValueError, match="must be at least 0, and -4 is less"):
        dedup(spark.createDataFrame([("a b", -4)], frame.schema), order="n", work=str(tmp_path / "b"))
    with pytest.raises(ValueError, match="1 rows have no number in 'n'"):
        dedup(spark.createDataFrame([("a b", None)], frame.schema), order="n", work=str(tmp_path / "c"))
    with pytest.raises(ValueError, match="name a column of different integers as `order`"):
        dedup(frame, work=str(tmp_path / "d"))


def test_arguments_are_checked_before_anything_is_written(spark, corpus, tmp_path):
    frame = spark.read.parquet(str(corpus.folder))
    work = str(tmp_path / "work")
    for options, message in [
        ({"keep": "best"}, "expected first, last, longest or shortest"),
        ({"text": "body"}, "no column 'body' .columns here: id, text, n."),
        ({"threshold": 7}, "invalid value '7' for `threshold`: expected a number above 0"),
        ({"emit": "kept"}, "unexpected keyword argument 'emit'"),
        ({"treshold": 0.7}, "unexpected keyword argument 'treshold': did you mean 'threshold'?"),
        ({"algo": "simhash", "bands": 3}, "`bands` is not used by simhash"),
        ({"keep": "last", "against": frame}, "has no effect with `against`"),
    ]:
        with pytest.raises((TypeError, ValueError), match=message):
            dedup(frame, work=work, **options)
    assert not os.path.exists(work)


def test_a_run_goes_on_where_it_stopped(spark, corpus, tmp_path):
    frame, work = spark.read.parquet(str(corpus.folder)), tmp_path / "work"
    first = dedup(frame, id="id", work=str(work), threshold=0.7)
    pairs = sorted(map(tuple, first.pairs.collect()))
    before = {path.name: path.stat().st_mtime_ns for path in work.iterdir()}
    assert {"signs", "copies", "met", "verified", "edges", "dropped"} < set(before)
    # A stage without its note was not finished.
    for name in ("verified.note", "edges.note", "pairs.note"):
        for path in sorted((work / name).iterdir()):
            path.unlink()
    again = dedup(frame, id="id", work=str(work), threshold=0.7)
    assert sorted(map(tuple, again.pairs.collect())) == pairs
    after = {path.name: path.stat().st_mtime_ns for path in work.iterdir()}
    assert {name for name in before if before[name] != after[name]} == {
        "verified", "edges", "pairs", "verified.note", "edges.note", "pairs.note"
    }
    with pytest.raises(ValueError, match="`work` has another run, with `options` .*'threshold': .'0.7'.* and not .*'0.8'"):
        dedup(frame, id="id", work=str(work), threshold=0.8)


def test_a_failing_step_fails_the_job_with_its_message(spark, corpus, tmp_path):
    frame = spark.read.parquet(str(corpus.folder))
    with pytest.raises(Exception, match="step sign: document .* cannot be signed within `memory` .100 bytes.: allow more"):
        dedup(frame, id="id", work=str(tmp_path / "work"), memory=100)


def test_an_engine_that_does_not_sort(spark, corpus, tmp_path):
    frame = spark.read.parquet(str(corpus.folder))
    check(spark, corpus, frame, tmp_path / "work", sorts=False, hot=4)


@pytest.mark.skipif("CORPUS" not in os.environ, reason="CORPUS is not set")
@pytest.mark.parametrize("number", range(len(METHODS)))
def test_a_corpus(spark, tmp_path, number):
    lines = pathlib.Path(os.environ["CORPUS"]).read_text(encoding="utf-8").splitlines()
    rows = [{"id": row["id"], "text": row["text"], "n": i} for i, row in enumerate(map(json.loads, lines))]
    corpus = Corpus(tmp_path, rows, files=8)
    frame, order = spark.read.parquet(str(corpus.folder)), None
    if number % 2:
        frame, order = frame.orderBy(F.rand(number)).repartition(6), "n"
    partitions, hot = (3, 16)[number % 2], (4, 512, 8)[number % 3]
    check(spark, corpus, frame, tmp_path / "work", order=order, partitions=partitions, hot=hot, **METHODS[number])
