#!/usr/bin/env python3
"""What one thread does alone, and the time that follows for many cores, by sampling a run with `perf`. A table in Markdown.

    CARGO_PROFILE_RELEASE_STRIP=false RUSTFLAGS="-C force-frame-pointers=yes" cargo build --release
    python3 benches/threads.py target/release/dedup scan million.jsonl -q

Threads are grouped by their names. Those named `dedup work` and `dedup pool` share their work: more cores divide it. Each of the others is
one thread: `dedup read`, the calling thread, which takes results in their order, and those that keep files.

The run is cut into phases, at each beginning and end of a thread that works for 3 % of the time or more. In a phase, n cores take at least
the CPU time of the busiest single thread, and at least the n-th part of all CPU time, whichever is longer. What any thread did while no other ran
("alone") is added. So "n cores" is a lower bound, without what more cores cost in caches and memory.

Needs Python 3.9, Linux and `perf`. Samples are a 299th of a second of CPU time: shares below .2 % are noise.
"""

import collections
import re
import subprocess
import sys
import tempfile

SHARED = ("dedup work", "dedup pool")
RATE = 299
BIN = 0.02
CORES = (2, 16, 32, 64)


def samples(command):
    """(thread, name, time, the innermost functions of ours) of each sample."""
    with tempfile.NamedTemporaryFile(suffix=".data") as data:
        subprocess.run(["perf", "record", "-q", "-F", str(RATE), "-g", "-o", data.name, *command], stdout=subprocess.DEVNULL, check=True)
        fields = "comm,tid,time,ip,sym"
        text = subprocess.run(["perf", "script", "-i", data.name, "-F", fields], capture_output=True, text=True, check=True).stdout
    found = []
    for block in text.split("\n\n"):
        lines = block.strip("\n").splitlines()
        head = lines and re.match(r"(.+?)\s+(\d+)\s+([\d.]+):", lines[0])
        if head:
            frames = [line.split(None, 1)[1].strip() for line in lines[1:] if len(line.split(None, 1)) > 1]
            ours = [frame for frame in frames if "neardups::" in frame and "{{closure}}" not in frame]
            found.append((int(head[2]), head[1].strip(), float(head[3]), short(ours[:2]) or (frames or ["?"])[0]))
    return found


def short(frames):
    """Module and name of functions, the inner one last."""
    bare = [re.sub(r"<impl .*?>::|<(\w[\w:]*)(<.*?>)? as .*?>", r"\1", frame) for frame in frames]
    return " > ".join("::".join(frame.split("::")[-3:]) for frame in reversed(bare))


def main():
    found = samples(sys.argv[1:])
    if not found:
        sys.exit("no samples: is `perf` allowed to sample this process (kernel.perf_event_paranoid)?")
    begin = min(time for _, _, time, _ in found)
    end = max(time for _, _, time, _ in found)
    second = 1 / RATE
    of_thread = collections.defaultdict(list)
    for sample in found:
        of_thread[sample[0]].append(sample)
    edges = {begin, end}
    for of in of_thread.values():
        if len(of) * second >= 0.03 * (end - begin):
            edges |= {of[0][2], of[-1][2]}
    # Edges within a tenth of a second are one.
    phases, last = [], begin
    for edge in sorted(edges):
        if edge - last > 0.1:
            phases.append((last, edge))
            last = edge
    if phases:
        phases[-1] = (phases[-1][0], end)

    # Bins of time in which one thread only has samples.
    bins = collections.defaultdict(collections.Counter)
    for thread, _, time, _ in found:
        bins[int((time - begin) / BIN)][thread] += 1
    alone = {number for number, of in bins.items() if len(of) == 1 and sum(of.values()) >= 3}

    total = len(found)
    print(f"{end - begin:.2f} s, {total * second:.1f} s of CPU time.\n")
    single, names = collections.Counter(), collections.defaultdict(collections.Counter)
    lone = collections.Counter()
    for thread, name, time, place in found:
        is_alone = int((time - begin) / BIN) in alone
        if name not in SHARED:
            single[name] += 1
            names[name][place] += 1
        elif is_alone:
            lone[place] += 1
    print("| thread | CPU s | share | mostly |\n|---|---|---|---|")
    for name, count in single.most_common():
        mostly = ", ".join(f"`{place}` {100 * n / total:.1f} %" for place, n in names[name].most_common(3))
        print(f"| {name} | {count * second:.2f} | {100 * count / total:.1f} % | {mostly} |")
    mostly = ", ".join(f"`{place}` {100 * n / total:.1f} %" for place, n in lone.most_common(3))
    print(f"| a worker while no other thread runs | {sum(lone.values()) * second:.2f} | {100 * sum(lone.values()) / total:.1f} % | {mostly} |")
    count = sum(sum(bins[number].values()) for number in alone)
    print(f"| any thread alone | {count * second:.2f} | {100 * count / total:.1f} % | |")

    bound = dict.fromkeys(CORES, 0.0)
    for first, after in phases:
        shared, ones, lonely = 0, collections.Counter(), 0
        for thread, name, time, _ in found:
            if first <= time < after or time == after == end:
                if int((time - begin) / BIN) in alone:
                    lonely += 1
                elif name in SHARED:
                    shared += 1
                else:
                    ones[thread] += 1
        busiest = max(ones.values(), default=0)
        everything = shared + sum(ones.values())
        for cores in CORES:
            bound[cores] += second * (lonely + max(busiest, everything / cores))
    print("\n| cores | " + " | ".join(map(str, CORES)) + " |\n|" + "---|" * (len(CORES) + 1))
    print("| s, at least | " + " | ".join(f"{bound[cores]:.1f}" for cores in CORES) + " |")


if __name__ == "__main__":
    main()
