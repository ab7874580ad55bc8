"""The coordinator: it completes global checkpoints, detects failures and leads recoveries.

Rule of this file: no data tuple; nodes.py has who processes them.

The window in which failures are counted is a timer: the world decides when it runs out, which
covers every length.
Su and Zhou, Progressive Recovery, 2016, Section 4.
"""

from __future__ import annotations

from collections.abc import Iterator

from model.core import (
    Effect,
    Input,
    Lost,
    NodeName,
    Note,
    Received,
    Save,
    Send,
    SetTimer,
    Site,
    Step,
    TimerFired,
)
from model.protocols.progressive.design import (
    Buffering,
    CoordinatorMemory,
    Ends,
    Fence,
    LateFailures,
    Outputs,
    ProgressiveDesign,
    Sinks,
    Suspicion,
)
from model.protocols.progressive.messages import (
    BLOCKING,
    COORDINATOR,
    GLOBAL,
    PROGRESSIVE,
    REJOINED,
    Back,
    Completed,
    CoordinatorPhase,
    CoordinatorState,
    Due,
    Durable,
    Epoch,
    Inquiry,
    Members,
    Punctuate,
    Resume,
    Rollback,
    RolledBack,
    Stored,
)
from model.queues import STALE_NOTE

WINDOW = "window"


def boot() -> CoordinatorState:
    return CoordinatorState(Epoch(), 0)


def recover(site: Site, durable: Durable | None) -> Step:
    """Roll everything back, since nothing else is known: who is up, and who has stored what."""
    design, members, *_ = site.config
    known = durable if durable and design.coordinator is CoordinatorMemory.DURABLE else Durable()
    state = CoordinatorState(known.epoch, known.complete)
    again = _announce(design, members, state) if known.complete else ()
    state, effects = _begin(design, members, state, progressive=False)
    return Step(state, (*effects, *again))


def step(site: Site, state: CoordinatorState, input_: Input) -> Step:
    design, members, *_ = site.config
    match input_:
        case Received(sender, Stored(epoch, k)):
            if design.fence is Fence.EPOCH and epoch.number != state.epoch.number:
                return Step(state, (STALE_NOTE,))
            state = state._replace(stored=state.stored | {(sender, k)})
            return _complete(design, members, state)
        case Received(_, Lost(node)):
            return _lose(design, members, state, node)
        case Received(sender, Back(asked)):
            if asked and sender not in state.down:  # it was welcome already
                return Step(state, (STALE_NOTE,))
            return _welcome(state, sender)
        case Received(sender, RolledBack(epoch)):
            if epoch.number != state.epoch.number:
                return Step(state, (STALE_NOTE,))
            return _see(design, members, state, sender)
        case Received(sender, Due(k)):
            others = (name for name in members.sources if name != sender)
            return Step(state, tuple(Send(name, Punctuate(k)) for name in others))
        case TimerFired():
            return _begin(design, members, state, progressive=_are_many(design, state))
        case _:
            raise TypeError(f"{COORDINATOR}: nothing to do with {input_}")


# --- global checkpoints ----------------------------------------------------------------------
def _complete(design: ProgressiveDesign, members: Members, state: CoordinatorState) -> Step:
    """Complete the next global checkpoint if all parts of it are stored."""
    k = state.complete + 1
    parts = members.partitions
    if design.sinks is Sinks.ACKNOWLEDGE:
        parts = (*parts, *members.sinks)
    if not all((name, k) in state.stored for name in parts):
        return Step(state)
    stored = frozenset(part for part in state.stored if part[1] > k)
    state = state._replace(complete=k, stored=stored)
    announce = _announce(design, members, state)
    if state.phase is CoordinatorPhase.RUNNING:
        state = state._replace(phase=CoordinatorPhase.NORMAL, lost=frozenset())
    return Step(state, (Save(Durable(state.epoch, k)), Note(GLOBAL), *announce))


def _announce(
    design: ProgressiveDesign, members: Members, state: CoordinatorState
) -> Iterator[Effect]:
    """Report the last global checkpoint to all who wait for it: sources trim, the application takes
    results, and partitions end the recovery or trim."""
    names = members.sources
    if design.outputs is Outputs.COMMITTED:
        names += members.sinks
    trims = design.overlap or design.buffering is Buffering.UPSTREAM
    if trims or state.phase is CoordinatorPhase.RUNNING:
        names += members.partitions
    return (Send(name, Completed(state.epoch, state.complete)) for name in names)


# --- failures --------------------------------------------------------------------------------
def _lose(
    design: ProgressiveDesign, members: Members, state: CoordinatorState, node: NodeName
) -> Step:
    state = state._replace(lost=state.lost | {node}, down=state.down | {node})
    if design.ends is Ends.ALL_BACK:
        stored = frozenset(part for part in state.stored if part[0] != node)
        state = state._replace(stored=stored)
    epoch, begun = state.epoch, state.phase in (CoordinatorPhase.ROLLING, CoordinatorPhase.RUNNING)
    state, effects = _count_failure(design, members, state, node)
    if design.suspicion is Suspicion.ASKED and begun and state.epoch == epoch:
        effects = (*effects, Send(node, Inquiry(_order(state))))
    return Step(state, effects)


def _count_failure(
    design: ProgressiveDesign, members: Members, state: CoordinatorState, node: NodeName
) -> Step:
    """Begin to count failures, or go on with the recovery that is under way."""
    match state.phase:
        case CoordinatorPhase.NORMAL:
            return Step(state._replace(phase=CoordinatorPhase.WINDOW), (SetTimer(WINDOW),))
        case CoordinatorPhase.ROLLING if state.epoch.progressive:
            return _wait_for(members, state, state.waiting - {node})
        case CoordinatorPhase.ROLLING:
            if design.late is LateFailures.SWITCHES and _are_many(design, state):
                return _begin(design, members, state, progressive=True)
            return Step(state._replace(waiting=state.waiting | {node}))
        case _:
            return Step(state)


def _are_many(design: ProgressiveDesign, state: CoordinatorState) -> bool:
    """Are there so many failures that the recovery is to be progressive?"""
    return len(state.lost) > design.threshold and design.buffering is not Buffering.SOURCE


def _begin(
    design: ProgressiveDesign, members: Members, state: CoordinatorState, *, progressive: bool
) -> Step:
    """Begin a new epoch: order all partitions that are up to go back."""
    epoch = Epoch(state.epoch.number + 1, state.complete, progressive)
    up = [name for name in members.partitions if name not in state.down]
    state = state._replace(epoch=epoch, phase=CoordinatorPhase.ROLLING, stored=frozenset())
    save = Save(Durable(epoch, state.complete))
    note = Note(PROGRESSIVE if progressive else BLOCKING)
    orders = [Send(name, Rollback(epoch)) for name in up]
    if design.suspicion is Suspicion.ASKED:
        orders += [Send(name, Inquiry(Rollback(epoch))) for name in sorted(state.down)]
    waiting = frozenset(up if progressive else members.partitions)
    state, effects = _wait_for(members, state, waiting)
    return Step(state, (save, note, *orders, *effects))


def _wait_for(members: Members, state: CoordinatorState, waiting: frozenset[NodeName]) -> Step:
    """Wait for these partitions to go back; let the sources resume if there is none."""
    state = state._replace(waiting=waiting)
    if waiting or state.phase is not CoordinatorPhase.ROLLING:
        return Step(state)
    resumes = tuple(Send(name, Resume(state.epoch)) for name in members.sources)
    if state.epoch.progressive:
        return Step(state._replace(phase=CoordinatorPhase.RUNNING), resumes)
    return Step(state._replace(phase=CoordinatorPhase.NORMAL, lost=frozenset()), resumes)


def _welcome(state: CoordinatorState, node: NodeName) -> Step:
    """Let a restarted partition go back, unless failures are still counted."""
    state = state._replace(down=state.down - {node})
    if state.phase is CoordinatorPhase.WINDOW:
        return Step(state)
    if state.phase is CoordinatorPhase.ROLLING:
        state = state._replace(waiting=state.waiting | {node})
        return Step(state, (Send(node, _order(state)),))
    return Step(state, (Note(REJOINED), Send(node, _order(state))))


def _order(state: CoordinatorState) -> Rollback:
    """The order for who comes late: to go back, or to rejoin."""
    if state.phase is CoordinatorPhase.ROLLING:
        return Rollback(state.epoch)
    running = state.phase is CoordinatorPhase.RUNNING
    epoch = state.epoch._replace(start=state.complete, progressive=running)
    return Rollback(epoch, rejoin=True)


def _see(
    design: ProgressiveDesign, members: Members, state: CoordinatorState, node: NodeName
) -> Step:
    """A partition has gone back; one that was taken for dead is up, and may have missed tuples."""
    missed = design.suspicion is Suspicion.ASKED and node in state.down
    state = state._replace(down=state.down - {node}) if missed else state
    if missed and state.phase is CoordinatorPhase.RUNNING:
        return Step(state, (Send(node, Inquiry(_order(state))),))
    return _wait_for(members, state, state.waiting - {node})
