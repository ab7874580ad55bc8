"""Checkpoints are prefixes of the run, whatever crashes; what nodes refuse, and how they look."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st

from model.boxes.aggregate import Aggregate
from model.boxes.box import NOTHING_OF, Item, Of
from model.boxes.join import Join
from model.boxes.stateless import Relay
from model.core import Arrival, Inputs, Received, Scope
from model.costs import Gauges, MessageKind, Size
from model.errors import Invalid, Refused
from model.events import Body, Event
from model.graph import SINK, SOURCE, Graph, chain
from model.protocols.crb.messages import (
    BEHIND,
    CrbOperator,
    OperatorCheckpoint,
    Output,
    Stable,
    show,
    size,
)
from model.protocols.crb.nodes import gauges, step
from model.protocols.crb.protocol import PROTOCOL
from model.protocols.crb.scopes import EQUAL, PAIRS, SINGLES, one, two, windows
from model.queues import Inlet, QueueState, Replay, Replayed, Restarted, Stamp, Trim
from model.registry import protocols
from model.system import System
from model.world import DOWN, World
from proofs.explore.edges import edges
from proofs.explore.random_attack import machine
from proofs.explore.strategies import operators

SYNCHRONOUS = protocols()["crb:synchronous"]


# --- what is stored --------------------------------------------------------------------------
def naive(box: Aggregate, arrivals: tuple[Arrival, ...], place: int) -> tuple[Any, int]:
    """The box after so many arrivals, and how many outputs it has put out."""
    state, made, now = box.begin(1), 0, 0
    for at, arrival in enumerate(arrivals[:place]):
        now += arrival.gap
        body = Body(now, arrival.type, arrival.data)
        (fed,) = box.feed(state, Item(0, body, frozenset([Of(0, at)])))
        state, made = fed.state, made + len(fed.outs)
    return state, made


def nodes(system: System, world: World) -> tuple[QueueState, CrbOperator | None, Stable | None]:
    """The source's state, the operator's state (None while it is down) and its durable value."""
    source, agg = (world.nodes[system.node_at[name]] for name in ("source", "agg"))
    return source.state, None if agg.state is DOWN else agg.state, agg.durable


@pytest.mark.slow
@pytest.mark.parametrize("protocol", [PROTOCOL, SYNCHRONOUS], ids=lambda one: one.name)
@pytest.mark.parametrize("box", [PAIRS, windows(2, 1)], ids=["pairs", "sliding"])
def test_a_whole_checkpoint_is_a_state_that_the_run_went_through(
    protocol: Any, box: Aggregate
) -> None:
    """And the source still has every tuple after it; in all worlds up to some depth."""
    scope = one(box, 3, "ab", gaps=EQUAL, crashes=2)
    system, stored = System(protocol, scope), set()
    for _, _, world in edges(protocol, scope, limit=12_000):
        source, operator, durable = nodes(system, world)
        (arrivals,) = world.arrivals
        place = 0 if durable is None else durable.whole.place
        kept = {event.sn[0] for event in source.kept}
        assert {*range(place + 1, source.place + 1)} <= kept
        if durable is not None:
            state, made = naive(box, arrivals, place)
            assert durable.whole.box == state
            assert durable.whole.queue.place == made
            stored.add(place)
        if operator is not None and operator.inlets[0].request is None:
            state, made = naive(box, arrivals, operator.inlets[0].place)
            assert operator.box == state
            assert operator.queue.place == made
    assert stored >= {1, 2}


@st.composite
def queries(draw: st.DrawFn) -> Scope:
    specs = draw(st.lists(operators(("a", "b")), min_size=1, max_size=2))
    graph = chain(*((f"q{number}", spec) for number, spec in enumerate(specs)))
    alphabet = tuple(Arrival(gap, type_) for type_ in "ab" for gap in (0, 1, 2))
    return Scope(graph, (("source", Inputs(alphabet, 6)),), draw(st.integers(0, 3)))


class TestAnyOperatorsAnyCrashes(machine(PROTOCOL, queries()).TestCase):  # type: ignore[misc]
    settings = settings(max_examples=60, stateful_step_count=50, deadline=None)


class TestTheSameWhileProcessingWaits(machine(SYNCHRONOUS, queries()).TestCase):  # type: ignore[misc]
    settings = settings(max_examples=60, stateful_step_count=50, deadline=None)


# --- what is refused -------------------------------------------------------------------------
JOIN = Graph(
    (("left", SOURCE), ("right", SOURCE), ("agg", Join(2)), ("sink", SINK)),
    (("left", "agg"), ("right", "agg"), ("agg", "sink")),
)


FORK = Graph(
    (("left", SOURCE), ("agg", SINGLES), ("one", SINK), ("two", SINK)),
    (("left", "agg"), ("agg", "one"), ("agg", "two")),
)
REFUSED = {
    "an unordered join": (JOIN, "agg is a Join with 2 inputs, in any order; give an Ordered box"),
    "no operator": (chain(("agg", "no operator")), "agg is a str; give a box or a CEP operator"),
    "two consumers": (FORK, "agg has 2 outputs; give it one consumer"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_graph_without_one_order_and_one_consumer_is_refused(name: str) -> None:
    graph, why = REFUSED[name]
    with pytest.raises(Invalid, match=f"crb: {why}"):
        System(PROTOCOL, Scope(graph, ()))


def test_all_reasons_of_a_refusal_come_at_once() -> None:
    graph = Graph((*JOIN.nodes, ("other", SINK)), (*JOIN.edges, ("left", "other")))
    with pytest.raises(Refused) as error:
        System(PROTOCOL, Scope(graph, ()))
    assert [why.partition(" ")[0] for why in error.value.why] == ["left", "agg"]
    assert "\n" not in str(error.value)


def test_a_message_that_nobody_sends_is_refused() -> None:
    site = System(PROTOCOL, one(SINGLES, 1)).sites["agg"]
    with pytest.raises(TypeError, match="agg: nothing to do with"):
        step(site, PROTOCOL.behaviour.boot(site), Received("sink", "hello"))


# --- what is shown ---------------------------------------------------------------------------
ONE = OperatorCheckpoint((), (1,))


def test_messages_and_states_in_words() -> None:
    request = Replay(1, Stamp.TIME, inclusive=True)
    queue = QueueState(3)
    shown = {
        Event((2,), Body(1, "a")): "a2@1",
        Output((2,), Body(1, "a"), NOTHING_OF): "a2@1",
        request: "replay from time 1",
        Replay(1): "replay after place 1",
        Replay(None): "go on",
        Replayed(request, 1): "replayed after 1",
        Restarted(): "restarted",
        Trim(3): "let go up to 3",
        queue: "0 of 3",
        Stable(ONE): "checkpoint at 1",
        Stable(
            OperatorCheckpoint((), (1,)), OperatorCheckpoint((), (2,))
        ): "checkpoint at 1, half 2",
    }
    assert {value: show(value) for value in shown} == shown


def test_a_checkpoint_is_charged_half_by_half() -> None:
    state, _ = naive(PAIRS, (Arrival(1, "a"), Arrival(1, "b")), 2)
    output = Output((1,), Body(1, "a"), NOTHING_OF)
    whole = OperatorCheckpoint(
        state, (2,), (2,), QueueState(1, 1, QueueState().kept.append(output))
    )
    nothing = OperatorCheckpoint(PAIRS.begin(1))
    assert size(Stable(nothing, whole)) == Size(MessageKind.CHECKPOINT, 0, 2, "checkpoints")
    assert size(Stable(whole)) == Size(MessageKind.CHECKPOINT, 0, 0, "checkpoints", 1)
    assert size(Stable(OperatorCheckpoint(()), OperatorCheckpoint(()))).items == 0


def test_gauges() -> None:
    system = System(PROTOCOL, two(SINGLES, Relay(), 1))
    first, second = system.sites["first"], system.sites["second"]
    state = PROTOCOL.behaviour.boot(first)._replace(inlets=(Inlet(2),))
    assert gauges(first, state) == Gauges(0, 0, 2, ((BEHIND, 2),))
    assert gauges(second, PROTOCOL.behaviour.boot(second)).windows is None
