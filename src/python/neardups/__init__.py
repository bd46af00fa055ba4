'''Near-duplicate detection for text, as the command `dedup` does it.

Documents are a list of texts or of dictionaries, an Arrow table or reader, a Polars or pandas frame, a Hugging Face dataset, or
paths:

>>> import neardups
>>> texts = [
...     "the quick brown fox jumps over the lazy dog near the bank of the river",
...     "an entirely different sentence that says nothing about any animals at all",
...     "The quick brown fox jumps over the lazy dog, near the bank of the River!",
... ]
>>> len(neardups.keep(texts))
2
>>> neardups.scan(texts)
[{'a': 0, 'b': 2, 'similarity': 1.0, 'measure': 'jaccard', 'algo': 'minhash'}]

A `str` is a text, a `pathlib.Path` is a file or folder. Keyword arguments are the options of `dedup scan`, with underscores:
`threshold=0.7`, `text_field="body"`. `dedup help python` is the guide.
'''

from __future__ import annotations

import json
import os
import sys
import threading
import warnings
from collections.abc import Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any, Callable, Iterable, Literal, Optional, Union, overload

from neardups import _input, _native, _options
from neardups._native import __version__

if TYPE_CHECKING:
    from typing_extensions import Unpack
elif sys.version_info >= (3, 11):
    from typing import Unpack
else:

    class Unpack:
        """In annotations that are read at run time, the type of the options."""

        def __class_getitem__(cls, options: type) -> type:
            return options

__all__ = [
    "Index",
    "NeardupsWarning",
    "__version__",
    "clusters",
    "compare",
    "contain",
    "fingerprints",
    "keep",
    "passages",
    "scan",
    "similarity",
]


class NeardupsWarning(UserWarning):
    """What a run warns of: records that could not be read, options that find less than they seem to."""


def _warn(messages: Iterable[str]) -> None:
    """Warns in the name of the caller of this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == os.path.dirname(__file__):
        level, frame = level + 1, frame.f_back
    for message in messages:
        warnings.warn(message, NeardupsWarning, stacklevel=level)


def _fill(stats: Any, made: str, messages: list[str]) -> None:
    """Fills the dictionary that a caller gave for it with what `--stats` writes."""
    if stats is not None:
        stats.update(json.loads(made))
        stats["warnings"] = messages
        del stats["type"]


def _kept(source: _input.Source, found: Any) -> Any:
    """The documents that are kept, as documents of the same kind."""
    return found if source.kind == "files" else source.take(found)


def _records(source: _input.Source, found: Any) -> Any:
    return found.to_list() if source.is_list else found.to_table()


def _scan(
    documents: Any,
    against: Any,
    progress: Optional[bool],
    stats: Any,
    options: dict[str, Any],
    made_of: Callable[[_input.Source, Any], Any] = _records,
) -> Any:
    """What is made of the results. Statistics are filled last, after everything that can fail."""
    source = _input.Source(documents, options)
    reference = None if against is None else _input.Source(against, options, "against_id_field")
    shown = _input.progress(progress)
    try:
        found, made, messages = _native.scan(
            source.pair, None if reference is None else reference.pair, _input.keywords(options, "scan"), shown
        )
    finally:
        if shown is not None:
            shown.close()
    _warn(messages)
    result = made_of(source, found)
    _fill(stats, made, messages)
    return result


@overload
def scan(documents: _options.FrameLike, *, emit: _options.ScanRecords = None, **options: Unpack[_options.ScanCall]) -> _options.Table: ...
@overload
def scan(documents: _options.ListLike, *, emit: _options.ScanRecords = None, **options: Unpack[_options.ScanCall]) -> _options.Records: ...
@overload
def scan(documents: _options.TableLike, *, emit: _options.ScanRecords = None, **options: Unpack[_options.ScanCall]) -> _options.Table: ...
@overload
def scan(documents: _options.Frame, *, emit: Literal["kept"], **options: Unpack[_options.ScanCall]) -> _options.Frame: ...
@overload
def scan(documents: _options.Rows[_options.Row], *, emit: Literal["kept"], **options: Unpack[_options.ScanCall]) -> list[_options.Row]: ...
@overload
def scan(documents: _options.RowStream, *, emit: Literal["kept"], **options: Unpack[_options.ScanCall]) -> _options.Records: ...
@overload
def scan(documents: _options.Paths, *, emit: Literal["kept"], **options: Unpack[_options.ScanCall]) -> bytes: ...
@overload
def scan(documents: _options.Arrow, *, emit: Literal["kept"], **options: Unpack[_options.ScanCall]) -> _options.Table: ...
def scan(
    documents: _options.AnyDocuments,
    *,
    against: Optional[_options.AnyDocuments] = None,
    progress: Optional[bool] = None,
    stats: Optional[dict[str, Any]] = None,
    **options: Unpack[_options.Scan],
) -> Any:
    """Finds all pairs of near-duplicates, as `dedup scan` does.

    Returns a `pyarrow.Table` with the fields of the records of the command as columns; for a list, a list of
    dictionaries. Without ids, a document is its position, from 0. `emit` is what is returned: `"pairs"`, `"clusters"`,
    `"verdicts"`, `"fingerprints"` or `"hosts"`; `"kept"` is `keep`.

    `against` are documents of a reference: then the pairs are of a document with one of these. `progress` shows how far it
    is; by default in terminals and notebooks. `stats` is a dictionary that is filled with what `--stats` writes: the parameters that
    were chosen, counts, times.

    >>> import neardups
    >>> neardups.scan(["a b c d e f g h i j k", "x", "a b c d e f g h i j k"], emit="verdicts")[2]["duplicate_of"]
    0

    Raises `TypeError` for an unknown option, and `ValueError` for a value that an option does not take:

    >>> neardups.scan([], treshold=0.7)
    Traceback (most recent call last):
    ...
    TypeError: unexpected keyword argument 'treshold': did you mean 'threshold'?
    >>> neardups.scan([], algo="simhash", distance=99)
    Traceback (most recent call last):
    ...
    ValueError: invalid value '99' for `distance`: expected a whole number from 0 to 32
    """
    _input.clear(stats)
    made_of = _kept if options.get("emit") == "kept" else _records
    return _scan(documents, against, progress, stats, {**options}, made_of)


@overload
def keep(documents: _options.Frame, keep: Optional[str] = None, **options: Unpack[_options.KeepCall]) -> _options.Frame: ...
@overload
def keep(documents: _options.Rows[_options.Row], keep: Optional[str] = None, **options: Unpack[_options.KeepCall]) -> list[_options.Row]: ...
@overload
def keep(documents: _options.RowStream, keep: Optional[str] = None, **options: Unpack[_options.KeepCall]) -> _options.Records: ...
@overload
def keep(documents: _options.Paths, keep: Optional[str] = None, **options: Unpack[_options.KeepCall]) -> bytes: ...
@overload
def keep(documents: _options.Arrow, keep: Optional[str] = None, **options: Unpack[_options.KeepCall]) -> _options.Table: ...
def keep(
    documents: _options.AnyDocuments,
    keep: Optional[str] = None,
    *,
    against: Optional[_options.AnyDocuments] = None,
    progress: Optional[bool] = None,
    stats: Optional[dict[str, Any]] = None,
    **options: Unpack[_options.Keep],
) -> Any:
    """The documents without their near-duplicates: what `dedup scan --emit kept` prints.

    Returns documents of the same kind: of a table a table with all columns, of a frame a frame, of a list a list (the same
    objects); of paths the `bytes` of their records, as the command prints them. `keep` says which of several near-duplicates is kept:
    `"first"`, `"last"`, `"longest"`, `"shortest"`, `"max:FIELD"`, `"min:FIELD"`, `"is:FIELD=VALUE"`, or several of these in
    order: `"is:lang=en,max:score,longest"`.

    >>> import neardups
    >>> neardups.keep(["to be or not to be, that is the question", "something else entirely", "To be or not to be: that is the question"])
    ['to be or not to be, that is the question', 'something else entirely']
    """
    _input.clear(stats)
    if "emit" in options:
        _input.refuse_emit("keep", "kept", options.get("emit"))
    return _scan(documents, against, progress, stats, {"keep": keep, "emit": "kept", **options}, _kept)


@overload
def clusters(documents: _options.FrameLike, keep: Optional[str] = None, **options: Unpack[_options.KeepCall]) -> _options.Table: ...
@overload
def clusters(documents: _options.ListLike, keep: Optional[str] = None, **options: Unpack[_options.KeepCall]) -> _options.Records: ...
@overload
def clusters(documents: _options.TableLike, keep: Optional[str] = None, **options: Unpack[_options.KeepCall]) -> _options.Table: ...
def clusters(
    documents: _options.AnyDocuments,
    keep: Optional[str] = None,
    *,
    against: Optional[_options.AnyDocuments] = None,
    progress: Optional[bool] = None,
    stats: Optional[dict[str, Any]] = None,
    **options: Unpack[_options.Keep],
) -> Any:
    """The groups that pairs of near-duplicates connect: what `dedup scan --emit clusters` prints.

    >>> import neardups
    >>> neardups.clusters(["to be or not to be, that is the question", "something else entirely", "To be or not to be: that is the question"])
    [{'id': 1, 'size': 2, 'members': [0, 2], 'keep': [0]}]
    """
    _input.clear(stats)
    if "emit" in options:
        _input.refuse_emit("clusters", "clusters", options.get("emit"))
    return _scan(documents, against, progress, stats, {"keep": keep, "emit": "clusters", **options})


@overload
def fingerprints(documents: _options.FrameLike, **options: Unpack[_options.FingerprintsCall]) -> _options.Table: ...
@overload
def fingerprints(documents: _options.ListLike, **options: Unpack[_options.FingerprintsCall]) -> _options.Records: ...
@overload
def fingerprints(documents: _options.TableLike, **options: Unpack[_options.FingerprintsCall]) -> _options.Table: ...
def fingerprints(
    documents: _options.AnyDocuments,
    *,
    progress: Optional[bool] = None,
    stats: Optional[dict[str, Any]] = None,
    **options: Unpack[_options.Fingerprints],
) -> Any:
    """The fingerprint of each document: what `dedup scan --emit fingerprints` prints.

    >>> import neardups
    >>> [made] = neardups.fingerprints(["to be or not to be, that is the question"])
    >>> made["id"], made["algo"], made["features"]
    (0, 'minhash', 9)
    """
    _input.clear(stats)
    if "emit" in options:
        _input.refuse_emit("fingerprints", "fingerprints", options.get("emit"))
    if "against" in options:
        raise TypeError("unexpected keyword argument 'against': a fingerprint is of one document")
    return _scan(documents, None, progress, stats, {"emit": "fingerprints", **options})


@overload
def passages(documents: _options.FrameLike, *, emit: _options.PassagesRecords = None, **options: Unpack[_options.PassagesCall]) -> _options.Table: ...
@overload
def passages(documents: _options.ListLike, *, emit: _options.PassagesRecords = None, **options: Unpack[_options.PassagesCall]) -> _options.Records: ...
@overload
def passages(documents: _options.TableLike, *, emit: _options.PassagesRecords = None, **options: Unpack[_options.PassagesCall]) -> _options.Table: ...
@overload
def passages(documents: _options.Frame, *, emit: Literal["kept"], **options: Unpack[_options.PassagesCall]) -> _options.Frame: ...
@overload
def passages(documents: _options.Rows[_options.Row], *, emit: Literal["kept"], **options: Unpack[_options.PassagesCall]) -> list[_options.Row]: ...
@overload
def passages(documents: _options.RowStream, *, emit: Literal["kept"], **options: Unpack[_options.PassagesCall]) -> _options.Records: ...
@overload
def passages(documents: _options.Paths, *, emit: Literal["kept"], **options: Unpack[_options.PassagesCall]) -> bytes: ...
@overload
def passages(documents: _options.Arrow, *, emit: Literal["kept"], **options: Unpack[_options.PassagesCall]) -> _options.Table: ...
def passages(
    documents: _options.AnyDocuments,
    *,
    against: Optional[_options.AnyDocuments] = None,
    progress: Optional[bool] = None,
    stats: Optional[dict[str, Any]] = None,
    **options: Unpack[_options.Passages],
) -> Any:
    """The passages that repeat, within a document or in several: what `dedup passages` prints.

    `emit` is what is returned: `"passages"`, `"pairs"` of documents that share some, or `"spans"`, the parts of each document
    that are in one. With `against`, also `"verdicts"`, which say for each document whether it is kept: it is if it has no passage of the
    reference; and with `unit="document"` also `"kept"`, these documents, as `keep` returns them. Starts and ends count bytes of the text in UTF-8, as the command does. With `min_documents`, only passages
    are found that are in so many different documents. With `against`, only those are found that are in the reference too, and
    places there have `"reference": True`: documents and reference are numbered apart.

    >>> import neardups
    >>> texts = ["Preamble. We the people of the United States.", "As it says: we, the people of the United States!"]
    >>> [passage] = neardups.passages(texts, min_words=5)
    >>> passage["words"], passage["documents"], passage["text"]
    (7, 2, 'We the people of the United States')
    >>> spans = neardups.passages(texts, min_words=5, emit="spans")
    >>> [texts[found["id"]].encode()[start:end].decode() for found in spans for start, end in found["spans"]]
    ['We the people of the United States', 'we, the people of the United States']
    >>> questions = ["Do we, the people of the United States, agree?"]
    >>> neardups.passages(["Nothing of it.", *texts], against=questions, min_words=5, unit="document", emit="kept")
    ['Nothing of it.']
    """
    _input.clear(stats)
    kinds = {None: "passages", "pairs": "shared", "verdicts": "decided"}
    return _search(_native.passages, kinds, documents, against, progress, stats, {**options})


@overload
def contain(documents: _options.FrameLike, *, emit: _options.ContainRecords = None, **options: Unpack[_options.ContainCall]) -> _options.Table: ...
@overload
def contain(documents: _options.ListLike, *, emit: _options.ContainRecords = None, **options: Unpack[_options.ContainCall]) -> _options.Records: ...
@overload
def contain(documents: _options.TableLike, *, emit: _options.ContainRecords = None, **options: Unpack[_options.ContainCall]) -> _options.Table: ...
@overload
def contain(documents: _options.Frame, *, emit: Literal["kept"], **options: Unpack[_options.ContainCall]) -> _options.Frame: ...
@overload
def contain(documents: _options.Rows[_options.Row], *, emit: Literal["kept"], **options: Unpack[_options.ContainCall]) -> list[_options.Row]: ...
@overload
def contain(documents: _options.RowStream, *, emit: Literal["kept"], **options: Unpack[_options.ContainCall]) -> _options.Records: ...
@overload
def contain(documents: _options.Paths, *, emit: Literal["kept"], **options: Unpack[_options.ContainCall]) -> bytes: ...
@overload
def contain(documents: _options.Arrow, *, emit: Literal["kept"], **options: Unpack[_options.ContainCall]) -> _options.Table: ...
def contain(
    documents: _options.AnyDocuments,
    *,
    against: Optional[_options.AnyDocuments] = None,
    progress: Optional[bool] = None,
    stats: Optional[dict[str, Any]] = None,
    **options: Unpack[_options.Contain],
) -> Any:
    """How much of each document stands in others: what `dedup contain` prints.

    `emit` is what is returned: `"containments"`, `"pairs"`, `"verdicts"`, or `"kept"`, the documents that no kept one contains,
    as `keep` returns them. Without `emit`, those are found that are mostly contained in another one. With `against`, `of="reference"`
    and `emit="kept"` or `"verdicts"`, documents are left out that have at least `min_coverage` of one of the reference, such as a test question.

    >>> import neardups
    >>> texts = ["when in the course of human events", "He wrote: when in the course of human events it becomes necessary."]
    >>> [found] = neardups.contain(texts, shingle=3, min_coverage=1)
    >>> found["id"], found["in"], found["coverage"]
    (0, 1, 1.0)
    >>> neardups.contain(texts, shingle=3, emit="kept") == texts[1:]
    True
    """
    _input.clear(stats)
    kinds = {None: "containments", "pairs": "coverages"}
    return _search(_native.contain, kinds, documents, against, progress, stats, {**options})


def _search(
    native: Any,
    kinds: dict[Optional[str], str],
    documents: Any,
    against: Any,
    progress: Optional[bool],
    stats: Any,
    options: dict[str, Any],
) -> Any:
    """Records, or what is kept. `kinds`: the kinds of records that have another name than `emit`. Statistics are filled last."""
    source = _input.Source(documents, options)
    reference = None if against is None else _input.Source(against, options, "against_id_field")
    shown = _input.progress(progress)
    try:
        found, ids, made, messages = native(
            source.pair, None if reference is None else reference.pair, _input.keywords(options, native.__name__), shown
        )
    finally:
        if shown is not None:
            shown.close()
    _warn(messages)
    emit = options.get("emit")
    result = _kept(source, found) if emit == "kept" else _found_records(source, found, kinds.get(emit, emit), ids)
    _fill(stats, made, messages)
    return result


def _found_records(source: _input.Source, found: bytes, kind: Any, ids: str) -> Any:
    """The lines of records of this kind, as a list or table."""
    records = [json.loads(line) for line in found.split(b"\n") if line]
    for record in records:
        del record["type"]
        if ids != "string":
            # Those of passages are numbers, and their places have ids.
            for named in [record, *record.get("places", [])]:
                for name in ("id", "in", "contains", "a", "b"):
                    if name in named and isinstance(named[name], str):
                        named[name] = _integer(named[name])
    if not source.is_list:
        return _input.other("pyarrow").Table.from_pylist(records, schema=_found(kind, ids))
    return records


def similarity(a: str, b: str, **options: Unpack[_options.Method]) -> Optional[float]:
    """The exact similarity of two texts by an algorithm; `None` if one of them has too few features, or if the algorithm needs to
    know a whole collection (`compare` says which).

    Parameters that are not given, such as `shingle`, follow from the lengths of the two texts. A scan derives them from its whole
    collection: give those that it reports in `stats`, to get its similarity.

    >>> import neardups
    >>> neardups.similarity("A rose is a rose is a rose, she said.", "A rose is a rose is a rose, he said.")
    0.42857142857142855
    """
    return _native.similarity(_input.text("a", a), _input.text("b", b), _input.keywords({**options}))


def compare(a: str, b: str, **options: Unpack[_options.Compare]) -> dict[str, Any]:
    """Two texts as the algorithms see them, and what they share: what `dedup compare --json` prints.

    >>> import neardups
    >>> result = neardups.compare("to be or not to be, that is the question", "To be or not to be: that is the question", algo="minhash")
    >>> result["algorithms"][0]["similarity"], result["reported_by"], result["contained"]
    (1.0, ['minhash'], 'both')
    """
    record, messages = _native.compare(_input.text("a", a), _input.text("b", b), _input.keywords({**options}, "compare"))
    _warn(messages)
    result: dict[str, Any] = json.loads(record)
    del result["type"]
    return result


class Index:
    """Documents that are remembered, in a file or in memory, to compare others with.

    `path` is a file, which is made if it does not exist; without it the index is in memory. Options are those of
    `dedup index add`, and `window`, `expire` and `max_docs` of `dedup filter`. A file is opened with the options that it was made with,
    which need not be repeated. Several threads may use an index: they take turns. One process may write to a file at a time.

    Documents without ids are remembered under their numbers in the index: the first is `"0"`, the next `"1"`, and so on over all
    calls, also when a file is opened again. What they say of a document is about its text alone: the same text again is a
    near-duplicate for `filter`, and there already for `add`. A document with an id that comes again with the same text is the
    same document, as after a crash, and passes `filter` again if the index is a file; in memory it is a near-duplicate.

    What `add` and `filter` remember, they remember when they return. After an exception, nothing of the call is remembered, and the
    same documents can be passed again. The same holds after Ctrl-C, except at the end of a call, while the file is written:
    then all of them are remembered.

    >>> import neardups
    >>> index = neardups.Index(threshold=0.8)
    >>> index.add(["to be or not to be", "that is the question"])
    2
    >>> index.query(["something else entirely", "To be, or not to be"])
    [{'id': 0, 'keep': True}, {'id': 1, 'keep': False, 'duplicate_of': '0', 'similarity': 1.0}]
    >>> index
    <neardups.Index in memory: 2 documents, minhash>
    """

    def __init__(self, path: "Union[os.PathLike[str], str, None]" = None, **options: Unpack[_options.Index]) -> None:
        if path is not None and not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"`path` must be a path, not {type(path).__name__}")
        self._path = None if path is None else _input.path("`path`", path)
        self._options: dict[str, Any] = {**options}
        # The file has one writer, and a process that is forked has the same lock on it.
        self._process = os.getpid()
        self._index = _native.Index(self._path, _input.keywords(self._options, "Index"))
        # What a call remembers is not certain before its records are made.
        self._lock = threading.RLock()

    def _run(
        self, mode: str, documents: Any, progress: Optional[bool], stats: Any, wanted: "Optional[tuple[int, bool]]" = None
    ) -> tuple[Any, int]:
        _input.clear(stats)
        self._check_process()
        source = _input.Source(documents, self._options)
        with self._lock:
            shown = _input.progress(progress)
            try:
                lines, added, ids, made, messages = self._index.run(mode, source.pair, wanted, shown)
            finally:
                if shown is not None:
                    shown.close()
            records = [json.loads(line) for line in lines.split("\n") if line]
            for record in records:
                del record["type"]
                if ids != "string":
                    record["id"] = _integer(record["id"])
            if not source.is_list and mode != "add":
                schema = _answers(wanted is not None, ids)
                records = _input.other("pyarrow").Table.from_pylist(records, schema=schema)
            _warn(messages)
            if mode != "query":
                # The last step that can fail: who gets no records has to pass the documents again.
                stored = self._index.keep()
        _fill(stats, made, messages)
        if mode != "query" and stats is not None:
            stats["bytes_stored"] = stored
        return records, added

    def _check_process(self) -> None:
        if self._path is not None and os.getpid() != self._process:
            raise BlockingIOError(
                f"the index {self._path!r} was opened by the process {self._process}, which this one was forked from: "
                "close it before the fork, and open it where it is used"
            )

    def add(
        self, documents: _options.AnyDocuments, *, progress: Optional[bool] = None, stats: Optional[dict[str, Any]] = None
    ) -> int:
        """Remembers documents without a decision, except those that it has already: with the same id and text, or, without an id,
        with the same text. Returns the number of new ones. `stats` is filled as by `filter`."""
        return self._run("add", documents, progress, stats)[1]

    @overload
    def filter(
        self, documents: _options.FrameLike, *, progress: Optional[bool] = None, stats: Optional[dict[str, Any]] = None
    ) -> _options.Table: ...
    @overload
    def filter(
        self, documents: _options.ListLike, *, progress: Optional[bool] = None, stats: Optional[dict[str, Any]] = None
    ) -> _options.Records: ...
    @overload
    def filter(
        self, documents: _options.TableLike, *, progress: Optional[bool] = None, stats: Optional[dict[str, Any]] = None
    ) -> _options.Table: ...
    def filter(
        self, documents: _options.AnyDocuments, *, progress: Optional[bool] = None, stats: Optional[dict[str, Any]] = None
    ) -> Any:
        """Decides on each document, in order, and remembers those that are kept: what `dedup filter` does.

        Returns a verdict for each. A document without a text is kept, with `error` in its verdict, where the command drops the
        record unless it has `--on-error keep`. `stats` is a dictionary that is filled with what `dedup filter --stats` writes, of this
        call.
        """
        return self._run("filter", documents, progress, stats)[0]

    @overload
    def query(
        self, documents: _options.FrameLike, *, top: Optional[int] = None, exhaustive: bool = False, progress: Optional[bool] = None, stats: Optional[dict[str, Any]] = None
    ) -> _options.Table: ...
    @overload
    def query(
        self, documents: _options.ListLike, *, top: Optional[int] = None, exhaustive: bool = False, progress: Optional[bool] = None, stats: Optional[dict[str, Any]] = None
    ) -> _options.Records: ...
    @overload
    def query(
        self, documents: _options.TableLike, *, top: Optional[int] = None, exhaustive: bool = False, progress: Optional[bool] = None, stats: Optional[dict[str, Any]] = None
    ) -> _options.Table: ...
    def query(
        self,
        documents: _options.AnyDocuments,
        *,
        top: Optional[int] = None,
        exhaustive: bool = False,
        progress: Optional[bool] = None,
        stats: Optional[dict[str, Any]] = None,
    ) -> Any:
        """What the index says about each document, without remembering it: what `dedup index query` prints.

        Returns a verdict for each, or with `top` the most similar documents. `stats` is filled as by `filter`.
        """
        _input.clear(stats)
        if not isinstance(exhaustive, bool):
            raise TypeError("`exhaustive` must be True or False")
        if top is None and exhaustive:
            raise ValueError("`exhaustive` has an effect only with `top`")
        if top is not None and (isinstance(top, bool) or not isinstance(top, Integral)):
            raise TypeError(f"`top` must be a whole number from 1, not {_input.written(top)}")
        if top is not None and not 1 <= top <= sys.maxsize:
            value = _input.shortened(_input.typed("top", top))
            raise ValueError(f"invalid value '{value}' for `top`: expected a whole number from 1 to {sys.maxsize}")
        wanted = None if top is None else (int(top), exhaustive)
        return self._run("query", documents, progress, stats, wanted)[0]

    def remove(self, ids: Union[Iterable[Union[str, int]], str, int]) -> int:
        """Forgets all documents with these ids, in an index in a file. Returns their number. An integer is the id that is written so."""
        # The elements of these are no ids: numbers of bytes, keys, and names of columns.
        if isinstance(ids, (bytes, bytearray, memoryview, Mapping)) or hasattr(ids, "columns"):
            raise TypeError(f"`ids` must be strings or integers, not {type(ids).__name__}")
        listed: Any = [ids] if isinstance(ids, (str, Integral)) else ids
        if not hasattr(listed, "__iter__"):
            raise TypeError(f"`ids` must be strings or integers, not {type(ids).__name__}")
        texts = set()
        for given in listed:
            if isinstance(given, bool) or not isinstance(given, (str, Integral)):
                raise TypeError(f"`ids` must be strings or integers, and one is of type {type(given).__name__}")
            texts.add(_input.text("ids", given) if isinstance(given, str) else str(int(given)))
        self._check_process()
        with self._lock:
            removed, unknown = self._index.remove(texts)
        if unknown:
            *others, last = map(repr, unknown)
            named = f"one of the ids {', '.join(others)} or {last}" if others else f"the id {last}"
            _warn([f"no document has {named}"])
        return int(removed)

    def close(self) -> None:
        """Ends the use of the file. Nothing else can be called afterwards."""
        with self._lock:
            self._index.close()

    def __enter__(self) -> "Index":
        # An index that is closed cannot be used again.
        len(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        if self._path is None:
            raise TypeError("an index in memory cannot be pickled or sent to another process: give it a path, and send that when it is closed")
        raise TypeError("an index cannot be pickled or sent to another process: send its path, and open it there when it is closed here")

    def __copy__(self) -> Any:
        raise TypeError("an index cannot be copied: use the same object, which several threads may do, or copy its file when it is closed")

    def __deepcopy__(self, _: Any) -> Any:
        return self.__copy__()

    def __len__(self) -> int:
        self._check_process()
        with self._lock:
            return len(self._index)

    def __repr__(self) -> str:
        place = "in memory" if self._path is None else f"in {self._path!r}"
        try:
            with self._lock:
                return f"<neardups.Index {place}: {len(self):,} documents, {self._index.algorithm()}>"
        except ValueError:
            return f"<neardups.Index {place}: closed>"
        except BlockingIOError:
            return f"<neardups.Index {place}: of another process>"


def _integer(text: str) -> Optional[int]:
    """An id that is an integer; `None` for the place of a record whose id was not read."""
    try:
        return int(text)
    except ValueError:
        return None


def _found(kind: str, ids: str) -> Any:
    """The columns of the records of `passages` and `contain` that are of this kind."""
    pyarrow = _input.other("pyarrow")
    text, number, share = pyarrow.string(), pyarrow.int64(), pyarrow.float64()
    own = getattr(pyarrow, ids)()

    def listed(*names: str) -> Any:
        others = {"id": own, "similarity": share, "reference": pyarrow.bool_(), "at": text}
        return pyarrow.list_(pyarrow.struct({name: others.get(name, number) for name in names}))

    fields = {
        "passages": {
            "id": number,
            "words": number,
            "count": number,
            "documents": number,
            "places": listed("id", "start", "end", "line", "similarity", "reference", "at"),
            "text": text,
        },
        "shared": {
            "a": own,
            "b": own,
            "passages": listed("words", "a_start", "a_end", "a_line", "b_start", "b_end", "b_line", "similarity"),
            "a_at": text,
            "b_at": text,
        },
        "coverages": {"id": own, "in": own, "coverage": share, "words": number, "at": text, "in_at": text},
        "spans": {"id": own, "spans": pyarrow.list_(pyarrow.list_(number)), "at": text},
        "containments": {
            "id": own,
            "in": own,
            "coverage": share,
            "coverage_all": share,
            "words": number,
            "passages": listed("start", "end", "line", "in_start", "in_end", "in_line"),
            "left_out": number,
            "at": text,
            "in_at": text,
            "note": text,
        },
        "decided": {
            "id": own,
            "keep": pyarrow.bool_(),
            "contains": own,
            "words": number,
            "similarity": share,
            "start": number,
            "end": number,
            "contains_start": number,
            "contains_end": number,
            "coverage": share,
            "error": text,
            "at": text,
            "contains_at": text,
        },
        "verdicts": {
            "id": own,
            "keep": pyarrow.bool_(),
            "in": own,
            "contains": own,
            "coverage": share,
            "coverage_all": share,
            "note": text,
            "error": text,
            "at": text,
            "in_at": text,
            "contains_at": text,
        },
    }
    return pyarrow.schema(fields[kind])


def _answers(nearest: bool, ids: str) -> Any:
    pyarrow = _input.other("pyarrow")
    text, number = pyarrow.string(), pyarrow.float64()
    own = getattr(pyarrow, ids)()
    if nearest:
        neighbour = pyarrow.struct({"id": text, "similarity": number, "distance": pyarrow.int64()})
        fields = {"id": own, "neighbours": pyarrow.list_(neighbour), "note": text, "error": text, "capped": pyarrow.bool_()}
    else:
        fields = {
            "id": own,
            "keep": pyarrow.bool_(),
            "duplicate_of": text,
            "duplicate_of_time": pyarrow.int64(),
            "similarity": number,
            "note": text,
            "error": text,
        }
    return pyarrow.schema(fields)
