"""The options of the functions, as type checkers know them."""

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
        for name, is_switch, is_list, choice in options:
            parts = typing.get_args(hints[name])
            assert type(None) in parts, name
            assert (bool in parts) == is_switch, name
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
    )
    ran = subprocess.run([sys.executable, "-m", "mypy", "use.py"], cwd=tmp_path, capture_output=True, text=True)
    errors = [line for line in ran.stdout.splitlines() if ": error:" in line]
    assert [line.split(":")[1] for line in errors] == ["9", "10", "11", "12"], ran.stdout + ran.stderr
