"""Shapes: the first part of a value that is not of the type that its class names.

Rule of this file: no meaning; a part is compared with the annotation of its field alone.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping, Set
from dataclasses import is_dataclass
from functools import cache
from types import UnionType
from typing import Any, NamedTuple, get_args, get_origin

from model.errors import brief


class WrongPart(NamedTuple):
    """A part that has another type than its field: where it is, its value, the type."""

    place: str
    value: Any
    wanted: str

    def __str__(self) -> str:
        return f"{self.place} is {brief(self.value)}; give {self.wanted}"


def wrong_parts(value: Any, kind: Any, place: str) -> Iterator[WrongPart]:
    """The parts of a value that do not fit its type, in order; parts of unknown types fit.

    A list fits as a tuple does, and a set as a frozenset.
    """
    if get_origin(kind) in (UnionType, typing.Union):
        if not any(next(wrong_parts(value, one, place), None) is None for one in get_args(kind)):
            yield WrongPart(place, value, _name(kind))
    elif not _is_one(value, kind):
        yield WrongPart(place, value, _name(kind))
    else:
        for where, part, hint in _parts(value, kind, place):
            yield from wrong_parts(part, hint, where)


def _is_one(value: Any, kind: Any) -> bool:
    """Is the value, apart from its parts, of this type?"""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is tuple:
        record = not isinstance(value, tuple | list) or hasattr(value, "_fields")
        return not record and (inner[1:] == (...,) or len(inner) == len(value))
    if origin is frozenset:
        return isinstance(value, Set)
    if kind is Any or not isinstance(origin or kind, type):
        return True
    return isinstance(value, origin or kind)


def _parts(value: Any, kind: Any, place: str) -> Iterator[tuple[str, Any, Any]]:
    """The parts of a value, each with its place and its type."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is tuple:
        kinds = inner[:1] * len(value) if inner[1:] == (...,) else inner
        for at, (part, hint) in enumerate(zip(value, kinds, strict=True)):
            yield f"{place}[{at}]", part, hint
    elif origin is frozenset:
        for part in value:
            yield f"{place}, {brief(part)}", part, inner[0]
    elif origin is Mapping:
        for key, part in value.items():
            yield f"a key of {place}", key, inner[0]
            yield f"{place}[{brief(key)}]", part, inner[1]
    elif origin is None:
        for name, hint in _fields(kind):
            yield f"{place}.{name}", getattr(value, name), hint


@cache
def _fields(kind: type) -> tuple[tuple[str, Any], ...]:
    """The types of the fields of a record of this project; of any other class nothing."""
    record = is_dataclass(kind) or hasattr(kind, "_fields")
    ours = record and kind.__module__.startswith("model.")
    return (*typing.get_type_hints(kind).items(),) if ours else ()


def _name(kind: Any) -> str:
    inner = get_args(kind)
    match get_origin(kind):
        case None:
            return "None" if kind is type(None) else getattr(kind, "__name__", str(kind))
        case origin if origin in (UnionType, typing.Union):
            return " or ".join(map(_name, inner))
        case origin if origin is tuple and inner[1:] != (...,):
            return f"({', '.join(map(_name, inner))})"
        case origin if origin is Mapping:
            return f"a dict from {_name(inner[0])} to {_name(inner[1])}"
        case origin:
            return f"a {origin.__name__} of {_name(inner[0])}"
