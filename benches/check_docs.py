"""`dedup check` on trees of documentation: how long it takes, what it tells, and how many planted copies it finds.

    python3 benches/check_docs.py TREE... [--dedup target/release/dedup]

Trees are folders that are there already; nothing is downloaded, and nothing is written into them.

For each tree: time, memory and findings by kind, of three runs. Then copies are planted: paragraphs of the tree without
markup, and stretches of running text, are edited word by word (another word in its place, no word, or one more before it),
and each is put as a paragraph into a page of its own among random words of the tree. These pages are Markdown, MDX,
reStructuredText, AsciiDoc, HTML and plain text in turn, whatever the tree is. A copy is found if a finding touches its line.
In lengths a Han or Kana character is half a word.

At the end: 2,000 pages of random words, as frequent as in natural text, in which nothing may be found.

Python's standard library is enough. Numbers come from fixed seeds; the same trees give the same tables.
"""

import argparse
import collections
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time

LENGTHS = {"a paragraph": [15, 20, 30, 40, 60, 100], "anywhere": [40, 60, 100, 200, 400]}
RATES = [0.0, 0.05, 0.10, 0.15, 0.20]
FORMATS = ["md", "mdx", "rst", "adoc", "html", "txt"]
PAGES = (".md", ".markdown", ".mdx", ".rst", ".adoc", ".asciidoc", ".html", ".htm", ".txt")
PLANTS = 60
CHARACTER = r"[\u3041-\u309f\u30a1-\u30ff\u3400-\u9fff]"
WORDS = re.compile(rf"{CHARACTER}|(?:(?!{CHARACTER})\S)+")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", nargs="*")
    parser.add_argument("--dedup", default="target/release/dedup")
    given = parser.parse_args()
    for tree in given.tree:
        print(f"\n## {tree}\n")
        measure(given.dedup, tree)
        recall(given.dedup, tree)
    free_of_copies(given.dedup)


def check(dedup, paths):
    """The findings, the last line of the log, and wall and CPU seconds and megabytes."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as log:
        started = time.monotonic()
        command = [dedup, "check", "--no-config", "--no-ignore-files", "--report", "jsonl", *paths]
        process = subprocess.Popen(command, stdout=out, stderr=log)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), log.seek(0)
        lines = log.read().splitlines()
        if process.returncode not in (0, 1):
            sys.exit("\n".join(lines))
        return [json.loads(line) for line in out], lines[-1], wall, usage


def measure(dedup, tree):
    runs = [check(dedup, [tree]) for _ in range(3)]
    kinds = collections.Counter(finding["kind"] for finding in runs[0][0])
    print(runs[0][1].rsplit(":", 1)[0].removeprefix("dedup: "))
    print("wall s:", ", ".join(f"{wall:.2f}" for _, _, wall, _ in runs))
    print("CPU s:", ", ".join(f"{usage.ru_utime + usage.ru_stime:.2f}" for *_, usage in runs))
    print("MB:", max(usage.ru_maxrss for *_, usage in runs) // 1024)
    print("findings:", ", ".join(f"{kinds[kind]} {kind}" for kind in ("file", "passage", "paragraph")), "\n")


def size(words):
    characters = sum(bool(re.fullmatch(CHARACTER, word)) for word in words)
    return sum(bool(re.search(r"\w", word)) for word in words) - characters / 2


def plain(block):
    """The words of a block that every markup reads as a paragraph; none if it is something else."""
    text = re.sub(r"[`*]", "", block)
    starts = re.search(r"(?m)^(\s|[-+.#=/:|!@>]|\d+[.)])", text)
    special = re.search(r"[<>|{}\[\]_#=\\$~^&]|://|::|:`", block)
    return [] if starts or special or re.search(r"(?i)copyright|licen[sc]e", text) else WORDS.findall(text)


def passages(tree):
    """Paragraphs, and runs of paragraphs that follow each other."""
    paragraphs, runs = [], []
    for folder, folders, files in os.walk(tree):
        folders.sort()
        for name in sorted(name for name in files if name.endswith(PAGES)):
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                run = []
                for block in file.read().split("\n\n") + [""]:
                    words = plain(block.strip("\n"))
                    if size(words) >= 8:
                        paragraphs.append(words)
                        run += words
                    else:
                        runs.append(run)
                        run = []
    return paragraphs, runs


def cut(words, length):
    """The first words that are so long together."""
    end, long = 0, 0.0
    while end < len(words) and long < length:
        long += size(words[end : end + 1])
        end += 1
    return words[:end] if long >= length else []


def edited(chance, words, rate, vocabulary):
    copy = []
    for word in words:
        edit = chance.choice("rdi") if chance.random() < rate else ""
        if edit in ("r", "i"):
            copy.append(chance.choice(vocabulary))
        if edit in ("", "i"):
            copy.append(word)
    return copy


def page(markup, paragraphs):
    if markup == "html":
        return "".join(f"<p>{text}</p>\n\n" for text in paragraphs)
    return "".join(f"{text}\n\n" for text in paragraphs)


def line(words):
    return re.sub(rf"(?<={CHARACTER}) (?={CHARACTER})", "", " ".join(words)) + "."


def originals(paragraphs, runs, where, length, chance):
    """Stretches of that length, no two of them from the same place."""
    if where == "a paragraph":
        found = [words for words in paragraphs if length <= size(words) <= 1.1 * length]
    else:
        found = [cut(words[chance.randrange(len(words) // 2) :], length) for words in runs if len(words) > length]
    # Rows of numbers and of the same word are no prose.
    found = [words for words in found if len(set(words)) > length / 2]
    chance.shuffle(found)
    return found[:PLANTS]


def recall(dedup, tree):
    paragraphs, runs = passages(tree)
    vocabulary = [word for words in paragraphs for word in words if re.search(r"[^\W\d]", word)]
    for where, lengths in LENGTHS.items():
        shares = collections.defaultdict(list)
        for rate in RATES:
            chance = random.Random(f"{where} {rate}")
            filler = lambda: line(chance.choices(vocabulary, k=60))
            with tempfile.TemporaryDirectory() as folder:
                planted = {}
                for length in lengths:
                    for number, words in enumerate(originals(paragraphs, runs, where, length, chance)):
                        markup = FORMATS[number % len(FORMATS)]
                        path = os.path.join(folder, f"{length}-{number}.{markup}")
                        copy = line(edited(chance, words, rate, vocabulary))
                        with open(path, "w", encoding="utf-8") as file:
                            file.write(page(markup, [filler(), filler(), copy, filler(), filler()]))
                        planted[path] = length
                findings, *_ = check(dedup, [tree, folder])
            found = set()
            for finding in findings:
                for place in (finding["a"], finding["b"]):
                    if place["start"]["line"] <= 5 <= place["end"]["line"]:
                        found.add(place["path"])
            for length in lengths:
                paths = [path for path, own in planted.items() if own == length]
                share = f"{sum(path in found for path in paths) / len(paths):.2f}" if paths else ""
                shares[length].append(share)
                if rate == 0:
                    shares[length].insert(0, str(len(paths)))
        print(f"| words, {where} | copies | " + " | ".join(f"{rate:.0%} edited" for rate in RATES) + " |")
        print("|---" * (len(RATES) + 2) + "|")
        for length in lengths:
            print(f"| {length} | " + " | ".join(shares[length]) + " |")
        print()


def free_of_copies(dedup):
    chance = random.Random(1)
    words = ["".join(chance.choices("aeioubcdfghklmnprstvz", k=2 + rank.bit_length() // 2)) for rank in range(1, 20001)]
    sentence = lambda: " ".join(words[int(20000 ** chance.random()) - 1] for _ in range(chance.randint(5, 30)))
    with tempfile.TemporaryDirectory() as folder:
        for number in range(2000):
            text = [". ".join(sentence() for _ in range(4)) for _ in range(10)]
            markup = FORMATS[number % len(FORMATS)]
            with open(os.path.join(folder, f"{number}.{markup}"), "w", encoding="utf-8") as file:
                file.write(page(markup, text))
        findings, summary, *_ = check(dedup, [folder])
    print(f"\nFree of copies: {summary.removeprefix('dedup: ')}")
    assert not findings, findings[0]


if __name__ == "__main__":
    main()
