"""The steps of the external system, which keeps transactions and shows them to readers.

Rule of this file: no step of a job.  Every message is a transaction of the external system itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from model.core import Effect, Emit, Input, Note, Received, Send, SetTimer, Site, Step, TimerFired
from model.protocols.two_phase_sink.design import (
    ExpiryRule,
    Isolation,
    RestorePolicy,
    SecondCommit,
    TransactionalIds,
    TwoPhaseDesign,
)
from model.protocols.two_phase_sink.messages import (
    COMMITTED_IN_VAIN,
    SINK_ABORTED,
    SINK_COMMITTED,
    SINK_EXPIRED,
    BrokerState,
    BrokerTransaction,
    CommitPrepared,
    PrepareTransaction,
    RestoreWriter,
    SinkTransaction,
    TransactionPrepared,
    WriterEntry,
    WriteResult,
    WriterRestored,
)
from model.queues import STALE_NOTE
from model.timers import TimerName

EXPIRE = "expire"


class SinkConfig(NamedTuple):
    """The knowledge of a site.  timed: do transactions have a time-out in this scope?"""

    design: TwoPhaseDesign
    timed: bool


def take(site: Site, state: BrokerState, input_: Input) -> Step:
    match input_:
        case TimerFired(timer):
            return _expire(site, state, timer)
        case Received(writer, message):
            edge = site.preds.index(writer)
            match message:
                case WriteResult():
                    return _write(site, state, edge, message)
                case PrepareTransaction():
                    return _prepare(site, state, edge, message)
                case CommitPrepared(of):
                    return _commit(site, state, edge, of)
                case RestoreWriter():
                    return _restore(site, state, edge, message)
    raise TypeError(f"{site.name}: nothing to do with {input_}")


# --- results ---------------------------------------------------------------------------------
def _write(site: Site, state: BrokerState, edge: int, message: WriteResult) -> Step:
    of, place, out = message
    if _is_refused(site, state, edge, of):
        return Step(state, (STALE_NOTE,))
    aborted: tuple[Effect, ...] = ()
    if site.config.design.ids is TransactionalIds.ONE:
        state, aborted = _abort(
            state, lambda one: one.edge == edge and one.of != of and not one.committed
        )
    state, timers = _opened(site, state, edge, of)
    one = _find(state, edge, of)
    one = one._replace(results=tuple(sorted((*one.results, (place, out)))))
    state, effects = _answer(site, _put(state, one), one)
    shown = site.config.design.reads is Isolation.UNCOMMITTED
    emits = (Emit((edge, out.body), out.of),) if shown else ()
    return Step(state, (*aborted, *timers, *emits, *effects))


def _prepare(site: Site, state: BrokerState, edge: int, message: PrepareTransaction) -> Step:
    of, count = message
    if of <= state.writers[edge].ended:
        return Step(state, (Send(site.preds[edge], TransactionPrepared(of, alive=False)),))
    if _is_refused(site, state, edge, of):
        return Step(state, (STALE_NOTE,))
    if not count:
        return Step(state, (Send(site.preds[edge], TransactionPrepared(of, alive=True)),))
    state, timers = _opened(site, state, edge, of)
    one = _find(state, edge, of)._replace(expected=count)
    state, effects = _answer(site, _put(state, one), one)
    return Step(state, (*timers, *effects))


def _is_refused(site: Site, state: BrokerState, edge: int, of: SinkTransaction) -> bool:
    """Has the transaction ended, or does it belong to a job that has been restored since?"""
    epoch, ended, _ = state.writers[edge]
    return of <= ended or (site.config.design.fences and of.epoch < epoch)


def _answer(site: Site, state: BrokerState, one: BrokerTransaction) -> Step:
    """Report to the job if the transaction is prepared."""
    answer = Send(site.preds[one.edge], TransactionPrepared(one.of, alive=True))
    return Step(state, (answer,) if one.prepared else ())


# --- ends of transactions --------------------------------------------------------------------
def _commit(site: Site, state: BrokerState, edge: int, of: SinkTransaction) -> Step:
    if any(one.edge == edge and one.of == of for one in state.transactions):
        return _finish(site, state, lambda one: (one.edge, one.of) == (edge, of), ())
    applied = state.writers[edge].applied
    if applied is not None and applied.of == of:
        return Step(state, _shown(site, applied))
    return Step(state, (Note(COMMITTED_IN_VAIN),))


def _restore(site: Site, state: BrokerState, edge: int, message: RestoreWriter) -> Step:
    """Begin a new epoch of the writer, and settle the transactions of those before it."""
    policy, ids = site.config.design.restores, site.config.design.ids
    committed, named = message
    epoch = named or state.writers[edge].epoch + 1
    if epoch <= state.writers[edge].epoch:
        return Step(state, (STALE_NOTE,))
    state = _with_writer(state, edge, state.writers[edge]._replace(epoch=epoch))
    answer = Send(site.preds[edge], WriterRestored(epoch))

    def commits(one: BrokerTransaction) -> bool:
        kept = one.of <= committed and policy is not RestorePolicy.ABORT
        return one.edge == edge and (kept or policy is RestorePolicy.COMMIT)

    def aborts(one: BrokerTransaction) -> bool:
        own = one.edge == edge and policy is not RestorePolicy.KEEP
        shared = ids is TransactionalIds.SHARED and one.prepared
        return (own or shared) and not one.committed

    applied = state.writers[edge].applied
    again = _shown(site, applied) if applied is not None and applied.of == committed else ()
    state, effects = _finish(site, state, commits, again)
    state, more = _abort(state, aborts)
    state, last = _release(site, state)
    return Step(state, (*effects, *more, *last, answer))


def _expire(site: Site, state: BrokerState, timer: str) -> Step:
    """The time-out of a transaction, which may have ended meanwhile."""
    rule = site.config.design.expires

    def late(one: BrokerTransaction) -> bool:
        kept = one.committed or (one.prepared and rule is ExpiryRule.OPEN)
        return _timer(one) == timer and not kept

    gone = [one for one in state.transactions if late(one)]
    asked = [one for one in gone if one.expected is not None and not one.prepared]
    answers = tuple(
        Send(site.preds[one.edge], TransactionPrepared(one.of, alive=False)) for one in asked
    )
    state, effects = _abort(state, late)
    state, more = _release(site, state)
    return Step(state, (Note(SINK_EXPIRED, len(gone)), *effects, *more, *answers))


def _finish(
    site: Site,
    state: BrokerState,
    commits: Callable[[BrokerTransaction], bool],
    effects: tuple[Effect, ...],
) -> Step:
    """Commit these transactions."""
    done = [one for one in state.transactions if commits(one) and not one.committed]
    for one in done:
        state = _put(_ended(state, one), one._replace(committed=True))
    state, more = _release(site, state)
    notes = (Note(SINK_COMMITTED, len(done)),) if done else ()
    return Step(state, (*effects, *notes, *more))


def _abort(state: BrokerState, aborts: Callable[[BrokerTransaction], bool]) -> Step:
    """Remove these transactions."""
    gone = [one for one in state.transactions if aborts(one)]
    for one in gone:
        state = _ended(state, one)
    left = tuple(one for one in state.transactions if one not in gone)
    notes = (Note(SINK_ABORTED, len(gone)),) if gone else ()
    return Step(state._replace(transactions=left), notes)


def _release(site: Site, state: BrokerState) -> Step:
    """Show the readers the committed results, up to the first transaction that has not ended."""
    effects: list[Effect] = []
    while state.transactions and state.transactions[0].committed:
        first, *left = state.transactions
        effects += _shown(site, first)
        state = state._replace(transactions=(*left,))
        if site.config.design.again is SecondCommit.APPLIED:
            writer = state.writers[first.edge]._replace(applied=first)
            state = _with_writer(state, first.edge, writer)
    return Step(state, tuple(effects))


def _shown(site: Site, one: BrokerTransaction) -> tuple[Emit, ...]:
    """The results of a transaction, unless readers have seen them before its end."""
    if site.config.design.reads is Isolation.UNCOMMITTED:
        return ()
    return tuple(Emit((one.edge, out.body), out.of) for _, out in one.results)


# --- the list of transactions ----------------------------------------------------------------
def _opened(site: Site, state: BrokerState, edge: int, of: SinkTransaction) -> Step:
    """The state with this transaction, whose time-out begins if it is new."""
    if any((one.edge, one.of) == (edge, of) for one in state.transactions):
        return Step(state)
    one = BrokerTransaction(of, edge)
    timers = (SetTimer(_timer(one)),) if site.config.timed else ()
    return Step(state._replace(transactions=tuple(sorted((*state.transactions, one)))), timers)


def _timer(one: BrokerTransaction) -> str:
    return str(TimerName(EXPIRE, f"{one.edge}.{one.of.epoch}.{one.of.number}"))


def _find(state: BrokerState, edge: int, of: SinkTransaction) -> BrokerTransaction:
    return next(one for one in state.transactions if (one.edge, one.of) == (edge, of))


def _put(state: BrokerState, changed: BrokerTransaction) -> BrokerState:
    """The state with the transaction in place of the one with its id."""
    key = (changed.edge, changed.of)
    return state._replace(
        transactions=tuple(
            changed if (one.edge, one.of) == key else one for one in state.transactions
        )
    )


def _ended(state: BrokerState, one: BrokerTransaction) -> BrokerState:
    writer = state.writers[one.edge]
    return _with_writer(state, one.edge, writer._replace(ended=max(writer.ended, one.of)))


def _with_writer(state: BrokerState, edge: int, writer: WriterEntry) -> BrokerState:
    writers = state.writers
    return state._replace(writers=(*writers[:edge], writer, *writers[edge + 1 :]))
