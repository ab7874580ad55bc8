"""Runs of active standby in scopes that are too large to explore.

Rule of this file: actions and their result as data; tests/contract/test_runs.py plays them.
"""

from __future__ import annotations

from dataclasses import replace

from model.actions import Crash, Deliver, Inject, Restart, Timeout
from model.core import Arrival, Guarantee
from model.evidence import REST, PinnedRun
from model.pair_scopes import (
    ARBITRARY,
    LAST_ALONE,
    THREE_TUPLES_OF_A_UNION_TWO_CRASHES,
    two,
)
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

_WAITING = (
    *(_LEFT, Inject("right", Arrival(5, "b")), Deliver("A", "left", 1), Deliver("A'", "right")),
    *(Deliver("A'", "A"), Deliver("A'", "A"), Deliver("sink", "A'"), Restart("A")),
    *(Deliver("right", "A"), Deliver("left", "A"), Deliver("A", "left"), Deliver("A", "left")),
    *(Deliver("A", "right"), Deliver("A", "right"), Deliver("A'", "sink"), Deliver("A'", "A")),
    *(Deliver("A", "A'"), REST, Crash("A'"), REST, _LEFT),
)
"""The primary fails when it has logged that it takes a1 next.  Its secondary takes over, and b1
waits there until a1 has come.  Meanwhile the new secondary gets its copy.  Then the primary
fails."""

B_WAITED = PinnedRun(
    "a copy while a tuple waits",
    THREE_TUPLES_OF_A_UNION_TWO_CRASHES.scope,
    ARBITRARY,
    _WAITING,
    Guarantee.PRECISE,
)
"""The copy has b1, so that the next result gets the next number."""
