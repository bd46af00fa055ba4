"""The steps of a scan on a cluster, without one: what they take, and what they refuse."""

import pytest

pa = pytest.importorskip("pyarrow")
from neardups import _input, _native

TEXTS = [
    "the quick brown fox jumps over the lazy dog near the bank of the river",
    None,
    "an entirely different sentence that says nothing about any animals at all",
    "",
    "The quick brown fox jumps over the lazy dog, near the bank of the River!",
]


def planned(median=13, hot=512, **options):
    keywords = _input.keywords(options)
    plan, _ = _native.plan_steps(keywords, (median, False), (hot, False, 1 << 28), [])
    return keywords, plan


def start(name, **options):
    keywords, plan = planned(**options)
    return _native.Step(name, keywords, plan, [])


def run(step, *batches):
    made = []
    for batch in batches:
        step.push(batch)
        made += iter(step.take, None)
    step.finish()
    made += iter(step.take, None)
    return [row for batch in made for row in batch.to_pylist()]


def batch(**columns):
    return pa.RecordBatch.from_pydict(columns)


def documents(texts=TEXTS, first=0):
    return batch(doc=pa.array(range(first, first + len(texts)), pa.int64()), text=pa.array(texts, pa.string()))


def test_the_table_of_steps():
    names = [name for name, *_ in _native.steps_table()]
    assert names == ["count", "sign", "pairs", "prefix", "filter", "verify", "keep", "clusters"]
    for _, takes, order, gives in _native.steps_table():
        assert set(order) <= {name for name, _ in takes} and gives
        assert {kind for _, kind in takes + gives} <= {"long", "array<long>", "double", "string"}


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())])
def test_signing(kind):
    rows = run(start("sign"), documents().set_column(1, "text", pa.array(TEXTS, pa.string()).cast(kind)))
    assert [row["doc"] for row in rows] == [0, 1, 2, 3, 4]
    assert [row["tokens"] for row in rows] == [15, None, 12, 0, 15]
    same = [(row["seq_hi"], row["seq_lo"], row["keys"], row["outline"]) for row in rows]
    assert same[0] == same[4] != same[2] and same[1] == (None,) * 4
    assert rows[3]["keys"] is None, "a document without words has no keys"
    assert rows == run(start("sign"), documents(TEXTS[:2]), documents([], 2), documents(TEXTS[2:], 2)), "batches do not matter"


@pytest.mark.parametrize("name", [name for name, *_ in _native.steps_table()])
def test_nothing_gives_nothing(name):
    if name == "count":
        return
    types = {"long": pa.int64(), "array<long>": pa.list_(pa.int64()), "double": pa.float64(), "string": pa.string()}
    [takes] = [takes for step, takes, _, _ in _native.steps_table() if step == name]
    empty = batch(**{column: pa.array([], types[kind]) for column, kind in takes})
    assert run(start(name)) == run(start(name), empty) == run(start(name), empty, empty) == []


def keyed(keys, docs):
    return batch(key=keys, doc=docs, last=docs, outline=[[3]] * len(keys))


def test_rows_that_are_not_in_order_are_refused():
    with pytest.raises(ValueError, match="step pairs: rows are not in order of their key: 3 comes after 5"):
        run(start("pairs"), keyed([5, 3], [0, 1]))
    with pytest.raises(ValueError, match="step pairs: rows are not in order of their key: 4 comes after 5"):
        run(start("pairs"), keyed([3, 5], [0, 1]), keyed([4], [2]))
    with pytest.raises(ValueError, match="step pairs: document 1 is twice under the key 5"):
        run(start("pairs"), keyed([5, 5], [1, 1]))
    edges = batch(a_rank=[0, 0], a=[1, 1], b_rank=[0, 0], b=[3, 2])
    with pytest.raises(ValueError, match="step keep: rows are not in order of their later document: 2 with rank 0 comes after 3"):
        run(start("keep"), edges)


def test_columns_are_checked():
    with pytest.raises(ValueError, match="step sign: no column 'doc' .columns here: text"):
        run(start("sign"), batch(text=["a"]))
    with pytest.raises(ValueError, match="step sign: column 'doc' is Utf8, not int64"):
        run(start("sign"), batch(doc=["a"], text=["a"]))
    with pytest.raises(ValueError, match="step sign: 1 rows have no 'doc'"):
        run(start("sign"), batch(doc=[0, None], text=["a", "b"]))
    with pytest.raises(ValueError, match="invalid value 'sing' for `step`"):
        start("sing")


def test_steps_of_different_plans_do_not_work_together():
    keywords, plan = planned(seed=7)
    with pytest.raises(ValueError, match="the run was planned with other options: 'seed' is 7 there, and 0 in this step"):
        _native.Step("sign", [], plan, [])
    other = plan.replace(f'"version":"{_native.__version__}"', '"version":"0.0.1"')
    with pytest.raises(ValueError, match="was planned by version 0.0.1, and this step is of version"):
        _native.Step("sign", keywords, other, [])
    with pytest.raises(ValueError, match="the plan of the run is damaged"):
        _native.Step("sign", keywords, plan[:-5], [])


def test_options_are_those_that_say_how_documents_are_compared():
    for options, error, message in [
        ({"emit": "kept"}, TypeError, "unexpected keyword argument 'emit'"),
        ({"treshold": 0.7}, TypeError, "did you mean 'threshold'?"),
        ({"threshold": 7}, ValueError, "invalid value '7' for `threshold`: expected a number above 0"),
        ({"algo": "simhash", "bands": 3}, ValueError, "`bands` is not used by simhash"),
        ({"exact": 1}, TypeError, "`exact` must be True or False"),
    ]:
        with pytest.raises(error, match=message):
            planned(**options)


def test_what_is_learned_comes_before_keys():
    with pytest.raises(ValueError, match="step pairs: imatch learns Terms from the whole collection: run the step `count` before"):
        start("pairs", algo="imatch")


def test_a_document_that_takes_too_much_memory():
    keywords = _input.keywords({})
    plan, _ = _native.plan_steps(keywords, (13, False), (512, False, 100), [])
    step = _native.Step("sign", keywords, plan, [])
    with pytest.raises(MemoryError, match="step sign: document 0 has 70 bytes, and cannot be signed within `memory` .100 bytes.: allow more"):
        run(step, documents())


def test_a_text_that_changed_is_named():
    signed = run(start("sign"), documents([TEXTS[0], TEXTS[4] + " again"]))
    rows = batch(
        block=[1, 1, 1],
        kind=[0, 0, 1],
        a=[0, 1, 0],
        b=pa.array([None, None, 1], pa.int64()),
        seq_hi=[row["seq_hi"] for row in signed] + [None],
        seq_lo=[row["seq_lo"] for row in signed] + [None],
        text=[TEXTS[0], "something else", None],
    )
    assert run(start("verify"), rows) == [{"a": 1, "b": None, "similarity": None}]
