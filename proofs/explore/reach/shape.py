"""Shapes of values: the type, the fields that are not empty, and the sizes none, one and more.

Rule of this file: pure functions of one value.  Two values with one shape differ in numbers, texts
and the contents of their containers alone.

A container is a frozenset, a mapping, a `Log`, or a tuple whose items all have one type; a tuple of
items of several types is a record without names.  A NamedTuple and a dataclass are records.  Deeper
than DEPTH records, the type alone counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, NamedTuple

from model.core import Site
from model.log import Log

DEPTH = 2
PLAIN = frozenset({int, str, bool, float, type(None)})
"""The types of most parts: neither containers nor records."""


class ShapePart(NamedTuple):
    """A part of a value that is no record.  path: the fields that lead there; empty: the value."""

    path: tuple[str, ...]
    value: Any


def size_of(value: Any) -> int | None:
    """The number of items of a container; None: it is none."""
    kind = type(value)
    if kind in PLAIN:
        return None
    if kind is tuple:
        return len(value) if len({*map(type, value)}) < 2 else None
    return len(value) if isinstance(value, AbstractSet | Mapping | Log) else None


def parts(value: Any, path: tuple[str, ...] = ()) -> Iterator[ShapePart]:
    """The parts of a value that are no records, in the order of the fields."""
    inside = _inside(value) if len(path) < DEPTH else None
    if inside is None:
        yield ShapePart(path, value)
        return
    for name, one in inside:
        yield from parts(one, (*path, name))


def _inside(value: Any) -> list[tuple[str, Any]] | None:
    """The fields of a record, with their names; None: the value is no record."""
    if type(value) in PLAIN or isinstance(value, type) or size_of(value) is not None:
        return None
    if isinstance(value, tuple):
        names = getattr(value, "_fields", None) or [f"[{at}]" for at in range(len(value))]
        return [*zip(names, value, strict=True)]
    if is_dataclass(value):
        return [(one.name, getattr(value, one.name)) for one in fields(value)]
    return None


def shape(value: Any) -> str:
    """The shape of a value, in a few words."""
    inside = _inside(value)
    if inside is None:
        return _alone(value)
    filled = [text for part in parts(value) for text in [_part(part)] if text]
    name = "" if type(value) is tuple else type(value).__name__
    return f"{name}({', '.join(filled)})"


def _part(part: ShapePart) -> str:
    """The words about a part; none if it is empty."""
    name, value = ".".join(part.path), part.value
    if isinstance(value, Enum):
        return f"{name} {value.name}"
    size = size_of(value)
    if size is not None:
        return f"{name}: {_count(size)}" if size else ""
    return name if value else ""


def _alone(value: Any) -> str:
    """The shape of a value that is no record."""
    size = size_of(value)
    if size is not None:
        return f"{_count(size)} values" if size != 1 else "1 value"
    if value is None or isinstance(value, bool | Enum):
        return value.name if isinstance(value, Enum) else str(value)
    kind = "number" if isinstance(value, int | float) else type(value).__name__
    return kind if value else f"{kind} 0" if kind == "number" else f"empty {kind}"


def _count(size: int) -> str:
    return "2+" if size > 1 else str(size) if size else "no"


def saved_values(site: Site, durable: Any) -> list[tuple[str, Any]]:
    """The values that a node has saved: (name of the file, empty without files; the last value)."""
    if durable is None:
        return []
    if not site.files:
        return [("", durable)]
    files = zip(site.files, durable, strict=True)
    return [(file.name, writes[-1]) for file, writes in files if writes]


def saved_shape(site: Site, durable: Any) -> str:
    """The shape of the values that a node has saved."""
    named = [(name, shape(value)) for name, value in saved_values(site, durable)]
    return ", ".join(f"{name} {words}" if name else words for name, words in named) or "nothing"
