"""A protocol that never lets go of what it keeps is found, with the run that shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from model.core import Guarantee
from model.evidence import Mutant, Outcome, PinnedScope
from model.protocol import Protocol
from model.registry import modules, protocols
from model.system import LETS_GO, System
from proofs.explore.explorer import explore
from proofs.explore.mutants import mutate
from proofs.explore.random_walk import walks

Asif = Callable[..., Any]
LEAKS = [
    pytest.param(protocol, home, mutant, id=mutant.name)
    for home, protocol in modules().items()
    for mutant in protocol.evidence.mutants
    if mutant.scope.startswith("no crash")
]
FAULTLESS = [
    pytest.param(
        variant,
        pinned,
        id=f"{name}, {pinned.name}",
        # `make test` has all scopes of each family itself, and the smaller ones of its variants.
        marks=pytest.mark.exhaustive if ":" in name and pinned.states >= 1_000 else (),
    )
    for name, variant in protocols().items()
    for pinned in variant.evidence.scopes
    if variant.behaviour.needed is not None
    and pinned.states is not None
    and pinned.states < 400_000
]
OWN = """
def needed(scope, seen):
    return {"source": 0, "sink": 0}
FREE = Case("nothing fails", over_words(relay.GRAPH, 2, crashes=0), OperatorClass.REPEATABLE)
TIDY = relay.RELAY.design(
    scopes=(FREE.holds(), relay.ONE.holds()),
    behaviour=replace(relay.RELAY.behaviour, needed=needed),
)
def step(site, state, input_):
    if isinstance(input_, Received) and isinstance(input_.message, relay.Ack):
        return state, ()  # it never lets go
    return relay.step(site, state, input_)
"""


@pytest.mark.parametrize(("protocol", "pinned"), FAULTLESS)
def test_without_faults_every_design_lets_go(protocol: Protocol, pinned: PinnedScope) -> None:
    """Not in the pinned scopes alone: also in those with crashes, once no crash is granted.

    A design that is wrong without faults may keep what it cannot use any more.
    """
    free = replace(pinned.scope, crashes=0)
    found = explore(protocol, free).counterexample
    if found is not None and found.property.name == LETS_GO:
        assert explore(protocol.vary(needed=None), free).outcome is Outcome.REFUTED
    assert found is None or pinned.expect is Outcome.REFUTED


@pytest.mark.parametrize(("protocol", "home", "mutant"), LEAKS)
def test_a_leak_is_found_by_this_property_alone(
    protocol: Protocol, home: str, mutant: Mutant
) -> None:
    leaking = mutate(protocol, mutant, home)
    (scope,) = (pinned.scope for pinned in leaking.evidence.scopes if pinned.name == mutant.scope)
    found = explore(leaking, scope, until=Guarantee.PRECISE).counterexample
    assert found is not None
    assert found.property.name == LETS_GO
    walked = walks(leaking, scope, 300, seed=1).property
    assert walked is not None
    assert walked.name == LETS_GO
    silent = leaking.vary(needed=None)
    smallest = sorted(leaking.evidence.scopes, key=lambda pinned: pinned.worlds or 10**9)[:3]
    for lived in (scope, *(pinned.scope for pinned in smallest)):
        assert explore(silent, lived).outcome is Outcome.HOLDS


def test_it_is_judged_in_scopes_without_crashes_of_protocols_that_say_what_is_needed() -> None:
    protocol = protocols()["micro-batch"]
    scope = protocol.evidence.scopes[0].scope
    free = replace(scope, crashes=0)
    assert LETS_GO not in {p.name for p in System(protocol, scope).properties}
    assert LETS_GO in {p.name for p in System(protocol, free).properties}
    silent = System(protocol.vary(needed=None), free)
    assert silent.properties == protocol.promise.properties


def test_a_leak_is_shown_in_a_diagram(asif: Asif) -> None:
    ran = asif(OWN + "PROTOCOL = TIDY", "check", "FILE", "--examples", "1")
    assert ran.result["outcome"] == "holds"
    ran = asif(OWN + "PROTOCOL = TIDY.vary(step=step)", "check", "FILE", "--examples", "1")
    assert ran.code == 1
    row = ran.result["scopes"][0]  # the other one has crashes, and is not asked
    assert row["counterexample"]["property"] == LETS_GO
    assert "a (gap 1) ─▶● backup 1" in ran.out
    printed = " ".join(ran.out.split())
    steps = row["counterexample"]["steps"]
    assert printed.startswith(f"Violated in {steps} steps (scope {row['name']}): ")
    assert f"Property: {LETS_GO}" in printed


def test_what_needed_does_wrong_is_one_line(asif: Asif) -> None:
    text = OWN + "PROTOCOL = TIDY.vary(needed=lambda scope, seen: seen.sinks)"
    assert f"property {LETS_GO!r} raises AttributeError: " in asif(text, "check", "FILE").line


def test_a_name_that_is_no_site_is_one_line(asif: Asif) -> None:
    text = OWN + "PROTOCOL = TIDY.vary(needed=lambda scope, seen: {'sauce': 0})"
    assert "needed names 'sauce', which is no site" in asif(text, "check", "FILE").line


def test_with_crashes_in_every_scope_nothing_is_judged(asif: Asif) -> None:
    text = OWN + "PROTOCOL = TIDY.vary(scopes=(relay.ONE.holds(),))"
    ran = asif(text, "check", "FILE", "--examples", "1")
    assert (ran.code, ran.result["outcome"]) == (1, "vacuous")
    assert "what a restart needs" in ran.result["vacuous"][0]
