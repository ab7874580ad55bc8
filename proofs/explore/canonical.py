"""Canonical texts: equal values of the same types have equal texts, in every process.

Rule of this file: no hash, no address, and no order of a set or a mapping reaches a text.
Equal values of two types, such as 1 and True, have two texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))


def canonical(value: Any, inside: tuple[int, ...] = ()) -> str:
    """The text of a value: of plain values `repr`, of other ones their type and their parts.

    The items of sets and mappings are in the order of their texts.  A function has its name alone,
    and an object without fields that is of no known kind has the name of its type; so has one that
    contains itself, where it does.  inside: the ids of the values around this one.
    """
    if type(value) in PLAIN:
        return repr(value)
    if type(value) is tuple:
        return f"({', '.join([canonical(one, inside) for one in value])})"
    kind = type(value).__qualname__
    if isinstance(value, Enum):
        return f"{kind}.{value.name}"
    if id(value) in inside:
        return kind
    inside = (*inside, id(value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return _record(kind, zip(value._fields, value, strict=True), inside)
    if isinstance(value, tuple | list):
        shown = "" if type(value) in (tuple, list) else kind
        return f"{shown}({', '.join([canonical(one, inside) for one in value])})"
    if isinstance(value, AbstractSet):
        return f"{{{', '.join(sorted([canonical(one, inside) for one in value]))}}}"
    if isinstance(value, Mapping):
        items = [f"{canonical(one, inside)}: {canonical(at, inside)}" for one, at in value.items()]
        return f"{{{', '.join(sorted(items))}}}"
    if isinstance(value, partial):
        return f"partial{canonical((value.func, *value.args, value.keywords), inside)}"
    if isinstance(value, MethodType):
        return f"{canonical(value.__self__, inside)}.{value.__name__}"
    if isinstance(value, FunctionType | BuiltinFunctionType | type | ModuleType):
        return f"{getattr(value, '__qualname__', value.__name__)}"
    if isinstance(value, PLAIN):  # of a type of its own
        return f"{kind}({value!r})"
    return _record(kind, _parts(value), inside)


def _record(kind: str, parts: Any, inside: tuple[int, ...]) -> str:
    return f"{kind}({', '.join([f'{name}={canonical(one, inside)}' for name, one in parts])})"


def _parts(value: Any) -> list[tuple[str, Any]]:
    """The fields that count when values of this type are compared."""
    if is_dataclass(value):
        return [(one.name, getattr(value, one.name)) for one in fields(value) if one.compare]
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    own = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    return sorted({**own, **getattr(value, "__dict__", {})}.items())
