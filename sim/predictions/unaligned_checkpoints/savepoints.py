"""The rows at the sinks of a job that is stopped with a savepoint, as the model's nodes make them.

Rule of this file: it plays nodes of the model, and starts no engine.  A sink that writes at once
has each row that a source sends, so the replayed events are its rows that come twice.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from model.actions import Crash, Timeout
from model.core import REPLAYED, Arrival, Inputs, Scope
from model.graph import chain
from model.play import Play
from model.protocols.unaligned_checkpoints.instances import INTERVAL, SAVEPOINT
from model.protocols.unaligned_checkpoints.protocol import PROTOCOL
from model.protocols.unaligned_checkpoints.scopes import EACH_BY_KEY

SOURCE, COUNT, SINK = "source", "writer", "sink"


class SavepointEvents(NamedTuple):
    """The events of a job.  before: of those that come before the savepoint; total: of all; event n
    has the key n modulo `keys`."""

    before: int
    total: int
    keys: int


class SavepointRows(NamedTuple):
    """The rows of a job and of the next one.

    stopped: committed ones at the end of the first job.  missing, twice: events without a committed
    row, and with two, at the end; appended_twice: with two at a sink that writes at once.
    """

    stopped: int
    missing: int
    twice: int
    appended_twice: int


def stop(
    events: SavepointEvents, variant: str = "savepoint", *, crashes: bool = False
) -> SavepointRows:
    """The rows if the savepoint ends the job.

    crashes: the counting operator crashes after the commit, before the next job begins.
    """
    play = _play(variant, events)
    _events(play, events, 0, events.before)
    play.settle(_no_checkpoint)
    play.do(_wish(play))
    if crashes:
        _go_on_until_saved(play)
        play.do(Crash(COUNT))
    play.settle(_no_checkpoint)
    stopped = len(play.outputs(SINK))
    _events(play, events, events.before, events.total)
    play.settle()
    return _rows(play, events, stopped)


def copy(events: SavepointEvents) -> SavepointRows:
    """The rows if the job goes on after its savepoint, commits all, and the next job begins."""
    play = _play("savepoint-copied", events)
    _events(play, events, 0, events.before)
    play.settle(_no_checkpoint)
    play.do(_wish(play))
    play.settle(_no_wish)
    _events(play, events, events.before, events.total)
    play.settle(_no_wish)
    stopped = len(play.outputs(SINK))
    play.settle()
    return _rows(play, events, stopped)


def _play(variant: str, events: SavepointEvents) -> Play:
    alphabet = tuple(_arrival(key) for key in range(events.keys))
    inputs = ((SOURCE, Inputs(alphabet, events.total)),)
    scope = Scope(chain((COUNT, EACH_BY_KEY)), inputs, crashes=1)
    return Play(PROTOCOL.named(f"{PROTOCOL.name}:{variant}"), scope)


def _arrival(key: int) -> Arrival:
    return Arrival(1, "a", (("key", key),))


def _events(play: Play, events: SavepointEvents, first: int, end: int) -> None:
    play.inject(SOURCE, *(_arrival(number % events.keys) for number in range(first, end)))


def _is(action: Any, *timers: str) -> bool:
    return isinstance(action, Timeout) and action.timer in timers


def _no_checkpoint(action: Any) -> int | None:
    return None if _is(action, INTERVAL, SAVEPOINT) else 0


def _no_wish(action: Any) -> int | None:
    return None if _is(action, SAVEPOINT) else 0


def _wish(play: Play) -> Any:
    return next(action for action in play.ready() if _is(action, SAVEPOINT))


def _go_on_until_saved(play: Play) -> None:
    """Let the nodes act until the savepoint is complete, and the sink has committed it."""
    for _ in play.steps(_no_checkpoint):
        if play.outputs(SINK):
            return


def _rows(play: Play, events: SavepointEvents, stopped: int) -> SavepointRows:
    found = Counter(play.outputs(SINK))
    twice = sum(times - 1 for times in found.values())
    replayed = play.notes[SOURCE, REPLAYED.name]
    return SavepointRows(stopped, events.total - len(found), twice, replayed)
