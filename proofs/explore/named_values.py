"""The values that a property names: in its code, its closure, its defaults and its arguments.

Rule of this file: nothing is called but the constructors of plain records.  A property that forbids
a state which no run reaches names this state, and can be broken by it.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from itertools import islice
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from proofs.explore.canonical import canonical

DEPTH = 4
"""How many functions, records or containers deep the values are read."""
ITEMS = 100
"""The items of a container that are read."""
MOST = 5_000
"""The values that are read of a property."""


def named_values(function: Callable[..., Any]) -> tuple[Any, ...]:
    """The values, without equal ones."""
    found = islice(_of_value(function, DEPTH), MOST)
    return tuple({(type(one), one): one for one in found if _is_hashable(one)}.values())


def _of_value(value: Any, depth: int) -> Iterator[Any]:
    """The values that a value names, and the value itself if it is none of a program."""
    if value is None or depth < 0:
        return
    if isinstance(value, FunctionType):
        yield from _of_function(value, depth)
    elif isinstance(value, MethodType):
        yield from _of_values((value.__func__, value.__self__), depth - 1)
    elif isinstance(value, partial):
        parts = (value.func, *value.args, *value.keywords.values())
        yield from _of_values(parts, depth - 1)
    elif isinstance(value, type):
        yield value
        yield from _instances(value)
    elif not isinstance(value, ModuleType | BuiltinFunctionType):
        yield value
        yield from _of_values(_items(value), depth - 1)
        yield from _of_value(vars(type(value)).get("__call__"), depth - 1)


def _of_values(values: Any, depth: int) -> Iterator[Any]:
    for one in values:
        yield from _of_value(one, depth)


def _items(value: Any) -> list[Any]:
    """The items of a container, or the fields of a record; none if they cannot be read."""
    try:
        return _read_items(value)
    except Exception:  # of a class that is anybody's
        return []


def _read_items(value: Any) -> list[Any]:
    if isinstance(value, AbstractSet):
        return sorted(value, key=canonical)[:ITEMS]
    if isinstance(value, Mapping):
        return [one for pair in [*value.items()][:ITEMS] for one in pair]
    if isinstance(value, tuple | list):
        return [*value[:ITEMS]]
    if is_dataclass(value):
        return [getattr(value, one.name, None) for one in fields(value)]
    return []


def _of_function(function: FunctionType, depth: int) -> Iterator[Any]:
    code, kept = function.__code__, []
    for cell in function.__closure__ or ():
        try:
            kept.append(cell.cell_contents)
        except ValueError:  # a cell that nothing has filled
            continue
    defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    yield from _of_values((*kept, *defaults), depth - 1)
    yield from _of_code(code, function.__globals__, depth)


def _of_code(code: CodeType, names: Any, depth: int) -> Iterator[Any]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _of_code(constant, names, depth)
        else:
            yield from _of_value(constant, depth)
    for name in code.co_names:
        value = names.get(name, getattr(builtins, name, None))
        if name in names or isinstance(value, type):
            yield from _of_value(value, depth - 1)
            yield from _reached(value, code.co_names, depth - 1)


def _reached(value: Any, names: tuple[str, ...], depth: int) -> Iterator[Any]:
    """The attributes of a module or of a class that the code may name."""
    if depth >= 0 and isinstance(value, ModuleType | type):
        for name in names:
            found = vars(value).get(name)
            yield from _of_value(found, depth)
            yield from _reached(found, names, depth - 1)


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
    except Exception:  # of a class that is anybody's
        return False
    return True
