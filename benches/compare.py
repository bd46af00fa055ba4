#!/usr/bin/env python3
"""dedup next to other tools that find near-duplicates: time, memory, recall and precision of whole runs, as tables in Markdown.

    python3 benches/compare.py [FOLDER] [--documents N] [--repeat R] [--only NAME ...]
    python3 benches/compare.py [FOLDER] --growth [--huge]

Needs Python 3.9, cargo, and a way to PyPI; nothing else. It makes the corpus (benches/corpus.py, the same bytes every time), builds
dedup, and installs each other tool in a virtual environment of its own. What cannot be installed is said and left out. Everything is
kept in FOLDER for the next time, or in a temporary folder that is removed.

What is asked of all: pairs of documents whose sets of 5 consecutive words have a Jaccard similarity of at least 0.8. The corpus is ASCII
words with a space between them, so that all have the same words. The others have 128 permutations in 16 bands of 8 and keep the candidates
whose signatures agree in 0.8 of the slots, as their users do. dedup has its defaults, which compare candidates exactly.

Answers come first: every tool runs once, its pairs are compared with those of `dedup scan --exact`, and those, on a sample, with what
brute force finds here. Then all are run in turn, so that what else the machine does meets them alike. A run is a whole process: wall
time, processor time of all its threads, and the largest resident memory, which is never measured as less than that of this script
(some 20 MB).

--growth runs dedup alone on corpora of 10^4 to 10^6 documents (with --huge 10^7), and on such as are hard for joins.
"""

import argparse
import collections
import contextlib
import datetime
import itertools
import json
import os
import pathlib
import platform
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
WIDTH, THRESHOLD, PERMUTATIONS, BANDS, ROWS = 5, 0.8, 128, 16, 8


# The other tools. Each function runs in the environment of its tool, reads a corpus and gives (id, id) pairs.


def documents(corpus):
    with open(corpus, encoding="utf-8") as lines:
        for line in lines:
            document = json.loads(line)
            yield document["id"], document["text"]


def shingles(text):
    words = re.findall(r"\w+", text.lower())
    return [" ".join(words[i : i + WIDTH]) for i in range(max(1, len(words) - WIDTH + 1))]


def datasketch(corpus):
    from datasketch import MinHash, MinHashLSH

    index, ids, signatures = MinHashLSH(num_perm=PERMUTATIONS, params=(BANDS, ROWS)), [], []
    for name, text in documents(corpus):
        signature = MinHash(num_perm=PERMUTATIONS)
        signature.update_batch([shingle.encode() for shingle in shingles(text)])
        index.insert(len(ids), signature, check_duplication=False)
        ids.append(name)
        signatures.append(signature)
    for i, signature in enumerate(signatures):
        for j in index.query(signature):
            if i < j and signature.jaccard(signatures[j]) >= THRESHOLD:
                yield ids[i], ids[j]


def rensa(corpus):
    from rensa import RMinHash, RMinHashLSH

    ids, signatures, source = [], [], documents(corpus)
    while batch := list(itertools.islice(source, 5000)):
        ids += [name for name, _ in batch]
        signatures += RMinHash.from_token_sets([shingles(text) for _, text in batch], num_perm=PERMUTATIONS, seed=42)
    index = RMinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS, num_bands=BANDS)
    index.insert_many(signatures, 0)
    for start in range(0, len(ids), 5000):
        for i, found in enumerate(index.query_all(signatures[start : start + 5000]), start):
            for j in found:
                if i < j and signatures[i].jaccard(signatures[j]) >= THRESHOLD:
                    yield ids[i], ids[j]


def gaoya(corpus):
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(
        hash_size=32, jaccard_threshold=THRESHOLD, num_bands=BANDS, band_size=ROWS,
        analyzer="word", lowercase=True, ngram_range=(WIDTH, WIDTH),
    )
    ids, texts = zip(*documents(corpus))
    index.par_bulk_insert_docs(list(range(len(ids))), list(texts))
    for i, found in enumerate(index.par_bulk_query(list(texts))):
        for j in found:
            if i < j:
                yield ids[i], ids[j]


def daft(corpus):
    """It makes signatures; what users write themselves is the banding, here with numpy."""
    import daft
    import numpy

    text = daft.col("text")
    text = text.normalize(lowercase=True) if hasattr(text, "normalize") else text.str.normalize(lowercase=True)
    frame = daft.read_json(corpus).select("id", text.minhash(num_hashes=PERMUTATIONS, ngram_size=WIDTH).alias("minima"))
    table = frame.collect().to_arrow()
    ids = table.column("id").to_pylist()
    minima = table.column("minima").combine_chunks()
    minima = minima.values if hasattr(minima, "values") else minima.flatten()
    minima = minima.to_numpy(zero_copy_only=False).reshape(len(ids), PERMUTATIONS)
    candidates = set()
    for band in range(BANDS):
        keys = numpy.zeros(len(ids), numpy.uint64)
        for column in minima[:, band * ROWS : (band + 1) * ROWS].T:
            keys = (keys ^ column) * numpy.uint64(0x9E3779B97F4A7C15)
        order = numpy.argsort(keys, kind="stable")
        ends = numpy.flatnonzero(numpy.diff(keys[order])) + 1
        starts, ends = numpy.append(0, ends), numpy.append(ends, len(ids))
        for run in numpy.flatnonzero(ends - starts > 1):
            candidates.update(itertools.combinations(sorted(order[starts[run] : ends[run]].tolist()), 2))
    for i, j in candidates:
        if (minima[i] == minima[j]).mean() >= THRESHOLD:
            yield ids[i], ids[j]


PEERS = {  # the packages, the first of which is the tool; what runs it
    "datasketch": (["datasketch"], datasketch),
    "rensa": (["rensa"], rensa),
    "gaoya": (["gaoya"], gaoya),
    "daft": (["daft", "numpy", "pyarrow"], daft),
}


# Running and measuring.


def say(text):
    print(text, file=sys.stderr, flush=True)


def measured(command, out=os.devnull):
    """Wall seconds, processor seconds and megabytes of a command; what it prints goes to a file."""
    with open(out, "wb") as stdout, tempfile.TemporaryFile() as stderr:
        begin = time.perf_counter()
        child = subprocess.Popen(list(map(str, command)), stdout=stdout, stderr=stderr, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - begin
        child.returncode = status
        if status != 0:
            stderr.seek(0)
            raise RuntimeError(stderr.read().decode(errors="replace").strip()[-500:] or f"status {status}")
    unit = 1 if sys.platform == "darwin" else 1024
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e6


def make_corpus(folder, kind, size):
    corpus = folder / f"{kind}-{size}.jsonl"
    if not corpus.exists():
        say(f"making {corpus.name}")
        part = corpus.with_suffix(".part")
        measured([sys.executable, HERE / "corpus.py", kind, size], part)
        part.rename(corpus)
    return corpus


def build():
    say("building dedup")
    manifest = HERE.parent / "Cargo.toml"
    subprocess.run(["cargo", "build", "--release", "--quiet", "--manifest-path", manifest], check=True)
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1", "--manifest-path", manifest]
    target = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["target_directory"]
    return pathlib.Path(target, "release", "dedup.exe" if os.name == "nt" else "dedup")


def install(folder, name):
    """The python of an environment that has the tool, and its version; or None."""
    packages, _ = PEERS[name]
    environment = folder / f"venv-{name}"
    python = environment / "bin" / "python"
    try:
        if not python.exists():
            say(f"installing {name}")
            subprocess.run([sys.executable, "-m", "venv", environment], check=True, stdout=sys.stderr)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
        subprocess.run(pip, check=True, stdout=sys.stderr)
        version = f"import importlib.metadata as m; print(m.version({packages[0]!r}))"
        return python, subprocess.run([python, "-c", version], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        say(f"{name} is left out: it could not be installed")
        return None


# Judging answers. This runs in a process of its own: a large process would show in the memory of those that it starts.


def pairs_in(path):
    """Pairs of ids, from JSON lines or from lines of two."""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("{"):
                record = json.loads(line)
                a, b = record["a"], record["b"]
            else:
                a, b = line.split()
            yield (a, b) if a < b else (b, a)


def check_by_force(corpus, exact, sampled=2000):
    """Compares each document of a sample with every document, by counting the shingles that they share."""
    texts = dict(documents(corpus))
    sample = {name: set(shingles(texts[name])) for name in random.Random(1).sample(sorted(texts), min(len(texts), sampled))}
    holders = collections.defaultdict(list)
    for name, own in sample.items():
        for shingle in own:
            holders[shingle].append(name)
    found = set()
    for name, text in texts.items():
        own = set(shingles(text))
        for other, shared in collections.Counter(o for shingle in own for o in holders.get(shingle, ())).items():
            # 0.8 in whole numbers.
            if name != other and 5 * shared >= 4 * (len(own) + len(sample[other]) - shared):
                found.add(tuple(sorted((name, other))))
    expected = {pair for pair in exact if pair[0] in sample or pair[1] in sample}
    if found != expected:
        raise SystemExit(f"--exact is wrong: {len(found)} pairs by brute force, {len(expected)} by --exact")
    return f"{len(found):,} pairs of {len(sample):,} sampled documents, the same by brute force"


def judge(corpus, exact, others):
    exact = set(pairs_in(exact))
    answers = {"checked": check_by_force(corpus, exact)}
    for path in others:
        pairs = list(pairs_in(path))
        own = set(pairs)
        if len(own) != len(pairs):
            raise SystemExit(f"{path}: a pair is there twice")
        right = len(own & exact)
        answers[path] = [len(own), right / max(1, len(exact)), right / max(1, len(own))]
    json.dump(answers, sys.stdout)


# Tables.


def output_of(*command):
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        return subprocess.run(command, cwd=HERE, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    return "unknown"


def where():
    model = platform.processor() or platform.machine()
    with contextlib.suppress(OSError, AttributeError):
        model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())[1]
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    changed = " and changes" if output_of("git", "status", "--porcelain", "--", "../src", "../Cargo.lock") else ""
    return (
        f"{datetime.date.today()}, commit {output_of('git', 'rev-parse', '--short', 'HEAD')}{changed}, {output_of('rustc', '--version')}, "
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores of {model}, "
        f"load {load} at the beginning."
    )


def compare(folder, options):
    head = where()
    corpus = make_corpus(folder, "passages", options.documents)
    dedup = build()
    scan = [dedup, "scan", corpus, "--shingle", WIDTH, "--threshold", THRESHOLD]
    tools = {"**dedup scan**": scan, "**dedup scan --exact**": [*scan, "--exact"]}
    for name in options.only or PEERS:
        installed = install(folder, name)
        if installed:
            tools[f"{name} {installed[1]}"] = [installed[0], __file__, "--peer", name, corpus]

    runs, answers = {}, {}
    for number, (name, command) in enumerate(tools.items()):
        say(f"{name}: the answer")
        answer = folder / f"answer-{number}"
        try:
            measured(command, answer)
        except RuntimeError as error:
            say(f"{name} is left out: {error}")
            continue
        answers[name], runs[name] = str(answer), []
    exact = answers["**dedup scan --exact**"]
    judging = [sys.executable, __file__, "--judge", corpus, exact, *answers.values()]
    judged = json.loads(subprocess.run(list(map(str, judging)), check=True, stdout=subprocess.PIPE).stdout)
    for repetition in range(options.repeat):
        for name in runs:
            say(f"{name}: run {repetition + 1}")
            again = folder / "answer-again"
            runs[name].append(measured(tools[name], again))
            if tools[name][0] == dedup and again.read_bytes() != pathlib.Path(answers[name]).read_bytes():
                raise SystemExit(f"{name}: two runs, two answers")

    print(f"{head}\n")
    print(f"`{corpus.name}`: {options.documents:,} documents, {corpus.stat().st_size:,} bytes. `--exact`: {judged['checked']}.\n")
    print("| tool | wall s | CPU s | memory MB | pairs | recall | precision |\n|---|---|---|---|---|---|---|")
    for name, measures in sorted(runs.items(), key=lambda run: min(run[1])):
        pairs, recall, precision = judged[answers[name]]
        walls = ", ".join(f"{wall:.2f}" for wall, _, _ in measures)
        cpu, memory = min(cpu for _, cpu, _ in measures), max(memory for _, _, memory in measures)
        print(f"| {name} | {walls} | {cpu:.2f} | {memory:,.0f} | {pairs:,} | {recall:.4f} | {precision:.4f} |")


def growth(folder, options):
    head = where()
    dedup = build()
    more = 10 if options.huge else 1
    corpora = [("passages", 10**exponent) for exponent in range(4, 8 if options.huge else 7)]
    corpora += [("copies", 10**6), ("boilerplate", 10**6), ("short", 10**6 * more), ("giant", 10**8 * more)]
    # A million copies are five hundred thousand million pairs.
    options_of = {"copies": ["--emit", "clusters"], "giant": ["--max-record", "1G"]}
    given = ", ".join(f"{kind} `{' '.join(own)}`" for kind, own in options_of.items())
    print(f"{head}\n\n`dedup scan FILE` ({given}): one run to warm up, then {options.repeat}.\n")
    print("| corpus | documents | bytes | wall s | CPU s | memory MB | pairs |\n|---|---|---|---|---|---|---|")
    for kind, size in corpora:
        corpus = make_corpus(folder, kind, size)
        say(corpus.name)
        stats = folder / "stats.json"
        command = [dedup, "scan", corpus, "--stats", stats, *options_of.get(kind, [])]
        measures = [measured(command) for _ in range(1 + options.repeat)][1:]
        counts = json.loads(stats.read_text())["counts"]
        walls = ", ".join(f"{wall:.2f}" for wall, _, _ in measures)
        cpu, memory = min(cpu for _, cpu, _ in measures), max(memory for _, _, memory in measures)
        sizes = f"{counts['documents']:,} | {corpus.stat().st_size:,}"
        print(f"| {kind} | {sizes} | {walls} | {cpu:.2f} | {memory:,.0f} | {counts['pairs']:,} |", flush=True)


def main():
    if sys.argv[1:2] == ["--peer"]:
        _, run = PEERS[sys.argv[2]]
        sys.stdout.writelines(f"{a}\t{b}\n" for a, b in run(sys.argv[3]))
        return
    if sys.argv[1:2] == ["--judge"]:
        return judge(sys.argv[2], sys.argv[3], sys.argv[4:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, help="where everything is kept; a temporary folder if not given")
    parser.add_argument("--documents", type=int, default=100_000, help="how many passages (default: 100,000)")
    parser.add_argument("--repeat", type=int, default=3, help="how often each tool is measured (default: 3)")
    parser.add_argument("--only", nargs="+", choices=PEERS, help="these other tools only")
    parser.add_argument("--growth", action="store_true", help="dedup alone, on corpora of growing size")
    parser.add_argument("--huge", action="store_true", help="with --growth: corpora ten times as large too")
    options = parser.parse_args()
    kept = options.folder
    folder = (kept or pathlib.Path(tempfile.mkdtemp(prefix="dedup-compare-"))).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        (growth if options.growth else compare)(folder, options)
    finally:
        if not kept:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
