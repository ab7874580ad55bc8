"""The values that the code of a property names: constants, globals, members and instances.

Rule of this file: nothing is called but the constructors of plain records.  A property that forbids
a state which no run reaches names this state, and can be broken by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from types import CodeType, FunctionType
from typing import Any

DEPTH = 4
"""How many functions deep the code is read: a property may call helpers."""


def named_values(function: Callable[..., Any]) -> tuple[Any, ...]:
    """The values, without equal ones; none of a callable without code of its own."""
    if not isinstance(function, FunctionType):
        return ()
    found = _of_code(function.__code__, function.__globals__, DEPTH)
    return tuple({(type(one), one): one for one in found if _is_hashable(one)}.values())


def _of_code(code: CodeType, names: Any, depth: int) -> Iterator[Any]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _of_code(constant, names, depth)
        elif isinstance(constant, tuple | frozenset):
            yield from constant
        elif constant is not None:
            yield constant
    for name in code.co_names:
        value = names.get(name)
        if isinstance(value, FunctionType) and depth:
            yield from _of_code(value.__code__, value.__globals__, depth - 1)
        elif isinstance(value, type):
            yield from _instances(value)
        elif value is not None:
            yield value


def _instances(kind: Any) -> Iterator[Any]:
    """The members of an enumeration, or a record without content."""
    if issubclass(kind, Enum):
        yield from kind
    elif issubclass(kind, tuple) and hasattr(kind, "_fields"):
        yield kind._make([None] * len(kind._fields))
    elif is_dataclass(kind):
        make: Any = kind
        try:
            yield make(**{one.name: None for one in fields(kind) if one.init})
        except Exception:  # of a class that is anybody's
            return


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
