"""Rules about nodes at rest or in a failure: each finds mutants that no other property finds."""

from __future__ import annotations

import pytest

from model.core import Guarantee
from model.evidence import Outcome
from model.properties import compares_outputs
from model.registry import modules
from proofs.explore.explorer import explore
from proofs.explore.mutants import mutate

RULES = (
    ("active-standby", "overdue-dropped", "let go of nothing that downstream has"),
    ("active-standby", "overdue-dropped", "drop what is overdue, and report nothing"),
    ("crb", "reconnects", "begin no answer once the last output is made again"),
    ("crb", "reconnects", "remind a producer of nothing"),
    ("progressive", "others-go-on", "a progressive recovery waits for all partitions"),
)
HOMES = {protocol.family: (home, protocol) for home, protocol in modules().items()}


@pytest.mark.parametrize(("family", "variant", "name"), RULES)
def test_a_mutant_is_found_by_the_rule_alone(family: str, variant: str, name: str) -> None:
    """Without the rules, the mutant holds in every quick scope of the variant."""
    home, protocol = HOMES[family]
    (mutant,) = (one for one in protocol.evidence.mutants if one.name == name)
    right = protocol.named(f"{family}:{variant}")
    broken = mutate(right, mutant, home)
    scopes = {f"{variant}: {one.name}": one.scope for one in right.evidence.scopes if one.quick}
    found = explore(broken, scopes[mutant.scope], until=Guarantee.PRECISE).counterexample
    assert found is not None
    assert not compares_outputs(found.property)
    outputs = tuple(one for one in right.promise.properties if compares_outputs(one))
    assert len(outputs) < len(right.promise.properties)
    for scope in scopes.values():
        assert explore(broken.vary(properties=outputs), scope).outcome is Outcome.HOLDS
