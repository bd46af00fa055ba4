#!/usr/bin/env python3
"""Whole runs on one corpus, each next to a yardstick of the same round, as a table in Markdown.

    cargo build --release
    python3 benches/rows.py million.jsonl --floor "PROGRAM {corpus} {output}" --exact "PROGRAM {corpus} {output}" \\
        --passages "PROGRAM {corpus}"

A round runs every yardstick and every row once, one after another. The ratio of a row is its wall time by that of its yardstick in the
same round; the table has all of them and their median. A yardstick is any command: {corpus} is the file, {output} a temporary file.
Rows without a yardstick have no ratio. Run it on a machine where nothing else runs: the load at the start is printed.

Wall time, processor time of all threads, and the largest resident memory are those of the process, by wait4.

Needs Python 3.9, Linux or macOS, and 8 GB in the folder for temporary files. A round on a million documents (1.9 GB) takes about five
minutes on two cores.
"""

import argparse
import os
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

# Name, arguments of dedup, yardstick. "<" reads the corpus from standard input, {folder} does not exist when the run begins.
ROWS = [
    ("scan", "scan {corpus} -q", "floor"),
    ("scan --memory 64M", "scan {corpus} --memory 64M -q", "floor"),
    ("scan --algo simhash", "scan {corpus} --algo simhash -q", "floor"),
    ("scan --algo projection", "scan {corpus} --algo projection -q", "floor"),
    ("scan --algo spotsigs", "scan {corpus} --algo spotsigs -q", "floor"),
    ("scan --algo imatch", "scan {corpus} --algo imatch -q", "floor"),
    ("filter", "filter -q <", "floor"),
    ("filter --index", "filter --index {folder}/index.ndx -q <", "floor"),
    ("clean", "clean -q {corpus} --out {folder}/clean", "floor"),
    ("scan --exact", "scan {corpus} --exact -q", "exact"),
    ("passages --exact", "passages {corpus} --exact -q", "passages"),
    ("passages --exact --emit spans", "passages {corpus} --exact --emit spans -q", "passages"),
]


def run(command, stdin):
    """Wall seconds, CPU seconds, MiB and the status of one process."""
    with open(stdin, "rb") as source:
        began = time.monotonic()
        child = subprocess.Popen(command, stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        message = child.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(child.pid, 0)
    wall = time.monotonic() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    # 1 says that pairs were found.
    if child.returncode not in (0, 1):
        sys.exit(f"{shlex.join(command)}: status {child.returncode}\n{message}")
    memory = usage.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
    return wall, usage.ru_utime + usage.ru_stime, memory


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    for name in ("floor", "exact", "passages"):
        parser.add_argument(f"--{name}", metavar="COMMAND", help=f"the yardstick of the rows of {name}")
    parser.add_argument("--dedup", default="target/release/dedup")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", nargs="+", metavar="ROW", help="these rows alone")
    parser.add_argument("--folder", help="for temporary files")
    options = parser.parse_args()

    yardsticks = {name: getattr(options, name) for name in ("floor", "exact", "passages") if getattr(options, name)}
    rows = [row for row in ROWS if not options.only or row[0] in options.only]
    taken = {name: [] for name in [*yardsticks, *(row[0] for row in rows)]}
    print(f"load at the start: {os.getloadavg()[0]:.2f}", file=sys.stderr)
    for turn in range(options.repeat):
        for name, command, yardstick in [(name, command, None) for name, command in yardsticks.items()] + rows:
            folder = tempfile.mkdtemp(dir=options.folder)
            try:
                output = str(pathlib.Path(folder, "output"))
                of_stdin = command.endswith("<")
                words = [word.format(corpus=options.corpus, output=output, folder=folder) for word in shlex.split(command.rstrip("<"))]
                found = run(words if name in yardsticks else [options.dedup, *words], options.corpus if of_stdin else os.devnull)
            finally:
                shutil.rmtree(folder)
            taken[name].append(found)
            print(f"round {turn + 1}: {name}: {found[0]:.2f} s, {found[1]:.1f} s of CPU, {found[2]:.0f} MiB", file=sys.stderr, flush=True)

    print("| row | wall s | CPU s | MB | ratio | median |\n|---|---|---|---|---|---|")
    for name, command, yardstick in [(name, command, None) for name, command in yardsticks.items()] + rows:
        walls, cpu, memory = zip(*taken[name])
        cells = [", ".join(f"{wall:.1f}" for wall in walls), f"{statistics.median(cpu):.0f}", f"{max(memory):,.0f}"]
        ratios = [wall / reference[0] for wall, reference in zip(walls, taken.get(yardstick, []))]
        cells += [", ".join(f"{ratio:.2f}".lstrip("0") for ratio in ratios), f"{statistics.median(ratios):.2f}".lstrip("0") if ratios else ""]
        label = f"*{name}*" if name in yardsticks else f"`{name}`"
        print(f"| {label} | " + " | ".join(cells) + " |")


main()
