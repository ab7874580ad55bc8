"""The scopes in which progressive recovery is explored, by name.

Rule of this file: no verdict; variants.py and protocol.py have what is expected in each scope.

A result names its tuples by their times, so a tuple that is lost or counted twice is seen.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from model.boxes.aggregate import Aggregate
from model.boxes.join import Join
from model.boxes.stateless import Map, Relay, Union
from model.core import OperatorClass, Scope
from model.graph import SINK, SOURCE, Graph, chain
from model.parts import over_words

REPEATABLE = OperatorClass.REPEATABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC
ARBITRARY = OperatorClass.ARBITRARY


class Explored(NamedTuple):
    scope: Scope
    operators: OperatorClass
    quick: bool = True


PAIRS = Aggregate("list", 2, 2, of="time")
ONE = chain(("only", PAIRS))
CHAIN = chain(("first", Relay()), ("second", PAIRS))
DIAMOND = Graph(
    (
        ("source", SOURCE),
        ("left", Map("l")),
        ("right", Map("r")),
        ("union", Union()),
        ("sink", SINK),
    ),
    (
        ("source", "left"),
        ("source", "right"),
        ("left", "union"),
        ("right", "union"),
        ("union", "sink"),
    ),
)
QUERIES = Graph(
    (
        ("source", SOURCE),
        ("O1", Relay()),
        ("O2", PAIRS),
        ("O3", Map("m")),
        ("Q1", SINK),
        ("Q2", SINK),
    ),
    (("source", "O1"), ("O1", "O2"), ("O1", "O3"), ("O2", "Q1"), ("O3", "Q2")),
)
"""Fig. 1: two queries that share O1."""

TRIANGLE = Graph(
    (("source", SOURCE), ("left", Map("l")), ("union", Union()), ("sink", SINK)),
    (("source", "left"), ("source", "union"), ("left", "union"), ("union", "sink")),
)
"""The smallest graph in which two paths meet."""
SOURCES = Graph(
    (("one", SOURCE), ("other", SOURCE), ("join", Join(0)), ("sink", SINK)),
    (("one", "join"), ("other", "join"), ("join", "sink")),
)


def of(graph: Graph, length: int, crashes: int, *victims: str) -> Scope:
    """The scope over words of one type; victims: all that may crash, if none is named."""
    scope = over_words(graph, length, "a", crashes=crashes)
    return replace(scope, victims=frozenset(victims) or None)


(_ONE, _TWO), (_OTHER, _) = of(SOURCES, 2, 1).inputs
UNEVEN = replace(
    of(SOURCES, 2, 1, "join"), inputs=((_ONE, _TWO), (_OTHER, _TWO._replace(length=1)))
)
"""Two tuples of one source, and one of the other."""

SCOPES = {
    "one partition": Explored(of(ONE, 2, 1), DETERMINISTIC),
    "one partition, twice": Explored(of(ONE, 2, 2, "only"), DETERMINISTIC),
    "one partition, the coordinator": Explored(of(ONE, 1, 2), DETERMINISTIC),
    "a chain": Explored(of(CHAIN, 1, 1), DETERMINISTIC),
    "a chain, three tuples": Explored(of(CHAIN, 3, 1, "second"), DETERMINISTIC),
    "a chain, the first twice": Explored(of(CHAIN, 1, 2, "first"), DETERMINISTIC),
    "a chain, the second twice": Explored(of(CHAIN, 1, 2, "second"), DETERMINISTIC),
    "a chain, the second twice, two tuples": Explored(
        of(CHAIN, 2, 2, "second"), DETERMINISTIC, quick=False
    ),
    "a chain, both": Explored(of(CHAIN, 2, 1, "first", "second"), DETERMINISTIC, quick=False),
    "a chain, both and one": Explored(
        of(CHAIN, 1, 2, "first", "second"), DETERMINISTIC, quick=False
    ),
    "a chain, and the coordinator": Explored(
        of(CHAIN, 1, 2, "first", "coordinator"), DETERMINISTIC
    ),
    "a chain, all three": Explored(of(CHAIN, 1, 2), DETERMINISTIC, quick=False),
    "two queries": Explored(of(QUERIES, 1, 1, "O1"), DETERMINISTIC),
    "two queries, both sinks": Explored(of(QUERIES, 1, 1, "O2", "O3"), DETERMINISTIC, False),
    "a triangle, the side": Explored(of(TRIANGLE, 1, 1, "left"), ARBITRARY),
    "a triangle, the union": Explored(of(TRIANGLE, 1, 1, "union"), ARBITRARY),
    "a triangle, the side twice": Explored(of(TRIANGLE, 1, 2, "left"), ARBITRARY, quick=False),
    "a triangle, the union twice": Explored(of(TRIANGLE, 1, 2, "union"), ARBITRARY, quick=False),
    "a diamond": Explored(of(DIAMOND, 1, 1, "union"), ARBITRARY),
    "a diamond, both sides": Explored(of(DIAMOND, 1, 1, "left", "right"), ARBITRARY, quick=False),
    "two sources": Explored(of(SOURCES, 1, 1, "join"), REPEATABLE),
    "two sources, three tuples": Explored(UNEVEN, REPEATABLE, quick=False),
    "no crash": Explored(of(CHAIN, 3, 0), DETERMINISTIC),
    "no crash, two queries": Explored(of(QUERIES, 2, 0), DETERMINISTIC),
    "no crash, a diamond": Explored(of(DIAMOND, 2, 0), ARBITRARY),
}
