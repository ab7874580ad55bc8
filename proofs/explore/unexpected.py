"""The parts of the evidence of a scope that a result contradicts.

Rule of this file: a result and its evidence in, expectations out; nothing that was not pinned or
expected differs.
"""

from __future__ import annotations

from collections.abc import Iterator

from model.evidence import Outcome, PinnedScope
from model.results.verdict import Expectation
from proofs.explore.explorer import Exploration


def unexpected(
    pinned: PinnedScope, found: Exploration, steps: int | None, worlds: int | None
) -> Iterator[Expectation]:
    """The parts of the evidence that the result contradicts, whatever more worlds would show.

    steps: of the counterexample.  worlds: the number to compare with; None: none.
    """
    if found.outcome is not pinned.expect:
        if found.outcome is not Outcome.UNFINISHED:
            yield Expectation.OUTCOME
            return
    elif pinned.steps not in (None, steps):
        yield Expectation.STEPS
    if worlds not in (None, found.states) and not found.spent:
        yield Expectation.STATES
    if pinned.guarantee is not None and (
        found.guarantee > pinned.guarantee
        or (found.guarantee < pinned.guarantee and not found.spent)
    ):
        yield Expectation.GUARANTEE
