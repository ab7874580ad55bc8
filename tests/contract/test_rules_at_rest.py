"""Rules about nodes at rest or in a failure: each finds mutants that no other property finds."""

from __future__ import annotations

import pytest

from model.core import Guarantee
from model.evidence import Outcome
from model.observations import observe
from model.properties import compares_outputs, guarantee
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


@pytest.mark.parametrize(("family", "variant", "name"), RULES)
def test_a_mutant_is_found_by_the_rule_alone(family: str, variant: str, name: str) -> None:
    """Without the rules, the mutant holds in every small scope of the variant."""
    home, protocol = HOMES[family]
    (mutant,) = (one for one in protocol.evidence.mutants if one.name == name)
    right = protocol.named(f"{family}:{variant}")
    broken = mutate(right, mutant, home)
    scopes = {f"{variant}: {one.name}": one for one in right.evidence.scopes if one.quick}
    found = explore(broken, scopes[mutant.scope].scope, until=Guarantee.PRECISE).counterexample
    assert found is not None
    assert not compares_outputs(found.property)
    outputs = tuple(one for one in right.promise.properties if compares_outputs(one))
    assert len(outputs) < len(right.promise.properties)
    for one in scopes.values():
        if one.worlds < 60_000:
            assert explore(broken.vary(properties=outputs), one.scope).outcome is Outcome.HOLDS


@pytest.mark.parametrize("family", ["active-standby", "passive-standby"])
def test_a_mutant_is_found_only_where_a_secondary_is_lost_for_ever(family: str) -> None:
    """A primary that holds back is never found where the secondary returns, or cannot crash."""
    home, protocol = HOMES[family]
    name = "hold back outputs that wait once the secondary is lost"
    (mutant,) = (one for one in protocol.evidence.mutants if one.name == name)
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
    name = "a copy without the tuples that wait"
    (mutant,) = (one for one in protocol.evidence.mutants if one.name == name)
    right = protocol.named("active-standby:arbitrary-again")
    (run,) = right.evidence.runs
    ended = play(mutate(right, mutant, home), run)
    assert guarantee(run.scope, observe(ended.world)) is Guarantee.GAP
