"""A run of micro-batch:commit-first that violates: at rest, all failure-free outputs have been seen.

The random attack found this run and shrunk it.  The test fails until the protocol is
mended.
"""

from model.core import Arrival
from model.registry import subject
from model.system import System
from model.world import Crash, Deliver, Inject, Restart, Timeout, apply, first_violation, initial
from proofs.explore.random_attack import targets

ACTIONS = (
    Inject(node="source", arrival=Arrival(gap=1, type="a", data=())),
    Deliver(node="query", sender="source", crash_after=None),
    Timeout(node="query", timer="trigger", crash_after=None),
    Deliver(node="source", sender="query", crash_after=None),
    Deliver(node="query", sender="source", crash_after=None),
    Crash(node="query", drops_sent=True),
    Restart(node="query", crash_after=None),
    Deliver(node="source", sender="query", crash_after=None),
)


def test_the_run_is_as_if_nothing_had_failed():
    protocol = subject("micro-batch:commit-first").protocol
    system = System(protocol, targets(protocol)[0])
    world = initial(system)
    for action in ACTIONS:
        world = apply(system, world, action)
    assert first_violation(system, world) is None
