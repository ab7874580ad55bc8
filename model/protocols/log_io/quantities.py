"""What the notes of LOG.io count.

Rule of this file: no step of a node.
"""

from __future__ import annotations

from model.core import Note, Quantity

PENDING = Quantity("writes executed again", "writes", "a write was pending when its node restarted")
TAKEN_EFFECT = Quantity(
    "writes confirmed", "writes", "the external system said that a pending write had taken effect"
)
RESUMED = Quantity(
    "read actions resumed", "actions", "a restarted source went on with the stored effect"
)
READ_AGAIN = Quantity(
    "read actions repeated", "actions", "a read action was not complete when its source restarted"
)
THWARTED = Quantity(
    "generations that failed", "generations", "the inputs of a replica's generation had moved"
)
MOVED = Quantity("events moved", "events", "an undone event went to another replica")
MOVED_STATE = Quantity("states moved", "states", "a replica's state of a key went to another one")
ADDED = Quantity("replicas added", "replicas", "a dispatcher began to send to a new replica")
FENCED_OFF = Quantity(
    "requests refused",
    "requests",
    "an older process asked for a transaction or a write",
)
LACKED = Quantity("inputs without data", "events", "a restarted operator lacked an input's data")
REGENERATED = Quantity(
    "outputs generated again", "events", "a replay operator generated an output again, and sent it"
)
QUANTITIES = (
    *(PENDING, TAKEN_EFFECT, RESUMED, READ_AGAIN),
    *(THWARTED, MOVED, MOVED_STATE, ADDED, FENCED_OFF, LACKED, REGENERATED),
)


def note(what: Quantity, times: int = 1) -> tuple[Note, ...]:
    return (Note(what, times),) if times else ()
