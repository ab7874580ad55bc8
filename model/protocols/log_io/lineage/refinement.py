"""The refinement of lineage from events to records, by attribute dependencies.

Rule of this file: dependencies are given, and nobody checks them here; if one does not hold, a
record that was used may be dropped.
LOG.io, Section 7.3 and Example 11.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from model.boxes.box import attribute
from model.core import NodeName
from model.events import Body
from model.protocols.log_io.lineage.queries import inputs_of, relationships
from model.protocols.log_io.tables import Key, LogDatabase


def _same(value: Any) -> Any:
    return value


class AttributeDependency(NamedTuple):
    """The outputs whose attribute has a value are unaffected by all inputs but those whose
    attribute has it.

    by: from the input's value to the output's: the hour of a date.
    """

    input: str
    output: str
    by: Callable[[Any], Any] = _same

    def allows(self, input_: Body, output: Body) -> bool:
        """May this record be behind that one?"""
        value = attribute(input_, self.input)
        return bool(self.by(value) == attribute(output, self.output))


Dependencies = Mapping[NodeName, tuple[AttributeDependency, ...]]
"""By operator; an operator without any is not refined."""


def records_of(body: Body) -> tuple[Body, ...]:
    """The records of an event: those that it has as a batch, or itself."""
    records = tuple(one for one in body.data if isinstance(one, Body))
    return records or (body,)


def refine(
    dependencies: Iterable[AttributeDependency], record: Body, inputs: Iterable[Body]
) -> tuple[Body, ...]:
    """The input records that may be behind an output record."""
    known = tuple(dependencies)
    return tuple(one for one in inputs if all(each.allows(one, record) for each in known))


def records_behind(
    tables: LogDatabase, event: Key, record: Body, dependencies: Dependencies
) -> frozenset[tuple[Key, Body]]:
    """The records, with their events, that may be behind a record of an event, step by step."""
    made = relationships(tables)
    lists = (tables.events, tables.data)
    bodies = {
        (row.sender, row.receiver, row.number): row.body
        for rows in lists
        for row in rows
        if row.body is not None
    }
    found: set[tuple[Key, Body]] = set()
    waiting = [(event, record)]
    while waiting:
        output, wanted = waiting.pop()
        known = dependencies.get(output[0], ())
        for one in inputs_of(made, output):
            records = records_of(bodies[one]) if one in bodies else ()
            new = {(one, kept) for kept in refine(known, wanted, records)} - found
            found |= new
            waiting += new
    return frozenset(found)
