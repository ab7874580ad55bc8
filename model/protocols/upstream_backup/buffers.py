"""Upstream backups: output queues that double as the memory of the nodes below.

Rule of this file: no computation of an operator; the file knows queues, acknowledgements and
savepoints alone.  Lima et al., Sections II-B, II-C and III-A.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias, TypeVar

from model.cep.savepoint import Savepoint
from model.cep.skips import Ranges, covers
from model.core import REPLAYED, Effect, NodeName, Note, Send, Site
from model.events import BEGINNING, NOTHING, SN, Event, Mark
from model.log import Log

T = TypeVar("T")

Replicas: TypeAlias = tuple[tuple[NodeName, Savepoint], ...]
"""Latest savepoints by operator, sorted by name."""


class Ack(NamedTuple):
    """A message upstream.

    trim, skips: the events of this edge that the sender no longer needs.  replicas: savepoints of
    the sender and of the operators below it, to keep.  SN_seed, SN_trim and v_skip of a savepoint
    travel together, so that no crash can come between them.
    """

    trim: SN
    skips: Ranges
    replicas: Replicas


class Hello(NamedTuple):
    """A message to all neighbours: the sender has lost its state."""


class Restore(NamedTuple):
    """The answer to a Hello, downstream: savepoints.  The backup follows, event by event."""

    replicas: Replicas


class Outlet(NamedTuple):
    """An output queue: the upstream backup of one successor.  acked: the last SN_trim of this
    successor."""

    backup: Log[Event] = Log()
    acked: SN = NOTHING


def answer(
    site: Site, outlets: tuple[Outlet, ...], replicas: Replicas, mark: int, succ: NodeName
) -> tuple[Effect, ...]:
    """The answer to a Hello: savepoints, the backup in order, and only then the watermark.

    The node sends the savepoints of the receiver and of the nodes below the receiver.  If the node
    sent others, a node above could hold a savepoint without the fitting savepoint of a node below:
    the hypothesis "... and of no others" in
    proofs.lemmas.upstream_backup.acknowledgements.replicas.
    """
    edge = site.succs.index(succ)
    held = tuple(entry for entry in replicas if entry[0] in site.config.reach[edge])
    backup = outlets[edge].backup
    replay = tuple(Send(succ, event) for event in backup)
    marks = (Send(succ, Mark(mark)),) if site.config.marking[edge] and mark > BEGINNING else ()
    return (Send(succ, Restore(held)), Note(REPLAYED, len(backup)), *replay, *marks)


def release(
    site: Site, outlets: tuple[Outlet, ...], sender: NodeName, ack: Ack
) -> tuple[Outlet, ...]:
    """Trim the prefix that the sender no longer needs, and delete the events behind this prefix
    that the sender skipped."""
    edge = site.succs.index(sender)
    backup, acked = outlets[edge]
    backup = backup.trim(lambda event: event.sn <= ack.trim)
    if ack.skips:
        oldest = ack.skips[0][0]
        backup = backup.thin(
            lambda event: event.sn >= oldest, lambda event: covers(ack.skips, event.sn)
        )
    return with_item(outlets, edge, Outlet(backup, max(acked, ack.trim)))


def join(replicas: Replicas, others: Replicas) -> Replicas:
    held = dict(replicas)
    for name, savepoint in others:
        held[name] = held[name].join(savepoint) if name in held else savepoint
    return tuple(sorted(held.items(), key=lambda entry: entry[0]))


def with_item(items: tuple[T, ...], at: int, item: T) -> tuple[T, ...]:
    return (*items[:at], item, *items[at + 1 :])
