"""The execution of writes, and of the outputs that wait for them.

Rule of this file: each step names its algorithm and step; effects stand in the paper's order.
LOG.io, Algorithms 5 and 8; Sections 3.5.1 (causal dependencies) and 3.5.3.
"""

from __future__ import annotations

from collections.abc import Sequence

from model.core import Answer, Effect, NodeName, Send, Site
from model.protocols.log_io.messages import Check, Executed, Put, Write
from model.protocols.log_io.places import LOG
from model.protocols.log_io.quantities import TAKEN_EFFECT, note
from model.protocols.log_io.states import Pending, RunningOperator, WaitingOutput
from model.protocols.log_io.tables import LoggedEvent
from model.protocols.log_io.writing import groups


def hand_on(
    site: Site, state: RunningOperator, rows: Sequence[LoggedEvent], check: bool = False
) -> tuple[RunningOperator, tuple[Effect, ...]]:
    """Send logged outputs (Algorithm 3, step 5), and let writes be executed (step 6).

    check: ask first whether a write has taken effect (Algorithm 8).
    """
    outputs = [row for row in rows if row.receiver not in site.spec.sinks]
    writes = [row for row in rows if row.receiver in site.spec.sinks]
    state, executed = _execute_all(site, state, writes, check)
    back = site.spec.read_back
    if not back:
        return state, (*put_all(site, outputs), *executed)
    # 3.5.1: the steps are reordered if a successor reads what is written
    after = frozenset(write[:2] for write in state.pending if write.sink in back)
    waiting = (*state.waiting, *(WaitingOutput(row, after) for row in outputs))
    state, sent = _release(site, state._replace(waiting=waiting))
    return state, (*executed, *sent)


def put_all(site: Site, rows: Sequence[LoggedEvent]) -> tuple[Effect, ...]:
    """Send logged outputs to operators (Algorithm 1, step 2.c; Algorithm 3, step 5)."""
    return tuple(put(site, row.receiver, Put(row.number, row.data)) for row in rows)


def put(site: Site, receiver: NodeName, event: Put) -> Send:
    """Send an event into the connection to its receiver, if there is one that lasts."""
    return Send(site.spec.outs[site.succs.index(receiver)], event)


def _release(site: Site, state: RunningOperator) -> tuple[RunningOperator, tuple[Effect, ...]]:
    """Send the outputs whose writes have succeeded, in their order."""
    pending = {write[:2] for write in state.pending}
    at = next((at for at, one in enumerate(state.waiting) if one.after & pending), None)
    free = state.waiting[:at]
    left = () if at is None else state.waiting[at:]
    return state._replace(waiting=left), put_all(site, [one.row for one in free])


# --- Algorithm 5 -----------------------------------------------------------------------------
def _execute_all(
    site: Site, state: RunningOperator, rows: Sequence[LoggedEvent], check: bool
) -> tuple[RunningOperator, tuple[Effect, ...]]:
    if site.spec.design.groups is not None:
        return groups.begin(site, state, rows, check)
    effects: list[Effect] = []
    for row in rows:
        write = Pending(row.receiver, row.number, row.data, check)
        if not state.pending:  # one by one
            effects.append(_execute(write))
        state = state._replace(pending=(*state.pending, write))
    return state, tuple(effects)


def _execute(write: Pending) -> Send:
    """Algorithm 5, step 1; before it, after a restart, the question of Algorithm 8, step 2.

    Algorithm 5, step 2: a write fails here with its node alone, which repeats it by Algorithm 8.
    """
    sink, number, body, check, _ = write
    return Send(sink, Check(number, body) if check else Write(number, body))


def succeed(site: Site, state: RunningOperator, sink: NodeName, number: int) -> Answer:
    """The external system has executed a write, or the group of which it is the last one.

    Algorithm 8, step 2.a, of a write that had taken effect before the restart; else Algorithm 5,
    step 3.
    """
    if site.spec.design.groups is not None:
        state, effects = groups.succeed(site, state, sink, number)
        state, sent = _release(site, state)
        return state, (*effects, *sent)
    left = tuple(write for write in state.pending if write[:2] != (sink, number))
    found = [write for write in state.pending if write[:2] == (sink, number)]
    confirmed = note(TAKEN_EFFECT, sum(write.check for write in found))
    done = Send(LOG, Executed(sink, number))  # step 3
    more: tuple[Effect, ...] = ()
    if left and found:
        more = (_execute(left[0]),)
    state, sent = _release(site, state._replace(pending=left))
    return state, (*confirmed, done, *sent, *more)
