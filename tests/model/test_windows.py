"""Window bounds, exactly; the merge; the log; skip ranges."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.cep.denotation import slices
from model.cep.merge import InputQueue, ready
from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.skips import Skips, covers
from model.cep.windows import CountWindows, PatternWindows, Splitter, TimeWindows
from model.errors import Invalid
from model.events import Body, Event, Mark
from model.graph import SINK, SOURCE, Graph
from model.log import CHUNK, Log
from model.predicates import Type


def held(splitter: Splitter, stream: Sequence[Body]) -> list[list[int]]:
    """Of every window, the times that it holds."""
    operator = Operator(sequence("a"), splitter)
    found = slices(operator, stream)
    return [[body.time for body in stream[w.first : w.last + 1]] for w in found]


def at(*times: int, type_: str = "a") -> list[Body]:
    return [Body(time, type_) for time in times]


@pytest.mark.parametrize(
    ("splitter", "times", "windows"),
    [
        (CountWindows(3, 2), (1, 2, 3, 4, 5), [[1, 2, 3], [3, 4, 5], [5]]),
        (CountWindows(1, 3), (1, 2, 3, 4), [[1], [4]]),
        (TimeWindows(5, 2), (1, 2, 5, 6, 7), [[1, 2, 5], [5, 6, 7], [7]]),
        (TimeWindows(4, 4), (3, 6, 7), [[3, 6], [7]]),
        (TimeWindows(4, 2, grid=True), (1, 2, 3, 4, 9), [[1, 2, 3], [2, 3, 4], [4], [9]]),
        (TimeWindows(1, 3, grid=True), (0, 1, 2, 3, 5), [[0], [3]]),
    ],
)
def test_bounds(splitter: Splitter, times: tuple[int, ...], windows: list[list[int]]) -> None:
    assert held(splitter, at(*times)) == windows


def test_pattern_windows_close_by_size_span_or_event() -> None:
    stream = [Body(1, "a"), Body(2, "b"), Body(3, "a"), Body(4, "c"), Body(9, "b")]
    opens = Type("a")
    assert held(PatternWindows(opens, size=2), stream) == [[1, 2], [3, 4]]
    assert held(PatternWindows(opens, span=3), stream) == [[1, 2, 3], [3, 4]]
    assert held(PatternWindows(opens, closes_on=Type("c")), stream) == [[1, 2, 3, 4], [3, 4]]


@pytest.mark.parametrize("splitter", [CountWindows, TimeWindows])
@pytest.mark.parametrize(("size", "slide", "what"), [(0, 1, "size 0"), (1, 0, "slide 0")])
def test_impossible_windows(splitter: type, size: int, slide: int, what: str) -> None:
    with pytest.raises(Invalid, match=what):
        splitter(size, slide)
    with pytest.raises(Invalid, match="never close"):
        PatternWindows(Type("a"))


BAD_GRAPHS = {
    "cycle A -> B -> A": "s-A A-B B-A B-t",
    "unknown node 'X'": "s-A A-X A-t",
    "has no output edge": "s-A s-t",
    "source 's' has an input": "r-s s-A A-t",
}


@pytest.mark.parametrize("message", BAD_GRAPHS)
def test_impossible_graphs(message: str) -> None:
    operator = Operator(sequence("a"), CountWindows(1, 1))
    nodes = (("r", SOURCE), ("s", SOURCE), ("A", operator), ("B", operator), ("t", SINK))
    edges = tuple((e.split("-")[0], e.split("-")[1]) for e in BAD_GRAPHS[message].split())
    used = {name for edge in edges for name in edge}
    with pytest.raises(Invalid, match=message):
        Graph(tuple(node for node in nodes if node[0] in used), edges)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 6)), max_size=12), st.randoms())
def test_the_merge_does_not_depend_on_when_events_arrive(
    drawn: list[tuple[int, int]], order: object
) -> None:
    """Edge by edge in time order, edges interleaved at random: the same merged order."""
    edges = [sorted(time for edge, time in drawn if edge == e) for e in range(3)]
    expected = sorted((time, edge) for edge, times in enumerate(edges) for time in times)
    queues: list[list[Event | Mark]] = [
        [*(Event((i,), Body(t, "a")) for i, t in enumerate(times, 1)), Mark(99)] for times in edges
    ]
    inlets: tuple[InputQueue, ...] = (InputQueue(),) * 3
    merged = []
    while any(queues):
        edge = order.choice([e for e in range(3) if queues[e]])  # type: ignore[attr-defined]
        message = queues[edge].pop(0)
        inlet = inlets[edge]
        if isinstance(message, Mark):
            inlet = inlet._replace(mark=message.time)
        else:
            inlet = inlet.hear(message)
        inlets = (*inlets[:edge], inlet, *inlets[edge + 1 :])
        while (head := ready(inlets)) is not None:
            taken = inlets[head].queue
            merged.append((taken.first().body.time, head))
            rest = inlets[head]._replace(queue=taken.rest())
            inlets = (*inlets[:head], rest, *inlets[head + 1 :])
    assert merged == expected


OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("extend"), st.integers(1, CHUNK)),
        st.tuples(st.just("trim"), st.integers(0, 300)),
        st.tuples(st.just("thin"), st.integers(0, 300)),
        st.tuples(st.just("rest"), st.just(0)),
    ),
    max_size=12,
)


@given(OPERATIONS)
def test_a_log_is_a_list(operations: list[tuple[str, int]]) -> None:
    log: Log[int] = Log()
    items: list[int] = []
    latest = 0
    for what, n in operations:
        before, was = log, list(log)
        if what == "extend":
            new = range(latest + 1, latest + n + 1)
            latest += n
            log, items = log.extend(new), [*items, *new]
        elif what == "trim":
            log, items = log.trim(n.__ge__), [i for i in items if i > n]
        elif what == "thin":
            log = log.thin(n.__le__, lambda i: i % 3 == 0)
            items = [i for i in items if i < n or i % 3]
        elif items:
            log, items = log.rest(), items[1:]
        assert list(log) == items
        assert len(log) == len(items)
        assert bool(log) == bool(items)
        assert list(before) == was
        if len(items) <= CHUNK:
            empty: Log[int] = Log()
            assert log == empty.extend(items)
            assert hash(log) == hash(empty.extend(items))


@given(st.lists(st.booleans(), max_size=20), st.integers(0, 20))
def test_skip_ranges_cover_what_was_skipped_beyond_the_trim(skipped: list[bool], trim: int) -> None:
    skips = Skips()
    for number, skip in enumerate(skipped, 1):
        skips = skips.skip((number,)) if skip else skips.keep()
    ranges = skips.after((trim,))
    for number, skip in enumerate(skipped, 1):
        if number > trim:
            assert covers(ranges, (number,)) == skip
