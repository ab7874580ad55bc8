"""The steps of the transaction coordinator: epochs, outcomes, markers; it may crash.

Rule of this file: no step of a worker or of a partition.
"""

from __future__ import annotations

from model.core import (
    Effect,
    Input,
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
from model.protocols.kafka_transactions.design import EpochBump, ZombieFence
from model.protocols.kafka_transactions.messages import (
    MARKED_AGAIN,
    TIMED_OUT,
    EndMarker,
    EndTransaction,
    InitProducer,
    ProducerEntry,
    ProducerFenced,
    ProducerReady,
    TransactionEnded,
    TransactionLog,
    TransactionTag,
)
from model.protocols.kafka_transactions.worker import SUCCESSOR
from model.queues import Restarted
from model.timers import TimerName, parse_timer

EXPIRE = "expire"


def first_log(site: Site) -> TransactionLog:
    """The log before anything has happened: the worker is ready, and so is its successor if it has
    an id of its own."""
    worker = site.config.worker
    entries = [(worker, ProducerEntry(worker))]
    if site.config.design.fence is not ZombieFence.EPOCH:
        entries.append((SUCCESSOR, ProducerEntry(SUCCESSOR)))
    return TransactionLog(tuple(entries))


def coordinate(site: Site, state: TransactionLog, input_: Input) -> Step:
    match input_:
        case Received(worker, InitProducer()):
            return _init(site, state, worker)
        case Received(worker, EndTransaction(tag, commits)):
            return _end(site, state, worker, tag, commits=commits)
        case TimerFired(timer):
            producer = parse_timer(timer).key
            state, effects = _abort(site, state, producer)
            return Step(state, (Note(TIMED_OUT), *effects))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def _init(site: Site, state: TransactionLog, worker: NodeName) -> Step:
    """A worker begins: its predecessor's transaction is aborted, and fenced."""
    effects: list[Effect] = []
    if site.config.design.fence is ZombieFence.GENERATION:
        for other, _ in state.entries:
            if other != worker:
                state, more = _abort(site, state, other)
                effects += more
    producer = site.config.worker if site.config.design.fence is ZombieFence.EPOCH else worker
    before = dict(state.entries)[producer]
    last = _open(before)
    begun = ProducerEntry(worker, before.epoch + 1, last, committed=False, complete=False)
    state, more = _write(site, state, producer, begun)
    ready = Send(worker, ProducerReady(begun.epoch))
    return Step(state, (*effects, *more, *_timers(site, producer), ready))


def _end(
    site: Site, state: TransactionLog, worker: NodeName, tag: TransactionTag, *, commits: bool
) -> Step:
    """End the transaction; a request that comes again has the same answer."""
    entries = dict(state.entries)
    producer = site.config.worker if site.config.design.fence is ZombieFence.EPOCH else worker
    entry = entries[producer]
    if entry.owner != worker:
        return Step(state, (Send(worker, ProducerFenced()),))
    effects: tuple[Effect, ...] = ()
    if tag == _open(entry):
        rises = site.config.design.bump is EpochBump.EACH
        ended = ProducerEntry(worker, entry.epoch + rises, tag, commits, complete=False)
        state, effects = _write(site, state, producer, ended)
        effects = (*effects, *_timers(site, producer))
        entry = ended
    committed = entry.committed and entry.last == tag
    return Step(state, (*effects, Send(worker, TransactionEnded(tag, committed, entry.epoch))))


def _abort(site: Site, state: TransactionLog, producer: NodeName) -> Step:
    """Abort the open transaction of the producer, if it has one."""
    entry = dict(state.entries)[producer]
    rises = site.config.design.bump is EpochBump.EACH
    last = _open(entry)
    ended = ProducerEntry(entry.owner, entry.epoch + rises, last, committed=False, complete=False)
    return _write(site, state, producer, ended)


def _open(entry: ProducerEntry) -> TransactionTag:
    """The transaction of the producer that may be open."""
    same = entry.last.epoch == entry.epoch
    return TransactionTag(entry.epoch, entry.last.number + 1 if same else 1)


def _write(site: Site, state: TransactionLog, producer: NodeName, ended: ProducerEntry) -> Step:
    """Log the outcome, write the markers, and log that they are written."""
    prepared = _with(state, producer, ended)
    complete = _with(state, producer, ended._replace(complete=True))
    marker = EndMarker(producer, ended.epoch, ended.committed)
    sends = tuple(Send(partition, marker) for partition in site.succs)
    log = (Save(prepared),) if site.config.design.logs else ()
    return Step(complete, (*log, *sends, Save(complete)))


def _with(state: TransactionLog, producer: NodeName, entry: ProducerEntry) -> TransactionLog:
    return TransactionLog(
        tuple((name, entry if name == producer else one) for name, one in state.entries)
    )


def _timers(site: Site, producer: NodeName) -> tuple[SetTimer, ...]:
    return (SetTimer(str(TimerName(EXPIRE, producer))),) if site.config.timed else ()


def recover_log(site: Site, durable: TransactionLog | None) -> Step:
    """Write the markers that may be missing, and have the workers ask again."""
    state = durable or first_log(site)
    effects: list[Effect] = []
    for producer, entry in state.entries:
        if not entry.complete:
            state, more = _write(site, state, producer, entry)
            effects += (Note(MARKED_AGAIN), *more)
        effects += _timers(site, producer)
    return Step(state, (*effects, *(Send(worker, Restarted()) for worker in site.preds)))
