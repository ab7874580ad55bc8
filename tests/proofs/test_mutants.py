"""Every mutant dies; the machinery leaves nothing of a mutant behind."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib import import_module
from inspect import isfunction
from types import ModuleType
from unittest import mock

import pytest

from model.errors import Invalid
from model.evidence import Mutant
from model.protocol import Protocol
from model.registry import modules, protocols
from proofs.explore.explorer import explore
from proofs.explore.mutants import hunt, mutate, mutated_source
from proofs.explore.random_attack import Attack, attack
from proofs.explore.tasks import HUNT_EXAMPLES, HUNT_WALKS

HOME = "model.protocols.upstream_backup.protocol"
MAIN = protocols()["upstream-backup"]
MUTANTS = [
    pytest.param(
        protocol,
        home,
        mutant,
        id=mutant.name,
        # The report hunts all of them, and fails if one survives.
        marks=pytest.mark.exhaustive if number else pytest.mark.slow,
    )
    for home, protocol in modules().items()
    for number, mutant in enumerate(protocol.evidence.mutants)
]


HOMES = [(protocol, home) for home, protocol in modules().items() if protocol.evidence.mutants]


def by_chance(broken: Protocol) -> Attack:
    return attack(broken, walks=HUNT_WALKS, examples=HUNT_EXAMPLES)


def test_there_are_enough_mutants() -> None:
    assert len(MAIN.evidence.mutants) >= 15


@pytest.mark.parametrize(("protocol", "home", "mutant"), MUTANTS)
def test_every_mutant_is_found(protocol: Protocol, home: str, mutant: Mutant) -> None:
    found = hunt(protocol, mutant, home, by_chance)
    assert found.by is not None
    assert found.scope == mutant.scope or not mutant.scope


def test_a_mutant_by_chance_is_attacked_first_and_explored_if_it_survives() -> None:
    attacks: list[Attack] = []

    def survives(broken: Protocol) -> Attack:
        attacks.append(Attack(walks=0, examples=0, actions=0, seconds=0.0, failure=None))
        return attacks[-1]

    mutant = next(one for one in MAIN.evidence.mutants if one.scope)
    found = hunt(MAIN, replace(mutant, by_chance=True), HOME, survives)
    assert (len(attacks), found.by, found.scope) == (1, "explorer", mutant.scope)
    assert hunt(MAIN, mutant, HOME, survives) == replace(found, mutant=mutant, seconds=mock.ANY)
    assert len(attacks) == 1


def test_the_line_of_every_mutant_stands_once() -> None:
    """Quick, and so in every run: a change of a line must change its mutants.  The report imports
    each of them, and fails if one cannot be imported."""
    for protocol in modules().values():
        for variant in (protocol, *protocol.variants):
            for mutant in variant.evidence.mutants:
                compile(mutated_source(mutant), mutant.module, "exec")


def test_a_mutant_leaves_the_real_modules_alone() -> None:
    before = dict(sys.modules)
    broken = mutate(MAIN, MAIN.evidence.mutants[0], HOME)
    assert {n: m for n, m in sys.modules.items() if n.startswith("model")} == {
        n: m for n, m in before.items() if n.startswith("model")
    }
    assert broken.behaviour.step is not MAIN.behaviour.step
    smallest = min(MAIN.evidence.scopes, key=lambda pinned: pinned.worlds or 10**9)
    assert explore(MAIN, smallest.scope).counterexample is None


@pytest.mark.parametrize(("protocol", "home"), HOMES)
def test_nothing_of_the_real_module_is_in_a_mutant(protocol: Protocol, home: str) -> None:
    """While a mutant is imported, no module of the model has a part of the unchanged one."""
    mutants = {mutant.module: mutant for mutant in protocol.evidence.mutants}
    for module, mutant in mutants.items():
        real = sys.modules[module]
        left: list[str] = []

        def look(name: str, real: ModuleType = real, left: list[str] = left) -> ModuleType:
            fresh = import_module(name)
            for one, loaded in sys.modules.items():
                known = vars(loaded).values() if one.startswith("model.") else ()
                left += [one for v in known if v is real or _of(v) is vars(real)]
            return fresh

        with mock.patch("importlib.import_module", look):
            mutate(protocol, mutant, home)
        assert not left, (module, left)


def _of(value: object) -> object:
    """The names of the module in which a function, or the methods of a class, were defined."""
    if isinstance(value, type):
        value = next((one for one in vars(value).values() if isfunction(one)), None)
    return getattr(value, "__globals__", None)


def test_a_line_that_is_not_there_or_twice_is_refused_and_a_scope_that_is_not_there() -> None:
    mutant = MAIN.evidence.mutants[0]
    with pytest.raises(
        Invalid, match=r"0 lines of model\.protocols\.upstream_backup\.savepoints read"
    ):
        mutated_source(replace(mutant, old="no such line"))
    with pytest.raises(Invalid, match="exactly one must"):
        mutated_source(replace(mutant, old="return state._replace("))
    with pytest.raises(Invalid, match=r"no module model\.nowhere"):
        mutated_source(replace(mutant, module="model.nowhere"))
    with pytest.raises(Invalid, match="no scope that holds is called 'nowhere'"):
        hunt(MAIN, replace(mutant, scope="nowhere"), HOME, by_chance)


def test_the_unchanged_line_survives() -> None:
    """The check on the checkers: a mutant that changes nothing must not be found."""
    mutant = MAIN.evidence.mutants[0]
    same = replace(mutant, new=mutant.old)
    small = MAIN.vary(scopes=MAIN.evidence.scopes[:1])
    broken = mutate(small, same, HOME)
    assert explore(broken, broken.evidence.scopes[0].scope).counterexample is None
