"""Plain values: `plain` makes JSON of a frozen result, and `read` makes the result of its JSON.

Rule of this file: it knows no result; the fields and types of a result say all.

| Python | JSON |
|---|---|
| dataclass, NamedTuple | an object, a key for each field (`key` may say otherwise) |
| Enum | its value if that is a string, else its name |
| tuple, list | an array; `read` makes a tuple where a field is a Sequence |
| set, frozenset | a sorted array |
| Mapping | an object |
| str, int, float, bool, None | itself |
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import MISSING, Field, field, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Literal, TypeAlias, TypeVar, Union, cast

from model.errors import Invalid

Plain: TypeAlias = Any
"""None, bool, int, float, str, a list of these, or a dict of these by str."""

T = TypeVar("T")

MADE_BY = "made_by"
"""The first key of a file of JSON, or of the first object in its list: who wrote the file."""


def key(name: str = "", *, absent: bool = False, default: Any = MISSING) -> Any:
    """A field of a dataclass with another key in JSON, as `class` is no name in Python.

    absent: the key is left out where the value is the default, or None if there is no default.
    default: as of `dataclasses.field`.
    """
    return field(default=default, metadata={"key": name, "absent": absent})


def plain(value: object) -> Plain:
    """The value as JSON has it (the table above).  Raises TypeError for any other value."""
    if value is None or type(value) in (str, int, float, bool):
        return value
    if isinstance(value, Enum):
        return value.value if isinstance(value.value, str) else value.name
    if is_dataclass(value):
        return {
            name: plain(found)
            for name, one in _fields(cast(type, type(value))).items()
            for found in [getattr(value, one.name)]
            if not (one.metadata.get("absent") and found == _default(one))
        }
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: plain(found) for name, found in zip(value._fields, value, strict=True)}
    if isinstance(value, (tuple, list)):
        return [plain(one) for one in value]
    if isinstance(value, AbstractSet):
        return sorted(plain(one) for one in value)
    if isinstance(value, Mapping):
        return {_name(one): plain(found) for one, found in value.items()}
    raise TypeError(f"{value!r:.80} is a {type(value).__name__}, which JSON does not have")


def read(kind: type[T], value: Plain, where: str = "the JSON") -> T:
    """The value of this type whose plain form this is.

    where: the source, for messages.  The key MADE_BY of a file, or of its first object, is passed
    over.  Raises Invalid if it is no such value.
    """
    return cast(T, _read(kind, _unmarked(value), where))


def _unmarked(value: Plain) -> Plain:
    if isinstance(value, list) and value:
        return [_unmarked(value[0]), *value[1:]] if isinstance(value[0], dict) else value
    if isinstance(value, dict) and MADE_BY in value:
        return {name: one for name, one in value.items() if name != MADE_BY}
    return value


@cache
def _fields(kind: type) -> dict[str, Field[Any]]:
    """The fields of a dataclass by key."""
    return {one.metadata.get("key") or one.name: one for one in fields(kind)}


def _default(one: Field[Any]) -> Any:
    return None if one.default is MISSING else one.default


@cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _name(value: object) -> str:
    """The key of an object in JSON."""
    found = plain(value)
    if not isinstance(found, str):
        raise TypeError(f"{value!r:.80} is no string: a key of JSON is one")
    return found


def _read(kind: Any, value: Plain, where: str) -> object:
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any or kind is object:
        return value
    if origin is Literal:
        return _checked(value in parts, value, where, kind)
    if origin in (Union, types.UnionType):
        return _read_one_of(parts, value, where)
    if origin in (tuple, list, set, frozenset, Sequence):
        _checked(isinstance(value, list), value, where, "list")
        made = tuple if origin is Sequence else origin
        return made(_read_items(origin, parts, value, where))
    if origin is not None and issubclass(origin, Mapping):
        _checked(isinstance(value, dict), value, where, "object")
        of_key, of_value = parts
        return {
            _read(of_key, one, where): _read(of_value, found, f"{where}, {one}")
            for one, found in value.items()
        }
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        return _read_fields(kind, value, where)
    if issubclass(kind, Enum):
        found = [one for one in kind if plain(one) == value]
        _checked(bool(found), value, where, kind.__name__)
        return found[0]
    if kind is float and type(value) is int:
        return float(value)
    return _checked(type(value) is kind, value, where, kind.__name__)


def _read_one_of(kinds: tuple[Any, ...], value: Plain, where: str) -> object:
    """The value as the first of the types that fits; an int stays one where int is among them."""
    if value is None and type(None) in kinds:
        return None
    kinds = tuple(kind for kind in kinds if kind is not type(None))
    for kind in sorted(kinds, key=lambda kind: kind is not type(value)):
        try:
            return _read(kind, value, where)
        except Invalid as error:
            last = error
    raise last


def _read_items(
    origin: Any, parts: tuple[Any, ...], value: list[Plain], where: str
) -> list[object]:
    if origin is tuple and parts[-1] is not Ellipsis:
        _checked(len(value) == len(parts), value, where, f"list of {len(parts)}")
        kinds = parts
    else:
        kinds = (parts[0],) * len(value)
    return [
        _read(kind, one, f"{where}[{at}]")
        for at, (kind, one) in enumerate(zip(kinds, value, strict=True))
    ]


def _read_fields(kind: Any, value: Plain, where: str) -> object:
    _checked(isinstance(value, dict), value, where, "object")
    hints = _hints(kind)
    if is_dataclass(kind):
        names = {name: one.name for name, one in _fields(cast(type, kind)).items()}
        absent = {one.name: _default(one) for one in fields(kind) if one.metadata.get("absent")}
    else:
        names, absent = {name: name for name in kind._fields}, {}
    if unknown := value.keys() - names.keys():
        raise Invalid(f"{where}: there is no field {min(unknown)!r} in a {kind.__name__}")
    given = {}
    for name, one in names.items():
        if name in value:
            given[one] = _read(hints[one], value[name], f"{where}, {name}")
        elif one in absent:
            given[one] = absent[one]
        else:
            raise Invalid(f"{where}: no field {name!r}; a {kind.__name__} has one")
    return kind(**given)


def _checked(right: bool, value: Plain, where: str, wanted: object) -> Plain:
    if not right:
        raise Invalid(f"{where}: {value!r:.60} is no {wanted}")
    return value
