"""The high-availability algorithms of Hwang et al.: runs from the paper, and runs too large to
explore."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model import pair_scopes as scopes
from model.core import Guarantee, OperatorClass
from model.observations import observe
from model.play import Play
from model.properties import guarantee
from model.protocol import Failures
from model.protocols.active_standby.design import PUBLISHED, ActiveStandbyDesign, Serves
from model.protocols.active_standby.family import ACTIVE_STANDBY
from model.protocols.active_standby.protocol import PROTOCOL as ACTIVE
from model.protocols.active_standby.runs import B_IS_LOST
from model.protocols.upstream_backup_acks import design as upstream
from model.registry import protocols
from model.standbys.choices import NodeReturns
from proofs.explore import witness as witnesses
from proofs.explore.explorer import explore
from proofs.explore.random_walk import walks

EXACT = "passive-standby", "active-standby", "upstream-backup-acks"
ENDINGS = "", "-again", "-any", "-suspicion"


def ends(design: ActiveStandbyDesign) -> Guarantee:
    """The recovery after one failure of a primary whose secondary has another order."""
    play = Play(ACTIVE_STANDBY.design("serves-high", design), B_IS_LOST.scope)
    play.follow(*(action for action in B_IS_LOST.actions if action is not None))
    play.settle()
    return guarantee(play.system.scope, observe(play.world))


def test_a_secondary_with_another_order_loses_an_output_by_high_watermarks() -> None:
    """5.3: b1 is in no output that downstream has, and in no state of the secondary."""
    assert ends(replace(PUBLISHED, returns=NodeReturns.NEVER)) is Guarantee.GAP
    mended = ActiveStandbyDesign(returns=NodeReturns.NEVER)
    assert ends(replace(mended, serves=Serves.HIGH)) is Guarantee.GAP
    assert ends(mended) is Guarantee.DIVERGENT


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("kind", ["published", "rollback"])
def test_each_condition_of_table_2_has_a_variant_with_the_claims_of_the_paper(
    name: str, kind: str
) -> None:
    known = protocols()
    for ending in ENDINGS:
        variant = known[f"{name}:{kind}{ending}"]
        assert variant.promise.claims[OperatorClass.REPEATABLE] is Guarantee.REPEATING
        assert variant.promise.assumes.suspicions == (ending == "-suspicion")
        assert (variant.promise.assumes.failures is Failures.ANY) == (ending == "-any")


def test_after_one_failure_the_mended_forms_recover_as_in_table_2() -> None:
    for name in EXACT:
        variant = protocols()[f"{name}:rollback"]
        for operators, claim in variant.promise.claims.items():
            scopes = [one for one in variant.evidence.scopes if one.operators is operators]
            assert max(one.guarantee for one in scopes if one.guarantee is not None) is claim


def test_larger_worlds_are_walked_with_other_crashes() -> None:
    """Two nodes, both of which may fail, one after the other: too large to explore in a test."""
    for name in EXACT:
        scope = scopes.TWO_NODES_THAT_RELAY.scope
        found = walks(protocols()[name], replace(scope, crashes=3), 300, seed=5)
        assert found.property is None
        assert found.rested


def test_a_witness_is_a_run_to_the_weakest_guarantee() -> None:
    variant = protocols()["active-standby:rollback"]
    (pinned,) = witnesses.choose(variant, "a relay")
    found = witnesses.witness(variant, pinned)
    assert (found.guarantee, found.not_) == (Guarantee.REPEATING, Guarantee.PRECISE)
    assert found.story is not None
    emitted = [one for moment in found.story.moments for one in moment.emits]
    assert len(emitted) > len({*emitted})
    assert witnesses.choose(ACTIVE, None) == ACTIVE.evidence.scopes


@pytest.mark.exhaustive
def test_what_downstream_has_received_may_be_needed_there_once_more() -> None:
    """5.2, to the letter: level 1 follows the cause of what was received; 7,381,522 worlds."""
    design = replace(upstream.PRECISE, maps=upstream.Maps.RECEIVED, returns=NodeReturns.NEVER)
    protocol = protocols()["upstream-backup-acks"].vary(design=design)
    scope = replace(scopes.TWO_NODES_THREE_TUPLES.scope, crashes=2)
    found = explore(protocol, scope)
    assert found.guarantee is Guarantee.GAP
    assert found.counterexample is not None
    assert len(found.counterexample.trace.actions) == 37
    mended = replace(design, maps=upstream.Maps.RELEASED)
    assert explore(protocol.vary(design=mended), scope).counterexample is None
