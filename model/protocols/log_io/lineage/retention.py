"""The retention of lineage: which rows may go, in each reading.

Rule of this file: tables in, tables out; who keeps an event keeps all rows that name it.
LOG.io, Section 3.6.  The paper cleans up asynchronously; here every transaction does, which deletes
no less than any later clean-up that has seen no more transactions.
"""

from __future__ import annotations

from collections.abc import Iterable

from model.protocols.log_io.design import Connection, LineageCapture, Retention
from model.protocols.log_io.lineage.queries import relationships
from model.protocols.log_io.places import SERVICE
from model.protocols.log_io.tables import Key, LogDatabase


def clean(capture: LineageCapture, retention: Retention, tables: LogDatabase) -> LogDatabase:
    """The tables without the rows that are older than the retention: what is behind no output at an
    end port within the window, and behind no event or state that may still be used."""
    lists = (tables.events, tables.assigned, tables.used, tables.related, tables.data)
    keys = {(one.sender, one.receiver, one.number) for rows in lists for one in rows}
    at_ends = (key for key in keys if key[:2] in capture.ports.ends)
    roots = {*within(at_ends, retention.outputs)}
    roots |= {row[:3] for row in tables.events if not row.done}  # they may still be used
    states = (row[:3] for row in tables.used if row.sender == row.receiver)
    roots |= within(states, 1)
    return _only(tables, _behind(tables, roots))


def within(events: Iterable[Key], newest: int) -> frozenset[Key]:
    """The newest events on each connection."""
    numbers: dict[Connection, set[int]] = {}
    for sender, receiver, number in events:
        numbers.setdefault((sender, receiver), set()).add(number)
    return frozenset(
        (*at, number)
        for at, known in numbers.items()
        for number in known
        if number > max(known) - newest
    )


def _behind(tables: LogDatabase, roots: set[Key]) -> frozenset[Key]:
    """The roots and all that they were made of."""
    made = relationships(tables)
    found, waiting = set(roots), [*roots]
    while waiting:
        new = made.get(waiting.pop(), frozenset()) - found
        found |= new
        waiting += new
    return frozenset(found)


def _only(tables: LogDatabase, events: frozenset[Key]) -> LogDatabase:
    """The tables with the rows of lineage of these events alone; EVENT_LOG stays.

    An assignment stays as long as there is a row of an output of its Input Set.
    """
    used = tuple(row for row in tables.used if row[:3] in events)
    sets = {(row.sender, row.inset) for row in used}
    assigned = tuple(row for row in tables.assigned if (row.receiver, row.inset) in sets)
    dropped = {row[1:3] for row in tables.assigned if row.sender == SERVICE}
    dropped -= {row[1:3] for row in assigned}
    return tables._replace(
        used=used,
        related=tuple(row for row in tables.related if row[:3] in events),
        assigned=assigned,
        data=tuple(row for row in tables.data if row[:3] in events),
        effects=tuple(row for row in tables.effects if row[:2] not in dropped),
    )
