"""The culprit of a counterexample: one value that says what happened in the run.

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
from proofs.explore.explorer import Counterexample


def find_culprit(found: Counterexample, story: Story, budget: int = 0) -> Culprit:
    """The culprit of the run of a counterexample.

    story: of this run.  budget: the number of worlds that the search for the deciding moment may
    visit; 0: it is not searched.
    """
    trace = found.trace
    if not trace.worlds or len(trace.actions) == len(trace.worlds):
        return inside.failed_step(trace)
    run = ShownRun(trace, story)
    decided = _deciding_action(run, budget) if budget else None
    if found.circle:
        culprit = inside.circle(run, found.circle)
    elif (outputs := among_outputs(run, found.property, decided)) is not None:
        culprit = outputs
    else:
        culprit = inside.state(run, found.property)
    if decided is None:
        return culprit
    says = culprit.says
    if decided + 1 < len(trace.actions):
        says += f".  From step {decided + 1} on, no continuation is right"
    return replace(culprit, says=says, decided=run.last[decided])


def _deciding_action(run: ShownRun, budget: int) -> int | None:
    """The place of the action that decides the run."""
    world = find_decided(run.trace, budget)
    return None if world is None or not run.parts else max(world - 1, 0)
