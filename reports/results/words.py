"""Words of classes, guarantees and numbers of steps, as all outputs have them.

Rule of this file: a value in, a word out.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from model.results.verdict import Expectation, ScopeResult


def word(one: Enum | None) -> str:
    """The word of a class or a guarantee; without a stream there is none."""
    return "–" if one is None else one.name.lower().replace("_", "-")


def listed(words: Sequence[str]) -> str:
    """The words in a row: "a, b and c"."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def steps(count: int) -> str:
    """The number of steps, in words."""
    return "1 step" if count == 1 else f"{count} steps"


def differences(row: ScopeResult) -> list[str]:
    """How a scope differs from the evidence, a few words each; "pinned" of pinned numbers alone."""
    return [_difference(row, one) for one in row.differs]


def _difference(row: ScopeResult, one: Expectation) -> str:
    shown = row.counterexample
    match one:
        case Expectation.OUTCOME:
            return f"expected: {row.expect.value}"
        case Expectation.STATES:
            return f"pinned: {row.pinned or 0:,} states"
        case Expectation.STEPS:
            return f"pinned: {steps((shown and shown.pinned) or 0)}"
        case Expectation.GUARANTEE:
            return f"expected: {word(row.expect_guarantee)}"
