"""Operator, merge and oracle compared with their definitions over all small words.

The oracle and the operator share splitters and engines, and the definitions share nothing with
either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.cep.denotation import evaluate
from model.cep.engines import Engine, Function, Mealy, Partitioned
from model.cep.merge import InputQueue, low, ready
from model.cep.operator import CepState, Iteration, Operator, process
from model.cep.patterns import Pattern, PatternStep, Strategy, sequence
from model.cep.windows import CountWindows, PatternWindows, Splitter, TimeWindows
from model.core import Arrival
from model.events import BEGINNING, Body, Event
from model.graph import SINK, SOURCE, Graph
from model.oracle import assign_times, oracle
from model.predicates import Type
from proofs.explore.strategies import graphs, operators, streams
from proofs.explore.strategies import words as drawn_words
from tests.model.denotations import operators as defined
from tests.model.denotations.operators import Edge
from tests.model.denotations.windows import find_windows
from tests.model.denotations.words import Word, words

ENGINES: list[Engine] = [
    sequence("a", "b"),
    sequence("a", "a", strategy=Strategy.ANY),
    sequence("a", "!b", strategy=Strategy.STRICT),
    Pattern((PatternStep(Type("a"), plus=True), PatternStep(Type("b"))), Strategy.ANY),
    Mealy(((("a", 1, 2),), (("b", 0, 1),)), (1, 2)),
    Function(lambda held: (held[:1], held[1:])),
    Partitioned(sequence("a", "!b"), "origin"),
]
SPLITTERS: list[Splitter] = [
    CountWindows(2, 1),
    CountWindows(2, 2),
    CountWindows(1, 2),
    TimeWindows(2, 1),
    TimeWindows(1, 2, grid=True),
    PatternWindows(Type("a"), size=3, span=2, closes_on=Type("b")),
]
ALL = [
    Operator(engine, splitter, "found", parallel)
    for engine, splitter, parallel in product(ENGINES, SPLITTERS, (True, False))
]
NAMES = [
    f"{type(one.engine).__name__}-{place}-{'parallel' if one.parallel else 'serial'}"
    for place, one in enumerate(ALL)
]


def processed(operator: Operator, word: Word) -> tuple[list[Iteration], list[CepState]]:
    state, iterations, states = CepState(), list[Iteration](), list[CepState]()
    for body in word:
        state, iteration = process(operator, state, body)
        iterations.append(iteration)
        states.append(state)
    return iterations, states


def differs(operator: Operator, word: Word) -> bool:
    """Do the oracle, or the iterations of the operator, say another thing than the definition?"""
    outputs = defined.outputs(operator, word)
    windows = find_windows(operator.splitter, word)
    if list(evaluate(operator, word)) != [output.body for output in outputs]:
        return True
    iterations, states = processed(operator, word)
    places = range(len(word))
    closed = [
        [number for number, window in enumerate(windows, 1) if window.closer == place]
        for place in places
    ]
    by_number = dict(enumerate(windows, 1))
    return (
        [happened.opened for happened in iterations],
        [[w.number for w in happened.expired] for happened in iterations],
        [[w.number for w in happened.filled] for happened in iterations],
        [list(happened.produced) for happened in iterations],
        [list(happened.settled) for happened in iterations],
        [[w.number for w in state.open] for state in states],
    ) != (
        [place in [window.opener for window in windows] for place in places],
        [[n for n in closed[place] if place not in by_number[n].held] for place in places],
        [[n for n in closed[place] if place in by_number[n].held] for place in places],
        [[(o.window, o.body) for o in outputs if o.trigger == place] for place in places],
        defined.settled(operator, word),
        [
            [n for n, w in by_number.items() if w.opener <= place and w.is_open_behind(place)]
            for place in places
        ],
    )


def test_an_operator_is_parallel_and_emits_matches_unless_it_says_otherwise() -> None:
    plain = Operator(sequence("a"), CountWindows(1, 1))
    assert (plain.parallel, plain.emits) == (True, "match")
    first, _ = process(plain, CepState(), Body(1, "a"))
    assert first.opened == 1


@pytest.mark.parametrize("operator", ALL, ids=NAMES)
def test_operators(operator: Operator) -> None:
    assert [word for word in words(4, starts=(1,)) if differs(operator, word)] == []


@pytest.mark.slow
@pytest.mark.parametrize("operator", ALL, ids=NAMES)
def test_operators_in_streams_of_seven_events(operator: Operator) -> None:
    assert [word for word in words(7, gaps=(1,)) if differs(operator, word)] == []


@pytest.mark.exhaustive  # `make test` has all words of four events, and those of seven without ties
@pytest.mark.parametrize("operator", ALL, ids=NAMES)
def test_operators_in_all_streams_of_seven_events(operator: Operator) -> None:
    assert [word for word in words(7) if differs(operator, word)] == []


@settings(max_examples=200)
@given(operators(), drawn_words(longest=10))
def test_any_operator_in_longer_streams(operator: Operator, word: Word) -> None:
    assert not differs(operator, word)


@pytest.mark.parametrize("operator", ALL[1::2], ids=NAMES[1::2])
def test_a_serial_operator_keeps_what_open_windows_need(operator: Operator) -> None:
    """queue: the events that open windows hold; base: the position of the first of these events;
    used: the positions used so far, which nobody knows yet."""
    for word in words(4, starts=(1,)):
        answered = 0
        answers = defined.settled(operator, word)
        for place, state in enumerate(processed(operator, word)[1]):
            answered += len(answers[place])
            assert (list(state.queue), state.base) == (list(word[answered : place + 1]), answered)
            assert all(answered <= position <= place for position in state.used)


def test_a_parallel_operator_keeps_no_events() -> None:
    for operator in ALL[::2]:
        for word in words(3):
            for state in processed(operator, word)[1]:
                assert (list(state.queue), state.base, state.used) == ([], 0, frozenset())


# --- merges ----------------------------------------------------------------------------------
def arrivals_on(edge: int, most: int) -> list[tuple[Body | int, ...]]:
    """All sequences of bodies that an edge may bring, with a watermark behind some of them."""
    found: list[tuple[Body | int, ...]] = []
    for length in range(most + 1):
        for word in words(length, types="xyz"[edge], starts=(0, 1)):
            found += [word, (*word, word[-1].time + 1 if word else 1)]
    return found


def interleavings(edges: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All orders in which so many messages of each edge may arrive."""
    if not any(edges):
        yield ()
    for edge, left in enumerate(edges):
        if left:
            rest = [count - (other == edge) for other, count in enumerate(edges)]
            yield from ((edge, *order) for order in interleavings(rest))


def heard(messages: Sequence[Body | int]) -> Edge:
    bodies = tuple(message for message in messages if isinstance(message, Body))
    return Edge(bodies, max((m for m in messages if isinstance(m, int)), default=BEGINNING))


def check_merge(edges: Sequence[tuple[Body | int, ...]], order: Sequence[int]) -> None:
    """Let the messages arrive in this order, and take what is ready after each."""
    inlets = (InputQueue(),) * len(edges)
    counts = [0] * len(edges)
    taken: list[tuple[int, int]] = []
    for edge in order:
        message = edges[edge][counts[edge]]
        counts[edge] += 1
        inlet = inlets[edge]
        if isinstance(message, int):
            inlet = inlet._replace(mark=message)
        else:
            inlet = inlet.hear(Event((counts[edge],), message))
            assert inlet.heard == (counts[edge],)
        inlets = (*inlets[:edge], inlet, *inlets[edge + 1 :])
        while (head := ready(inlets)) is not None:
            event = inlets[head].queue.first()
            assert event.body == edges[head][event.sn[0] - 1]
            taken.append((head, event.sn[0] - 1))
            rest = inlets[head]._replace(queue=inlets[head].queue.rest())
            inlets = (*inlets[:head], rest, *inlets[head + 1 :])
        known = [heard(edges[e][:count]) for e, count in enumerate(counts)]
        assert taken == defined.merge(known)
        assert low(inlets) == defined.watermark(known)


def test_two_edges_in_any_order_of_arrival() -> None:
    for edges in product(arrivals_on(0, 2), arrivals_on(1, 2)):
        for order in interleavings([len(messages) for messages in edges]):
            check_merge(edges, order)


@given(st.data())
def test_three_edges_in_any_order_of_arrival(data: st.DataObject) -> None:
    edges = [data.draw(st.sampled_from(arrivals_on(edge, 3))) for edge in range(3)]
    order = [edge for edge, messages in enumerate(edges) for _ in messages]
    check_merge(edges, data.draw(st.permutations(order)))


def test_an_inlet_has_heard_nothing_at_first() -> None:
    assert (InputQueue().heard, InputQueue().mark, InputQueue().low) == ((), BEGINNING, BEGINNING)
    assert (ready((InputQueue(), InputQueue())), low((InputQueue(), InputQueue()))) == (
        None,
        BEGINNING,
    )


def test_a_watermark_is_never_taken_back_by_an_event() -> None:
    marked = InputQueue(mark=5).hear(Event((1,), Body(5, "a"))).hear(Event((2,), Body(7, "a")))
    assert marked.mark == 7
    assert InputQueue(mark=5).hear(Event((1,), Body(3, "a"))).mark == 5


# --- graphs ----------------------------------------------------------------------------------
def graph(inner: dict[str, Operator], text: str) -> Graph:
    edges = tuple((u, v) for u, v in (edge.split("-") for edge in text.split()))
    ends = {"r": SOURCE, "s": SOURCE, "t": SINK, "u": SINK}
    names = dict.fromkeys(name for edge in edges for name in edge)
    return Graph(tuple((name, inner.get(name, ends.get(name))) for name in names), edges)


WHOLE = Function(lambda held: (held,))
ECHO = Operator(Mealy(((("a", 0, 1), ("b", 0, 2)),)), CountWindows(1, 1), "x")
GRAPHS = {
    "merge": graph({"A": Operator(WHOLE, CountWindows(2, 1))}, "r-A s-A A-t"),
    "serial merge": graph({"A": Operator(WHOLE, TimeWindows(1, 1), parallel=False)}, "r-A s-A A-t"),
    "chain to two sinks": graph(
        {"A": ECHO, "B": Operator(WHOLE, TimeWindows(2, 2, grid=True))}, "r-A A-B A-u B-t s-t"
    ),
    "merge with an operator's results": graph(
        {
            "A": Operator(sequence("a", "!b"), CountWindows(2, 1), "x"),
            "B": Operator(WHOLE, CountWindows(3, 1)),
        },
        "r-A A-B s-B B-t s-u",
    ),
    "merge of merges": graph(
        {
            "A": Operator(sequence("a"), CountWindows(1, 1), "x"),
            "C": Operator(WHOLE, CountWindows(3, 1)),
        },
        "r-A s-A A-C r-C s-C C-t",
    ),
}
ARRIVALS = [
    tuple(Arrival(gap, type_) for gap, type_ in zip(gaps, text, strict=True))
    for length in range(4)
    for gaps in product((0, 1), repeat=length)
    for text in (("a" * length, "abb"[:length]) if length else ("",))
]


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs(name: str) -> None:
    for left, right in product(ARRIVALS, repeat=2):
        arrivals = {"r": left, "s": right}
        assert oracle(GRAPHS[name], arrivals) == defined.sinks(GRAPHS[name], arrivals)


@pytest.mark.slow
@given(graphs(), st.data())
def test_any_graph(graph: Graph, data: st.DataObject) -> None:
    sources = [name for name, spec in graph.nodes if spec is SOURCE]
    arrivals = {name: data.draw(streams("ab", longest=6)) for name in sources}
    assert oracle(graph, arrivals) == defined.sinks(graph, arrivals)


def test_times_add_up_from_zero() -> None:
    arrivals = (Arrival(2, "a", (("x", 1),)), Arrival(0, "b"), Arrival(3, "a"))
    assert assign_times(arrivals) == (Body(2, "a", (("x", 1),)), Body(2, "b"), Body(5, "a"))
