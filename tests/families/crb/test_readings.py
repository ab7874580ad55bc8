"""Of all readings of the paper's words on CRB, those that make every run right."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import product

import pytest

from model.core import Guarantee, Scope
from model.evidence import Outcome
from model.protocol import Protocol
from model.protocols.crb import scopes
from model.protocols.crb.design import PUBLISHED, CrbDesign, Instant, Mode, Queue, Replays, Resumes
from model.protocols.crb.family import CRB
from model.protocols.crb.protocol import PROTOCOL
from model.protocols.crb.variants import VARIANTS
from model.queues import Stamp
from proofs.explore.explorer import explore

MENDED = CrbDesign()
STATELESS, WINDOWED = (case.scope for case in (scopes.WINDOWS_OF_ONE_TUPLE, scopes.ONE_KEY))
MODES = pytest.mark.parametrize("mode", Mode)


def design_of(variant: Protocol) -> CrbDesign:
    return variant.design  # type: ignore[no-any-return]


def holds(design: CrbDesign, *scopes: Scope) -> bool:
    """Does the design hold in all of these scopes?"""
    for scope in scopes:
        found = explore(CRB.design("reading", design), scope, until=Guarantee.PRECISE)
        if found.counterexample is not None:
            return False
        assert found.complete
    return True


@pytest.mark.slow
@MODES
def test_of_sixteen_readings_of_where_to_go_on_one_holds(mode: Mode) -> None:
    """Upstream by time or place, with or without it; downstream by number, time, or not at all."""
    readings = [
        replace(MENDED, mode=mode, stamp=stamp, replays=replays, resumes=resumes)
        for stamp, replays, resumes in product(Stamp, Replays, Resumes)
    ]
    right = [reading for reading in readings if holds(reading, WINDOWED, STATELESS)]
    assert right == [replace(MENDED, mode=mode)]


@pytest.mark.slow
def test_the_parts_of_a_checkpoint_are_of_one_moment() -> None:
    right = {
        (windows, position, queue)
        for windows, position, queue in product(Instant, Instant, Queue)
        if holds(replace(MENDED, windows=windows, position=position, queue=queue), WINDOWED)
    }
    assert right == {
        (Instant.CAPTURE, Instant.CAPTURE, Queue.CAPTURE),
        (Instant.COMPLETION, Instant.COMPLETION, Queue.COMPLETION),
    }


def test_an_operator_that_waits_reads_all_parts_at_one_moment() -> None:
    for windows, position in product(Instant, Instant):
        design = replace(MENDED, mode=Mode.SYNCHRONOUS, windows=windows, position=position)
        assert holds(design, WINDOWED)


def test_the_published_protocol_needs_both_mends() -> None:
    upstream = replace(PUBLISHED, stamp=Stamp.PLACE)
    downstream = replace(PUBLISHED, resumes=Resumes.NUMBER)
    assert not holds(upstream, STATELESS)
    assert not holds(downstream, STATELESS)
    both = replace(upstream, resumes=Resumes.NUMBER)
    assert both == replace(MENDED, mode=Mode.SYNCHRONOUS)
    assert holds(both, STATELESS, WINDOWED)


def test_every_mend_has_a_variant_that_drops_it_alone_and_is_refuted() -> None:
    named = {
        tuple(
            f.name for f in fields(CrbDesign) if getattr(design, f.name) != getattr(MENDED, f.name)
        )
        for design, variant in zip(map(design_of, VARIANTS), VARIANTS, strict=True)
        if variant.evidence.expected is Outcome.REFUTED
    }
    assert {name for names in named if len(names) == 1 for name in names} == {
        field.name for field in fields(CrbDesign) if field.name != "mode"
    }
    assert design_of(PROTOCOL) == MENDED
    assert PUBLISHED in map(design_of, VARIANTS)
