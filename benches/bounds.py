#!/usr/bin/env python3
"""What `--memory` promises, on inputs that are hard for it: peak memory of whole runs, as a table in Markdown.

    cargo build --release
    python3 benches/bounds.py FOLDER [--dedup target/release/dedup] [--inputs NAME ...] [--runs NAME ...]

The promise: the resident memory of the process is never more than --memory, 100 MB, four times the largest record, and 70 bytes a
document. A run that cannot keep it ends with an error of kind `memory`. Each cell is the peak in MiB, with what is allowed behind the
stroke; E is a run that ended with such an error, R an input that was refused, T a run that was ended after ten minutes, W a run whose
status was not expected. OVER is a broken promise, and makes the status of this program 1.

inputs:
    records     12 lines of 30 MB, every two alike; --memory 64M
    tokens      4 lines of 60 MB, each one word; --memory 64M
    window      zstd with a window of 128 MiB, 200 MB of lines; --memory 256M
    wide        zstd with a window of 2 GiB, which is refused; --memory 64M
    threads     100,000 passages, 64 threads; --memory 32M
    runs        60,000 documents of 76 words, every two with 16 words in common, 64 threads; --memory 1M
    period      a document of 700,000 words, all the same, 16 threads; --memory 1M
    coins       a document of 700,000 words, each one of two at random, 16 threads; --memory 1M
    short       10,000,000 lines of some 60 bytes; --memory 1G
    template    100,000 pages of one template, 620 words each, Jaccard similarity .797; --memory 64M
    alike       5,000 pages of one template that are all near-duplicates, 12,497,500 pairs; --memory 64M

Needs Python 3.9, the program `zstd`, Linux, and 6 GB in FOLDER, which is kept for the next time. The whole takes about an hour on two cores.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
MIB = 1 << 20


# Inputs: a file, and what the promise needs to know about it.


def words(number, count):
    """Words of eleven hexadecimal digits, which all differ."""
    return (f"{(i + (number << 40)) * 0x9E3779B97F4A7C15 % (1 << 64) >> 20:011x}" for i in range(count))


def records(to):
    for number in range(12):
        to.write(f'{{"id":"r{number}","text":"' + " ".join(words(number // 2, 30_000_000 // 12)) + '"}\n')
    return 12


def tokens(to):
    for number in range(4):
        to.write(f'{{"id":"t{number}","text":"' + "x" * 60_000_000 + f'{number // 2}"}}\n')
    return 4


def lines_of_window(to):
    for number in range(20_000):
        to.write(f'{{"id":"w{number}","text":"' + " ".join(words(number // 2, 833)) + '"}\n')
    return 20_000


def corpus(kind, count):
    def write(to):
        subprocess.run([sys.executable, HERE / "corpus.py", kind, str(count)], stdout=to, check=True)
        return count

    return write


def in_pairs(to):
    for number in range(60_000):
        shared = "".join(f"the {word} " for word in words(number // 2, 8))
        own = " ".join(words(number + (1 << 20), 60))
        to.write(f'{{"id":"d{number}","text":"{shared}{own}"}}\n')
    return 60_000


def period(to):
    to.write('{"id":"d0","text":"' + "a " * 700_000 + '"}\n')
    return 1


def coins(to):
    rng = random.Random(5)
    to.write('{"id":"d0","text":"' + " ".join(rng.choice("ab") for _ in range(700_000)) + '"}\n')
    return 1


def pages(count, common, own):
    def write(to):
        rng, frame = random.Random(3), " ".join(f"c{i}" for i in range(common))
        for number in range(count):
            text = frame + "".join(f" w{rng.randrange(10**9)}" for _ in range(own))
            to.write(f'{{"id":"t{number}","text":"{text}"}}\n')
        return count

    return write


#: A run that takes longer is ended.
MOST_SECONDS = 600

#: Name: what writes it, --memory in MiB, options, options of zstd.
INPUTS = {
    "records": (records, 64, ["--max-record", "1G"], None),
    "tokens": (tokens, 64, ["--max-record", "1G"], None),
    "window": (lines_of_window, 256, [], ["--long=27", "-3"]),
    "wide": (lines_of_window, 64, [], ["--ultra", "--long=31", "-3"]),
    "threads": (corpus("passages", 100_000), 32, ["--threads", "64"], None),
    "runs": (in_pairs, 1, ["--threads", "64"], None),
    "period": (period, 1, ["--threads", "16"], None),
    "coins": (coins, 1, ["--threads", "16"], None),
    "short": (corpus("short", 10_000_000), 1024, [], None),
    "template": (pages(100_000, 550, 70), 64, [], None),
    "alike": (pages(5_000, 300, 2), 64, [], None),
}


def made(name, folder):
    """The file of an input, with its number of documents and the length of its longest record."""
    write, _, _, pack = INPUTS[name]
    file = folder / (f"{name}.jsonl.zst" if pack else f"{name}.jsonl")
    facts = folder / f"{name}.facts.json"
    if not facts.exists():
        plain = folder / f"{name}.plain"
        with open(plain, "w", encoding="utf-8") as to:
            count = write(to)
        with open(plain, "rb") as lines:
            longest = max(map(len, lines))
        if pack:
            # With the length of the content in the frame, zstd takes no larger window than it needs: so it reads a pipe.
            with open(plain, "rb") as content, open(file, "wb") as to:
                packing = subprocess.Popen(["zstd", "-q", "-T1", *pack, "-c"], stdin=subprocess.PIPE, stdout=to)
                shutil.copyfileobj(content, packing.stdin)
                packing.stdin.close()
                assert packing.wait() == 0
            plain.unlink()
        else:
            plain.rename(file)
        facts.write_text(json.dumps([count, longest]))
    return file, *json.loads(facts.read_text())


# Runs: arguments, with {file}, {folder} for output, {index} for a new index, {made} for one that has all documents.

MINHASH = ["scan {file} --emit pairs", "scan {file} --emit verdicts", "scan {file} --emit clusters", "scan {file} --emit kept"]
RUNS = {
    **{run.replace("{file} --emit ", ""): run for run in MINHASH},
    "scan fingerprints": "scan {file} --emit fingerprints",
    "scan hosts": "scan {file} --emit hosts",
    "exact pairs": "scan {file} --exact",
    "exact verdicts": "scan {file} --exact --emit verdicts",
    "simhash verdicts": "scan {file} --algo simhash --force --emit verdicts",
    "projection verdicts": "scan {file} --algo projection --emit verdicts",
    "spotsigs verdicts": "scan {file} --algo spotsigs --emit verdicts",
    "imatch verdicts": "scan {file} --algo imatch --emit verdicts",
    "drop-common verdicts": "scan {file} --drop-common 0.1 --emit verdicts",
    "char:5 verdicts": "scan {file} --tokenizer char:5 --emit verdicts",
    "filter": "filter < {file}",
    "filter --index": "filter --index {index} < {file}",
    "index add": "index add {index} < {file}",
    "index query": "index query {made} < {file}",
    "clean": "clean {file} --output {folder}",
    "eval": "eval --truth {truth} {file}",
    "plan": "plan {file}",
    "passages": "passages {file} --exact",
    "passages, edits": "passages {file}",
    "passages of 5": "passages {file} --exact --min-words 5",
    "spans of 5": "passages {file} --exact --min-words 5 --emit spans",
    "kept of 5": "passages {file} --exact --min-words 5 --emit kept",
    "passages of 5, edits": "passages {file} --min-words 5",
    "contain": "contain {file}",
    "lexicon build": "lexicon build {file}",
}


def peak_of(command, stdin):
    """The status of a process, its largest resident memory in bytes, the seconds it took, and what it reported."""
    with open(os.devnull, "wb") as nothing, open(stdin or os.devnull, "rb") as given:
        before = os.times()
        process = subprocess.Popen(command, stdin=given, stdout=nothing, stderr=subprocess.PIPE)
        timer = threading.Timer(MOST_SECONDS, process.terminate)
        timer.start()
        messages = process.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_maxrss << 10, os.times().elapsed - before.elapsed, messages


def cell(run, name, folder, dedup):
    file, documents, longest = made(name, folder)
    _, mib, more, _ = INPUTS[name]
    scratch = folder / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    truth = scratch / "truth.jsonl"
    prefix = {"records": "r", "tokens": "t", "window": "w", "wide": "w", "template": "t", "alike": "t"}.get(name, "")
    truth.write_text(f'{{"a":"{prefix}0","b":"{prefix}1"}}\n')
    text, _, stdin = RUNS[run].partition(" < ")
    arguments = [
        part.format(file=file, folder=scratch / "out", index=scratch / "new.idx", made=scratch / "made.idx", truth=truth)
        for part in text.split()
    ]
    limits = ["--memory", f"{mib}M", *more]
    if run == "index query":
        # Whatever fits: what is asked is measured, and not how it was made.
        some = scratch / "some.jsonl"
        with open(some, "wb") as to:
            # By processes of their own: long lines would make this one larger.
            reading = subprocess.Popen(["zstd", "-dcf", "--long=31", file], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            subprocess.run(["head", "-n", "200000"], stdin=reading.stdout, stdout=to, check=True)
            reading.kill()
            reading.wait()
            reading.stdout.close()
        peak_of([dedup, "index", "add", str(scratch / "made.idx"), "-q", "--max-record", "1G"], some)
    status, peak, seconds, messages = peak_of(
        [dedup, *arguments, *limits, "-q"], file if stdin else None
    )
    allowed = mib * MIB + 100_000_000 + 4 * longest + 70 * documents
    if peak > allowed:
        mark = " OVER"
    elif seconds >= MOST_SECONDS:
        mark = " T"
    elif status == 2 and "error: memory:" in messages:
        mark = " E"
    elif status in (2, 3) and "needs a window of" in messages:
        mark = " R"
    elif status in (0, 3):
        mark = ""
    else:
        mark = " W"
    print(f"{run}, {name}: {peak / MIB:.0f}/{allowed / MIB:.0f}{mark}, status {status}, {seconds:.1f} s", file=sys.stderr, flush=True)
    if mark == " W":
        print(messages[:600], file=sys.stderr, flush=True)
    shutil.rmtree(scratch)
    return f"{peak / MIB:.0f} / {allowed / MIB:.0f}{mark}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="where inputs are kept")
    parser.add_argument("--dedup", default=str(HERE.parent / "target/release/dedup"), help="the program")
    parser.add_argument("--inputs", nargs="+", choices=INPUTS, default=list(INPUTS), help="these inputs only")
    parser.add_argument("--runs", nargs="+", choices=RUNS, default=list(RUNS), help="these runs only")
    parser.add_argument("--make", action="store_true", help="make the inputs, and measure nothing")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.make:
        for name in options.inputs:
            made(name, options.folder)
        return
    # By a process of its own: a child is never measured as smaller than its parent was.
    subprocess.run([sys.executable, __file__, options.folder, "--make", "--inputs", *options.inputs], check=True)
    rows = {run: [cell(run, name, options.folder, options.dedup) for name in options.inputs] for run in options.runs}
    print("| run | " + " | ".join(options.inputs) + " |")
    print("|---|" + "---|" * len(options.inputs))
    for run, cells in rows.items():
        print(f"| {run} | " + " | ".join(cells) + " |")
    sys.exit(any("OVER" in one for cells in rows.values() for one in cells))


if __name__ == "__main__":
    main()
