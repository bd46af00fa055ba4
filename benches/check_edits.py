"""Which kinds of edits `dedup check` sees through: copies planted in a tree of documentation, by kind of edit.

    python3 benches/check_edits.py TREE... [--dedup target/release/dedup]

Nothing is downloaded, and nothing is written into the trees. Paragraphs of three sentences or more are taken from pages of the
trees in Markdown or reStructuredText, edited, and put among other words into a page of their own. A copy counts as found if a
finding that is reported by default (an error or a warning) has a place in that page. Its other place is mostly the original, or
a copy of that in the tree.

Python's standard library is enough. Numbers come from fixed seeds; the same trees give the same tables.
"""

import argparse
import json
import os
import random
import re
import subprocess
import tempfile

PLANTS = 40
STRICT = {"shuffled sentences", "25 to 39 words in a paragraph", "two sentences in a paragraph"}
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", nargs="+")
    parser.add_argument("--dedup", default="target/release/dedup")
    given = parser.parse_args()
    print("| edit | options |", " | ".join(os.path.basename(tree.rstrip("/")) for tree in given.tree), "|")
    print("|---|---|" + "---|" * len(given.tree))
    rows = {kind: [] for kind in KINDS}
    for tree in given.tree:
        for kind, found in planted(given.dedup, tree).items():
            rows[kind].append(found)
    for kind, found in rows.items():
        print(f"| {kind} | {'--strict' if kind in STRICT else ''} |", " | ".join(map(str, found)), "|")


def paragraphs(tree):
    """Paragraphs of running text, by page: at least 45 words, three sentences, no markup but code and emphasis."""
    found = []
    for folder, folders, files in os.walk(tree):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(folder, name)
            if name.endswith((".md", ".rst")):
                with open(path, encoding="utf-8", errors="replace") as page:
                    blocks = re.split(r"\n\s*\n", page.read())
                found += [(path, text) for text in map(running, blocks) if text]
    return found


def running(block):
    """The text of a block on one line, if it is running text."""
    text = " ".join(block.split())
    sentences = SENTENCE.split(text)
    is_plain = re.match(r"^[A-Z][a-z]", block) and not re.search(r"[<>{}|\[\]`*_:]|://", text)
    return text if is_plain and 45 <= len(text.split()) <= 150 and len(sentences) >= 3 else None


def other_words(words, number, random):
    """Words of the tree in a random order, as sentences."""
    chosen = [random.choice(words) for _ in range(number)]
    return " ".join(word + ("." if index % 12 == 11 else "") for index, word in enumerate(chosen))


def synonyms(text, words, random):
    return " ".join(random.choice(words) if random.random() < 1 / 8 else word for word in text.split())


def split(text, words, random):
    return "\n\n".join(SENTENCE.split(text))


def merged(text, words, random):
    return other_words(words, 60, random) + " " + text + " " + other_words(words, 60, random)


def shuffled(text, words, random):
    sentences = SENTENCE.split(text)
    order = sentences[:]
    while order == sentences:
        random.shuffle(order)
    return " ".join(order)


def items(text, words, random):
    return "\n".join(f"- {sentence}" for sentence in SENTENCE.split(text))


def cells(text, words, random):
    rows = "\n".join(f"| {index} | {sentence} |" for index, sentence in enumerate(SENTENCE.split(text)))
    return f"| number | text |\n|---|---|\n{rows}"


def some_words(text, words, random):
    """25 to 39 words in a row, in a paragraph of other words."""
    all_words = text.split()
    length = random.randint(25, 39)
    start = random.randint(0, len(all_words) - length)
    part = " ".join(all_words[start : start + length])
    return f"{other_words(words, 60, random)} {part} {other_words(words, 60, random)}"


def two_sentences(text, words, random):
    """Two sentences in a row of 25 words or more, in a paragraph of other words; more of them if they are shorter."""
    sentences = SENTENCE.split(text)
    start = random.randrange(len(sentences) - 1)
    part = sentences[start : start + 2]
    while len(" ".join(part).split()) < 25:
        start = max(start - 1, 0)
        part = sentences[start : start + len(part) + 1]
    return f"{other_words(words, 60, random)} {' '.join(part)} {other_words(words, 60, random)}"


KINDS = {
    "one word in eight replaced": synonyms,
    "a paragraph for each sentence": split,
    "within a longer paragraph": merged,
    "shuffled sentences": shuffled,
    "items of a list": items,
    "cells of a table": cells,
    "25 to 39 words in a paragraph": some_words,
    "two sentences in a paragraph": two_sentences,
}


def planted(dedup, tree):
    """How many copies of each kind are found."""
    source, numbers = paragraphs(tree), random.Random(7)
    words = [word for _, text in source for word in re.findall(r"[a-z]{3,}", text)]
    found = {}
    for kind, edit in KINDS.items():
        chosen = numbers.sample(source, PLANTS)
        with tempfile.TemporaryDirectory() as folder:
            pages = [os.path.join(folder, f"planted{index}.md") for index in range(PLANTS)]
            for page, (_, text) in zip(pages, chosen):
                before, after = (other_words(words, 40, numbers) for _ in range(2))
                with open(page, "w", encoding="utf-8") as out:
                    out.write(f"{before}\n\n{edit(text, words, numbers)}\n\n{after}\n")
            strict = ["--strict"] if kind in STRICT else []
            command = [dedup, "check", "--no-config", "--no-ignore-files", "--report", "jsonl", *strict, tree, folder]
            lines = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.splitlines()
            findings = [finding for finding in map(json.loads, lines) if finding["grade"] != "note"]
            touched = {place["path"] for finding in findings for place in finding["places"]}
            found[kind] = len(touched.intersection(pages))
    return found


if __name__ == "__main__":
    main()
