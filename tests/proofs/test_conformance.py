"""The formulas that are proved allow what the explorer sees, and would not if they were others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import pytest
import z3

from model.evidence import PinnedScope
from model.registry import protocols
from proofs.explore.edges import edges
from proofs.explore.explorer import explore
from proofs.prove.conformance import (
    Abstraction,
    Comparison,
    Coverage,
    Formulas,
    Mismatch,
    Path,
    compare,
)
from proofs.prove.lemma import Given
from proofs.prove.lemma_index import theories
from proofs.prove.structure import Structure
from proofs.prove.symbols import AtTime, Symbol
from proofs.prove.transition import Transition, TransitionSystem
from tests.sizes import FULL

THEORIES = theories()
SCOPES = [
    pytest.param(name, pinned, id=f"{name}-{pinned.name}")
    for name, theory in THEORIES.items()
    if theory.abstractions
    for pinned in protocols()[name].evidence.scopes
]
ABSTRACTIONS = [
    pytest.param(name, abstraction, id=f"{name}-{abstraction.name}")
    for name, theory in THEORIES.items()
    for abstraction in theory.abstractions
]
SUBSUMED = {"windows expire"}
"""Transitions of which another one allows every step: an event may close windows as well."""
FEW = 250
"""Worlds of a scope, where the whole takes too long."""
ENOUGH = 2_500
"""Worlds of a scope among which every transition is taken, in one scope or another."""
RARE = {"acknowledgements and savepoints", "original run and replay", "windows twice"}
"""Abstractions some of whose transitions are taken later; `make test-all` has all worlds."""
LIMITS = (None,) if FULL else (FEW, ENOUGH)


@cache
def accounts(name: str, pinned: PinnedScope, limit: int | None) -> dict[str, Coverage]:
    return compare(THEORIES[name].abstractions, protocols()[name], pinned.scope, limit=limit)


def drifting(found: dict[str, Coverage]) -> dict[str, Mismatch]:
    return {what: account.drift for what, account in found.items() if account.drift}


@pytest.mark.parametrize(("name", "pinned"), SCOPES)
def test_no_edge_of_any_scope_drifts(name: str, pinned: PinnedScope) -> None:
    """Every edge in the full profile, otherwise the first ones."""
    assert drifting(accounts(name, pinned, LIMITS[0])) == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "abstraction"),
    [
        pytest.param(
            name,
            abstraction,
            id=f"{name}-{abstraction.name}",
            marks=pytest.mark.exhaustive if abstraction.name in RARE else (),
        )
        for name, theory in THEORIES.items()
        for abstraction in theory.abstractions
    ],
)
def test_without_any_of_its_transitions_an_abstraction_drifts(
    name: str, abstraction: Abstraction
) -> None:
    """Each allows, in some scope, a step that no other one allows."""
    wanted = {transition.name for transition in _system(abstraction).transitions} - SUBSUMED
    assert wanted
    found = set[str]()
    for limit, pinned in product(LIMITS, protocols()[name].evidence.scopes):
        if limit == LIMITS[0] or found != wanted:
            seen = accounts(name, pinned, limit)
            assert drifting(seen) == {}
            found |= seen[abstraction.name].alone
    assert found == wanted


@pytest.mark.slow
@pytest.mark.parametrize(("name", "abstraction"), ABSTRACTIONS)
def test_every_invariant_is_looked_at(name: str, abstraction: Abstraction) -> None:
    def negated(invariant: str) -> Abstraction:
        def edited(given: Given) -> TransitionSystem:
            system = abstraction.system(given)
            holds = system.invariants[invariant]
            return replace(system, invariants={invariant: lambda s: z3.Not(holds(s))})

        return replace(abstraction, system=edited, name=invariant)

    edited = [negated(invariant) for invariant in _system(abstraction).invariants]
    assert _drifting(name, edited) == {invariant.name for invariant in edited}


def _system(abstraction: Abstraction) -> TransitionSystem:
    return abstraction.system(lambda _, formula: formula)


def _drifting(name: str, edited: list[Abstraction]) -> set[str]:
    """Which of the edited systems drift in some scope."""
    found: set[str] = set()
    for pinned in protocols()[name].evidence.scopes:
        left = [abstraction for abstraction in edited if abstraction.name not in found]
        if left:
            accounts = compare(left, protocols()[name], pinned.scope, limit=ENOUGH)
            found |= {what for what, account in accounts.items() if account.drift}
    return found


@pytest.mark.parametrize(
    "name",
    ["diamond", pytest.param("adjacent operators, two crashes", marks=pytest.mark.exhaustive)],
)
def test_edges_are_those_of_the_explorer(name: str) -> None:
    protocol = protocols()["upstream-backup"]
    scope = next(pinned.scope for pinned in protocol.evidence.scopes if pinned.name == name)
    explored = explore(protocol, scope)
    seen = list(edges(protocol, scope))
    assert len(seen) == explored.transitions
    assert (
        len({before for before, _, _ in seen} | {after for _, _, after in seen}) == explored.states
    )


# --- the comparison itself -------------------------------------------------------------------
def lamp() -> TransitionSystem:
    """A lamp that is switched on once, and a limit that never changes."""

    def switch(s: AtTime, t: AtTime, who: Any) -> Any:
        return z3.And(z3.Not(s.on), t.on, z3.Function("may", PERSON, z3.BoolSort())(who))

    return TransitionSystem(
        name="lamp",
        state=(Symbol("on", z3.BoolSort()), Symbol("used", z3.IntSort())),
        axioms={"the limit is positive": z3.Int("limit") > 0},
        init=lambda s: z3.Not(s.on),
        transitions=(Transition("switch", (("who", PERSON),), ("on",), switch),),
        invariants={"not beyond the limit": lambda s: s.used <= z3.Int("limit")},
    )


PERSON = z3.DeclareSort("person")


def seen(
    *states: Mapping[str, Any], limit: int = 1, may: bool = True, initial: bool = False
) -> Mismatch | None:
    rigid = Structure({"person": ["Ann"]}, {"limit": limit, "may": {"Ann": may}})
    return Comparison(Formulas(lamp())).compare(Path(rigid, states, initial), Coverage())


OFF, ON = {"on": False, "used": 0}, {"on": True, "used": 0}


def test_what_fits_does_not_drift() -> None:
    assert seen(OFF, OFF, ON, ON, initial=True) is None


@pytest.mark.parametrize("twice", [False, True])
def test_a_transition_is_alone_if_no_other_one_allows_its_step(twice: bool) -> None:
    system, account = lamp(), Coverage()
    (switch,) = system.transitions
    other = replace(switch, name="press" if twice else "leave", changes=("on",) * twice)
    both = replace(system, transitions=(switch, other))
    rigid = Structure({"person": ["Ann"]}, {"limit": 1, "may": {"Ann": True}})
    assert Comparison(Formulas(both)).compare(Path(rigid, (OFF, ON)), account) is None
    assert account.transitions == {"switch": 1}
    assert account.alone == (set() if twice else {"switch"})


@pytest.mark.parametrize(
    ("drift", "what"),
    [
        (seen(ON, initial=True), "the first state is not initial"),
        (seen(OFF, limit=0), "the axiom does not hold: the limit is positive"),
        (seen({"on": False, "used": 2}), "the invariant does not hold: not beyond the limit"),
        (seen(ON, OFF), "no transition allows this step"),
        (seen(OFF, ON, may=False), "no transition allows this step"),
        (seen(OFF, {"on": True, "used": 1}), "no transition allows this step"),
    ],
)
def test_what_does_not_fit_is_named(drift: Mismatch | None, what: str) -> None:
    assert drift is not None
    assert drift.what == what


@pytest.mark.parametrize(("used", "wrong"), [(2, "not too many"), (-1, "not negative")])
def test_of_several_invariants_the_one_that_does_not_hold_is_named(used: int, wrong: str) -> None:
    invariants = {"not too many": lambda s: s.used <= 1, "not negative": lambda s: s.used >= 0}
    formulas = Formulas(replace(lamp(), invariants=invariants))
    rigid = Structure({"person": ["Ann"]}, {"limit": 1, "may": {"Ann": True}})
    state = {"on": False, "used": used}
    drift = Comparison(formulas).compare(Path(rigid, (state,)), Coverage())
    assert drift is not None
    assert drift.formula == wrong
