"""Lineage of records: the lineage of events, refined by attribute dependencies.

Rule of this file: bodies are decoded here and nowhere else in the library.
LOG.io, Section 7.3, Example 11.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from spark_check.log_io.library.lineage import inputs_of
from spark_check.log_io.library.log import Log
from spark_check.log_io.library.values import Key

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

    def allows(self, used: Record, made: Record) -> bool:
        return bool(self.of(used[self.input_attribute]) == made[self.output_attribute])


class Behind(NamedTuple):
    """A record behind another one, and the event that holds it."""

    event: Key
    record: Record


def decode_json(body: bytes) -> Sequence[Record]:
    """The records of a body: one JSON object, or a list of them."""
    found = json.loads(body)
    return found if isinstance(found, list) else [found]


def records_behind(
    log: Log,
    event: Key,
    record: Record,
    dependencies: Iterable[Dependency],
    decode: Callable[[bytes], Sequence[Record]] = decode_json,
) -> list[Behind]:
    """The records of source events that a record of an event may have been made of.

    Each step keeps the records that all dependencies of the operator allow; an operator without
    dependencies keeps all of them.  No record that was used is missing; some that were not used
    may be there (Example 11 has one).
    """
    by_operator: dict[str, list[Dependency]] = {}
    for one in dependencies:
        by_operator.setdefault(one.operator, []).append(one)
    found: list[Behind] = []
    steps, seen = [Behind(event, record)], {_name(event, record)}
    while steps:
        made = steps.pop()
        for used in inputs_of(log, made.event):
            for each in decode(used.body):
                allowed = by_operator.get(made.event[0], [])
                name = _name(used.key, each)
                if name in seen or not all(rule.allows(each, made.record) for rule in allowed):
                    continue
                seen.add(name)
                (found if used.is_source else steps).append(Behind(used.key, each))
    return sorted(found, key=lambda behind: _name(*behind))


def _name(event: Key, record: Record) -> tuple[Key, str]:
    return event, json.dumps(record, sort_keys=True, default=repr)
