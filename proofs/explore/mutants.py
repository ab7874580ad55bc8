"""Mutants: the protocol with one line changed, to see whether the checkers notice.

Rule of this file: a mutant is data (module, line, replacement); the protocol under test carries no
hooks for it.  The mutated module, and those of the model that import it, are loaded a second time
beside the real ones; what drivers and protocols say to each other (model.core, model.world, ...)
stays shared.
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

from model.core import Mutant, Outcome, Protocol
from model.errors import Invalid
from proofs.explore.explorer import explore

SHARED = frozenset(
    f"model.{name}" for name in ("core", "errors", "events", "graph", "world", "log", "registry")
)
"""Modules whose types drivers test for: they are never mutated and never loaded twice."""


@dataclass(frozen=True, slots=True)
class Killing:
    """by: the checker that found the mutant, None if it survived; scope: where."""

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
    if spec is None or spec.origin is None:
        raise Invalid(f"mutant {mutant.name!r}: there is no module {mutant.module}")
    with open(spec.origin, encoding="utf-8") as file:
        lines = file.read().splitlines(keepends=True)
    places = [i for i, line in enumerate(lines) if line.strip() == mutant.old]
    if len(places) != 1:
        raise Invalid(
            f"mutant {mutant.name!r}: {len(places)} lines of {mutant.module} read {mutant.old!r};"
            " exactly one must"
        )
    line = lines[places[0]]
    lines[places[0]] = line.replace(mutant.old, mutant.new)
    return "".join(lines)


def mutated(protocol: Protocol, mutant: Mutant, home: str) -> Protocol:
    """The same protocol (or variant), built from modules of which one has its line replaced.

    home: the name of the imported module whose PROTOCOL it is, or is a variant of.
    """
    with _second_copy(mutant.module, mutated_source(mutant), home):
        fresh: Protocol = importlib.import_module(home).PROTOCOL
    return fresh.variant(protocol.name)


@contextmanager
def _second_copy(module: str, source: str, home: str) -> Iterator[None]:
    """While active, the model and `home` import anew, and `module` loads from `source`."""

    def again(name: str) -> bool:
        return name == home or (name.startswith("model.") and name not in SHARED)

    originals = {name: loaded for name, loaded in sys.modules.items() if again(name)}
    finder = _Finder(module, source, originals[home].__spec__)
    for name in originals:
        del sys.modules[name]
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in filter(again, [*sys.modules]):
            del sys.modules[name]
        sys.modules.update(originals)
        for name, loaded in originals.items():
            package, _, attribute = name.rpartition(".")
            if package:
                setattr(sys.modules[package], attribute, loaded)


class _Finder:
    """Finds one module and loads it from the given source; also the home, wherever it lies."""

    def __init__(self, module: str, source: str, home: ModuleSpec | None) -> None:
        self.module = module
        self.source = source
        self.home = home

    def find_spec(
        self, name: str, _path: object = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == self.module:
            return ModuleSpec(name, self)  # type: ignore[arg-type]
        if self.home is not None and name == self.home.name and self.home.origin is not None:
            return importlib.util.spec_from_file_location(name, self.home.origin)
        return None

    def create_module(self, _spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.source, f"<mutant of {self.module}>", "exec"), module.__dict__)


def hunt(
    protocol: Protocol,
    mutant: Mutant,
    home: str,
    attack: Callable[[Protocol], int | None],
    limit: int = 500_000,
) -> Killing:
    """Explore the scopes, the mutant's own first, then quick ones; what survives is attacked at
    random.

    limit: worlds a scope.  `attack` answers with the length of the failing run that it found.
    """
    started = time.perf_counter()
    states = 0

    def killed(by: str | None, scope: str | None, steps: int | None) -> Killing:
        return Killing(mutant, by, scope, states, steps, time.perf_counter() - started)

    broken = mutated(protocol, mutant, home)
    scopes = [pinned for pinned in broken.scopes if pinned.expect is Outcome.HOLDS]
    if mutant.scope and mutant.scope not in {pinned.name for pinned in scopes}:
        raise Invalid(f"mutant {mutant.name!r}: no scope that holds is called {mutant.scope!r}")
    scopes.sort(key=lambda s: (s.name != mutant.scope, not s.quick, s.states or 0))
    for pinned in scopes:
        try:
            found = explore(broken, pinned.scope, stop=True, limit=limit)
        except Invalid:  # it cannot be deployed any more
            return killed("deployment", pinned.name, 0)
        states += found.states
        if found.counterexample is not None:
            return killed("explorer", pinned.name, len(found.counterexample.trace.actions))
    steps = attack(broken)
    return killed("hypothesis" if steps is not None else None, None, steps)
