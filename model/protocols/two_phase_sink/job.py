"""The steps of a job: read, write into a transaction, checkpoint, commit; restore.

Rule of this file: no step of the external system, and no claim which choice is right.
"""

from __future__ import annotations

from model.boxes.box import Item
from model.core import (
    CHECKPOINTED,
    RESTORED,
    Effect,
    Fail,
    Input,
    Note,
    Received,
    Save,
    Send,
    SetTimer,
    Site,
    Step,
    TimerFired,
)
from model.events import Event
from model.protocols.two_phase_sink.design import CommitMoment, SavepointRule
from model.protocols.two_phase_sink.messages import (
    CommitPrepared,
    JobCheckpoint,
    PrepareTransaction,
    RestoreWriter,
    RestoringJob,
    RunningJob,
    SinkTransaction,
    TransactionPrepared,
    WriteResult,
    WriterRestored,
)
from model.queues import STALE_NOTE, Inlet, Replay, Replayed, Trim

CHECKPOINT, SAVEPOINT = "checkpoint", "savepoint"


def begin(site: Site) -> RunningJob:
    """The state of a job before the first event."""
    return RunningJob(Inlet(), site.spec.begin(1), SinkTransaction(1, 1))


def work(site: Site, state: RunningJob, input_: Input) -> Step:
    match input_:
        case Received(_, Event() as event) if state.inlet.is_next(event):
            return _process(site, state, event)
        case Received(_, Replayed() as answer):
            return Step(state._replace(inlet=state.inlet.begin(answer)))
        case TimerFired(timer):
            return _due(site, state, timer)
        case Received(_, TransactionPrepared(of, alive)) if (
            state.pending is not None and of == state.pending.transaction
        ):
            return _complete(site, state) if alive else Step(state, (Fail(),))
        case Received(_, WriterRestored(epoch)) if epoch > state.open.epoch:
            return Step(state, (Fail(),))  # a restoration from before the last crash: begin again
        case Received(_, Event() | TransactionPrepared() | WriterRestored()):
            return Step(state, (STALE_NOTE,))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def _process(site: Site, state: RunningJob, event: Event) -> Step:
    """Feed the operator, of whose allowed answers the first one counts."""
    fed, *_ = site.spec.feed(state.box, Item(0, event.body))
    writes = tuple(
        Send(site.succs[0], WriteResult(state.open, place, out))
        for place, out in enumerate(fed.outs, state.made)
    )
    inlet, made = state.inlet.take(event), state.made + len(writes)
    after = state._replace(inlet=inlet, box=fed.state, made=made)
    return Step(after, (*writes, SetTimer(CHECKPOINT)))


# --- checkpoints -----------------------------------------------------------------------------
def _due(site: Site, state: RunningJob, timer: str) -> Step:
    """A checkpoint or a savepoint is due; one is under way at a time."""
    rule = site.config.design.savepoints
    if timer == SAVEPOINT and rule is SavepointRule.COPIES:
        return Step(state)
    if state.pending is not None:
        return Step(state._replace(asked=state.asked or timer == SAVEPOINT))
    return _prepare(site, state, saves=timer != SAVEPOINT or rule is SavepointRule.COUNTS)


def _prepare(site: Site, state: RunningJob, *, saves: bool) -> Step:
    """Capture the state, begin the next transaction and have this one prepared."""
    ended = state.open
    pending = JobCheckpoint(state.inlet.place, state.box, ended, ended.epoch)
    opened = SinkTransaction(ended.epoch, ended.number + 1)
    after = state._replace(open=opened, made=0, pending=pending, saves=saves)
    prepare = Send(site.succs[0], PrepareTransaction(ended, state.made))
    if site.config.design.flushes:
        return Step(after, (prepare,))
    done = _complete(site, after)
    return Step(done.state, (prepare, *done.effects))


def _complete(site: Site, state: RunningJob) -> Step:
    """The pending checkpoint is complete: its transaction is committed."""
    pending = state.pending
    assert pending is not None
    commit = Send(site.succs[0], CommitPrepared(pending.transaction))
    saved: tuple[Effect, ...] = (Save(pending), Note(CHECKPOINTED)) if state.saves else ()
    if site.config.design.commits is CommitMoment.PREPARED:
        effects: tuple[Effect, ...] = (commit, *saved)
    else:
        effects = (*saved, commit)
    if state.saves:
        effects = (*effects, Send(site.preds[0], Trim(pending.place)))
    after = state._replace(pending=None, saves=True, asked=False)
    if state.asked:
        retained = site.config.design.savepoints is SavepointRule.COUNTS
        after, more = _prepare(site, after, saves=retained)
        return Step(after, (*effects, *more))
    behind = state.inlet.place > pending.place or not state.saves
    return Step(after, (*effects, SetTimer(CHECKPOINT)) if behind else effects)


# --- restarts --------------------------------------------------------------------------------
def restore(site: Site, durable: JobCheckpoint | None) -> Step:
    """Settle the transactions of the job before the crash."""
    checkpoint = durable or JobCheckpoint(0, site.spec.begin(1))
    if not site.config.design.numbered:
        settle = RestoreWriter(checkpoint.transaction)
        return Step(RestoringJob(checkpoint), (Send(site.succs[0], settle),))
    checkpoint = checkpoint._replace(epoch=checkpoint.epoch + 1)
    settle = RestoreWriter(checkpoint.transaction, checkpoint.epoch)
    return Step(RestoringJob(checkpoint), (Save(checkpoint), Send(site.succs[0], settle)))


def resume(site: Site, state: RestoringJob, input_: Input) -> Step:
    numbered = site.config.design.numbered
    match input_:
        case Received(_, WriterRestored(epoch)) if not numbered or epoch == state.checkpoint.epoch:
            place, box, transaction, _ = state.checkpoint
            replay = Replay(place)
            opened = SinkTransaction(epoch, transaction.number + 1)
            after = RunningJob(Inlet(place, request=replay), box, opened)
            return Step(after, (Note(RESTORED), Send(site.preds[0], replay)))
        case Received():
            return Step(state, (STALE_NOTE,))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")
