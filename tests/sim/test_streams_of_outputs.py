"""Outputs that are compared while they come: the verdict on whole outputs, without keeping them."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.boxes.aggregate import Aggregate
from model.boxes.join import Join
from model.boxes.reorder import Ordered
from model.boxes.stateless import AnyOf, Union
from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.windows import CountWindows, TimeWindows
from model.core import Arrival, Observation, Property, Scope, When
from model.errors import Invalid
from model.events import Body
from model.graph import SINK, SOURCE, Graph, chain
from model.oracle import oracle
from model.registry import protocols
from model.system import System, is_satisfied
from sim.compared import OutputComparison
from sim.expected import expected_streams
from sim.inputs.drawn import DrawnEvents, MergedTimes, last_time
from sim.outputs import Outputs, RunningDigest, digest
from sim.scenarios.overrides import overrides
from sim.scenarios.run import run, simulate
from sim.scenarios.scenario import read
from tests.sim.test_scenarios import written

GAPS = st.sampled_from([0, 0, 1, 2, 5])
ARRIVED = st.lists(st.builds(Arrival, GAPS, st.sampled_from("abc"), st.just(())), max_size=14)
MATCH = Operator(sequence("a", "b"), TimeWindows(6, 3), "match")
SERIAL = Operator(sequence("a", "b"), CountWindows(4, 2), "match", parallel=False)
PAIR = Operator(sequence("match", "match"), CountWindows(2, 1), "pair")
COUNT = Aggregate("count", 4, 2, "time", group="type", emits="match")
TWO = Graph(
    (("s", SOURCE), ("t", SOURCE), ("m", MATCH), ("n", SERIAL), ("p", PAIR), ("x", SINK)),
    (("s", "m"), ("t", "m"), ("s", "n"), ("m", "p"), ("n", "p"), ("p", "x"), ("m", "x")),
)
JOINED = Graph(
    (("s", SOURCE), ("t", SOURCE), ("j", Ordered(Join(2))), ("m", MATCH), ("x", SINK)),
    (("s", "j"), ("t", "j"), ("j", "m"), ("s", "m"), ("m", "x")),
)
UNITED = Graph(
    (("s", SOURCE), ("t", SOURCE), ("j", Union()), ("m", MATCH), ("x", SINK)),
    (("s", "j"), ("t", "j"), ("j", "m"), ("m", "x")),
)
GRAPHS = [
    chain(("m", MATCH), ("p", PAIR)),
    chain(("m", SERIAL), ("p", PAIR)),
    chain(("c", COUNT), ("p", PAIR)),
    TWO,
    JOINED,
]


def whole(graph: Graph, arrivals: Mapping[str, Sequence[Arrival]]) -> Outputs:
    return tuple(oracle(graph, arrivals).values())


@given(st.sampled_from(GRAPHS), ARRIVED, ARRIVED)
def test_the_streams_are_those_of_the_oracle(
    graph: Graph, first: list[Arrival], second: list[Arrival]
) -> None:
    arrivals = {"source": first, "s": first, "t": second}
    streams = expected_streams(graph, arrivals)
    assert tuple(tuple(map(tuple, edges)) for edges in streams.values()) == whole(graph, arrivals)


def test_a_stream_says_that_several_outputs_are_allowed() -> None:
    graph = chain(("o", AnyOf(("x", "y"))))
    (stream,) = expected_streams(graph, {"source": [Arrival(0, "a")]})["sink"]
    with pytest.raises(Invalid, match="several outputs"):
        next(stream)


def test_a_box_that_takes_inputs_as_they_come_is_evaluated_whole() -> None:
    """A union of two edges allows every order, unless one of them is empty."""
    arrivals = {"s": [Arrival(0, "a"), Arrival(1, "b")], "t": []}
    (stream,) = expected_streams(UNITED, arrivals)["x"]
    assert ((tuple(stream),),) == whole(UNITED, arrivals) != (((),),)
    (stream,) = expected_streams(UNITED, arrivals | {"t": [Arrival(0, "b")]})["x"]
    with pytest.raises(Invalid, match="several outputs"):
        next(stream)


def test_a_stream_reads_no_further_than_it_is_asked() -> None:
    """A window of 6 units closes with the first event beyond it, one every unit."""
    asked: list[int] = []

    def endless() -> Iterator[Arrival]:
        for at in count():
            asked.append(at)
            yield Arrival(1, "ab"[at % 2])

    (stream,) = expected_streams(chain(("m", MATCH)), {"source": endless()})["sink"]
    assert len([*islice(stream, 10)]) == 10
    assert len(asked) < 40


@given(st.sampled_from(GRAPHS), ARRIVED, ARRIVED, st.data())
def test_a_comparison_in_pieces_is_that_of_whole_outputs(
    graph: Graph, first: list[Arrival], second: list[Arrival], data: st.DataObject
) -> None:
    """The outputs come as expected, or with one left out, twice, or in another order."""
    arrivals = {"source": first, "s": first, "t": second}
    expected = whole(graph, arrivals)
    (sink,) = expected
    came = [[*edge] for edge in sink]
    edge = came[data.draw(st.integers(0, len(came) - 1))]
    if data.draw(st.booleans()) and edge:
        at = data.draw(st.integers(0, len(edge) - 1))
        change = data.draw(st.sampled_from(["lost", "twice", "swapped"]))
        if change == "lost":
            del edge[at]
        elif change == "twice":
            edge.insert(at, edge[at])
        else:
            edge.append(edge.pop(at))
    observed: Outputs = (tuple(map(tuple, came)),)
    comparison = OutputComparison(graph, arrivals)
    (name,) = comparison.sinks
    size = data.draw(st.integers(1, 3))
    for number, bodies in enumerate(came):
        for at in range(0, len(bodies), size):
            comparison.take(name, number, bodies[at : at + size])
    assert comparison.end() == (observed == expected)
    assert comparison.observed(expected) == observed
    if comparison.same:
        assert comparison.count == sum(map(len, sink))
        assert comparison.running.hexdigest() == digest(expected)


BODIES = st.lists(
    st.builds(Body, st.integers(0, 9), st.sampled_from(["a", "é"]), st.just(())), max_size=5
)


@given(st.lists(st.lists(BODIES, min_size=1, max_size=3), min_size=1, max_size=3), st.data())
def test_a_digest_of_pieces_is_that_of_the_whole(
    outputs: list[list[list[Body]]], data: st.DataObject
) -> None:
    running = RunningDigest([*map(len, outputs)])
    edges = [edge for sink in outputs for edge in sink]
    for at in data.draw(st.permutations(range(len(edges)))):
        middle = data.draw(st.integers(0, len(edges[at])))
        for piece in (edges[at][:middle], edges[at][middle:]):
            if piece:
                running.add(at, piece)
    assert running.hexdigest() == digest(tuple(tuple(map(tuple, sink)) for sink in outputs))


def test_outputs_wait_on_the_disk_for_the_edges_before_them() -> None:
    """Two megabytes on the second edge come before anything on the first."""
    body = Body(1, "x" * 1000)
    running = RunningDigest([2])
    for _ in range(2100):
        running.add(1, [body])
    running.add(0, [body])
    assert running.hexdigest() == digest((((body,), (body,) * 2100),))


# --- events ------------------------------------------------------------------------------------
def test_drawn_events_are_a_sequence() -> None:
    events = DrawnEvents(lambda: iter([Arrival(1, "a"), Arrival(2, "b"), Arrival(4, "c")]), 3, 7)
    assert [*events] == [*events] == [Arrival(1, "a"), Arrival(2, "b"), Arrival(4, "c")]
    assert (events[0], events[-1], events[1:]) == (events[-3], events[2], tuple(events)[1:])
    assert events == tuple(events)
    assert events != tuple(events)[1:]
    with pytest.raises(IndexError):
        events[3]
    assert last_time(events) == last_time(tuple(events)) == 7
    times = MergedTimes({"s": events, "t": (Arrival(2, "a"),)}, 10)
    assert [*times] == [times[0], times[1], times[2], times[-1]] == [10, 20, 30, 70]
    assert times[1:] == (20, 30, 70)


# --- whole runs --------------------------------------------------------------------------------
QUICKSTART = Path("docs/scenarios/quickstart.toml")


def peak(events: int, protocol: str) -> int:
    """The most memory of a simulation, in bytes."""
    wanted = overrides([f"stream.events={events}", f"protocol={protocol}", "failures=[]"])
    gc.collect()
    tracemalloc.start()
    try:
        assert simulate(read(QUICKSTART, wanted)).same
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "protocol", ["amnesia", pytest.param("upstream-backup", marks=pytest.mark.exhaustive)]
)
def test_memory_hardly_grows_with_the_run(protocol: str) -> None:
    """2,000 more events are 330 more outputs: 16 bytes each in both runs, and 60 more while the
    percentiles are found.  That is below 50 kB; kept events and outputs were 1.8 MB."""
    peak(200, protocol)  # imports and caches come with the first run
    few, many = peak(2_000, protocol), peak(4_000, protocol)
    assert many - few < 200_000


def test_a_property_sees_no_outputs_for_which_it_does_not_ask() -> None:
    system = System(protocols()["amnesia"], Scope(chain(("m", MATCH)), (), 0))
    seen = Observation((), ((),))
    for outputs in (True, False):
        none = Property("none", When.ALWAYS, lambda _, seen: not seen.outputs[0], outputs=outputs)
        if outputs:
            assert is_satisfied(system, none, seen)
        else:
            with pytest.raises(Invalid, match="outputs with outputs=False"):
                is_satisfied(system, none, seen)


def test_a_run_keeps_its_outputs_for_whoever_asks(tmp_path: Path) -> None:
    text = QUICKSTART.read_text().replace("4_000", "400").replace("2_000", "200")
    scenario = written(tmp_path, text)
    kept, dropped = run(scenario, ()), run(scenario, (), kept=False)
    assert [*map(len, kept.emissions.values())] == [len(kept.outputs.times_s)]
    assert [*dropped.emissions.values()] == [[]]
    assert kept.outputs.delays_s == dropped.outputs.delays_s
