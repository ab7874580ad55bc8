"""Mutants: the protocol with one line changed, to see whether the checkers notice.

Rule of this file: how mutants are hunted; how lines are replaced is in model.patches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from model.core import Guarantee, Scope
from model.errors import Invalid
from model.evidence import Mutant, Outcome
from model.patches import Change, also_changed, load_patched, patched_source
from model.protocol import Protocol
from model.system import System
from proofs.explore.explorer import explore
from proofs.explore.random_attack import Attack


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


def change_of(mutant: Mutant) -> Change:
    return Change(mutant.module, mutant.old, mutant.new)


def mutated_source(mutant: Mutant) -> str:
    """The source of the mutant's module with its line replaced.

    Raises Invalid unless exactly one line, stripped, is `old`.
    """
    with _named(mutant):
        return patched_source(mutant.module, (change_of(mutant),))


def mutate(protocol: Protocol, mutant: Mutant, home: str) -> Protocol:
    """The same protocol (or variant), built from modules one of which has a replaced line.

    home: the name of the imported module whose PROTOCOL is the protocol, or has it as a variant.
    """
    change = change_of(mutant)
    with _named(mutant):
        fresh: Protocol = load_patched(home, (change,)).PROTOCOL
    variants = tuple(  # a patched form has a copy of its own, which has to have the change, too
        replace(one, behaviour=also_changed(one.behaviour, change)) for one in fresh.variants
    )
    return replace(fresh, variants=variants).named(protocol.name)


@contextmanager
def _named(mutant: Mutant) -> Iterator[None]:
    """A context whose errors name the mutant."""
    try:
        yield
    except Invalid as error:
        raise Invalid(f"mutant {mutant.name!r}: {error}") from error


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
        for pinned in sorted(variant.evidence.scopes, key=lambda s: (not s.quick, s.worlds)):
            if pinned.expect is Outcome.HOLDS:
                found[before + pinned.name] = variant, pinned.scope
    return found
