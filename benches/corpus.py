#!/usr/bin/env python3
"""Writes a synthetic corpus as JSON lines: the same bytes every time, from the standard library alone.

    python3 benches/corpus.py passages 1000000 > passages.jsonl

kinds:
    passages N      N distinct passages of 64 words; one in ten is a near-duplicate of an earlier one (a few words changed)
    copies N        one document, N times
    boilerplate N   N documents of 100 words that share a paragraph of 60 and have 40 of their own
    short N         N distinct documents of about 60 bytes
    giant BYTES     one document of so many bytes
"""

import random
import sys

SYLLABLES = [c + v for c in "bcdfghjklmnprstvwz" for v in ("a", "e", "i", "o", "u", "ai", "ou")]


def vocabulary(rng, size):
    words = set()
    while len(words) < size:
        words.add("".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))))
    return sorted(words)


def fragments(rng, words, count, length):
    """Runs of words that texts are put together from: drawing them one by one would take minutes."""
    return [" ".join(rng.choices(words, k=length)) for _ in range(count)]


def passages(rng, words, count):
    pieces = fragments(rng, words, 1_000_000, 8)
    recent = []
    for _ in range(count):
        if len(recent) == 1000 and rng.random() < 0.1:
            # One word of sixty-four: 5 of 60 shingles of five words, Jaccard 0.85.
            parts = list(recent[rng.randrange(1000)])
            changed = parts[3].split(" ")
            changed[rng.randrange(8)] = "changed"
            parts[3] = " ".join(changed)
        else:
            parts = rng.choices(pieces, k=8)
            if len(recent) < 1000:
                recent.append(parts)
            else:
                recent[rng.randrange(1000)] = parts
        yield " ".join(parts)


def copies(rng, words, count):
    text = " ".join(rng.choices(words, k=300))
    return (text for _ in range(count))


def boilerplate(rng, words, count):
    common = " ".join(rng.choices(words, k=60))
    pieces = fragments(rng, words, 1_000_000, 8)
    return (common + " " + " ".join(rng.choices(pieces, k=5)) for _ in range(count))


def short(rng, words, count):
    pieces = fragments(rng, words, 1_000_000, 4)
    return (" ".join(rng.choices(pieces, k=2)) for _ in range(count))


def giant(rng, words, size):
    pieces = fragments(rng, words, 100_000, 8)

    def parts():
        written = 0
        while written < size:
            piece = " ".join(rng.choices(pieces, k=1000)) + " "
            written += len(piece)
            yield piece

    return parts()


def main():
    kinds = {f.__name__: f for f in (passages, copies, boilerplate, short, giant)}
    if len(sys.argv) != 3 or sys.argv[1] not in kinds or not sys.argv[2].isdigit():
        sys.exit(__doc__)
    kind, size = kinds[sys.argv[1]], int(sys.argv[2])
    rng = random.Random(1)
    texts = kind(rng, vocabulary(rng, 50_000), size)
    out = sys.stdout
    if kind is giant:
        out.write('{"id":"giant","text":"')
        out.writelines(texts)
        out.write('"}\n')
        return
    out.writelines('{"id":"%d","text":"%s"}\n' % numbered for numbered in enumerate(texts))


if __name__ == "__main__":
    main()
