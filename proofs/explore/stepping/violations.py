"""The violation with which a run ends: of its last step, of its last world, or without end.

Rule of this file: one run, whoever chose it; proofs.explore.explorer searches all of them.
"""

from __future__ import annotations

from collections.abc import Callable

from model.core import Property, When
from model.errors import StepFailed
from model.world import World, apply
from proofs.explore.explorer import Counterexample, Trace, answer_property, comes_to_rest
from proofs.explore.search.rest import last_circle


def violation(trace: Trace, judge: Callable[[World], Property | None]) -> Counterexample | None:
    """The run, if its last step fails, its last world violates a property, or its last steps may
    repeat without end; None: none of these.

    judge: the property that a world violates.
    """
    if len(trace.actions) == len(trace.worlds):
        return Counterexample(_failure(trace), trace)
    if broken := judge(trace.worlds[-1]):
        return Counterexample(broken, trace)
    circle = last_circle(trace.system, trace.worlds)
    return Counterexample(comes_to_rest(circle), trace, circle) if circle else None


def _failure(trace: Trace) -> Property:
    """The property that the failing step at the end of the run violates."""
    try:
        apply(trace.system, trace.worlds[-1], trace.actions[-1])
    except StepFailed as error:
        return answer_property(error)
    what = "every step answers the same when it is asked again"
    return Property(what, When.ALWAYS, lambda *_: False)
