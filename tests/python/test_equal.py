"""What the module returns is what the command prints."""

import json
import re
import subprocess
import warnings

import pytest
from conftest import ARTICLES, dedup, lines, without_nulls

import neardups

ALGORITHMS = ["minhash", "simhash", "imatch", "projection", "spotsigs"]
EMITS = {"pairs": "pair", "clusters": "cluster", "verdicts": "verdict", "fingerprints": "fingerprint", "hosts": "hosts"}
POLICIES = ["first", "last", "longest", "shortest"]


def quiet(call, *arguments, **options):
    """Calls without the warnings, of which other tests are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", neardups.NeardupsWarning)
        return call(*arguments, **options)


@pytest.mark.parametrize("emit", EMITS)
@pytest.mark.parametrize("algo", ALGORITHMS)
def test_records_of_each_algorithm(table, algo, emit):
    printed = dedup("scan", str(ARTICLES), "--algo", algo, "--emit", emit)
    assert printed, "something to compare"
    found = quiet(neardups.scan, table, algo=algo, emit=emit)
    assert lines(EMITS[emit], without_nulls(found)) == printed
    of_files = quiet(neardups.scan, ARTICLES, algo=algo, emit=emit)
    assert lines(EMITS[emit], without_nulls(of_files)) == printed


@pytest.mark.parametrize("keep", POLICIES)
@pytest.mark.parametrize("algo", ALGORITHMS)
def test_what_each_policy_keeps(table, articles, algo, keep):
    printed = dedup("scan", str(ARTICLES), "--algo", algo, "--emit", "kept", "--keep", keep)
    kept = quiet(neardups.keep, table, keep, algo=algo)
    assert kept.schema == table.schema
    expected = [json.loads(line) for line in printed.splitlines()]
    assert len(expected) < len(articles)
    assert [row["id"] for row in kept.to_pylist()] == [record["id"] for record in expected]
    assert quiet(neardups.keep, ARTICLES, keep, algo=algo) == printed
    clusters = quiet(neardups.clusters, table, keep, algo=algo)
    assert lines("cluster", without_nulls(clusters)) == dedup(
        "scan", str(ARTICLES), "--algo", algo, "--emit", "clusters", "--keep", keep
    )


def test_parameters_tokens_and_presets(table):
    for options, flags in [
        ({"threshold": 0.5, "shingle": 3}, ["--threshold", "0.5", "--shingle", "3"]),
        ({"threshold": "2/3"}, ["--threshold", "2/3"]),
        ({"exact": True, "seed": 7}, ["--exact", "--seed", "7"]),
        ({"exact": False}, []),
        ({"preset": "fineweb"}, ["--preset", "fineweb"]),
        ({"tokenizer": "char:5"}, ["--tokenizer", "char:5"]),
        ({"fold": "marks", "stopwords": "en,de"}, ["--fold", "marks", "--stopwords", "en,de"]),
        ({"mask": ["numbers", "dates"]}, ["--mask", "numbers", "--mask", "dates"]),
        ({"text_field": ["title", "text"]}, ["--text-field", "title", "--text-field", "text"]),
        ({"drop_common": 0.2}, ["--drop-common", "0.2"]),
    ]:
        found = quiet(neardups.scan, table, **options)
        assert lines("pair", without_nulls(found)) == dedup("scan", str(ARTICLES), *flags), options


def test_other_ids(table):
    # These repeat. A row of a table has another place than a line of a file.
    found = quiet(neardups.scan, table, id_field="url").drop_columns(["a_at", "b_at"])
    printed = [json.loads(line) for line in dedup("scan", str(ARTICLES), "--id-field", "url").splitlines()]
    for record in printed:
        del record["a_at"], record["b_at"]
    assert lines("pair", without_nulls(found)).splitlines() == [
        json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() for record in printed
    ]


def test_a_reference(tmp_path, table, articles):
    half = len(articles) // 2
    both, files = [table.slice(0, half), table.slice(half)], []
    for number, part in enumerate(both):
        files.append(str(tmp_path / f"{number}.jsonl"))
        with open(files[-1], "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in part.to_pylist())
    for emit in ["pairs", "verdicts"]:
        printed = dedup("scan", files[1], "--against", files[0], "--emit", emit)
        found = neardups.scan(both[1], against=both[0], emit=emit)
        assert lines(EMITS[emit], without_nulls(found)) == printed
    kept = dedup("scan", files[1], "--against", files[0], "--emit", "kept").splitlines()
    ids = neardups.keep(both[1], against=both[0])["id"].to_pylist()
    assert ids == [json.loads(line)["id"] for line in kept]


def test_rows_without_a_text(table):
    pyarrow = pytest.importorskip("pyarrow")
    texts = table["text"].to_pylist()
    texts[3] = None
    broken = table.set_column(table.schema.get_field_index("text"), "text", pyarrow.array(texts))
    with pytest.warns(neardups.NeardupsWarning, match="row:3: text column 'text' is null") as caught:
        verdicts = neardups.scan(broken, emit="verdicts").to_pylist()
    assert str(caught[0].message) == "row:3: text column 'text' is null: there is no text to compare"
    assert verdicts[3]["keep"] and "null" in verdicts[3]["error"]
    assert len(verdicts) == len(texts)
    kept = quiet(neardups.keep, broken)
    assert quiet(neardups.keep, broken, on_error="drop").num_rows == kept.num_rows - 1
    message = r'^`on_error="fail"`: 1 file or record failed: nothing is returned: row:3: text column .text. is null'
    with pytest.raises(OSError, match=message):
        neardups.scan(broken, emit="verdicts", on_error="fail")


@pytest.mark.parametrize("documents", ["path", "list"])
def test_a_record_that_fails_is_named(tmp_path, documents):
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"text":"a b c d e f"}\n{"text":null}\n{"text":"x y z"}\n')
    documents, place = (bad, "bad.jsonl:2: ") if documents == "path" else (["a b c d e f", None, "x y z"], "row:1: ")
    whole = {"against": ["a question of some words"], "min_words": 4}
    calls = [
        *((neardups.scan, {"emit": emit}) for emit in [*EMITS, "kept"]),
        *((neardups.contain, {"emit": emit, "shingle": 3}) for emit in ["containments", "pairs", "verdicts", "kept"]),
        (neardups.passages, {"emit": "verdicts", **whole}),
        (neardups.passages, {"emit": "kept", "unit": "document", **whole}),
    ]
    for call, options in calls:
        with pytest.raises(OSError) as raised:
            call(documents, on_error="fail", **options)
        beginning, _, end = str(raised.value).partition(place)
        assert beginning.startswith('`on_error="fail"`: 1 file or record failed: nothing is returned: '), (call, options)
        assert "null" in end or "text" in end, (call, options)
    with pytest.raises(OSError, match="nothing is returned: .*" + place):
        neardups.keep(documents, on_error="fail")


@pytest.mark.parametrize("emit", ["passages", "pairs", "spans"])
def test_passages(table, articles, emit):
    kind = {"passages": "passage", "pairs": "shared", "spans": "spans"}[emit]
    for options, flags in [
        ({"min_words": 20}, ["--min-words", "20"]),
        ({"min_words": 15, "exact": True, "seed": 3}, ["--min-words", "15", "--exact", "--seed", "3"]),
        ({"min_words": 4, "exact": True, "min_documents": 2}, ["--min-words", "4", "--exact", "--min-documents", "2"]),
        ({"similarity": 0.9, "fold": "marks"}, ["--similarity", "0.9", "--fold", "marks"]),
    ]:
        printed = dedup("passages", str(ARTICLES), "--emit", emit, *flags)
        assert printed, "something that repeats"
        assert lines(kind, without_nulls(quiet(neardups.passages, table, emit=emit, **options))) == printed
        assert lines(kind, without_nulls(quiet(neardups.passages, ARTICLES, emit=emit, **options))) == printed
        # A list has positions in the place of ids.
        listed = quiet(neardups.passages, [article["text"] for article in articles], emit=emit, **options)
        named = [[article["id"] for article in articles].index(row["id"]) for row in _rows(printed) if emit == "spans"]
        assert len(listed) == len(printed.splitlines()) and named == [row["id"] for row in listed if emit == "spans"]


def _rows(printed: bytes) -> list:
    return [json.loads(line) for line in printed.splitlines()]


@pytest.mark.parametrize("emit", ["containments", "pairs", "verdicts"])
def test_what_is_contained(table, emit):
    kind = {"containments": "containment", "pairs": "coverage", "verdicts": "verdict"}[emit]
    for options, flags in [
        ({}, []),
        ({"shingle": 3, "min_coverage": 0.2}, ["--shingle", "3", "--min-coverage", "0.2"]),
    ]:
        printed = dedup("contain", str(ARTICLES), "--emit", emit, *flags)
        assert printed, "something that is contained"
        assert lines(kind, without_nulls(quiet(neardups.contain, table, emit=emit, **options))) == printed
        assert lines(kind, without_nulls(quiet(neardups.contain, ARTICLES, emit=emit, **options))) == printed


def test_what_is_kept_of_contained_documents(tmp_path, table, articles):
    printed = dedup("contain", str(ARTICLES), "--emit", "kept")
    ids = [row["id"] for row in _rows(printed)]
    assert len(ids) < len(articles)
    assert quiet(neardups.contain, ARTICLES, emit="kept") == printed
    assert quiet(neardups.contain, table, emit="kept")["id"].to_pylist() == ids
    texts = [article["text"] for article in articles]
    assert quiet(neardups.contain, texts, emit="kept") == [article["text"] for article in articles if article["id"] in ids]
    half = len(articles) // 2
    other = tmp_path / "other.jsonl"
    other.write_text("".join(json.dumps(article) + "\n" for article in articles[:half]), encoding="utf-8")
    for emit, kind in {"containments": "containment", "verdicts": "verdict"}.items():
        printed = dedup("contain", str(ARTICLES), "--against", str(other), "--emit", emit, "--min-coverage", "0.3")
        found = quiet(neardups.contain, table, against=table.slice(0, half), emit=emit, min_coverage=0.3)
        assert lines(kind, without_nulls(found)) == printed


def test_documents_without_a_passage_of_a_reference(tmp_path, table, articles):
    pyarrow = pytest.importorskip("pyarrow")
    words = [article["text"].split() for article in articles]
    questions = [{"id": f"q{at}", "text": " ".join(words[at][3:11] + ["edited"] + words[at][12:30])} for at in (0, 4)]
    reference = tmp_path / "questions.jsonl"
    reference.write_text("".join(json.dumps(question) + "\n" for question in questions), encoding="utf-8")
    texts = [article["text"] for article in articles]
    for options, flags in [
        ({}, []),
        ({"exact": True, "min_words": 10}, ["--exact", "--min-words", "10"]),
        ({"min_coverage": "0.2"}, ["--min-coverage", "0.2"]),
    ]:
        options = {"min_words": 15, "similarity": None if "exact" in options else 0.7, **options}
        flags = (["--similarity", "0.7", "--min-words", "15"] if "--exact" not in flags else []) + flags
        of_files = ["passages", str(ARTICLES), "--against", str(reference), *flags]
        printed = dedup(*of_files, "--emit", "verdicts")
        dropped = [row for row in _rows(printed) if not row["keep"]]
        assert 0 < len(dropped) < len(articles) and {row["contains"] for row in dropped} <= {"q0", "q4"}
        for documents in (table, ARTICLES):
            for against in (pyarrow.Table.from_pylist(questions), reference):
                found = quiet(neardups.passages, documents, against=against, emit="verdicts", **options)
                assert lines("verdict", without_nulls(found)) == printed
        kept = dedup(*of_files, "--unit", "document", "--emit", "kept")
        ids = [row["id"] for row in _rows(kept)]
        whole = {"against": questions, "unit": "document", "emit": "kept", **options}
        assert quiet(neardups.passages, ARTICLES, **whole) == kept
        assert quiet(neardups.passages, table, **whole)["id"].to_pylist() == ids
        of_list = {**whole, "against": [question["text"] for question in questions]}
        assert quiet(neardups.passages, texts, **of_list) == [article["text"] for article in articles if article["id"] in ids]
        verdicts = quiet(neardups.passages, texts, **{**of_list, "emit": "verdicts"})
        assert [verdict["id"] for verdict in verdicts if verdict["keep"]] == [i for i, a in enumerate(articles) if a["id"] in ids]
        assert {verdict["contains"] for verdict in verdicts if not verdict["keep"]} <= {0, 1}


def test_documents_that_cannot_be_read_have_verdicts_of_passages():
    whole = {"against": ["a question of some words"], "min_words": 4}
    verdicts = quiet(neardups.passages, ["it has a question of some words", None], emit="verdicts", **whole)
    assert [verdict["keep"] for verdict in verdicts] == [False, True] and "null" in verdicts[1]["error"]
    verdicts = quiet(neardups.passages, ["x", None], emit="verdicts", on_error="drop", **whole)
    assert [verdict["keep"] for verdict in verdicts] == [True, False]
    assert quiet(neardups.passages, ["x", None], emit="kept", unit="document", on_error="drop", **whole) == ["x"]
    with pytest.raises(OSError, match='`on_error="fail"`: 1 file or record failed: .*: row:1: the text is null'):
        neardups.passages(["x", None], emit="verdicts", on_error="fail", **whole)


def test_ids_of_verdicts_of_passages_that_repeat():
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"id": [1, 1], "text": ["a b c d e f", "x y z"]})
    with pytest.warns(neardups.NeardupsWarning, match="ids repeat"):
        verdicts = neardups.passages(table, against=["a b c d e f"], min_words=5, emit="verdicts").to_pylist()
    assert [(v["id"], v["keep"], v["contains"], v["at"], v["contains_at"]) for v in verdicts] == [
        (1, False, 0, "row:0", "row:0"),
        (1, True, None, "row:1", None),
    ]


@pytest.mark.parametrize("emit", ["verdicts", "kept"])
def test_a_share_of_the_wrong_side_is_hinted_at(emit):
    page = [f"w{number}" for number in range(60)]
    for words in range(14, 60):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            left = neardups.contain([" ".join(page)], against=[" ".join(page[:words])], emit=emit)
        kept = left if emit == "kept" else [verdict for verdict in left if verdict["keep"]]
        hints = ["with `of=\"reference\"`" in str(warning.message) for warning in caught]
        assert hints == [True] * len(kept), f"{words} words: either it is left out, or the hint says how"
        assert neardups.contain([" ".join(page)], against=[" ".join(page[:words])], of="reference", emit="kept") == []


def test_a_reference_of_which_nothing_can_be_found():
    for find in (
        lambda **options: neardups.passages(["a b c"], against=["who?"], emit="verdicts", min_words=5, **options),
        lambda **options: neardups.contain(["a b c"], against=["who?"], emit="verdicts", shingle=5, **options),
    ):
        with pytest.raises(ValueError, match="nothing can match: .* fewer than 5 words .* .use `allow_empty` if that is expected"):
            find()
        assert [verdict["keep"] for verdict in quiet(find, allow_empty=True)] == [True]


def test_a_reference_of_which_nothing_can_be_found_in_files(tmp_path):
    file = tmp_path / "pages.jsonl"
    file.write_text('{"id":"a","text":"a b c"}\n')
    for find, options in [(neardups.passages, {"min_words": 5, "unit": "document"}), (neardups.contain, {"shingle": 5})]:
        with pytest.raises(ValueError, match="nothing can match"):
            find(file, against=["who?"], emit="kept", **options)
        assert quiet(find, file, against=["who?"], emit="kept", allow_empty=True, **options) == file.read_bytes()


def test_a_reference_without_documents(tmp_path):
    texts, none = ["a b c d e f", "x y z u v w"], "no document was read: it has none"
    calls = [
        (neardups.keep, {}),
        *((neardups.scan, {"emit": emit}) for emit in ("pairs", "clusters", "verdicts", "kept")),
        *((neardups.contain, {"emit": emit, "shingle": 3}) for emit in ("containments", "pairs", "verdicts", "kept")),
        (neardups.contain, {"emit": "kept", "of": "reference", "shingle": 3}),
        *((neardups.passages, {"emit": emit, "min_words": 5}) for emit in ("passages", "pairs", "spans", "verdicts")),
        (neardups.passages, {"emit": "kept", "unit": "document", "min_words": 5}),
    ]
    file = tmp_path / "a.jsonl"
    file.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    references = [[], [None], [None, None]]
    try:
        import pyarrow
    except ImportError:
        pass
    else:
        references.append(pyarrow.table({"text": pyarrow.array([], pyarrow.string())}))
    for call, options in calls:
        for documents in (texts, file):
            for against in references:
                with pytest.raises(ValueError) as raised:
                    call(documents, against=against, **options)
                why = {1: "its only row has no text", 2: "none of its 2 rows has a text"}.get(len(against), "it has none")
                expected = f"`against`: no document was read: {why} (use `allow_empty` if that is expected)"
                assert str(raised.value).startswith(expected), (call, options)
                quiet(call, documents, against=against, allow_empty=True, **options)
    with pytest.warns(neardups.NeardupsWarning) as caught:
        neardups.keep([None, *texts], against=[texts[0], None])
    [warning] = caught
    assert sorted(str(warning.message).split("; ")) == [
        "row:0: the text is null (None): there is no text to compare",
        "row:1: in the reference: the text is null (None): there is no text to compare",
    ]


def statistics(tmp_path, *arguments: str) -> dict:
    """What the command writes with `--stats`."""
    dedup(*arguments, "--stats", str(tmp_path / "stats.json"))
    return json.loads((tmp_path / "stats.json").read_text())


def as_flags(warning: str) -> str:
    """A warning with the options of the command."""
    flag = lambda match: "--" + match[1].replace("_", "-") + (f" {match[2]}" if match[2] else "")
    return re.sub(r'`(\w+)(?:="?([^"`]+)"?)?`', flag, warning)


def same_statistics(documents, found: dict, printed: dict) -> None:
    """Compares without what differs from run to run, or from table to file."""
    found, printed = {**found, "counts": {**found["counts"]}}, {**printed, "counts": {**printed["counts"]}}
    if documents is not ARTICLES:
        assert 0 < found["counts"].pop("bytes") < printed["counts"].pop("bytes"), "those of the texts alone"
    assert printed.pop("type") == "stats"
    for name in ("timings", "seconds"):
        assert found.pop(name, None).__class__ is printed.pop(name, None).__class__, name
    found["warnings"] = [as_flags(warning) for warning in found["warnings"]]
    assert found == printed and list(found) == list(printed)


@pytest.mark.parametrize("emit", [*EMITS, "kept"])
def test_statistics_of_a_scan(tmp_path, table, emit):
    for options, flags in [({}, []), ({"algo": "simhash", "threads": 1}, ["--algo", "simhash", "--threads", "1"])]:
        printed = statistics(tmp_path, "scan", str(ARTICLES), "--emit", emit, *flags)
        for documents in (table, ARTICLES):
            stats = {"of": "another call"}
            quiet(neardups.scan, documents, emit=emit, stats=stats, **options)
            same_statistics(documents, stats, printed)
    assert stats["algo"] == "simhash" and "distance" in stats["parameters"]


def test_statistics_of_other_searches(tmp_path, table, articles):
    reference = tmp_path / "reference.jsonl"
    reference.write_text("".join(json.dumps(article) + "\n" for article in articles[:5]), encoding="utf-8")
    for call, emits, more in [
        (neardups.passages, ["passages", "pairs", "spans"], {"min_words": 20}),
        (neardups.passages, ["passages"], {"min_words": 20, "no_overlaps": True, "min_documents": 2}),
        (neardups.passages, ["passages", "pairs", "spans"], {"min_words": 20, "min_documents": 5000}),
        (neardups.passages, ["passages", "pairs", "spans"], {"min_words": 900}),
        (neardups.passages, ["pairs"], {"min_words": 4, "exact": True, "max_places": 2}),
        (neardups.passages, ["passages", "verdicts", "kept"], {"against": reference, "min_words": 900, "allow_empty": True}),
        (neardups.passages, ["passages", "verdicts", "kept"], {"against": reference, "min_words": 20}),
        (neardups.contain, ["containments", "pairs", "verdicts", "kept"], {"shingle": 5}),
        (neardups.contain, ["containments", "kept"], {"against": reference, "preset": "llama-2"}),
    ]:
        for emit in emits:
            options = {**more, "emit": emit, **({"unit": "document"} if (call, emit) == (neardups.passages, "kept") else {})}
            flags = [["--" + name.replace("_", "-"), *([] if value is True else [str(value)])] for name, value in options.items()]
            printed = statistics(tmp_path, call.__name__, str(ARTICLES), *sum(flags, []))
            for documents in (table, ARTICLES):
                stats = {}
                quiet(call, documents, stats=stats, **options)
                same_statistics(documents, stats, printed)


def test_parameters_of_a_scan_give_its_similarity(articles):
    texts, stats = [article["text"] for article in articles], {}
    pairs = quiet(neardups.scan, texts, stats=stats)
    parameters = {name: value for name, value in stats["parameters"].items() if name != "recall_at_threshold"}
    for pair in pairs:
        options = {"algo": stats["algo"], "tokenizer": stats["tokenizer"], **parameters}
        assert neardups.similarity(texts[pair["a"]], texts[pair["b"]], **options) == pair["similarity"]
    for call in (neardups.keep, neardups.clusters, neardups.fingerprints):
        other = {}
        quiet(call, texts, stats=other)
        assert other["parameters"] == stats["parameters"] and other["counts"]["documents"] == len(texts)


def test_warnings_of_passages_that_cannot_be_found():
    def warned(documents, **options) -> list:
        stats = {}
        quiet(neardups.passages, documents, stats=stats, **options)
        return stats["warnings"]

    two = ["a b c d e f g h", "a b c d e f g h"]
    few = "nothing can be found in 5 documents (`min_documents`): 2 were read"
    short = "2 documents have fewer than 50 words (`min_words`): too short for a passage without edits; a lower `min_words` finds shorter ones"
    for emit in ("passages", "pairs", "spans"):
        assert warned(two, min_documents=5, min_words=5, emit=emit) == [few]
        assert warned(two, min_words=50, emit=emit) == [short]
        assert warned(two, min_words=50, min_documents=5, emit=emit) == [few, short]
        assert warned([*two, "x"], min_words=5, emit=emit) == [], "some that are too short are no surprise"
    shared = "1 passage has more than 2 places: pairs with the places after these are missing: raise `max_places`"
    assert warned(two * 2, min_words=5, max_places=2, emit="pairs") == [shared]
    listed = "1 passage has more than 2 places: the first are listed, and count has all (`max_places`)"
    assert warned(two * 2, min_words=5, max_places=2) == [listed]
    assert warned(two * 2, min_words=5, max_places=2, emit="spans") == []
    assert warned(two * 2, min_words=5, max_places=4) == []
    assert warned(two, against=[two[0], "who?"], min_words=5) == ["1 reference document has fewer than 5 words (`min_words`): too short for a passage without edits"]
    against = {"against": two, "emit": "verdicts", "min_words": 5}
    assert warned(["x", "y z"], **against) == [short.replace("50", "5")]


def test_warnings_are_in_statistics():
    stats = {}
    with pytest.warns(neardups.NeardupsWarning) as caught:
        neardups.keep(["a b c", None], stats=stats)
    assert stats["warnings"] == [str(warning.message) for warning in caught] != []
    with pytest.raises(TypeError, match="^`stats` must be a dictionary, which is filled, not str$"):
        neardups.keep(["a b c"], stats="stats.json")
    with pytest.raises(ValueError):
        neardups.keep(["a b c"], threshold=2, stats=stats)
    assert stats == {}, "nothing of another call"


def test_a_field_that_no_document_has_is_a_warning(tmp_path):
    rows = [{"text": "a b c", "more": "d"}, {"text": "e f g", "more": "h"}]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    calls = [
        lambda documents, **given: neardups.keep(documents, **given),
        lambda documents, **given: neardups.scan(documents, **given),
        lambda documents, **given: neardups.passages(documents, min_words=2, **given),
        lambda documents, **given: neardups.contain(documents, shingle=2, **given),
        lambda documents, stats, **given: neardups.Index(**given).filter(documents, stats=stats),
    ]
    for call in calls:
        for documents in [rows, path]:
            stats = {}
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                call(documents, text_field="text,nope,more", stats=stats)
            named = [str(warning.message) for warning in caught if "'nope'" in str(warning.message)]
            assert len(named) == 1, (call, documents, caught)
            assert named[0] in stats["warnings"]


def test_warnings_about_columns_are_counted_beyond_the_third():
    rows = [{"text": "a b c"}, {"text": "e f g"}]
    for count, more in [(3, []), (4, ["and 1 more warning about missing or repeated columns"]), (9, ["and 6 more warnings about missing or repeated columns"])]:
        stats = {}
        names = [f"nope{number}" for number in range(count)]
        quiet(neardups.keep, rows, text_field=["text", *names], stats=stats)
        assert len(stats["warnings"]) == 3 + len(more), stats["warnings"]
        assert stats["warnings"][3:] == more and all(f"'{name}'" in warning for name, warning in zip(names[:3], stats["warnings"]))


def test_pages_in_records_are_a_warning(tmp_path):
    pages = [f"<p>One page of words, the {number} of them.</p><p>And another paragraph.</p>" for number in ("first", "second", "third")]
    rows = [{"id": str(number), "text": page} for number, page in enumerate(pages)]
    path = tmp_path / "pages.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    hint = (
        '3 of the first 3 records hold HTML, and its tags count as words: `content="html"` reads only the text of such fields, '
        '`content="main"` only the main text'
    )
    assert hint.replace('`content="html"`', "--content html").replace('`content="main"`', "--content main") in of_command("scan", path)
    calls = [
        lambda documents, **given: neardups.keep(documents, **given),
        lambda documents, **given: neardups.passages(documents, min_words=2, **given),
        lambda documents, **given: neardups.contain(documents, shingle=2, **given),
        lambda documents, stats, **given: neardups.Index(**given).filter(documents, stats=stats),
        lambda documents, stats, **given: neardups.Index(**given).query(documents, stats=stats),
    ]
    for call in calls:
        for documents in [pages, rows, path]:
            stats = {}
            quiet(call, documents, stats=stats)
            assert stats["warnings"].count(hint) == 1, (call, documents, stats["warnings"])
            for others, options in [(documents, {"content": "html"}), (pages[:2], {}), ([*pages[:2], "words", "other words", "more words"], {})]:
                quiet(call, others, stats=stats, **options)
                assert hint not in stats["warnings"] and not any("hold HTML" in warning for warning in stats["warnings"])


def of_command(*arguments) -> str:
    return subprocess.run(["dedup", *map(str, arguments)], capture_output=True, text=True).stderr


def test_a_call_that_fails_leaves_statistics_empty():
    texts = ["a b c", None]
    for call, options, error in [
        (neardups.keep, {"emit": "pairs"}, TypeError),
        (neardups.clusters, {"emit": "pairs"}, TypeError),
        (neardups.fingerprints, {"emit": "pairs"}, TypeError),
        (neardups.fingerprints, {"against": ["a"]}, TypeError),
        (neardups.passages, {"emit": ["kept"]}, (TypeError, ValueError)),
        (neardups.passages, {"emit": {}}, (TypeError, ValueError)),
        (neardups.contain, {"emit": {}}, (TypeError, ValueError)),
        (neardups.scan, {"progress": 1}, TypeError),
        *((call, {}, neardups.NeardupsWarning) for call in (neardups.scan, neardups.keep, neardups.clusters)),
        *((call, {}, neardups.NeardupsWarning) for call in (neardups.fingerprints, neardups.passages, neardups.contain)),
    ]:
        stats = {"of": "another call"}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(error):
                call(texts, stats=stats, **options)
        assert stats == {}, (call, options)


def test_a_search_that_is_refused():
    def refused(**options):
        with pytest.raises(ValueError) as raised:
            neardups.passages(["a b c"], **options)
        return str(raised.value)

    reference = ["a b c"]
    for given in ({}, {"against": reference}, {"exact": True}):
        assert 'add `against` and `unit="document"`' in refused(emit="kept", **given)
    for given in ({"emit": "kept", "unit": "document"}, {"emit": "verdicts"}):
        assert '`emit="verdicts"` and `emit="kept"` leave out documents that have a passage of a reference: add `against`' in refused(**given)
    assert '`unit="document"` decides which documents are kept: add `emit="verdicts"`' in refused(unit="document", against=reference)
    for unit in ("line", "words", "sentence"):
        assert f"invalid value '{unit}' for `unit`: expected document" in refused(unit=unit, emit="kept", against=reference)
    assert "invalid value 'all' for `emit`: expected one of passages, pairs, spans, verdicts, kept" == refused(emit="all")
    assert "`on_error` has an effect only on which documents are kept" in refused(on_error="drop")
    assert '`max_places` has no effect with `emit="verdicts"`' in refused(emit="verdicts", against=reference, max_places=3)
    assert refused(min_coverage=0.5).endswith('add `against`, and `unit="document"` or `emit="verdicts"`')
    for name in ("output", "max_cut", "keep"):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}': it is for what the command dedup passages writes"):
            neardups.passages(["a b c"], **{name: "x"})
    with pytest.raises(ValueError, match="invalid value '0' for `min_documents`: expected a whole number from 1"):
        neardups.passages(["a b c"], min_documents=0)
    with pytest.raises(ValueError, match="`max_passages` has no effect on pairs"):
        neardups.contain(["a b c"], emit="pairs", max_passages=3)
    assert neardups.contain([]) == neardups.passages([]) == []


def test_test_questions(tmp_path, table, articles):
    pyarrow = pytest.importorskip("pyarrow")
    words = articles[0]["text"].split()
    questions = [" ".join(words[:20]), "what nobody has asked before in any of these texts, as far as anyone can see here"]
    found = neardups.contain(pyarrow.table({"text": questions}), against=table, preset="gpt-3", emit=None)
    assert found.column_names[:3] == ["id", "in", "coverage"] and found["in"].to_pylist() == [articles[0]["id"]]
    assert found["coverage_all"].to_pylist() == [1.0]
    share = {"shingle": 8, "min_coverage": 0.7}
    pairs = neardups.contain(pyarrow.table({"text": questions}), against=table, emit="pairs", **share)
    left = neardups.contain(table, against=questions, of="reference", emit="kept", **share)
    assert articles[0]["id"] in pairs["in"].to_pylist()
    assert set(left["id"].to_pylist()) == {article["id"] for article in articles} - set(pairs["in"].to_pylist())
    verdicts = neardups.contain(table, against=questions, of="reference", emit="verdicts", **share).to_pylist()
    assert [verdict["id"] for verdict in verdicts if verdict["keep"]] == left["id"].to_pylist()
    assert {str(verdict["contains"]) for verdict in verdicts if not verdict["keep"]} == {"0"} and "contains_at" in verdicts[0]
    of_list = neardups.contain([article["text"] for article in articles], against=questions, of="reference", emit="verdicts", **share)
    assert {verdict["contains"] for verdict in of_list if not verdict["keep"]} == {0}
    [known, unknown] = neardups.contain(questions, against=table, shingle=8, min_coverage=0)
    assert (known["in"], known["coverage"]) == (articles[0]["id"], 1.0)
    assert "in" not in unknown and (unknown["coverage"], unknown["passages"]) == (0.0, [])
    with pytest.raises(ValueError, match="add `emit=.kept.` or `emit=.verdicts.`. To list .* swap the sides: .* and these as `against`$"):
        neardups.contain(table, against=questions, of="reference", emit="pairs")
    with pytest.raises(ValueError, match="that of all documents together"):
        neardups.contain(questions, against=table, preset="palm", emit="pairs")
    with pytest.raises(ValueError, match="against"):
        neardups.contain(questions, preset="gpt-3")
    (tmp_path / "empty").mkdir()
    with pytest.raises((ValueError, OSError), match="no documents|no files"):
        neardups.contain(questions, against=tmp_path / "empty")



def test_fields_of_a_reference(articles, table, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    half = len(articles) // 2
    renamed = [{"nr": article["id"], "body": article["text"]} for article in articles[:half]]
    files = [tmp_path / "documents.jsonl", tmp_path / "reference.jsonl"]
    for path, rows in zip(files, [articles[half:], renamed]):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    names = {"against_text_field": "body", "against_id_field": "nr"}
    flags = ["--against", str(files[1]), "--against-text-field", "body", "--against-id-field", "nr"]
    documents = table.slice(half)
    for reference in (pyarrow.Table.from_pylist(renamed), files[1]):
        printed = dedup("scan", str(files[0]), *flags)
        assert lines("pair", without_nulls(neardups.scan(documents, against=reference, **names))) == printed != b""
        printed = dedup("contain", str(files[0]), *flags, "--min-coverage", "0.3")
        found = quiet(neardups.contain, documents, against=reference, min_coverage=0.3, **names)
        assert lines("containment", without_nulls(found)) == printed != b""
    # Documents that are a list have no fields, and the reference has.
    texts = [article["text"] for article in articles[half:]]
    pairs = neardups.scan(texts, against=pyarrow.Table.from_pylist(renamed), **names)
    assert [pair["a"] for pair in pairs] == [pair["a"] for pair in neardups.scan(documents, against=files[1], **names).to_pylist()]
    with pytest.raises(ValueError, match="invalid value 'url' for `against_id_field`: expected a column .columns here: nr, body"):
        neardups.scan(documents, against=pyarrow.Table.from_pylist(renamed), against_text_field="body", against_id_field="url")
    with pytest.raises(ValueError, match="invalid value 'text' for `against_text_field`: expected a column of texts"):
        neardups.scan(documents, against=pyarrow.Table.from_pylist(renamed))
    with pytest.raises(ValueError, match="against"):
        neardups.scan(documents, **names)


def test_two_texts(tmp_path):
    a, b = "A rose is a rose is a rose, she said.", "A rose is a rose is a rose, he said."
    assert neardups.similarity(a, b) == 3 / 7
    assert neardups.similarity("", "") is None
    assert neardups.similarity(a, b, algo="simhash") > 0.5
    paths = [tmp_path / name for name in "ab"]
    for path, text in zip(paths, [a, b]):
        path.write_text(text)
    for flags, options in [([], {}), (["--max-differences", "1"], {"max_differences": 1})]:
        printed = json.loads(dedup("compare", *map(str, paths), "--json", *flags))
        result = quiet(neardups.compare, a, b, **options)
        for record in (printed["a"], printed["b"], result["a"], result["b"]):
            del record["id"]
        del printed["type"]
        assert result == printed


def test_an_index(tmp_path, table, articles):
    half = len(articles) // 2
    both = [table.slice(0, half), table.slice(half)]
    inputs = ["".join(json.dumps(row) + "\n" for row in part.to_pylist()).encode() for part in both]
    path = tmp_path / "own.idx"
    dedup("index", "add", str(path), "--seed", "3", stdin=inputs[0])
    printed = dedup("index", "query", str(path), stdin=inputs[1])
    assert b'"duplicate_of_time":' in printed
    nearest = dedup("index", "query", str(path), "--top", "3", stdin=inputs[1])
    with neardups.Index(path, seed=3) as index:
        assert lines("verdict", without_nulls(index.query(both[1]))) == printed
    with neardups.Index(tmp_path / "other.idx", seed=3) as index:
        assert index.add(both[0]) == half
        verdicts = lines("verdict", without_nulls(index.query(both[1])))
        rows = index.query(both[1], top=3).to_pylist()
    assert verdicts == dedup("index", "query", str(tmp_path / "other.idx"), stdin=inputs[1])
    # These documents passed at another time.
    other = [{name: value for name, value in row.items() if name != "duplicate_of_time"} for row in _rows(verdicts)]
    assert other == [{name: value for name, value in row.items() if name != "duplicate_of_time"} for row in _rows(printed)]
    for row, line in zip(rows, nearest.splitlines()):
        record = json.loads(line)
        assert row["id"] == record["id"]
        assert [n["id"] for n in row["neighbours"]] == [n["id"] for n in record["neighbours"]]
    with neardups.Index(tmp_path / "third.idx", seed=3) as index:
        verdicts = index.filter(table)
    kept = [row["id"] for row in verdicts.to_pylist() if row["keep"]]
    stream = dedup("filter", "--seed", "3", stdin=inputs[0] + inputs[1])
    assert kept == [json.loads(line)["id"] for line in stream.splitlines()]


def ranked(documents, keep):
    """The ids that are kept, or that the rule is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", neardups.NeardupsWarning)
        try:
            verdicts = neardups.scan(documents, emit="verdicts", keep=keep)
        except ValueError:
            return "refused"
    if not isinstance(verdicts, list):
        verdicts = verdicts.to_pylist()
    return [verdict["id"] for verdict in verdicts if verdict["keep"]]


def test_columns_rank_rows_as_those_of_parquet(tmp_path):
    """Of every type, and which of them are refused."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    numpy = pytest.importorskip("numpy")
    numbers, texts = [5, 9, 7], [b"5", b"9", b"7"]
    strings = [text.decode() for text in texts]
    ranking = {
        "integers": pyarrow.array(numbers), "unsigned": pyarrow.array(numbers, pyarrow.uint16()), "doubles": pyarrow.array([5.0, 9.0, 7.0]),
        "halves": pyarrow.array(numpy.array(numbers, dtype=numpy.float16)), "durations": pyarrow.array(numbers, pyarrow.duration("us")),
        "bytes": pyarrow.array(texts), "long bytes": pyarrow.array(texts, pyarrow.large_binary()), "strings": pyarrow.array(strings),
        "keyed integers": pyarrow.array(numbers).dictionary_encode(), "keyed strings": pyarrow.array(strings).dictionary_encode(),
    }  # fmt: skip
    others = {
        "dates": pyarrow.array(numbers, pyarrow.date32()), "times": pyarrow.array(numbers, pyarrow.timestamp("us")),
        "flags": pyarrow.array([False, True, True]), "fixed": pyarrow.array(texts, pyarrow.binary(1)), "nothing": pyarrow.nulls(3),
        "lists": pyarrow.array([[number] for number in numbers]), "structs": pyarrow.array([{"x": number} for number in numbers]),
        "decimals": pyarrow.array(numbers, pyarrow.decimal128(9, 2)), "times of day": pyarrow.array(numbers, pyarrow.time64("us")),
    }  # fmt: skip
    found = {}
    for name, column in {**ranking, **others}.items():
        table = pyarrow.table({"id": ["a", "b", "c"], "text": ["one text of some words"] * 3, "v": column})
        parquet.write_table(table, tmp_path / "a.parquet")
        for keep in ("max:v", "min:v", "is:v=7", "is:v=true", "is:v=1970-01-08", "is:v=none,last"):
            of_table = ranked(table, keep)
            assert of_table == ranked(tmp_path / "a.parquet", keep), (name, keep)
            found[name, keep] = of_table
    for name in ranking:
        assert [found[name, keep] for keep in ("max:v", "min:v", "is:v=7")] == [["b"], ["a"], ["c"]], name
    for name in ("flags", "fixed", "nothing", "lists", "structs", "decimals", "times of day"):
        assert found[name, "max:v"] == "refused", name
    assert found["flags", "is:v=true"] == ["b"] and found["dates", "is:v=1970-01-08"] == ["c"] and found["times", "max:v"] == ["b"]
