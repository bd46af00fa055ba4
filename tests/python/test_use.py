"""Errors, warnings, threads, signals, progress, documentation."""

import doctest
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import ROOT, dedup

import neardups

WORDS = "the quick brown fox jumps over the lazy dog near the bank of a river in spring".split()


def many(count):
    return [" ".join(WORDS[(i * 7 + j * (i % 13 + 1)) % len(WORDS)] + str(i % 50) for j in range(60)) for i in range(count)]


def test_the_command_of_the_wheel():
    assert dedup("--version").decode().split() == ["dedup", neardups.__version__]
    dedup("scan", "--bogus", status=2)


def refusal(error, **options):
    with pytest.raises(error) as raised:
        neardups.scan(["a"], **options)
    return str(raised.value)


def test_names_and_values_are_checked():
    assert refusal(TypeError, treshold=0.8) == "unexpected keyword argument 'treshold': did you mean 'threshold'?"
    assert "did you mean" not in refusal(TypeError, xyzzyplugh=1)
    assert "'quiet'" in refusal(TypeError, quiet=True)
    assert "invalid value '2' for `threshold`: expected a number above 0" in refusal(ValueError, threshold=2)
    assert "`text_field`" not in refusal(TypeError, text_field="a"), "a list has no fields"
    assert refusal(TypeError, threshold=True) == "`threshold` must be a string or a number"
    assert refusal(TypeError, exact=1) == "`exact` must be True or False"
    assert refusal(TypeError, threshold={}).startswith("`threshold` must be a string, a number")
    assert "`distance` is not used by minhash" in refusal(ValueError, distance=3)
    assert "invalid value 'ngram' for `tokenizer`" in refusal(ValueError, tokenizer="ngram")
    assert "`keep` has no effect on pairs" in refusal(ValueError, keep="last")
    assert refusal(TypeError, progress=1) == "`progress` must be True, False or None"


def test_columns_are_checked():
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"body": ["a"], "n": [1]})
    with pytest.raises(ValueError, match="invalid value 'text' for `text_field`: expected a column of texts .columns here: body, n"):
        neardups.scan(table)
    with pytest.raises(ValueError, match="is of type Int64"):
        neardups.scan(table, text_field="n")
    with pytest.raises(ValueError, match="invalid value 'url' for `id_field`: expected a column"):
        neardups.scan(table, text_field="body", id_field="url")


def test_documents_are_checked(tmp_path):
    for wrong in [7, None, "text", ["a", 7]]:
        with pytest.raises(TypeError):
            neardups.scan(wrong)
    with pytest.raises(ValueError, match="position 1"):
        neardups.scan(["a", "\ud800"])
    with pytest.raises((OSError, ValueError), match="no document was read"):
        neardups.scan(tmp_path / "missing.jsonl")


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
        assert verdict == {"id": 0, "keep": False, "duplicate_of": "0", "similarity": 1.0}
        [nearest] = index.query(["to be or not to be that is the question"], top=1)
        assert nearest["neighbours"][0]["similarity"] == 1.0
        assert index.add(["something else entirely"]) == 1 and index.remove(["1"]) == 1
        assert index.remove(["0"]) == 1 and len(index) == 0
        with pytest.warns(neardups.NeardupsWarning, match="'x'"):
            assert index.remove("x") == 0
    with pytest.raises(ValueError, match="algo|made with"):
        neardups.Index(path, algo="simhash")


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
    started = time.monotonic()
    run.send_signal(signal.SIGINT)
    assert run.stdout.readline() == b"interrupted\n"
    assert time.monotonic() - started < 2
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
