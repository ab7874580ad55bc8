"""Snapshots that a storage writes beside the work of their nodes: the words of this exchange.

Rule of this file: no step of a node, and no family.  A node sends PartUpload and goes on; the
storage answers PartUploaded when it has the snapshot; the node then reports StoredPart.  A node
that crashes in between never reports, since the answer is lost with it.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from model.core import Effect, NodeName, Note, Quantity, Send
from model.protocol import Knob

SNAPSHOTS = Quantity(
    "asynchronous snapshots", "snapshots", "an operator stopped for a copy of its state"
)


class Snapshots(Enum):
    """When an operator goes on after a snapshot.  Engines stop an operator for the copy of its
    state alone, and write the copy beside its work.  The place of a source is in its report."""

    SYNCHRONOUS = "when the snapshot is stored"
    ASYNCHRONOUS = "at once; it reports the snapshot when the storage has it"
    REPORTED_EARLY = "at once; it reports the snapshot before the storage has it"


SNAPSHOTS_KNOB = Knob(
    "snapshots",
    "",
    "An operator waits until its snapshot is stored, or goes on while the storage writes it.",
    (("synchronous", Snapshots.SYNCHRONOUS), ("asynchronous", Snapshots.ASYNCHRONOUS)),
)


class PartUpload(NamedTuple):
    """The snapshot of a node that goes on while the storage writes it."""

    run: int
    number: int
    part: Any


class PartUploaded(NamedTuple):
    """The storage has the snapshot of this checkpoint."""

    run: int
    number: int


class StoredPart(NamedTuple):
    """The report of a node whose snapshot is in the storage."""

    run: int
    number: int
    part: Any


def upload(
    snapshots: Snapshots, storage: NodeName, part: StoredPart
) -> tuple[StoredPart, tuple[Effect, ...]]:
    """The report that the node keeps until the storage answers, and the effects of an asynchronous
    snapshot."""
    early = snapshots is Snapshots.REPORTED_EARLY
    reports = (Send(storage, part._replace(part=None)),) if early else ()
    return part, (Note(SNAPSHOTS), Send(storage, PartUpload(*part)), *reports)
