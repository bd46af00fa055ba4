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


def test_nothing_without_pyarrow(tmp_path):
    import subprocess
    import sys

    (tmp_path / "pyarrow.py").write_text("raise ImportError('not here')")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import neardups; print(len(neardups.keep({TEXTS!r})))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert ran.stdout == b"2\n"
