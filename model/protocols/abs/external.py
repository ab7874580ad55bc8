"""The external system of asynchronous barrier snapshotting: what writers change.

Rule of this file: every message is a transaction, and no step of another node is here.
LOG.io, Sections 8.1.1 and 9.1.
"""

from __future__ import annotations

from math import inf
from typing import Any

from model.boxes.box import Out
from model.core import Effect, Emit, NodeName, Note, Site, Step
from model.protocols.abs.design import Fences, Settles, WriteMode
from model.protocols.abs.messages import (
    ORPHANED,
    SETTLED,
    CommitEpoch,
    ExternalState,
    FromRun,
    Prepared,
    SettleEpoch,
    WriteAction,
)
from model.queues import STALE_NOTE


def change(site: Site, state: ExternalState, sender: NodeName, message: Any) -> Step:
    """Take a change; every message is a transaction of the external system."""
    design = site.config.design
    edge, last = site.preds.index(sender), dict(state.last)
    match message:
        case FromRun(run, message):
            return _compare_run(site, state, sender, run, message)
        case WriteAction(number, out):
            if design.writes is WriteMode.IDEMPOTENT and number <= last.get(sender, 0):
                return Step(state, (STALE_NOTE,))
            return Step(_numbered(site, state, sender, number), (Emit((edge, out.body), out.of),))
        case Prepared(_, outs, number) if design.writes is WriteMode.COUNTED:
            new = max(0, number - last.get(sender, 0))
            if not new:
                return Step(state, (STALE_NOTE,))
            return Step(_numbered(site, state, sender, number), _emits(edge, outs[-new:]))
        case Prepared(epoch, outs, _) if design.writes is not WriteMode.TWO_PHASES:
            if design.writes is WriteMode.CHECKED and epoch <= last.get(sender, 0):
                return Step(state, (STALE_NOTE,))
            return Step(_numbered(site, state, sender, epoch), _emits(edge, outs))
        case Prepared():
            return Step(state._replace(prepared=(*state.prepared, (sender, message))))
        case CommitEpoch(epoch):
            return _settle(state, sender, edge, epoch, drops=False)
        case SettleEpoch(epoch):
            limits = {Settles.BY_EPOCH: epoch, Settles.DROP: 0, Settles.COMMIT: inf}
            state, effects = _settle(state, sender, edge, limits[design.settles], drops=True)
            return Step(state, (Note(SETTLED), *effects))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {message}")


def _compare_run(
    site: Site, state: ExternalState, sender: NodeName, run: int, message: Any
) -> Step:
    """Take a change of the writer's last run; one of an orphan only if there is no fence."""
    runs = dict(state.runs)
    if run >= runs.get(sender, 0):
        after = tuple(sorted({**runs, sender: run}.items()))
        return change(site, state._replace(runs=after), sender, message)
    if site.config.design.fences is Fences.RUNS:
        return Step(state, (Note(ORPHANED),))
    state, effects = change(site, state, sender, message)
    return Step(state, (Note(ORPHANED), *effects))


def _numbered(site: Site, state: ExternalState, sender: NodeName, number: int) -> ExternalState:
    """The state with the number of the writer's last change, if it is checked."""
    if site.config.design.writes not in (
        WriteMode.IDEMPOTENT,
        WriteMode.CHECKED,
        WriteMode.COUNTED,
    ):
        return state
    last = {**dict(state.last), sender: number}
    return state._replace(last=tuple(sorted(last.items())))


def _emits(edge: int, outs: tuple[Out, ...]) -> tuple[Emit, ...]:
    return tuple(Emit((edge, out.body), out.of) for out in outs)


def _settle(
    state: ExternalState, sender: NodeName, edge: int, epoch: float, *, drops: bool
) -> Step:
    """Commit the writer's transactions up to the epoch; a restart drops its others."""
    effects: list[Effect] = []
    left = []
    for one in state.prepared:
        writer, prepared = one
        if writer == sender and prepared.epoch <= epoch:
            effects += _emits(edge, prepared.outs)
        elif writer != sender or not drops:
            left.append(one)
    return Step(state._replace(prepared=tuple(left)), tuple(effects))
