"""Upstream backup in micro-batches: what a run comes to, given its batches and its crashes.

Rule of this file: it orders the actions of model.world as an engine does that works in batches, and
counts; what an action does is what the protocol says.  No time passes here.

One operator between a source and a sink.  For each batch, in this order: the events up to its end
have arrived at the source; what the operator acknowledged in the batch before reaches the source
(acknowledgements lag by one batch); the operator takes the events; the sink takes what the operator
produced; the operator takes the sink's acknowledgements.  A crash of the operator loses what is
on its way to it and from it.  Lima et al., Sections II-B and III.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias

from model.core import DISCARDED, REPLAYED, Arrival, Inputs, NodeName, Note, Protocol, Role, Scope
from model.events import Body, Event
from model.graph import Graph
from model.world import Action, Crash, Deliver, Inject, Restart, System, apply, initial, response


class Struck(StrEnum):
    """When in a batch a crash comes; what an engine does in between changes nothing here."""

    PLANNED = "planned"
    """Its events have arrived; the batch before is not acknowledged."""
    ACKED = "acked"
    """The batch before is acknowledged; the operator has none of this one's events."""
    PROCESSED = "processed"
    """The operator has taken the events, the sink has nothing of what they gave."""
    TAKEN = "taken"
    """The sink has taken it, the operator has not heard so."""
    SAVED = "saved"
    """The operator has made its savepoints; they are on their way."""


Life: TypeAlias = tuple[Sequence[int], str | None]
"""One incarnation of the operator: the number of the last event of each batch, in order, and when
it crashes in the last of them (a Struck; None: never)."""


class Run(NamedTuple):
    """outputs: what the sink passed on.  replayed: events in the backup, at each restart.  handed:
    events that the operator was given, in each life.  discarded: duplicates that the sink dropped.
    peak, left: most events in the backup at a time, and those in it at the end.  trimmed: the
    number up to which the source has trimmed."""

    outputs: tuple[Body, ...]
    replayed: tuple[int, ...]
    handed: tuple[int, ...]
    discarded: int
    peak: int
    left: int
    trimmed: int


def run(
    protocol: Protocol, graph: Graph, arrivals: Sequence[Arrival], lives: Sequence[Life]
) -> Run:
    """The run of a chain source -> operator -> sink in which the operator lives so."""
    driver = _Driver(protocol, graph, arrivals, len(lives))
    for number, (ends, struck) in enumerate(lives):
        driver.begin(restart=number > 0)
        for at, end in enumerate(ends):
            last = at == len(ends) - 1
            driver.batch(end, first=at == 0, struck=struck if last else None)
        if struck is not None and not ends:
            driver.crash()
    return driver.result()


class _Driver:
    def __init__(self, protocol: Protocol, graph: Graph, arrivals: Sequence[Arrival], lives: int):
        source = next(name for name, _ in graph.nodes if not graph.preds(name))
        inputs = ((source, Inputs((), len(arrivals))),)
        self.system = System(protocol, Scope(graph, inputs, crashes=lives))
        by_role = {site.role: site.name for site in self.system.deployment.sites}
        self.source, self.operator, self.sink = (
            by_role[role] for role in (Role.SOURCE, Role.OPERATOR, Role.SINK)
        )
        self.world = initial(self.system)
        self.coming = iter(arrivals)
        self.notes: Counter[tuple[NodeName, str]] = Counter()
        self.replayed: list[int] = []
        self.handed: list[int] = []
        self.peak = 0

    def begin(self, restart: bool) -> None:
        """The operator starts; if anew, it is told its savepoint, and its replay is on the way."""
        self.handed.append(0)
        if not restart:
            return
        before = self.notes[self.source, REPLAYED.name]
        self.do(Restart(self.operator))
        self.all(self.source, self.operator)
        self.do(Deliver(self.operator, self.source))
        self.replayed.append(self.notes[self.source, REPLAYED.name] - before)

    def batch(self, end: int, first: bool, struck: str | None) -> None:
        for point in Struck:
            self.part(point, end, first)
            if point == struck:
                self.crash()
                return

    def part(self, point: Struck, end: int, first: bool) -> None:
        """What comes before `point` in a batch.  The first of an incarnation follows no other."""
        match point:
            case Struck.PLANNED:
                self.arrive(end)
            case Struck.ACKED:
                if not first:
                    self.all(self.source, self.operator)
            case Struck.PROCESSED:
                self.events(end)
            case Struck.TAKEN:
                self.all(self.sink, self.operator)
            case Struck.SAVED:
                self.all(self.operator, self.sink)

    def arrive(self, end: int) -> None:
        while self.source_state().latest < end:
            self.do(Inject(self.source, next(self.coming)))
            self.peak = max(self.peak, self.backup())

    def crash(self) -> None:
        self.do(Crash(self.operator, drops_sent=True))

    def events(self, end: int) -> None:
        """The operator takes the events up to `end`."""
        while (head := self.head(self.source, self.operator)) is not None:
            assert isinstance(head, Event)
            if head.sn > (end,):
                return
            self.do(Deliver(self.operator, self.source))
            self.handed[-1] += 1

    def all(self, node: NodeName, sender: NodeName) -> None:
        while self.head(sender, node) is not None:
            self.do(Deliver(node, sender))

    def head(self, sender: NodeName, node: NodeName) -> Any:
        channel = self.world.channels[self.system.channel_at[sender, node]]
        return channel[0] if channel else None

    def do(self, action: Action) -> None:
        if not isinstance(action, Crash):
            for effect in response(self.system, self.world, action).effects:
                if isinstance(effect, Note):
                    self.notes[action.node, effect.what.name] += effect.times
        self.world = apply(self.system, self.world, action)

    def source_state(self) -> Any:
        return self.world.nodes[self.system.node_at[self.source]].state

    def backup(self) -> int:
        return len(self.source_state().outlets[0].backup)

    def result(self) -> Run:
        (outputs,) = self.world.outputs
        acked = self.source_state().outlets[0].acked
        return Run(
            tuple(body for _, body in outputs),
            tuple(self.replayed),
            tuple(self.handed),
            self.notes[self.sink, DISCARDED.name],
            self.peak,
            self.backup(),
            acked[0] if acked else 0,
        )
