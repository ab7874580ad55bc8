"""What is sent when outputs of replay operators are generated again (Algorithms 10 and 11).

Rule of this file: messages; no step of a node.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from model.core import NodeName
from model.protocols.log_io.tables import Key, LoggedEvent


class Mark(NamedTuple):
    """Algorithm 11, step 3: these inputs of the node get the status "replay"."""

    keys: tuple[Key, ...]


class Absent(NamedTuple):
    """The log's answer to Mark: these rows are no longer there."""

    keys: tuple[Key, ...]


class Reset(NamedTuple):
    """These events have the status "replay" no longer."""

    keys: tuple[Key, ...]


class Reopen(NamedTuple):
    """These events are undone."""

    keys: tuple[Key, ...]


class LogData(NamedTuple):
    """Optimistic logging: the data of outputs that have been sent."""

    outputs: tuple[LoggedEvent, ...]


class Ask(NamedTuple):
    """To the engine: these replay operators have to generate outputs again."""

    operators: tuple[NodeName, ...]


class Regenerate(NamedTuple):
    """From the engine: outputs are to be generated again."""


class Recall(NamedTuple):
    """Algorithm 10, step 2: of which Input Sets are marked outputs?"""


class Regeneration(NamedTuple):
    """An Input Set to replay.

    box: the global state before its generation.  inputs: in the order of ports and numbers.
    outputs: all that were generated from it.  wanted: those to send; True: as replayed events.
    """

    inset: int
    box: Any
    inputs: tuple[LoggedEvent, ...]
    outputs: tuple[Key, ...]
    wanted: tuple[tuple[Key, bool], ...]


class Recalled(NamedTuple):
    """The log's answer to Recall."""

    sets: tuple[Regeneration, ...]
