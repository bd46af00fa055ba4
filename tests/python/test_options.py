"""The options of the functions, as type checkers know them."""

import os
import subprocess
import sys
import typing

import pytest

import neardups
from neardups import _native, _options

# The type that has the options of each function.
TYPES = {
    "scan": _options.Scan,
    "passages": _options.Passages,
    "contain": _options.Contain,
    "similarity": _options.Method,
    "compare": _options.Compare,
    "Index": _options.Index,
}


def words(hint) -> list:
    """The words of a type that is a choice of some."""
    found = [hint] if typing.get_origin(hint) is typing.Literal else []
    parts = [part for part in typing.get_args(hint) if typing.get_origin(hint) is not typing.Literal]
    of_parts = [word for part in parts for word in words(part)]
    return [word for choice in found for word in typing.get_args(choice)] + of_parts


def test_types_have_the_options_that_are_taken():
    table = dict(_native.options_table())
    assert table.keys() == TYPES.keys()
    for function, options in table.items():
        hints = typing.get_type_hints(TYPES[function])
        assert sorted(hints) == sorted(name for name, *_ in options), function
        for name, is_switch, is_list, is_name, choice in options:
            parts = typing.get_args(hints[name])
            assert type(None) in parts, name
            assert (bool in parts) == is_switch, name
            assert not is_name or typing.SupportsFloat not in parts, name
            assert is_name or os.PathLike[str] not in parts, name
            several = name in ("id_field", "against_id_field") or is_list
            assert any(typing.get_origin(part) is list for part in parts) == several, name
            expected = ["document"] if name == "unit" else choice
            assert sorted(set(words(hints[name]))) == sorted(expected), (function, name)


def test_types_of_functions_that_fix_some_options():
    scan, keep, fingerprints = (set(typing.get_type_hints(of)) for of in (_options.Scan, _options.Keep, _options.Fingerprints))
    assert scan - keep == {"emit", "keep", "host_depth"} and keep <= scan
    reference = {"against_format", "against_text_field", "against_id_field", "against_encoding"}
    assert keep - fingerprints == {"prefer", "decisions", *reference} and fingerprints <= keep


def test_annotations_can_be_read():
    of_index = [getattr(neardups.Index, name) for name in ("__init__", "add", "filter", "query", "remove", "close", "__enter__")]
    of_module = [getattr(neardups, name) for name in neardups.__all__ if name not in ("Index", "NeardupsWarning", "__version__")]
    for function in [*of_module, *of_index]:
        hints = typing.get_type_hints(function)
        assert "return" in hints, function
    assert "options" in typing.get_type_hints(neardups.scan)


@pytest.mark.parametrize("function", ["scan", "passages", "contain"])
def test_options_that_are_taken_are_known(function, tmp_path):
    """Each is refused for its value, or for another one that it needs, and never for its name."""
    (tmp_path / "a.txt").write_text("a b c")
    for name in typing.get_type_hints(TYPES[function]):
        try:
            getattr(neardups, function)(tmp_path, **{name: "?"})
        except (ValueError, OSError):
            pass
        except TypeError as error:
            assert "unexpected" not in str(error), name


def test_a_type_checker_sees_them(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "use.py").write_text(
        "import fractions, neardups\n"
        "stats: dict[str, object] = {}\n"
        "neardups.scan([], threshold=0.7, emit='clusters', text_field=['a', 'b'], memory='1G', stats=stats)\n"
        "neardups.keep([], 'longest', exact=True, seed=7, lexicon=None)\n"
        "neardups.clusters([]), neardups.fingerprints([], algo='simhash')\n"
        "neardups.passages([], against=[], emit='kept', unit='document')\n"
        "neardups.contain([], of='reference'), neardups.similarity('a', 'b', shingle=3)\n"
        "neardups.scan([], threshold=fractions.Fraction(2, 3)), neardups.compare('a', 'b', algo='all'), neardups.Index('seen.idx', expire='30d', window=5)\n"
        "neardups.scan([], treshold=0.7)\n"
        "neardups.keep([], emit='pairs')\n"
        "neardups.passages([], unit='line')\n"
        "neardups.Index(exact='yes')\n"
        + "".join(f"neardups.{call}\n" for call in REFUSED)
    )
    ran = subprocess.run([sys.executable, "-m", "mypy", "use.py"], cwd=tmp_path, capture_output=True, text=True)
    errors = [line for line in ran.stdout.splitlines() if ": error:" in line]
    assert list(dict.fromkeys(line.split(":")[1] for line in errors)) == [str(9 + n) for n in range(4 + len(REFUSED))], ran.stdout + ran.stderr


# What no function takes.
REFUSED = [
    "scan('abc')",
    "keep(b'abc')",
    "passages(5)",
    "contain([1, 2])",
    "clusters(['a'], against='abc')",
    "fingerprints(None)",
    "scan(['a'], emit=['pairs'])",
    "scan(['a'], threshold=[0.8])",
    "keep(['a'], output='kept.jsonl')",
    "scan(['a'], stats='stats.json')",
    "similarity('a', ['b'])",
    "compare('a', 'b', stats={})",
    "Index().add('abc')",
    "Index().query(['a'], top='3')",
    "Index().query(['a'], top=1.5)",
    "Index(b'seen.idx')",
    "Index('seen.idx').remove(1.5)",
]

# The documents that the chapter lists.
TAKEN = """
import collections, pathlib
from typing import Any, Collection, Iterator, Mapping, Optional, Sequence
import neardups, pandas, polars, pyarrow, datasets  # type: ignore[import-untyped, import-not-found, unused-ignore]

texts = ["a", "b"]
rows = [{"id": 7, "text": "a"}]
def typed(a: list[str], b: Sequence[str], c: Collection[str], d: Iterator[str], e: list[Optional[str]], f: Sequence[Mapping[str, object]]) -> None:
    for documents in (a, b, c, d, e, f):
        neardups.scan(documents)
    neardups.keep(a), neardups.keep(b), neardups.keep(c), neardups.keep(d), neardups.keep(e), neardups.keep(f)

neardups.keep([]), neardups.keep(texts), neardups.keep(tuple(texts)), neardups.keep(set(texts)), neardups.keep(text for text in texts)
neardups.keep(map(str.lower, texts)), neardups.keep({"a": "b"}.values()), neardups.keep(["a", None]), neardups.keep(collections.deque(texts))
neardups.keep(rows), neardups.keep(row for row in rows), neardups.keep([{"doc": {"body": "a"}}], text_field="doc.body")
neardups.scan(pathlib.Path("a")), neardups.scan([pathlib.Path("a"), pathlib.Path("b")]), neardups.scan(pathlib.PurePath("a"))
table = pyarrow.table({"text": texts})
neardups.keep(table), neardups.keep(table["text"]), neardups.keep(table.to_batches()[0]), neardups.keep(table.to_reader())
frame = polars.DataFrame({"text": texts})
neardups.keep(frame), neardups.keep(frame["text"]), frame.pipe(neardups.keep)
other = pandas.DataFrame({"text": texts})
neardups.keep(other), neardups.keep(other["text"]), other.pipe(neardups.keep, keep="longest")
dataset = datasets.Dataset.from_dict({"text": texts})
neardups.keep(dataset), neardups.keep(dataset, against=dataset), neardups.keep(dataset.to_iterable_dataset())
class Exporter:
    def __arrow_c_stream__(self, schema: Any = None) -> Any: ...
stats: dict[str, Any] = {}
index = neardups.Index()
index.add(Exporter(), stats=stats), index.filter(texts, stats=stats), index.query(rows, top=3, exhaustive=True, stats=stats)
index.remove("a"), index.remove([1, "a"]), index.remove(iter([1])), neardups.Index(pathlib.Path("a"), threshold=0.8)
"""


def test_a_type_checker_takes_all_kinds_of_documents(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "use.py").write_text(TAKEN)
    ran = subprocess.run([sys.executable, "-m", "mypy", "use.py"], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


# The results that the chapter lists.
RESULTS = """
import collections, pathlib
from typing import Any, Iterator, Literal, Mapping, Optional, Protocol, Union
import polars
from typing_extensions import assert_type
import neardups

class Record(dict[str, Any]): ...
class Frame:
    iloc: Any = None
class Dataset:
    def with_format(self, *arguments: Any, **options: Any) -> Any: ...
    def __len__(self) -> int:
        return 0
class Stream:
    def with_format(self, *arguments: Any, **options: Any) -> Any: ...
    def set_epoch(self, epoch: int) -> None: ...
Records = list[dict[str, Any]]

texts, rows, frame = ["a", "b"], [Record(id=7, text="a")], polars.DataFrame({"text": ["a", "b"]})
path, stats = pathlib.Path("a"), dict[str, Any]()

def kept(mapping: Mapping[str, str], missing: Iterator[Optional[str]], either: Union[list[str], polars.DataFrame]) -> None:
    assert_type(neardups.keep(texts), list[str])
    assert_type(neardups.keep(documents=set(texts), keep="longest", threshold=0.7, against=frame, stats=stats), list[str])
    assert_type(neardups.keep(text for text in texts), list[str])
    assert_type(neardups.keep(missing), list[Optional[str]])
    assert_type(neardups.keep(rows), list[Record])
    assert_type(neardups.keep([mapping]), list[Mapping[str, str]])
    assert_type(neardups.keep(frame), polars.DataFrame)
    assert_type(neardups.keep(frame["text"]), list[Any])
    assert_type(frame.pipe(neardups.keep, keep="longest"), polars.DataFrame)
    assert_type(neardups.keep(Frame()), Frame)
    assert_type(neardups.keep(Dataset()), Dataset)
    assert_type(neardups.keep(Stream()), Records)
    assert_type(neardups.keep(path), bytes)
    assert_type(neardups.keep([path, path], format="jsonl"), bytes)
    assert_type(neardups.keep(either), Union[list[str], polars.DataFrame])
    assert_type(neardups.scan(texts, emit="kept", keep="last"), list[str])
    assert_type(neardups.scan(frame, emit="kept"), polars.DataFrame)
    assert_type(neardups.passages(rows, emit="kept", unit="document", against=texts), list[Record])
    assert_type(neardups.contain(path, emit="kept", against=[path]), bytes)

def records(emit: Literal["pairs", "verdicts"]) -> None:
    index = neardups.Index()
    assert_type(neardups.scan(texts), Records)
    assert_type(neardups.scan(rows, emit="verdicts", keep="last", stats=stats), Records)
    assert_type(neardups.scan(Stream(), emit=emit), Records)
    assert_type(neardups.scan(frame["text"], emit=None), Records)
    assert_type(neardups.clusters(texts, "longest"), Records)
    assert_type(neardups.fingerprints(rows, algo="simhash"), Records)
    assert_type(neardups.passages(texts, emit="spans"), Records)
    assert_type(neardups.contain(texts, emit="pairs", shingle=3), Records)
    assert_type(index.filter(texts), Records)
    assert_type(index.query(rows, top=3), Records)
    assert_type(index.add(frame), int)
    assert_type(neardups.compare("a", "b"), dict[str, Any])
    assert_type(neardups.similarity("a", "b"), Optional[float])
    pair = neardups.scan(texts)[0]
    print(pair["a"] + 1)

# Types that are not the documents' are errors.
number: int = neardups.keep(texts)  # type: ignore[assignment]
neardups.scan(texts).column("a")  # type: ignore[attr-defined]
neardups.keep(frame)["text"].no_method()  # type: ignore[attr-defined]
"""


def test_a_type_checker_knows_the_types_of_results(tmp_path):
    pytest.importorskip("mypy")
    pytest.importorskip("polars")
    (tmp_path / "use.py").write_text(RESULTS)
    ran = subprocess.run([sys.executable, "-m", "mypy", "--strict", "use.py"], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_package_has_consistent_types(tmp_path):
    pytest.importorskip("mypy")
    package = os.path.dirname(neardups.__file__)
    files = [os.path.join(package, name) for name in ("__init__.py", "_input.py", "_options.py", "_command.py")]
    ran = subprocess.run([sys.executable, "-m", "mypy", "--strict", *files], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
