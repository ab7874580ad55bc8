"""The reasons for which crash points are missed, held equal to the worlds that have the points."""

from __future__ import annotations

from collections import Counter

import pytest

from asif import coverage_page
from model.choices import may_crash, quiescent
from model.core import Scope
from model.protocol import Protocol
from model.registry import modules
from model.results.verdict import MissedPoint
from model.system import System
from model.world import is_down
from proofs.explore.coverage import (
    BEFORE_REST,
    LAST,
    NO_CRASH,
    NOT_WHOLE,
    ScopePoints,
    missed_in_all,
    missed_points,
)
from proofs.explore.edges import edges
from proofs.explore.evidence import gather_evidence
from proofs.explore.explorer import explore
from tests.proofs.test_reduction import WORLDS, drawn
from tests.sizes import FULL

MISSED = MissedPoint("A: between steps", LAST)


def reasons(protocol: Protocol, scope: Scope) -> Counter[str]:
    """The reasons of a scope; each is true in every world that has the point."""
    found = explore(protocol, scope, limit=WORLDS)
    if not found.complete:
        return Counter()
    system = System(protocol, scope)
    shown = missed_points(protocol, scope, found)
    whys = {one.point: one.why for one in shown}
    for before, action, _ in edges(protocol, scope):
        for point in gather_evidence(system, before, action).points:
            why = whys.get(str(point))
            down = any(is_down(system, before, member) for member in point.group)
            assert why != NO_CRASH or scope.crashes == 0
            assert why != LAST or before.crashes == 0
            assert why != NOT_WHOLE or down or not may_crash(system, before)
            assert why != BEFORE_REST or not may_crash(system, before)
            assert why != BEFORE_REST or not before.crashes or not quiescent(system, before)
    return Counter(whys.values())


def test_each_reason_is_true_in_every_world_with_the_point() -> None:
    seen = sum((reasons(*drawn(seed)) for seed in range(150 if FULL else 60)), Counter[str]())
    assert all(seen[why] for why in (NO_CRASH, LAST, NOT_WHOLE, BEFORE_REST))


def test_a_point_is_missed_if_no_scope_hits_it() -> None:
    once = ScopePoints(1, frozenset(), (MISSED,))
    never = ScopePoints(0, frozenset(), (MISSED._replace(why=NO_CRASH),))
    assert missed_in_all([once, never]) == missed_in_all([never, once]) == (MISSED,)
    assert missed_in_all([once, ScopePoints(2, frozenset([MISSED.point]), ())]) == ()


def test_the_page_has_each_protocol() -> None:
    rows = coverage_page.PAGE.read_text(encoding="utf-8").splitlines()
    for name in (protocol.name for protocol in modules().values()):
        assert any(row.startswith(f"| {name} |") for row in rows), name


@pytest.mark.exhaustive
def test_the_page_is_as_explored() -> None:
    text = coverage_page.PAGE.read_text(encoding="utf-8")
    found = [coverage_page.both(protocol) for protocol in modules().values()]
    assert coverage_page.page(text, found) == text
