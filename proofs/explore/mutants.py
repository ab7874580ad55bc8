"""Mutants: the protocol with one line changed, to see whether the checkers notice.

Rule of this file: no hooks in the protocol under test; a mutant is data (module, line,
replacement).  The mutated module, and the modules of the model that import this module, are loaded
a second time beside the real ones; the values that drivers and protocols hand to each other
(model.core, model.world, ...) stay shared.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ModuleSpec
from itertools import accumulate
from types import ModuleType

import networkx as nx

from model.core import Guarantee, Scope
from model.errors import Invalid, describe_error
from model.evidence import Mutant, Outcome
from model.protocol import Protocol
from model.system import System
from proofs.explore.explorer import explore
from proofs.explore.random_attack import Attack

_FILES = ("core", "errors", "events", "graph", "log", "progress", "registry", "system", "world")
SHARED = frozenset(f"model.{name}" for name in _FILES)
"""Modules whose types drivers test for: no mutant changes these, and they are loaded once."""


@dataclass(frozen=True, slots=True)
class Killing:
    """The result of a hunt.  by: the checker that found the mutant, None if the mutant survived.
    scope: the scope in which the checker found it."""

    mutant: Mutant
    by: str | None
    scope: str | None
    states: int
    steps: int | None
    seconds: float


def mutated_source(mutant: Mutant) -> str:
    """The source of the mutant's module with its line replaced.

    Raises Invalid unless exactly one line, stripped, is `old`.
    """
    source = _source(mutant.module)
    if source is None:
        raise Invalid(f"mutant {mutant.name!r}: there is no module {mutant.module}")
    lines = source.splitlines(keepends=True)
    places = [i for i, line in enumerate(lines) if line.strip() == mutant.old]
    if len(places) != 1:
        raise Invalid(
            f"mutant {mutant.name!r}: {len(places)} lines of {mutant.module} read {mutant.old!r};"
            " exactly one must"
        )
    line = lines[places[0]]
    lines[places[0]] = line.replace(mutant.old, mutant.new)
    return "".join(lines)


def mutate(protocol: Protocol, mutant: Mutant, home: str) -> Protocol:
    """The same protocol (or variant), built from modules one of which has a replaced line.

    home: the name of the imported module whose PROTOCOL is the protocol, or has it as a variant.
    """
    with _second_copy(mutant.module, mutated_source(mutant), home):
        try:
            fresh: Protocol = importlib.import_module(home).PROTOCOL
        except Exception as error:
            why = describe_error(error)
            raise Invalid(f"mutant {mutant.name!r}: it cannot be imported: {why}") from error
    return fresh.named(protocol.name)


@contextmanager
def _second_copy(module: str, source: str, home: str) -> Iterator[None]:
    """A context in which `module` is imported anew, from `source`, and with it `home` and the rest
    of the model that imports it."""
    anew = ({home, module} | _importers(module)) - SHARED
    originals = {name: loaded for name, loaded in sys.modules.items() if name in anew}
    finder = _Finder(module, source, originals[home].__spec__)
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


def _importers(module: str) -> set[str]:
    """The loaded modules of the model that import the module, or another one that does."""
    imports = _import_graph(frozenset(name for name in sys.modules if name.startswith("model.")))
    return nx.ancestors(imports, module) if module in imports else set()


@cache
def _import_graph(loaded: frozenset[str]) -> nx.DiGraph[str]:
    """An edge from each module to each that it imports."""
    return nx.DiGraph((name, one) for name in loaded for one in _imported(name))


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


def _source(name: str) -> str | None:
    """The source of a module, also from a zip file; None if there is none."""
    spec = importlib.util.find_spec(name)
    get_source = getattr(spec and spec.loader, "get_source", None)
    return None if get_source is None else get_source(name) or ""


class _Finder:
    """A finder that loads one module from the given source, and the home from its own file."""

    def __init__(self, module: str, source: str, home: ModuleSpec | None) -> None:
        self.module = module
        self.source = source
        self.home = home

    def find_spec(
        self, name: str, _path: object = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == self.module:
            return ModuleSpec(name, self)  # type: ignore[arg-type]
        if self.home is not None and name == self.home.name:
            return importlib.util.spec_from_loader(name, self.home.loader)
        return None

    def create_module(self, _spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.source, f"<mutant of {self.module}>", "exec"), module.__dict__)


def hunt(
    protocol: Protocol,
    mutant: Mutant,
    home: str,
    attack: Callable[[Protocol], Attack],
    limit: int = 500_000,
) -> Killing:
    """Explore the scopes, the mutant's own first, then quick ones, then those of the variants;
    attack a survivor at random.  A mutant that is found by chance is attacked first.

    limit: worlds a scope.
    """
    started = time.perf_counter()
    states = 0

    def judge(by: str | None, scope: str | None, steps: int | None) -> Killing:
        return Killing(mutant, by, scope, states, steps, time.perf_counter() - started)

    broken = mutate(protocol, mutant, home)
    scopes = _hunting_grounds(broken)
    if not scopes:
        raise Invalid(f"mutant {mutant.name!r}: no scope holds, so nothing shows that it is found")
    if mutant.scope and mutant.scope not in scopes:
        raise Invalid(f"mutant {mutant.name!r}: no scope that holds is called {mutant.scope!r}")
    attacked = attack(broken) if mutant.by_chance else None
    if attacked is not None and attacked.failure is not None:
        return judge(attacked.by, None, len(attacked.failure.trace.actions))
    for name in sorted(scopes, key=lambda name: name != mutant.scope):
        variant, scope = scopes[name]
        try:
            System(variant, scope)
        except Invalid:  # nobody can deploy this mutant
            return judge("deployment", name, 0)
        found = explore(variant, scope, until=Guarantee.PRECISE, limit=limit)
        states += found.states
        if found.counterexample is not None:
            return judge("explorer", name, len(found.counterexample.trace.actions))
    attacked = attacked or attack(broken)
    steps = None if attacked.failure is None else len(attacked.failure.trace.actions)
    return judge(attacked.by, None, steps)


def _hunting_grounds(protocol: Protocol) -> dict[str, tuple[Protocol, Scope]]:
    """The scopes that hold, small and quick ones first, then those of the variants by
    "VARIANT: SCOPE", each with the protocol that holds there."""
    found: dict[str, tuple[Protocol, Scope]] = {}
    for variant in (protocol, *protocol.variants):
        before = "" if variant is protocol else f"{variant.variant}: "
        for pinned in sorted(variant.evidence.scopes, key=lambda s: (not s.quick, s.states or 0)):
            if pinned.expect is Outcome.HOLDS:
                found[before + pinned.name] = variant, pinned.scope
    return found
