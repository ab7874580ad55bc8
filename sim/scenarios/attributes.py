"""The types and attributes of events on their way through the operators of a scenario.

Rule of this file: no event passes through an operator here; all follows from the tables and from
the events of the sources.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from model.core import Arrival
from model.errors import Invalid
from sim.inputs.conditions import comparisons, condition
from sim.inputs.streams import conditions_of
from sim.scenarios.tables import (
    AggregateTable,
    AnyOperatorTable,
    GatherTable,
    JoinTable,
    PatternTable,
    SelectivityTable,
    UnionTable,
    WhereTable,
)

OF_ALL: Mapping[str, bool] = {"time": True, "type": False}
"""The attributes of every event, as in `KnownOperators.attributes`."""


class KnownOperators(NamedTuple):
    """What is known of a stream of events.  attributes: by name; is every value a number?"""

    types: frozenset[str]
    attributes: Mapping[str, bool]


class ReadAttributes(NamedTuple):
    """The attributes of a source's events that operators read, each once.  maybe: behind a join,
    whose other input may have them."""

    surely: tuple[str, ...]
    maybe: tuple[str, ...]


def attributes_read(tables: Sequence[AnyOperatorTable], source: str) -> ReadAttributes:
    """The attributes that the source's events need.

    An operator that hands events on as they are hands their attributes on, too, and so does a join.
    """
    below, joined = {source}, set[str]()
    read: tuple[list[str], list[str]] = ([], [])
    for number, table in enumerate(tables):
        inputs = {*(table.inputs or ((tables[number - 1].name,) if number else (source,)))}
        if below.isdisjoint(inputs):
            continue
        maybe = inputs & below <= joined
        read[maybe].extend(name for name in _reads(table) if name not in OF_ALL)
        if isinstance(table, SelectivityTable | WhereTable | UnionTable | JoinTable):
            below.add(table.name)
            joined |= {table.name} if maybe or isinstance(table, JoinTable) else set()
    surely, maybe_read = (tuple(dict.fromkeys(names)) for names in read)
    return ReadAttributes(surely, maybe_read)


def _reads(table: AnyOperatorTable) -> Iterator[str]:
    """The attributes that an operator reads; none of a condition that is wrong, which is reported
    when the operator is made."""
    match table:
        case GatherTable(group=group) | PatternTable(group=group) if group:
            yield group
        case AggregateTable(group=group, of=of):
            yield from (group, of) if group else (of,)
        case JoinTable(on=on) if on:
            yield on
        case _:
            pass
    try:
        match table:
            case PatternTable(pattern=pattern):
                asked = conditions_of(pattern)
            case WhereTable(where=where):
                asked = (condition(where),)
            case _:
                asked = ()
    except Invalid:
        return
    yield from (one.attribute for predicate in asked for one in comparisons(predicate))


def known_of(events: Sequence[Arrival]) -> KnownOperators:
    """What is known of the events of a source."""
    attributes: dict[str, bool] = {}
    names = frozenset(name for arrival in events for name, _ in arrival.data)
    for name in names:
        values = [dict(arrival.data).get(name) for arrival in events]
        attributes[name] = all(isinstance(value, int | float) for value in values)
    return KnownOperators(frozenset(arrival.type for arrival in events), {**attributes, **OF_ALL})


def together(streams: Sequence[KnownOperators]) -> KnownOperators:
    """What is known of the events of several streams together."""
    names = [name for stream in streams for name in stream.attributes]
    attributes = {
        name: all(stream.attributes.get(name, False) for stream in streams) for name in names
    }
    return KnownOperators(frozenset().union(*(stream.types for stream in streams)), attributes)


def known_after(table: AnyOperatorTable, inputs: Sequence[KnownOperators]) -> KnownOperators:
    """What is known of the outputs of an operator (model.boxes.aggregate, model.cep.operator)."""
    before = together(inputs)
    attributes: dict[str, bool] = {}
    match table:
        case SelectivityTable() | WhereTable() | UnionTable():
            return before
        case JoinTable():
            left, right = inputs
            attributes = {**right.attributes, **left.attributes}
        case GatherTable(group=group):
            attributes["value"] = True
            if group is not None:
                attributes[group] = before.attributes[group]
        case AggregateTable(group=group):
            attributes["value"] = table.aggregate != "list"
            if table.windows == "time":
                attributes["start"] = True
            if group is not None:
                attributes[group] = before.attributes[group]
        case PatternTable():
            pass
    return KnownOperators(frozenset({table.emits or table.name}), {**attributes, **OF_ALL})
