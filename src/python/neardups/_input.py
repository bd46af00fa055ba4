"""What the functions take: documents and keyword arguments, as the native part takes them."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from decimal import Decimal
from numbers import Real
from typing import Any, Optional

def other(name: str) -> Any:
    """A package that this one works with, but does not need."""
    return importlib.import_module(name)


def keywords(arguments: dict[str, Any]) -> list[tuple[str, Any]]:
    """The arguments that are given, with their values as the command line has them."""
    given: list[tuple[str, Any]] = []
    for name, value in arguments.items():
        if value is None:
            continue
        if isinstance(value, bool):
            given.append((name, value))
        elif isinstance(value, (list, tuple)):
            given.append((name, [_text(name, element) for element in value]))
        else:
            given.append((name, [_text(name, value)]))
    return given


def _text(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, bool) or not isinstance(value, (Real, Decimal)):
        raise TypeError(f"`{name}` must be a string, a number, a path or a list of these, not {type(value).__name__}")
    if isinstance(value, float):
        # The shortest digits that mean this number, without an exponent.
        return format(Decimal(float.__repr__(value)), "f")
    return str(value)


class Source:
    """Documents of one kind: how the native part reads them, and what is made of the rows that are kept."""

    def __init__(self, documents: Any) -> None:
        self.kind, self.native = _native(documents)
        self.documents = self.native if self.kind == "texts" else documents

    @property
    def pair(self) -> tuple[str, Any]:
        return ("files" if self.kind == "files" else "texts" if self.kind == "texts" else "table", self.native)

    @property
    def is_list(self) -> bool:
        return self.kind == "texts"

    def take(self, kept: Any) -> Any:
        """The documents that are kept, as documents of the same kind. `kept` are native records with one flag for each."""
        if self.kind == "texts":
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


def _native(documents: Any) -> tuple[str, Any]:
    if isinstance(documents, str):
        raise TypeError("a string is neither documents nor a path: give a list of texts, or pathlib.Path(...)")
    if isinstance(documents, os.PathLike):
        return "files", [documents]
    if isinstance(documents, (list, tuple)):
        documents = list(documents)
        if documents and all(isinstance(path, os.PathLike) for path in documents):
            return "files", documents
        return "texts", documents
    if isinstance(documents, Mapping):
        raise TypeError(
            f"documents cannot be of type {type(documents).__name__}: give its values as a list, which are then named by their positions, "
            "or a table with the columns `id` and `text`"
        )
    module = type(documents).__module__.partition(".")[0]
    if module == "polars":
        return _polars(documents)
    if module == "pandas":
        return "pandas", _pandas(documents)
    if module == "datasets" and hasattr(documents, "with_format"):
        return "dataset", documents.with_format("arrow")[:]
    if module == "pyarrow":
        return "arrow", _pyarrow(documents)
    if hasattr(documents, "__arrow_c_stream__"):
        # A stream can be read once, and its rows are wanted again.
        return "arrow", other("pyarrow").table(documents)
    if hasattr(documents, "__iter__"):
        return "texts", list(documents)
    raise TypeError(f"documents cannot be of type {type(documents).__name__}: give a table, a frame, a list of texts or paths")


def _polars(frame: Any) -> tuple[str, Any]:
    polars = other("polars")
    if isinstance(frame, polars.LazyFrame):
        raise TypeError("documents cannot be a LazyFrame: collect() it first")
    if isinstance(frame, polars.Series):
        return "texts", frame.to_list()
    return "polars", frame


def _pandas(frame: Any) -> Any:
    if type(frame).__name__ == "Series":
        raise TypeError("documents cannot be a Series: give a DataFrame, or a list with tolist()")
    return other("pyarrow").Table.from_pandas(frame, preserve_index=False)


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
