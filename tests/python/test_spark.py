"""Spark finds what the command finds: pairs, similarities, kept documents, explanations and clusters.

    pip install pyspark pyarrow pytest, the wheel of this package; Java 17
    python -m pytest tests/python/test_spark.py

Takes some minutes. The command is `dedup` of the wheel, or that which the variable DEDUP names. CORPUS names a file of JSON lines with `id`
and `text` that is compared too, with every algorithm and all that is kept, in pairs of partitions, order, hot keys and adaptive execution: one
minute for each of 10,000 documents. MASTER names another master than `local[2]`, such as `local-cluster[2,1,2048]`; REMOTE a server of Spark
Connect, such as `sc://localhost:15002`, or `local[2]` for one of its own; with ORDER, rows of files have no places, as on Sail.
"""

import itertools
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import threading

import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from neardups.spark import _Stages, dedup

#: The order of documents, where rows of files have no places.
ORDER = "n" if os.environ.get("ORDER") else None


@pytest.fixture(scope="session")
def spark():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    remote = os.environ.get("REMOTE")
    builder = SparkSession.builder.remote(remote) if remote else SparkSession.builder.master(os.environ.get("MASTER", "local[2]"))
    session = (
        builder.config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "97")
        .config("spark.driver.memory", "2g")
        # Executors are killed.
        .config("spark.deploy.maxExecutorRetries", "-1")
        .config("spark.task.maxFailures", "20")
        .getOrCreate()
    )
    if not remote:
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
    own = ("hot", "partitions", "edges", "block", "memory", "sorts", "crowd", "broadcast")
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
        # Nothing is small enough to go to all tasks.
        {"hot": 8, "partitions": 7, "memory": 40_000, "block": 2, "broadcast": 0},
        {"hot": 4, "edges": 3, "partitions": 3},
    ]
    options = {**METHODS[number], **variants[number % 3]}
    order = ORDER
    if number % 2:
        frame, order = frame.orderBy(F.rand(number)).repartition(5), "n"
    found, pairs = check(spark, corpus, frame, tmp_path / "work", order=order, **options)
    assert len(pairs) > 30 and any(similarity < 1 for similarity in pairs.values())
    assert found.report["documents"] == len(corpus.rows) and found.report["featureless"] >= 1


@pytest.mark.skipif("REMOTE" in os.environ or ORDER is not None, reason="what moves is counted by the driver")
def test_keys_and_texts_move_once(spark, corpus, tmp_path, monkeypatch):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benches"))
    from spark import Meter

    meter, moved, frame_of = Meter(spark), {}, _Stages.frame

    def frame(self, name, make):
        before = meter.sums()
        came = frame_of(self, name, make)
        # Those of stages within a stage count for both.
        moved[name] = {key: count - before[key] for key, count in meter.sums().items()}
        return came

    monkeypatch.setattr(_Stages, "frame", frame)
    thresholds = ("spark.sql.autoBroadcastJoinThreshold", "spark.sql.adaptive.autoBroadcastJoinThreshold")
    before = {name: spark.conf.get(name, "10485760") for name in thresholds}
    for name in thresholds:
        spark.conf.set(name, "-1")
    try:
        frame = spark.read.parquet(str(corpus.folder))
        found = dedup(frame, id="id", work=str(tmp_path / "work"), hot=0, threshold=0.6, shingle=3, partitions=3)
        report = found.report
    finally:
        for name in thresholds:
            spark.conf.set(name, before[name])
    read = lambda name: spark.read.parquet(str(tmp_path / "work" / name))
    firsts = read("signs").join(read("copies").select("doc"), "doc", "left_semi")
    keys = firsts.selectExpr("sum(size(keys))").collect()[0][0]
    assert moved["met"]["rows"] == keys > 0 and moved["met"]["shuffle"] <= 350 * report["distinct"]
    # The members of blocks are found in the stage before.
    members, pairs = read("verified-members").count(), read("verified-filtered").count()
    assert moved["verified-members"]["rows"] <= 2 * pairs
    rows = moved["verified"]["rows"] - moved["verified-members"]["rows"]
    # And what tasks count.
    assert members > 100 and members + pairs <= rows < members + pairs + 50
    assert 0 < pairs < report["candidates"], "sketches rule pairs out"
    assert members < 2 * pairs, "a text moves once for its block, not for each pair"
    assert read("signs").count() == len(corpus.rows)


def test_a_reference(spark, tmp_path):
    found = texts(5)
    half = len(found) // 2
    reference = corpus_of(tmp_path, found[:half], name="reference", files=2)
    rows = [{"id": f"d{half + i}", "text": text, "n": i} for i, text in enumerate(found[half:])]
    own = Corpus(tmp_path, rows)
    for number, options in enumerate([{"hot": 4, "order": ORDER}, {"order": "n", "edges": 2}]):
        frame = spark.read.parquet(str(own.folder))
        _, pairs = check(spark, own, frame, tmp_path / f"work{number}", against=reference, **options)
        assert len(pairs) > 10


def test_rows_without_a_text_are_kept(spark, tmp_path):
    rows = [{"id": f"d{i}", "text": text, "n": i} for i, text in enumerate(["a b c d", None, "A b c d", None, ""])]
    frame = spark.read.parquet(str(Corpus(tmp_path, rows).folder))
    found = dedup(frame, id="id", order=ORDER, work=str(tmp_path / "work"))
    assert sorted(r["id"] for r in found.kept.collect()) == ["d0", "d1", "d3", "d4"]
    assert [(r["id"], r["duplicate_of"], r["similarity"]) for r in found.removed.collect()] == [("d2", "d0", 1.0)]
    assert (found.report["documents"], found.report["without_text"], found.report["featureless"]) == (3, 2, 1)
    assert "1 removed" in repr(found)


def test_ids_that_repeat_name_each_of_their_documents(spark, tmp_path):
    found = ["a b c d", "something else", "A b c d", "A B C D"]
    rows = [{"id": id, "text": text, "n": i} for i, (id, text) in enumerate(zip("xyyx", found))]
    frame = spark.read.parquet(str(Corpus(tmp_path, rows, files=2).folder))
    found = dedup(frame, id="id", order=ORDER, work=str(tmp_path / "work"))
    assert sorted((r["id"], r["n"]) for r in found.kept.collect()) == [("x", 0), ("y", 1)]
    assert sorted(map(tuple, found.removed.collect())) == [("x", "x", 1.0), ("y", "x", 1.0)]
    assert sorted(map(tuple, found.pairs.collect())) == [("x", "x", 1.0), ("x", "y", 1.0), ("y", "x", 1.0)]
    assert found.report["repeated_ids"] == 2
    assert "2 documents have an id that an earlier one has" in found.report["warnings"][-1]


def test_partitions_without_rows(spark, tmp_path):
    own = corpus_of(tmp_path, texts(7, families=4))
    frame = spark.read.parquet(str(own.folder)).repartition(40)
    check(spark, own, frame, tmp_path / "work", order="n", partitions=50, hot=4)


def test_a_source_that_changes_between_passes_is_reported(spark, tmp_path):
    own = corpus_of(tmp_path, texts(3, families=10), files=1)
    work = tmp_path / "work"
    [file] = own.folder.iterdir()

    def write():
        # Of the same size for texts of the same sizes.
        pq.write_table(pa.Table.from_pylist(own.rows), file, compression="none", use_dictionary=False, write_statistics=False)

    write()
    listed = file.stat()
    before = dedup(spark.read.parquet(str(own.folder)), id="id", order=ORDER, work=str(work), shingle=3, threshold=0.6)
    pairs = {(r["a"], r["b"]) for r in before.pairs.collect()}
    similar = [r for r in before.pairs.collect() if r["similarity"] < 1]
    changed = similar[0]["b"]
    # A stage that has to be done again reads the texts again.
    for stage in work.iterdir():
        if stage.name.endswith(".note") and stage.name.partition(".")[0] not in ("plan", "guess", "median", "signs", "copies", "met", "hot"):
            shutil.rmtree(stage)
    for row in own.rows:
        if row["id"] == changed:
            first, rest = row["text"].split(" ", 1)
            row["text"] = "z" * len(first) + " " + rest
    # Without a trace in the list of files.
    write()
    os.utime(file, ns=(listed.st_atime_ns, listed.st_mtime_ns))
    assert file.stat().st_size == listed.st_size
    if ORDER:
        # A digest of the texts tells.
        with pytest.raises(ValueError, match="`work` has another run, with `documents` "):
            dedup(spark.read.parquet(str(own.folder)), id="id", order=ORDER, work=str(work), shingle=3, threshold=0.6)
        return
    after = dedup(spark.read.parquet(str(own.folder)), id="id", order=ORDER, work=str(work), shingle=3, threshold=0.6)
    number = next(row["n"] for row in own.rows if row["id"] == changed)
    assert after.report["changed"] == [number]
    assert any("documents changed while the run read them" in warning for warning in after.report["warnings"])
    lost = pairs - {(r["a"], r["b"]) for r in after.pairs.collect()}
    assert lost and all(changed in pair for pair in lost)


def executors(spark):
    """The processes of the executors of this session."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if b"CoarseGrainedExecutorBackend" in line and spark.sparkContext.applicationId.encode() in line:
            found.append(int(process.name))
    return found


@pytest.mark.skipif(not os.environ.get("MASTER", "").startswith("local-cluster"), reason="MASTER has no executors of its own")
def test_an_executor_is_killed_in_each_stage(spark, corpus, tmp_path, monkeypatch):
    killed, frame_of = [], _Stages.frame

    def kill(name, ends):
        # As soon as tasks run.
        tracker = spark.sparkContext.statusTracker()
        while not ends.is_set():
            running = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            processes = executors(spark)
            if processes and any(stage and stage.numActiveTasks for stage in running):
                os.kill(processes[0], signal.SIGKILL)
                killed.append(name)
                return
            ends.wait(0.01)

    def frame(self, name, make):
        ends = threading.Event()
        killer = threading.Thread(target=kill, args=(name, ends))
        killer.start()
        try:
            return frame_of(self, name, make)
        finally:
            ends.set()
            killer.join()

    monkeypatch.setattr(_Stages, "frame", frame)
    check(spark, corpus, spark.read.parquet(str(corpus.folder)), tmp_path / "work", hot=4, memory=40_000, threshold=0.6, shingle=3)
    print(f"\nkilled in {', '.join(killed)}")
    assert {"signs", "copies", "met", "hot", "split", "candidates", "blocks", "verified", "edges"} <= set(killed)


def test_a_panic_fails_the_job_and_the_worker_lives(spark):
    def panics(batches):
        from neardups import _native

        for _ in batches:
            _native.panic("17 is no number")
            yield

    def lives(batches):
        import neardups

        yield from batches

    with pytest.raises(Exception, match="neardups panicked, which is a defect of it: 17 is no number"):
        spark.range(10).mapInArrow(panics, "id long").collect()
    assert spark.range(10).mapInArrow(lives, "id long").count() == 10


@pytest.mark.parametrize("keep", ["first", "last", "longest", "shortest"])
def test_what_is_kept_without_all_pairs(spark, corpus, tmp_path, keep):
    options = {"threshold": 0.6, "shingle": 3}
    frame = spark.read.parquet(str(corpus.folder))
    found = dedup(frame, id="id", order=ORDER, work=str(tmp_path), keep=keep, pairs=False, crowd=4, hot=8, **options)
    of_keep = [] if keep == "first" else ["--keep", keep]
    expected = {r["id"] for r in corpus.scan("verdicts", *flags(options), *of_keep) if r["keep"]}
    assert {r["id"] for r in found.kept.collect()} == expected
    pairs = {(r["a"], r["b"]): r["similarity"] for r in corpus.scan("pairs", *flags(options))}
    for row in found.removed.collect():
        pair = (row["id"], row["duplicate_of"])
        assert row["duplicate_of"] in expected and row["similarity"] == pairs.get(pair, pairs.get(pair[::-1]))
    assert found.report["thinned_rounds"] > 1
    with pytest.raises(ValueError, match="`clusters` needs all pairs"):
        found.clusters


def test_a_crowd_of_near_copies_is_not_compared_with_each_other(spark, tmp_path):
    rng, count = random.Random(4), 3000
    page = [f"w{i}" for i in range(80)]

    def near(number):
        words = list(page)
        words[rng.randrange(80)] = f"x{number}"
        return " ".join(words)

    own = corpus_of(tmp_path, [near(number) for number in range(count)])
    frame = spark.read.parquet(str(own.folder))
    found = dedup(frame, id="id", order=ORDER, work=str(tmp_path / "work"), pairs=False, crowd=100, shingle=1, threshold=0.9)
    assert [r["id"] for r in found.kept.collect()] == ["d0"]
    assert found.report["candidates"] < 30 * count, "of 4,498,500 pairs"


def test_another_choice_uses_the_pairs_that_are_there(spark, corpus, tmp_path):
    frame, work = spark.read.parquet(str(corpus.folder)), tmp_path / "work"
    dedup(frame, id="id", order=ORDER, work=str(work)).report
    last = dedup(frame, id="id", order=ORDER, work=str(work), keep="last")
    assert not {"signs", "met", "edges"} & set(last.report["seconds"])
    expected = {r["id"] for r in corpus.scan("verdicts", "--keep", "last") if r["keep"]}
    assert {r["id"] for r in last.kept.collect()} == expected


def test_other_rows_need_another_folder(spark, tmp_path):
    own = corpus_of(tmp_path, texts(9, families=5))
    read = lambda: spark.read.parquet(str(own.folder))
    runs = {"files": (read, ORDER), "rows": (lambda: read().repartition(3), "n")}
    for name, (frame, order) in runs.items():
        dedup(frame(), id="id", order=order, work=str(tmp_path / name)).report
        assert not dedup(frame(), id="id", order=order, work=str(tmp_path / name)).report["seconds"], "nothing is done again"
    refused = lambda: pytest.raises(ValueError, match="`work` has another run, with `documents` .* and not ")
    for name, (frame, order) in runs.items():
        with refused():
            dedup(frame().where("n != 7"), id="id", order=order, work=str(tmp_path / name))
        with refused():
            dedup(frame().limit(0), id="id", order=order or "n", work=str(tmp_path / name))
    rows = [{"id": "new", "text": own.rows[0]["text"], "n": 100_000}]
    pq.write_table(pa.Table.from_pylist(rows), own.folder / "a file that sorts first.parquet")
    for name, (frame, order) in runs.items():
        with refused():
            dedup(frame(), id="id", order=order, work=str(tmp_path / name))
    with pytest.raises(ValueError, match="`work` has another run, with `against` .* and not "):
        work, found = str(tmp_path / "against"), spark.createDataFrame([("x", "a b c d", 1)], "id string, text string, n long")
        dedup(found, order="n", against=found, work=work)
        dedup(found, order="n", against=found.withColumn("text", F.lit("a b c")), work=work)


def test_another_crowd_needs_another_folder(spark, tmp_path):
    frame = spark.createDataFrame([("a b c d", 1), ("a b c d", 2)], "text string, n long")
    dedup(frame, order="n", work=str(tmp_path / "work"), pairs=False, crowd=4)
    with pytest.raises(ValueError, match="`work` has another run, with `crowd` 4 and not 100"):
        dedup(frame, order="n", work=str(tmp_path / "work"), pairs=False, crowd=100)


def test_columns_with_dots_in_their_names(spark, corpus, tmp_path):
    frame = spark.read.parquet(str(corpus.folder))
    for old, new in {"id": "the.id", "text": "the.text", "n": "a `quoted` n"}.items():
        frame = frame.withColumnRenamed(old, new)
    order = ORDER and "a `quoted` n"
    found = dedup(frame.withColumn("a.b", F.lit(1)), text="the.text", id="the.id", order=order, work=str(tmp_path / "work"))
    expected = {r["id"] for r in corpus.scan("verdicts") if r["keep"]}
    assert found.kept.columns == ["the.id", "the.text", "a `quoted` n", "a.b"]
    assert {r["the.id"] for r in found.kept.collect()} == expected


def test_a_folder_that_cannot_be_read_is_left_alone(spark, corpus, tmp_path):
    frame = spark.read.parquet(str(corpus.folder))
    note = tmp_path / "work" / "plan.note" / "part.parquet"
    note.parent.mkdir(parents=True)
    note.write_bytes(b"of another program")
    with pytest.raises(Exception, match="(?i)parquet"):
        dedup(frame, id="id", order=ORDER, work=str(tmp_path / "work"))
    assert note.read_bytes() == b"of another program"


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
    first = dedup(frame, id="id", order=ORDER, work=str(work), threshold=0.7)
    pairs = sorted(map(tuple, first.pairs.collect()))
    before = {path.name: path.stat().st_mtime_ns for path in work.iterdir()}
    assert {"signs", "copies", "met", "verified", "edges", "dropped-first"} < set(before)
    # A stage without its note was not finished.
    for name in ("verified.note", "edges.note", "pairs.note"):
        for path in sorted((work / name).iterdir()):
            path.unlink()
    again = dedup(frame, id="id", order=ORDER, work=str(work), threshold=0.7)
    assert sorted(map(tuple, again.pairs.collect())) == pairs
    after = {path.name: path.stat().st_mtime_ns for path in work.iterdir()}
    assert {name for name in before if before[name] != after[name]} == {
        "verified", "edges", "pairs", "verified.note", "edges.note", "pairs.note"
    }
    with pytest.raises(ValueError, match="`work` has another run, with `options` .*'threshold': .'0.7'.* and not .*'0.8'"):
        dedup(frame, id="id", order=ORDER, work=str(work), threshold=0.8)


def test_a_failing_step_fails_the_job_with_its_message(spark, corpus, tmp_path):
    frame = spark.read.parquet(str(corpus.folder))
    with pytest.raises(Exception, match="step sign: document .* cannot be signed within `memory` .100 bytes.: allow more"):
        dedup(frame, id="id", order=ORDER, work=str(tmp_path / "work"), memory=100)


def test_an_engine_that_does_not_sort(spark, corpus, tmp_path):
    frame = spark.read.parquet(str(corpus.folder))
    check(spark, corpus, frame, tmp_path / "work", order=ORDER, sorts=False, hot=4)


#: How a corpus is cut, shuffled and searched: every level of a factor with every level of each other, and with every algorithm.
FACTORS = {
    "partitions": (3, 16, 64),
    "shuffled": (False, True),
    "hot": (4, 512),
    "adaptive": (False, True),
    "keeps": (("first", "longest"), ("last", "shortest")),
}


def design():
    """The methods, each with levels of the factors, so that as many pairs of levels as possible are new; then more until all are there."""

    def pairs(row):
        algorithm = row["method"].get("algo", "minhash")
        levels = [("algo", algorithm), *((name, row[name]) for name in FACTORS)]
        return {(one, other) for i, one in enumerate(levels) for other in levels[:i]}

    levels = [dict(zip(FACTORS, values)) for values in itertools.product(*FACTORS.values())]
    methods = [{name: value for name, value in method.items() if name != "keep"} for method in METHODS]
    every = [{"method": method, **level} for method in methods for level in levels]
    missing, rows = set().union(*map(pairs, every)), []
    for method in methods:
        rows.append(max((row for row in every if row["method"] == method), key=lambda row: len(pairs(row) & missing)))
        missing -= pairs(rows[-1])
    while missing:
        rows.append(max(every, key=lambda row: len(pairs(row) & missing)))
        missing -= pairs(rows[-1])
    return rows


DESIGN = design()


@pytest.fixture(scope="session")
def given_corpus(tmp_path_factory):
    lines = pathlib.Path(os.environ["CORPUS"]).read_text(encoding="utf-8").splitlines()
    rows = [{"id": row["id"], "text": row["text"], "n": i} for i, row in enumerate(map(json.loads, lines))]
    return Corpus(tmp_path_factory.mktemp("given"), rows, files=8)


@pytest.mark.skipif("CORPUS" not in os.environ, reason="CORPUS is not set")
@pytest.mark.parametrize("number", range(len(DESIGN)))
def test_a_corpus(spark, given_corpus, tmp_path, number):
    row = DESIGN[number]
    spark.conf.set("spark.sql.adaptive.enabled", str(row["adaptive"]).lower())
    frame, order = spark.read.parquet(str(given_corpus.folder)), ORDER
    if row["shuffled"]:
        frame, order = frame.orderBy(F.xxhash64(F.lit(number), "id")).repartition(6), "n"
    options = {"order": order, "partitions": row["partitions"], "hot": row["hot"], **row["method"]}
    counts = []
    for keep in row["keeps"]:
        found, pairs = check(spark, given_corpus, frame, tmp_path / "work", keep=keep, **options)
        counts.append(f"{keep} {len(given_corpus.rows) - found.report['removed']}")
    levels = ", ".join(f"{name} {row[name]}" for name in FACTORS)
    print(f"\n{row['method']}, {levels}: {len(pairs)} pairs; kept {', '.join(counts)}: no difference")
