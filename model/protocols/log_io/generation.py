"""The generation of outputs and the execution of writes.

Rule of this file: each step names its algorithm and step; effects stand in the paper's order.
LOG.io, Algorithms 3 and 5.
"""

from __future__ import annotations

from typing import Any

from model.boxes.box import Lineage, Out
from model.boxes.triggered import Sets
from model.core import Answer, Effect, NodeName, Send, Site
from model.protocols.log_io.design import Delivery, Executes
from model.protocols.log_io.messages import Check, Commit, Executed, Put, Write
from model.protocols.log_io.places import AHEAD, LOG
from model.protocols.log_io.quantities import CONFIRMED, note
from model.protocols.log_io.scaling.roles import may_fail, receives
from model.protocols.log_io.states import Operator, Pending
from model.protocols.log_io.tables import Context, LoggedEvent, Used


def generate(
    site: Site, state: Operator, outs: tuple[Out, ...], key: Any, inset: int, inputs: int
) -> tuple[Operator, tuple[Effect, ...]]:
    """The outputs of an Input Set with so many inputs."""
    rows, used = [], []
    for out in outs:  # step 3: numbers of the outputs
        for at, succ in enumerate(site.succs):
            if not receives(site, state, succ, out.body):
                continue
            sent = (*state.sent[:at], state.sent[at] + 1, *state.sent[at + 1 :])
            state = state._replace(sent=sent)
            rows.append(LoggedEvent(site.name, succ, sent[at], 0, out.body))
            really = _inputs_of(site.preds, out.of)
            used.append(Used(site.name, succ, sent[at], inset, really))
    state = state._replace(open=tuple(entry for entry in state.open if entry[0] != key))
    lineage = tuple(used) if site.spec.design.lineage else ()
    commit = Send(LOG, Commit(tuple(rows), context_of(state), inset, lineage))  # step 4
    if may_fail(site):
        asking = Send(LOG, commit.message._replace(asks=inputs))
        return state._replace(committing=tuple(rows)), (asking,)
    state, effects = hand_on(site, state, rows)  # steps 5 and 6
    return state, (commit, *effects)


def context_of(state: Operator) -> Context:
    """The global state; the event states are made anew from the undone inputs."""
    box = _global_state(state.box)
    return Context(box, state.last, state.sent, state.insets, state.newest, state.alone)


def _global_state(box: Any) -> Any:
    if isinstance(box, Sets):
        return Sets((), box.done)
    if isinstance(box, tuple) and all(isinstance(one, Sets) for one in box):
        return tuple(_global_state(one) for one in box)
    return box


def hand_on(
    site: Site, state: Operator, rows: list[LoggedEvent], check: bool = False
) -> tuple[Operator, tuple[Effect, ...]]:
    """Send logged outputs (Algorithm 3, step 5), and let writes be executed (step 6)."""
    design = site.spec.design
    effects: list[Effect] = []
    for row in rows:
        if row.receiver not in site.spec.sinks:
            lasting = design.connection is Delivery.LASTING
            to = f"{site.name}{AHEAD}{row.receiver}" if lasting else row.receiver
            effects.append(Send(to, Put(row.number, row.body)))
            continue
        write = Pending(row.receiver, row.number, row.body, check)
        if design.executes is Executes.TOGETHER or not state.pending:
            effects.append(_execute(write))
        state = state._replace(pending=(*state.pending, write))
    return state, tuple(effects)


def _inputs_of(edge_names: tuple[NodeName, ...], of: Lineage) -> frozenset[tuple[NodeName, int]]:
    return frozenset((edge_names[edge], place) for edge, place in of)


# --- Algorithm 5: writes ---------------------------------------------------------------------
def _execute(write: Pending) -> Send:
    sink, number, body, check = write
    return Send(sink, Check(number, body) if check else Write(number, body))


def succeed(
    site: Site, state: Operator, sink: NodeName, number: int, effects: tuple[Effect, ...]
) -> Answer:
    """The external system has executed a write."""
    left = tuple(write for write in state.pending if write[:2] != (sink, number))
    found = [write for write in state.pending if write[:2] == (sink, number)]
    confirmed = note(CONFIRMED, sum(write.check for write in found))
    done = Send(LOG, Executed(sink, number))
    more: tuple[Effect, ...] = ()
    if left and found and site.spec.design.executes is Executes.ONE_BY_ONE:
        more = (_execute(left[0]),)
    return state._replace(pending=left), (*confirmed, *effects, done, *more)
