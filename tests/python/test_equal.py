"""What the module returns is what the command prints."""

import json

import pytest
from conftest import ARTICLES, dedup, lines, without_nulls

import neardups

ALGORITHMS = ["minhash", "simhash", "imatch", "projection", "spotsigs"]
EMITS = {"pairs": "pair", "clusters": "cluster", "verdicts": "verdict", "fingerprints": "fingerprint", "hosts": "hosts"}
POLICIES = ["first", "last", "longest", "shortest"]


def quiet(call, *arguments, **options):
    """Calls without the warnings, of which other tests are."""
    import warnings

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
    with pytest.raises(OSError, match="`on_error` fail: 1 file or record failed"):
        neardups.scan(broken, emit="verdicts", on_error="fail")


def test_two_texts(tmp_path):
    a, b = "A rose is a rose is a rose, she said.", "A rose is a rose is a rose, he said."
    assert neardups.similarity(a, b) == 3 / 7
    assert neardups.similarity("", "") is None
    assert neardups.similarity(a, b, algo="simhash") > 0.5
    paths = [tmp_path / name for name in "ab"]
    for path, text in zip(paths, [a, b]):
        path.write_text(text)
    printed = json.loads(dedup("compare", *map(str, paths), "--json"))
    result = quiet(neardups.compare, a, b)
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
    nearest = dedup("index", "query", str(path), "--top", "3", stdin=inputs[1])
    with neardups.Index(tmp_path / "other.idx", seed=3) as index:
        assert index.add(both[0]) == half
        assert lines("verdict", without_nulls(index.query(both[1]))) == printed
        rows = index.query(both[1], top=3).to_pylist()
    for row, line in zip(rows, nearest.splitlines()):
        record = json.loads(line)
        assert row["id"] == record["id"]
        assert [n["id"] for n in row["neighbours"]] == [n["id"] for n in record["neighbours"]]
    with neardups.Index(tmp_path / "third.idx", seed=3) as index:
        verdicts = index.filter(table)
    kept = [row["id"] for row in verdicts.to_pylist() if row["keep"]]
    stream = dedup("filter", "--seed", "3", stdin=inputs[0] + inputs[1])
    assert kept == [json.loads(line)["id"] for line in stream.splitlines()]
