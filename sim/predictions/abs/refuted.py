"""Rows of a counting job in runs that a wrong form of snapshotting spoils: played by the model.

Rule of this file: the model's own nodes make the rows; a run here is an order of events and kills.

The job: numbered events of one or two sources, a running count for each key, and a writer.  A run
is played once for each way of writing, with the same events, epochs and crashes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from model.actions import Crash, Deliver, OwnStep, Restart, Suspect, Timeout
from model.boxes.box import Of, Out
from model.boxes.running import Running
from model.core import Arrival, Guarantee, Inputs, NodeName, Scope
from model.events import Body
from model.graph import SINK, SOURCE, Graph
from model.oracle import allowed
from model.play import Order, Play
from model.protocols.abs.deployment import EPOCH, OVERSEER
from model.protocols.abs.design import AbsDesign, Settles, Sources, WriteMode
from model.protocols.abs.family import ABS
from model.protocols.abs.fencing_variants import FENCED, ORPHANS, SUSPICIONS
from model.recovery import recovery_type
from sim.predictions.count_rows import CountRow

WRITER, OUTPUT = "writer", "sink"


class EpochEnds(NamedTuple):
    """The numbers of events sent before the first epoch ends, before the failure, and in all."""

    epoch: int
    failure: int
    last: int


class CountPlay:
    """The counting job under way, in the model."""

    def __init__(self, design: AbsDesign, most: int, keys: int = 1, sources: int = 1) -> None:
        arrivals = Inputs((Arrival(1, "event"),), most)
        inputs = tuple((source_name(one), arrivals) for one in range(sources))
        protocol = ABS.design("played", design, assumes=SUSPICIONS)
        self._play, self._keys = Play(protocol, Scope(_graph(sources), inputs)), keys
        self._sent = [0] * sources

    def send(self, end: int, source: int = 0) -> None:
        """Send the events of a source up to this number; nobody has taken them yet."""
        for number in range(self._sent[source], end):
            self._play.inject(source_name(source), _arrival(source, number, self._keys))
        self._sent[source] = end

    def work(self, order: Order = lambda _action: 0) -> None:
        """Let the nodes act until nothing is left to do but to end an epoch.

        order: of the actions; None for an action that does not come now.
        """
        self._play.settle(lambda one: None if isinstance(one, Timeout) else order(one))

    def end_epoch(self, order: Order = lambda _action: 0) -> None:
        """Take all that was sent, then end an epoch."""
        self.work(order)
        due = [one for one in self._play.ready() if isinstance(one, Timeout)]
        self._play.do(*(one for one in due if one.timer == EPOCH))
        self.work(order)

    def crash(self, node: NodeName) -> None:
        """Crash a node; it restarts when the nodes work on."""
        self._play.do(Crash(node, True))

    def suspect(self, node: NodeName) -> None:
        """Suspect a node that is up."""
        self._play.do(Suspect(node, OVERSEER))

    def rows(self) -> tuple[CountRow, ...]:
        """The rows in the external system."""
        return tuple(_row(one[1]) for one in self._play.outputs(OUTPUT))


_BOX = Running(group="key", emits="nth")
Run = Callable[[CountPlay], None]


def _graph(sources: int) -> Graph:
    names = [source_name(one) for one in range(sources)]
    nodes = (*((name, SOURCE) for name in names), (WRITER, _BOX), (OUTPUT, SINK))
    return Graph(nodes, (*((name, WRITER) for name in names), (WRITER, OUTPUT)))


def _arrival(source: int, number: int, keys: int) -> Arrival:
    return Arrival(1, "event", (("source", source), ("number", number), ("key", number % keys)))


def source_name(number: int) -> NodeName:
    return f"source{number}"


def _row(body: Body) -> CountRow:
    data = dict(body.data)
    return CountRow(data["source"], data["number"], data["key"], data["nth"])


def _deaf(action: OwnStep) -> int | None:
    """The writer receives nothing from the coordinator: its commit is still to come."""
    return None if action == Deliver(WRITER, OVERSEER) else 0


# --- the runs ------------------------------------------------------------------------------------
class RefutedRows(NamedTuple):
    """files: of a writer in two phases.  appended: of one that writes at once."""

    files: tuple[CountRow, ...]
    appended: tuple[CountRow, ...]


def _both(design: AbsDesign, run: Run, most: int, keys: int = 1, sources: int = 1) -> RefutedRows:
    """The rows of both writers."""
    found = []
    for writes in (WriteMode.TWO_PHASES, WriteMode.AT_ONCE):
        play = CountPlay(replace(design, writes=writes), most, keys, sources)
        run(play)
        found.append(play.rows())
    return RefutedRows(*found)


def dropped(ends: EpochEnds, keys: int) -> RefutedRows:
    """A restart drops all that is pre-committed (abs:settle-by-dropping), after an epoch that is
    complete and not committed."""

    def run(play: CountPlay) -> None:
        play.send(ends.epoch)
        play.end_epoch()
        play.send(ends.failure)
        play.end_epoch(_deaf)
        play.crash(WRITER)
        play.work()
        play.send(ends.last)
        play.end_epoch()

    return _both(AbsDesign(settles=Settles.DROP), run, ends.last, keys)


def unreplayable(ends: EpochEnds, keys: int) -> RefutedRows:
    """A source sends nothing again (abs:unreplayable-source)."""

    def run(play: CountPlay) -> None:
        play.send(ends.epoch)
        play.end_epoch()
        play.send(ends.failure)
        play.work()
        play.crash(WRITER)
        play.work()
        play.send(ends.last)
        play.end_epoch()

    return _both(AbsDesign(sources=Sources.ONCE), run, ends.last, keys)


def reordered(ends: EpochEnds) -> RefutedRows:
    """Two sources, one key (abs:at-once-any): the first source alone has sent events since the last
    epoch when the writer crashes, and those of the second one come first after it."""
    first, second = 0, 1

    def run(play: CountPlay) -> None:
        for source in (first, second):
            play.send(ends.epoch, source)
            play.work()
        play.end_epoch()
        play.send(ends.failure, first)
        play.work()
        play.crash(WRITER)
        play.work(_without(first))
        play.send(ends.last, second)
        play.work(_without(first))
        play.send(ends.last, first)
        play.end_epoch()

    return _both(AbsDesign(), run, ends.last, sources=2)


def _without(source: int) -> Order:
    """The records of this source do not come now."""
    records = Deliver(WRITER, source_name(source))
    return lambda action: None if action == records else 0


def orphaned(ends: EpochEnds, written: int, keys: int) -> RefutedRows:
    """The coordinator crashes, and the tasks write on up to event `written`, until another one
    restarts them (abs:orphans, abs:orphans-at-once)."""

    def run(play: CountPlay) -> None:
        play.send(ends.epoch)
        play.end_epoch()
        play.send(ends.failure)
        play.work()
        play.crash(OVERSEER)
        play.send(written)
        play.work(lambda action: None if isinstance(action, Restart) else 0)
        play.work()
        play.send(ends.last)
        play.end_epoch()

    return _both(ORPHANS, run, ends.last, keys)


def woken(ends: EpochEnds, keys: int) -> RefutedRows:
    """The writer is suspected while it is up, and wakes after its successor has taken over
    (abs:elsewhere, abs:elsewhere-at-once)."""

    def run(play: CountPlay) -> None:
        play.send(ends.epoch)
        play.end_epoch()
        play.send(ends.failure)
        play.work()
        play.suspect(WRITER)
        play.work(lambda action: None if action.node == WRITER else 0)
        play.send(ends.last)
        play.end_epoch(lambda action: action.node == WRITER)

    return _both(FENCED, run, ends.last, keys)


# --- the worth of the rows ---------------------------------------------------------------------
def recovery(rows: Sequence[CountRow], most: int, keys: int, sources: int = 1) -> Guarantee:
    """The recovery type of the rows of sources that have sent `most` events each.

    A row is an output that was made of its event.
    """
    return recovery_type(_allowed_rows(most, keys, sources), [_out(row) for row in rows])


@cache
def _allowed_rows(most: int, keys: int, sources: int) -> tuple[tuple[Out, ...], ...]:
    """The outputs of each run without failures."""
    arrivals = {
        source_name(one): [_arrival(one, number, keys) for number in range(most)]
        for one in range(sources)
    }
    return tuple(
        tuple(_out(_row(out.body)) for out in expected[OUTPUT][0])
        for expected in allowed(_graph(sources), arrivals)
    )


def _out(row: CountRow) -> Out:
    body = Body(row.number, str(row.source), (row.key, row.nth))
    return Out(body, frozenset([Of(row.source, row.number)]))
