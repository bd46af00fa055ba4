"""Every kind of documents, and what comes back."""

import pathlib

import pytest
from conftest import ARTICLES, dedup

import neardups

TEXTS = ["to be or not to be that is the question", "something else entirely, which is new", "To be, or not to be: that is the question"]


def test_lists_give_lists():
    assert neardups.keep(TEXTS) == TEXTS[:2]
    assert neardups.keep(TEXTS, "last") == TEXTS[1:]
    assert neardups.keep(tuple(TEXTS)) == TEXTS[:2]
    assert neardups.keep(text for text in TEXTS) == TEXTS[:2]
    [pair] = neardups.scan(TEXTS)
    assert (pair["a"], pair["b"], pair["similarity"]) == (0, 2, 1.0)
    assert neardups.keep([]) == [] and neardups.scan([]) == []
    assert [made["id"] for made in neardups.fingerprints(TEXTS)] == [0, 1, 2]


def test_none_in_a_list_is_a_text_that_is_missing():
    with pytest.warns(neardups.NeardupsWarning, match="row:1"):
        assert neardups.keep([TEXTS[0], None, TEXTS[2]]) == [TEXTS[0], None]


def test_a_string_is_not_a_path():
    with pytest.raises(TypeError, match="pathlib.Path"):
        neardups.scan(str(ARTICLES))
    assert neardups.keep([str(ARTICLES)]) == [str(ARTICLES)]
    printed = dedup("scan", str(ARTICLES), "--emit", "kept")
    assert neardups.keep(ARTICLES) == printed
    assert neardups.keep([ARTICLES]) == printed
    assert neardups.keep(pathlib.PurePath(ARTICLES)) == printed


def arrow(kind=None, **columns):
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table({"text": pyarrow.array(TEXTS, kind), **columns})


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view"])
def test_layouts_of_strings(kind):
    pyarrow = pytest.importorskip("pyarrow")
    table = arrow(getattr(pyarrow, kind)(), extra=[1.5, None, 2.5])
    kept = neardups.keep(table)
    assert kept.schema == table.schema and kept["extra"].to_pylist() == [1.5, None]


def test_dictionaries_slices_chunks_and_structs():
    pyarrow = pytest.importorskip("pyarrow")
    encoded = pyarrow.table({"text": pyarrow.array(TEXTS).dictionary_encode()})
    assert neardups.keep(encoded).equals(encoded.slice(0, 2))
    assert neardups.keep(arrow().slice(1)).num_rows == 2
    chunked = pyarrow.concat_tables([arrow(), arrow()])
    assert neardups.keep(chunked).num_rows == 2
    assert [row["b"] for row in neardups.scan(chunked).to_pylist() if row["a"] == 0] == [2, 3, 5]
    nested = pyarrow.table({"doc": [{"body": [text]} for text in TEXTS]})
    assert neardups.keep(nested, text_field="doc.body[]").num_rows == 2
    assert neardups.keep(nested, text_field="doc.body[-1]").num_rows == 2


def test_chosen_turns_of_conversations():
    chats = [
        {"messages": [{"role": role, "content": content}, {"role": "user", "content": text}]}
        for text, role, content in zip(TEXTS, ("system", "user", "system"), ("be brief", "be kind", "be brief"))
    ]
    pytest.importorskip("pyarrow")
    last = [(pair["a"], pair["b"]) for pair in neardups.scan(chats, text_field="messages[-1].content")]
    assert last == [(pair["a"], pair["b"]) for pair in neardups.scan(TEXTS)]
    first = neardups.scan(chats, text_field="messages[0].content", shingle=1)
    assert [(pair["a"], pair["b"]) for pair in first] == [(0, 2)]
    with pytest.warns(neardups.NeardupsWarning, match=r"text column 'messages\[role=system\].content' is null"):
        system = neardups.scan(chats, text_field="messages[role=system].content", shingle=1)
    assert [(pair["a"], pair["b"]) for pair in system] == [(0, 2)]
    with pytest.raises(ValueError, match="invalid value 'messages.1' for `text_field`: expected brackets"):
        neardups.scan(chats, text_field="messages[1")


def test_readers_batches_and_arrays():
    pyarrow = pytest.importorskip("pyarrow")
    table = arrow()
    reader = pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches())
    assert neardups.keep(reader).num_rows == 2
    assert neardups.keep(table.to_batches()[0]).num_rows == 2
    assert neardups.keep(table["text"]).num_rows == 2

    class Exporter:
        def __arrow_c_stream__(self, schema=None):
            return table.__arrow_c_stream__(schema)

    assert neardups.keep(Exporter()).num_rows == 2


def test_ids_have_the_type_of_their_column():
    pairs = lambda ids: neardups.scan(arrow(id=ids)).to_pylist()[0]
    assert pairs(["x", "y", "z"])["b"] == "z"
    assert pairs([7, 8, 9])["b"] == 9
    assert pairs([7, 8, None])["b"] == "row:2"
    assert neardups.scan(arrow(id=[7, 7, 7])).to_pylist()[0]["b_at"] == "row:2"


def test_ids_of_another_type():
    table = arrow(id=[1.0, None, 3.0])
    message = "invalid value 'id' for `id_field`: expected a column of strings or integers, or none for positions, and it is of type Float64"
    for call in (neardups.keep, neardups.contain, neardups.Index().add):
        with pytest.raises(ValueError, match=message):
            call(table)
    assert neardups.keep(table, id_field="none").num_rows == 2 and neardups.Index(id_field="none").add(table) == 2


def test_great_ids_without_a_sign():
    pyarrow = pytest.importorskip("pyarrow")
    great = [2**64 - 1, 1, 2**63]
    table = arrow(id=pyarrow.array(great, pyarrow.uint64()))
    [pair] = neardups.scan(table).to_pylist()
    assert (pair["a"], pair["b"]) == (great[0], great[2])
    [cluster] = neardups.clusters(table).to_pylist()
    assert (cluster["members"], cluster["keep"]) == ([great[0], great[2]], [great[0]])
    for found in (neardups.scan(table, emit="verdicts"), neardups.fingerprints(table), neardups.Index().filter(table)):
        assert found["id"].to_pylist() == great and found.schema.field("id").type == pyarrow.uint64()
    [pair] = neardups.scan(table.slice(2), against=table.slice(0, 1)).to_pylist()
    assert (pair["a"], pair["b"]) == (great[0], great[2])


def test_integer_ids_stay_integers_in_an_index():
    index = neardups.Index()
    verdicts = index.filter(arrow(id=[7, -8, 9])).to_pylist()
    assert [(v["id"], v["duplicate_of"]) for v in verdicts] == [(7, None), (-8, None), (9, "7")]
    assert [n["id"] for n in index.query(arrow(id=[1, 2, 3]), top=1).to_pylist()] == [1, 2, 3]


def test_dictionaries_are_refused():
    import types

    for documents in ({"a": TEXTS[0], "b": TEXTS[0]}, types.MappingProxyType({"a": "b"})):
        for call in (neardups.scan, neardups.keep, neardups.Index().filter):
            with pytest.raises(TypeError, match="give its values as a list"):
                call(documents)
    assert neardups.keep({"a": TEXTS[0], "b": TEXTS[2]}.values()) == TEXTS[:1]


def test_polars():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"text": TEXTS, "n": [1, 2, 3]})
    kept = neardups.keep(frame)
    assert isinstance(kept, polars.DataFrame) and kept["n"].to_list() == [1, 2]
    assert neardups.keep(frame.with_columns(polars.col("text").cast(polars.Categorical)))["n"].to_list() == [1, 2]
    # Columns of nulls alone, also in lists and structs.
    for nulls in (None, [None], {"a": None}):
        kept = neardups.keep(frame.with_columns(polars.Series("note", [nulls] * 3)))
        assert kept["n"].to_list() == [1, 2] and kept["note"].to_list() == [nulls] * 2
    assert neardups.keep(polars.DataFrame({"text": []})).height == 0
    assert neardups.keep(frame["text"]) == TEXTS[:2]
    with pytest.raises(TypeError, match="collect"):
        neardups.keep(frame.lazy())


def test_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": TEXTS, "n": [1, 2, 3]}, index=[5, 6, 7])
    kept = neardups.keep(frame, "last")
    assert isinstance(kept, pandas.DataFrame) and kept.index.tolist() == [6, 7]
    assert neardups.scan(frame)["b"].to_pylist() == [2]


def test_hugging_face():
    datasets = pytest.importorskip("datasets")
    dataset = datasets.Dataset.from_dict({"text": TEXTS, "n": [1, 2, 3]})
    kept = neardups.keep(dataset)
    assert isinstance(kept, datasets.Dataset) and kept["n"][:] == [1, 2]
    assert neardups.keep(dataset.select([2, 0]))["n"][:] == [3]


def test_a_field_decides_what_is_kept():
    table = arrow(score=[1, 5, 2])
    assert neardups.keep(table, "max:score")["score"].to_pylist() == [5, 2]
    assert neardups.keep(table, "min:score")["score"].to_pylist() == [1, 5]


def test_the_value_of_a_field_and_several_fields_decide_what_is_kept():
    table = arrow(score=[1, 5, 1], lang=["de", "en", "en"], flag=[True, False, None])
    for keep, scores in [("is:lang=en", [2, 3]), ("is:lang=de", [1, 2]), ("is:flag=true", [1, 2]), ("is:score=1.0,is:lang=en", [2, 3])]:
        assert neardups.keep(table.append_column("n", [[1, 2, 3]]), keep)["n"].to_pylist() == scores
    assert neardups.clusters(table, "max:score,is:lang=en") == neardups.clusters(table, "last")
    with pytest.raises(ValueError, match="no document has a value in the field 'language' .fields here: "):
        neardups.keep(table, "is:language=en")
    with pytest.raises(ValueError, match="'is:lang' has no value: expected is:FIELD=VALUE"):
        neardups.keep(table, "is:lang")
    with pytest.raises(ValueError, match="'min:score' has no effect after 'max:score'"):
        neardups.keep(table, "max:score,min:score")
    with pytest.warns(neardups.NeardupsWarning, match="no document has the value 'fr' in the field 'lang' that `keep` goes by"):
        neardups.keep(table, "is:lang=fr")


def test_a_column_that_a_rule_names_must_be_one_of_a_table():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": TEXTS, "what": [{1}, "x", object()]})
    with pytest.raises(ValueError, match="the column 'what' has values of which"):
        neardups.keep(frame, "is:what=x")


def test_the_value_of_a_rule_names_no_column():
    pandas = pytest.importorskip("pandas")

    def kept(column, keep):
        frame = pandas.DataFrame({"text": TEXTS, "lang": ["de", "en", "x"], column: [{1}, "x", object()]})
        return neardups.keep(frame, keep).index.tolist()

    for column, keep in [
        ("note", "is:lang=note"), ("note", "is:lang=a.note"), ("x=y", "is:lang=x=y"), ("a,b", "is:lang=a\\,b"), ("b", "is:lang=a\\,b"),
    ]:  # fmt: skip
        with pytest.warns(neardups.NeardupsWarning, match="no document has the value"):
            assert kept(column, keep) == [0, 1], keep
    assert kept("note", "is:lang=x") == [1, 2] and kept("max", "is:lang=x") == [1, 2]
    for column, keep in [
        ("note", "is:lang=x,is:note=x"), ("note", "is:lang=a\\,b,max:note"), ("a,b", "is:a\\,b=x"), ("a=b", "is:a\\=b=x"),
        ("a[0]", "is:a\\[0]=x"), ("note", "min:note.score"), ("note", "is:note.a=x"), ("a:b", "max:a:b"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match="has values of which no column of a table can be made"):
            kept(column, keep)


def test_columns_that_never_have_the_value_of_a_rule():
    import datetime
    import decimal

    pyarrow = pytest.importorskip("pyarrow")
    columns = {
        "list": [["x"], None, ["x"]],
        "struct": [{"a": "x"}, None, {"a": "x"}],
        "map": pyarrow.array([[("x", 1)], None, []], pyarrow.map_(pyarrow.string(), pyarrow.int64())),
        "decimal": [decimal.Decimal("1.5"), None, decimal.Decimal("2.5")],
        "time": [datetime.time(1), None, datetime.time(2)],
    }
    table = arrow(lang=["de", "en", "fr"], n=[1, 2, 3], **columns)
    for column in columns:
        with pytest.warns(neardups.NeardupsWarning, match=f"no document has the value '1.5' in the field '{column}'"):
            assert neardups.keep(table, f"is:{column}=1.5,is:lang=fr")["n"].to_pylist() == [2, 3]
        with pytest.raises(ValueError, match=f"invalid value '{column}' for `keep`: expected a column of numbers or times"):
            neardups.keep(table, f"is:{column}=1.5,max:{column}")
    # Those of binary columns are strings.
    assert neardups.keep(arrow(raw=[b"x", b"y", b"z"]), "is:raw=z")["raw"].to_pylist() == [b"y", b"z"]


def test_nothing_without_pyarrow(tmp_path):
    import subprocess
    import sys

    (tmp_path / "pyarrow.py").write_text("raise ImportError('not here')")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import neardups; print(len(neardups.keep({TEXTS!r})))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert ran.stdout == b"2\n"


def test_rows_that_are_dictionaries():
    pytest.importorskip("pyarrow")
    rows = [{"id": f"n{n}", "text": text, "score": n % 2, "more": [n, "x", {}][n]} for n, text in enumerate(TEXTS)]
    for documents in (rows, tuple(rows), (row for row in rows)):
        kept = neardups.keep(documents)
        assert len(kept) == 2 and all(one is other for one, other in zip(kept, rows))
    assert neardups.keep(rows, "max:score") == rows[:2] and neardups.keep(rows, "last") == rows[1:]
    assert [(pair["a"], pair["b"]) for pair in neardups.scan(rows)] == [("n0", "n2")]
    assert neardups.clusters(rows)[0]["members"] == ["n0", "n2"]
    renamed = [{"body": row["text"]} for row in rows]
    assert neardups.keep(renamed, text_field="body") == renamed[:2]
    assert [(pair["a"], pair["b"]) for pair in neardups.scan(renamed, text_field="body")] == [(0, 2)]
    assert neardups.keep(rows[2:], against=rows[:1]) == []
    assert [verdict["keep"] for verdict in neardups.Index().filter(rows)] == [True, True, False]
    found = neardups.contain(rows, shingle=3, emit="kept")
    assert found == [rows[0], rows[1]] and neardups.passages(rows, min_words=5)[0]["places"][1]["id"] == "n2"
    nested = [{"doc": {"body": text}} for text in TEXTS]
    assert neardups.keep(nested, text_field="doc.body") == nested[:2]


def test_rows_that_lack_fields():
    pytest.importorskip("pyarrow")
    rows = [{"id": 1}, {"text": TEXTS[0]}, {"id": 3, "text": TEXTS[2]}, {"id": 4, "text": float("nan")}]
    with pytest.warns(neardups.NeardupsWarning, match="row:0: text column 'text' is null.*row:3: text column 'text' is null"):
        assert neardups.keep(rows) == [rows[0], rows[1], rows[3]]
    with pytest.raises(ValueError, match="invalid value 'text' for `text_field`: expected a column of texts .columns here: body"):
        neardups.keep([{"body": "a b c"}])
    with pytest.raises(ValueError, match="the ids of the column 'id' have several types: 1 at position 0 .* 'x' at position 1 "):
        neardups.keep([{"id": 1, "text": "a b c"}, {"id": "x", "text": "a b c"}])
    for odd in ("a b c", None):
        with pytest.raises(TypeError, match=f"some documents are dictionaries, and that at position 1 is of type {type(odd).__name__}"):
            neardups.keep([{"text": "a b c"}, odd])


def test_a_list_of_paths_and_texts_is_refused():
    with pytest.raises(TypeError, match="some documents are paths, and that at position 1 is of type str"):
        neardups.keep([ARTICLES, "a b c"])
    assert neardups.keep(iter([ARTICLES])) == neardups.keep(ARTICLES)


def test_a_text_that_is_no_string():
    with pytest.raises(TypeError, match="must be strings, or None where one is missing, and that at position 1 is of type float"):
        neardups.keep(["a b c", float("nan")])


def test_pandas_with_objects():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": TEXTS, "what": [{1}, "x", object()], "mixed": [1, "a", b"b"]}, index=[5, 6, 7])
    kept = neardups.keep(frame)
    assert kept.index.tolist() == [5, 6] and kept["what"].iloc[0] is frame["what"].iloc[0]
    assert neardups.scan(frame)["b"].to_pylist() == [2]
    with pytest.raises(ValueError, match="the column 'mixed' has values of which no column of a table can be made: "):
        neardups.keep(frame, text_field="mixed")
    with pytest.raises(ValueError, match="the ids of the column 'mixed' have several types: 1 at position 0 .* 'a' at position 1 "):
        neardups.keep(frame, id_field=["text", "mixed"])
    with pytest.raises(ValueError, match="the column 'what' has values of which"):
        neardups.keep(frame, "max:what")
    with pytest.raises(ValueError, match="the column 'mixed' has values of which"):
        neardups.Index(text_field="mixed").add(frame)


def test_a_series_of_pandas():
    pandas = pytest.importorskip("pandas")
    series = pandas.Series([*TEXTS, None], index=[5, 6, 7, 8], name="body")
    with pytest.warns(neardups.NeardupsWarning, match="row:3: text column 'text' is null"):
        kept = neardups.keep(series)
    assert isinstance(kept, pandas.Series) and kept.index.tolist() == [5, 6, 8] and kept.name == "body"
    with pytest.raises(ValueError, match="the column 'text' has values of which"):
        neardups.keep(pandas.Series(["a", 1]))
    with pytest.raises(TypeError, match="documents cannot be of type Index: give a DataFrame or a Series"):
        neardups.keep(series.index)


def test_hugging_face_splits_and_streams():
    datasets = pytest.importorskip("datasets")
    dataset = datasets.Dataset.from_dict({"text": TEXTS, "n": [1, 2, 3]})
    with pytest.raises(TypeError, match="of type DatasetDict: give one of its splits by its name .'train', 'test'"):
        neardups.keep(datasets.DatasetDict(train=dataset, test=dataset))
    assert [row["n"] for row in neardups.keep(dataset.to_iterable_dataset())] == [1, 2]
    assert neardups.keep(dataset["text"]) == TEXTS[:2]


def test_several_columns_of_ids_are_a_list():
    table = arrow(repo=["r", "r", "s"], path=[1, 2, 3])
    for names in (["repo", "path"], ("repo", "path"), "repo,path"):
        assert neardups.scan(table, id_field=names).to_pylist()[0]["b"] == "s,3"
        assert neardups.Index(id_field=names).filter(table)["duplicate_of"].to_pylist() == [None, None, "r,1"]
    names = {"id_field": ["repo"], "against_id_field": ["repo", "path"]}
    first = neardups.scan(table.slice(2), against=table.slice(0, 1), **names).to_pylist()[0]
    assert (first["a"], first["b"]) == ("r,1", "s")
