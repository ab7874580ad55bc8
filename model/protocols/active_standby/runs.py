"""Runs of active standby in scopes that are too large to explore.

Rule of this file: actions and their result as data; tests/contract/test_runs.py plays them.
"""

from __future__ import annotations

from dataclasses import replace

from model.actions import Crash, Deliver, Inject, Timeout
from model.core import Arrival, Guarantee
from model.evidence import PinnedRun
from model.pair_scopes import ARBITRARY, LAST_ALONE, two
from model.standbys.consumers import ACKNOWLEDGE

_LEFT = Inject("left", Arrival(1, "a"))
_ORDERS = (
    *(_LEFT, _LEFT, Inject("right", Arrival(5, "b")), Inject("right", Arrival(5, "c"))),
    *(Deliver("A", "left"), Deliver("A", "left"), Deliver("A", "right"), Deliver("A", "right")),
    *(Deliver("A'", "left"), Deliver("A'", "right")) * 2,
    *(Deliver("sink", "A"), Deliver("sink", "A"), Timeout("sink", ACKNOWLEDGE)),
    *(Deliver("A", "sink"), Deliver("A'", "A"), Crash("A"), Deliver("A'", "A"), _LEFT),
)
"""The primary takes a1 a2 b1 c2: the pair a1 a2 comes out, then c2 alone; b1 waits.  Its secondary
takes a1 b1 a2 c2: the pair a1 b1, then c2; a2 waits.  The primary fails, and a3 comes."""


B_IS_LOST = PinnedRun(
    "another order at the secondary",
    two(LAST_ALONE, 3, 2, "bc"),
    ARBITRARY,
    _ORDERS,
    Guarantee.GAP,
)
"""The secondary has discarded the pair a1 b1, and b1 is in no other output."""
B_IS_THERE = replace(B_IS_LOST, guarantee=Guarantee.DIVERGENT)
