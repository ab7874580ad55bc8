"""What LOG.io's nodes hold, and when the system is done.

Rule of this file: states are read here, never changed.
"""

from __future__ import annotations

from typing import Any

from model.core import Observation, Property, Scope, Site, When
from model.costs import Amount, Gauges, Memory
from model.parts import contents, open_windows
from model.protocols.log_io.processes import EpochProcess
from model.protocols.log_io.roles import may_fail
from model.protocols.log_io.states import (
    Connected,
    Controller,
    Reader,
    Recovering,
    RunningOperator,
    Source,
)
from model.protocols.log_io.tables import LogDatabase
from model.queues import QueueState


def _is_done(_scope: Scope, seen: Observation) -> bool:
    """Nothing is on its way, and no output is pending: Section 4.4, "complete" executions."""
    states = [state for _, state in seen.states]
    connections = [one for one in states if isinstance(one, Connected) and not one.deleted]
    (tables,) = (state for state in states if isinstance(state, LogDatabase))
    return (
        not any(state.held or state.closed for state in connections)
        and all((row.done or row.inset) and not row.replay for row in tables.events)
        and all(row.done and row.effect is None for row in tables.actions)
        and _is_scaled([*states])
    )


def _is_scaled(states: list[Any]) -> bool:
    """No replica is coming or going, and 7.2: "the state of the Dispatcher is consistent with the
    topology", and that of the merger, too."""
    alone = any(isinstance(one, RunningOperator) and one.alone for one in states)
    deleted = any(isinstance(one, Connected) and one.deleted for one in states)
    resting = all(not one.begun or not one.left for one in states if isinstance(one, Controller))
    return resting and alone == deleted


DONE = Property(
    "at rest, connections are empty, only inputs that wait in a set are undone, and no replica is "
    "coming or going",
    When.QUIESCENT,
    _is_done,
    nodes=True,
    outputs=False,
)


def _is_collected(_scope: Scope, seen: Observation) -> bool:
    """Is there an output for each done event, made of it and still logged?"""
    (tables,) = (state for _, state in seen.states if isinstance(state, LogDatabase))
    logged = {row.key for row in tables.events}
    needed = {one[:2] for one in tables.states if not logged.isdisjoint(one.outputs)}
    return all((row.receiver, row.inset) in needed for row in tables.events if row.done)


COLLECTED = Property(
    "at rest, a done event is logged only if an output that was made of it is",
    When.QUIESCENT,
    _is_collected,
    nodes=True,
)


def gauges(site: Site, state: Any) -> Gauges:
    match state:
        case EpochProcess(_, inner, held=held):
            own = gauges(site, inner)
            return own._replace(buffered=(own.buffered or 0) + len(held))
        case RunningOperator(box, last, open=open_, pending=pending, held=held):
            windows = open_windows(box)
            kept = len(pending) + len(held)
            # A replica whose transaction has failed reads the log again, and knows less then.
            progress = None if may_fail(site) else last
            return Gauges(kept, len(open_) if windows is None else windows, progress)
        case Recovering(held):
            return Gauges(len(held))
        case Source(inlet, _, held=held):
            return Gauges(len(held), progress=inlet.place)
        case Reader(inlet, _):
            return Gauges(0, progress=inlet.place)
        case QueueState(kept=kept):
            return Gauges(len(kept))
        case Connected(held):
            return Gauges(buffered=len(held))
        case LogDatabase(events):
            return Gauges(buffered=len(events))
        case _:
            return Gauges()


def memory(_site: Site, state: Any) -> Memory:
    match state:
        case EpochProcess(_, inner):
            return memory(_site, inner)
        case RunningOperator():
            return Memory(state=contents(state.box))
        case Connected(held):
            return Memory(buffers=Amount(len(held)))
        case LogDatabase(events, contexts):
            return Memory(savepoints=Amount(len(events), len(contexts)))
        case _:
            return Memory()
