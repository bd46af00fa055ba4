"""Errors, warnings, threads, signals, progress, documentation."""

import doctest
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import warnings

import pytest
from conftest import ROOT, dedup

import neardups

WORDS = "the quick brown fox jumps over the lazy dog near the bank of a river in spring".split()


def many(count):
    return [" ".join(WORDS[(i * 7 + j * (i % 13 + 1)) % len(WORDS)] + str(i % 50) for j in range(60)) for i in range(count)]


def test_the_command_of_the_wheel():
    assert dedup("--version").decode().split() == ["dedup", neardups.__version__]
    dedup("scan", "--bogus", status=2)
    module = lambda *arguments: subprocess.run([sys.executable, "-m", "neardups", *arguments], capture_output=True)
    assert module("--version").stdout == dedup("--version") and module("scan", "--bogus").returncode == 2


def refusal(error, **options):
    with pytest.raises(error) as raised:
        neardups.scan(["a"], **options)
    return str(raised.value)


def test_names_and_values_are_checked():
    assert refusal(TypeError, treshold=0.8) == "unexpected keyword argument 'treshold': did you mean 'threshold'?"
    assert "did you mean" not in refusal(TypeError, xyzzyplugh=1)
    assert refusal(TypeError, n_jobs=2) == "unexpected keyword argument 'n_jobs': did you mean 'threads'?"
    assert refusal(TypeError, num_perm=128) == "unexpected keyword argument 'num_perm': did you mean 'hashes'?"
    assert "'quiet': it is for the messages, files and exit status of the command dedup" in refusal(TypeError, quiet=True)
    assert "invalid value '2' for `threshold`: expected a number above 0" in refusal(ValueError, threshold=2)
    assert refusal(TypeError, threshold=True) == "`threshold` must be a string or a number, not True"
    assert refusal(TypeError, exact=1) == "`exact` must be True or False, not 1"
    assert refusal(TypeError, threshold={}).startswith("`threshold` must be a string, a number")
    assert "`distance` is not used by minhash" in refusal(ValueError, distance=3)
    assert "invalid value 'ngram' for `tokenizer`" in refusal(ValueError, tokenizer="ngram")
    assert refusal(ValueError, seed=2**64).endswith("expected a whole number from 0 to 18446744073709551615")
    assert refusal(ValueError, seed=-1).endswith("expected a whole number from 0")
    assert "`keep` has no effect on pairs" in refusal(ValueError, keep="last")
    assert refusal(TypeError, progress=1) == "`progress` must be True, False or None"


def test_options_of_files_and_columns_say_where_they_are_taken():
    for name in ("text_field", "id_field"):
        message = refusal(TypeError, **{name: "a"})
        assert message.startswith(f"unexpected keyword argument '{name}': it names a column, and a list of texts has none")
        assert message.endswith("a table, dictionaries or paths")
    assert "'text_field' names a column" in refusal(TypeError, text_fields="a")
    for name in ("format", "encoding", "hidden", "include", "prefer"):
        expected = f"unexpected keyword argument '{name}': it concerns files, and is taken where the documents are paths"
        for find in (neardups.scan, neardups.keep, neardups.passages, neardups.contain):
            if name != "prefer" or find in (neardups.scan, neardups.keep):
                with pytest.raises(TypeError) as raised:
                    find(["a"], **{name: "x"})
                assert str(raised.value) == expected
    assert "'format' concerns files" in refusal(TypeError, formt="text")
    for name in ("against_text_field", "against_id_field"):
        assert refusal(ValueError, **{name: "a"}) == f"`{name}` has an effect only with `against`"
        assert "a list of texts has none: it is taken where `against` is a table" in refusal(TypeError, against=["b"], **{name: "a"})
    assert "is taken where `against` is paths" in refusal(TypeError, against=["b"], against_format="jsonl")
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"text": ["b"]})
    assert "`against_text_field` and `against_id_field` name those of `against`" in refusal(TypeError, against=table, text_field="text")


def test_options_of_other_functions_say_whose_they_are():
    for call, name, expected in [
        (lambda **o: neardups.scan(["a"], **o), "min_words", "`passages`"),
        (lambda **o: neardups.passages(["a"], **o), "threshold", "`scan`, `similarity`, `compare` and `Index`"),
        (lambda **o: neardups.similarity("a", "b", **o), "text_field", "`scan`, `passages`, `contain` and `Index`"),
        (lambda **o: neardups.contain(["a"], **o), "window", "`Index`"),
        (lambda **o: neardups.Index(**o), "emit", "`scan`, `passages` and `contain`"),
    ]:
        with pytest.raises(TypeError) as raised:
            call(**{name: "1"})
        assert str(raised.value) == f"unexpected keyword argument '{name}': it is an option of {expected}"
    for call in (lambda **o: neardups.similarity("a", "b", **o), lambda **o: neardups.compare("a", "b", **o), neardups.Index):
        for stats in ({}, "stats.json"):
            with pytest.raises(TypeError) as raised:
                call(stats=stats)
            expected = "`scan`, `keep`, `clusters`, `fingerprints`, `passages`, `contain`, and `add`, `filter` and `query` of an `Index` take it"
            assert str(raised.value) == f"unexpected keyword argument 'stats': {expected}"
    with pytest.raises(TypeError, match="'format': it concerns files, and an index has no options for these"):
        neardups.Index(format="text")


def test_an_element_that_is_not_there():
    pyarrow = pytest.importorskip("pyarrow")
    chats = [[{"role": "user", "content": "some words"}], [{"role": "usr", "content": "some words"}]]
    chosen = {"text_field": "messages[role=usr].content", "emit": "verdicts"}
    missing = "text column 'messages[role=usr].content' is null, or the path selects no value: there is no text to compare"
    for on_error in (None, "fail"):
        with pytest.raises(ValueError) as raised:
            neardups.scan(pyarrow.table({"messages": chats[:1] * 2}), on_error=on_error, **chosen)
        assert str(raised.value) == f"no record has a text field: row:0: {missing}; row:1: {missing}"
    with pytest.raises(OSError) as raised:
        neardups.scan(pyarrow.table({"messages": chats}), on_error="fail", **chosen)
    assert str(raised.value).endswith(f"1 file or record failed: nothing is returned: row:0: {missing}")


def test_one_value_and_several():
    assert refusal(TypeError, threshold=[0.5, 0.6]) == "`threshold` takes one value, and not a list of 2 (0.5, 0.6)"
    assert refusal(ValueError, memory="10") == "invalid value '10' for `memory`: 10 bytes are too few: add a unit, as in 10G"
    with pytest.raises(ValueError, match="^`of` has an effect only with `against`$"):
        neardups.contain(["a b c"], of="reference", shingle=3)
    numpy = pytest.importorskip("numpy")
    assert neardups.scan(["a b c"], exact=numpy.True_, threshold=numpy.float32(0.5), threads=numpy.int64(1)) == []


def test_texts_that_are_compared_are_checked():
    for call in (neardups.similarity, neardups.compare):
        with pytest.raises(TypeError, match="^`b` must be a string, not NoneType$"):
            call("a b c", None)
        with pytest.raises(ValueError, match="^`a` cannot be encoded: .*surrogates"):
            call("\ud800", "a b c")


def test_fingerprints_have_no_reference():
    with pytest.raises(TypeError, match="unexpected keyword argument 'against'"):
        neardups.fingerprints(["a b c"], against={"a b c"})


def test_arguments_of_an_index_are_checked(tmp_path):
    for path in (5, b"seen.idx"):
        with pytest.raises(TypeError, match="^`path` must be a path, not (int|bytes)$"):
            neardups.Index(path)
    index = neardups.Index()
    for top in ("3", 1.5, True):
        with pytest.raises(TypeError, match=f"^`top` must be a whole number from 1, not {top!r}$"):
            index.query([A], top=top)
    with pytest.raises(TypeError, match="^`exhaustive` must be True or False$"):
        index.query([A], top=1, exhaustive=1)
    with pytest.raises(ValueError, match="^`exhaustive` has an effect only with `top`$"):
        index.query([A], exhaustive=True)
    with neardups.Index(tmp_path / "seen.idx") as index:
        for ids in (1.5, [1.5], [None], True, [b"1"]):
            with pytest.raises(TypeError, match="^`ids` must be strings or integers"):
                index.remove(ids)


def test_integers_are_ids_to_forget(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    with neardups.Index(tmp_path / "seen.idx") as index:
        index.add(pyarrow.table({"id": [7, -8, 9, 10], "text": [A, B, C, D]}))
        assert index.remove([7, "-8"]) == 2 and index.remove(9) == 1
        assert len(index) == 1 and found(index, D) == "10"


def test_fields_of_an_index_are_checked(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    index = neardups.Index(id_field="url")
    for call in (index.add, index.filter, index.query):
        with pytest.raises(ValueError, match="invalid value 'url' for `id_field`: expected a column .columns here: id, text"):
            call(pyarrow.table({"id": ["a"], "text": [A]}))
    assert len(index) == 0 and index.add([A]) == 1, "texts have no fields"
    file = tmp_path / "docs.jsonl"
    file.write_text('{"id":"a","text":"some words"}\n')
    for options, message in [
        ({"id_field": "url"}, "`id_field`: no record that could be read has the field 'url'"),
        ({"text_field": "body"}, "no record has a text field: .*no text field 'body'"),
    ]:
        index = neardups.Index(**options)
        with pytest.raises(ValueError, match=message):
            index.add(file)
        assert len(index) == 0
    with pytest.warns(neardups.NeardupsWarning, match="`text_field`: no record has the field 'body'"):
        assert neardups.Index(text_field=["text", "body"]).add(file) == 1


def test_an_index_is_of_one_process(tmp_path):
    import copy
    import pickle

    for index in (neardups.Index(), neardups.Index(tmp_path / "seen.idx")):
        with pytest.raises(TypeError, match="cannot be pickled or sent to another process"):
            pickle.dumps(index)
        for call in (copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="^an index cannot be copied: use the same object"):
                call(index)


def test_an_index_that_is_closed(tmp_path):
    for index in (neardups.Index(), neardups.Index(tmp_path / "seen.idx")):
        with index as same:
            assert same is index
        index.close()
        for call in (index.__enter__, lambda: index.add([A]), lambda: index.query([A]), lambda: len(index)):
            with pytest.raises(ValueError, match="^the index is closed$"):
                call()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_does_not_write_to_the_file(tmp_path):
    program = (
        "import os, sys, neardups\n"
        "file, memory = neardups.Index(sys.argv[1]), neardups.Index()\n"
        f"for index in (file, memory): index.add([{A!r}, {B!r}])\n"
        "if os.fork() == 0:\n"
        "    for call in (file.add, file.filter, file.query, file.remove):\n"
        f"        try: call([{C!r}]); print('written')\n"
        "        except BlockingIOError as error: print('opened by the process' in str(error))\n"
        "    try: len(file); print('counted')\n"
        "    except BlockingIOError: print(repr(file).endswith('of another process>'))\n"
        f"    print(memory.add([{C!r}]), len(memory), flush=True)\n"
        "    sys.exit()\n"
        "os.wait()\n"
        f"print(file.add([{D!r}]), len(file), len(memory))\n"
        "file.close()\n"
        f"print([v['keep'] for v in neardups.Index(sys.argv[1]).query([{A!r}, {B!r}, {C!r}, {D!r}])])\n"
    )
    ran = subprocess.run([sys.executable, "-c", program, tmp_path / "seen.idx"], capture_output=True, text=True, timeout=60)
    expected = ["True"] * 5 + ["1 3", "1 3 2", "[False, False, True, False]"]
    assert ran.stdout.splitlines() == expected, ran.stderr
    dedup("index", "verify", str(tmp_path / "seen.idx"))


def spent(run):
    """Time of the processors of a process, where that is known, because others may run."""
    stat = pathlib.Path(f"/proc/{run.pid}/stat")
    if not stat.exists():
        return time.monotonic()
    return sum(map(int, stat.read_text().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
@pytest.mark.parametrize("call", ["similarity", "compare"])
def test_control_c_ends_a_comparison_of_long_texts(call):
    program = (
        "import neardups\n"
        "text = ' '.join(map(str, range(3_000_000)))\n"
        "print('ready', flush=True)\n"
        f"try:\n    neardups.{call}(text, text + ' x'); print('too fast', flush=True)\n"
        "except KeyboardInterrupt:\n    print('interrupted', flush=True)\n"
    )
    run = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert run.stdout.readline() == b"ready\n"
    time.sleep(0.4)
    started = spent(run)
    run.send_signal(signal.SIGINT)
    assert run.stdout.readline() == b"interrupted\n"
    # Work that cannot be stopped ends with the process.
    assert spent(run) - started < 2 and run.wait(60) == 0


def test_columns_are_checked():
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"body": ["a"], "n": [1]})
    with pytest.raises(ValueError, match="invalid value 'text' for `text_field`: expected a column of texts .columns here: body, n"):
        neardups.scan(table)
    with pytest.raises(ValueError, match="is of type Int64"):
        neardups.scan(table, text_field="n")
    with pytest.raises(ValueError, match="invalid value 'url' for `id_field`: expected a column"):
        neardups.scan(table, text_field="body", id_field="url")


@pytest.mark.parametrize("find", [neardups.passages, neardups.contain])
def test_fields_of_passages_and_contain_are_checked(find, tmp_path):
    files = tmp_path / "docs.jsonl"
    files.write_text('{"id":"a","text":"some words"}\n{"id":"b","text":"some words"}\n')
    with pytest.raises(ValueError, match="no record has a text field: .*no text field 'txet'"):
        find(files, text_field="txet")
    with pytest.raises(ValueError, match="`id_field`: no record that could be read has the field 'url'"):
        find(files, id_field="url")
    find(files, id_field="none")
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"id": ["a"], "text": ["some words"]})
    with pytest.raises(ValueError, match="invalid value 'txet' for `text_field`: expected a column of texts"):
        find(table, text_field="txet")
    with pytest.raises(ValueError, match="invalid value 'url' for `id_field`: expected a column"):
        find(table, id_field="url")
    find(table, id_field="none")


def test_documents_are_checked(tmp_path):
    for wrong in [7, None, "text", ["a", 7]]:
        with pytest.raises(TypeError):
            neardups.scan(wrong)
    with pytest.raises(ValueError, match="position 1"):
        neardups.scan(["a", "\ud800"])
    for find in (neardups.scan, neardups.keep, neardups.passages, neardups.contain):
        with pytest.raises(OSError, match=r"no document was read: .*missing\.jsonl: cannot read: No such file"):
            find(tmp_path / "missing.jsonl")
    (tmp_path / "broken.jsonl").write_text("{\n")
    with pytest.raises(ValueError, match=r"no document was read: .*broken\.jsonl:1: "):
        neardups.scan(tmp_path / "broken.jsonl")


def test_texts_without_a_run_are_reported():
    with pytest.warns(neardups.NeardupsWarning, match="2 documents have fewer than 13 words and no run: not compared$"):
        assert neardups.contain(["short one", "another short"], shingle=13) == []
    words = " ".join("abcdefghijklmn")
    with pytest.warns(neardups.NeardupsWarning, match="1 reference document has fewer than 13 words and no run: nothing matches it"):
        assert neardups.contain([words], against=["who?", words], preset="gpt-3", emit="kept") == []


def test_ids_that_repeat_come_with_places():
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"id": [1, 1], "text": ["a b c d e f", "a b c d e f g"]})
    with pytest.warns(neardups.NeardupsWarning, match="ids repeat"):
        pairs = neardups.contain(table, shingle=3, emit="pairs").to_pylist()
    assert [(pair["at"], pair["in_at"]) for pair in pairs] == [("row:0", "row:1"), ("row:1", "row:0")]
    with pytest.warns(neardups.NeardupsWarning, match="ids repeat"):
        contained = neardups.contain(table, shingle=3).to_pylist()
    assert [(found["at"], found["in_at"]) for found in contained] == [("row:0", "row:1"), ("row:1", "row:0")]
    with pytest.warns(neardups.NeardupsWarning, match="ids repeat"):
        passages = neardups.passages(table, min_words=5).to_pylist()
    assert [place["at"] for place in passages[0]["places"]] == ["row:0", "row:1"]
    with pytest.warns(neardups.NeardupsWarning, match="ids repeat"):
        spans = neardups.passages(table, min_words=5, emit="spans").to_pylist()
    assert [document["at"] for document in spans] == ["row:0", "row:1"]
    with pytest.warns(neardups.NeardupsWarning, match="ids repeat"):
        (shared,) = neardups.passages(table, min_words=5, emit="pairs").to_pylist()
    assert (shared["a_at"], shared["b_at"]) == ("row:0", "row:1")


def test_threads_on_one_index():
    texts, index = many(400), neardups.Index()
    added = []
    threads = [threading.Thread(target=lambda part=part: added.append(index.add(part))) for part in (texts[:200], texts[200:])]
    threads += [threading.Thread(target=lambda: index.query(texts[:50])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(added) == len(index) == 400


def test_an_index_on_disk(tmp_path):
    path = tmp_path / "seen.idx"
    with neardups.Index(path) as index:
        assert index.filter(["to be or not to be that is the question"])[0]["keep"]
        assert repr(index) == f"<neardups.Index in {str(path)!r}: 1 documents, minhash>"
        with pytest.raises(BlockingIOError):
            neardups.Index(path)
    with pytest.raises(ValueError, match="closed"):
        len(index)
    with neardups.Index(path) as index:
        [verdict] = index.query(["To be or not to be: that is the question"])
        assert 0 <= time.time() - verdict.pop("duplicate_of_time") < 600, "when the other one passed"
        assert verdict == {"id": 0, "keep": False, "duplicate_of": "0", "similarity": 1.0}
        [nearest] = index.query(["to be or not to be that is the question"], top=1)
        assert nearest["neighbours"][0]["similarity"] == 1.0
        assert index.add(["something else entirely"]) == 1 and index.remove(["1"]) == 1
        assert index.remove(["0"]) == 1 and len(index) == 0
        with pytest.warns(neardups.NeardupsWarning, match="'x'"):
            assert index.remove("x") == 0
    with pytest.raises(ValueError, match="algo|made with"):
        neardups.Index(path, algo="simhash")


@pytest.mark.parametrize(
    "options",
    [
        {"threshold": 0.6, "shingle": 3},
        {"recall": 0.9},
        {"preset": "fineweb"},
        {"exact": True, "shingle": 2},
        {"tokenizer": "char:5"},
        {"stopwords": "en", "stem": "en", "fold": "marks"},
        {"tokenizer": "code", "join_hyphens": True, "mask": ["numbers", "dates"]},
        {"content": "main"},
        {"algo": "simhash", "distance": 4, "weights": "tf"},
        {"algo": "projection", "projection_bits": 256},
        {"algo": "spotsigs", "spots": "set", "min_spots": 2},
        {"seed": 7},
    ],
)
def test_an_index_is_opened_with_what_it_was_made_with(tmp_path, options):
    path = tmp_path / "seen.idx"
    texts = ["It was the best of times, and it was a day for the worst of times", "Call me Ishmael: it is a name that the sea gave to me"]
    with neardups.Index(path, **options) as index:
        index.add(texts)
        expected = index.query(texts, top=2)
    for given in [{}, {"window": 100}, options, dict([next(iter(options.items()))])]:
        with neardups.Index(path, **given) as index:
            assert index.query(texts, top=2) == expected, given


def test_options_that_an_index_was_not_made_with_are_refused(tmp_path):
    path = tmp_path / "seen.idx"
    with neardups.Index(path, threshold=0.6, shingle=3) as index:
        index.add([A])
    for given, there, now in [
        ({"threshold": 0.7}, "threshold 0.6", "threshold 0.7"),
        ({"shingle": 5}, "shingle 3", "shingle 5"),
        ({"tokenizer": "char"}, "tokenizer word", "tokenizer char:4"),
        ({"algo": "simhash"}, "algo minhash", "algo simhash"),
        ({"threshold": 0.6, "recall": 0.5}, "bands ", "`recall` is not stored: give all options"),
        ({"preset": "fineweb"}, "shingle 3", "shingle 5"),
    ]:
        with pytest.raises(ValueError) as error:
            neardups.Index(path, **given)
        made, this = str(error.value).split(", and this run has ")
        assert there in made and now in this, error.value
    with pytest.raises(ValueError, match=r"distance.*\(options that are not given are those that .* was made with: "):
        neardups.Index(path, distance=3)
    # Nothing else is named than what was given.
    with pytest.raises(ValueError, match="made with threshold 0.6, and this run has threshold 0.7: "):
        neardups.Index(path, threshold=0.7)


def with_header(path, **changed):
    """Replaces rows of the header of an index without documents."""
    xxhash, content = pytest.importorskip("xxhash"), path.read_bytes()
    end = 20 + int.from_bytes(content[16:20], "little")
    header = json.dumps({**json.loads(content[20:end]), **changed}).encode()
    checked = header + bytes(32)
    path.write_bytes(content[:16] + len(header).to_bytes(4, "little") + checked + xxhash.xxh3_64_intdigest(checked).to_bytes(8, "little"))


@pytest.mark.parametrize(
    ("rows", "made"),
    [
        ({"tokenizer": "word, stopwords words"}, "made with tokenizer 'word, stopwords words', and this run has tokenizer word: "),
        ({"tokenizer": "word, stopwords ./words"}, "made with tokenizer 'word, stopwords ./words', and this run has tokenizer word: "),
        ({"tokenizer": "word, stopwords en,words"}, "made with tokenizer 'word, stopwords en,words', and this run has tokenizer word: "),
        ({"tokenizer": "word, temp-dir elsewhere"}, "made with tokenizer 'word, temp-dir elsewhere', and this run has tokenizer word: "),
        ({"temp dir": "elsewhere"}, "made with temp dir elsewhere, and this run has no temp dir: "),
        ({"threads": 64}, "made with threads 64, and this run has no threads: "),
        ({"nonsense": 1}, "made with nonsense 1, and this run has no nonsense: "),
    ],
)
def test_a_header_is_not_trusted(tmp_path, monkeypatch, rows, made):
    monkeypatch.chdir(tmp_path)
    # If it were read, the index would be of another list.
    (tmp_path / "words").write_text("the\n")
    path = tmp_path / "seen.idx"
    neardups.Index(path, threshold=0.6).close()
    with_header(path)
    neardups.Index(path).close()
    with_header(path, **rows)
    with pytest.raises(ValueError) as error:
        neardups.Index(path)
    assert made in str(error.value)


A, B, C, D = ("a b c d e f g h i j k", "one two three four five six seven", "in a hole in the ground there lived", "call me ishmael some years ago")


@pytest.fixture(params=["memory", "file"])
def reopened(request, tmp_path):
    """An index, and what it is after it was closed and opened again; in memory the same one."""

    class Reopened:
        def __init__(self, **options):
            self.options, self.path = options, tmp_path / "seen.idx" if request.param == "file" else None
            self.index = neardups.Index(self.path, **options)

        def again(self):
            if self.path is not None:
                self.index.close()
                self.index = neardups.Index(self.path, **self.options)
            return self.index

    return Reopened


def keeps(verdicts):
    return [verdict["keep"] for verdict in verdicts]


def found(index, text):
    """The id under which a text is remembered."""
    [verdict] = index.query([text])
    assert not verdict["keep"], verdict
    return verdict["duplicate_of"]


def test_texts_that_come_again_are_near_duplicates(reopened):
    seen = reopened()
    assert keeps(seen.index.filter([A, A, B])) == [True, False, True]
    assert keeps(seen.index.filter([B])) == [False]
    assert keeps(seen.again().filter([B, C, A, C])) == [False, True, False, False]
    assert [verdict["id"] for verdict in seen.again().filter([C, D])] == [0, 1]
    assert [found(seen.index, text) for text in (A, B, C, D)] == ["0", "1", "2", "3"]


def test_numbers_are_not_used_twice(reopened):
    words = [f"{number} is a number between {number - 1} and {number + 1}" for number in range(3000)]
    seen = reopened(window=5)
    for start in range(0, 3000, 500):
        assert seen.again().add(words[start : start + 500]) == 500
    assert [found(seen.index, text) for text in words[-5:]] == [str(number) for number in range(2995, 3000)]
    assert len(seen.index) == 5


def test_numbers_of_removed_documents(tmp_path):
    with neardups.Index(tmp_path / "seen.idx") as index:
        index.add([A, B, C])
        assert index.remove(["1", "2"]) == 2 and len(index) == 1
        assert keeps(index.filter([A, D])) == [False, True]
        assert found(index, D) == "3"
        assert keeps(index.filter([B])) == [True] and found(index, B) == "4"


def test_texts_that_are_added_again(reopened):
    seen = reopened()
    assert seen.index.add([A, A, B]) == 2
    assert seen.again().add([B]) == 0 and len(seen.index) == 2
    assert seen.index.add(["", "..."]) == 2, "nothing is known of texts without words"


@pytest.mark.parametrize("algo", ["simhash", "projection"])
def test_texts_are_added_once_with_each_algorithm(reopened, algo):
    texts = [f"the {a} is a {b} of the {c} and to the {d}" for a, b, c, d in zip(WORDS, WORDS[1:], WORDS[2:], WORDS[3:])]
    seen = reopened(algo=algo)
    assert seen.index.add(texts * 2) == len(texts) and seen.again().add(texts) == 0


def test_ids_that_are_null(reopened):
    pyarrow = pytest.importorskip("pyarrow")
    table = lambda ids, texts: pyarrow.table({"id": pyarrow.array(ids, pyarrow.string()), "text": texts})
    seen = reopened()
    first = seen.index.filter(table(["x", None, None], [A, B, B])).to_pylist()
    assert [(v["id"], v["keep"]) for v in first] == [("x", True), ("row:1", True), ("row:2", False)]
    second = seen.again().filter(table(["y", None, None], [C, B, D])).to_pylist()
    assert [(v["id"], v["keep"], v["duplicate_of"]) for v in second] == [("y", True, None), ("row:1", False, "row:0"), ("row:2", True, None)]
    assert [found(seen.index, text) for text in (A, B, C, D)] == ["x", "row:0", "y", "row:1"]


def test_ids_that_come_again_are_the_same_documents(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"id": [7, 8], "text": [A, A]})
    for again in range(2):
        with neardups.Index(tmp_path / "seen.idx") as index:
            verdicts = index.filter(table).to_pylist()
        assert [(v["id"], v["keep"]) for v in verdicts] == [(7, True), (8, False)], "as after a crash"


def test_numbers_come_after_the_ids_that_are_there(reopened):
    pyarrow = pytest.importorskip("pyarrow")
    seen = reopened()
    seen.index.add([A])
    seen.index.add(pyarrow.table({"id": [17], "text": [B]}))
    assert seen.again().add([C]) == 1 and found(seen.index, C) == "18"


def test_a_call_that_fails_remembers_nothing(reopened):
    texts = many(20)
    seen = reopened(max_docs=10)
    assert seen.index.add([A]) == 1
    for _ in range(2):
        with pytest.raises(MemoryError, match="at most 10 documents"):
            seen.index.filter(texts)
        assert len(seen.index) == 1
    expected = keeps(neardups.Index().filter(texts[:5]))
    assert keeps(seen.index.filter([A, *texts[:5]])) == [False, *expected]
    assert found(seen.again(), texts[0]) == "1", "numbers are not lost"


def test_a_call_that_fails_brings_the_window_back(reopened):
    texts, seen, expected = many(4000), reopened(window=20), neardups.Index(window=20)
    queries = lambda index: [verdict["keep"] for verdict in index.query(texts[:60])]
    for start in range(0, 60, 30):
        seen.index.add(texts[start : start + 30])
        expected.add(texts[start : start + 30])
        with warnings.catch_warnings():
            # The warning of the text that is missing is raised after all work is done. Tables have been replaced by then.
            warnings.simplefilter("error")
            with pytest.raises(neardups.NeardupsWarning):
                seen.index.add([*texts[100:], None])
        assert len(seen.index) == 20 and queries(seen.index) == queries(expected)
    assert queries(seen.again()) == queries(expected) and False in queries(expected)


def test_a_call_that_is_killed_while_it_is_appended_leaves_nothing(tmp_path):
    path, other = tmp_path / "seen.idx", tmp_path / "other.idx"
    with neardups.Index(path, seed=1) as index:
        index.add([A, B])
    before = path.read_bytes()
    with neardups.Index(path, seed=1) as index:
        index.add([C, D, *many(5)])
        count = len(index)
    after = path.read_bytes()
    assert count > 4 and after.startswith(before)
    found = set()
    for length in range(len(before), len(after) + 1):
        other.write_bytes(after[:length])
        with neardups.Index(other, seed=1) as index:
            found.add(len(index))
            if length % 100 == 0:
                assert index.add([D, C]) == (2 if len(index) == 4 else 0)
    assert found == {2, count}


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
@pytest.mark.parametrize("where", ["None", "sys.argv[1]"])
def test_control_c_of_a_filter_loses_no_document(tmp_path, where):
    program = (
        "import os, signal, sys, threading, time, neardups\n"
        f"index = neardups.Index({where}, threads=1)\n"
        "words = [f'word{i % 977}' for i in range(2000)]\n"
        "texts = [' '.join(words[i * 37 % 977 :][:300]) + str(i) for i in range(20000)]\n"
        "index.add(['to be or not to be that is the question'])\n"
        "stop = threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT))\n"
        "try:\n    stop.start(); index.filter(texts); print('too fast')\n"
        "except KeyboardInterrupt:\n    print('interrupted')\n"
        "print(len(index), sum(v['keep'] for v in index.filter(texts[:500])) == sum(v['keep'] for v in neardups.Index().filter(texts[:500])))\n"
    )
    ran = subprocess.run([sys.executable, "-c", program, tmp_path / "seen.idx"], capture_output=True, check=True, text=True)
    assert ran.stdout.splitlines() == ["interrupted", "1 True"], ran.stderr


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs a user without other processes")
def test_threads_that_cannot_be_started():
    program = (
        "import os, resource, neardups, neardups._input\n"
        "index = neardups.Index()\n"
        "os.setuid(54321)\n"
        "for limit in (1, 2):\n"
        "    resource.setrlimit(resource.RLIMIT_NPROC, (limit, 9))\n"
        "    try:\n        index.filter(['a b c d'])\n"
        "    except MemoryError as error:\n        print(error)\n"
        "resource.setrlimit(resource.RLIMIT_NPROC, (9, 9))\n"
        "print(index.filter(['a b c d'])[0]['keep'])\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    *errors, kept = ran.stdout.splitlines()
    assert len(errors) == 2 and all(error.startswith("cannot start threads: ") for error in errors) and kept == "True"


def test_messages_of_records_name_parameters():
    [verdict] = neardups.Index(max_record="10").query([A])
    assert verdict == {"id": 0, "keep": True, "error": "record longer than 10 bytes (allow more with `max_record`)"}


def test_other_threads_run_meanwhile():
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    started = time.monotonic()
    neardups.keep(many(3000))
    took = time.monotonic() - started
    done.set()
    thread.join()
    # The list is encoded with the lock held, which takes a small part of the time.
    longest = max(b - a for a, b in zip(ticks, ticks[1:]))
    assert longest < 0.5 * took, (longest, took)


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_control_c_ends_a_long_call(tmp_path):
    program = (
        "import sys, neardups\n"
        "words = [f'word{i % 977}' for i in range(2000)]\n"
        "texts = [' '.join(words[i % 500:]) + str(i) for i in range(20000)]\n"
        "print('ready', flush=True)\n"
        "try:\n    neardups.scan(texts)\n"
        "except KeyboardInterrupt:\n    print('interrupted', flush=True)\n"
    )
    run = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert run.stdout.readline() == b"ready\n"
    time.sleep(0.7)
    assert run.poll() is None, "it works"
    started = spent(run)
    run.send_signal(signal.SIGINT)
    assert run.stdout.readline() == b"interrupted\n"
    assert spent(run) - started < 2
    run.wait(60)


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_control_c_ends_the_command():
    run = subprocess.Popen(["dedup", "scan", "-", "--format", "lines"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(1)
    run.send_signal(signal.SIGINT)
    assert run.wait(10) in (130, -signal.SIGINT)
    run.stdin.close()


def test_progress(capsys):
    texts = many(3000)
    neardups.keep(texts, progress=False)
    neardups.keep(texts)
    assert capsys.readouterr().err == "", "no terminal"
    neardups.keep(texts, progress=True)
    assert "neardups: starting" in capsys.readouterr().err


def test_an_error_of_the_progress_bar_ends_the_run(monkeypatch):
    from neardups import _input

    def fail(_, line):
        if "starting" not in line:
            raise RuntimeError("no display")

    monkeypatch.setattr(_input.Progress, "_show", fail)
    with pytest.raises(RuntimeError, match="no display"):
        neardups.keep(many(20_000), hashes=1024, threads=1, progress=True)


def test_examples():
    failed, tried = doctest.testmod(neardups, optionflags=doctest.ELLIPSIS)
    assert failed == 0 and tried > 15


def test_examples_of_the_guide():
    guide = (ROOT / "src" / "guide" / "python.md").read_text(encoding="utf-8")
    parser, failures, tried = doctest.DocTestParser(), 0, 0
    blocks = guide.split("```python\n")[1:]
    code = "\n".join(block.split("```")[0] for block in blocks)
    test = parser.get_doctest(code, {}, "python.md", "python.md", 0)
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)
    failures, tried = result.failed, result.attempted
    assert failures == 0 and tried > 5


def test_importing_takes_little():
    # Of the processor, because other processes may run.
    program = (
        "import sys, time; t = time.process_time(); import neardups; print(time.process_time() - t);"
        "assert 'pyarrow' not in sys.modules"
    )
    times = [float(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout) for _ in range(5)]
    assert min(times) < 0.05, times


def test_every_public_name_is_documented():
    for name in neardups.__all__:
        assert name.startswith("__") or getattr(neardups, name).__doc__, name
    assert pathlib.Path(neardups.__file__).with_name("py.typed").exists()


def test_a_panic_is_an_exception(capfd):
    from neardups import _native

    with pytest.raises(RuntimeError, match="neardups panicked, which is a defect of it: 17 is no number"):
        _native.panic("17 is no number")
    assert "17 is no number" in capfd.readouterr().err
    assert len(neardups.keep(["a b c", "a b c"])) == 1, "the interpreter goes on"


def test_files_that_are_missing_have_the_exception_of_python(tmp_path):
    for call in (
        lambda: neardups.Index(tmp_path / "no" / "x"),
        lambda: neardups.scan(tmp_path, against=tmp_path, lexicon=tmp_path / "no", algo="imatch"),
    ):
        with pytest.raises(FileNotFoundError) as raised:
            call()
        assert raised.value.errno == 2 and "no" in str(raised.value)


@pytest.mark.parametrize("options", [{}, {"on_error": "fail"}])
def test_documents_that_are_missing_have_the_exception_of_python(tmp_path, options):
    missing, file = tmp_path / "nope", tmp_path / "a.jsonl"
    file.write_text('{"text":"a b c d e"}\n')
    whole = {"emit": "verdicts", **options}
    calls = [
        lambda: neardups.scan(missing, **options),
        lambda: neardups.keep([missing, tmp_path / "nor this"], **options),
        lambda: neardups.scan(file, against=missing, **options),
        lambda: neardups.contain([file, missing], on_error="fail", emit="kept"),
        lambda: neardups.passages(file, against=missing, **whole),
        lambda: neardups.contain(missing, **whole),
    ]
    for call in calls:
        with pytest.raises(FileNotFoundError) as raised:
            call()
        assert raised.value.errno == 2 and "nope: cannot" in str(raised.value)
    file.write_text("{")
    with pytest.raises((OSError, ValueError)) as raised:
        neardups.scan([file, missing], on_error="fail")
    assert getattr(raised.value, "errno", None) is None, "another record failed too"


def test_messages_have_the_names_of_python_in_each_process():
    program = (
        "import neardups, warnings\n"
        "warnings.simplefilter('ignore')\n"
        "options = {'min_words': 8, 'emit': 'verdicts'}\n"
        "neardups.passages(['a b c d e f g h'], against=['u v w x y z', 'a b c d e f g h'], **options)\n"
        "try:\n    neardups.passages(['a b c'], against=['who?'], **options)\n"
        "except ValueError as error:\n    print(error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert "`min_words`" in ran.stdout and "`allow_empty`" in ran.stdout and "-" not in ran.stdout, ran.stdout


def test_times_of_files_do_not_rank_what_is_in_memory():
    for keep in ("newest", "oldest", "newest,longest"):
        for documents in (["a b c", "a b c"], [{"text": "a b c", "n": 1}]):
            with pytest.raises(ValueError, match=f"^invalid value '{keep}' for `keep`: .* the times of files"):
                neardups.keep(documents, keep)
    pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match="in the field 'scor' .fields here: text, score"):
        neardups.keep([{"text": "a b c", "score": 1}], "max:scor")


def test_ids_that_are_bytes_are_not_removed(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    with neardups.Index(tmp_path / "seen.idx") as index:
        index.add(pyarrow.table({"id": [49, 50, 12], "text": [A, B, C]}))
        for ids in (b"12", bytearray(b"12"), memoryview(b"12"), {49: "a"}, pyarrow.table({"49": [1]})):
            with pytest.raises(TypeError, match="^`ids` must be strings or integers, not "):
                index.remove(ids)
        assert len(index) == 3
    with pytest.raises(TypeError, match="^documents cannot be of type bytes: "):
        neardups.keep(b"abc")


def test_places_in_a_reference_are_marked():
    text = "we hold these truths to be self evident that all men are created equal"
    questions = [text + " says question zero", text + " says question one"]
    pages = ["nothing of it stands in this one here", "nor in this other one, which is new", "as in: " + text]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        [passage] = neardups.passages(pages, against=questions, min_words=8, exact=True)
        pairs = neardups.passages(pages, against=questions, min_words=8, exact=True, emit="pairs")
        [spans] = neardups.passages(pages, against=questions, min_words=8, exact=True, emit="spans")
    places = [(place["id"], place.get("reference")) for place in passage["places"]]
    assert places == [(0, True), (1, True), (2, None)]
    assert [(pair["a"], pair["b"]) for pair in pairs] == [(0, 2)]
    assert (spans["id"], spans["spans"]) == (2, [[7, 7 + len(text)]])
