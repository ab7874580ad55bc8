"""Rules about nodes at rest or in a failure: each finds mutants that no other property finds."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from model.core import Guarantee
from model.evidence import Mutant, Outcome, PinnedScope
from model.observations import observe
from model.properties import compares_outputs, guarantee
from model.protocol import Protocol
from model.registry import modules
from proofs.explore.explorer import explore
from proofs.explore.mutants import mutate
from tests.contract.test_runs import play

RULES = (
    ("active-standby", "overdue-dropped", "let go of nothing that downstream has"),
    ("active-standby", "overdue-dropped", "drop overdue outputs, and report nothing"),
    ("active-standby", "arbitrary-again", "follow determinants from before the copy"),
    ("cec", "closed-windows-checked", "a G_check keeps a closed window"),
    ("crb", "reconnects", "begin no answer once the last output is made again"),
    ("crb", "reconnects", "remind a producer of nothing"),
    ("progressive", "others-go-on", "a progressive recovery waits for all partitions"),
)
HOMES = {protocol.family: (home, protocol) for home, protocol in modules().items()}


EACH = pytest.mark.parametrize(("family", "variant", "name"), RULES)
FEW = 3
"""The smallest scopes, which `make test` explores; `make test-all` explores those that follow."""


def broken(family: str, variant: str, name: str) -> tuple[Protocol, dict[str, PinnedScope]]:
    """The variant with the mutant, and its quick scopes, by the names that mutants use."""
    home, protocol = HOMES[family]
    right = protocol.named(f"{family}:{variant}")
    scopes = {f"{variant}: {one.name}": one for one in right.evidence.scopes if one.quick}
    return mutate(right, mutant_of(family, name), home), scopes


def mutant_of(family: str, name: str) -> Mutant:
    _, protocol = HOMES[family]
    (mutant,) = (one for one in protocol.evidence.mutants if one.name == name)
    return mutant


def hold_without_the_rules(protocol: Protocol, scopes: Iterable[PinnedScope]) -> None:
    """Without the rules, the protocol holds in each of the scopes."""
    outputs = tuple(one for one in protocol.promise.properties if compares_outputs(one))
    assert len(outputs) < len(protocol.promise.properties)
    for one in scopes:
        assert explore(protocol.vary(properties=outputs), one.scope).outcome is Outcome.HOLDS


def small(scopes: Iterable[PinnedScope]) -> list[PinnedScope]:
    """The scopes of fewer than 60,000 worlds, the smallest first."""
    return sorted((one for one in scopes if one.worlds < 60_000), key=lambda one: one.worlds)


@EACH
def test_a_mutant_is_found_by_the_rule_alone(family: str, variant: str, name: str) -> None:
    """Without the rules, the mutant holds in the smallest scopes of the variant."""
    protocol, scopes = broken(family, variant, name)
    scope = scopes[mutant_of(family, name).scope].scope
    found = explore(protocol, scope, until=Guarantee.PRECISE).counterexample
    assert found is not None
    assert not compares_outputs(found.property)
    hold_without_the_rules(protocol, small(scopes.values())[:FEW])


@pytest.mark.exhaustive  # `make test` has the smallest three scopes of each
@EACH
def test_a_mutant_is_found_by_the_rule_alone_in_small_scopes(
    family: str, variant: str, name: str
) -> None:
    protocol, scopes = broken(family, variant, name)
    hold_without_the_rules(protocol, small(scopes.values())[FEW:])


@pytest.mark.parametrize("family", ["active-standby", "passive-standby"])
def test_a_mutant_is_found_only_where_a_secondary_is_lost_for_ever(family: str) -> None:
    """A primary that holds back is never found where the secondary returns, or cannot crash."""
    home, protocol = HOMES[family]
    mutant = mutant_of(family, "hold back outputs that wait once the secondary is lost")
    variant, _, scope = mutant.scope.partition(": ")
    for right in (protocol.named(f"{family}:{one}") for one in (variant, "arbitrary")):
        broken = mutate(right, mutant, home)
        outcomes = {
            one.name: explore(broken, one.scope).outcome
            for one in right.evidence.scopes
            if one.quick and one.worlds < 25_000
        }
        if right.variant == variant:
            assert outcomes[scope] is Outcome.REFUTED
        else:
            assert {*outcomes.values()} == {Outcome.HOLDS}


def test_a_copy_without_the_tuples_that_wait_loses_a_result() -> None:
    home, protocol = HOMES["active-standby"]
    mutant = mutant_of("active-standby", "a copy without the tuples that wait")
    right = protocol.named("active-standby:arbitrary-again")
    (run,) = right.evidence.runs
    ended = play(mutate(right, mutant, home), run)
    assert guarantee(run.scope, observe(ended.world)) is Guarantee.GAP
