"""Of all readings of the paper's words on CRB, those that make every run right."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import product

import pytest

from model.core import Guarantee, Scope
from model.evidence import Outcome
from model.properties import compares_outputs
from model.protocol import Protocol
from model.protocols.crb import scopes
from model.protocols.crb.design import (
    PUBLISHED,
    CrbDesign,
    Instant,
    Mode,
    Queue,
    Reminds,
    Replays,
    RestartAnswers,
    Resumes,
)
from model.protocols.crb.family import CRB
from model.protocols.crb.protocol import PROTOCOL
from model.protocols.crb.variants import VARIANTS
from model.queues import Stamp
from proofs.explore.explorer import explore

MENDED = CrbDesign()
FILTERED = scopes.A_FILTER.scope
STATELESS, WINDOWED = (case.scope for case in (scopes.WINDOWS_OF_ONE_TUPLE, scopes.ONE_KEY))
AT_REST = ("answers", "reminds")
"""The choices that no output shows."""
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
    chosen = [f.name for f in fields(CrbDesign) if f.name not in AT_REST]
    named = {
        tuple(name for name in chosen if getattr(design, name) != getattr(MENDED, name))
        for design, variant in zip(map(design_of, VARIANTS), VARIANTS, strict=True)
        if variant.evidence.expected is Outcome.REFUTED
    }
    assert {name for names in named if len(names) == 1 for name in names} == {*chosen} - {"mode"}
    assert design_of(PROTOCOL) == MENDED
    assert PUBLISHED in map(design_of, VARIANTS)


@MODES
def test_of_four_readings_of_a_reconnection_one_leaves_nobody_waiting(mode: Mode) -> None:
    """When a restarted operator answers, and whether consumers acknowledge again then."""
    (right,) = (one for one in VARIANTS if one.variant == "reconnects")
    outputs = tuple(one for one in right.promise.properties if compares_outputs(one))
    found = set()
    for answers, reminds in product(RestartAnswers, Reminds):
        reading = replace(MENDED, mode=mode, answers=answers, reminds=reminds)
        variant = right.vary(design=reading)
        assert explore(variant.vary(properties=outputs), FILTERED).outcome is Outcome.HOLDS
        if explore(variant, FILTERED).outcome is Outcome.HOLDS:
            found.add((answers, reminds))
    assert found == {(RestartAnswers.MADE_AGAIN, Reminds.ANSWERED)}
