"""The scopes in which continuous eventual checkpointing is explored, by name.

Rule of this file: no verdict; variants.py has what is expected in each scope.

The operator lists the times of the tuples in a window, so a tuple that is lost or counted twice is
seen.  Keys are the types of events.
Sebepou and Magoutis, CEC, 2011: windows by count and by time (II), sliding ones (II), several open
at once (II.B), equal times, a filter upstream (IV.B), a join of two inputs (V).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from model.boxes.aggregate import Aggregate
from model.boxes.box import Box
from model.boxes.join import Join
from model.boxes.reorder import Ordered
from model.boxes.stateless import Filter, Relay, Union
from model.core import Arrival, Inputs, OperatorClass, Scope
from model.graph import SINK, SOURCE, Graph, chain
from model.parts import over_words
from model.predicates import Type
from model.protocols.cec.messages import Logged

REPEATABLE = OperatorClass.REPEATABLE
CONVERGENT_CAPABLE = OperatorClass.CONVERGENT_CAPABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC
ARBITRARY = OperatorClass.ARBITRARY


class Explored(NamedTuple):
    scope: Scope
    operators: OperatorClass
    quick: bool = True


def windows(size: int, advance: int | None = None, **more: Any) -> Aggregate:
    """The list of the times of the tuples in a window of each key."""
    more = {"group": "type", **more}
    return Aggregate("list", size, advance or size, of="time", **more)


def spans(size: int, advance: int | None = None, *, aligned: bool = True) -> Aggregate:
    """How many tuples of each key there are in a window of so many time units."""
    return Aggregate("count", size, advance or size, by="time", group="type", aligned=aligned)


def one(
    box: Box,
    length: int,
    types: str = "ab",
    gaps: tuple[int, ...] = (1,),
    crashes: int = 1,
    **settings: Any,
) -> Scope:
    """One operator behind a source of `length` events.  settings: of its node (Logged)."""
    graph = chain(("agg", Logged(box, **settings)))
    return over_words(graph, length, types, gaps, crashes)


def two(
    first: Box, second: Box, length: int, types: str = "a", crashes: int = 1, **settings: Any
) -> Scope:
    """Two operators, one after the other; settings: of both nodes (Logged)."""
    nodes = (("first", Logged(first, **settings)), ("second", Logged(second, **settings)))
    return over_words(chain(*nodes), length, types, (1,), crashes)


def joined(
    box: Box,
    left: int,
    right: int,
    gaps: tuple[tuple[int, ...], tuple[int, ...]] = ((1,), (1,)),
    crashes: int = 1,
    first: Box | None = None,
    **settings: Any,
) -> Scope:
    """One operator behind two sources of `left` and `right` events, whose times are `gaps` apart.

    first: the operator between the left source and this one.  settings: of the nodes (Logged).
    """
    nodes = [("left", SOURCE), ("right", SOURCE), ("join", Logged(box, **settings)), ("sink", SINK)]
    edges = [("left", "join"), ("right", "join"), ("join", "sink")]
    if first is not None:
        nodes.insert(2, ("first", Logged(first, **settings)))
        edges[:1] = [("left", "first"), ("first", "join")]
    lengths = zip(("left", "right"), (left, right), gaps, strict=True)
    inputs = tuple(
        (name, Inputs(tuple(Arrival(gap, "a") for gap in apart), length))
        for name, length, apart in lengths
    )
    return Scope(Graph((*nodes,), (*edges,)), inputs, crashes)


EQUAL = (0, 1)
PAIRS, ALL = windows(2), windows(2, group=None)
EVERY, NEAR, LATEST = Join(9), Join(1), Join(1, by="count")
SCOPES = {
    "windows of one tuple": Explored(one(windows(1), 3), REPEATABLE),
    "windows of two tuples": Explored(one(PAIRS, 4), DETERMINISTIC),
    "five tuples": Explored(one(PAIRS, 5), DETERMINISTIC),
    "equal times": Explored(one(PAIRS, 3, gaps=EQUAL), DETERMINISTIC),
    "equal times of one key": Explored(one(PAIRS, 3, "a", gaps=EQUAL), DETERMINISTIC),
    "background": Explored(one(PAIRS, 3, checks=True), DETERMINISTIC),
    "background, windows of three": Explored(one(windows(3), 4, "a", checks=True), DETERMINISTIC),
    "background, two crashes": Explored(one(PAIRS, 2, crashes=2, checks=True), DETERMINISTIC),
    "two crashes": Explored(one(PAIRS, 3, crashes=2), DETERMINISTIC),
    "queues let go": Explored(one(PAIRS, 3, trims=True, checks=True), DETERMINISTIC),
    "queues of one key let go": Explored(
        one(PAIRS, 3, "a", trims=True, checks=True), DETERMINISTIC
    ),
    "queues let go, two crashes": Explored(
        one(PAIRS, 2, crashes=2, gaps=EQUAL, trims=True), DETERMINISTIC
    ),
    "windows of three, queues let go": Explored(one(windows(3), 4, trims=True), DETERMINISTIC),
    "results alone": Explored(one(windows(1), 2, gaps=EQUAL), REPEATABLE),
    "outstanding writes": Explored(one(PAIRS, 3, writes=2, tears=True), DETERMINISTIC),
    "outstanding writes of one key": Explored(
        one(PAIRS, 3, "a", writes=2, tears=True), DETERMINISTIC
    ),
    "outstanding writes, queues let go": Explored(
        one(windows(1), 2, writes=2, tears=True, trims=True), REPEATABLE
    ),
    "catching up": Explored(one(windows(1), 3, "a", writes=1, reads=True), REPEATABLE),
    "catching up, queues let go": Explored(
        one(windows(1), 3, "a", writes=1, reads=True, trims=True), REPEATABLE
    ),
    "all at once": Explored(
        one(PAIRS, 3, writes=2, tears=True, trims=True, checks=True), DETERMINISTIC, quick=False
    ),
    "windows by time": Explored(one(spans(2), 3, gaps=EQUAL), CONVERGENT_CAPABLE),
    "windows of one key by time": Explored(one(spans(2), 3, "a", gaps=EQUAL), CONVERGENT_CAPABLE),
    "windows by time, background": Explored(
        one(spans(2), 3, checks=True, trims=True), CONVERGENT_CAPABLE
    ),
    "windows from the first tuple": Explored(
        one(spans(2, aligned=False), 3, checks=True), DETERMINISTIC
    ),
    "windows of one key from its first tuple": Explored(
        one(spans(2, aligned=False), 3, "a", checks=True), DETERMINISTIC
    ),
    "sliding windows": Explored(one(windows(3, 1), 4, "a", checks=True), REPEATABLE),
    "windows that overlap in part": Explored(
        one(spans(3, 2, aligned=False), 4, "a", gaps=(1, 2)), DETERMINISTIC
    ),
    "sliding windows by time": Explored(one(spans(2, 1), 3, checks=True), CONVERGENT_CAPABLE),
    "sliding windows of one key by time": Explored(
        one(spans(2, 1), 3, "a", checks=True), CONVERGENT_CAPABLE
    ),
    "gaps between windows": Explored(one(windows(1, 2), 3, checks=True), DETERMINISTIC),
    "gaps between windows, queues let go": Explored(
        one(windows(1, 2), 3, trims=True), DETERMINISTIC
    ),
    "a filter upstream": Explored(two(Filter(Type("a")), PAIRS, 3, "ab"), DETERMINISTIC),
    "an aggregate of an aggregate": Explored(two(windows(1), ALL, 3), DETERMINISTIC),
    "adjacent crashes": Explored(two(windows(1), ALL, 2, crashes=2), DETERMINISTIC),
    "a join": Explored(joined(EVERY, 2, 1), ARBITRARY),
    "a join of near tuples": Explored(joined(NEAR, 2, 1, ((0, 2), (1,))), ARBITRARY),
    "a join by count": Explored(joined(LATEST, 3, 1), ARBITRARY),
    "a join, background": Explored(joined(EVERY, 2, 1, checks=True), ARBITRARY),
    "a join, queues let go": Explored(joined(EVERY, 2, 1, checks=True, trims=True), ARBITRARY),
    "a join, two crashes": Explored(joined(EVERY, 2, 1, crashes=2), ARBITRARY),
    "a join, outstanding writes": Explored(joined(EVERY, 2, 1, writes=2, tears=True), ARBITRARY),
    "a join behind an operator, adjacent crashes": Explored(
        joined(EVERY, 1, 1, crashes=2, first=Relay()), ARBITRARY
    ),
    "a join by time": Explored(joined(Ordered(EVERY), 2, 2), REPEATABLE),
    "a join by time, distinct times": Explored(
        joined(Ordered(EVERY), 2, 2, ((2,), (3,)), checks=True), REPEATABLE
    ),
    "a union": Explored(joined(Union(), 2, 1), ARBITRARY),
    "no crash": Explored(one(PAIRS, 3, crashes=0, checks=True, trims=True), DETERMINISTIC),
    "no crash, gaps between windows": Explored(
        one(windows(1, 2), 3, crashes=0, checks=True, trims=True), DETERMINISTIC
    ),
}
