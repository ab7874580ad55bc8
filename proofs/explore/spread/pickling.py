"""Values of a protocol as bytes, from which every process makes equal values.

Rule of this file: no table.  A patched form of a protocol (model.patches) has copies of classes,
which stand beside the real ones under the same names; pickle alone would not find these.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from functools import reduce
from io import BytesIO
from types import FunctionType, ModuleType
from typing import Any, TypeAlias

from model.errors import Invalid, describe_error
from model.patches import FUNCTIONS, Patched
from model.protocol import Behaviour

ClassName: TypeAlias = tuple[str, str]
"""The module of a class, and its name there."""


def copied_classes(behaviour: Behaviour) -> dict[ClassName, type]:
    """The classes of the behaviour's own copies of modules, by their names; most have none."""
    functions = [getattr(behaviour, name, None) for name in FUNCTIONS]
    waiting = [vars_of(one.function) for one in functions if isinstance(one, Patched)]
    seen: set[int] = set()
    found: dict[ClassName, type] = {}
    while waiting:
        names = waiting.pop()
        module = sys.modules.get(str(names.get("__name__")))
        if id(names) in seen or (module is not None and vars(module) is names):
            continue
        seen.add(id(names))
        for value in names.values():
            if (
                isinstance(value, type)
                and _named(value.__module__, value.__qualname__) is not value
            ):
                found[value.__module__, value.__qualname__] = value
                waiting += _spaces(value)
            elif isinstance(value, FunctionType | ModuleType) or hasattr(value, "__wrapped__"):
                waiting.append(vars_of(value))
    return found


def _spaces(class_: type) -> Iterator[dict[str, object]]:
    return (vars_of(one) for one in vars(class_).values() if isinstance(one, FunctionType))


def vars_of(value: Any) -> dict[str, object]:
    """The names among which a function, or a module's code, finds others."""
    value = getattr(value, "__wrapped__", value)
    found: dict[str, object] = getattr(value, "__globals__", None) or getattr(value, "__dict__", {})
    return found


def _named(module: str, name: str) -> Any:
    """The value with this name in a module that is loaded; None if there is none."""
    return reduce(
        lambda at, part: getattr(at, part, None), name.split("."), sys.modules.get(module)
    )


class ValuePickler:
    """Writes and reads the values of a protocol."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.classes = copied_classes(behaviour)

    def dump(self, value: Any) -> bytes:
        """Raises Invalid for a value that cannot go to another process."""
        written = BytesIO()
        try:
            _ValueWriter(written, self.classes).dump(value)
        except Exception as error:  # of a protocol's state or message, which may be anything
            raise Invalid(
                f"a value of the protocol cannot go to another process: {describe_error(error)}; "
                "a class at the top of a module could"
            ) from error
        return written.getvalue()

    def load(self, data: bytes) -> Any:
        return _ValueReader(BytesIO(data), self.classes).load()


def _copied(module: str, name: str) -> type:
    """Stands in the bytes for a class of a copy; _ValueReader finds it."""
    raise AssertionError(f"{module}.{name} was read without the copies of its protocol")


class _ValueWriter(pickle.Pickler):
    def __init__(self, file: BytesIO, classes: dict[ClassName, type]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.classes = classes

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, type):
            name = value.__module__, value.__qualname__
            if self.classes.get(name) is value:
                return _copied, name
        return NotImplemented


class _ValueReader(pickle.Unpickler):
    def __init__(self, file: BytesIO, classes: dict[ClassName, type]) -> None:
        super().__init__(file)
        self.classes = classes

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == (_copied.__module__, _copied.__name__):
            return lambda *copied: self.classes[copied]
        return super().find_class(module, name)
