"""What is refused, by which exception, and what its message says."""

import fractions
import json
import os
import pathlib
import sys
import typing

import pytest
from conftest import dedup

import neardups
from neardups import _native, _options

A, B, C = "a b c d e f g h i j k", "one two three four five six seven", "in a hole in the ground there lived"
SURROGATE = "\ud800"
EMITS = {
    "scan": "pairs, clusters, verdicts, kept, fingerprints, hosts",
    "passages": "passages, pairs, spans, verdicts, kept",
    "contain": "containments, pairs, verdicts, kept",
}
# The function with the options of each type, called with one of them.
CALLS = {
    "scan": (_options.Scan, lambda **options: neardups.scan([A, B], **options)),
    "keep": (_options.Keep, lambda **options: neardups.keep([A, B], **options)),
    "clusters": (_options.Keep, lambda **options: neardups.clusters([A, B], **options)),
    "fingerprints": (_options.Fingerprints, lambda **options: neardups.fingerprints([A, B], **options)),
    "passages": (_options.Passages, lambda **options: neardups.passages([A, B], **options)),
    "contain": (_options.Contain, lambda **options: neardups.contain([A, B], **options)),
    "similarity": (_options.Method, lambda **options: neardups.similarity(A, B, **options)),
    "compare": (_options.Compare, lambda **options: neardups.compare(A, B, **options)),
    "Index": (_options.Index, lambda **options: neardups.Index(**options)),
}
# Options of files are refused for texts.
OF_FILES = {"max_expansion", "max_window", "pre_timeout"}
NUMBERS = [
    (function, name)
    for function, (options, _) in CALLS.items()
    for name, hint in typing.get_type_hints(options).items()
    if hint == _options.Number and name not in OF_FILES
]


def refused(error, call, *arguments, **options) -> str:
    with pytest.raises(error) as raised:
        call(*arguments, **options)
    assert type(raised.value) is error, "no exception from inside"
    return str(raised.value)


@pytest.mark.parametrize(("function", "name"), NUMBERS)
@pytest.mark.filterwarnings("ignore::neardups.NeardupsWarning")
def test_numbers_are_checked(function, name):
    call = CALLS[function][1]
    call(**{name: None})
    one = refused(TypeError, call, **{name: [1]})
    assert one == f"`{name}` takes one value, and not a list of 1 (1)"
    assert refused(TypeError, call, **{name: []}) == f"`{name}` takes one value, and not a list of 0"
    assert refused(TypeError, call, **{name: True}) == f"`{name}` must be a string or a number, not True"
    for value in ({}, object(), 1j, b"1"):
        assert refused(TypeError, call, **{name: value}).startswith(f"`{name}` must be a string, a number")
    for value, shown in [("x", "x"), (float("nan"), "NaN"), (float("inf"), "Infinity"), (-1, "-1"), (2**70, str(2**70))]:
        message = refused(ValueError, call, **{name: value})
        assert message.startswith(f"invalid value '{shown}' for `{name}`: "), message
    many = refused(ValueError, call, **{name: 10**5000})
    assert f"`{name}`" in many
    lengths = {error: len(refused(error, call, **{name: value})) for error, value in [(ValueError, LONG), (TypeError, [LONG] * 100)]}
    assert max(len(many), *lengths.values()) < 500, lengths
    assert refused(TypeError, call, **{name: [LONG] * 6}).endswith(f"a list of 6 ({', '.join([LONG[:40] + '…'] * 5)}, …)")


NAMES = [(function, name) for function, options in _native.options_table() for name, _, _, is_name, _ in options if is_name]


@pytest.mark.parametrize(("function", "name"), NAMES)
def test_names_are_no_numbers(function, name):
    call = CALLS[function][1]
    for value in (1, 1.5, fractions.Fraction(1, 2), HUGE, b"1", {}, object()):
        for given in (value, [value], ["a", value]):
            message = refused(TypeError, call, **{name: given})
            assert message == f"`{name}` must be a string, a path or a list of these, not {type(value).__name__}"
    assert refused(TypeError, call, **{name: [True]}).endswith("not bool")


def test_paths_are_names(tmp_path):
    class Path(os.PathLike):
        def __fspath__(self) -> str:
            return str(tmp_path / "words.txt")

    (tmp_path / "words.txt").write_text("the\nof\n")
    for path in (Path(), pathlib.Path(Path()), os.fspath(Path())):
        assert neardups.similarity(A, A, stopwords=path) == neardups.similarity(A, A, stopwords=[path]) == 1
    assert neardups.keep([A], temp_dir=tmp_path) == [A]
    assert refused(TypeError, neardups.keep, [A], temp_dir=True) == "`temp_dir` must be a string or a path, not True"
    for columns in (1, ["text", 1]):
        for name in ("text_field", "id_field", "against_text_field"):
            message = refused(TypeError, neardups.keep, [{"text": A}], against=[{"text": A}], **{name: columns})
            assert message == f"`{name}` must be a string, a path or a list of these, not int"


LONG = "x" * 10**4
# With more digits than Python writes.
HUGE = 10**5000


@pytest.mark.parametrize("keep", [LONG, "max:", "is:lang," + LONG, f"{LONG}:a,last", f"is:{LONG},last", "is:lang=" + LONG + "\\", f"first,{LONG}"])
def test_messages_about_rules_are_short(keep):
    message = refused(ValueError, neardups.keep, [A], keep)
    assert message.startswith("invalid value '" + keep[:40]) and len(message) < 500, message[:1000]


def test_messages_about_values_are_short():
    pytest.importorskip("pyarrow")
    index, path = neardups.Index(), pathlib.Path("x" * 5000)
    messages = [
        *(refused(TypeError, index.query, [A], top=top) for top in (LONG, [LONG] * 100, LONG.encode(), [HUGE])),
        refused(ValueError, index.query, [A], top=HUGE),
        refused(ValueError, index.query, [A], top=10**4000),
        *(refused(ValueError, neardups.keep, [{"id": id, "text": A} for id in ids]) for ids in ([1, LONG], [LONG, 1], [HUGE, "a"], ["a", HUGE])),
        refused(ValueError, neardups.keep, [{LONG: 1}, {LONG: [LONG]}], text_field=LONG),
        refused(ValueError, neardups.keep, [{"text": A}], id_field=LONG),
        refused(ValueError, neardups.keep, [{"text": 1}, {"text": LONG}]),
        refused(ValueError, neardups.keep, [{"text": A}], threshold=HUGE),
        refused(TypeError, neardups.keep, [A], id_field=HUGE),
        refused(ValueError, neardups.keep, [{"text": A}], text_field=LONG),
        refused(TypeError, neardups.keep, [A], algo=path),
        refused(TypeError, neardups.keep, [A], **{LONG: 1}),
        refused(TypeError, neardups.keep, [A], **{LONG + SURROGATE: 1}),
        refused(TypeError, neardups.keep, [A], exact=LONG),
        refused(TypeError, neardups.keep, LONG),
    ]
    assert max(map(len, messages)) < 500, [message[:200] for message in messages if len(message) >= 500]
    assert not any("Exceeds" in message for message in messages)


@pytest.mark.parametrize("top", [1.5, True, "3", [3], {}, float("nan"), float("inf")])
def test_numbers_of_neighbours_are_whole(top):
    message = refused(TypeError, neardups.Index().query, [A], top=top)
    assert message == f"`top` must be a whole number from 1, not {top!r}"


@pytest.mark.parametrize("top", [0, -1, 2**63, 2**70])
def test_numbers_of_neighbours_are_in_range(top):
    message = refused(ValueError, neardups.Index().query, [A], top=top)
    assert message == f"invalid value '{top}' for `top`: expected a whole number from 1 to {sys.maxsize}"
    assert neardups.Index().query([A], top=sys.maxsize) == [{"id": 0, "neighbours": []}]


@pytest.mark.parametrize("function", EMITS)
def test_emit_is_one_word(function):
    call, words = CALLS[function][1], EMITS[function]
    for value, shown in [(["pairs"], "1 (pairs)"), (("kept",), "1 (kept)"), (["pairs", "kept"], "2 (pairs, kept)"), ([], "0")]:
        message = refused(TypeError, call, emit=value)
        assert message == f"`emit` takes one value, and not a list of {shown}: expected one of {words}"
    path = pathlib.PurePosixPath("pairs")
    assert refused(TypeError, call, emit=path) == f"`emit` must be a string, not {path!r}: expected one of {words}"
    assert refused(TypeError, call, emit=True) == f"`emit` must be one of {words}, not True"
    assert refused(ValueError, call, emit=1) == f"invalid value '1' for `emit`: expected one of {words}"
    assert refused(ValueError, call, emit="") == f"invalid value '' for `emit`: expected one of {words}"
    call(emit=None)


def test_paths_are_no_words():
    message = refused(TypeError, neardups.scan, [A], algo=pathlib.Path("minhash"))
    assert message.endswith("expected one of minhash, simhash, imatch, projection, spotsigs")
    assert refused(TypeError, neardups.scan, [A], algo=["minhash"]).endswith("expected one of minhash, simhash, imatch, projection, spotsigs")


@pytest.mark.parametrize(
    ("function", "emit", "takes"),
    [
        ("passages", "containments", "`contain`"),
        ("passages", "clusters", "`scan`"),
        ("contain", "spans", "`passages`"),
        ("scan", "spans", "`passages`"),
        ("scan", "containments", "`contain`"),
    ],
)
def test_emit_of_another_function(function, emit, takes):
    expected = f"invalid value '{emit}' for `emit`: expected one of {EMITS[function]}; '{emit}' is of {takes}"
    assert refused(ValueError, CALLS[function][1], emit=emit) == expected


@pytest.mark.parametrize("function", EMITS)
@pytest.mark.parametrize("emit", ["cut", "cuts"])
def test_cuts_are_made_by_a_command(function, emit):
    message = refused(ValueError, CALLS[function][1], emit=emit)
    assert message.startswith(f"invalid value '{emit}' for `emit`: expected one of {EMITS[function]}. To cut out what repeats, ")
    assert message.endswith("or use the command dedup passages --exact --output DIR")
    assert "`passages` returns" in message


@pytest.mark.parametrize(("function", "word"), [("keep", "kept"), ("clusters", "clusters"), ("fingerprints", "fingerprints")])
def test_functions_without_emit(function, word):
    call = CALLS[function][1]
    begin = f"unexpected keyword argument 'emit': `{function}` is `scan` with `emit=\"{word}\"`; "
    assert refused(TypeError, call, emit="spans") == begin + "'spans' is of `passages`"
    assert refused(TypeError, call, emit="pairs") == begin + "'pairs' is of `scan`, `passages` and `contain`"
    for emit in ("x", None, ["pairs"], SURROGATE):
        assert refused(TypeError, call, emit=emit) == begin + f"`scan` takes one of {EMITS['scan']}"


def test_options_that_cannot_be_encoded(tmp_path):
    for function, (_, call) in CALLS.items():
        message = refused(ValueError, call, tokenizer=SURROGATE) if function != "fingerprints" else refused(ValueError, call, algo=SURROGATE)
        name = "algo" if function == "fingerprints" else "tokenizer"
        assert message.startswith(f"`{name}` cannot be encoded: ") and "surrogates" in message, function
        assert "keyword argument 'stop\\ud800'" in refused(TypeError, call, **{"stop" + SURROGATE: 1})
    file = tmp_path / "a.jsonl"
    file.write_text('{"text":"a b c"}\n')
    options = {
        "text_field": SURROGATE, "id_field": ["id", SURROGATE], "stopwords": pathlib.Path(SURROGATE), "temp_dir": SURROGATE,
        "include": [SURROGATE], "emit": SURROGATE, "keep": "max:" + SURROGATE, "mask": [SURROGATE],
    }  # fmt: skip
    for name, value in options.items():
        assert refused(ValueError, neardups.scan, file, **{name: value}).startswith(f"`{name}` cannot be encoded: ")
    assert refused(ValueError, neardups.keep, [A], SURROGATE).startswith("`keep` cannot be encoded: ")
    path = pathlib.Path(SURROGATE)
    for call in (neardups.scan, neardups.keep, neardups.passages, neardups.contain, neardups.Index().add, neardups.Index().query):
        assert refused(ValueError, call, path).startswith("the path '\\ud800' cannot be encoded: ")
        assert refused(ValueError, call, [file, path]).startswith("the path '\\ud800' cannot be encoded: ")
    assert refused(ValueError, neardups.scan, [A], against=path).startswith("the path '\\ud800' cannot be encoded: ")
    assert refused(ValueError, neardups.Index, SURROGATE).startswith("`path` cannot be encoded: ")
    with neardups.Index(tmp_path / "seen.idx") as index:
        for ids in (SURROGATE, ["a", SURROGATE]):
            assert refused(ValueError, index.remove, ids).startswith("`ids` cannot be encoded: ")


def test_columns_that_cannot_be_encoded():
    pytest.importorskip("pyarrow")
    for name in ("id", "text"):
        rows = [{"id": "x", "text": A, "note": SURROGATE}, {"id": "y", "text": B, "note": ""}]
        assert neardups.keep(rows) == rows, "another column"
        rows[1][name] = SURROGATE
        message = refused(ValueError, neardups.keep, rows)
        assert message.startswith(f"the column '{name}' has values of which no column of a table can be made: ") and "surrogates" in message
    assert neardups.keep([{"text": A, SURROGATE: 1}]) == [{"text": A, SURROGATE: 1}]


@pytest.mark.skipif(sys.platform != "linux", reason="names of files that are no text")
def test_paths_that_are_not_utf_8(tmp_path):
    folder = os.fsencode(tmp_path)
    odd, temp_dir, index = (os.fsdecode(folder + name) for name in (b"/d\xff.jsonl", b"/t\xff", b"/i\xff.idx"))
    pathlib.Path(odd).write_text('{"id":"a","text":"a b c d"}\n{"id":"b","text":"x b y d"}\n')
    pathlib.Path(temp_dir).mkdir()
    for documents in (pathlib.Path(odd), [pathlib.Path(odd)]):
        for path in (temp_dir, pathlib.Path(temp_dir)):
            assert len(neardups.keep(documents, shingle=2, temp_dir=path).splitlines()) == 2
    with neardups.Index(index) as seen:
        assert seen.add(pathlib.Path(odd)) == 2
    message = refused(ValueError, neardups.scan, [A], tokenizer=os.fsdecode(b"\xff"))
    assert message == "invalid value '\ufffd' for `tokenizer`: expected text, and it is not UTF-8"


HOSTLESS = [{"id": "a", "text": A}, {"id": "b", "text": A}, {"id": "http://h.org/c", "text": B}]


@pytest.mark.parametrize("kind", ["dictionaries", "files"])
def test_documents_without_a_host(tmp_path, kind):
    pytest.importorskip("pyarrow")
    file, stats = tmp_path / "a.jsonl", {}
    file.write_text("".join(json.dumps(row) + "\n" for row in HOSTLESS))
    with pytest.warns(neardups.NeardupsWarning, match="^2 documents without a host: the id is .*; `id_field` names the field of ids$") as caught:
        neardups.scan(HOSTLESS if kind == "dictionaries" else file, emit="hosts", stats=stats)
    dedup("scan", str(file), "--emit", "hosts", "--stats", str(tmp_path / "stats.json"))
    printed = json.loads((tmp_path / "stats.json").read_text())["warnings"]
    assert [warning.replace("`id_field`", "--id-field") for warning in stats["warnings"]] == printed
    assert stats["warnings"] == [str(warning.message) for warning in caught] and len(printed) == 1


@pytest.mark.parametrize(
    ("ids", "first", "second"),
    [
        ([1, "1"], "1 at position 0 is of type int", "'1' at position 1 of type str"),
        (["x", None, "1", 1], "'x' at position 0 is of type str", "1 at position 3 of type int"),
        ([None, 1, 1.0], "1 at position 1 is of type int", "1.0 at position 2 of type float"),
        ([1, float("nan"), 1.5], "1 at position 0 is of type int", "1.5 at position 2 of type float"),
        ([b"1", "1"], "b'1' at position 0 is of type bytes", "'1' at position 1 of type str"),
        (["1", b"1"], "'1' at position 0 is of type str", "b'1' at position 1 of type bytes"),
        ([1, True], "1 at position 0 is of type int", "True at position 1 of type bool"),
    ],
)
def test_ids_of_several_types(ids, first, second):
    pytest.importorskip("pyarrow")
    rows = [{"id": id, "nr": id, "text": A} for id in ids]
    index = neardups.Index()
    calls = [(call, {}) for call in (neardups.scan, neardups.keep, neardups.passages, neardups.contain, index.add, index.filter, index.query)]
    calls += [(neardups.scan, {"against": [{"text": A}], "id_field": "nr"}), (lambda rows: neardups.scan([A], against=rows), {})]
    calls.append((lambda rows: neardups.scan([A], against=rows, against_id_field=["text", "nr"]), {}))
    for number, (call, options) in enumerate(calls):
        column = "nr" if number in (7, 9) else "id"
        side, option = ("", "id_field") if number < 8 else ("`against`: ", "against_id_field")
        assert refused(ValueError, call, rows, **options) == (
            f"{side}the ids of the column '{column}' have several types: {first}, and {second}: make all of them strings, or all "
            f'integers; `{option}="none"` takes positions as ids'
        )
    assert len(index) == 0
    assert len(neardups.scan(rows[:2], id_field="none")) == 1, "positions"
    assert [pair["b"] for pair in neardups.scan([A], against=rows, against_id_field="none")] == [0] * len(rows)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": pandas.Series(ids, dtype=object), "text": A})
    assert first in refused(ValueError, neardups.keep, frame)


def test_ids_of_one_type():
    numpy = pytest.importorskip("numpy")
    pytest.importorskip("pyarrow")
    pairs = neardups.scan([{"id": 1, "text": A}, {"id": numpy.int64(2), "text": A}, {"id": None, "text": B}])
    assert [(pair["a"], pair["b"]) for pair in pairs] == [("1", "2")], "a row without an id makes all strings"
    # A document is not one of the reference.
    [pair] = neardups.scan([{"id": 1, "text": A}], against=[{"id": "1", "text": A}])
    assert (pair["a"], pair["b"]) == ("1", "1")


def test_a_string_is_a_text_that_goes_into_a_list():
    for call in (neardups.scan, neardups.keep, neardups.passages, neardups.contain, neardups.Index().add, neardups.Index().query):
        message = refused(TypeError, call, "abc")
        assert message == "the string 'abc' is neither documents nor a path: a text goes into a list, and pathlib.Path(...) is a file or folder"
        assert len(refused(TypeError, call, "word " * 1000)) < 200


@pytest.mark.parametrize("name", ["output", "out", "output_dir", "output_path", "output_file", "outfile", "outdir", "save_to"])
def test_results_are_returned(name):
    for function, (_, call) in CALLS.items():
        message = refused(TypeError, call, **{name: "x"})
        assert message.startswith(f"unexpected keyword argument '{name}': "), function
        assert "dedup" in message and ("return" in message or "writes" in message), message
    message = refused(TypeError, neardups.keep, [A], **{name: "x"})
    assert message.endswith("it names a file or folder to write, and functions return their results: the command dedup clean --output DIR writes what is kept")


def test_statistics_of_an_index(tmp_path):
    file, path = tmp_path / "a.jsonl", tmp_path / "seen.idx"
    rows = [{"id": "a", "text": A}, {"id": "b", "text": A + " z"}, {"id": "c", "text": B}]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    dedup("filter", "--index", str(path), "--stats", str(tmp_path / "stats.json"), stdin=file.read_bytes())
    printed = json.loads((tmp_path / "stats.json").read_text())
    assert printed.pop("type") == "stats"
    of_time = ["seconds", "seconds_deciding", "longest_decision", "bytes_held", "bytes_stored"]
    with neardups.Index(tmp_path / "other.idx") as index:
        stats = {"of": "another call"}
        index.filter(file, stats=stats)
        assert list(stats) == list(printed)
        without = lambda found: {name: value for name, value in found.items() if name not in of_time}
        assert without(stats) == without(printed)
        assert all(stats[name] >= 0 for name in of_time) and stats["bytes_stored"] == (tmp_path / "other.idx").stat().st_size
        of_first = stats["counts"]
        index.query(file, stats=stats)
        assert stats["counts"]["documents"] == 3 and stats["remembered"] == 2, "of this call alone"
        index.add(file, stats=stats)
        assert (stats["counts"]["documents"], stats["counts"]["known"], stats["counts"]["fresh"]) == (3, 2, 1)
        assert of_first["duplicates"] == 1 and stats["remembered"] == len(index) == 3
    index, stats = neardups.Index(), {"of": "another call"}
    with pytest.warns(neardups.NeardupsWarning) as caught:
        index.filter([A, None], stats=stats)
    assert stats["warnings"] == [str(warning.message) for warning in caught] != []
    for call in (index.add, index.filter, index.query):
        assert refused(TypeError, call, [A], stats="x") == "`stats` must be a dictionary, which is filled, not str"
        stats = {"of": "another call"}
        refused(TypeError, call, 5, stats=stats)
        assert stats == {}


def test_an_index_and_files_that_are_missing(tmp_path):
    missing, file = tmp_path / "nope.jsonl", tmp_path / "a.jsonl"
    file.write_text('{"id":"a","text":"a b c d e"}\n')
    for index in (neardups.Index(), neardups.Index(tmp_path / "seen.idx")):
        for call in (index.add, index.filter, index.query, lambda documents: index.query(documents, top=1)):
            for documents in (missing, [missing, tmp_path / "nor this"]):
                with pytest.raises(FileNotFoundError) as raised:
                    call(documents)
                assert raised.value.errno == 2 and "nope.jsonl: cannot" in str(raised.value)
            refused(TypeError, call, "nope.jsonl")
        assert len(index) == 0
        with pytest.warns(neardups.NeardupsWarning, match="nope.jsonl: cannot read"):
            assert index.add([missing, file]) == 1, "as of other functions"
        (tmp_path / "empty.jsonl").write_text("")
        assert index.add(tmp_path / "empty.jsonl") == 0, "nothing is missing"


def test_statistics_say_who_takes_them():
    expected = "`scan`, `keep`, `clusters`, `fingerprints`, `passages`, `contain`, and `add`, `filter` and `query` of an `Index` take it"
    for call in (CALLS["Index"][1], CALLS["similarity"][1], CALLS["compare"][1]):
        assert refused(TypeError, call, stats={}) == f"unexpected keyword argument 'stats': {expected}"
    assert "'stats' is a dictionary that " in refused(TypeError, neardups.scan, [A], stats_file="x")
