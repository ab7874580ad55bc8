"""The scopes in which uncoordinated checkpoints are explored, by name.

Rule of this file: no verdict; variants.py and protocol.py have what is expected in each scope.
"""

from __future__ import annotations

from dataclasses import replace

from model.boxes.aggregate import Aggregate
from model.boxes.box import Box
from model.boxes.stateless import AnyOf, Map, Relay, Union
from model.core import Arrival, Inputs, OperatorClass, Scope
from model.evidence import Case
from model.graph import SINK, SOURCE, Graph, chain
from model.parts import over_words

REPEATABLE = OperatorClass.REPEATABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC
ARBITRARY = OperatorClass.ARBITRARY
PAIRED = Aggregate("list", 2, 2, of="time")
COIN = AnyOf(("heads", "tails"))


def one(box: Box, length: int, crashes: int = 1) -> Scope:
    """An operator behind a source."""
    return over_words(chain(("first", box)), length, "a", crashes=crashes)


def two(first: Box, second: Box, length: int, crashes: int = 1) -> Scope:
    """An operator that sends to another one."""
    return over_words(chain(("first", first), ("second", second)), length, "a", crashes=crashes)


def merged(length: int, crashes: int = 1) -> Scope:
    """A union of two sources, and an operator behind it."""
    nodes = (
        *(("left", SOURCE), ("right", SOURCE), ("union", Union()), ("second", Relay())),
        ("sink", SINK),
    )
    edges = (("left", "union"), ("right", "union"), ("union", "second"), ("second", "sink"))
    left, right = (Inputs((Arrival(1, type_),), length) for type_ in "ab")
    return Scope(Graph(nodes, edges), (("left", left), ("right", right)), crashes)


def diamond(length: int, crashes: int = 1) -> Scope:
    """A source, two operators side by side, and a union of both."""
    nodes = (
        *(("source", SOURCE), ("left", Map("left")), ("right", Map("right"))),
        *(("union", Union()), ("sink", SINK)),
    )
    edges = (
        *(("source", "left"), ("source", "right"), ("left", "union"), ("right", "union")),
        ("union", "sink"),
    )
    return over_words(Graph(nodes, edges), length, "a", crashes=crashes)


def only(scope: Scope, *victims: str) -> Scope:
    return replace(scope, victims=frozenset(victims))


A_RELAY = Case("a relay", one(Relay(), 2), REPEATABLE)
A_RELAY_AND_TWO_CRASHES = Case("a relay and two crashes", one(Relay(), 2, 2), REPEATABLE)
PAIRS = Case("pairs", one(PAIRED, 3), DETERMINISTIC)
TWO_RELAYS = Case("two relays", two(Relay(), Relay(), 1), REPEATABLE)
TWO_RELAYS_AND_TWO_CRASHES = Case(
    "two relays and two crashes", two(Relay(), Relay(), 1, 2), REPEATABLE
)
TWO_RELAYS_AND_TWO_EVENTS = Case("two relays and two events", two(Relay(), Relay(), 2), REPEATABLE)
TWO_EVENTS_AND_A_CRASH_OF_THE_FIRST = Case(
    "two events and a crash of the first",
    only(two(Relay(), Relay(), 2), "first"),
    REPEATABLE,
    quick=False,
)
A_DOMINO = Case("a domino", only(two(Relay(), Relay(), 2), "first"), REPEATABLE)
PAIRS_BEHIND_A_RELAY = Case("pairs behind a relay", two(Relay(), PAIRED, 2), DETERMINISTIC)
A_RELAY_BEHIND_PAIRS = Case("a relay behind pairs", two(PAIRED, Relay(), 2), DETERMINISTIC)
A_COIN = Case("a coin", one(COIN, 2), ARBITRARY)
A_RELAY_BEHIND_A_COIN = Case("a relay behind a coin", two(COIN, Relay(), 1), ARBITRARY)
A_UNION = Case("a union", merged(1), ARBITRARY)
A_DIAMOND = Case("a diamond", only(diamond(1), "left"), ARBITRARY)
A_DIAMOND_THE_OTHER_SIDE = Case("a diamond, the other side", only(diamond(1), "right"), ARBITRARY)
A_UNION_AND_TWO_CRASHES = Case("a union and two crashes", merged(1, 2), ARBITRARY, quick=False)
NO_CRASH = Case("no crash", two(Relay(), Relay(), 2, 0), REPEATABLE)
