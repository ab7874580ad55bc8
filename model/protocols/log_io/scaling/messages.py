"""What is sent while a replica comes or goes away (Algorithms 12 and 13).

Rule of this file: messages; no step of a node.
"""

from __future__ import annotations

from typing import NamedTuple

from model.core import NodeName
from model.protocols.log_io.tables import ContextRow, LoggedEvent


class Committed(NamedTuple):
    """The answer to a transaction that may fail."""

    succeeds: bool


class Traffic(NamedTuple):
    """The dispatcher to the controller, which decides to scale."""


# --- Algorithm 12 ----------------------------------------------------------------------------
class Open(NamedTuple):
    """Step 1: the connection is created; its receiver does not read yet."""


class Deploy(NamedTuple):
    """Step 1: the replica is deployed."""


class Deployed(NamedTuple):
    """Step 1 is done."""


class Add(NamedTuple):
    """Steps 2 and 3: the merger, or the dispatcher, is to update its state."""


class Added(NamedTuple):
    """Step 2, or 3, is done."""


# --- Algorithm 13 ----------------------------------------------------------------------------
class Remove(NamedTuple):
    """Step 1: the dispatcher is to stop sending to the replica."""


class Choose(NamedTuple):
    """Step 1.b: which events sent to the replica are undone?"""

    replica: NodeName


class Chosen(NamedTuple):
    replica: NodeName
    rows: tuple[LoggedEvent, ...]


class Move(NamedTuple):
    """Step 1.c: these events of a replica are for another one, from this number on.

    key: the replica's global state for this key goes with them; empty: it has no global state.
    """

    replica: NodeName
    to: NodeName
    rows: tuple[LoggedEvent, ...]
    number: int
    context: ContextRow
    key: str = ""


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
