"""Words of classes, guarantees and numbers of steps, as all outputs have them.

Rule of this file: a value in, a word out.
"""

from __future__ import annotations

from model.core import Guarantee, OperatorClass
from model.results.verdict import Expectation, ScopeResult


def word(one: OperatorClass | Guarantee | None) -> str:
    """The word of a class or a guarantee; without a stream there is none."""
    return "–" if one is None else one.word


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
