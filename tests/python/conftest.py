"""What the tests share: a small corpus, and the command beside the module."""

import json
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ARTICLES = ROOT / "fixtures" / "jsonl" / "docs" / "articles.jsonl"


def dedup(*arguments: str, stdin: bytes = b"", status: int = 0) -> bytes:
    """What the command prints."""
    ran = subprocess.run(["dedup", *arguments], input=stdin, capture_output=True, check=False)
    assert ran.returncode == status, ran.stderr.decode()
    return ran.stdout


def lines(kind: str, records: list) -> bytes:
    """Records as the command prints them."""
    tagged = ({"type": kind, **record} for record in records)
    return "".join(json.dumps(r, ensure_ascii=False, separators=(",", ":")) + "\n" for r in tagged).encode()


def without_nulls(table) -> list:
    """The rows of a table as records, in which JSON has no field that is null."""

    def without(value):
        if isinstance(value, list):
            return [without(part) for part in value]
        if isinstance(value, dict):
            return {k: without(v) for k, v in value.items() if v is not None or k == "fingerprint"}
        return value

    return without(table.to_pylist())


@pytest.fixture(scope="session")
def articles() -> list:
    return [json.loads(line) for line in ARTICLES.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="session")
def table(articles):
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.Table.from_pylist(articles)
