"""Prints golden.tsv: what a few lines of Python, which share nothing with the crate, make of the Chinese fixtures.

    python3 tests/oracle/golden.py fixtures/chinese/docs > tests/oracle/golden.tsv

Tokens: NFKC, case folding, then runs of letters, digits and _, with each Han character a token of its own.
A document line: name, tokens, distinct 5-shingles, SimHash of the token occurrences, SimHash of the set of pairs of neighbours
(features joined by a space, hashed to the last 8 bytes of their MD5, a tie is 0). A pair line: names, shared 5-shingles, and
how many there are in either; only pairs that share any.
"""

import hashlib
import pathlib
import re
import sys
import unicodedata

HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"


def tokens(text):
    return re.findall(f"[{HAN}]|[^\\W{HAN}]+", unicodedata.normalize("NFKC", text).casefold())


def runs(tokens, width):
    return [" ".join(tokens[i : i + width]) for i in range(len(tokens) - width + 1)]


def simhash(features):
    sums = [0] * 64
    for feature in features:
        code = int.from_bytes(hashlib.md5(feature.encode()).digest()[8:], "big")
        for bit in range(64):
            sums[bit] += 1 if code >> bit & 1 else -1
    return sum(1 << bit for bit in range(64) if sums[bit] > 0)


texts = {path.name: tokens(path.read_text("utf-8")) for path in sorted(pathlib.Path(sys.argv[1]).glob("*.txt"))}
sets = {name: set(runs(own, 5)) for name, own in texts.items()}
for name, own in texts.items():
    print(name, len(own), len(sets[name]), f"{simhash(own):016x}", f"{simhash(set(runs(own, 2))):016x}", sep="\t")
for a in texts:
    for b in texts:
        if a < b and sets[a] & sets[b]:
            print(a, b, len(sets[a] & sets[b]), len(sets[a] | sets[b]), sep="\t")
