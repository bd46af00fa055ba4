"""The recipes of the guide: each keeps the rows that the command keeps."""

import doctest
import json
import random

import pytest
from conftest import ARTICLES, ROOT, dedup

import neardups

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    rows = [json.loads(line) for line in ARTICLES.read_text(encoding="utf-8").splitlines()]
    path = tmp_path_factory.mktemp("recipes") / "pages.parquet"
    pq.write_table(pa.table({name: [row[name] for row in rows] for name in ("id", "text")}), path)
    return path


@pytest.fixture(scope="module")
def kept(file):
    return kept_of(file)


def kept_of(file, *flags):
    """The ids of the rows that the command keeps."""
    lines = dedup("scan", str(file), "--emit", "verdicts", "--threshold", "0.7", "--quiet", *flags).splitlines()
    verdicts = [json.loads(line) for line in lines]
    found = [verdict["id"] for verdict in verdicts if verdict["keep"]]
    assert 0 < len(found) < len(verdicts)
    return found


def test_duckdb(file, kept):
    duckdb = pytest.importorskip("duckdb")
    con = duckdb.connect()
    pages = con.sql(f"SELECT id, text FROM '{file}' WHERE length(text) > 0").to_arrow_table()
    kept_pages = neardups.keep(pages, threshold=0.7)
    assert con.sql("SELECT id FROM kept_pages").fetchall() == [(id,) for id in kept]
    # The pairs, joined with what they are of.
    pairs = neardups.scan(pages, threshold=0.7)
    [(joined,)] = con.sql("SELECT count(*) FROM pairs JOIN pages ON pairs.a = pages.id").fetchall()
    assert joined == len(pairs) > 0


def test_polars(file, kept):
    polars = pytest.importorskip("polars")
    distinct = polars.scan_parquet(file).filter(polars.col("text") != "").collect().pipe(neardups.keep, threshold=0.7)
    assert distinct["id"].to_list() == kept


def test_pandas(file, kept):
    pandas = pytest.importorskip("pandas")
    distinct = pandas.read_parquet(file).pipe(neardups.keep, threshold=0.7)
    assert distinct["id"].tolist() == kept


def test_datasets(file, kept, tmp_path):
    datasets = pytest.importorskip("datasets")
    pages = datasets.load_dataset("parquet", data_files=str(file), split="train", cache_dir=str(tmp_path))
    distinct = neardups.keep(pages, threshold=0.7)
    assert distinct["id"][:] == kept
    # Without what a model is tested on.
    tested, reference = pages.select(range(8)), tmp_path / "tested.parquet"
    tested.to_parquet(str(reference))
    clean = neardups.keep(pages, against=tested, threshold=0.7)
    assert clean["id"][:] == kept_of(file, "--against", str(reference))


def test_daft(file, kept):
    daft = pytest.importorskip("daft")
    pages = daft.read_parquet(str(file)).where(daft.col("text") != "")
    distinct = daft.from_arrow(neardups.keep(pages.to_arrow(), threshold=0.7))
    assert distinct.to_pydict()["id"] == kept


def test_ray_data(file, kept):
    ray = pytest.importorskip("ray")
    import ray.data

    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, object_store_memory=100 << 20)
    try:
        pages = ray.data.read_parquet(str(file)).filter(lambda row: row["text"] != "")
        distinct = ray.data.from_arrow(neardups.keep(pa.concat_tables(ray.get(pages.to_arrow_refs())), threshold=0.7))
        assert [row["id"] for row in distinct.take_all()] == kept
    finally:
        ray.shutdown()


def test_files_of_parquet(file, kept, tmp_path):
    import pyarrow.dataset as ds

    distinct = neardups.keep(ds.dataset(file).scanner(columns=["id", "text"]).to_reader(), threshold=0.7)
    ds.write_dataset(distinct, tmp_path / "out", format="parquet")
    assert ds.dataset(tmp_path / "out").to_table()["id"].to_pylist() == kept


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_verdicts_beside_a_table(file, package):
    module = pytest.importorskip(package)
    guide = (ROOT / "src" / "guide" / "python.md").read_text(encoding="utf-8")
    [block] = [block for block in guide.split("```python\n")[1:] if block.startswith("# pandas. Positions of rows")]
    pandas, polars = block.split("```")[0].split("\n\n")
    assert polars.startswith("# Polars.")
    frame = module.read_parquet(file)
    if package == "pandas":
        frame = frame.set_index(frame.index + 7)
    names = {"neardups": neardups, "pyarrow": pa, package: module, "frame": frame}
    exec({"pandas": pandas, "polars": polars}[package], names)
    dropped = names["dropped"].to_dict("records") if package == "pandas" else names["dropped"].to_dicts()
    printed = [json.loads(line) for line in dedup("scan", str(file), "--emit", "verdicts").splitlines()]
    texts = dict(zip(frame["id"], frame["text"]))
    expected = [(row["id"], row["duplicate_of"]) for row in printed if not row["keep"]]
    assert sorted((row["id"], row["duplicate_of"]) for row in dropped) == sorted(expected) != []
    for row in dropped:
        assert row["text"] == texts[row["id"]] and row["kept_text"] == texts[row["duplicate_of"]]


@pytest.mark.parametrize("kind", ["int64", "uint64"])
def test_verdicts_beside_a_table_with_large_ids(kind):
    pandas = pytest.importorskip("pandas")
    guide = (ROOT / "src" / "guide" / "python.md").read_text(encoding="utf-8")
    [recipe] = [block.split("\n\n")[0] for block in guide.split("```python\n")[1:] if block.startswith("# pandas. Positions of rows")]
    # As floats, these are equal.
    texts = ["to be or not to be that is the question", "in a hole in the ground there lived a hobbit"]
    frame = pandas.DataFrame({"id": pandas.Series([2**60 + n for n in range(4)], dtype=kind), "text": texts * 2})
    names = {"neardups": neardups, "pandas": pandas, "pyarrow": pa, "frame": frame}
    exec(recipe, names)
    rows = [(row["id"], row["duplicate_of"], row["kept_text"]) for row in names["dropped"].to_dict("records")]
    assert rows == [(2**60 + 2, 2**60, texts[0]), (2**60 + 3, 2**60 + 1, texts[1])]


def test_passages_that_are_cut():
    guide = (ROOT / "src" / "guide" / "python.md").read_text(encoding="utf-8")
    [block] = [block.split("```")[0] for block in guide.split("```python\n")[1:] if ">>> def cut(" in block]
    examples = [example.source for example in doctest.DocTestParser().get_examples(block)]
    [at] = [at for at, source in enumerate(examples) if source.startswith("def cut(")]
    choose = random.Random(7)
    corpora = [["0 " * 12]]
    corpora += [[" ".join(choose.choices("0123", k=choose.randint(5, 40))) for _ in range(3)] for _ in range(20)]
    for pages in corpora:
        names = {"neardups": neardups, "pages": pages}
        *made, last = examples[at : at + 4]
        exec("\n".join(made), names)
        cut = [text.split() for text in eval(last, names)]
        lines = "".join(json.dumps({"text": page}) + "\n" for page in pages).encode()
        printed = dedup("passages", "-", "--exact", "--min-words", "5", "--emit", "kept", stdin=lines)
        expected = [json.loads(line)["text"].split() for line in printed.splitlines()]
        assert [words for words in cut if words] == [words for words in expected if words], pages


def test_ids_of_both_sides_have_one_type():
    texts = ["to be or not to be that is the question", "nothing of it"]
    table = lambda ids: pa.table({"id": ids, "text": texts})
    of = lambda documents, against: [v["id"] for v in neardups.scan(documents, against=against, emit="verdicts")]
    assert of(texts, table([7, 8])) == of(texts, texts) == [0, 1]
    assert of(texts, table(["x", "y"])) == ["0", "1"]
    pairs = neardups.scan(table([7, 8]), against=table(["x", "y"])).to_pylist()
    assert [(pair["a"], pair["b"]) for pair in pairs] == [("x", "7"), ("y", "8")]
