"""A result that never comes: the events that it would be made of, and where they were lost.

Rule of this file: "lost" is said of a copy that a fault took, or that a node let go in the very
moment that decided the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from model.boxes.box import Out
from model.results.culprit import LostCopy
from model.world import DOWN
from proofs.explore.culprit.copies import CopyPlace, Gone, Loss, last_copy
from proofs.explore.culprit.run import ShownRun, StoryEvent
from proofs.explore.culprit.words import listed


class Why(NamedTuple):
    """says: why a result never comes, "" if nothing is known.  lost: where.  stuck: a node still
    holds what it needs, and nothing makes it go on."""

    says: str = ""
    lost: LostCopy | None = None
    stuck: bool = False


def explain_missing(
    run: ShownRun,
    wanted: Out,
    events: Sequence[StoryEvent],
    decided: int | None,
    *,
    rests: bool,
) -> Why:
    """Why a result that these events make never comes.

    decided: the place of the action that decides the run; None: not known.  rests: is the run at
    rest?  Until then, copies that are still there may go on.
    """
    traced = [*_traced(run, wanted, events)]
    for what, gone, _ in sorted(
        traced, key=lambda one: one[1].moment if one[1] else -1, reverse=True
    ):
        if gone is None:
            continue
        decides = decided is not None and run.step_of(gone.moment) == decided + 1
        if gone.how is not Loss.LET_GO or decides:
            lost = LostCopy(gone.moment, gone.of)
            return Why(_loss(run, what, gone), lost)
    held = [(what, there) for what, _, there in traced if there]
    stuck = _held(run, *held[0]) if rests and held and len(held) == len(traced) else Why()
    if decided is not None and (down := _down_in(run, decided)):
        lost = LostCopy(run.last[decided], down[0])
        says = f"{listed(down)} crashed in step {decided + 1}, and nothing makes up for that"
        return Why(f"{says}; {stuck.says}" if stuck.says else says, lost)
    return stuck


def _traced(
    run: ShownRun, wanted: Out, events: Sequence[StoryEvent]
) -> Iterator[tuple[str, Gone | None, tuple[CopyPlace, ...]]]:
    """For each event that is unlike the others: its words, how its last copy went, and where there
    still are copies.  A copy of the result is one of each of its events."""
    nodes = [node for world in run.trace.worlds for node in world.nodes]
    if any(node.behind for node in nodes):
        return  # sources read their logs again, which hold every event
    moments = [part for parts in run.parts for part in parts]
    all_bodies = [event.body for event in run.events.values()]
    for event in events:
        if all_bodies.count(event.body) == 1:
            yield (
                event.label,
                *last_copy(run.system, moments, frozenset([event.body, wanted.body])),
            )


def _loss(run: ShownRun, what: str, gone: Gone) -> str:
    """The words for the loss of the last copy."""
    step, copy = f"in step {run.step_of(gone.moment)}", f"the last copy of {what}"
    match gone.how:
        case Loss.CRASHED:
            before = f", before it {gone.undone} it" if gone.undone else ""
            return f"{gone.of} held {copy} and crashed {step}{before}"
        case Loss.RECEIVER:
            return f"{copy} was on its way to {gone.of}, which crashed {step}"
        case Loss.SENDER:
            return f"{copy} was on its way from {gone.of}, and a crash of {gone.of} lost it {step}"
        case Loss.SENT_DOWN:
            return f"{gone.place.node} sent {copy} {step} to {gone.of}, which was down"
        case Loss.LINK:
            return f"the link from {gone.place.node} to {gone.place.to} lost {copy} {step}"
        case Loss.LET_GO:
            return f"{gone.of} let go of {copy} {step}"


def _down_in(run: ShownRun, action: int) -> tuple[str, ...]:
    """The nodes that go down in the action with this place."""
    return tuple(name for moment in run.moments_of(action) for name in moment.down)


def _held(run: ShownRun, what: str, copies: tuple[CopyPlace, ...]) -> Why:
    """Why nothing happens at rest with copies that are still there."""
    nodes = [place.node for place in copies if not place.to]
    world, system = run.trace.worlds[-1], run.system
    up = [name for name in nodes if world.nodes[system.node_at[name]].state is not DOWN]
    if nodes and not up:
        return Why(f"{listed(nodes)} saved {what} and never restarts", stuck=True)
    if not up:
        return Why()
    there = f"{listed(up)} still hold{'s' * (len(up) == 1)} {what}"
    return Why(
        f"{there}, and no message or timer is left that moves it",
        stuck=any(name not in system.source_at for name in up),
    )
