"""Of the readings of the paper's words on progressive recovery, those that make every run right."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import product

import pytest

from model.core import Guarantee, Scope
from model.errors import Invalid
from model.evidence import Outcome
from model.protocols.progressive import scopes
from model.protocols.progressive.design import (
    PUBLISHED,
    Batches,
    Numbers,
    Order,
    Outputs,
    ProgressiveDesign,
    Punctuates,
)
from model.protocols.progressive.family import PROGRESSIVE_RECOVERY
from model.protocols.progressive.messages import PROGRESSIVE
from proofs.explore.explorer import Exploration, explore

MENDED = ProgressiveDesign()
MENDS = [
    field.name
    for field in fields(ProgressiveDesign)
    if getattr(PUBLISHED, field.name) != getattr(MENDED, field.name)
]


def look(design: ProgressiveDesign, scope: Scope) -> Exploration:
    found = explore(PROGRESSIVE_RECOVERY.design("reading", design), scope, until=Guarantee.PRECISE)
    assert found.counterexample is not None or found.complete
    return found


PAIRS = [*product(Order, Outputs)]
RIGHT = {(order, Outputs.COMMITTED) for order in Order} | {(Order.ALWAYS, Outputs.NUMBERED)}


@pytest.mark.parametrize(("order", "outputs"), PAIRS)
def test_of_nine_readings_of_order_and_outputs_four_hold(order: Order, outputs: Outputs) -> None:
    """A result waits for the global checkpoint, or all batches are processed in one order."""
    union = scopes.A_TRIANGLE_THE_UNION.scope
    found = look(replace(MENDED, order=order, outputs=outputs, threshold=0), union)
    assert (found.counterexample is None) == ((order, outputs) in RIGHT)
    assert found.notes[PROGRESSIVE.name]


def test_the_nine_readings_are_nine_protocols() -> None:
    """With threshold 1 they were six: no recovery was progressive, and no order was turned on."""
    union = scopes.A_TRIANGLE_THE_UNION.scope
    steps = [
        len(found.trace.actions)
        for order in (Order.RECOVERY, Order.NEVER)
        for threshold in (0, 1)
        if (found := look(replace(MENDED, order=order, threshold=threshold), union).counterexample)
    ]
    assert steps == [22, 19, 18, 19]


@pytest.mark.parametrize("name", MENDS)
def test_one_mend_alone_leaves_the_published_protocol_refuted(name: str) -> None:
    mended = replace(PUBLISHED, **{name: getattr(MENDED, name)})
    found = look(mended, scopes.ONE_PARTITION.scope)
    assert found.outcome is Outcome.REFUTED


def test_seven_choices_are_mended() -> None:
    assert len(MENDS) == 7


def test_a_punctuation_without_data_is_no_mend() -> None:
    """4: "Punctuations are generated periodically"."""
    assert PUBLISHED.punctuates is MENDED.punctuates is Punctuates.PERIODIC


def test_ends_of_batches_need_one_source() -> None:
    design = ProgressiveDesign(batches=Batches.MARKED)
    with pytest.raises(Invalid, match=r"^progressive: 2 sources end their batches each by itself"):
        look(design, scopes.TWO_SOURCES.scope)


def test_a_number_a_connection_is_one_counter_where_all_get_everything() -> None:
    for case in (scopes.ONE_PARTITION, scopes.A_TRIANGLE_THE_UNION):
        one = look(MENDED, case.scope)
        other = look(replace(MENDED, numbers=Numbers.SENDER), case.scope)
        assert one.states == other.states


@pytest.mark.exhaustive
def test_numbers_between_partitions_need_one_order_in_recovery() -> None:
    """Even if results wait: a partition fails in the recovery, and numbers other tuples then."""
    twice = scopes.A_TRIANGLE_THE_UNION_TWICE.scope
    design = ProgressiveDesign(outputs=Outputs.COMMITTED, threshold=0)
    assert look(replace(design, order=Order.RECOVERY), twice).counterexample is None
    found = look(replace(design, order=Order.NEVER), twice).counterexample
    assert found is not None
    assert len(found.trace.actions) == 33
