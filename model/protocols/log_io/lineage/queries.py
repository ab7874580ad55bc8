"""Lineage queries over the log: what an event was made of, and what it went into.

Rule of this file: tables are read here, never written.
LOG.io, Sections 1.3 and 7.3.
"""

from __future__ import annotations

from collections.abc import Iterable

from model.core import NodeName
from model.protocols.log_io.design import Connection, Ports
from model.protocols.log_io.places import SERVICE
from model.protocols.log_io.tables import Assigned, Key, LogDatabase, LoggedEvent


def _is_state(event: Key) -> bool:
    return event[0] == event[1]


def sets_of(tables: LogDatabase) -> dict[tuple[NodeName, int], frozenset[Key]]:
    """By node and InSet_ID, the events that are assigned to it, in EVENT_LOG or kept."""
    found: dict[tuple[NodeName, int], set[Key]] = {}
    rows: tuple[LoggedEvent | Assigned, ...] = (*tables.events, *tables.assigned)
    for row in rows:
        if row.inset:
            key = (row.sender, row.receiver, row.number)
            found.setdefault((row.receiver, row.inset), set()).add(key)
    return {one: frozenset(events) for one, events in found.items()}


def _filtered(events: Iterable[Key], ports: Ports | None) -> frozenset[Key]:
    """The events on ports in IN; read actions and states are in any scope (3.1)."""
    return frozenset(
        one
        for one in events
        if ports is None or one[:2] in ports.ins or one[0] == SERVICE or _is_state(one)
    )


def relationships(tables: LogDatabase, ports: Ports | None = None) -> dict[Key, frozenset[Key]]:
    """By output with a row, what it was made of: EVENT_LINEAGE joined with EVENT_LOG (7.3).

    ports: of a scope, whose relationships are asked for alone; None: all that are recorded.
    """
    sets = sets_of(tables)
    found: dict[Key, set[Key]] = {}
    for row in tables.used:
        if ports is None or row[:2] in ports.outs or _is_state(row[:3]):
            found.setdefault(row[:3], set()).update(sets.get((row.sender, row.inset), ()))
    for one in tables.related:
        if ports is None or one[:2] in ports.outs:
            found.setdefault(one[:3], set()).add((one.of, one.sender, one.of_number))
    return {event: _filtered(inputs, ports) for event, inputs in found.items()}


def inputs_of(made: dict[Key, frozenset[Key]], event: Key) -> frozenset[Key]:
    """The events that an output was made of in one step; earlier ones instead of a global state."""
    found: set[Key] = set()
    seen: set[Key] = set()
    waiting = [*made.get(event, ())]
    while waiting:
        one = waiting.pop()
        if not _is_state(one):
            found.add(one)
        elif one not in seen:
            seen.add(one)
            waiting += made.get(one, ())
    return frozenset(found)


def backward(
    tables: LogDatabase,
    event: Key,
    at: frozenset[Connection] | None = None,
    ports: Ports | None = None,
) -> frozenset[Key]:
    """The events that this one was made of, step by step.

    at: those on these connections alone; None: those that nothing is known to be behind.
    """
    made = relationships(tables, ports)
    found = _closure(event, {one: inputs_of(made, one) for one in made})
    if at is not None:
        return frozenset(one for one in found if one[:2] in at)
    return frozenset(one for one in (*found, event) if not made.get(one))


def forward(
    tables: LogDatabase,
    event: Key,
    at: frozenset[Connection] | None = None,
    ports: Ports | None = None,
) -> frozenset[Key]:
    """The events that this one went into, step by step.  at: those on these connections alone."""
    made = relationships(tables, ports)
    into: dict[Key, set[Key]] = {}
    for output in made:
        if not _is_state(output):
            for one in inputs_of(made, output):
                into.setdefault(one, set()).add(output)
    found = _closure(event, {one: frozenset(outputs) for one, outputs in into.items()})
    return frozenset(one for one in found if at is None or one[:2] in at)


def _closure(event: Key, next_: dict[Key, frozenset[Key]]) -> frozenset[Key]:
    """All that is reached from the event, which is not reached itself: pipelines have no cycles."""
    found: set[Key] = set()
    waiting = [event]
    while waiting:
        new = next_.get(waiting.pop(), frozenset()) - found
        found |= new
        waiting += new
    return frozenset(found)
