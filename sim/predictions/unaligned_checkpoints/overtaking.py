"""The course of a checkpoint under back pressure, and the rows after a restart from it.

Rule of this file: it plays nodes of the model, and starts no engine.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from model.actions import Crash, Timeout
from model.boxes.stateless import Union
from model.core import Arrival, Inputs, Scope
from model.graph import SINK, SOURCE, Graph
from model.play import Play
from model.protocols.unaligned_checkpoints.instances import INTERVAL, SAVEPOINT
from model.protocols.unaligned_checkpoints.messages import OVERTAKEN, InstanceState
from model.protocols.unaligned_checkpoints.operators import PROCESS
from model.protocols.unaligned_checkpoints.protocol import PROTOCOL
from model.protocols.unaligned_checkpoints.scopes import EACH_BY_KEY

MERGE, COUNT, END = "merge", "count", "files"
SOURCES = ("source0", "source1")
KEYS = 7
LESS = 25
"""The model has one event for this number of events of the engine."""


class CheckpointCourse(NamedTuple):
    """waits: for which of the records in the buffers it waits: all, none or some.  stored: records
    on their way that are in it.  missing, twice: events without a committed row, and with two, at
    the end, after a restart."""

    waits: str
    stored: int
    missing: int
    twice: int


def course(variant: str, events: int, first: int) -> CheckpointCourse:
    """The course where each of two sources has sent these events, and the first ones are counted.

    variant: of the model; "unaligned" is its protocol.  The checkpoint is taken as early as the
    variant allows; then the counting operator crashes, or the savepoint ends the job.
    """
    play = _overloaded(variant, events // LESS, first // LESS)
    before = _waiting(play)
    kind = SAVEPOINT if variant.startswith("savepoint") else INTERVAL
    play.do(next(one for one in play.ready() if _is(one, kind) and one.node in SOURCES))
    play.settle(_not_counted)
    while not _complete(play):
        play.do(next(one for one in play.ready() if not _is(one, INTERVAL, SAVEPOINT)))
        play.settle(_not_counted)
    left = _waiting(play) if kind == INTERVAL else 0
    stored = play.notes[COUNT, OVERTAKEN.name]
    if kind == INTERVAL:
        play.do(Crash(COUNT))
    play.settle()
    found = Counter(play.outputs(END))
    twice = sum(times - 1 for times in found.values())
    waits = "none" if left == before else "some" if left else "all"
    return CheckpointCourse(waits, stored, 2 * (events // LESS) - len(found), twice)


def _overloaded(variant: str, events: int, first: int) -> Play:
    boxes = ((MERGE, Union()), (COUNT, EACH_BY_KEY))
    nodes = (*((name, SOURCE) for name in SOURCES), *boxes, (END, SINK))
    edges = (*((name, MERGE) for name in SOURCES), (MERGE, COUNT), (COUNT, END))
    alphabet = tuple(Arrival(1, "a", (("key", key),)) for key in range(KEYS))
    inputs = tuple((name, Inputs(alphabet, events)) for name in SOURCES)
    protocol = PROTOCOL
    if variant != "unaligned":
        protocol = PROTOCOL.named(f"{PROTOCOL.name}:{variant}")
    play = Play(protocol, Scope(Graph(nodes, edges), inputs, crashes=1))
    for number in range(events):
        for at, name in enumerate(SOURCES):
            gap = 1 if number or not at else 1000
            play.inject(name, Arrival(gap, "a", (("key", number % KEYS),)))
    play.settle(_not_counted)
    for _ in range(first):
        play.do(next(one for one in play.ready() if one.node == COUNT and _is(one, PROCESS)))
    return play


def _waiting(play: Play) -> int:
    """The records in the input buffers of the counting operator."""
    state = play.state(COUNT)
    return len(state.inbox) if isinstance(state, InstanceState) else 0


def _complete(play: Play) -> bool:
    return bool(play.state("coordinator").number)


def _is(action: Any, *timers: str) -> bool:
    return isinstance(action, Timeout) and action.timer in timers


def _not_counted(action: Any) -> int | None:
    """The order in which no event is counted, and no checkpoint begins."""
    return None if isinstance(action, Timeout) and action.node != MERGE else 0
