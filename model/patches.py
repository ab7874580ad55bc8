"""Patches: a protocol with some lines of its modules replaced.

Rule of this file: a patch is data (module, old lines, new lines); a protocol has no hook for it.

A patched form is a copy: the changed modules, and the modules of the model that import these, are
loaded a second time beside the real ones.  The values that drivers and protocols hand to each other
(model.core, model.world, ...) stay shared.  A reading of a paper is a patch that somebody proposed,
a mutant (model.core.Mutant) is one that nobody did.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import unified_diff
from functools import cache, cached_property
from importlib.machinery import ModuleSpec
from itertools import accumulate
from textwrap import dedent, indent
from types import ModuleType
from typing import Any, NamedTuple

from model.errors import Invalid, describe_error
from model.protocol import Behaviour

_FILES = (
    *("actions", "choices", "comparison", "core", "costs", "errors", "events", "evidence"),
    *("finding", "graph", "limits", "log", "observations", "outages", "patches", "progress"),
    *("protocol", "registry", "shapes", "system", "timers", "wiring", "words", "world"),
)
SHARED = frozenset(f"model.{name}" for name in _FILES)
"""Modules whose types drivers test for: no patch changes these, and they are loaded once."""


FUNCTIONS = ("deploy", "boot", "step", "recover", "gauges", "show", "size", "memory", "states")
"""The functions of a behaviour that a patched form has from its copy."""


class Change(NamedTuple):
    """old: whole lines of a module, which stand there once; new: the lines in their place.

    The indentation of the first line is free; that of the others is relative to it.
    """

    module: str
    old: str
    new: str


class Reading(NamedTuple):
    """The words of a paper, and the lines that a protocol has if they are read in this way."""

    quote: str
    changes: tuple[Change, ...]


# --- sources ---------------------------------------------------------------------------------
def patched_source(module: str, changes: Iterable[Change]) -> str:
    """The source of a module after its changes, in turn.

    Raises Invalid unless the old lines of each stand exactly once.
    """
    source = _source(module)
    if source is None:
        raise Invalid(f"there is no module {module}")
    for change in changes:
        if change.module == module:
            source = _replaced(source, change)
    return source


def _replaced(source: str, change: Change) -> str:
    lines, old = source.splitlines(), dedent(change.old).strip("\n").splitlines()
    size = len(old)
    places = [
        at
        for at, line in enumerate(lines)
        if line.strip() == old[0] and dedent("\n".join(lines[at : at + size])).splitlines() == old
    ]
    if len(places) != 1:
        raise Invalid(
            f"{len(places)} lines of {change.module} read {change.old!r}; exactly one must"
        )
    (at,) = places
    margin = lines[at][: -len(lines[at].lstrip())] if lines[at][0] == " " else ""
    new = indent(dedent(change.new).strip("\n"), margin).splitlines()
    return "\n".join([*lines[:at], *new, *lines[at + size :], ""])


def diff(changes: Iterable[Change]) -> str:
    """The changes as people read them: a unified diff of each module."""
    known = tuple(changes)
    found: list[str] = []
    for module in dict.fromkeys(change.module for change in known):
        before, after = patched_source(module, ()), patched_source(module, known)
        path = f"{module.replace('.', '/')}.py"
        found += unified_diff(before.splitlines(), after.splitlines(), path, path, "", "", 1, "")
    return "\n".join(found)


def _source(name: str) -> str | None:
    """The source of a module, also from a zip file; None if there is none."""
    spec = importlib.util.find_spec(name)
    get_source = getattr(spec and spec.loader, "get_source", None)
    return None if get_source is None else get_source(name) or ""


# --- copies ----------------------------------------------------------------------------------
def load_patched(home: str, changes: tuple[Change, ...]) -> ModuleType:
    """The module `home`, imported anew with the changes.  Raises Invalid if that fails, or if a
    change is in a shared module."""
    for one in changes:
        if one.module in SHARED:
            raise Invalid(f"{one.module} is shared by all protocols: no patch changes it")
    if home not in sys.modules:  # a copy stands beside the real module
        importlib.import_module(home)
    sources = {name: patched_source(name, changes) for name in {one.module for one in changes}}
    with _second_copy(sources, home):
        try:
            return importlib.import_module(home)
        except Exception as error:
            why = describe_error(error)
            raise Invalid(f"it cannot be imported: {why}") from error


_loaded = cache(load_patched)
"""Functions of one patched form come from one copy."""


@contextmanager
def _second_copy(sources: dict[str, str], home: str) -> Iterator[None]:
    """A context in which the modules with these sources are imported anew, and with them `home`
    and the rest of the model that imports them."""
    anew = ({home, *sources} | _importers({*sources})) - SHARED
    originals = {name: loaded for name, loaded in sys.modules.items() if name in anew}
    finder = _Finder(sources, originals[home].__spec__)
    for name in anew:
        _forget(name)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in anew:
            _forget(name)
        sys.modules.update(originals)
        for name, loaded in originals.items():
            package, _, attribute = name.rpartition(".")
            if package:
                setattr(sys.modules[package], attribute, loaded)


def _forget(name: str) -> None:
    """Let the next import load the module: a package, too, knows those of its modules."""
    sys.modules.pop(name, None)
    package, _, attribute = name.rpartition(".")
    if package in sys.modules:
        vars(sys.modules[package]).pop(attribute, None)


def _importers(modules: set[str]) -> set[str]:
    """The loaded modules of the model that import one of the modules, or another that does."""
    loaded = [name for name in sys.modules if name.startswith("model.")]
    found, waiting = set[str](), modules
    while waiting:
        waiting = {name for name in loaded if not _imported(name).isdisjoint(waiting)} - found
        found |= waiting
    return found


@cache
def _imported(name: str) -> frozenset[str]:
    """All that the source of a module names in its imports, with the packages around it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(_source(name) or "")):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(part for one in found for part in accumulate(one.split("."), "{}.{}".format))


class _Finder:
    """A finder that loads modules from the given sources, and the home from its own file."""

    def __init__(self, sources: dict[str, str], home: ModuleSpec | None) -> None:
        self.sources = sources
        self.home = home

    def find_spec(
        self, name: str, _path: object = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name in self.sources:
            return ModuleSpec(name, self)  # type: ignore[arg-type]
        if self.home is not None and name == self.home.name:
            return importlib.util.spec_from_loader(name, self.home.loader)
        return None

    def create_module(self, _spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        exec(compile(self.sources[name], f"<patch of {name}>", "exec"), module.__dict__)


# --- patched functions -----------------------------------------------------------------------
@dataclass(frozen=True)
class Patched:
    """A function of the module `home`, where the paper is read so.  The copy is made at the first
    call.

    It is a value: equal ones share one copy, and another process makes its own.
    """

    home: str
    readings: tuple[Reading, ...]
    name: str

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)

    def __reduce__(self) -> tuple[Any, ...]:
        return Patched, (self.home, self.readings, self.name)

    @cached_property
    def function(self) -> Callable[..., Any]:
        changes = tuple(change for reading in self.readings for change in reading.changes)
        found: Callable[..., Any] = getattr(_loaded(self.home, changes), self.name)
        return found


def patched(behaviour: Behaviour, home: str, readings: tuple[Reading, ...]) -> Behaviour:
    """The behaviour, which the module `home` has under the same names, where the paper is read
    so."""
    functions: dict[str, Any] = {name: Patched(home, readings, name) for name in FUNCTIONS}
    return replace(behaviour, **functions)


def readings_of(behaviour: Behaviour) -> tuple[Reading, ...]:
    """The readings of a patched behaviour; none of any other one."""
    return behaviour.step.readings if isinstance(behaviour.step, Patched) else ()


def also_changed(behaviour: Behaviour, change: Change) -> Behaviour:
    """A patched behaviour with one change more, made first; any other one as it is."""
    step = behaviour.step
    if not isinstance(step, Patched):
        return behaviour
    return patched(behaviour, step.home, (Reading("", (change,)), *step.readings))
