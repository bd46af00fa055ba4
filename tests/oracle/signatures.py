"""Prints signatures.tsv: signatures that datasketch itself makes of the English and Chinese fixtures.

    pip install datasketch==2.0.0
    python3 tests/oracle/signatures.py fixtures > tests/oracle/signatures.tsv

Tokens are what stands between white space, as it is; a shingle is some of them in a row, joined by a space (one shingle of all where
there are fewer), encoded as UTF-8. A line: file, scheme (affine32 is the default of datasketch 2, legacy is that of datasketch 1), tokens
in a shingle, slots, the first four of them, and the SHA-1 of all, 64 bits each, little-endian.
"""

import hashlib
import pathlib
import sys

from datasketch import MinHash

root = pathlib.Path(sys.argv[1])
files = sorted([*root.glob("english/docs/*.txt"), *root.glob("chinese/docs/*.txt")])
for path in files:
    tokens = path.read_text("utf-8").split()
    for scheme, width, slots in [(None, 5, 128), (None, 1, 16), (None, 3, 117), ("legacy", 5, 128)]:
        runs = [tokens[i : i + width] for i in range(max(len(tokens) - width + 1, 1))]
        # Without a scheme: the default.
        minhash = MinHash(num_perm=slots, **({"scheme": scheme} if scheme else {}))
        minhash.update_batch([" ".join(run).encode() for run in runs])
        values = [int(value) for value in minhash.hashvalues]
        digest = hashlib.sha1(b"".join(value.to_bytes(8, "little") for value in values)).hexdigest()
        name = path.relative_to(root).as_posix()
        print(name, minhash.scheme, width, slots, " ".join(map(str, values[:4])), digest, sep="\t")
