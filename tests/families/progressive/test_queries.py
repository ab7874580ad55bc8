"""What one query's failure does to another: who gets results, and when."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.actions import Action, Deliver
from model.boxes.stateless import Relay, Union
from model.core import Observation, Property, Scope, When
from model.errors import Invalid
from model.graph import SINK, SOURCE, Graph
from model.properties import comparisons
from model.protocols.progressive.design import Batches, Order, Outputs, ProgressiveDesign
from model.protocols.progressive.family import PROGRESSIVE_RECOVERY
from model.protocols.progressive.messages import DataTuple
from model.protocols.progressive.protocol import PROTOCOL
from model.protocols.progressive.scopes import QUERIES, of
from model.system import System
from model.world import DOWN, World
from proofs.explore.edges import edges
from proofs.explore.explorer import explore
from sim.inputs.flights import flight_workload

COMMITTED = ProgressiveDesign(order=Order.RECOVERY, outputs=Outputs.COMMITTED, threshold=0)
NUMBERED = ProgressiveDesign(order=Order.ALWAYS, outputs=Outputs.NUMBERED, threshold=0)
AT_ONCE = ProgressiveDesign(outputs=Outputs.AT_ONCE)
HEALTHY = 1
"""The query Q2, which hands on every tuple.  O2, which fails, belongs to Q1 alone."""
SCOPE = of(QUERIES, 1, 1, "O2")


def _not_again(scope: Scope, seen: Observation) -> bool:
    return any(
        len(pairs[HEALTHY][1]) <= len(pairs[HEALTHY][0]) for pairs in comparisons(scope, seen)
    )


NOT_AGAIN = Property("no result of the healthy query comes again", When.ALWAYS, _not_again)


def test_a_pattern_over_several_inputs_is_refused() -> None:
    """It is defined in the order of time, and a partition takes its inputs in turn."""
    workload = flight_workload(100)
    with pytest.raises(
        Invalid, match=r"^progressive: region has 3 inputs, .* in the order of time"
    ):
        System(PROTOCOL, Scope(workload.graph, ()))


def test_a_rollback_repeats_the_results_of_a_healthy_query() -> None:
    """4: the whole topology is rolled back."""
    found = {
        design: explore(
            PROGRESSIVE_RECOVERY.design("queries", design, properties=(NOT_AGAIN,)), SCOPE
        )
        for design in (AT_ONCE, NUMBERED, COMMITTED)
    }
    assert found[AT_ONCE].counterexample is not None
    assert found[NUMBERED].counterexample is None
    assert found[COMMITTED].counterexample is None


def is_early(system: System, before: World, action: Action, after: World) -> bool:
    """Does the healthy query get a result of the new epoch while the failed partition is away?"""
    if not isinstance(action, Deliver) or before.outputs == after.outputs:
        return False
    message = before.channels[system.channel_at[action.sender, action.node]][0]
    away = before.nodes[system.node_at["O2"]].state is DOWN
    return (
        away
        and action.node == "Q2"
        and isinstance(message, DataTuple)
        and message.epoch.number > 0
        and after.outputs[HEALTHY][-1][1] == message.body
    )


BATCHES = Graph(
    (
        ("source", SOURCE),
        ("left", Relay()),
        ("union", Union()),
        ("other", Relay()),
        ("Q1", SINK),
        ("Q2", SINK),
    ),
    (
        ("source", "left"),
        ("source", "union"),
        ("left", "union"),
        ("source", "other"),
        ("union", "Q1"),
        ("other", "Q2"),
    ),
)
ANOTHER = of(BATCHES, 1, 1, "other")


def is_of_a_second_batch(system: System, before: World, action: Action, _after: World) -> bool:
    """Does the query of the union get a tuple behind the punctuation of the recovery, while a
    partition of another query is away?"""
    if not isinstance(action, Deliver) or action.node != "Q1":
        return False
    message = before.channels[system.channel_at[action.sender, action.node]][0]
    away = before.nodes[system.node_at["other"]].state is DOWN
    query = before.nodes[system.node_at["Q1"]].state
    return (
        away
        and isinstance(message, DataTuple)
        and message.epoch.progressive
        and query.epoch == message.epoch
        and query.marks[0] > message.epoch.start
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("design", "second"),
    [
        # `.ci/run` has a design in which the batch waits.
        pytest.param(NUMBERED, False, marks=pytest.mark.exhaustive),
        (replace(NUMBERED, overlap=True), True),
        (replace(NUMBERED, batches=Batches.MARKED), True),
    ],
)
def test_a_batch_that_ends_at_punctuations_alone_waits_for_the_last_host(
    design: ProgressiveDesign, second: bool
) -> None:
    """No second punctuation comes while a checkpoint is under way, which needs all partitions."""
    protocol = PROGRESSIVE_RECOVERY.design("batches", design)
    system = System(protocol, ANOTHER)
    assert any(is_of_a_second_batch(system, *edge) for edge in edges(protocol, ANOTHER)) is second


@pytest.mark.slow
@pytest.mark.parametrize(("design", "early"), [(NUMBERED, True), (COMMITTED, False)])
def test_results_that_wait_for_a_checkpoint_wait_for_all_partitions(
    design: ProgressiveDesign, early: bool
) -> None:
    """Then a recovery in progress helps no query: a global checkpoint needs everybody."""
    protocol = PROGRESSIVE_RECOVERY.design("queries", design)
    system = System(protocol, SCOPE)
    assert any(is_early(system, *edge) for edge in edges(protocol, SCOPE)) is early
