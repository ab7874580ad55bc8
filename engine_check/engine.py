"""A real engine, as the drivers of its checks see it.

Rule of this file: one value says all that differs between engines; no engine is named here.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from typing import Any

HOME = "engine"
"""The module of an engine's package that holds the engine, as ENGINE."""


@dataclass(frozen=True, slots=True)
class CheckedEngine:
    """An engine that checks crash.

    name: of its command.  title: its name in a sentence.  package: of its checks.  version: the one
    that is installed.  java: the version of the Java that it starts with; both raise Invalid where
    there is none.  shared: makes the context that the checks of one process share, one after the
    other; a check receives it as `CheckSetting.shared`.
    """

    name: str
    title: str
    package: str
    version: Callable[[], str]
    java: Callable[[], str]
    shared: Callable[[], AbstractContextManager[Any]] = nullcontext


def engine_in(package: str) -> CheckedEngine:
    """The engine of a package."""
    found: CheckedEngine = import_module(f"{package}.{HOME}").ENGINE
    return found
