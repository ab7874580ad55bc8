"""What is sent while a replica goes away (Algorithm 13).

Rule of this file: messages; no step of a node.
"""

from __future__ import annotations

from typing import NamedTuple

from model.protocols.log_io.tables import Context, LoggedEvent


class Committed(NamedTuple):
    """The answer to a transaction that may fail."""

    succeeds: bool


class Traffic(NamedTuple):
    """The dispatcher to the controller, which decides to scale down."""


class Remove(NamedTuple):
    """Step 1: the dispatcher is to stop sending to the replica."""


class Choose(NamedTuple):
    """Step 1.b: which events sent to the replica are undone?"""


class Chosen(NamedTuple):
    rows: tuple[LoggedEvent, ...]


class Move(NamedTuple):
    """Step 1.c: these events are for another port, from this number on."""

    rows: tuple[LoggedEvent, ...]
    number: int
    context: Context


class Resent(NamedTuple):
    """The events that have moved, to be sent (step 1.d)."""

    rows: tuple[LoggedEvent, ...]


class Prepared(NamedTuple):
    """Step 1 is done."""


class Removed(NamedTuple):
    """Step 2: the merger is to update its state."""


class Updated(NamedTuple):
    """Step 2 is done."""


class Back(NamedTuple):
    """A node has restarted: the controller sends its request again (Section 7.2)."""


class Watch(NamedTuple):
    """The controller asks for Drained."""


class Drained(NamedTuple):
    """The outputs of the replica have been taken."""


class Close(NamedTuple):
    """Step 3: the connection is deleted."""
