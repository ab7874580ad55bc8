"""Lineage of records: the lineage of events, refined by attribute dependencies.

Rule of this file: bodies are decoded here and nowhere else in the library.
LOG.io, Section 7.3, Example 11.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from spark_check.log_io.library.lineage import add_node, body_of, inputs_of
from spark_check.log_io.library.log import Log
from spark_check.log_io.library.values import Key, LogError, event_name

if TYPE_CHECKING:
    import networkx

Record: TypeAlias = Mapping[str, Any]


class Dependency(NamedTuple):
    """An attribute of an operator's outputs has the value of an attribute of its inputs: the
    records behind an output record are among those for which
    of(input[input_attribute]) == output[output_attribute].
    """

    operator: str
    input_attribute: str
    output_attribute: str
    of: Callable[[Any], Any] = lambda value: value

    def concerns(self, used: Record, made: Record) -> bool:
        """Have both records the attributes?  Of others it says nothing, and allows them: the other
        inputs of an operator have other attributes, and are used, too."""
        return self.input_attribute in used and self.output_attribute in made

    def allows(self, used: Record, made: Record) -> bool:
        if not self.concerns(used, made):
            return True
        return bool(self.of(used[self.input_attribute]) == made[self.output_attribute])


class Behind(NamedTuple):
    """A record behind another one, and the event that holds it."""

    event: Key
    record: Record


def decode_json(body: bytes) -> Sequence[Record]:
    """The records of a body: one JSON object, or a list of them.  Raises ValueError for others."""
    try:
        found = json.loads(body)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    records = found if isinstance(found, list) else [found]
    if not all(isinstance(one, dict) for one in records):
        raise ValueError("it is neither an object nor a list of objects")
    return records


Decode: TypeAlias = Callable[[bytes], Sequence[Record]]


def records_with(
    log: Log, event: Key, attributes: Record, decode: Decode = decode_json
) -> list[Record]:
    """The records of an event that have these attributes, with these values."""
    return [
        one
        for one in _decoded(event, body_of(log, event), decode)
        if all(name in one and one[name] == value for name, value in attributes.items())
    ]


def records_behind(
    log: Log,
    event: Key,
    record: Record,
    dependencies: Iterable[Dependency],
    decode: Decode = decode_json,
) -> list[Behind]:
    """The records of source events that a record of an event may have been made of.

    Each step keeps the records that all dependencies of the operator allow; an operator without
    dependencies keeps all of them.  No record that was used is missing; some that were not used
    may be there (Example 11 has one).  Raises LogError for a body that has no records, and for a
    dependency on attributes that the records of its operator do not have.
    """
    nodes = records_graph(log, event, [record], dependencies, decode).nodes
    return [nodes[one]["behind"] for one in sorted(nodes) if nodes[one]["is_source"]]


def records_graph(
    log: Log,
    event: Key,
    records: Iterable[Record],
    dependencies: Iterable[Dependency],
    decode: Decode = decode_json,
) -> networkx.DiGraph:
    """The records behind some records of an event: an edge from each one to what it went into.

    A node is the key of an event and the text of a record.  It has `behind`, and also `name`,
    `body` and `is_source` as in lineage.graph; the body is that of the event if it has no other
    record.  Raises as records_behind.
    """
    import networkx

    by_operator: dict[str, list[Dependency]] = {}
    for one in dependencies:
        by_operator.setdefault(one.operator, []).append(one)
    found = networkx.DiGraph()
    whole = body_of(log, event)
    several = len(_decoded(event, whole, decode)) > 1
    for record in records:
        _add(found, Behind(event, record), None if several else whole, False)
    steps = [found.nodes[one]["behind"] for one in found]
    reached, useful = set[Dependency](), set[Dependency]()
    while steps:
        made = steps.pop()
        rules = by_operator.get(made.event[0], [])
        for used in inputs_of(log, made.event):
            inputs = _decoded(used.key, used.body, decode)
            for each in inputs:
                reached |= {*rules}
                useful |= {rule for rule in rules if rule.concerns(each, made.record)}
                if not all(rule.allows(each, made.record) for rule in rules):
                    continue
                behind, body = Behind(used.key, each), used.body if len(inputs) == 1 else None
                if _add(found, behind, body, used.is_source) and not used.is_source:
                    steps.append(behind)
                found.add_edge(_node(behind), _node(made))
    for rule in sorted(reached - useful, key=lambda one: one[:3]):
        raise LogError(
            f"no input of {rule.operator} with an attribute {rule.input_attribute!r} went into an"
            f" output with {rule.output_attribute!r}"
        )
    return found


def _add(found: networkx.DiGraph, behind: Behind, body: bytes | None, is_source: bool) -> bool:
    """Add a record to the graph; was it new?"""
    node = _node(behind)
    if node in found:
        return False
    text = json.dumps(behind.record, ensure_ascii=False, default=repr).encode()
    add_node(found, node, text if body is None else body, is_source)
    found.nodes[node]["behind"] = behind
    return True


def _node(behind: Behind) -> tuple[Any, ...]:
    return *behind.event, json.dumps(behind.record, sort_keys=True, default=repr)


def _decoded(event: Key, body: bytes, decode: Decode) -> Sequence[Record]:
    try:
        return decode(body)
    except ValueError as error:
        raise LogError(f"{event_name(event)} has no records of JSON: {error}") from None
