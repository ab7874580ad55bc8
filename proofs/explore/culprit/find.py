"""The culprit of a counterexample: one value that names the fault of the run.

Rule of this file: no search; it asks the others and puts their answers into one sentence or two.
"""

from __future__ import annotations

from dataclasses import replace

from model.results.culprit import Culprit
from model.results.story import Story
from proofs.explore.culprit import inside
from proofs.explore.culprit.decided import find_decided
from proofs.explore.culprit.outputs import among_outputs
from proofs.explore.culprit.run import ShownRun
from proofs.explore.culprit.words import deed
from proofs.explore.explorer import Counterexample

DECIDING_WORLDS = 20_000
"""The number of worlds that the search for the moment that decides a run may visit."""


def find_culprit(found: Counterexample, story: Story, budget: int = DECIDING_WORLDS) -> Culprit:
    """The culprit of the run of a counterexample.

    story: of this run.  budget: the number of worlds that the search for the deciding moment may
    visit; 0: it is not searched.
    """
    trace = found.trace
    if not trace.worlds or len(trace.actions) == len(trace.worlds):
        return inside.failed_step(trace)
    run = ShownRun(trace, story)
    world = find_decided(trace, budget) if budget and run.parts else None
    decided = None if world is None else max(world - 1, 0)
    if found.circle:
        culprit = inside.circle(run, found.circle)
    else:
        culprit = among_outputs(run, found.property, decided) or inside.state(run, found.property)
    if decided is None:
        return replace(culprit, says=f"{culprit.says}.")
    moment = None if world == 0 else run.last[decided]
    says = f"{culprit.says}.{_decision(run, culprit, decided, never=moment is None)}"
    return replace(culprit, says=says, decided=moment)


def _decision(run: ShownRun, culprit: Culprit, decided: int, *, never: bool) -> str:
    """The sentence about the action that decides the run; "" if that is its last one.

    never: not even the first world has a right continuation.
    """
    if never:
        return "  No run with these events is right."
    if decided + 1 == len(run.parts):
        return ""
    if culprit.lost is not None and run.step_of(culprit.lost.moment) == decided + 1:
        return "  After that, no continuation is right."
    step = f"step {decided + 1} ({deed(run.moments_of(decided)[0])})"
    return f"  After {step}, no continuation is right."
