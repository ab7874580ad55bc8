"""The example of passive standby: what its faults lose, and which crash shows the loss."""

from __future__ import annotations

from dataclasses import replace

import pytest

from docs.examples.passive_standby import PROTOCOL, READY, REPEATS, SCOPE
from model.core import Guarantee
from model.evidence import Mutant, Outcome
from model.protocol import Protocol
from proofs.explore.explorer import explore
from proofs.explore.mutants import hunt, mutate
from proofs.explore.random_attack import attack

HOME = "docs.examples.passive_standby"
ONE_CRASH = replace(SCOPE, crashes=1)
FAULTS = {"alone": Outcome.HOLDS, "delta": Outcome.HOLDS, "early": Outcome.REFUTED}
"""What one crash shows, if only outputs are looked at."""


def variant(name: str) -> Protocol:
    return PROTOCOL.named(f"{PROTOCOL.name}:{name}")


def test_without_faults_no_crash_takes_the_redundancy() -> None:
    for protocol in (PROTOCOL, variant("precise")):
        assert READY in protocol.promise.properties
        assert explore(protocol, SCOPE).outcome is Outcome.HOLDS


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_loses_what_the_next_crash_needs(name: str) -> None:
    blind = variant(name).vary(properties=(REPEATS,))
    assert explore(blind, ONE_CRASH).outcome is FAULTS[name]
    assert explore(blind, SCOPE).outcome is Outcome.REFUTED


@pytest.mark.parametrize("name", FAULTS)
def test_the_nodes_show_the_fault_before_the_next_crash(name: str) -> None:
    found = explore(variant(name), ONE_CRASH).counterexample
    assert found is not None
    assert len(found.trace.actions) == variant(name).evidence.scopes[0].steps


def test_to_ask_the_sink_is_not_enough() -> None:
    """A result of the failed node, still on its way when the sink answers, comes twice."""
    answer = "(Send(primary, Replay(last)),)"
    goes_on = Mutant(
        "it goes on", HOME, f"return (primary, last), {answer}", f"return state, {answer}"
    )
    found = explore(mutate(variant("precise"), goes_on, HOME), ONE_CRASH)
    assert (found.outcome, found.guarantee) == (Outcome.REFUTED, Guarantee.REPEATING)


@pytest.mark.parametrize("mutant", PROTOCOL.evidence.mutants, ids=lambda mutant: mutant.name)
def test_every_mutant_of_the_example_is_found(mutant: Mutant) -> None:
    found = hunt(PROTOCOL, mutant, HOME, lambda broken: attack(broken, walks=0, examples=0))
    assert found.by == "explorer"
