"""Canonical texts: equal values have equal texts, in every process.

Rule of this file: no hash, no address, and no order of a set or a mapping reaches a text.
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


def canonical(value: Any) -> str:
    """The text of a value: of plain values `repr`, of other ones their type and their parts.

    The items of sets and mappings are in the order of their texts.  A function has its name alone,
    and an object without fields that is of no known kind has the name of its type.
    """
    if type(value) in PLAIN:
        return repr(value)
    if type(value) is tuple:
        return f"({', '.join([canonical(one) for one in value])})"
    kind = type(value).__qualname__
    if isinstance(value, Enum):
        return f"{kind}.{value.name}"
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return _record(kind, zip(value._fields, value, strict=True))
    if isinstance(value, tuple | list):
        return f"{'' if type(value) in (tuple, list) else kind}({', '.join(map(canonical, value))})"
    if isinstance(value, AbstractSet):
        return f"{{{', '.join(sorted(map(canonical, value)))}}}"
    if isinstance(value, Mapping):
        items = (f"{canonical(one)}: {canonical(found)}" for one, found in value.items())
        return f"{{{', '.join(sorted(items))}}}"
    if isinstance(value, partial):
        return f"partial{canonical((value.func, *value.args, value.keywords))}"
    if isinstance(value, MethodType):
        return f"{canonical(value.__self__)}.{value.__name__}"
    if isinstance(value, FunctionType | BuiltinFunctionType | type | ModuleType):
        return f"{getattr(value, '__qualname__', value.__name__)}"
    if isinstance(value, PLAIN):  # of a type of its own
        return f"{kind}({value!r})"
    return _record(kind, _parts(value))


def _record(kind: str, parts: Any) -> str:
    return f"{kind}({', '.join(f'{name}={canonical(one)}' for name, one in parts)})"


def _parts(value: Any) -> list[tuple[str, Any]]:
    """The fields that count when values of this type are compared."""
    if is_dataclass(value):
        return [(one.name, getattr(value, one.name)) for one in fields(value) if one.compare]
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    own = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    return sorted({**own, **getattr(value, "__dict__", {})}.items())
