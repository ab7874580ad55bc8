"""Rules that replicas keep at rest: each finds a mutant that no other property finds."""

from __future__ import annotations

import pytest

from model.core import Guarantee
from model.evidence import Mutant, Outcome
from model.protocols.active_standby import mutants
from model.protocols.active_standby.properties import LETS_GO
from model.registry import protocols
from proofs.explore.explorer import explore
from proofs.explore.mutants import mutate

HOME = "model.protocols.active_standby.protocol"
KEPT = [one for one in mutants.MUTANTS if one.scope.startswith("overdue-dropped: ")]


@pytest.mark.parametrize("mutant", KEPT, ids=lambda one: one.name)
def test_outputs_that_downstream_has_are_found_by_this_rule_alone(mutant: Mutant) -> None:
    """Without the rule, the mutant holds in every quick scope of the variant."""
    right = protocols()["active-standby:overdue-dropped"]
    broken = mutate(right, mutant, HOME)
    _, _, name = mutant.scope.partition(": ")
    (scope,) = (pinned.scope for pinned in right.evidence.scopes if pinned.name == name)
    found = explore(broken, scope, until=Guarantee.PRECISE).counterexample
    assert found is not None
    assert found.property.name == LETS_GO.name
    others = tuple(one for one in right.promise.properties if one.name != LETS_GO.name)
    for pinned in right.evidence.scopes:
        assert explore(broken.vary(properties=others), pinned.scope).outcome is Outcome.HOLDS
