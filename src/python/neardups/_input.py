"""What the functions take: documents and keyword arguments, as the native part takes them."""

from __future__ import annotations

import functools
import importlib
import itertools
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, NoReturn, Optional

from neardups import _native


def other(name: str) -> Any:
    """A package that this one works with, but does not need."""
    return importlib.import_module(name)


_OF_IDS = ("id_field", "against_id_field")
_WITH_STATS = "`scan`, `keep`, `clusters`, `fingerprints`, `passages`, `contain`, and `add`, `filter` and `query` of an `Index`"


def shortened(text: str, longest: int = 40) -> str:
    """A text in a message: of a long one the beginning."""
    return text if len(text) <= longest else text[:longest] + "…"


def written(value: Any) -> str:
    """A value in a message, as it is written in Python: of a long one the beginning."""
    try:
        return repr(shortened(value)) if isinstance(value, str) else shortened(repr(value))
    except ValueError:
        # Python writes no integer of so many digits.
        return f"<{type(value).__name__} with too many digits>"


def _is_numpy_bool(value: Any) -> bool:
    return type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_")


@functools.lru_cache(None)
def _words() -> dict[str, dict[str, list[str]]]:
    """The words that the options of each function take."""
    return {function: {name: words for name, *_, words in options} for function, options in _native.options_table()}


@functools.lru_cache(None)
def _names() -> frozenset[str]:
    """The options that take names of files or columns, so that a number is no value of them."""
    return frozenset(name for _, options in _native.options_table() for name, _, _, is_name, _ in options if is_name)


def refuse_emit(function: str, word: str, emit: Any) -> NoReturn:
    """Refuses `emit` for a function that is `scan` with this word."""
    others = [f"`{other}`" for other, words in _words().items() if isinstance(emit, str) and emit in words.get("emit", [])]
    *first, last = others or [""]
    taking = f"'{emit}' is of " + (f"{', '.join(first)} and {last}" if first else last)
    hint = taking if last else f"`scan` takes one of {', '.join(_words()['scan']['emit'])}"
    raise TypeError(f"unexpected keyword argument 'emit': `{function}` is `scan` with `emit=\"{word}\"`; {hint}")


def keywords(arguments: dict[str, Any], function: str = "similarity") -> list[tuple[str, Any]]:
    """The arguments that are given to a function, with their values as the command line has them: a string, or a list of them."""
    given: list[tuple[str, Any]] = []
    for name, value in arguments.items():
        if not _is_encoded(name):
            raise TypeError(f"unexpected keyword argument {written(name)}")
        if value is None:
            continue
        if name == "stats":
            # A parameter of the functions that take it. Its value is none of an option.
            raise TypeError(f"unexpected keyword argument 'stats': {_WITH_STATS} take it")
        if isinstance(value, bool) or _is_numpy_bool(value):
            given.append((name, bool(value)))
        elif isinstance(value, (list, tuple)):
            values = [typed(name, element) for element in value]
            # Several columns make one id.
            given.append((name, ",".join(values) if name in _OF_IDS and values else values))
        elif isinstance(value, os.PathLike) and _words()[function].get(name):
            words = ", ".join(_words()[function][name])
            raise TypeError(f"`{name}` must be a string, not {written(value)}: expected one of {words}")
        else:
            given.append((name, typed(name, value)))
    return given


def _is_encoded(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def path(what: str, value: Any) -> str:
    """A path, or a text. It may have bytes of a path that are no text, as `os.fsdecode` gives them."""
    decoded = os.fsdecode(value)
    if not _is_encoded(decoded):
        try:
            os.fsencode(decoded)
        except UnicodeEncodeError as error:
            raise ValueError(f"{what} cannot be encoded: {error}") from None
    return decoded


def typed(name: str, value: Any) -> str:
    """The value of an option as the command line has it."""
    if isinstance(value, (str, os.PathLike)):
        return path(f"`{name}`", value)
    is_name = name in _names()
    if is_name or isinstance(value, bool) or not isinstance(value, (Real, Decimal)):
        kinds = "a string, a path" if is_name else "a string, a number, a path"
        raise TypeError(f"`{name}` must be {kinds} or a list of these, not {type(value).__name__}")
    if isinstance(value, float):
        # The shortest digits that mean this number, without an exponent.
        return format(Decimal(float.__repr__(value)), "f")
    try:
        return str(value)
    except ValueError:
        raise ValueError(f"invalid value for `{name}`: the number has too many digits") from None


def _texts(name: str, value: Any) -> list[str]:
    """The values of an option that may be names of columns. What is no value is refused later."""
    values = value if isinstance(value, (list, tuple)) else [value]
    return [typed(name, one) for one in values if isinstance(one, (str, os.PathLike, Real, Decimal)) and not isinstance(one, bool)]


def _columns_of_keep(keep: str) -> set[str]:
    """The columns that the rules of `keep` may read, of which `is:` has a value after the field. A comma in a field or a value is written
    as `\\,`, an equals sign in the field of `is:` as `\\=`, and a bracket in a name as `\\[`."""
    columns: set[str] = set()
    for rule in re.split(r"(?<!\\),", keep):
        kind, _, field = rule.replace("\\,", ",").partition(":")
        if kind == "is":
            field = re.split(r"(?<!\\)=", field)[0].replace("\\=", "=")
        columns.update(name.replace("\\[", "[") for name in (field, re.split(r"\.|(?<!\\)\[", field)[0]))
    return columns


def clear(stats: Any) -> None:
    """Empties the dictionary that a call is to fill."""
    if stats is None:
        return
    if not isinstance(stats, dict):
        raise TypeError(f"`stats` must be a dictionary, which is filled, not {type(stats).__name__}")
    stats.clear()


def text(name: str, value: Any) -> str:
    """The argument that must be a text."""
    if not isinstance(value, str):
        raise TypeError(f"`{name}` must be a string, not {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"`{name}` cannot be encoded: {error}") from None
    return value


class Source:
    """Documents of one kind: how the native part reads them, and what is made of the rows that are kept. Options may name columns."""

    def __init__(self, documents: Any, options: dict[str, Any], of_ids: str = "id_field") -> None:
        if not isinstance(documents, (str, bytes, bytearray, memoryview, Mapping)) and _is_iterable_only(documents):
            documents = list(documents)
        self.kind, self.native = _native_of(documents, options, _IdCheck(options, of_ids))
        self.documents = self.native if self.kind == "texts" else documents

    @property
    def pair(self) -> tuple[str, Any]:
        return ("files" if self.kind == "files" else "texts" if self.kind == "texts" else "table", self.native)

    @property
    def is_list(self) -> bool:
        return self.kind in ("texts", "rows")

    def take(self, kept: Any) -> Any:
        """The documents that are kept, as documents of the same kind. `kept` are native records with one flag for each."""
        if self.is_list:
            return [self.documents[position] for position in kept.positions()]
        if self.kind == "polars":
            return self.documents.filter(other("polars").from_arrow(kept.to_table())["keep"])
        if self.kind == "pandas":
            return self.documents.iloc[kept.positions()]
        if self.kind == "dataset":
            return self.documents.select(kept.positions())
        table = self.native
        if not hasattr(table, "filter"):
            table = other("pyarrow").table(table)
        try:
            return table.filter(kept.to_table()["keep"])
        except NotImplementedError:
            return _slices(table, kept.positions())


def _slices(table: Any, positions: list[int]) -> Any:
    """These rows, without a copy, of a table with a type that pyarrow does not filter."""
    parts, start = [table.slice(0, 0)], 0
    for at in range(1, len(positions) + 1):
        if at == len(positions) or positions[at] != positions[at - 1] + 1:
            parts.append(table.slice(positions[start], at - start))
            start = at
    return other("pyarrow").concat_tables(parts)


def _module(value: Any) -> str:
    return type(value).__module__.partition(".")[0]


def _is_iterable_only(documents: Any) -> bool:
    """Whether documents can be had only one after the other: those of a generator, a set, a dataset that is a stream."""
    if isinstance(documents, (os.PathLike, list, tuple)) or not hasattr(documents, "__iter__"):
        return False
    if _module(documents) == "datasets":
        return not hasattr(documents, "with_format") or not hasattr(documents, "__len__")
    return _module(documents) not in ("polars", "pandas", "pyarrow") and not hasattr(documents, "__arrow_c_stream__")


class _IdCheck:
    """Checks that the ids of a column have one type. One of strings and integers would make `1` and `"1"` the same."""

    def __init__(self, options: dict[str, Any], option: str) -> None:
        given = options.get(option) or options.get("id_field") or "id"
        self.option = option
        self.columns = {part for name in _texts(option, given) for part in name.split(",")}

    def check(self, column: Any, values: Iterable[Any]) -> None:
        if column not in self.columns:
            return
        first: Any = None
        for position, value in enumerate(values):
            if value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType"):
                continue
            bases = (bool, str, bytes, Integral)
            kind = next((base for base in bases if isinstance(value, base)), type(value))
            if first is None:
                first = (position, value, kind)
            elif kind is not first[2]:
                side = "" if self.option == "id_field" else "`against`: "
                raise ValueError(
                    f"{side}the ids of the column {written(str(column))} have several types: {written(first[1])} at position {first[0]} is of type "
                    f"{type(first[1]).__name__}, and {written(value)} at position {position} of type {type(value).__name__}: make all of "
                    f'them strings, or all integers; `{self.option}="none"` takes positions as ids'
                )


def _native_of(documents: Any, options: dict[str, Any], ids: _IdCheck) -> tuple[str, Any]:
    kind = type(documents).__name__
    if isinstance(documents, str):
        raise TypeError(
            f"the string {written(documents)} is neither documents nor a path: a text goes into a list, and pathlib.Path(...) is a file or folder"
        )
    if isinstance(documents, (bytes, bytearray, memoryview)):
        raise TypeError(f"documents cannot be of type {kind}: give a list of texts, which decode() makes, or paths")
    if isinstance(documents, os.PathLike):
        return "files", [_file(documents)]
    if isinstance(documents, (list, tuple)):
        return _list(list(documents), options, ids)
    if isinstance(documents, Mapping) and _module(documents) == "datasets":
        first = [written(split) for split in itertools.islice(documents, 5)]
        splits = ", ".join([*first, "…"] if len(documents) > len(first) else first)
        raise TypeError(f"documents cannot be of type {kind}: give one of its splits by its name ({splits})")
    if isinstance(documents, Mapping):
        raise TypeError(
            f"documents cannot be of type {kind}: give its values as a list, which are then named by their positions, "
            "or a table with the columns `id` and `text`"
        )
    module = _module(documents)
    if module == "polars":
        return _polars(documents)
    if module == "pandas":
        return "pandas", _pandas(documents, options, ids)
    if module == "datasets":
        return "dataset", documents.with_format("arrow")[:]
    if module == "pyarrow":
        return "arrow", _pyarrow(documents)
    if hasattr(documents, "__arrow_c_stream__"):
        # A stream can be read once, and its rows are wanted again.
        return "arrow", other("pyarrow").table(documents)
    raise TypeError(f"documents cannot be of type {kind}: give a table, a frame, a list of texts or paths")


def _file(document: Any) -> str:
    return path(f"the path {os.fsdecode(document)!r}", document)


def _list(documents: list[Any], options: dict[str, Any], ids: _IdCheck) -> tuple[str, Any]:
    """A list of paths, of rows, or of texts."""
    types = set(map(type, documents))
    for name, what, base in (("files", "paths", os.PathLike), ("rows", "dictionaries", Mapping)):
        if not any(issubclass(kind, base) for kind in types):
            continue
        odd = next((at for at, document in enumerate(documents) if not isinstance(document, base)), None)
        if odd is not None:
            raise TypeError(f"some documents are {what}, and that at position {odd} is of type {type(documents[odd]).__name__}")
        return name, list(map(_file, documents)) if name == "files" else _rows(documents, options, ids)
    return "texts", documents


def _rows(rows: list[Any], options: dict[str, Any], ids: _IdCheck) -> Any:
    pyarrow = other("pyarrow")

    def make(name: Any) -> Any:
        values = [row.get(name) for row in rows]
        ids.check(name, values)
        return pyarrow.array(values, from_pandas=True)

    return _columns(dict.fromkeys(name for row in rows for name in row), make, options, ids)


def _not_of_arrow(pyarrow: Any) -> "tuple[type[Exception], ...]":
    """What is raised for values of which no column can be made."""
    return (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError, OverflowError, UnicodeEncodeError)


def _columns(names: Iterable[Any], make: Callable[[Any], Any], options: dict[str, Any], ids: _IdCheck) -> Any:
    """A table of the columns that can be one of a table. Others are left out, unless an option may name them."""
    pyarrow, made = other("pyarrow"), {}
    named = {*ids.columns, *([] if options.get("text_field") else ["text"])}
    for option, values in options.items():
        for value in _texts(option, values):
            named.update(_columns_of_keep(value) if option == "keep" else [value, *re.split(r"[,.:=\[\]]", value)])
    for name in names:
        if not _is_encoded(str(name)):
            continue
        try:
            made[str(name)] = make(name)
        except _not_of_arrow(pyarrow) as error:
            if str(name) in named:
                reason = error if isinstance(error, UnicodeEncodeError) or not error.args else error.args[0]
                why = f"has values of which no column of a table can be made: {shortened(str(reason), 200)}"
                raise ValueError(f"the column {written(str(name))} {why}") from error
    return pyarrow.table(made)


def _polars(frame: Any) -> tuple[str, Any]:
    polars = other("polars")
    if isinstance(frame, polars.LazyFrame):
        raise TypeError("documents cannot be a LazyFrame: collect() it first")
    if isinstance(frame, polars.Series):
        return "texts", frame.to_list()
    if any("Null" in str(kind) for kind in frame.dtypes):
        # Its stream gives a column without any value a buffer that Arrow does not have there, and readers refuse that.
        return "polars", frame.to_arrow()
    return "polars", frame


def _pandas(frame: Any, options: dict[str, Any], ids: _IdCheck) -> Any:
    pyarrow = other("pyarrow")
    if type(frame).__name__ == "Series":
        return _columns(["text"], lambda _: pyarrow.array(frame, from_pandas=True), options, ids)
    if type(frame).__name__ != "DataFrame":
        raise TypeError(f"documents cannot be of type {type(frame).__name__}: give a DataFrame or a Series")
    for name, kind in frame.dtypes.items():
        if kind == object:
            ids.check(name, frame[name])
    try:
        return pyarrow.Table.from_pandas(frame, preserve_index=False)
    except _not_of_arrow(pyarrow):
        return _columns(frame.columns, lambda name: pyarrow.array(frame[name], from_pandas=True), options, ids)


def _pyarrow(table: Any) -> Any:
    pyarrow = other("pyarrow")
    if isinstance(table, pyarrow.RecordBatchReader):
        return table.read_all()
    if isinstance(table, pyarrow.RecordBatch):
        return pyarrow.Table.from_batches([table])
    if isinstance(table, (pyarrow.Array, pyarrow.ChunkedArray)):
        return pyarrow.table({"text": table})
    return table


def is_notebook() -> bool:
    """Whether this runs in a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


class Progress:
    """Shows how far a run is, on standard error or below the cell of a notebook."""

    def __init__(self) -> None:
        self._width = 0
        self._display: Optional[Any] = None

    def __call__(self, stage: str, read: int, documents: int) -> None:
        parts = [f"neardups: {stage or 'starting'}"]
        if documents:
            parts.append(f"{documents:,} documents")
        if read:
            parts.append(f"{read / 1e6:,.1f} MB")
        self._show(", ".join(parts))

    def _show(self, line: str) -> None:
        if is_notebook():
            self._show_in_notebook(line)
            return
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)

    def _show_in_notebook(self, line: str) -> None:
        content = {"text/plain": line}
        if self._display is None:
            self._display = other("IPython.display").display(content, raw=True, display_id=True)
        else:
            self._display.update(content, raw=True)

    def close(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()


def progress(wanted: Optional[bool]) -> Optional[Progress]:
    """What shows progress, if that is wanted; without a wish, if there is someone to see it."""
    asked = wanted is not None
    if wanted is None:
        wanted = is_notebook() or (sys.stderr is not None and sys.stderr.isatty())
    elif not isinstance(wanted, bool):
        raise TypeError("`progress` must be True, False or None")
    if not wanted:
        return None
    shown = Progress()
    if asked:
        # A short run would show nothing.
        shown("starting", 0, 0)
    return shown
