"""Seven ways to copy a paragraph, and what `dedup check` and jscpd say of each.

    cargo build --release
    npm install --prefix FOLDER jscpd@5.3.3
    python3 benches/check_cases.py --jscpd FOLDER/node_modules/.bin/jscpd

Each case is a folder of two or three pages, made anew in a temporary folder. jscpd runs with its defaults, and with settings
that were chosen for it: `--min-tokens 20 --min-lines 1 --max-gap-lines 3 --ignore-case`. Python's standard library is enough.
"""

import argparse
import json
import os
import re
import subprocess
import tempfile
import textwrap

def changed(text):
    return text.replace("safe values", "careful values").replace("presses", "hits").replace("meant to", "wanted to")


PARAGRAPH = (
    "Before the first start the server reads its settings from a file in the home folder of the user who runs it. "
    "If there is no such file it makes one with safe values, prints where it lies, and waits until somebody presses "
    "a key, so that nothing listens on a port that nobody meant to open."
)
REWORDED = (
    "Before its first start the server will read its settings from a file in the home folder of the user who runs it. "
    "If there is none it makes one with safe values, tells where it lies, and then waits until somebody presses a key, "
    "so that nothing listens on a port that nobody wanted to open."
)
SENTENCES = (
    "Keep the archive in a place that is not the machine which it was made on. Check once a month that it can be read."
)
LONG = " ".join([PARAGRAPH, SENTENCES, changed(PARAGRAPH), SENTENCES])
HERE = "This is the manual of the program that keeps our letters: how it is put on a machine, and whom to ask."
THERE = "Of all the guides in this folder it is the shortest. It was written for those who have five minutes."


def wrapped(text, width=98):
    return textwrap.fill(text, width)


def page(title, *paragraphs):
    return "\n\n".join([f"# {title}", *paragraphs]) + "\n"


ORIGINAL = page("Starting", wrapped(HERE), wrapped(PARAGRAPH))


def copy(text):
    return page("Guide", wrapped(THERE), text)


# For each case its pages; of the last one the third page comes when the first two are accepted.
CASES = {
    "three words changed": {"setup.md": ORIGINAL, "guide.md": copy(wrapped(changed(PARAGRAPH)))},
    "upper-cased": {"setup.md": ORIGINAL, "guide.md": copy(wrapped(PARAGRAPH.upper()))},
    "one-line paragraphs": {
        "setup.md": page("Starting", HERE, PARAGRAPH),
        "guide.md": copy(PARAGRAPH),
    },
    "`.md` against `.txt`": {
        "setup.md": ORIGINAL,
        "setup.txt": "\n\n".join(["LETTERS", wrapped(THERE), wrapped(PARAGRAPH)]) + "\n",
    },
    "two sentences": {
        "archive.md": page("Archive", wrapped(HERE), wrapped(SENTENCES)),
        "monthly.md": page("Monthly", wrapped(THERE), wrapped(SENTENCES)),
    },
    "wrapped anew and reworded": {"setup.md": ORIGINAL, "guide.md": copy(wrapped(REWORDED, 50))},
    "third copy of an accepted pair": {
        "setup.md": page("Starting", wrapped(HERE), wrapped(LONG)),
        "guide.md": copy(wrapped(LONG)),
        "third.md": page("Third", wrapped(THERE.replace("five", "six").replace("shortest", "last")), wrapped(LONG)),
    },
}
CHOSEN = ["--min-tokens", "20", "--min-lines", "1", "--max-gap-lines", "3", "--ignore-case"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jscpd")
    parser.add_argument("--dedup", default="target/release/dedup")
    given = parser.parse_args()
    dedup = os.path.abspath(given.dedup)
    tools = {"dedup check": lambda folder, accept: by_dedup(dedup, folder, accept)}
    if given.jscpd:
        jscpd = os.path.abspath(given.jscpd)
        tools["jscpd"] = lambda folder, accept: by_jscpd(jscpd, folder, accept, [])
        tools["jscpd, chosen settings"] = lambda folder, accept: by_jscpd(jscpd, folder, accept, CHOSEN)
    print("| copies that are told | " + " | ".join(tools) + " |")
    print("|---|" + "---|" * len(tools))
    for name, pages in CASES.items():
        print(f"| {name} | " + " | ".join(str(told(tool, pages)) for tool in tools.values()) + " |")


def told(tool, pages):
    """How many copies a tool tells of these pages; of three, when those of the first two are accepted."""
    with tempfile.TemporaryDirectory() as folder:
        pages = list(pages.items())
        write(folder, pages[:2])
        if len(pages) == 2:
            return tool(folder, None)
        tool(folder, True)
        write(folder, pages[2:])
        return tool(folder, False)


def write(folder, pages):
    os.makedirs(os.path.join(folder, "docs"), exist_ok=True)
    for name, text in pages:
        with open(os.path.join(folder, "docs", name), "w") as file:
            file.write(text)


def by_dedup(dedup, folder, accept):
    command = [dedup, "check", "--no-config", "--quiet", "--report", "jsonl", "docs"]
    if accept is not None:
        command += ["--baseline", "accepted.json"] + ["--update-baseline"] * accept
    output = run(command, folder)
    return sum(not json.loads(line)["known"] for line in output.splitlines())


def by_jscpd(jscpd, folder, accept, settings):
    if accept is None:
        run([jscpd, *settings, "--silent", "--reporters", "json", "--output", "report", "docs"], folder)
        with open(os.path.join(folder, "report", "jscpd-report.json")) as report:
            return len(json.load(report)["duplicates"])
    command = [jscpd, *settings, "--baseline", "accepted.json", "docs"]
    if accept:
        run([*command, "--update-baseline"], folder)
        return 0
    done = subprocess.run([*command, "--fail-on-new-clones", "0"], cwd=folder, capture_output=True, text=True)
    return int(re.search(r"\((\d+) new\)", done.stdout)[1])


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{command[0]} failed with {done.returncode}: {done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
