"""Numbers, times and names in the words of the page.

Rule of this file: a value in, words out.
"""

from __future__ import annotations

import re

from model.results.verdict import Verdict
from reports.page.blocks import Ink, Word, Words


def number(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def time(seconds: float) -> str:
    """The seconds with a unit that fits."""
    if seconds < 0.095:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 100:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    return "{} min {} s".format(*divmod(round(seconds), 60))


def counted(count: int, one: str, many: str = "") -> str:
    """The count with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def slug(name: str) -> str:
    """The name as an address has it."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def judged(expected: bool) -> Word:
    """Is it as expected?"""
    if expected:
        return Word("✓ as expected", Ink.GOOD)
    return Word("✗ not as expected", Ink.BAD)


def outcome(verdict: Verdict) -> Word:
    """The outcome as a chip."""
    word = verdict.outcome.value
    tones = {"holds": Ink.HOLDS, "refuted": Ink.REFUTED}
    return Word(word, tones.get(word, Ink.BAD))


def joined(parts: list[Words], between: str = ", ") -> Words:
    """The words of all parts, with the same text between them."""
    found: list[str | Word] = []
    for part in parts:
        if found:
            found.append(between)
        found += [part] if isinstance(part, str | Word) else part
    return found
