"""Fig. 2: where outputs are kept before, during and after a recovery."""

from __future__ import annotations

from model.actions import Action, Crash, Deliver, Inject, OwnStep, Restart, Timeout
from model.boxes.stateless import Relay
from model.core import Arrival
from model.graph import SINK, SOURCE, Graph
from model.parts import over_words
from model.play import Play
from model.protocols.progressive.design import Order, Outputs, ProgressiveDesign
from model.protocols.progressive.family import PROGRESSIVE_RECOVERY
from model.protocols.progressive.messages import COORDINATOR
from model.system import read_gauges
from model.world import DOWN

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
DESIGN = ProgressiveDesign(order=Order.RECOVERY, outputs=Outputs.COMMITTED)
PROTOCOL = PROGRESSIVE_RECOVERY.design("figure 2", DESIGN)
SCOPE = over_words(GRAPH, 3, "a", crashes=3)
TIMER = "punctuate"


def no_timers(action: OwnStep) -> int | None:
    """Nodes that are up take their messages; no timer runs out, and no node restarts."""
    return 0 if isinstance(action, Deliver) else None


def punctuations(action: OwnStep) -> int | None:
    """The same, and this timer runs out."""
    return 0 if isinstance(action, Timeout) and action.timer == TIMER else no_timers(action)


def settled(play: Play, *actions: Action) -> Play:
    """The play after these actions and all that follows from them without timers."""
    play.do(*actions)
    play.settle(no_timers)
    return play


def kept(play: Play) -> dict[str, int | None]:
    """How many items each node keeps; None: it is down."""
    found: dict[str, int | None] = {}
    for name in ("p1", "p2", "p3", "p4", "p5"):
        state = play.state(name)
        up = state is not DOWN
        found[name] = read_gauges(play.system, name, state).buffered if up else None
    return found


def test_outputs_are_kept_where_the_figure_has_them() -> None:
    event = Inject("p1", Arrival(1, "a"))
    play = settled(Play(PROTOCOL, SCOPE), event)
    assert kept(play) == {"p1": 1, "p2": 0, "p3": 0, "p4": 0, "p5": 0}

    settled(play, Crash("p3"), Crash("p4"), Crash("p5"))
    settled(play, Timeout(COORDINATOR, "window"))
    settled(play, Restart("p3"), Restart("p4"))
    assert kept(play) == {"p1": 1, "p2": 1, "p3": 1, "p4": 0, "p5": None}, "ts1"
    assert play.world.outputs == ((), ()), "results wait for the checkpoint"

    settled(play, event)
    settled(play, Restart("p5"))
    assert kept(play) == {"p1": 2, "p2": 2, "p3": 2, "p4": 0, "p5": 0}, "ts2"

    play.settle(punctuations)
    assert kept(play) == dict.fromkeys(("p1", "p2", "p3", "p4", "p5"), 0), "recovered"
    assert [len(results) for results in play.world.outputs] == [2, 2]

    settled(play, event)
    assert kept(play) == {"p1": 1, "p2": 0, "p3": 0, "p4": 0, "p5": 0}
