"""The scopes in which asynchronous barrier snapshotting is explored, by name.

Rule of this file: no verdict; variants.py and protocol.py have what is expected in each scope.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from model.boxes.aggregate import Aggregate
from model.boxes.box import Box
from model.boxes.running import Running
from model.boxes.stateless import AnyOf, Map, Relay, Union
from model.comparison import table
from model.core import Arrival, Inputs, OperatorClass, Scope
from model.events import Body
from model.evidence import Case
from model.graph import SINK, SOURCE, Graph, chain
from model.parts import over_words

REPEATABLE = OperatorClass.REPEATABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC
ARBITRARY = OperatorClass.ARBITRARY
PAIRED = Aggregate("list", 2, 2, of="time")
COIN = AnyOf(("heads", "tails"))


def one(box: Box, length: int, crashes: int = 1) -> Scope:
    """A writer behind a source."""
    return over_words(chain(("writer", box)), length, "a", crashes=crashes)


def two(first: Box, writer: Box, length: int, crashes: int = 1) -> Scope:
    """An operator, then a writer."""
    return over_words(chain(("first", first), ("writer", writer)), length, "a", crashes=crashes)


def relays(count: int, crashes: int = 1) -> Scope:
    """A chain of so many operators; the last one is the writer."""
    names = (*(f"relay{number}" for number in range(1, count)), "writer")
    return over_words(chain(*((name, Relay()) for name in names)), 1, "a", crashes=crashes)


def two_writers(first: Box | None = None, crashes: int = 1) -> Scope:
    """Two writers behind a source or behind an operator, each with its external system."""
    before = () if first is None else (("first", first),)
    names = ("source", *(name for name, _ in before))
    writers = (("one", Relay()), ("two", Relay()), ("left", SINK), ("right", SINK))
    nodes = (("source", SOURCE), *before, *writers)
    ends = ((names[-1], "one"), (names[-1], "two"), ("one", "left"), ("two", "right"))
    edges = (*pairwise(names), *ends)
    return over_words(Graph(nodes, edges), 1, "a", crashes=crashes)


def merged(box: Box, length: int, crashes: int = 1) -> Scope:
    """A writer behind two sources."""
    nodes = (("left", SOURCE), ("right", SOURCE), ("writer", box), ("sink", SINK))
    edges = (("left", "writer"), ("right", "writer"), ("writer", "sink"))
    left, right = (Inputs((Arrival(1, type_),), length) for type_ in "ab")
    return Scope(Graph(nodes, edges), (("left", left), ("right", right)), crashes)


def diamond(length: int, crashes: int = 1) -> Scope:
    """A source, two operators side by side, and a writer that takes from both."""
    nodes = (
        ("source", SOURCE),
        ("left", Map("left")),
        ("right", Map("right")),
        ("writer", Union()),
        ("sink", SINK),
    )
    edges = (
        ("source", "left"),
        ("source", "right"),
        ("left", "writer"),
        ("right", "writer"),
        ("writer", "sink"),
    )
    return over_words(Graph(nodes, edges), length, "a", crashes=crashes)


def into_a_table(length: int, crashes: int = 1) -> Scope:
    """A writer behind a source, which writes how many events of each type there were so far: rows
    of a table by type, of which the last one counts."""
    scope = one(Running(group="type"), length, crashes)
    return replace(scope, sinks=(("sink", table(type_of)),))


def type_of(body: Body) -> str:
    return body.type


def alone(scope: Scope) -> Scope:
    """The scope in which the coordinator alone may crash, of designs that let it."""
    return replace(scope, victims=frozenset({"coordinator"}))


A_RELAY = Case("a relay", one(Relay(), 2), REPEATABLE)
A_RELAY_AND_TWO_CRASHES = Case("a relay and two crashes", one(Relay(), 2, crashes=2), REPEATABLE)
PAIRS = Case("pairs", one(PAIRED, 3), DETERMINISTIC)
PAIRS_AND_TWO_CRASHES = Case("pairs and two crashes", one(PAIRED, 2, crashes=2), DETERMINISTIC)
TWO_RELAYS = Case("two relays", two(Relay(), Relay(), 1), REPEATABLE)
PAIRS_BEHIND_A_RELAY = Case("pairs behind a relay", two(Relay(), PAIRED, 2), DETERMINISTIC)
A_RELAY_BEHIND_PAIRS = Case("a relay behind pairs", two(PAIRED, Relay(), 2), DETERMINISTIC)
TWO_RELAYS_AND_TWO_CRASHES = Case(
    "two relays and two crashes", two(Relay(), Relay(), 1, crashes=2), REPEATABLE
)
A_COIN = Case("a coin", one(COIN, 2), ARBITRARY)
A_UNION = Case("a union", merged(Union(), 1), ARBITRARY)
A_COUNT_OF_A_UNION = Case("a running count of a union", merged(Running(), 1), ARBITRARY)
A_DIAMOND = Case("a diamond", diamond(1), ARBITRARY)
PAIRS_BEHIND_A_RELAY_AND_TWO_CRASHES = Case(
    "pairs behind a relay and two crashes", two(Relay(), PAIRED, 2, crashes=2), DETERMINISTIC
)
A_RELAY_BEHIND_PAIRS_AND_TWO_CRASHES = Case(
    "a relay behind pairs and two crashes", two(PAIRED, Relay(), 2, crashes=2), DETERMINISTIC
)
A_DIAMOND_AND_TWO_CRASHES_OF_A_SIDE = Case(
    "a diamond and two crashes of a side",
    replace(diamond(1, crashes=2), victims=frozenset({"left"})),
    ARBITRARY,
    quick=False,
)
A_DIAMOND_AND_TWO_CRASHES_OF_THE_OTHER_SIDE = Case(
    "a diamond and two crashes of the other side",
    replace(diamond(1, crashes=2), victims=frozenset({"right"})),
    ARBITRARY,
    quick=False,
)
THREE_RELAYS = Case("three relays", relays(3), REPEATABLE)
FOUR_RELAYS = Case("four relays", relays(4), REPEATABLE)
THREE_RELAYS_AND_TWO_CRASHES = Case(
    "three relays and two crashes", relays(3, crashes=2), REPEATABLE, quick=False
)
TWO_TYPES_AND_TWO_CRASHES = Case(
    "two types and two crashes",
    over_words(chain(("writer", PAIRED)), 2, "ab", crashes=2),
    DETERMINISTIC,
)
A_UNION_AND_TWO_CRASHES = Case(
    "a union and two crashes", merged(Union(), 1, crashes=2), ARBITRARY, quick=False
)
TWO_WRITERS = Case("two writers", two_writers(), REPEATABLE)
TWO_WRITERS_AND_TWO_CRASHES = Case(
    "two writers and two crashes", two_writers(crashes=2), REPEATABLE
)
A_COIN_BEFORE_TWO_WRITERS = Case("a coin before two writers", two_writers(COIN), ARBITRARY)
NO_CRASH = Case("no crash", one(PAIRED, 3, crashes=0), DETERMINISTIC)
NO_CRASH_AND_TWO_INPUTS = Case("no crash and two inputs", merged(Union(), 2, crashes=0), ARBITRARY)
COORDINATOR_OF_A_RELAY = Case("coordinator of a relay", alone(one(Relay(), 2)), REPEATABLE)
COORDINATOR_OF_A_RELAY_TWICE = Case(
    "coordinator of a relay twice", alone(one(Relay(), 1, crashes=2)), REPEATABLE
)
COORDINATOR_OF_A_RELAY_THRICE = Case(
    "coordinator of a relay thrice", alone(one(Relay(), 1, crashes=3)), REPEATABLE
)
COORDINATOR_OF_PAIRS = Case("coordinator of pairs", alone(one(PAIRED, 3)), DETERMINISTIC)
COORDINATOR_OF_PAIRS_TWICE = Case(
    "coordinator of pairs twice", alone(one(PAIRED, 2, crashes=2)), DETERMINISTIC
)
COORDINATOR_OF_TWO_RELAYS_TWICE = Case(
    "coordinator of two relays twice", alone(two(Relay(), Relay(), 1, crashes=2)), REPEATABLE
)
COORDINATOR_OF_TWO_WRITERS_TWICE = Case(
    "coordinator of two writers twice", alone(two_writers(crashes=2)), REPEATABLE
)
COORDINATOR_OF_A_COIN = Case("coordinator of a coin", alone(one(COIN, 2)), ARBITRARY)
COORDINATOR_OF_A_UNION = Case(
    "coordinator of a union", alone(merged(Union(), 1)), ARBITRARY, quick=False
)
A_TABLE = Case("a table of running counts", into_a_table(2), DETERMINISTIC)
COORDINATOR_OF_A_TABLE = Case(
    "coordinator of a table of running counts", alone(into_a_table(2)), DETERMINISTIC
)
COORDINATOR_AND_A_RELAY = Case("coordinator and a relay", one(Relay(), 1, crashes=2), REPEATABLE)
COORDINATOR_AND_A_RELAY_THRICE = Case(
    "coordinator and a relay thrice", one(Relay(), 1, crashes=3), REPEATABLE
)
COORDINATOR_AND_PAIRS = Case(
    "coordinator and pairs", one(PAIRED, 2, crashes=2), DETERMINISTIC, quick=False
)
COORDINATOR_AND_TWO_RELAYS = Case(
    "coordinator and two relays", two(Relay(), Relay(), 1, crashes=2), REPEATABLE, quick=False
)
