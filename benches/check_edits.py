"""Which kinds of edits and markup `dedup check` sees through: copies planted in a tree of documentation.

    python3 benches/check_edits.py TREE... [--dedup target/release/dedup]

Nothing is downloaded, and nothing is written into the trees. Paragraphs of three sentences or more are taken from pages of the
trees in Markdown or reStructuredText, and put among other words into a page of their own: edited in the first table, as they are
but within an element of a markup in the second. A copy counts as found if a finding that is reported by default (an error or a
warning) has a place in that page. Its other place is mostly the original, or a copy of that in the tree.

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
    sources = [paragraphs(tree) for tree in given.tree]
    for title, kinds in ("edit", KINDS), ("markup", MARKUP):
        print(f"| {title} | options |", " | ".join(os.path.basename(tree.rstrip("/")) for tree in given.tree), "|")
        print("|---|---|" + "---|" * len(given.tree))
        tables = [planted(given.dedup, tree, source, kinds) for tree, source in zip(given.tree, sources)]
        for kind in kinds:
            found = " | ".join(str(table[kind]) for table in tables)
            print(f"| {kind} | {'--strict' if kind in STRICT else ''} | {found} |")
        print()


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


def among_others(edit):
    """A page of Markdown with the edited copy between two paragraphs."""

    def write(text, words, random):
        before, after = (other_words(words, 40, random) for _ in range(2))
        return f"{before}\n\n{edit(text, words, random)}\n\n{after}\n"

    write.extension = "md"
    return write


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


def page(extension, template):
    """A page in which a copy stands for `COPY`, one paragraph before it and one after it."""

    def write(text, words, random):
        lines = [line.replace("COPY", text).rstrip() for line in template.splitlines()]
        before, after = (other_words(words, 40, random) for _ in range(2))
        return "\n".join(lines).replace("BEFORE", before).replace("AFTER", after)

    write.extension = extension
    return write


def prop(text, words, random):
    """A property of a component of MDX."""
    return MDX(text.replace('"', "&quot;"), words, random)


def notebook(text, words, random):
    """A cell of Markdown between two others."""
    cells = [other_words(words, 40, random), f"> **Note**\n>\n> {text}", other_words(words, 40, random)]
    cells = [{"cell_type": "markdown", "metadata": {}, "source": [cell]} for cell in cells]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def openapi(text, words, random):
    """The description of an operation in JSON."""
    operation = {"summary": "List the items", "description": text, "responses": {"200": {"description": "The items"}}}
    info = {"title": "Items", "version": "1.0.0", "description": other_words(words, 40, random)}
    return json.dumps({"openapi": "3.0.3", "info": info, "paths": {"/items": {"get": operation}}}, indent=2)


MDX = page("mdx", 'BEFORE\n\n<Card title="Items" description="COPY" />\n\nAFTER')
prop.extension, notebook.extension, openapi.extension = "mdx", "ipynb", "json"

KINDS = {
    "one word in eight replaced": among_others(synonyms),
    "a paragraph for each sentence": among_others(split),
    "within a longer paragraph": among_others(merged),
    "shuffled sentences": among_others(shuffled),
    "items of a list": among_others(items),
    "cells of a table": among_others(cells),
    "25 to 39 words in a paragraph": among_others(some_words),
    "two sentences in a paragraph": among_others(two_sentences),
}

MARKUP = {
    "MkDocs `!!! note`": page("md", "BEFORE\n\n!!! note\n\n    COPY\n\nAFTER"),
    "MkDocs `??? note`": page("md", "BEFORE\n\n??? note \"Title\"\n\n    COPY\n\nAFTER"),
    "MkDocs `=== \"Tab\"`": page("md", "BEFORE\n\n=== \"Linux\"\n\n    COPY\n\n=== \"macOS\"\n\n    AFTER"),
    "MyST ```` ```{note} ````": page("md", "BEFORE\n\n```{note}\n:class: dropdown\nCOPY\n```\n\nAFTER"),
    "MyST `:::{tip}`": page("md", "BEFORE\n\n:::{tip}\nCOPY\n:::\n\nAFTER"),
    "Docusaurus `:::note`": page("md", "BEFORE\n\n:::note\n\nCOPY\n\n:::\n\nAFTER"),
    "VitePress `::: warning`": page("md", "BEFORE\n\n::: warning Mind this\nCOPY\n:::\n\nAFTER"),
    "`:::tip` within a list": page("md", "BEFORE\n\n- BEFORE\n\n  :::tip\n  COPY\n  :::\n\nAFTER"),
    "GitHub `> [!NOTE]`": page("md", "BEFORE\n\n> [!NOTE]\n> COPY\n\nAFTER"),
    "Hugo `{{% alert %}}`": page("md", "BEFORE\n\n{{% alert title=\"Note\" color=\"primary\" %}}\nCOPY\n{{% /alert %}}\n\nAFTER"),
    "Hugo `{{< tab >}}`": page("md", "BEFORE\n\n{{< tabs >}}\n{{< tab \"Linux\" >}}\nCOPY\n{{< /tab >}}\n{{< /tabs >}}\n\nAFTER"),
    "MDX `<Note>`": page("mdx", "import Note from './Note'\n\nBEFORE\n\n<Note>\n  COPY\n</Note>\n\nAFTER"),
    "MDX, a property": prop,
    "rST `.. note::`": page("rst", "BEFORE\n\n.. note::\n\n   COPY\n\nAFTER"),
    "rST definition": page("rst", "BEFORE\n\n``name``\n    COPY\n\nAFTER"),
    "rST list table": page("rst", "BEFORE\n\n.. list-table::\n\n   * - Name\n     - COPY\n   * - Other\n     - Text\n\nAFTER"),
    "AsciiDoc `NOTE:`": page("adoc", "BEFORE\n\nNOTE: COPY\n\nAFTER"),
    "AsciiDoc `[NOTE]` block": page("adoc", "BEFORE\n\n[NOTE]\n====\nCOPY\n====\n\nAFTER"),
    "AsciiDoc table": page("adoc", "BEFORE\n\n|===\n|Name |Text\n\n|name\n|COPY\n|===\n\nAFTER"),
    "HTML `<div class=\"note\">`": page("html", "<html><body><p>BEFORE</p>\n<div class=\"note\"><h3>Note</h3><p>COPY</p></div>\n<p>AFTER</p></body></html>"),
    "HTML table": page("html", "<html><body><p>BEFORE</p>\n<table><tr><td>Name</td><td>COPY</td></tr></table>\n<p>AFTER</p></body></html>"),
    "plain text": page("txt", "BEFORE\n\n    COPY\n\nAFTER"),
    "notebook": notebook,
    "OpenAPI description": openapi,
}


def planted(dedup, tree, source, kinds):
    """How many copies of each kind are found."""
    numbers = random.Random(7)
    words = [word for _, text in source for word in re.findall(r"[a-z]{3,}", text)]
    found = {}
    for kind, edit in kinds.items():
        chosen = numbers.sample(source, PLANTS)
        with tempfile.TemporaryDirectory() as folder:
            pages = [os.path.join(folder, f"planted{index}.{edit.extension}") for index in range(PLANTS)]
            for path, (_, text) in zip(pages, chosen):
                with open(path, "w", encoding="utf-8") as out:
                    out.write(edit(text, words, numbers))
            strict = ["--strict"] if kind in STRICT else []
            command = [dedup, "check", "--no-config", "--no-ignore-files", "--report", "jsonl", *strict, tree, folder]
            lines = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.splitlines()
            findings = [finding for finding in map(json.loads, lines) if finding["grade"] != "note"]
            touched = {place["path"] for finding in findings for place in finding["places"]}
            found[kind] = len(touched.intersection(pages))
    return found


if __name__ == "__main__":
    main()
