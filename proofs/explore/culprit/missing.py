"""A result that never comes: the events that it would be made of, and where they were lost.

Rule of this file: "lost" is said of a copy that a fault took, or that a node let go in the very
moment that decided the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from model.actions import Disturb, Disturbance
from model.boxes.box import Out
from model.results.culprit import LostCopy
from model.world import is_down
from proofs.explore.culprit.copies import CopyPlace, Gone, Loss, last_copy
from proofs.explore.culprit.run import ShownRun, StoryEvent
from proofs.explore.culprit.words import some_of


class Why(NamedTuple):
    """says: why a result never comes, "" if nothing is known.  lost: where.  stuck: a node still
    holds its events, and nothing makes it go on."""

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
    gone = [(one, what) for what, one, _ in traced if one is not None]
    for one, what in sorted(gone, key=lambda pair: pair[0].moment, reverse=True):
        step = run.step_of(one.moment) - 1
        decides = decided == step or (one.how is not Loss.LET_GO and (decided or 0) <= step)
        if decides:
            return Why(_loss(run, what, one), LostCopy(one.moment, one.of))
    held = [(what, there) for what, _, there in traced if there]
    if not rests or len(held) < len(traced):
        held = []
    for what, there in held:
        if why := _down_for_ever(run, what, there):
            return Why(why, stuck=True)
    stuck = _held(run, *held[0]) if held else Why()
    if decided is not None and (fault := _fault_in(run, decided)) is not None:
        node, deed = fault
        says = f"{deed} in step {decided + 1}, and nothing makes up for that"
        says += f"; {stuck.says}" if stuck.says else ""
        return Why(says, LostCopy(run.last[decided], node))
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
                *last_copy(
                    run.system,
                    moments,
                    frozenset([event.body, wanted.body]),
                    run.first_moment(event.step - 1),
                ),
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


def _fault_in(run: ShownRun, at: int) -> tuple[str, str] | None:
    """A loss in the action with this place: the node that crashed or sent the message, and the
    words for it."""
    action = run.trace.actions[at]
    down = [name for moment in run.moments_of(at) for name in moment.down]
    if down:
        return down[0], f"{some_of(down)} crashed"
    if isinstance(action, Disturb) and action.how in (Disturbance.LOSE, Disturbance.RESET):
        return action.sender, f"the link from {action.sender} to {action.node} lost a message"
    return None


def _held(run: ShownRun, what: str, copies: tuple[CopyPlace, ...]) -> Why:
    """Why nothing happens at rest with copies that are still there."""
    nodes = [place.node for place in copies if not place.to]
    there = f"{some_of(nodes)} still hold{'s' * (len(nodes) == 1)} {what}"
    return Why(
        f"{there}, and no message or timer is left that moves it",
        stuck=any(name not in run.system.source_at for name in nodes),
    )


def _down_for_ever(run: ShownRun, what: str, copies: tuple[CopyPlace, ...]) -> str:
    """The words for copies that only nodes have saved that never restart; "" if others have one.

    At rest, a node that is down stays down.
    """
    world, system = run.trace.worlds[-1], run.system
    down = [place.node for place in copies if is_down(system, world, place.node)]
    if not down or len(down) < len(copies):
        return ""
    return f"{some_of(down)} saved {what}, and never restart{'s' * (len(down) == 1)}"
