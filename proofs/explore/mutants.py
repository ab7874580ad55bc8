"""Mutants: the protocol with one line changed, to see whether the checkers notice.

Rule of this file: no hooks in the protocol under test; a mutant is data (module, line,
replacement).  The mutated module, and the modules of the model that import this module, are loaded
a second time beside the real ones; the values that drivers and protocols hand to each other
(model.core, model.world, ...) stay shared.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from types import ModuleType

from model.core import Guarantee, Mutant, Outcome, Protocol, Scope
from model.errors import Invalid, describe_error
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
    spec = importlib.util.find_spec(mutant.module)
    get_source = getattr(spec and spec.loader, "get_source", None)  # also from a zip file
    if get_source is None:
        raise Invalid(f"mutant {mutant.name!r}: there is no module {mutant.module}")
    lines = (get_source(mutant.module) or "").splitlines(keepends=True)
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
    return fresh.variant(protocol.name)


@contextmanager
def _second_copy(module: str, source: str, home: str) -> Iterator[None]:
    """A context in which the model and `home` are imported anew, `module` from `source`."""

    def is_reloaded(name: str) -> bool:
        return name == home or (name.startswith("model.") and name not in SHARED)

    originals = {name: loaded for name, loaded in sys.modules.items() if is_reloaded(name)}
    finder = _Finder(module, source, originals[home].__spec__)
    for name in originals:
        del sys.modules[name]
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in filter(is_reloaded, [*sys.modules]):
            del sys.modules[name]
        sys.modules.update(originals)
        for name, loaded in originals.items():
            package, _, attribute = name.rpartition(".")
            if package:
                setattr(sys.modules[package], attribute, loaded)


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
        before = "" if variant is protocol else f"{variant.name.partition(':')[2]}: "
        for pinned in sorted(variant.scopes, key=lambda s: (not s.quick, s.states or 0)):
            if pinned.expect is Outcome.HOLDS:
                found[before + pinned.name] = variant, pinned.scope
    return found
