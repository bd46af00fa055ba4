#!/usr/bin/env python3
"""How evenly a stream is decided, how fast an index opens, and what pages of one template cost, as tables in Markdown.

    cargo build --release
    python3 benches/stream.py gaps FOLDER        `filter --index` over 10,000,000 texts: the pauses between its outputs
    python3 benches/stream.py disk FOLDER        how long the disk alone takes to sync a log as that of `gaps`, beside another file
    python3 benches/stream.py opening FOLDER     `index query` of indexes of 0.1, 1 and 10 million texts, without write access too
    python3 benches/stream.py decisions FOLDER   `filter` with 80,000 pages of one template remembered, one line at a time
    python3 benches/stream.py templates FOLDER   `scan --emit verdicts|clusters` and `filter` of pages of one template, every algorithm
    python3 benches/stream.py gaining FOLDER     the same of pages whose template gains 30 words
    python3 benches/stream.py kills FOLDER       `kill -9` in the middle of merges, freezes and checkpoints; nothing lost, nothing extra

`--dedup PROGRAM` names another program than target/release/dedup. Needs Python 3.9, Linux, and up to 6 GB in FOLDER, which is kept for the
next time. Pauses mean something on a machine that does nothing else. `gaps` takes five minutes, `disk` four, `opening` two after it, and `kills` two:
after each round it prints a line on standard error.
"""

import argparse
import collections
import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

from bounds import pages

HERE = pathlib.Path(__file__).resolve().parent


def corpus(folder, count):
    """Texts of some 60 bytes."""
    file = folder / f"short-{count}.jsonl"
    if not file.exists():
        part = file.with_suffix(".part")
        with open(part, "wb") as to:
            subprocess.run([sys.executable, HERE / "corpus.py", "short", str(count)], stdout=to, check=True)
        part.rename(file)
    return file


def template(folder, count, common, own):
    file = folder / f"template-{count}-{common}-{own}.jsonl"
    if not file.exists():
        part = file.with_suffix(".part")
        with open(part, "w", encoding="utf-8") as to:
            pages(count, common, own)(to)
        part.rename(file)
    return file


def forget(index):
    pathlib.Path(index).unlink(missing_ok=True)
    shutil.rmtree(f"{index}.tables", ignore_errors=True)


def run(command, stdin=None, **more):
    """Runs a command to its end: what it printed, seconds, and the most memory in MB."""
    started = time.perf_counter()
    with open(stdin or os.devnull, "rb") as given, open(more.get("stdout") or os.devnull, "wb") as out:
        process = subprocess.Popen(command, stdin=given, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command}: status {process.returncode}")
    return time.perf_counter() - started, usage.ru_maxrss * 1024 / 1e6


def gaps(folder, dedup):
    file, index = corpus(folder, 10_000_000), folder / "gaps.idx"
    print("| run | wall s | memory MB | reads | over 10 ms | over 50 ms | over 100 ms | longest ms |\n|---|---|---|---|---|---|---|---|")
    for number in range(3):
        forget(index)
        found = collections.Counter()
        longest = reads = 0
        with open(file, "rb") as given:
            process = subprocess.Popen([dedup, "filter", "--index", index, "-q"], stdin=given, stdout=subprocess.PIPE)
        out, started = process.stdout.fileno(), time.perf_counter()
        os.read(out, 1 << 16)
        last = time.perf_counter()
        while os.read(out, 1 << 16):
            now = time.perf_counter()
            gap, last, reads = (now - last) * 1000, now, reads + 1
            longest = max(longest, gap)
            for bound in (10, 50, 100):
                found[bound] += gap > bound
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0
        wall, memory = time.perf_counter() - started, usage.ru_maxrss * 1024 / 1e6
        print(f"| {number + 1} | {wall:.1f} | {memory:.0f} | {reads:,} | {found[10]} | {found[50]} | {found[100]} | {longest:.0f} |", flush=True)


def disk(folder, _dedup):
    """The pauses that the disk alone makes: 70 KB are appended and synced every 8 ms. Beside that, another file grows by 20 MB a second and
    is synced every 8 MiB, or is removed and begun again every 320 MB too."""
    log, other, piece, beside, seconds = folder / "disk-log", folder / "disk-other", os.urandom(8 << 20), 20e6, 80

    def grow(most, ends):
        file, count = open(other, "wb", buffering=0), 0
        while not ends.is_set():
            started = time.perf_counter()
            file.write(piece)
            os.fdatasync(file.fileno())
            count += 1
            if most and count % most == 0:
                file.close()
                other.unlink()
                file = open(other, "wb", buffering=0)
            ends.wait(max(0, len(piece) / beside - (time.perf_counter() - started)))
        file.close()

    print("| beside the log | syncs | over 10 ms | over 50 ms | over 100 ms | longest ms |\n|---|---|---|---|---|---|", flush=True)
    rows = {"nothing": None, "a file that grows": 0, "files that grow and are removed": 40}
    for name, most in rows.items():
        other.unlink(missing_ok=True)
        time.sleep(5)
        ends, took = threading.Event(), []
        thread = threading.Thread(target=grow, args=(most, ends)) if most is not None else None
        if thread:
            thread.start()
        with open(log, "wb", buffering=0) as file:
            until = time.perf_counter() + seconds
            while time.perf_counter() < until:
                started = time.perf_counter()
                file.write(piece[:70_000])
                os.fdatasync(file.fileno())
                took.append(1000 * (time.perf_counter() - started))
                time.sleep(max(0, 0.008 - took[-1] / 1000))
        ends.set()
        if thread:
            thread.join()
        over = " | ".join(str(sum(ms > bound for ms in took)) for bound in (10, 50, 100))
        print(f"| {name} | {len(took):,} | {over} | {max(took):.0f} |", flush=True)
    log.unlink()
    other.unlink(missing_ok=True)


def opening(folder, dedup):
    one = folder / "one.jsonl"
    one.write_text('{"id":"q","text":"a question of some words that no text of the index has"}\n')
    print("| documents | index MB | `index query` s | memory MB | without write access s |\n|---|---|---|---|---|")
    for count in (100_000, 1_000_000, 10_000_000):
        index = folder / f"opening-{count}.idx"
        if not index.exists():
            part = folder / "part.idx"
            forget(part)
            run([dedup, "filter", "--index", part, "-q"], corpus(folder, count))
            shutil.rmtree(f"{index}.tables", ignore_errors=True)
            # The folder first: an index without its checkpoint is opened by reading it.
            os.rename(f"{part}.tables", f"{index}.tables")
            os.rename(part, index)
        command = [dedup, "index", "query", index, "-q"]
        runs = [run(command, one) for _ in range(5)]
        # Root may write anywhere: another user asks.
        os.chmod(folder, 0o755)
        walls = "not root"
        if os.geteuid() == 0:
            as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *map(str, command)]
            walls = ", ".join(f"{run(as_nobody, one)[0]:.3f}" for _ in range(3))
        seconds = ", ".join(f"{wall:.3f}" for wall, _ in runs)
        print(f"| {count:,} | {index.stat().st_size / 1e6:,.0f} | {seconds} | {max(m for _, m in runs):.0f} | {walls} |", flush=True)


def asked(folder, dedup, index, lines, *more):
    """Milliseconds of each answer: a line is written when the last one was answered."""
    process = subprocess.Popen(
        [dedup, "filter", "--index", index, "--mark", "-q", *more], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    times = []
    for line in lines:
        started = time.perf_counter()
        process.stdin.write(line)
        process.stdin.flush()
        process.stdout.readline()
        times.append((time.perf_counter() - started) * 1000)
    process.stdin.close()
    assert process.wait() == 0
    # The first answer waits for the index to be opened.
    return sorted(times[1:])


def decisions(folder, dedup):
    print("| similarity | remembered | seed | decisions | median ms | 99 % | longest | own clock: longest ms | capped |\n|---|---|---|---|---|---|---|---|---|")
    for common, own, count in ((550, 130, 80_000), (550, 74, 80_000), (550, 70, 80_000), (550, 69, 80_000), (550, 70, 20_000)):
        file = template(folder, count + 301, common, own)
        lines = file.read_bytes().splitlines(keepends=True)
        known = folder / "known.jsonl"
        known.write_bytes(b"".join(lines[:count]))
        for seed in (["--seed", "0"], []):
            index, stats = folder / "template.idx", folder / "stats.json"
            forget(index)
            run([dedup, "index", "add", index, "-q", *seed], known)
            times = asked(folder, dedup, index, lines[count:], "--stats", stats, *seed)
            facts = json.loads(stats.read_text())
            longest = find(facts, "longest_decision") * 1000
            at = (common - 4) / (common - 4 + 2 * own)
            print(
                f"| {at:.3f} | {count:,} | {'0' if seed else 'random'} | {len(times)} | {times[len(times) // 2]:.2f} | "
                f"{times[len(times) * 99 // 100]:.2f} | {times[-1]:.2f} | {longest:.2f} | {find(facts, 'capped')} |",
                flush=True,
            )


def find(value, name):
    """The first value with this name, wherever it is."""
    if isinstance(value, dict):
        if name in value:
            return value[name]
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            found = find(one, name)
            if found is not None:
                return found
    return None


#: Options of every algorithm, and what it takes to let it compare such pages.
ALGORITHMS = {
    "minhash": [],
    "minhash, classic": ["--sketch", "classic"],
    "supershingles": ["--supershingles", "6x14"],
    "`--exact`": ["--exact"],
    "simhash": ["--algo", "simhash"],
    "projection": ["--algo", "projection"],
    "projection, cosine": ["--algo", "projection", "--cosine", "0.9"],
    "spotsigs": ["--algo", "spotsigs"],
    "imatch": ["--algo", "imatch"],
}


def lines_of(command, stdin=None):
    with open(stdin or os.devnull, "rb") as given:
        return [json.loads(line) for line in subprocess.run(command, stdin=given, stdout=subprocess.PIPE, check=True).stdout.splitlines()]


def differences(dedup, file, options):
    """How many verdicts differ from a greedy choice over all pairs: each document is kept unless an earlier kept one is like it."""
    pairs = lines_of([dedup, "scan", file, "--emit", "pairs", "-q", *options])
    like = collections.defaultdict(list)
    for pair in pairs:
        like[pair["b"]].append((-pair["similarity"], int(pair["a"][1:]), pair["a"]))
    kept, dropped = {}, {}
    for line in open(file, encoding="utf-8"):
        name = json.loads(line)["id"]
        best = min((one for one in like[name] if one[2] in kept), default=None)
        if best:
            dropped[name] = (best[2], -best[0])
        else:
            kept[name] = True
    verdicts = lines_of([dedup, "scan", file, "--emit", "verdicts", "-q", *options])
    return len(verdicts), sum(
        (one["id"] in kept) != one["keep"]
        or (not one["keep"] and dropped[one["id"]] != (one["duplicate_of"], one["similarity"]))
        for one in verdicts
    )


def templates(folder, dedup):
    print("| pages | algorithm | verdicts s | MB | clusters s | MB | `filter` s | MB | differences from all pairs, 1,500 pages |\n|---|---|---|---|---|---|---|---|---|")
    for count, common, own in ((10_000, 300, 2), (100_000, 300, 2), (10_000, 550, 70), (100_000, 550, 70)):
        file, few = template(folder, count, common, own), template(folder, 1500, common, own)
        for name, options in ALGORITHMS.items():
            cells = []
            for emit in ("verdicts", "clusters"):
                wall, memory = run([dedup, "scan", file, "--emit", emit, "-q", *options])
                cells += [f"{wall:.2f}", f"{memory:.0f}"]
            if name == "imatch":
                cells += ["", ""]
            else:
                wall, memory = run([dedup, "filter", "-q", *options], file)
                cells += [f"{wall:.2f}", f"{memory:.0f}"]
            # By a process of its own: a child is never measured as smaller than its parent was.
            with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as other:
                verdicts, differ = other.submit(differences, dedup, few, options).result()
            pages_of = f"{count:,}: {common} words and {own} of their own"
            print(f"| {pages_of} | {name} | {' | '.join(cells)} | {differ} of {verdicts:,} |", flush=True)


def gaining(folder, dedup):
    print("| pages | the template gains words from page | verdicts s | MB | `filter` s | MB |\n|---|---|---|---|---|---|")
    frame, gained = (" ".join(f"{name}{i}" for i in range(count)) for name, count in (("k", 550), ("g", 30)))
    own = lambda name, page, count: "".join(f" {name}{page}x{i}" for i in range(count))
    for count, start in ((2_000, 400), (4_000, 400), (10_000, 400), (40_000, 400), (40_000, 20_000)):
        file = folder / f"gaining-{count}-{start}.jsonl"
        with open(file, "w", encoding="utf-8") as to:
            for page in range(count):
                text = f"{frame} {gained if page >= start else own('z', page, 30)}{own('o', page, 80)}"
                to.write(f'{{"id":"{page}","text":"{text}"}}\n')
        cells = []
        for command, source in ((["scan", file, "--emit", "verdicts"], None), (["filter"], file)):
            wall, memory = run([dedup, *command, "-q", "--shingle", "1"], source)
            cells += [f"{wall:.2f}", f"{memory:.0f}"]
        print(f"| {count:,} | {start:,} | {' | '.join(cells)} |", flush=True)


def kills(folder, dedup):
    """Streams that are killed when a file beside the index appears or goes, and fed again, against one that is not killed."""
    rng = random.Random(7)
    file = corpus(folder, 400_000)
    lines = file.read_bytes().splitlines(keepends=True)
    # One in six again with a word more, so that something is dropped.
    fed = folder / "fed.jsonl"
    with open(fed, "wb") as to:
        for number, line in enumerate(lines):
            to.write(line)
            if number % 6 == 5:
                to.write(lines[rng.randrange(number)].replace(b'{"id":"', b'{"id":"again %d ' % number, 1))
    options = ["--memory", "24M", "-q", "--seed", "1"]
    whole, index = folder / "whole.jsonl", folder / "kills.idx"
    forget(index)
    wall, _ = run([dedup, "filter", "--index", index, *options], fed, stdout=whole)
    # When each was remembered differs.
    remembered = lambda: [one | {"time": 0} for one in lines_of([dedup, "index", "export", index])]
    ids = remembered()
    expected, fed_lines = whole.read_bytes(), fed.read_bytes().splitlines(keepends=True)
    position = {line: number for number, line in enumerate(fed_lines)}
    seen, rounds, different = collections.Counter(), 0, 0
    while sum(seen.values()) < 200:
        rounds += 1
        forget(index)
        written, at, out = [], 0, folder / "out.jsonl"
        while True:
            with open(out, "wb") as to:
                process = subprocess.Popen([dedup, "filter", "--index", index, *options], stdin=subprocess.PIPE, stdout=to)
            kind = feed(process, fed_lines[at:], pathlib.Path(f"{index}.tables"), rng, wall)
            part = out.read_bytes()
            part = part[: part.rfind(b"\n") + 1].splitlines(keepends=True)
            written += part
            if kind is None:
                break
            seen[kind] += 1
            # From the line behind the last that arrived.
            at = position[written[-1]] + 1 if written else 0
        same = b"".join(written) == expected and remembered() == ids
        different += not same
        print(f"{rounds} rounds, {sum(seen.values())} kills, {different} differ", file=sys.stderr, flush=True)
        subprocess.run([dedup, "index", "verify", index, "-q"], check=True, stdout=subprocess.DEVNULL)
    print("| rounds | kills | of them " + " | ".join(f"after {kind}" for kind in sorted(seen)) + " | rounds that differ |")
    print("|" + "---|" * (4 + len(seen)))
    print(f"| {rounds} | {sum(seen.values())} | | " + " | ".join(str(seen[kind]) for kind in sorted(seen)) + f" | {different} |")


def feed(process, lines, tables, rng, wall):
    """Feeds lines and kills the process at a change of its tables. None if it came to its end."""
    os.set_blocking(process.stdin.fileno(), False)
    data, sent = b"".join(lines), 0
    skip, before = rng.randrange(1, 12), None
    due, pause = None, 0.0
    if not data:
        process.stdin.close()
    while sent < len(data) or process.poll() is None:
        try:
            if sent < len(data):
                sent += os.write(process.stdin.fileno(), data[sent : sent + (1 << 16)])
                if sent == len(data):
                    process.stdin.close()
        except BlockingIOError:
            time.sleep(0.0002)
        except BrokenPipeError:
            break
        try:
            now = frozenset(os.listdir(tables))
        except FileNotFoundError:
            now = frozenset()
        if before is not None and now != before and due is None:
            skip -= 1
            if skip == 0:
                new, gone = now - before, before - now
                kind = "a checkpoint" if any("checkpoint" in name for name in new | gone) else "a merge" if gone else "a freeze"
                due, pause = time.perf_counter(), rng.random() * 0.01
        before = now
        if due is not None and time.perf_counter() - due >= pause:
            process.send_signal(signal.SIGKILL)
            process.wait()
            return kind
    if process.wait() != 0:
        sys.exit(f"status {process.returncode}")
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = {f.__name__: f for f in (gaps, disk, opening, decisions, templates, gaining, kills)}
    parser.add_argument("what", choices=what)
    parser.add_argument("folder", type=pathlib.Path, help="where inputs are kept")
    parser.add_argument("--dedup", default=str(HERE.parent / "target/release/dedup"), help="the program")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    what[options.what](options.folder, options.dedup)


if __name__ == "__main__":
    main()
