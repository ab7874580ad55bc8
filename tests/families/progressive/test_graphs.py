"""Progressive recovery in graphs, with failures and orders of return, that nobody chose."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.boxes.aggregate import Aggregate
from model.boxes.stateless import Map, Relay, Union
from model.core import Scope
from model.graph import SINK, SOURCE, Graph
from model.parts import over_words
from model.properties import allowed_outputs
from model.protocols.progressive.design import (
    Accepts,
    Buffering,
    Ends,
    Fence,
    LateFailures,
    Order,
    Outputs,
    ProgressiveDesign,
)
from model.protocols.progressive.family import PROGRESSIVE_RECOVERY
from proofs.explore.random_walk import Walks, walks

SPECS = (Relay(), Map("m"), Aggregate("list", 2, 2, of="time"))
WALKS = 5
"""Walks a graph; a test looks at a hundred graphs."""


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """One or two sources, one to four partitions with one or two inputs, a sink for each end."""
    above = [f"source {i}" for i in range(draw(st.integers(1, 2)))]
    sources, partitions = [*above], []
    edges: list[tuple[str, str]] = []
    for i in range(draw(st.integers(1, 4))):
        name = f"p{i}"
        preds = draw(st.lists(st.sampled_from(above), min_size=1, max_size=2, unique=True))
        spec = Union() if len(preds) > 1 else draw(st.sampled_from(SPECS))
        partitions.append((name, spec))
        edges += ((pred, name) for pred in preds)
        above.append(name)
    ends = [name for name in above if all(pred != name for pred, _ in edges)]
    sinks = [f"sink of {name}" for name in ends]
    edges += zip(ends, sinks, strict=True)
    nodes = [(name, SOURCE) for name in sources] + partitions + [(name, SINK) for name in sinks]
    return Graph(tuple(nodes), tuple(edges))


@st.composite
def scopes(draw: st.DrawFn) -> Scope:
    return over_words(draw(graphs()), draw(st.integers(1, 2)), "a", crashes=draw(st.integers(1, 3)))


FREE = {
    "buffering": st.sampled_from(Buffering),
    "late": st.sampled_from(LateFailures),
    "overlap": st.booleans(),
    "threshold": st.integers(0, 3),
}
NUMBERED = st.builds(ProgressiveDesign, **FREE)
COMMITTED = st.builds(
    ProgressiveDesign,
    outputs=st.just(Outputs.COMMITTED),
    order=st.sampled_from([Order.RECOVERY, Order.ALWAYS]),
    **FREE,
)


def walk(design: ProgressiveDesign, scope: Scope, count: int, seed: int) -> Walks:
    """Unions of unions allow thousands of outputs, which no other graph asks for again."""
    allowed_outputs.cache_clear()
    return walks(PROGRESSIVE_RECOVERY.design("any", design), scope, count, seed)


@pytest.mark.slow
@given(scopes(), NUMBERED | COMMITTED, st.integers(0, 10**6))
def test_mended_designs_are_right_in_any_graph(
    scope: Scope, design: ProgressiveDesign, seed: int
) -> None:
    found = walk(design, scope, WALKS, seed)
    assert found.trace is None, found.property


@pytest.mark.parametrize(
    "flaw",
    [
        {"accepts": Accepts.ALL, "threshold": 0},
        {"fence": Fence.NONE},
        {"outputs": Outputs.AT_ONCE},
        {"ends": Ends.CHECKPOINT, "threshold": 0},
    ],
    ids=lambda flaw: next(iter(flaw)),
)
def test_the_same_walks_find_flaws(flaw: dict[str, object]) -> None:
    """In one graph and a thousand walks: without this, the tests above would say nothing."""
    graph = Graph(
        (("source", SOURCE), ("p0", Relay()), ("p1", Relay()), ("sink", SINK)),
        (("source", "p0"), ("p0", "p1"), ("p1", "sink")),
    )
    design = ProgressiveDesign(**flaw)  # type: ignore[arg-type]
    found = walk(design, over_words(graph, 3, "a", crashes=2), 3_000, seed=1)
    assert found.trace is not None
