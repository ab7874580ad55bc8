"""Of the readings of the paper's words on progressive recovery, those that make every run right."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import product

import pytest

from model.core import Guarantee, Scope
from model.evidence import Outcome
from model.protocols.progressive import scopes
from model.protocols.progressive.design import PUBLISHED, Order, Outputs, ProgressiveDesign
from model.protocols.progressive.family import PROGRESSIVE_RECOVERY
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


def test_of_nine_readings_of_order_and_outputs_four_hold() -> None:
    """A result waits for the global checkpoint, or all batches are processed in one order."""
    union = scopes.A_TRIANGLE_THE_UNION.scope
    right = {
        (order, outputs)
        for order, outputs in product(Order, Outputs)
        if look(replace(MENDED, order=order, outputs=outputs), union).counterexample is None
    }
    committed = {(order, Outputs.COMMITTED) for order in Order}
    assert right == committed | {(Order.ALWAYS, Outputs.NUMBERED)}


@pytest.mark.parametrize("name", MENDS)
def test_one_mend_alone_leaves_the_published_protocol_refuted(name: str) -> None:
    mended = replace(PUBLISHED, **{name: getattr(MENDED, name)})
    found = look(mended, scopes.ONE_PARTITION.scope)
    assert found.outcome is Outcome.REFUTED


def test_eight_choices_are_mended() -> None:
    assert len(MENDS) == 8


@pytest.mark.exhaustive
def test_numbers_between_partitions_need_one_order_in_recovery() -> None:
    """Even if results wait: a partition fails in the recovery, and numbers other tuples then."""
    twice = scopes.A_TRIANGLE_THE_UNION_TWICE.scope
    design = ProgressiveDesign(outputs=Outputs.COMMITTED, threshold=0)
    assert look(replace(design, order=Order.RECOVERY), twice).counterexample is None
    found = look(replace(design, order=Order.NEVER), twice).counterexample
    assert found is not None
    assert len(found.trace.actions) == 33
