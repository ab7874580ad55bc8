"""ABS killed at a named place of an epoch: rows restored, committed and repeated.

Rule of this file: it plays the model's own nodes (model.protocols.abs.nodes) and knows no engine.

A gate holds one step of one node (gates.py).  The rest of the job goes on until nothing is left to
do; then the processes are killed.  A held step of a node that lives goes on and ends before the
node learns of the crash, since a step of the model is atomic.

A design has one way to write, and the job has two writers.  So each sink is read from a play of its
own; both plays go through the same events, the same epochs and the same crash.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from model.actions import OwnStep, Restart, Timeout
from model.boxes.running import Running
from model.boxes.stateless import Relay
from model.core import Arrival, Inputs, NodeName, Scope
from model.errors import Invalid
from model.events import Body
from model.graph import SINK, Graph
from model.graph import SOURCE as READS
from model.play import Play
from model.protocol import Protocol
from model.protocols.abs.deployment import EPOCH
from model.protocols.abs.protocol import PROTOCOL
from model.world import real_effects
from sim.predictions.abs.gates import APPEND, COUNT, FILES, SOURCE, EpochGate

TWO_PHASES, AT_ONCE = (PROTOCOL.named(f"abs:engine-{name}") for name in ("coordinator", "at-once"))
"""As engines run, with a coordinator that may crash; the two differ in how a writer writes."""
END = Timeout(SOURCE, EPOCH)
_SINKS = {FILES: "committed", APPEND: "appended"}


class JobEvents(NamedTuple):
    """The events of a run, which have the numbers 0, 1, 2, ...

    ends: of each epoch, the number of events before its marker; the gate is in the last one.
    held: the number of events that the source has read when the processes are killed.  total: of
    the whole run, which ends with a last epoch.  keys: event n has the key n modulo keys.
    """

    ends: tuple[int, ...]
    held: int
    total: int
    keys: int

    def arrivals(self, begin: int, end: int) -> Iterator[Arrival]:
        """The events from number `begin` on that are before number `end`.  The time of an event is
        its number."""
        return (Arrival(int(n > 0), str(n % self.keys)) for n in range(begin, end))


class JobRow(NamedTuple):
    """The row of an event, which was the nth of its key."""

    number: int
    key: int
    nth: int

    def body(self) -> Body:
        """The row as a value of the model."""
        return Body(self.number, str(self.key), (self.nth,))


class PointPrediction(NamedTuple):
    """The course of the job.

    committed_then, appended_then: the rows of the two sinks at the kill.  restored: the epoch from
    which all nodes go on.  settled: the rows of the two-phase sink when all nodes are back, before
    any new epoch.  committed, appended: the rows of the two sinks at the end, in their order.
    """

    committed_then: int
    appended_then: int
    restored: int
    settled: int
    committed: tuple[JobRow, ...]
    appended: tuple[JobRow, ...]

    @property
    def again(self) -> tuple[int, ...]:
        """The numbers of the rows that the sink that appends had already, in their order."""
        return repeated(row.number for row in self.appended)


class HeldStep(NamedTuple):
    """effects: the number of effects of the action that have happened."""

    action: OwnStep
    effects: int


class _Played(NamedTuple):
    """One play, as its sink shows it: rows at the kill, when all are back, and at the end."""

    then: int
    restored: int
    settled: int
    rows: tuple[JobRow, ...]


def predict(gate: EpochGate, dies: tuple[NodeName, ...], events: JobEvents) -> PointPrediction:
    """The prediction for a job whose nodes `dies` are killed while the gate holds a step.

    Raises Invalid if the last one of the epochs never comes to the gate.
    """
    files = _play(TWO_PHASES, FILES, gate, dies, events)
    append = _play(AT_ONCE, APPEND, gate, dies, events)
    if files.restored != append.restored:
        raise Invalid(f"{gate.title}: one sink goes on from another epoch than the other")
    return PointPrediction(
        *(files.then, append.then, files.restored, files.settled, files.rows, append.rows)
    )


def expected(events: JobEvents) -> tuple[JobRow, ...]:
    """The rows of a run without failures."""
    play = _begin(TWO_PHASES, events)
    play.inject(SOURCE, *events.arrivals(0, events.total))
    _end_epoch(play)
    return _rows(play, FILES)


def repeated(numbers: Iterable[int]) -> tuple[int, ...]:
    """The numbers that have come before, as often as they come again."""
    seen: set[int] = set()
    again = []
    for number in numbers:
        if number in seen:
            again.append(number)
        seen.add(number)
    return tuple(again)


def spans(numbers: Iterable[int]) -> str:
    """Numbers in a few words: those that follow each other as "first-last"."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return " ".join(str(one) if one == last else f"{one}-{last}" for one, last in found) or "none"


# --- plays -----------------------------------------------------------------------------------
def _play(
    protocol: Protocol,
    writer: NodeName,
    gate: EpochGate,
    dies: tuple[NodeName, ...],
    events: JobEvents,
) -> _Played:
    play = _begin(protocol, events)
    for begin, end in pairwise((0, *events.ends[:-1])):
        play.inject(SOURCE, *events.arrivals(begin, end))
        _end_epoch(play)
    before = events.ends[-2] if len(events.ends) > 1 else 0
    play.inject(SOURCE, *events.arrivals(before, events.ends[-1]))
    held = _hold(play, gate)
    play.inject(SOURCE, *events.arrivals(events.ends[-1], events.held))
    _settle(play, gate.blocks, held and held.action)
    _kill(play, held, dies)
    then = len(_rows(play, writer))
    if held is not None and held.action.node not in dies:
        play.do(held.action)
    _settle(play)
    restored, settled = play.state(COUNT).epoch, len(_rows(play, writer))
    play.inject(SOURCE, *events.arrivals(events.held, events.total))
    _end_epoch(play)
    return _Played(then, restored, settled, _rows(play, writer))


def _begin(protocol: Protocol, events: JobEvents) -> Play:
    """The job before its first event."""
    operators = ((COUNT, Running(group="type")), (FILES, Relay()), (APPEND, Relay()))
    nodes = ((SOURCE, READS), *operators, *((sink, SINK) for sink in _SINKS.values()))
    edges = ((SOURCE, COUNT), (COUNT, FILES), (COUNT, APPEND), *_SINKS.items())
    return Play(protocol, Scope(Graph(nodes, edges), ((SOURCE, Inputs((), events.total)),)))


def _rows(play: Play, writer: NodeName) -> tuple[JobRow, ...]:
    bodies = (body for _, body, *_ in play.outputs(_SINKS[writer]))
    return tuple(JobRow(body.time, int(body.type), body.data[-1][1]) for body in bodies)


def _goes_on(action: OwnStep) -> int | None:
    """The place of an action.  A restart comes after all notices of the crash, as that of an engine
    whose restart delay is longer than its detection; when an epoch ends, the job decides."""
    return None if action == END else int(isinstance(action, Restart))


def _settle(play: Play, blocked: NodeName = "", held: OwnStep | None = None) -> None:
    """Let all nodes act but the blocked one, and do all steps but the held one."""
    play.settle(lambda one: None if one == held or one.node == blocked else _goes_on(one))


def _end_epoch(play: Play) -> None:
    """Let an epoch end behind all events, and be complete."""
    _settle(play)
    play.do(END)
    _settle(play)


def _hold(play: Play, gate: EpochGate) -> HeldStep | None:
    """Let an epoch end behind all events, until the gate holds a step; None: it holds none, since
    all effects of the step have happened."""
    _settle(play)
    play.do(END)
    for action in play.steps(_goes_on):
        effects = gate.reached(play, action)
        if effects is None:
            continue
        if effects < len(real_effects(play.effects(action))):
            return HeldStep(action, effects)
        play.do(action)
        return None
    raise Invalid(f"no step of an epoch is at the gate: {gate.title}")


def _kill(play: Play, held: HeldStep | None, dies: tuple[NodeName, ...]) -> None:
    """Crash these nodes together, one of them within its held step."""
    if held is not None and held.action.node in dies and held.effects:
        play.do(held.action._replace(crash_after=held.effects, group=dies))
    else:
        play.crash(dies[0], dies)
