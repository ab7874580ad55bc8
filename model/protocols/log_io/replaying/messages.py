"""What is sent when outputs of replay operators are generated again (Algorithms 10 and 11).

Rule of this file: messages; no step of a node.
"""

from __future__ import annotations

from typing import NamedTuple

from model.core import NodeName
from model.protocols.log_io.tables import Key, LoggedEvent, Regeneration


class Mark(NamedTuple):
    """Algorithm 11, step 3: these inputs of the node get the status "replay"."""

    keys: tuple[Key, ...]


class Absent(NamedTuple):
    """The log's answer to Mark: these rows are no longer there."""

    keys: tuple[Key, ...]


class Reset(NamedTuple):
    """These events have the status "replay" no longer."""

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


class Recalled(NamedTuple):
    """The log's answer to Recall."""

    sets: tuple[Regeneration, ...]
