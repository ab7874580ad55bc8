"""The scopes in which progressive recovery is explored, by name.

Rule of this file: no verdict; variants.py and protocol.py have what is expected in each scope.

A result names its tuples by their times, so a tuple that is lost or counted twice is seen.
"""

from __future__ import annotations

from dataclasses import replace

from model.boxes.aggregate import Aggregate
from model.boxes.join import Join
from model.boxes.share import KeyShare
from model.boxes.stateless import Map, Relay, Union
from model.core import OperatorClass, Scope
from model.evidence import Case
from model.graph import SINK, SOURCE, Graph, chain
from model.parts import over_words

REPEATABLE = OperatorClass.REPEATABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC
ARBITRARY = OperatorClass.ARBITRARY


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
SHARES = Graph(
    (
        ("source", SOURCE),
        ("first", Relay()),
        ("left", KeyShare(Relay(), ("a",))),
        ("right", KeyShare(Map("m"), ("b",))),
        ("Q1", SINK),
        ("Q2", SINK),
    ),
    (("source", "first"), ("first", "left"), ("first", "right"), ("left", "Q1"), ("right", "Q2")),
)
"""Two partitions of an operator: each gets the tuples of its key."""

UNION_AND_QUERY = Graph(
    (
        ("source", SOURCE),
        ("left", Map("l")),
        ("union", Union()),
        ("other", Relay()),
        ("Q1", SINK),
        ("Q2", SINK),
    ),
    (*TRIANGLE.edges[:3], ("source", "other"), ("union", "Q1"), ("other", "Q2")),
)
"""Two queries that share the source; one of them has a partition with two inputs."""


def of(graph: Graph, length: int, crashes: int, *victims: str, types: str = "a") -> Scope:
    """The scope over words of these types; victims: all that may crash, if none is named."""
    scope = over_words(graph, length, types, crashes=crashes)
    return replace(scope, victims=frozenset(victims) or None)


(_ONE, _TWO), (_OTHER, _) = of(SOURCES, 2, 1).inputs
UNEVEN = replace(
    of(SOURCES, 2, 1, "join"), inputs=((_ONE, _TWO), (_OTHER, _TWO._replace(length=1)))
)
"""Two tuples of one source, and one of the other."""

ONE_PARTITION = Case("one partition", of(ONE, 2, 1), DETERMINISTIC)
ONE_PARTITION_TWICE = Case("one partition, twice", of(ONE, 2, 2, "only"), DETERMINISTIC)
ONE_PARTITION_THREE_TIMES = Case("one partition, three times", of(ONE, 1, 3, "only"), DETERMINISTIC)
ONE_PARTITION_TWICE_THREE_TUPLES = Case(
    "one partition, twice, three tuples", of(ONE, 3, 2, "only"), DETERMINISTIC, quick=False
)
ONE_PARTITION_THE_COORDINATOR = Case("one partition, the coordinator", of(ONE, 1, 2), DETERMINISTIC)
A_CHAIN = Case("a chain", of(CHAIN, 1, 1), DETERMINISTIC)
A_CHAIN_THREE_TUPLES = Case("a chain, three tuples", of(CHAIN, 3, 1, "second"), DETERMINISTIC)
A_CHAIN_THE_FIRST_TWICE = Case("a chain, the first twice", of(CHAIN, 1, 2, "first"), DETERMINISTIC)
A_CHAIN_THE_SECOND_TWICE = Case(
    "a chain, the second twice", of(CHAIN, 1, 2, "second"), DETERMINISTIC
)
A_CHAIN_THE_SECOND_TWICE_TWO_TUPLES = Case(
    "a chain, the second twice, two tuples", of(CHAIN, 2, 2, "second"), DETERMINISTIC, quick=False
)
A_CHAIN_THE_SECOND_TWICE_THREE_TUPLES = Case(
    "a chain, the second twice, three tuples", of(CHAIN, 3, 2, "second"), DETERMINISTIC, quick=False
)
A_CHAIN_BOTH = Case("a chain, both", of(CHAIN, 2, 1, "first", "second"), DETERMINISTIC, quick=False)
A_CHAIN_BOTH_AND_ONE = Case(
    "a chain, both and one", of(CHAIN, 1, 2, "first", "second"), DETERMINISTIC, quick=False
)
A_CHAIN_BOTH_AND_ONE_TWO_TUPLES = Case(
    "a chain, both and one, two tuples",
    of(CHAIN, 2, 2, "first", "second"),
    DETERMINISTIC,
    quick=False,
)
A_CHAIN_AND_THE_COORDINATOR = Case(
    "a chain, and the coordinator", of(CHAIN, 1, 2, "first", "coordinator"), DETERMINISTIC
)
A_CHAIN_ALL_THREE = Case("a chain, all three", of(CHAIN, 1, 2), DETERMINISTIC, quick=False)
TWO_QUERIES = Case("two queries", of(QUERIES, 1, 1, "O1"), DETERMINISTIC)
TWO_QUERIES_BOTH_SINKS = Case(
    "two queries, both sinks", of(QUERIES, 1, 1, "O2", "O3"), DETERMINISTIC, False
)
TWO_QUERIES_O1_AND_O2 = Case(
    "two queries, O1 and O2", of(QUERIES, 1, 1, "O1", "O2"), DETERMINISTIC, quick=False
)
TWO_QUERIES_O1_AND_O3 = Case(
    "two queries, O1 and O3", of(QUERIES, 1, 1, "O1", "O3"), DETERMINISTIC, quick=False
)
TWO_QUERIES_ALL_THREE_NO_TUPLE = Case(
    "two queries, all three, no tuple",
    of(QUERIES, 0, 1, "O1", "O2", "O3"),
    DETERMINISTIC,
    quick=False,
)
TWO_QUERIES_SINKS_TWICE_NO_TUPLE = Case(
    "two queries, both sinks twice, no tuple",
    of(QUERIES, 0, 2, "O2", "O3"),
    DETERMINISTIC,
    quick=False,
)
TWO_SHARES_ONE = Case("two shares, one", of(SHARES, 1, 1, "left", types="ab"), REPEATABLE)
TWO_SHARES_ONE_TWO_TUPLES = Case(
    "two shares, one, two tuples", of(SHARES, 2, 1, "left", types="ab"), REPEATABLE, quick=False
)
TWO_SHARES_ONE_TWICE = Case(
    "two shares, one twice", of(SHARES, 1, 2, "left", types="ab"), REPEATABLE, quick=False
)
TWO_SHARES_BOTH = Case(
    "two shares, both", of(SHARES, 1, 1, "left", "right", types="ab"), REPEATABLE, quick=False
)
A_TRIANGLE_THE_SIDE = Case("a triangle, the side", of(TRIANGLE, 1, 1, "left"), ARBITRARY)
A_TRIANGLE_THE_UNION = Case("a triangle, the union", of(TRIANGLE, 1, 1, "union"), ARBITRARY)
A_TRIANGLE_THE_SIDE_TWICE = Case(
    "a triangle, the side twice", of(TRIANGLE, 1, 2, "left"), ARBITRARY, quick=False
)
A_TRIANGLE_THE_UNION_TWICE = Case(
    "a triangle, the union twice", of(TRIANGLE, 1, 2, "union"), ARBITRARY, quick=False
)
A_TRIANGLE_THE_UNION_AND_THE_COORDINATOR = Case(
    "a triangle, the union and the coordinator",
    of(TRIANGLE, 1, 2, "union", "coordinator"),
    ARBITRARY,
)
A_TRIANGLE_THE_UNION_TWO_TUPLES = Case(
    "a triangle, the union, two tuples", of(TRIANGLE, 2, 1, "union"), ARBITRARY
)
A_TRIANGLE_BOTH = Case(
    "a triangle, both", of(TRIANGLE, 1, 1, "left", "union"), ARBITRARY, quick=False
)
A_TRIANGLE_BOTH_THREE_TIMES_NO_TUPLE = Case(
    "a triangle, both three times, no tuple",
    of(TRIANGLE, 0, 3, "left", "union"),
    ARBITRARY,
    quick=False,
)
A_DIAMOND_TWO_TUPLES = Case("a diamond, two tuples", of(DIAMOND, 2, 1, "union"), ARBITRARY)
A_DIAMOND_A_SIDE_AND_THE_UNION = Case(
    "a diamond, a side and the union", of(DIAMOND, 1, 1, "left", "union"), ARBITRARY, quick=False
)
A_DIAMOND_SIDES_TWICE_NO_TUPLE = Case(
    "a diamond, both sides twice, no tuple",
    of(DIAMOND, 0, 2, "left", "right"),
    ARBITRARY,
    quick=False,
)
A_DIAMOND = Case("a diamond", of(DIAMOND, 1, 1, "union"), ARBITRARY)
A_DIAMOND_BOTH_SIDES = Case(
    "a diamond, both sides", of(DIAMOND, 1, 1, "left", "right"), ARBITRARY, quick=False
)
ONE_QUERY_DOWN = Case("one query down", of(QUERIES, 2, 1, "O2"), DETERMINISTIC)
THE_OTHER_QUERY_DOWN = Case("the other query down", of(QUERIES, 2, 1, "O3"), DETERMINISTIC)
ONE_QUERY_AND_THE_COORDINATOR_DOWN = Case(
    "one query and the coordinator down", of(QUERIES, 1, 2, "O2", "coordinator"), DETERMINISTIC
)
ONE_SHARE_DOWN = Case("one share down", of(SHARES, 1, 1, "left", types="ab"), REPEATABLE)
A_QUERY_BESIDE_A_UNION_DOWN = Case(
    "a query beside a union down", of(UNION_AND_QUERY, 1, 1, "other"), ARBITRARY
)
TWO_SOURCES = Case("two sources", of(SOURCES, 1, 1, "join"), REPEATABLE)
TWO_SOURCES_THREE_TUPLES = Case("two sources, three tuples", UNEVEN, REPEATABLE, quick=False)
NO_CRASH = Case("no crash", of(CHAIN, 3, 0), DETERMINISTIC)
NO_CRASH_TWO_QUERIES = Case("no crash, two queries", of(QUERIES, 2, 0), DETERMINISTIC)
NO_CRASH_A_DIAMOND = Case("no crash, a diamond", of(DIAMOND, 2, 0), ARBITRARY)
NO_CRASH_TWO_SHARES = Case("no crash, two shares", of(SHARES, 2, 0, types="ab"), REPEATABLE)
