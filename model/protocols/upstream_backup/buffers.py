"""Upstream backups: output queues that double as the memory of the nodes below.

Rule of this file: it knows queues, acknowledgements and savepoints, and nothing of what operators
compute.  Lima et al., Sections II-B, II-C and III-A.
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
    """Upstream: what the sender no longer needs of this edge, and savepoints to keep for it and
    the operators below it.  A savepoint's SN_seed, SN_trim and v_skip travel together, so that
    no crash can come between them."""

    trim: SN
    skips: Ranges
    replicas: Replicas


class Hello(NamedTuple):
    """To all neighbours: the sender has lost its state."""


class Restore(NamedTuple):
    """Downstream, answering a Hello: the savepoints held; the backup follows, event by event."""

    replicas: Replicas


class Outlet(NamedTuple):
    """One output queue: the upstream backup of one successor.  acked: SN_trim it sent last."""

    backup: Log[Event] = Log()
    acked: SN = NOTHING


def answer(
    site: Site, outlets: tuple[Outlet, ...], replicas: Replicas, mark: int, succ: NodeName
) -> tuple[Effect, ...]:
    """The savepoints held, the backup in order, and only then the watermark.

    Of the savepoints those of the receiver and of the nodes below it.  If it relayed others, a node
    above could come to hold one of them without that of a node below that has to fit it: the
    hypothesis "... and of no others" in
    proofs.lemmas.upstream_backup.acknowledgements.replicas.
    """
    edge = site.succs.index(succ)
    told = tuple(entry for entry in replicas if entry[0] in site.config.reach[edge])
    backup = outlets[edge].backup
    replay = tuple(Send(succ, event) for event in backup)
    marks = (Send(succ, Mark(mark)),) if site.config.marking[edge] and mark > BEGINNING else ()
    return (Send(succ, Restore(told)), Note(REPLAYED, len(backup)), *replay, *marks)


def released(
    site: Site, outlets: tuple[Outlet, ...], sender: NodeName, ack: Ack
) -> tuple[Outlet, ...]:
    """Trim the prefix that the sender no longer needs, and what it skipped behind it."""
    edge = site.succs.index(sender)
    backup, acked = outlets[edge]
    backup = backup.trim(lambda event: event.sn <= ack.trim)
    if ack.skips:
        oldest = ack.skips[0][0]
        backup = backup.thin(
            lambda event: event.sn >= oldest, lambda event: covers(ack.skips, event.sn)
        )
    return with_item(outlets, edge, Outlet(backup, max(acked, ack.trim)))


def joined(replicas: Replicas, others: Replicas) -> Replicas:
    held = dict(replicas)
    for name, savepoint in others:
        held[name] = held[name].join(savepoint) if name in held else savepoint
    return tuple(sorted(held.items(), key=lambda entry: entry[0]))


def with_item(items: tuple[T, ...], at: int, item: T) -> tuple[T, ...]:
    return (*items[:at], item, *items[at + 1 :])
