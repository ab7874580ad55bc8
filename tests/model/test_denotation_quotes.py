"""Every sentence that a definition quotes is in docs/reference/model.md, or with the predicates."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
HOME = Path(__file__).parent / "denotations"
FILES = ("engines", "guarantees", "one_run", "operators", "patterns", "predicates", "windows")
SOURCES = ("docs/reference/model.md", "model/predicates.py")


def plain(text: str) -> str:
    """The words of a text: no line breaks, comment signs, bars of tables and emphasis."""
    return " ".join(re.sub(r"[`*|#]", " ", text).split()).lower()


def quotes(path: Path) -> list[str]:
    """What stands between quotation marks in comments and docstrings: three words or more."""
    text = path.read_text(encoding="utf-8").replace('"""', "\n\n")
    return [
        quote
        for paragraph in text.split("\n\n")
        for quote in map(plain, re.findall(r'"([^"]+)"', paragraph))
        if len(quote.split()) > 2
    ]


@pytest.mark.parametrize("name", FILES)
def test_what_is_quoted_is_written(name: str) -> None:
    written = [plain((ROOT / source).read_text(encoding="utf-8")) for source in SOURCES]
    quoted = quotes(HOME / f"{name}.py")
    assert len(quoted) >= 2
    missing = [q for q in quoted if not any(q.rstrip(".") in text for text in written)]
    assert missing == []
