"""Corruptions: values and observations that no run has, made of those that some run has.

Rule of this file: nothing is judged; a corruption differs from a world in one place, or is the mix
of two worlds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from itertools import chain, combinations, islice, permutations, product, repeat
from typing import Any, TypeVar

from model.core import NodeName, Observation
from model.events import Body
from model.log import Log
from model.world import replace_item
from proofs.explore.canonical import canonical

_T = TypeVar("_T")


class _End(Enum):
    """After the last item of an iterator."""

    END = "end"


_END = _End.END
_EMPTY: Log[Any] = Log()
MADE_UP = Body(0, "made up", ())
"""A result of no operator."""
FEW = 20
"""The values of a node that go into pairs."""
MOST = 40
"""Corruptions of one value: more of them differ in parts that lie deeper."""
DEPTH = 3
"""How many records deep a value is put into a part."""


def corrupt(value: Any) -> Iterator[Any]:
    """Values that differ from this one in one place; none of a value without parts."""
    return islice(_corrupt(value), MOST)


def _corrupt(value: Any) -> Iterator[Any]:
    match value:
        case bool():
            yield not value
        case Enum():
            yield from (one for one in type(value) if one is not value)
        case int() | float():
            yield from (value + 1, value - 1)
        case str():
            yield f"not {value}"
        case frozenset():
            yield from (value - {one} for one in sorted(value, key=canonical))
        case tuple() if hasattr(value, "_fields"):
            named: Any = value
            parts = ((name, getattr(value, name)) for name in named._fields)
            yield from (named._replace(**{name: one}) for name, one in _one_part(parts))
        case tuple():
            yield from _corrupt_items(value)
        case Log():
            yield from map(_EMPTY.extend, _corrupt_items((*value,)))
        case list():
            yield from (list(items) for items in _corrupt_items((*value,)))
        case Mapping():
            yield from map(dict, _named((*value.items(),), {}))
        case _ if is_dataclass(value) and not isinstance(value, type):
            parts = ((name, getattr(value, name)) for name in _own_fields(value))
            for name, one in _one_part(parts):
                yield from record_of(value, **{name: one})


def _corrupt_items(items: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield from without_one(items)
    yield from with_one_twice(items)
    places = _one_part((str(at), one) for at, one in enumerate(items))
    yield from (replace_item(items, int(at), one) for at, one in places)


def record_of(before: Any, **changes: Any) -> Iterator[Any]:
    """The dataclass with these fields; none if its constructor refuses them."""
    try:
        made = replace(before, **changes)
    except Exception:  # of a class that is anybody's
        return
    yield made


def _own_fields(value: Any) -> list[str]:
    return [one.name for one in fields(value) if one.init]


def _one_part(parts: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """(name of a part, another value of it)."""
    return in_turn([zip(repeat(name), corrupt(part)) for name, part in parts])


def in_turn(ways: Sequence[Iterator[_T]]) -> Iterator[_T]:
    """The first item of each iterator, then the second one of each, ..."""
    left = [*ways]
    while left:
        found = [(way, next(way, _END)) for way in left]
        for _, item in found:
            if not isinstance(item, _End):
                yield item
        left = [way for way, item in found if item is not _END]


def without_one(items: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """The items without one of them, the last one first."""
    return (items[:at] + items[at + 1 :] for at in reversed(range(len(items))))


def without_some(items: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """The items without one of them, and without any."""
    return chain(without_one(items), [()])


def with_one_twice(items: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """The items with one of them twice in a row, the last one first."""
    return (items[:at] + items[at - 1 :] for at in range(len(items), 0, -1))


def observations(
    seen: Observation,
    others: Sequence[Observation],
    states: Mapping[NodeName, Sequence[Any]],
    durable: Mapping[NodeName, Sequence[Any]],
) -> Iterator[Observation]:
    """Corruptions of an observation.  others: of other worlds.  states, durable: the values that
    each node had in any world.  Arrivals stay as they are: the rest is judged by them."""
    return in_turn(
        [
            (seen._replace(outputs=one) for one in _outputs(seen.outputs)),
            (seen._replace(states=one) for one in _named(seen.states, states)),
            (seen._replace(states=one) for one in _paired(seen.states, states)),
            (seen._replace(durable=one) for one in _named(seen.durable, durable)),
            (seen._replace(messages=one) for one in _named(seen.messages, {})),
            *(_alike(seen, part) for part in ("states", "durable", "messages")),
            _mixed(seen, others),
        ]
    )


def with_value(seen: Observation, value: Any) -> Iterator[Observation]:
    """The observation with this value as a state, a saved value, a message or a result, or as a
    part of one."""
    for part in ("states", "durable", "messages"):
        items = getattr(seen, part)
        for at, (name, before) in enumerate(items):
            for now in ((value,) if part == "messages" else value, *_parts_as(before, value)):
                yield seen._replace(**{part: replace_item(items, at, (name, now))})
    for at, put in enumerate(seen.outputs):
        for i, one in enumerate(put):
            for body in (value, *_parts_as(one[1], value)):
                other = replace_item(put, i, replace_item(one, 1, body))
                yield seen._replace(outputs=replace_item(seen.outputs, at, other))


def _parts_as(before: Any, value: Any, depth: int = DEPTH) -> Iterator[Any]:
    """A record with this value in one field, or in one field of a record or tuple in it."""
    if not depth:
        return
    if isinstance(before, tuple) and hasattr(before, "_fields"):
        record: Any = before
        for name in record._fields:
            for one in (value, *_parts_as(getattr(record, name), value, depth - 1)):
                yield record._replace(**{name: one})
    elif isinstance(before, tuple):
        for at, item in enumerate(before):
            for one in (value, *_parts_as(item, value, depth - 1)):
                yield replace_item(before, at, one)
    elif is_dataclass(before) and not isinstance(before, type | Log):
        for name in _own_fields(before):
            for one in (value, *_parts_as(getattr(before, name), value, depth - 1)):
                yield from record_of(before, **{name: one})


def _alike(seen: Observation, part: str) -> Iterator[Observation]:
    """The observation with the values of all nodes or channels changed in the same way."""
    items = getattr(seen, part)
    for changed in zip(*(corrupt(value) for _, value in items), strict=False):
        named = zip((name for name, _ in items), changed, strict=True)
        yield seen._replace(**{part: tuple(named)})


def _mixed(seen: Observation, others: Sequence[Observation]) -> Iterator[Observation]:
    """The observation with a part of another one."""
    for other in others:
        yield seen._replace(outputs=other.outputs)
        yield seen._replace(states=other.states)
        yield seen._replace(durable=other.durable)
        yield seen._replace(messages=other.messages)


def _outputs(outputs: tuple[tuple[Any, ...], ...]) -> Iterator[tuple[tuple[Any, ...], ...]]:
    """The outputs of all sinks with one result too few or too many, elsewhere, or of another
    content."""
    for at, put in enumerate(outputs):
        yield replace_item(outputs, at, (*put, (0, MADE_UP)))
        swapped = ((*put[: i - 1], put[i], put[i - 1], *put[i + 1 :]) for i in range(1, len(put)))
        changed = (
            replace_item(put, i, replace_item(one, 1, body))
            for i, one in enumerate(put)
            for body in corrupt(one[1])
        )
        for other in chain(without_some(put), with_one_twice(put), swapped, changed):
            yield replace_item(outputs, at, other)
    for at, from_ in permutations(range(len(outputs)), 2):
        if outputs[from_]:
            yield replace_item(outputs, at, (*outputs[at], outputs[from_][-1]))


def _named(
    items: tuple[tuple[Any, Any], ...], known: Mapping[Any, Sequence[Any]]
) -> Iterator[tuple[tuple[Any, Any], ...]]:
    """The pairs (name, value) with another value at one name, or without the name.

    known: values that the name had in some world.
    """
    ways = [
        _valued(items, at, chain(known.get(name, ()), corrupt(value)))
        for at, (name, value) in enumerate(items)
    ]
    return in_turn([*ways, without_one(items)])


def _valued(
    items: tuple[tuple[Any, Any], ...], at: int, values: Iterable[Any]
) -> Iterator[tuple[tuple[Any, Any], ...]]:
    """The pairs (name, value) with each of these values in one place."""
    name, value = items[at]
    return (replace_item(items, at, (name, other)) for other in values if other != value)


def _paired(
    items: tuple[tuple[Any, Any], ...], known: Mapping[Any, Sequence[Any]]
) -> Iterator[tuple[tuple[Any, Any], ...]]:
    """The pairs (name, value) with other values at two names, each known from some world."""
    ways = []
    for one, other in combinations(range(len(items)), 2):
        values = (known.get(items[at][0], ())[:FEW] for at in (one, other))
        ways.append(_both(items, one, other, product(*values)))
    return in_turn(ways)


def _both(
    items: tuple[tuple[Any, Any], ...], one: int, other: int, values: Iterable[tuple[Any, ...]]
) -> Iterator[tuple[tuple[Any, Any], ...]]:
    for first, second in values:
        changed = replace_item(items, one, (items[one][0], first))
        yield replace_item(changed, other, (items[other][0], second))
