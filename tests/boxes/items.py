"""Items of one edge and of two, what a box puts out, and what folds mean.

Rule of this file: no test.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from model.boxes.box import Box, Item, Of, Out
from model.events import Body

ARRIVALS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.integers(0, 2)), max_size=9
)
"""(gap, type, key)"""

NAIVE: dict[str, Callable[[list[int]], Any]] = {
    "count": len,
    "sum": sum,
    "max": lambda values: max(values, default=None),
    "min": lambda values: min(values, default=None),
    "mean": lambda values: sum(values) / len(values) if values else None,
    "list": tuple,
}


def items(arrivals: Any) -> list[Item]:
    """The items of one edge."""
    found, now = [], 0
    for place, (gap, type_, key) in enumerate(arrivals):
        now += gap
        found.append(Item(0, Body(now, type_, (("k", key),)), frozenset([Of(0, place)])))
    return found


@st.composite
def two_edges(draw: st.DrawFn) -> list[Item]:
    """Items of two edges in an order of arrival; times grow on each edge."""
    one = items(draw(ARRIVALS))
    two = [
        Item(1, item.body, frozenset([Of(1, of.place) for of in item.of]))
        for item in items(draw(ARRIVALS))
    ]
    found = []
    while one or two:
        found.append((one if one and (not two or draw(st.booleans())) else two).pop(0))
    return found


def fed(box: Box, given_: list[Item], edges: int = 1) -> list[tuple[int, Out]]:
    """(number of the item, output) of all outputs."""
    state = box.begin(edges)
    found = []
    for at, item in enumerate(given_):
        ((state, outs),) = box.feed(state, item)
        found += [(at, out) for out in outs]
    return found


def made(given_: list[Item], type_: str, time: int, data: Any) -> Out:
    return Out(Body(time, type_, data), frozenset().union(*(item.of for item in given_)))


def fed_state(box: Box, given_: list[Item], edges: int = 1) -> Any:
    """The state after the items."""
    state = box.begin(edges)
    for item in given_:
        ((state, _),) = box.feed(state, item)
    return state
