#!/usr/bin/env python3
"""What a run spends its CPU time on, by part of the work, by sampling it with `perf`. A table in Markdown, a column for each run.

    CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_STRIP=false RUSTFLAGS="-C force-frame-pointers=yes" cargo build --release
    python3 benches/parts.py target/release/dedup million.jsonl "scan" "scan --algo simhash" "filter" ...

A sample belongs to the first part below that has a function among its frames, from the innermost frame outwards. Functions that any part
calls (copying, sorting, allocation) so belong to the part that called them. "Floor of two cores" is all CPU time by two: no change that leaves
the work as it is, only spreads it better, is faster on two cores.

Needs Python 3.9, Linux and `perf`. Samples are a 299th of a second of CPU time: shares below .2 % are noise.
"""

import collections
import re
import subprocess
import sys
import tempfile

RATE = 299

# Of a sample, the innermost frame that matches any of these decides.
PARTS = [
    ("reading files, finding lines", r"source::reader|source::cut::|run::batches::read_all|source::file::"),
    ("JSON", r"source::jsonl|kernel::json|source::batch"),
    ("cutting into words, hashing them", r"tokenizer::|run::sign::.*cut|kernel::words|kernel::characters"),
    ("hash of the whole text", r"hash::sequence_hash"),
    ("counting terms", r"lexicon::(builder|table|stored)|count_batch|count_terms|lexicon::Distinct"),
    ("features", r"algorithm::features|Algorithm>::features|Algorithm for .*::features|imatch::|shingle_hashes|Shingles|drop_common|spots"),
    ("fingerprint, keys", r"sketch|::signature|Algorithm>::(fingerprint|keys?)\b|run::sign::keys|majority|sign_bits|SeenKeys|kernel::compress"),
    ("sets, sorted and written", r"run::sort|Signer::compared|run::sign::evidence|EarlySets|engine::sets::Chunk|outline::parities|documents::Part|Documents::"),
    ("grouping by keys", r"engine::group|engine::columns|engine::rows|engine::hot|postings::"),
    ("comparing candidates", r"engine::verify|engine::sets|similarity::|engine::each_with_each|engine::edges|engine::decisions|Algorithm>::compare"),
    ("deciding (index)", r"index::|filter::|verdict"),
    ("choosing what is kept", r"engine::(keep|chosen|arrange|hosts|corpus)|clean::"),
    ("passages", r"passages::|containment|contain::"),
    ("output", r"report::|output::|cli::.*(write|line)|json_writer|serde_json"),
    ("everything else", r""),
]


def samples(command, stdin):
    """The frames of each sample, the innermost first."""
    with tempfile.NamedTemporaryFile(suffix=".data") as data, open(stdin, "rb") as source:
        record = ["perf", "record", "-q", "-F", str(RATE), "-g", "-o", data.name, *command]
        subprocess.run(record, stdin=source, stdout=subprocess.DEVNULL, check=False)
        text = subprocess.run(["perf", "script", "-i", data.name, "-F", "comm,ip,sym"], capture_output=True, text=True, check=True).stdout
    for block in text.split("\n\n"):
        lines = block.strip("\n").splitlines()
        if lines:
            yield [line.split(None, 1)[1].strip() for line in lines[1:] if len(line.split(None, 1)) > 1]


def part(frames):
    for frame in frames:
        if "neardups::" in frame:
            for name, pattern in PARTS[:-1]:
                if re.search(pattern, frame):
                    return name
    return PARTS[-1][0]


def main():
    program, corpus, *runs = sys.argv[1:]
    columns = []
    for run in runs:
        of_stdin = run.split()[0] == "filter"
        command = [program, *run.split(), *([] if of_stdin else [corpus]), "-q"]
        found, other = collections.Counter(), collections.Counter()
        for frames in samples(command, corpus if of_stdin else "/dev/null"):
            name = part(frames)
            found[name] += 1
            if name == PARTS[-1][0]:
                other[" < ".join(frame.split("::")[-1] for frame in frames[:4])] += 1
        print(f"{run}: else: {other.most_common(6)}", file=sys.stderr)
        columns.append(found)
    print("| CPU s | " + " | ".join(f"`{run}`" for run in runs) + " |\n|" + "---|" * (len(runs) + 1))
    for name, _ in PARTS:
        if any(found[name] for found in columns):
            print(f"| {name} | " + " | ".join(f"{found[name] / RATE:.1f}" if found[name] else "" for found in columns) + " |")
    print("| all | " + " | ".join(f"{sum(found.values()) / RATE:.1f}" for found in columns) + " |")
    print("| two cores, at least, s | " + " | ".join(f"{sum(found.values()) / RATE / 2:.1f}" for found in columns) + " |")


if __name__ == "__main__":
    main()
