"""Near-duplicates of a Spark data frame, as `dedup scan` finds them.

Spark moves the rows; every decision about a text is taken by the same code as on one machine, in Python workers:

    from neardups.spark import dedup

    found = dedup(spark.read.parquet("s3://in"), text="text", id="url", work="s3://runs/1", threshold=0.8)
    found.kept.write.parquet("s3://out")
    found.pairs, found.removed, found.clusters, found.report

Needs Spark 3.5 or later, or an engine that speaks Spark Connect, and this package on all workers.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union
from urllib.parse import unquote

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from neardups import _input, _native

__all__ = ["Dedup", "dedup"]

#: The column with the number of a document, beside those of the input.
_DOC = "__neardups_doc"
#: The column that says whether a document is one of a set.
_IS = "__neardups_is"
#: Documents are numbered by their file and row: this many bits for the row.
_ROW_BITS = 40
#: What is added to the numbers of documents of a reference, which become negative.
_REFERENCE = -(1 << 62)
#: A block of verification is cut if it has more documents.
_BLOCK = 50_000
#: The most documents that are sent to all tasks as a list, of some 100 bytes for each. A set of documents is sent as bits, of which a row has
#: those of 4,096 documents in 600 bytes; so many rows are as large as so long a list.
_BROADCAST = 2_000_000
_CHUNKS_OF_A_LIST = 6
#: An outline of so many numbers moves as so many columns.
_WIDTH = 16
#: The number of edges that one task decides on, which takes some 100 bytes of memory for each.
_EDGES_OF_A_TASK = 50_000_000
#: The number of documents under one key from which on they are thinned, where pairs are not wanted; and the most rounds of it.
_CROWD = 2000
_ROUNDS = 30
#: The documents that the first guess of the median length is made of.
_SAMPLE = 1000
#: Memory for one document, and for those under one hot key.
_MEMORY = 256 << 20

_STEPS = {name: (takes, order, gives) for name, takes, order, gives in _native.steps_table()}


#: Keyword arguments as the native part takes them.
_Keywords = List[Tuple[str, Any]]


def _sorted(batches: Iterable[pa.RecordBatch], order: Sequence[str]) -> Iterable[pa.RecordBatch]:
    """The rows of a task in order, for engines that do not sort."""
    batches = list(batches)
    if not batches:
        return []
    table = pa.Table.from_batches(batches)
    return table.sort_by([(column, "ascending") for column in order]).to_batches(4096)


#: The number of documents that were counted, and the sums of the step `count`.
_Counts = Tuple[int, pa.RecordBatch]


def _worker(
    name: str, keywords: _Keywords, plan: str, counts: List[_Counts], order: Sequence[str]
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A step as `mapInArrow` calls it. With an order, the task sorts its rows itself."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from neardups import _native as native
        from neardups.spark import _sorted as in_order

        step = native.Step(name, keywords, plan, counts)
        for batch in in_order(batches, order) if order else batches:
            step.push(batch)
            yield from iter(step.take, None)
        step.finish()
        yield from iter(step.take, None)

    return run


def _lengths(keywords: _Keywords, plan: str, texts: List[Optional[str]]) -> Iterator[int]:
    """The lengths of a few texts that have tokens, found in this process."""
    numbers = pa.array(range(len(texts)), pa.int64())
    batch = pa.RecordBatch.from_arrays([numbers, pa.array(texts, pa.string())], names=["doc", "text"])
    for signs in _worker("sign", keywords, plan, [], ())([batch]):
        yield from filter(None, signs.column(signs.schema.get_field_index("measured")).to_pylist())


def _lower_median(counts: Dict[int, int]) -> int:
    """The lower median of lengths, given how often each occurs; 0 of none."""
    middle = (sum(counts.values()) - 1) // 2
    for length in sorted(counts):
        if middle < counts[length]:
            return length
        middle -= counts[length]
    return 0


class _Stages:
    """The folders of a run. A stage that is done is not run again."""

    def __init__(self, spark: SparkSession, work: str, plan: Dict[str, Any]) -> None:
        self.spark, self.work = spark, work.rstrip("/")
        self.seconds: Dict[str, float] = {}
        planned = json.dumps(plan, sort_keys=True)
        before = self.note("plan")
        if before is None:
            self.write_note("plan", planned)
        elif before != planned:
            raise ValueError(
                f"`work` has another run, with {_difference(json.loads(before), plan)}: give an empty folder, or the same arguments"
            )

    def note(self, name: str) -> Optional[str]:
        """A note that was written; `None` if there is none, or it was not written to its end."""
        try:
            rows = self.spark.read.schema("note string").parquet(f"{self.work}/{name}.note").collect()
        except Exception as error:
            # Another run may be there that cannot be read now.
            if _is_missing(error):
                return None
            raise
        return rows[0]["note"] if rows else None

    def write_note(self, name: str, note: str) -> None:
        frame = self.spark.createDataFrame([(note,)], "note string")
        frame.coalesce(1).write.mode("overwrite").parquet(f"{self.work}/{name}.note")

    def frame(self, name: str, make: Callable[[], DataFrame]) -> DataFrame:
        """The rows of a stage, which are made unless they are there."""
        path, note = f"{self.work}/{name}", self.note(name)
        if note is None:
            start = time.monotonic()
            made = make()
            made.write.mode("overwrite").parquet(path)
            self.seconds[name] = round(time.monotonic() - start, 3)
            # After the rows, so that a stage with a note is whole. Some engines write no file if there are no rows.
            note = made.schema.json()
            self.write_note(name, note)
        return self.spark.read.schema(StructType.fromJson(json.loads(note))).parquet(path)

    def value(self, name: str, make: Callable[[], Any]) -> Any:
        """A small result of a stage."""
        before = self.note(name)
        if before is not None:
            return json.loads(before)
        value = make()
        self.write_note(name, json.dumps(value))
        return value


def _digest(rows: Iterable[Sequence[Any]]) -> str:
    return hashlib.sha256(json.dumps(list(rows)).encode()).hexdigest()[:32]


def _difference(one: Dict[str, Any], other: Dict[str, Any]) -> str:
    for name in sorted({*one, *other}):
        if one.get(name) != other.get(name):
            return f"`{name}` {one.get(name)!r} and not {other.get(name)!r}"
    return "other arguments"


#: What engines say of a path that is not there.
_MISSING = re.compile(r"PATH_NOT_FOUND|(path|file|directory)\b.* does not exist|no such file or directory|no files found", re.IGNORECASE)


def _is_missing(error: BaseException) -> bool:
    """Whether an engine failed to read a path because nothing is there."""
    return _MISSING.search(str(error)) is not None


def _column(frame: DataFrame, name: str) -> Any:
    """The column of this name, or the field of a struct that it leads to."""
    return F.col("`" + name.replace("`", "``") + "`" if name in frame.columns else name)


def _sorts(spark: SparkSession) -> bool:
    """Whether rows reach a worker in the order that was asked for. Some engines drop a sort before `mapInArrow`."""

    def check(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        values = [value for batch in batches for value in batch.column(0).to_pylist()]
        yield pa.RecordBatch.from_arrays([pa.array([values == sorted(values)])], names=["sorts"])

    rows = spark.range(1000).select((-F.col("id")).alias("x"))
    found = rows.repartition(2, "x").sortWithinPartitions("x").mapInArrow(check, "sorts boolean").collect()
    return all(row["sorts"] for row in found)


class Dedup:
    """What `dedup` found. Data frames are computed from the folder of the run when they are used."""

    def __init__(self, run: "_Run") -> None:
        self._run = run

    @property
    def pairs(self) -> DataFrame:
        """Every pair at or above the threshold: `a`, `b` and `similarity`; `a` is the earlier document.

        Pairs of copies are spelled out: a page with a thousand copies has half a million of them."""
        self._run.need_pairs("pairs")
        return self._run.pairs()

    @property
    def kept(self) -> DataFrame:
        """The rows that are kept, with all columns of the input."""
        return self._run.kept()

    @property
    def removed(self) -> DataFrame:
        """The documents that are not kept: `id`, the kept document `duplicate_of`, and their `similarity`.

        Of several, the most similar one; with `pairs=False` the most similar of those that it was compared with."""
        return self._run.with_ids(self._run.removed(), {"doc": "id", "by": "duplicate_of"})

    @property
    def clusters(self) -> DataFrame:
        """The documents that pairs connect: `cluster`, the least number of a document in it, `id`, and whether it is `kept`."""
        self._run.need_pairs("clusters")
        return self._run.clusters()

    @property
    def report(self) -> Dict[str, Any]:
        """The algorithm with its resolved parameters, counts, warnings, and the seconds of the stages that ran."""
        return self._run.report()

    def __repr__(self) -> str:
        report = self.report
        counts = ", ".join(f"{report[name]:,} {name}" for name in ("documents", "copies", "removed"))
        return f"<neardups.spark.Dedup: {report['algo']}, {counts}>"


class _Run:
    def __init__(
        self,
        spark: SparkSession,
        frame: DataFrame,
        against: Optional[DataFrame],
        names: Tuple[str, Optional[str], Optional[str]],
        work: str,
        keep: str,
        settings: Dict[str, Any],
        options: Dict[str, Any],
    ) -> None:
        self.spark, self.keep, self.settings = spark, keep, settings
        self.keywords = _input.keywords(options)
        self.text, self.id, self.order = names
        self.reference = against
        self.counts: List[_Counts] = []
        # Values out of range fail before anything is written.
        self.planned(0, guess=True)
        self.numbered_input, documents = self.numbered(frame, 0)
        docs, references = self.texts(self.numbered_input), None
        if against is not None:
            self.numbered_reference, references = self.numbered(against, _REFERENCE)
            docs = docs.unionByName(self.texts(self.numbered_reference))
        self.docs = docs
        plan = {
            "version": _native.__version__,
            "text": self.text,
            "id": self.id,
            "order": self.order,
            "documents": documents,
            "against": references,
            "pairs": settings["pairs"],
            "options": dict(self.keywords),
            "hot": settings["hot"],
            "memory": settings["memory"],
            # A round of one number is none of another.
            "crowd": None if settings["pairs"] else settings["crowd"],
        }
        self.stages = _Stages(spark, work, plan)
        self.sorts = _sorts(spark) if settings["sorts"] is None else settings["sorts"]
        self.plan = ""
        self.found()

    # Plans and steps

    def planned(self, median: int, guess: bool = False, hot: Optional[int] = None) -> Tuple[str, Dict[str, Any]]:
        hot = self.settings["hot"] if hot is None else hot
        memory = self.settings["memory"]
        against = self.reference is not None
        plan, report = _native.plan_steps(self.keywords, (median, guess), (hot, against, memory), self.counts)
        return plan, json.loads(report)

    def step(
        self,
        name: str,
        rows: DataFrame,
        plan: Optional[str] = None,
        one_task: bool = False,
        derived: Optional[Dict[str, Any]] = None,
    ) -> DataFrame:
        """A step over rows, which it gets in its order. Columns that are derived from others are so after rows have moved."""
        takes, order, gives = _STEPS[name]
        derived = derived or {}
        if not derived:
            rows = rows.select(*[column for column, _ in takes])
        if one_task:
            rows = rows.coalesce(1)
        elif order:
            count = self.settings["partitions"]
            rows = rows.repartition(count, order[0]) if count else rows.repartition(order[0])
        if derived:
            rows = rows.select(*[derived[column].alias(column) if column in derived else column for column, _ in takes])
        if order and self.sorts:
            rows = rows.sortWithinPartitions(*order)
        worker = _worker(name, self.keywords, plan or self.plan, list(self.counts), () if self.sorts else order)
        return rows.mapInArrow(worker, ", ".join(f"{column} {kind}" for column, kind in gives))

    # Sets of documents

    def marked(self, rows: DataFrame, column: str, name: str, docs: DataFrame) -> DataFrame:
        """The rows with the column `_IS`: whether the document in this column is one of these, which are distinct. They are sent to all
        tasks as bits, so that no row moves, unless their numbers are too many or too far apart for that."""
        chunks = self.stages.value(
            f"{name}-chunks", lambda: docs.agg(F.approx_count_distinct(F.expr("shiftright(doc, 12)"))).collect()[0][0]
        )
        if chunks * _CHUNKS_OF_A_LIST > self.settings["broadcast"]:
            own = docs.select(F.col("doc").alias(column), F.lit(True).alias(_IS))
            return rows.join(own, column, "left").withColumn(_IS, F.coalesce(_IS, F.lit(False)))
        bits = F.broadcast(self.stages.frame(f"{name}-bits", lambda: self.bits(docs)))
        rows = rows.join(bits, F.expr(f"shiftright(`{column}`, 12)") == F.col("__neardups_chunk"), "left")
        word = f"element_at(__neardups_words, cast(shiftright(`{column}`, 6) & 63 as int) + 1)"
        bit = F.expr(f"shiftright({word}, cast(`{column}` & 63 as int)) & 1")
        rows = rows.withColumn(_IS, F.coalesce(bit == 1, F.lit(False)))
        return rows.drop("__neardups_chunk", "__neardups_words")

    def bits(self, docs: DataFrame) -> DataFrame:
        """A set of documents, with those of 4,096 numbers in a row."""
        word = F.expr("shiftright(doc, 6)").alias("word")
        bits = F.expr("bit_or(shiftleft(cast(1 as bigint), cast(doc & 63 as int)))").alias("bits")
        words = docs.groupBy(word).agg(bits)
        nothing = F.lit(0).cast("long")
        each = [F.coalesce(F.max(F.expr(f"case when word & 63 = {at} then bits end")), nothing) for at in range(64)]
        chunk = F.expr("shiftright(word, 6)").alias("__neardups_chunk")
        return words.groupBy(chunk).agg(F.array(*each).alias("__neardups_words"))

    def among(self, rows: DataFrame, column: str, name: str, docs: DataFrame) -> DataFrame:
        """The rows of these documents."""
        return self.marked(rows, column, name, docs).where(F.col(_IS)).drop(_IS)

    def without(self, rows: DataFrame, column: str, name: str, docs: DataFrame) -> DataFrame:
        """The rows of other documents than these."""
        return self.marked(rows, column, name, docs).where(~F.col(_IS)).drop(_IS)

    # Documents

    def texts(self, numbered: DataFrame) -> DataFrame:
        return numbered.select(F.col(_DOC).alias("doc"), _column(numbered, self.text).alias("text"))

    def numbered(self, frame: DataFrame, base: int) -> Tuple[DataFrame, Dict[str, Any]]:
        """The rows with their numbers in one more column, in the order of the input; and what identifies the input: stages of a run are
        those of these rows with these numbers."""
        if self.order is not None:
            numbered = frame.withColumn(_DOC, _column(frame, self.order).cast("long") + F.lit(base))
            return numbered, self.counted_rows(self.texts(numbered))
        try:
            located = frame.withColumn("__path", F.col("_metadata.file_path")).withColumn(
                "__row", F.col("_metadata.row_index")
            )
            read = located.select(
                "__path",
                "__row",
                F.col("_metadata.file_size").alias("__size"),
                F.col("_metadata.file_modification_time").cast("double").alias("__time"),
            )
            # Those of rows, because a condition may leave some out.
            read = read.groupBy("__path", "__size", "__time").agg(F.count("*").alias("rows"), F.sum("__row").alias("numbers"))
            found = sorted((row for row in read.collect()), key=lambda row: unquote(row["__path"]).encode())
        except Exception as error:
            raise ValueError(
                "the rows of this data frame have no place in files: name a column of different integers as `order`, "
                "ascending in the order of the documents"
            ) from error
        files = {"files": len(found), "rows": sum(row["rows"] for row in found), "digest": _digest(map(list, found))}
        if not found:
            return located.withColumn(_DOC, F.lit(0).cast("long")).drop("__path", "__row"), files
        paths = list(dict.fromkeys(row["__path"] for row in found))
        ranks = self.spark.createDataFrame([(path, rank) for rank, path in enumerate(paths)], "__path string, __file long")
        number = (F.col("__file") * F.lit(1 << _ROW_BITS)) + F.col("__row") + F.lit(base)
        located = located.join(F.broadcast(ranks), "__path").withColumn(_DOC, number)
        return located.drop("__path", "__row", "__file"), files

    def counted_rows(self, docs: DataFrame) -> Dict[str, Any]:
        """What identifies rows without places in files: their number, and a sum of hashes of their numbers and texts."""
        hashed = F.pmod(F.xxhash64("doc", "text"), F.lit(1 << 31))
        rows = docs.agg(F.count("*").alias("rows"), F.sum(hashed).alias("hashes")).collect()[0]
        return {"rows": rows["rows"], "digest": rows["hashes"] or 0}

    def check_numbers(self) -> bool:
        """Numbers that repeat would hide documents."""
        docs = self.docs.select("doc")
        least = F.min(F.when(F.col("doc") >= _REFERENCE // 2, F.col("doc")))
        counts = docs.agg(
            F.count("*").alias("rows"), F.count("doc").alias("docs"), F.countDistinct("doc").alias("distinct"), least.alias("least")
        ).collect()[0]
        if counts["docs"] < counts["rows"]:
            raise ValueError(f"`order`: {counts['rows'] - counts['docs']} rows have no number in '{self.order}'")
        if counts["distinct"] < counts["rows"]:
            again = docs.groupBy("doc").count().where("count > 1").limit(3).collect()
            examples = ", ".join(str(row["doc"] if row["doc"] >= 0 else row["doc"] - _REFERENCE) for row in again)
            raise ValueError(f"`order`: numbers in '{self.order}' must not repeat, as {examples} do")
        if counts["least"] is not None and counts["least"] < 0:
            raise ValueError(f"`order`: numbers in '{self.order}' must be at least 0, and {counts['least']} is less")
        return True

    def signed(self) -> DataFrame:
        """Signatures by the exact median length of all documents. A sample of them is guessed by first."""
        if self.order is not None:
            self.stages.value("numbers", self.check_numbers)
        guess = self.stages.value("guess", self.guess)
        plan, _ = self.planned(guess, guess=True)
        signs = self.stages.frame("signs", lambda: self.step("sign", self.docs, plan))
        median = self.stages.value("median", lambda: self.median(signs))
        self.plan, self.resolved = self.planned(median)
        if not _native.same_signatures(self.keywords, plan, self.plan):
            signs = self.stages.frame("signs-again", lambda: self.step("sign", self.docs))
        if self.resolved["learns"] is None:
            return signs
        # Until it has learned, documents have lengths and copies, but no keys.
        while self.resolved["learns"] is not None:
            self.counts.append(self.counted(signs, **self.resolved["learns"]))
            self.plan, self.resolved = self.planned(median)
        return self.stages.frame("signs-learned", lambda: self.step("sign", self.docs))

    def counted(self, signs: DataFrame, distinct: bool, least: Optional[int]) -> _Counts:
        """What the algorithm learns next: what is in at least so many documents, if there is a bound."""
        number = len(self.counts) + 1
        own, docs = signs.where("tokens is not null"), self.docs.where("text is not null")
        if distinct:
            own = own.groupBy("seq_hi", "seq_lo").agg(F.min("doc").alias("doc"))
            docs = self.among(docs, "doc", f"counted-{number}", own.select("doc"))
        documents = self.stages.value(f"counted-{number}", own.count)
        sums = self.stages.frame(
            f"counts-{number}",
            lambda: self.step("count", docs).groupBy("what").agg(F.sum("documents").alias("documents")),
        )
        if least is not None:
            sums = sums.where(F.col("documents") >= least)
        rows = sums.collect()
        columns = [pa.array([row[name] for row in rows], pa.int64()) for name in ("what", "documents")]
        return documents, pa.RecordBatch.from_arrays(columns, names=["what", "documents"])

    def guess(self) -> int:
        texts = [row["text"] for row in self.docs.select("text").limit(_SAMPLE).collect()]
        counts: Dict[int, int] = {}
        for length in _lengths(self.keywords, self.planned(0, guess=True)[0], texts):
            counts[length] = counts.get(length, 0) + 1
        return _lower_median(counts)

    def median(self, signs: DataFrame) -> int:
        rows = signs.where("measured > 0").groupBy("measured").count().collect()
        return _lower_median({row["measured"]: row["count"] for row in rows})

    # Pairs

    def found(self) -> None:
        """Runs the stages up to the documents that are dropped."""
        frame = self.stages.frame
        self.signs = self.signed()
        self.copies = frame("copies", self.distinct)
        self.keys = frame("keys", self.keyed) if self.thins else self.keyed()
        self.thinned = self.thin() if self.thins else []
        keys = self.keys
        for number, (edges, *_) in enumerate(self.thinned, 1):
            keys = self.without(keys, "doc", self.of_keep(f"thinned-{number}"), edges.select(F.col("b").alias("doc")).distinct())
        search = self.of_search
        self.met = frame(search("met"), lambda: self.paired(keys))
        self.hot = frame(search("hot"), lambda: self.of_hot_keys(search("hot")))
        again, _ = self.planned(self.resolved["median_tokens"], hot=0)
        cold = frame(search("split"), lambda: self.step("pairs", self.hot.where("key is not null"), again))
        self.open = frame(search("candidates"), lambda: self.candidates(cold))
        self.blocks = frame(search("blocks"), lambda: self.blocked(self.open))
        self.verified = self.verify(self.blocks, search("verified"))
        self.edges = frame(search("edges"), lambda: self.all_edges(cold))
        self.dropped = frame(self.of_keep("dropped"), self.drop)

    def of_keep(self, name: str) -> str:
        """The name of a stage that depends on which documents are kept. The others serve every choice."""
        return f"{name}-{self.keep}"

    def distinct(self) -> DataFrame:
        """The documents with features that stand for their copies."""
        featured = self.signs.where("outline is not null")
        return featured.groupBy("seq_hi", "seq_lo").agg(
            F.min("doc").alias("doc"), F.max("doc").alias("last"), F.count("*").alias("copies"), F.max("tokens").alias("tokens")
        )

    def keyed(self) -> DataFrame:
        """The keys of the documents that stand for their copies."""
        signs = self.signs.where("outline is not null")
        width = self.stages.value("width", lambda: self.width(signs))
        # Lists take more room than columns.
        outline = [F.col("outline")[at].alias(f"outline_{at}") for at in range(width)] or ["outline"]
        signs = self.among(signs.select("doc", "keys", *outline), "doc", "firsts", self.copies.select("doc"))
        outline = [column for column in signs.columns if column.startswith("outline")]
        if self.reference is None:
            return signs.select(F.explode("keys").alias("key"), "doc", *outline)
        # Of the last of the copies, its side.
        across = self.copies.where("doc < 0 and last >= 0").select("doc")
        last = F.when(F.col(_IS), F.lit(0).cast("long")).otherwise(F.col("doc"))
        signs = self.marked(signs, "doc", "across", across).withColumn("last", last)
        return signs.select(F.explode("keys").alias("key"), "doc", "last", *outline)

    def width(self, signs: DataFrame) -> int:
        """The numbers in an outline, if all have the same, and few; else 0."""
        least, most = signs.agg(F.min(F.size("outline")), F.max(F.size("outline"))).collect()[0]
        return most if most is not None and least == most <= _WIDTH else 0

    def paired(self, keys: DataFrame) -> DataFrame:
        columns = [column for column in keys.columns if column.startswith("outline_")]
        derived = {"outline": F.array(*columns)} if columns else {}
        # With a reference, it matters which documents have copies on its other side.
        if self.reference is None:
            derived["last"] = F.col("doc")
        return self.step("pairs", keys, derived=derived)

    def texts_of(self, rows: DataFrame, column: str, name: str) -> DataFrame:
        """The rows with the texts of the documents in this column, and what is known of them from their signatures. Texts move to no other
        task on the way, unless there are too many rows to send them to all tasks; then only the texts of these documents do."""
        copies = self.copies.select(F.col("doc").alias(column), "seq_hi", "seq_lo")
        docs = self.docs.select(F.col("doc").alias(column), "text")
        if self.stages.value(f"{name}-rows", rows.count) <= self.settings["broadcast"]:
            return docs.join(F.broadcast(copies.join(F.broadcast(rows), column)), column)
        members = rows.select(F.col(column).alias("doc")).distinct()
        return self.among(docs, column, name, members).join(rows.join(copies, column), column)

    def of_hot_keys(self, name: str) -> DataFrame:
        members = self.met.where("hot is not null").select("hot", F.col("a").alias("doc"), "last")
        return self.step("prefix", self.texts_of(members, "doc", name))

    def candidates(self, cold: DataFrame) -> DataFrame:
        is_open = "b is not null and similarity is null"
        rows = self.met.where(is_open).select("a", "b").unionByName(cold.where(is_open).select("a", "b"))
        return rows.distinct()

    def blocked(self, pairs: DataFrame) -> DataFrame:
        """Each candidate with its block: that of the least documents which its documents meet, so that a cluster is one block, and each
        text moves about once. Large blocks are cut by both documents of a pair."""
        label = pairs.groupBy(F.col("b").alias("doc")).agg(F.min("a").alias("label"))
        of_a = label.select(F.col("doc").alias("a"), F.col("label").alias("label_a"))
        of_b = label.select(F.col("doc").alias("b"), F.col("label").alias("label_b"))
        rows = pairs.join(of_b, "b").join(of_a, "a", "left")
        rows = rows.select(F.xxhash64(F.coalesce("label_a", "a"), "label_b").alias("block"), "a", "b")
        members = rows.groupBy("block").agg(F.approx_count_distinct("b").alias("members"))
        large = members.where(F.col("members") > self.settings["block"]).select(
            "block", F.ceil(F.col("members") / self.settings["block"]).alias("cuts")
        )
        rows = rows.join(F.broadcast(large), "block", "left")
        cut = F.xxhash64("block", F.pmod(F.xxhash64("a"), "cuts"), F.pmod(F.xxhash64("b"), "cuts"))
        return rows.select(F.coalesce(F.when(F.col("cuts") > 1, cut), "block").alias("block"), "a", "b")

    def members_of(self, blocks: DataFrame, name: str) -> DataFrame:
        """The documents of pairs, once for each block."""
        of_pairs = blocks.select("block", F.explode(F.array("a", "b")).alias("a"))
        return self.stages.frame(f"{name}-members", lambda: of_pairs.distinct())

    def filter(self, blocks: DataFrame, name: str) -> DataFrame:
        """The pairs that sketches do not rule out, which take a fiftieth of the bytes of a text."""
        members = self.members_of(blocks, name)
        sketches = self.signs.select(F.col("doc").alias("a"), "sketch")
        if self.stages.value(f"{name}-rows", members.count) <= self.settings["broadcast"]:
            sketches = sketches.join(F.broadcast(members), "a")
        else:
            own = members.select(F.col("a").alias("doc")).distinct()
            sketches = self.among(sketches, "a", name, own).join(members, "a")
        none = F.lit(None)
        documents = sketches.select("block", "a", none.cast("long").alias("b"), "sketch")
        pairs = blocks.select("block", "a", "b", none.cast("array<long>").alias("sketch"))
        return self.step("filter", documents.unionByName(pairs), derived={"kind": self.kind()})

    def kind(self) -> Any:
        """The documents of a block come before its pairs."""
        return F.when(F.col("b").isNull(), F.lit(0)).otherwise(F.lit(1)).cast("long")

    def verify(self, blocks: DataFrame, name: str) -> DataFrame:
        """Stages that rule pairs out, if the algorithm has sketches for that, and verify the others."""
        if self.resolved["filters"]:
            blocks = self.stages.frame(f"{name}-filtered", lambda pairs=blocks: self.filter(pairs, f"{name}-filtered"))
        return self.stages.frame(name, lambda: self.verify_by_texts(blocks, name))

    def verify_by_texts(self, blocks: DataFrame, name: str) -> DataFrame:
        members = self.members_of(blocks, name)
        none = F.lit(None)
        documents = self.texts_of(members, "a", name).select(
            "block", "a", none.cast("long").alias("b"), "seq_hi", "seq_lo", "text"
        )
        pairs = blocks.select(
            "block",
            "a",
            "b",
            none.cast("long").alias("seq_hi"),
            none.cast("long").alias("seq_lo"),
            none.cast("string").alias("text"),
        )
        return self.step("verify", documents.unionByName(pairs), derived={"kind": self.kind()})

    def all_edges(self, cold: DataFrame) -> DataFrame:
        """Each pair of distinct documents once."""
        found = [
            frame.where("similarity is not null").select("a", "b", "similarity")
            for frame in (self.met, self.hot, cold, self.verified)
        ]
        first, *others = found
        for other in others:
            first = first.unionByName(other)
        return first.groupBy("a", "b").agg(F.max("similarity").alias("similarity"))

    # What is kept, without all pairs

    def need_pairs(self, what: str) -> None:
        if not self.settings["pairs"]:
            raise ValueError(f"`{what}` needs all pairs: call dedup with `pairs=True` and another folder as `work`")

    @property
    def thins(self) -> bool:
        return not self.settings["pairs"] and self.reference is None

    def of_search(self, name: str) -> str:
        """The name of a stage of the search, which needs not all documents for each choice of what is kept."""
        return self.of_keep(name) if self.thins else name

    def thin(self) -> List[Tuple[DataFrame, DataFrame, DataFrame]]:
        """For each round, pairs of a document that is kept and one that is not, after which the others can be searched alone: what is kept of them does
        not depend on documents that are not kept. Then what was compared, and the results.

        In each round, the first document under each key with very many is compared with all that share a key with it. If none before it
        is like it, it is kept, and those like it are not. Pairs of these are never looked at."""
        ranks = self.ranked().select("doc", "rank")
        keys = self.keys.join(ranks, "doc").select("key", "doc", "rank")
        rounds: List[Tuple[DataFrame, DataFrame, DataFrame]] = []
        done = self.spark.createDataFrame([], "doc long")
        for number in range(1, _ROUNDS + 1):
            name = self.of_keep(f"thin-{number}")
            large = keys.groupBy("key").agg(F.count("*").alias("members"))
            large = large.where(F.col("members") >= self.settings["crowd"])
            open_keys = keys.join(done, "doc", "left_anti").join(large, "key")
            firsts = open_keys.groupBy("key").agg(F.min(F.struct("rank", "doc")).alias("first"))
            firsts = self.stages.frame(f"{name}-firsts", lambda firsts=firsts: firsts.select("first.doc", "first.rank").distinct())
            met = self.stages.frame(f"{name}-met", lambda keys=keys, firsts=firsts: self.met_by(firsts, keys))
            blocks = self.stages.frame(f"{name}-blocks", lambda met=met: self.blocked(met))
            verified = self.verify(blocks, f"{name}-verified")
            edges = self.stages.frame(name, lambda firsts=firsts, verified=verified: self.decided(firsts, verified, ranks))
            count = self.stages.value(f"{name}-count", lambda edges=edges: edges.select("b").distinct().count())
            rounds.append((edges, met, verified))
            done = done.unionByName(firsts.select("doc"))
            # A round that drops little would be followed by others like it.
            if count < self.settings["crowd"]:
                break
            keys = self.without(keys, "doc", f"{name}-gone", edges.select(F.col("b").alias("doc")).distinct())
            keys = self.stages.frame(f"{name}-keys", lambda keys=keys: keys)
        return rounds

    def met_by(self, firsts: DataFrame, keys: DataFrame) -> DataFrame:
        """The pairs of these documents and all that share a key with them."""
        own = keys.join(F.broadcast(firsts.select("doc")), "doc", "left_semi").select("key", F.col("doc").alias("x"))
        pairs = keys.select("key", F.col("doc").alias("y")).join(F.broadcast(own), "key").where("x != y")
        return pairs.select(F.least("x", "y").alias("a"), F.greatest("x", "y").alias("b")).distinct()

    def decided(self, firsts: DataFrame, verified: DataFrame, ranks: DataFrame) -> DataFrame:
        """Of the pairs that were found, those of one of these documents, `a`, that is kept for certain, and a later one, `b`."""
        pairs = verified.where("similarity is not null")
        of = {name: ranks.select(F.col("doc").alias(name), F.struct("rank", "doc").alias(f"{name}_rank")) for name in ("a", "b")}
        pairs = pairs.join(of["a"], "a").join(of["b"], "b")
        is_first = F.col("a_rank") < F.col("b_rank")
        earlier, later = F.when(is_first, F.col("a")).otherwise(F.col("b")), F.when(is_first, F.col("b")).otherwise(F.col("a"))
        ordered = pairs.select(earlier.alias("a"), later.alias("b"), "similarity")
        firsts = firsts.select(F.col("doc").alias("a"))
        # Whatever is like it and before it may be kept.
        certain = firsts.join(ordered.select(F.col("b").alias("a")).distinct(), "a", "left_anti")
        return ordered.join(certain, "a", "left_semi")

    # What is kept

    def rank(self, doc: str, tokens: str) -> Any:
        """What comes first in the choice has the least rank, and among equals the least number."""
        rank = {
            "first": F.lit(0).cast("long"),
            "last": -F.col(doc),
            "longest": -F.col(tokens),
            "shortest": F.col(tokens),
        }[self.keep]
        return F.when(F.col(doc) < 0, F.lit(_REFERENCE)).otherwise(rank)

    def leader(self) -> Any:
        """The document of a group of copies that is kept if any of them is."""
        if self.keep == "last":
            return F.when(F.col("doc") < 0, F.col("doc")).otherwise(F.col("last"))
        return F.col("doc")

    def ranked(self) -> DataFrame:
        by = "last" if self.keep == "last" else "doc"
        rank = F.when(F.col("doc") < 0, F.lit(_REFERENCE)).otherwise(self.rank(by, "tokens"))
        return self.copies.select("doc", "last", "copies", "seq_hi", "seq_lo", rank.alias("rank"), self.leader().alias("leader"))

    def oriented(self) -> DataFrame:
        """Edges whose `a` comes before their `b` in the order of the choice."""
        ranks = self.ranked().select("doc", "rank")
        edges = self.edges.where("b >= 0") if self.reference is not None else self.edges
        edges = edges.select("a", "b")
        if self.keep == "first":
            rank = F.when(F.col("a") < 0, F.lit(_REFERENCE)).otherwise(F.lit(0).cast("long"))
            return edges.select(rank.alias("a_rank"), "a", F.lit(0).cast("long").alias("b_rank"), "b")
        edges = edges.join(ranks.withColumnRenamed("doc", "a").withColumnRenamed("rank", "a_rank"), "a")
        edges = edges.join(ranks.withColumnRenamed("doc", "b").withColumnRenamed("rank", "b_rank"), "b")
        one, other = F.struct("a_rank", "a"), F.struct("b_rank", "b")
        renamed = F.struct(F.col("b_rank").alias("a_rank"), F.col("b").alias("a"))
        both = edges.select(
            F.when(one < renamed, one).otherwise(renamed).alias("first"),
            F.when(one < renamed, other)
            .otherwise(F.struct(F.col("a_rank").alias("b_rank"), F.col("a").alias("b")))
            .alias("second"),
        )
        return both.select("first.a_rank", "first.a", "second.b_rank", "second.b")

    def drop(self) -> DataFrame:
        """The distinct documents that are dropped. While there are more edges than one task can decide on, a round drops the partners of
        those that have none before them."""
        edges, dropped, number = self.oriented(), None, 0
        while edges.count() > self.settings["edges"]:
            number += 1
            edges = self.stages.frame(self.of_keep(f"edges-{number}"), lambda edges=edges: edges)
            firsts = edges.select("a").distinct().join(edges.select(F.col("b").alias("a")).distinct(), "a", "left_anti")
            gone = self.stages.frame(
                self.of_keep(f"gone-{number}"), lambda: edges.join(firsts, "a", "left_semi").select(F.col("b").alias("doc")).distinct()
            )
            dropped = gone if dropped is None else dropped.unionByName(gone)
            edges = edges.join(gone.withColumnRenamed("doc", "a"), "a", "left_anti")
            edges = edges.join(gone.withColumnRenamed("doc", "b"), "b", "left_anti")
        rest = self.step("keep", edges, one_task=True)
        dropped = rest if dropped is None else dropped.unionByName(rest)
        for pairs, *_ in self.thinned:
            dropped = dropped.unionByName(pairs.select(F.col("b").alias("doc")).distinct())
        return dropped

    def members(self) -> DataFrame:
        """All documents with features: `doc`, its group `first`, and what is known of that."""
        ranked = self.ranked().withColumnRenamed("doc", "first")
        signs = self.signs.where("outline is not null").select("seq_hi", "seq_lo", "doc", "tokens")
        return signs.join(ranked, ["seq_hi", "seq_lo"]).drop("seq_hi", "seq_lo")

    def removed(self) -> DataFrame:
        """The documents that are not kept, with the kept one that explains each best."""
        return self.stages.frame(self.of_keep("removed"), self.explained)

    def explained(self) -> DataFrame:
        dropped = self.dropped.select(F.col("doc").alias("first"), F.lit(True).alias("is_dropped"))
        ranked = self.ranked()
        if self.reference is None:
            copies = F.col("copies") > 1
        else:
            # Documents are compared with the reference alone.
            copies = F.col("first") < 0
        members = self.members().join(dropped, "first", "left").where(copies | F.col("is_dropped"))
        members = members.where("doc >= 0") if self.reference is not None else members
        of_copies = members.where("is_dropped is null and doc != leader").select(
            "doc", F.col("leader").alias("by"), F.lit(1.0).alias("similarity")
        )
        edges = self.edges
        for thinned, *_ in self.thinned:
            edges = edges.unionByName(thinned.select("a", "b", "similarity"))
        both = edges.select(F.col("a").alias("first"), F.col("b").alias("other"), "similarity").unionByName(
            edges.select(F.col("b").alias("first"), F.col("a").alias("other"), "similarity")
        )
        kept = ranked.join(self.dropped, "doc", "left_anti").select(
            F.col("doc").alias("other"), F.col("rank").alias("other_rank"), F.col("leader").alias("by")
        )
        partners = members.where("is_dropped").select(
            "first", "doc", self.rank("doc", "tokens").alias("own_rank")
        ).join(both, "first").join(kept, "other")
        partners = partners.where("other_rank < own_rank or other_rank = own_rank and by < doc")
        # The most similar, and among equals the first in the order of the choice.
        best = F.max(F.struct("similarity", (-F.col("other_rank")).alias("rank"), (-F.col("by")).alias("by"))).alias("best")
        explained = partners.groupBy("doc").agg(best)
        explained = explained.select("doc", (-F.col("best.by")).alias("by"), F.col("best.similarity").alias("similarity"))
        return of_copies.unionByName(explained)

    def kept(self) -> DataFrame:
        return self.without(self.numbered_input, _DOC, self.of_keep("removed"), self.removed().select("doc")).drop(_DOC)

    # Results

    def ids(self) -> Optional[DataFrame]:
        if self.id is None:
            return None
        sides = [self.numbered_input] if self.reference is None else [self.numbered_input, self.numbered_reference]
        own, *others = [side.select(F.col(_DOC).alias("doc"), _column(side, self.id).alias("id")) for side in sides]
        for other in others:
            own = own.unionByName(other)
        return own

    def with_ids(self, rows: DataFrame, columns: Dict[str, str]) -> DataFrame:
        """The rows with ids in the place of numbers, under new names. Without a column of ids, the numbers of documents are their ids."""
        ids = self.ids()
        for column, name in columns.items():
            if ids is None:
                number = F.when(F.col(column) < 0, F.col(column) - F.lit(_REFERENCE)).otherwise(F.col(column))
                rows = rows.withColumn(column, number).withColumnRenamed(column, name)
            else:
                rows = rows.join(ids.select(F.col("doc").alias(column), F.col("id").alias(f"__{name}")), column)
                rows = rows.drop(column).withColumnRenamed(f"__{name}", name)
        others = [name for name in rows.columns if name not in columns.values()]
        return rows.select(*columns.values(), *others)

    def numbered_pairs(self) -> DataFrame:
        members = self.members().select("doc", "first")
        one = members.select(F.col("doc").alias("x"), F.col("first").alias("a"))
        other = members.select(F.col("doc").alias("y"), F.col("first").alias("b"))
        edges = self.edges.join(one, "a").join(other, "b").select("x", "y", "similarity")
        twice = self.copies.where("copies > 1").select(F.col("doc").alias("a"))
        same = one.join(twice, "a", "left_semi").join(other.withColumnRenamed("b", "a"), "a").where("x < y")
        pairs = edges.unionByName(same.select("x", "y", F.lit(1.0).alias("similarity")))
        if self.reference is not None:
            pairs = pairs.where("(x < 0) != (y < 0)")
        return pairs.select(F.least("x", "y").alias("a"), F.greatest("x", "y").alias("b"), "similarity")

    def pairs(self) -> DataFrame:
        pairs = self.stages.frame("pairs", self.numbered_pairs)
        return self.with_ids(pairs.select(F.col("a").alias("x"), F.col("b").alias("y"), "similarity"), {"x": "a", "y": "b"})

    def labels(self) -> DataFrame:
        """The distinct documents in edges, each with the least of its cluster. While there are more edges than one task can take, a
        round joins each document with the least one that it has an edge to."""
        edges, joined, number = self.edges.select("a", "b"), [], 0
        while edges.count() > self.settings["edges"]:
            number += 1
            both = edges.unionByName(edges.select(F.col("b").alias("a"), F.col("a").alias("b")))
            near = both.groupBy("a").agg(F.min("b").alias("to")).select(F.col("a").alias("doc"), F.least("a", "to").alias("to"))
            near = self.stages.frame(f"near-{number}", lambda near=near: near)
            joined.append(near)
            moved = edges.join(near.select(F.col("doc").alias("a"), F.col("to").alias("x")), "a")
            moved = moved.join(near.select(F.col("doc").alias("b"), F.col("to").alias("y")), "b")
            edges = moved.where("x != y").select(F.least("x", "y").alias("a"), F.greatest("x", "y").alias("b")).distinct()
            edges = self.stages.frame(f"near-edges-{number}", lambda edges=edges: edges)
        labels = self.step("clusters", edges, one_task=True)
        for near in reversed(joined):
            after = labels.select(F.col("doc").alias("to"), "cluster")
            moved = near.join(after, "to", "left").select("doc", F.coalesce("cluster", "to").alias("cluster"))
            labels = moved
        return labels

    def clusters(self) -> DataFrame:
        def make() -> DataFrame:
            labels = self.stages.frame("labels", self.labels).withColumnRenamed("doc", "first")
            members = self.members().select("first", "doc", "copies")
            rows = members.join(labels, "first", "left")
            if self.reference is None:
                rows = rows.where("cluster is not null or copies > 1")
            else:
                # Copies on one side of a reference are no cluster by themselves.
                rows = rows.where("cluster is not null or copies > 1 and first < 0")
            rows = rows.select(F.coalesce("cluster", "first").alias("cluster"), "doc")
            if self.reference is not None:
                sides = rows.groupBy("cluster").agg(F.min("doc").alias("x"), F.max("doc").alias("y"))
                rows = rows.join(sides.where("x < 0 and y >= 0").select("cluster"), "cluster", "left_semi")
            removed = self.removed().select("doc", F.lit(False).alias("kept"))
            return rows.join(removed, "doc", "left").select("cluster", "doc", F.coalesce("kept", F.lit(True)).alias("kept"))

        rows = self.stages.frame(self.of_keep("clusters"), make)
        rows = self.with_ids(rows, {"doc": "id"})
        number = F.when(F.col("cluster") < 0, F.col("cluster") - F.lit(_REFERENCE)).otherwise(F.col("cluster"))
        return rows.select(number.alias("cluster"), "id", "kept")

    def report(self) -> Dict[str, Any]:
        def counted() -> Dict[str, Any]:
            own = F.col("doc") >= 0
            signs = self.signs.agg(
                F.count(F.when(own & F.col("tokens").isNotNull(), 1)).alias("documents"),
                F.count(F.when(~own & F.col("tokens").isNotNull(), 1)).alias("references"),
                F.count(F.when(F.col("tokens").isNull(), 1)).alias("without_text"),
                F.count(F.when(F.col("tokens").isNotNull() & F.col("outline").isNull(), 1)).alias("featureless"),
            ).collect()[0]
            copies = self.copies.agg(F.sum(F.col("copies") - 1).alias("copies"), F.count("*").alias("distinct")).collect()[0]
            named = self.verified.where("b is null").select("a")
            named = named.unionByName(self.hot.where("key is null and b is null").select("a"))
            for _, _, verified in self.thinned:
                named = named.unionByName(verified.where("b is null").select("a"))
            changed = [row["a"] for row in named.distinct().limit(100).collect()]
            ids, repeated = self.ids(), 0
            if ids is not None:
                repeated = ids.agg(F.count("id") - F.countDistinct("id")).collect()[0][0]
            return {
                **signs.asDict(),
                "repeated_ids": repeated,
                "copies": copies["copies"] or 0,
                "distinct": copies["distinct"],
                "hot_members": self.met.where("hot is not null").count(),
                "candidates": self.open.count() + sum(met.count() for _, met, _ in self.thinned),
                "edges": self.edges.count() + sum(edges.count() for edges, *_ in self.thinned),
                "thinned_rounds": len(self.thinned),
                "changed": sorted(changed),
            }

        counts = self.stages.value(self.of_search("counts"), counted)
        counts["removed"] = self.stages.value(self.of_keep("counts-removed"), self.removed().count)
        warnings = list(self.resolved["warnings"])
        if counts["changed"]:
            warnings.append(
                f"documents changed while the run read them: {counts['changed'][:3]}; pairs with them may be missing"
            )
        if counts["repeated_ids"]:
            warnings.append(
                f"{counts['repeated_ids']} documents have an id that an earlier one has: all are compared, and results name each by its id "
                "(without `id`, by its number)"
            )
        resolved = {name: value for name, value in self.resolved.items() if name not in ("filters", "learns")}
        return {**resolved, **counts, "warnings": warnings, "seconds": dict(self.stages.seconds)}


def dedup(
    df: DataFrame,
    *,
    text: str = "text",
    id: Optional[str] = None,
    order: Optional[str] = None,
    work: str,
    keep: str = "first",
    against: Optional[DataFrame] = None,
    pairs: bool = True,
    hot: int = 512,
    partitions: Optional[int] = None,
    memory: int = _MEMORY,
    sorts: Optional[bool] = None,
    edges: int = _EDGES_OF_A_TASK,
    block: int = _BLOCK,
    crowd: int = _CROWD,
    broadcast: int = _BROADCAST,
    **options: Union[str, int, float, bool, None, Sequence[str]],
) -> Dedup:
    """Finds the near-duplicates among the rows of a data frame: the pairs, similarities and kept documents of `dedup scan`.

    `text` is the column of texts; a row whose text is null is kept, and not compared. `id` is the column that results name documents
    by; repeated ids are joined to each of their documents. `order` is a column of different integers, at least 0, ascending in the
    order of the documents. Without it, they come in the order of their files and rows, as `dedup scan` reads them: the data frame must
    then come from Parquet files, without an operation that forgets them.

    `work` is a folder of its own that all workers read and write. Each stage is written there once: the same call after a failure goes on where it
    stopped. A call with another `keep` uses the stages up to all pairs; any other call, or one with other rows, needs another folder. Rows
    are the same if their files have the same sizes and times, or, with `order`, if they have the same numbers and texts, which are read
    once more for that.

    With `pairs=False`, only `kept` and `removed` are found. Documents of which very many share a key are then compared with those that are
    kept, and not with each other: a page with 50,000 near-copies has more than a thousand million pairs.

    `keep` is `first`, `last`, `longest` or `shortest`. With `against`, a data frame with the same columns, documents are compared with
    those of it alone, and all of it is kept.

    `options` are those of `dedup scan` that say how documents are compared, with underscores: `threshold=0.7`, `algo="simhash"`,
    `tokenizer="char:5"`. What they need
    counted over the whole collection, such as `drop_common`, is counted by Spark.

    The other parameters are about how the work is cut, and results do not depend on them: `hot` is the number of documents under one key
    from which on they are searched by rare features (0: never); `partitions`, that of a shuffle; `memory`, the bytes for one document and
    for those under one hot key; `sorts` says whether the engine sorts rows before they reach a worker, which is found out by default;
    `edges` is the most that one task decides on; `block`, the most documents of a cluster that are verified together; `crowd`, the number of
    documents under one key from which on they are very many with `pairs=False`; `broadcast`, the most documents that are sent to all tasks
    as a list, which takes some 100 bytes of memory for each in the driver and in each executor, so that texts move once. A folder goes with
    one `hot`, `memory` and `crowd`.

    Raises `ValueError` for arguments that are refused, before anything is written where possible.
    """
    if keep not in ("first", "last", "longest", "shortest"):
        raise ValueError(f"invalid value '{keep}' for `keep`: expected first, last, longest or shortest")
    if against is not None and keep != "first":
        raise ValueError("`keep` has no effect with `against`: the reference is kept")
    for name, column in (("text", text), ("id", id), ("order", order)):
        if column is not None and "." not in column and column not in df.columns:
            raise ValueError(f"`{name}`: no column '{column}' (columns here: {', '.join(df.columns)})")
    settings = {"hot": hot, "partitions": partitions, "memory": memory, "sorts": sorts, "edges": edges, "block": block}
    settings.update(pairs=pairs, crowd=crowd, broadcast=broadcast)
    spark = df.sparkSession
    return Dedup(_Run(spark, df, against, (text, id, order), work, keep, settings, options))
