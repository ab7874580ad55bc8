"""The generation of outputs.

Rule of this file: each step names its algorithm and step; effects stand in the paper's order.
LOG.io, Algorithm 3.
"""

from __future__ import annotations

from typing import Any

from model.boxes.box import Lineage as Inputs
from model.boxes.box import Out
from model.boxes.triggered import Functions, Sets, Triggered
from model.core import Effect, NodeName, Send, Site
from model.protocols.log_io.design import Executes, Grouped
from model.protocols.log_io.messages import Commit, Lineage, StoreRead
from model.protocols.log_io.places import LOG, SERVICE
from model.protocols.log_io.replaying.design import Logs
from model.protocols.log_io.replaying.messages import LogData
from model.protocols.log_io.scaling.roles import may_fail, receives
from model.protocols.log_io.states import Operator
from model.protocols.log_io.tables import Context, LoggedEvent, SetState, SideRead, Used
from model.protocols.log_io.writing.writes import hand_on


def generate(
    site: Site,
    before: Operator,
    state: Operator,
    outs: tuple[Out, ...],
    key: Any,
    inset: int,
    value: int | None = None,
) -> tuple[Operator, tuple[Effect, ...]]:
    """Algorithm 3 for an Input Set.  before: the operator before the input that triggers.
    value: what its side-effect read has shown, if it has one."""
    rows, outputs = [], []
    for out in outs:  # step 3: numbers of the outputs
        for at, succ in enumerate(site.succs):
            if not receives(site, state, succ, out.body):
                continue
            sent = (*state.sent[:at], state.sent[at] + 1, *state.sent[at + 1 :])
            state = state._replace(sent=sent)
            group = inset if succ in site.spec.sinks and _has_groups(site) else 0
            rows.append(LoggedEvent(site.name, succ, sent[at], 0, out.body, group=group))
            outputs.append((succ, sent[at], out))
    state = state._replace(open=tuple(entry for entry in state.open if entry[0] != key))
    lineage = _lineage(site, state, outputs, inset, value)
    logged = _without_data(site, rows)
    commit = Send(LOG, Commit(logged, context_of(state), inset, lineage))  # step 4
    if may_fail(site):
        asking = Send(LOG, commit.message._replace(asks=1 + _count(before.box, key)))
        return state._replace(committing=tuple(rows)), (asking,)
    state, effects = hand_on(site, state, rows)  # steps 5 and 6
    if site.spec.replays:
        made = _made(site, before, inset, rows)
        return state, _log_a_part(site, rows, commit.message._replace(states=made), effects)
    return state, (commit, *effects)


def _made(
    site: Site, before: Operator, inset: int, rows: list[LoggedEvent]
) -> tuple[SetState, ...]:
    """What a replay operator has to know of an Input Set (5.1; Algorithm 3, steps 2 and 4.5)."""
    return (SetState(site.name, inset, _global_state(before.box), tuple(row.key for row in rows)),)


def _log_a_part(
    site: Site, rows: list[LoggedEvent], commit: Commit, effects: tuple[Effect, ...]
) -> tuple[Effect, ...]:
    """Steps 4 to 6 of a replay operator, which logs no data before it sends (5.2)."""
    logs = site.spec.design.replaying.logs
    if logs is Logs.ALL:
        return (*effects, Send(LOG, commit))
    later = (Send(LOG, LogData(tuple(rows))),) if logs is Logs.DATA else ()
    return (Send(LOG, commit), *effects, *later)


def _without_data(site: Site, rows: list[LoggedEvent]) -> tuple[LoggedEvent, ...]:
    """What a replay operator logs: the data of writes alone (5.1)."""
    if not site.spec.replays or site.spec.design.replaying.logs is Logs.ALL:
        return tuple(rows)
    sinks = site.spec.sinks
    return tuple(row if row.receiver in sinks else row._replace(body=None) for row in rows)


def _has_groups(site: Site) -> bool:
    """Does the log have to know which writes are of one Output Set?"""
    design = site.spec.design
    return design.executes is Executes.GROUP and design.grouped is Grouped.OUTPUT_SET


def _lineage(
    site: Site,
    state: Operator,
    made: list[tuple[NodeName, int, Out]],
    inset: int,
    value: int | None,
) -> Lineage:
    """Step 4.5, of outputs (successor, number, output) on ports in OUT.

    There is one read for an Input Set, so the number of the set is its action_ID.
    """
    capture = site.spec.design.lineage
    if capture is None:
        return Lineage()
    read = None if value is None else SideRead(inset, inset, value)
    shown = frozenset() if read is None else frozenset({(SERVICE, read.number)})
    rows = tuple(
        Used(site.name, succ, number, inset, _inputs_of(site.preds, out.of) | shown)
        for succ, number, out in made
        if (site.name, succ) in capture.ports.outs
    )
    enabled = any(name == site.name for name, _ in capture.ports.outs)
    holds = not isinstance(site.spec.box, Triggered | Functions) and state.box != ()
    return Lineage(rows, read if enabled else None, enabled and holds)


def store_read(site: Site, inset: int, value: int) -> tuple[Effect, ...]:
    """Algorithm 4, step 2: "if data lineage is enabled, store the effect"."""
    capture = site.spec.design.lineage
    if capture is None or all(name != site.name for name, _ in capture.ports.outs):
        return ()
    return (Send(LOG, StoreRead(inset, value)),)


def _count(box: Any, key: Any) -> int:
    """How many events the Input Set has so far."""
    return sum(len(one.items) for one in box.open if one.key == key) if isinstance(box, Sets) else 0


def context_of(state: Operator) -> Context:
    """The global state; the event states are made anew from the undone inputs."""
    box = _global_state(state.box)
    return Context(box, state.updated, state.sent, state.insets, state.newest, state.alone)


def _global_state(box: Any) -> Any:
    if isinstance(box, Sets):
        return Sets((), box.done)
    if isinstance(box, tuple) and all(isinstance(one, Sets) for one in box):
        return tuple(_global_state(one) for one in box)
    return box


def _inputs_of(edge_names: tuple[NodeName, ...], of: Inputs) -> frozenset[tuple[NodeName, int]]:
    return frozenset((edge_names[edge], place) for edge, place in of)
