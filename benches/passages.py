"""The share of planted passages that `dedup passages` finds, by their length and the share of edited words.

    python3 benches/passages.py target/release/dedup main.jsonl [FOLDER]

Passages of documents are planted in other documents of the same corpus, which are otherwise as they are. A word is edited by putting
another word of the corpus in its place, leaving it out, or putting one more before it, a third each. A passage is found if half of the
bytes of the planted copy are in a span. Prints a table in Markdown for the default, and one for `--exact`, with the time and the memory
of each run. The same numbers each time: the random numbers have a seed.
"""

import json
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LENGTHS = [50, 60, 80, 100, 200]
RATES = [0.0, 0.05, 0.1, 0.15, 0.2]
EACH = 200
WORD = re.compile(r"\w+")


def edited(chosen, words, rate, vocabulary):
    """The words with edits; `words` are texts up to the next word."""
    copy = []
    for word in words:
        edit = chosen.randrange(3) if chosen.random() < rate else 3
        if edit in (0, 2):
            copy.append(chosen.choice(vocabulary) + " ")
        if edit >= 2:
            copy.append(word)
    return "".join(copy).strip()


def plant(corpus, target):
    """Writes the corpus with planted passages. Returns for each the number of the record, its bytes, its length and its rate."""
    chosen = random.Random(7)
    documents = [json.loads(line) for line in open(corpus, encoding="utf-8")]
    vocabulary = [word for document in documents[:: max(1, len(documents) // 2000)] for word in WORD.findall(document["text"])]
    hosts = chosen.sample(range(len(documents)), EACH * len(LENGTHS) * len(RATES))
    is_host, planted = set(hosts), []
    sources = [number for number in range(len(documents)) if number not in is_host]
    for number, (length, rate) in zip(hosts, [(length, rate) for length in LENGTHS for rate in RATES for _ in range(EACH)]):
        while True:
            text = documents[chosen.choice(sources)]["text"]
            starts = [match.start() for match in WORD.finditer(text)] + [len(text)]
            if len(starts) > length + 1:
                break
        first = chosen.randrange(len(starts) - 1 - length)
        words = [text[starts[at] : starts[at + 1]] for at in range(first, first + length)]
        copy = edited(chosen, words, rate, vocabulary)
        host = documents[number]["text"]
        places = [match.start() for match in WORD.finditer(host)] or [len(host)]
        place = chosen.choice(places)
        before = host[:place] + " "
        documents[number]["text"] = f"{before}{copy} {host[place:]}"
        start = len(before.encode())
        planted.append((number, start, start + len(copy.encode()), length, rate))
    with open(target, "w", encoding="utf-8") as out:
        for number, document in enumerate(documents):
            out.write(json.dumps({"id": str(number), "text": document["text"]}, ensure_ascii=False) + "\n")
    return planted


def spans(program, corpus, flags):
    """The spans of each document, the seconds, and the peak memory of this run or the greatest before, in MB."""
    started = time.time()
    with tempfile.TemporaryFile("w+") as out:
        subprocess.run([program, "passages", corpus, "--emit", "spans", "-q", *flags], stdout=out, check=True)
        seconds = time.time() - started
        out.seek(0)
        records = [json.loads(line) for line in out]
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {int(record["id"]): record["spans"] for record in records}, seconds, memory


def main():
    program, corpus = sys.argv[1:3]
    folder = Path(sys.argv[3] if len(sys.argv) > 3 else tempfile.mkdtemp())
    target = folder / "planted.jsonl"
    planted = plant(corpus, target)
    for flags in (["--exact"], []):
        found, seconds, memory = spans(program, target, flags)
        shares = {}
        for number, start, end, length, rate in planted:
            covered = sum(max(0, min(end, b) - max(start, a)) for a, b in found.get(number, []))
            shares.setdefault((length, rate), []).append(2 * covered >= end - start)
        print(f"`dedup passages {' '.join(flags)}`: {seconds:.1f} s, {memory:.0f} MB\n")
        print("| words | " + " | ".join(f"{100 * rate:.0f} %" for rate in RATES) + " |\n|---|" + "---|" * len(RATES))
        for length in LENGTHS:
            row = [sum(shares[length, rate]) / EACH for rate in RATES]
            print(f"| {length} | " + " | ".join(f"{share:.3f}" for share in row) + " |")
        print()


main()
