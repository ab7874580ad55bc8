"""The families of protocols that an engine is checked with: the contents of each family's folder.

Rule of this file: a family is found by its folder; no file outside that folder names the family.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from types import ModuleType

from engine_check.engine import CheckedEngine


def family_modules(engine: CheckedEngine, name: str) -> Iterator[ModuleType]:
    """The module or package `name` of each family's folder that has one, by family."""
    for package in iter_modules(import_module(engine.package).__path__):
        home = f"{engine.package}.{package.name}.{name}"
        if package.ispkg and find_spec(home):
            yield import_module(home)
