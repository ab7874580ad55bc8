"""Fig. 2: where outputs are kept before, during and after a recovery."""

from __future__ import annotations

from model.boxes.stateless import Relay
from model.core import Arrival
from model.graph import SINK, SOURCE, Graph
from model.parts import over_words
from model.protocols.progressive.design import Design, Order, Outputs
from model.protocols.progressive.family import PROGRESSIVE_RECOVERY
from model.protocols.progressive.messages import COORDINATOR
from model.system import System, read_gauges
from model.world import (
    DOWN,
    Crash,
    Deliver,
    Inject,
    Restart,
    Timeout,
    World,
    apply,
    initial,
    progress,
)

GRAPH = Graph(
    (
        ("p1", SOURCE),
        ("p2", Relay()),
        ("p3", Relay()),
        ("p4", Relay()),
        ("p5", Relay()),
        ("Q1", SINK),
        ("Q2", SINK),
    ),
    (("p1", "p2"), ("p2", "p3"), ("p3", "p4"), ("p3", "p5"), ("p4", "Q1"), ("p5", "Q2")),
)
DESIGN = Design(order=Order.RECOVERY, outputs=Outputs.COMMITTED)
SYSTEM = System(
    PROGRESSIVE_RECOVERY.design("figure 2", DESIGN), over_words(GRAPH, 3, "a", crashes=3)
)
TIMERS = frozenset({"punctuate"})


def go(world: World, *actions: Deliver | Inject | Crash | Restart | Timeout) -> World:
    for action in actions:
        world = apply(SYSTEM, world, action)
    return world


def settle(world: World, *, timers: frozenset[str] = frozenset()) -> World:
    """All that the nodes that are up do by themselves, but timers that are not named."""
    while True:
        found = [
            action
            for name in SYSTEM.sites
            for action in progress(SYSTEM, world, name)
            if isinstance(action, Deliver)
            or (isinstance(action, Timeout) and action.timer in timers)
        ]
        if not found:
            return world
        world = apply(SYSTEM, world, found[0])


def kept(world: World) -> dict[str, int | None]:
    """How many items each node keeps; None: it is down."""
    found: dict[str, int | None] = {}
    for name, node in zip(SYSTEM.sites, world.nodes, strict=True):
        up = node.state is not DOWN
        found[name] = read_gauges(SYSTEM, name, node.state).buffered if up else None
    return {name: found[name] for name in ("p1", "p2", "p3", "p4", "p5")}


def test_outputs_are_kept_where_the_figure_has_them() -> None:
    world = settle(go(initial(SYSTEM), Inject("p1", Arrival(1, "a"))))
    assert kept(world) == {"p1": 1, "p2": 0, "p3": 0, "p4": 0, "p5": 0}

    world = settle(go(world, Crash("p3"), Crash("p4"), Crash("p5")))
    world = go(world, Timeout(COORDINATOR, "window"))
    world = settle(go(settle(world), Restart("p3"), Restart("p4")))
    assert kept(world) == {"p1": 1, "p2": 1, "p3": 1, "p4": 0, "p5": None}, "ts1"
    assert world.outputs == ((), ()), "results wait for the checkpoint"

    world = settle(go(world, Inject("p1", Arrival(1, "a"))))
    world = settle(go(world, Restart("p5")))
    assert kept(world) == {"p1": 2, "p2": 2, "p3": 2, "p4": 0, "p5": 0}, "ts2"

    world = settle(world, timers=TIMERS)
    assert kept(world) == dict.fromkeys(("p1", "p2", "p3", "p4", "p5"), 0), "recovered"
    assert [len(results) for results in world.outputs] == [2, 2]

    world = settle(go(world, Inject("p1", Arrival(1, "a"))))
    assert kept(world) == {"p1": 1, "p2": 0, "p3": 0, "p4": 0, "p5": 0}
