"""Words that the house style avoids, counted in docstrings, comments and pages.

Rule of this file: a simple count that anybody can repeat; no grammar.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = (
    "asif",
    "model",
    "proofs",
    "sim",
    "engine_check",
    "flink_check",
    "spark_check",
    "reports",
    "tests",
    "benchmarks",
    "docs",
)
WORDS = {
    "what": re.compile(r"\bwhat\b(?!-if)(?! if\b)", re.IGNORECASE),
    "so many": re.compile(r"\bso many\b", re.IGNORECASE),
    "tell": re.compile(r"\b(?:tells?|told|telling)\b", re.IGNORECASE),
}
END = re.compile(r"(?<=[.?!])\s")
"""Where a sentence ends; a question does not count, since it may begin with "what"."""
HISTORY = ("CHANGELOG.md",)


def counts() -> Counter[str]:
    """How often each word stands in the project; a word in a question does not count."""
    found: Counter[str] = Counter()
    for text in texts():
        found += count(text)
    return found


def count(text: str) -> Counter[str]:
    """How often each word stands in a text."""
    sentences = END.split(" ".join(text.split()))
    said = " ".join(one for one in sentences if not one.endswith("?"))
    return Counter({name: len(word.findall(said)) for name, word in WORDS.items()})


def texts() -> Iterator[str]:
    """The pages without their code, and the docstrings and comments of each module."""
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        text = page.read_text(encoding="utf-8") if page.name not in HISTORY else ""
        yield re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)
    for room in ROOMS:
        for module in sorted((ROOT / room).rglob("*.py")):
            yield from prose(module.read_text(encoding="utf-8"))


def prose(source: str) -> Iterator[str]:
    """The strings that stand alone in a module (docstrings), and its comments, each run of lines as
    one text."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(ast.Constant(str(text))):
                yield text
    lines: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            lines.append(token.string.lstrip("# "))
        elif token.type not in (tokenize.NL, tokenize.NEWLINE) and lines:
            yield " ".join(lines)
            lines = []
