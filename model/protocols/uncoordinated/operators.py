"""The operators of uncoordinated checkpoints.

Rule of this file: no claim which choice is right (variants.py), and no step of another node.
Nothing is saved on an operator: checkpoints are with the manager.
"""

from __future__ import annotations

from typing import Any

from model.boxes.box import Item, Out
from model.core import (
    DISCARDED,
    REPLAYED,
    RESTORED,
    Effect,
    Input,
    NodeName,
    Note,
    Received,
    Send,
    SetTimer,
    Site,
    Step,
    TimerFired,
)
from model.protocols.uncoordinated.deployment import CHECKPOINT, GRANT, MANAGER
from model.protocols.uncoordinated.design import (
    Duplicates,
    Exchange,
    IndexOn,
    Induced,
    MessageLog,
    PassesOn,
)
from model.protocols.uncoordinated.messages import (
    BEFORE_LINE,
    INDUCED_CHECKPOINTS,
    CheckpointTaken,
    Credit,
    LineMoved,
    LoggedRecord,
    LoggingTask,
    ReturnToLine,
    Settled,
    TaskCheckpoint,
    WrittenRecord,
)
from model.queues import STALE_NOTE


def operate(site: Site, state: LoggingTask, input_: Input) -> Step:
    match input_:
        case TimerFired(timer):
            return _grant(site, state) if timer == GRANT else _capture(site, state)
        case Received(_, ReturnToLine() as order):
            return _go_back(site, state, order)
        case Received(_, LineMoved() as line):
            return _let_go(site, state, line)
        case Received(sender, message):
            return _take(site, state, sender, message)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


# --- checkpoints -----------------------------------------------------------------------------
def _capture(site: Site, state: LoggingTask) -> Step:
    """A checkpoint by the operator's own timer, if there is anything new."""
    if not state.changed:
        return Step(state)
    step = 0 if site.config.design.induced is Induced.NEVER else 1
    return _checkpoint(state, state.part.level + step)


def _checkpoint(state: LoggingTask, level: int) -> Step:
    part = state.part._replace(level=level)
    taken = Send(MANAGER, CheckpointTaken(state.run, part))
    return Step(state._replace(part=part, changed=False), (taken,))


def _induce(site: Site, state: LoggingTask, level: int, when: Induced) -> Step:
    """The checkpoint that a message with a higher index forces (Survey, 3.3)."""
    if site.config.design.induced is not when or level <= state.part.level:
        return Step(state)
    state, effects = _checkpoint(state, level)
    return Step(state, (Note(INDUCED_CHECKPOINTS), *effects))


# --- messages --------------------------------------------------------------------------------
def _take(site: Site, state: LoggingTask, sender: NodeName, message: Any) -> Step:
    """Take a message of this run; one of a later run waits until the operator is in this run."""
    if message.run < state.run:
        return Step(state, (STALE_NOTE,))
    if message.run > state.run:
        return Step(state._replace(early=(*state.early, (sender, message))), (Note(BEFORE_LINE),))
    if not _is_new(site, state.part, sender, message):
        return Step(state, (Note(DISCARDED),))
    state, before = _induce(site, state, message.level, Induced.BEFORE)
    if isinstance(message, Credit):
        state, effects = _credit(site, state, sender, message.total)
    else:
        state, effects = _process(site, state, sender, message)
    state, after = _induce(site, state, message.level, Induced.AFTER)
    return Step(state, (*before, *effects, *after))


def _is_new(
    site: Site, part: TaskCheckpoint, sender: NodeName, message: LoggedRecord | Credit
) -> bool:
    if isinstance(message, Credit):
        credited: int = part.credited[site.config.below.index(sender)]
        return message.total > credited
    takes = site.config.design.duplicates is Duplicates.TAKEN
    return takes or message.number > part.received[site.preds.index(sender)]


def _process(site: Site, state: LoggingTask, sender: NodeName, record: LoggedRecord) -> Step:
    """Feed the box; of several allowed answers the one that the run chooses."""
    edge = site.preds.index(sender)
    answers = site.spec.feed(state.part.box, Item(edge, *record.out))
    fed = answers[state.run % len(answers)]
    received = _put(state.part.received, edge, record.number)
    part = state.part._replace(box=fed.state, received=received)
    effects: list[Effect] = []
    for out in fed.outs:
        part, sends = _put_out(site, state.run, part, out)
        effects += sends
    timers = [SetTimer(CHECKPOINT)]
    if sender in site.config.above and site.config.design.exchange is Exchange.CREDITS:
        timers.append(SetTimer(GRANT))
    return Step(state._replace(part=part, changed=True), (*effects, *timers))


def _put_out(
    site: Site, run: int, part: TaskCheckpoint, out: Out
) -> tuple[TaskCheckpoint, tuple[Send, ...]]:
    """Number an output, keep it for restarts, and send it where it need not wait for a credit."""
    job, number = site.config, part.made + 1
    keeps = job.below and job.design.logs is MessageLog.KEPT
    kept = part.kept.append((number, out)) if keeps else part.kept
    part = part._replace(made=number, kept=kept)
    record = LoggedRecord(run, part.level, number, out)
    downs = (
        Send(name, record)
        for branch, name in enumerate(job.below)
        if number <= _last(site, part, branch)
    )
    return part, (*downs, *(Send(name, WrittenRecord(number, out)) for name in job.sinks))


def _last(site: Site, part: TaskCheckpoint, branch: int) -> int:
    """The last output that may go to this operator below: one more than it has given credits."""
    if site.config.design.exchange is Exchange.ONE_WAY:
        return part.made
    return part.credited[branch] + 1


def _credit(site: Site, state: LoggingTask, sender: NodeName, total: int) -> Step:
    """Send the outputs that have waited for this credit."""
    branch = site.config.below.index(sender)
    old, part = state.part.credited[branch], state.part
    part = part._replace(credited=_put(part.credited, branch, total))
    sends = tuple(
        Send(sender, LoggedRecord(state.run, part.level, number, out))
        for number, out in part.kept
        if old + 1 < number <= total + 1
    )
    return Step(state._replace(part=part, changed=True), (*sends, SetTimer(CHECKPOINT)))


def _grant(site: Site, state: LoggingTask) -> Step:
    """Give each operator above a credit for what has been processed."""
    part = state.part
    new = [
        (site.preds.index(name), name)
        for name in site.config.above
        if part.received[site.preds.index(name)] > part.granted[site.preds.index(name)]
    ]
    if not new:
        return Step(state)
    sends = tuple(
        _credit_for(site, name, Credit(state.run, part.level, part.received[edge]))
        for edge, name in new
    )
    for edge, _ in new:
        part = part._replace(granted=_put(part.granted, edge, part.received[edge]))
    return Step(state._replace(part=part, changed=True), (*sends, SetTimer(CHECKPOINT)))


def _credit_for(site: Site, name: NodeName, credit: Credit) -> Send:
    bare = site.config.design.index_on is IndexOn.OUTPUTS
    return Send(name, credit._replace(level=0) if bare else credit)


def _put(counts: tuple[int, ...], at: int, count: int) -> tuple[int, ...]:
    return (*counts[:at], count, *counts[at + 1 :])


# --- the recovery line -----------------------------------------------------------------------
def _let_go(site: Site, state: LoggingTask, line: LineMoved) -> Step:
    """Let go of outputs that no restart asks for; the sinks may pass on those that none undoes."""
    if line.run != state.run:
        return Step(state, (STALE_NOTE,))
    kept = state.part.kept.trim(lambda one: one[0] <= line.needed)
    state = state._replace(part=state.part._replace(kept=kept))
    return Step(state, _to_sinks(site, Settled(line.made)))


def _to_sinks(site: Site, message: Settled) -> tuple[Send, ...]:
    if site.config.design.outputs is PassesOn.AT_ONCE:
        return ()
    return tuple(Send(name, message) for name in site.config.sinks)


def _go_back(site: Site, state: LoggingTask, order: ReturnToLine) -> Step:
    """Go on from a checkpoint in a new run: send its log again, then take what has come early."""
    part = order.checkpoint
    assert part is not None  # a source alone has none
    design = site.config.design
    settled = _to_sinks(site, Settled(part.made, back=True))
    again = _replay(site, order.run, part)
    effects: list[Effect] = [*settled, Note(RESTORED), Note(REPLAYED, len(again)), *again]
    if design.exchange is Exchange.CREDITS and part.received != part.granted:
        effects.append(SetTimer(GRANT))
    early = [one for one in state.early if one[1].run >= order.run]
    state = LoggingTask(order.run, part)
    for sender, message in early:
        state, more = _take(site, state, sender, message)
        effects += more
    return Step(state, tuple(effects))


def _replay(site: Site, run: int, part: TaskCheckpoint) -> tuple[Send, ...]:
    """The messages of a checkpoint that may have been on their way."""
    job = site.config
    level = 0 if job.design.index_on is IndexOn.NOT_REPLAYED else part.level
    downs = tuple(
        Send(name, LoggedRecord(run, level, number, out))
        for number, out in part.kept
        for branch, name in enumerate(job.below)
        if number <= _last(site, part, branch)
    )
    ups = tuple(
        _credit_for(site, name, Credit(run, level, part.granted[site.preds.index(name)]))
        for name in job.above
        if part.granted[site.preds.index(name)]
    )
    return (*downs, *ups)
