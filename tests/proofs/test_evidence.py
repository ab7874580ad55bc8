"""The evidence of a search is that of the actions which some world enables, and of no other.

The crash points are counted again, edge by edge, as model.choices has the actions of each world.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from model.protocol import Failures
from model.system import System
from proofs.explore.edges import edges
from proofs.explore.evidence import gather_evidence
from proofs.explore.explorer import explore
from tests.proofs.reductions import at_once
from tests.proofs.test_reduction import WORLDS, drawn
from tests.sizes import FULL

FOUND = 100_547
"""A drawn protocol of which 15 crash points once counted as hit; a crash strikes at three."""


def counted(seed: int) -> Counter[str]:
    """How the searches count the evidence of a drawn protocol: "complete", or the difference."""
    protocol, scope = drawn(seed)
    with at_once():
        searches = [
            explore(protocol, scope, reduce=reduce, limit=WORLDS) for reduce in (False, True)
        ]
    searches.append(explore(protocol, scope, reduce=False, limit=WORLDS))
    if not all(found.complete for found in searches):
        return Counter(["incomplete"])
    system = System(protocol, scope)
    shown = [
        gather_evidence(system, before, action) for before, action, _ in edges(protocol, scope)
    ]
    hit = frozenset(point for one in shown for point in one.hit)
    points = frozenset(point for one in shown for point in one.points) | hit
    notes = {name for one in shown for name, times in one.notes.items() if times}
    for found in searches:
        assert (found.points, found.hit) == (points, hit), seed
        assert {name for name, times in found.notes.items() if times} == notes, seed
    return Counter(["complete", *(["rationed"] if _is_rationed(seed) else [])])


def _is_rationed(seed: int) -> bool:
    protocol, scope = drawn(seed)
    return protocol.promise.assumes.failures is Failures.SINGLE and scope.crashes > 1


def test_only_granted_crashes_hit_a_point() -> None:
    protocol, scope = drawn(FOUND)
    assert _is_rationed(FOUND)
    assert len(explore(protocol, scope, limit=WORLDS).hit) == 3
    granted = protocol.vary(assumes=replace(protocol.promise.assumes, failures=Failures.ANY))
    assert len(explore(granted, scope, limit=WORLDS).hit) > 3


def test_evidence_is_that_of_the_enabled_actions() -> None:
    seeds, complete, rationed = (80, 40, 3) if FULL else (30, 15, 1)
    seen = sum((counted(seed) for seed in range(seeds)), Counter[str]())
    assert seen["complete"] > complete
    assert seen["rationed"] > rationed


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", range(80, 1_080, 100))
def test_evidence_of_many_drawn_protocols(first: int) -> None:
    for seed in range(first, first + 100):
        counted(seed)
