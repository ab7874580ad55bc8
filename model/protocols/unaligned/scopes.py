"""The scopes in which unaligned checkpoints are explored, by name.

Rule of this file: no verdict; variants.py and protocol.py have what is expected in each scope.

A result names its records by their times, so a record that is lost, taken twice or taken at another
instance is seen.  With several instances the sink is a bag: no order holds between keys.
"""

from __future__ import annotations

from dataclasses import replace

from model.boxes.aggregate import Aggregate
from model.boxes.box import Box
from model.boxes.stateless import Relay, Union
from model.comparison import BAG
from model.core import Arrival, Inputs, OperatorClass, Scope
from model.evidence import Case
from model.graph import SINK, SOURCE, Graph, chain
from model.parts import over_words

REPEATABLE = OperatorClass.REPEATABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC
ARBITRARY = OperatorClass.ARBITRARY
PAIRED = Aggregate("list", 2, 2, of="time")
BY_KEY = Aggregate("list", 2, 1, of="time", group="key")
EACH_BY_KEY = Aggregate("list", 1, 1, of="time", group="key")


def one(box: Box, length: int, crashes: int = 1) -> Scope:
    """A writer behind a source."""
    return over_words(chain(("writer", box)), length, "a", crashes=crashes)


def two(first: Box, writer: Box, length: int, crashes: int = 1) -> Scope:
    """An operator, then a writer."""
    return over_words(chain(("first", first), ("writer", writer)), length, "a", crashes=crashes)


def merged(length: int, crashes: int = 1) -> Scope:
    """A writer behind two sources."""
    nodes = (("left", SOURCE), ("right", SOURCE), ("writer", Union()), ("sink", SINK))
    edges = (("left", "writer"), ("right", "writer"), ("writer", "sink"))
    left, right = (Inputs((Arrival(1, type_),), length) for type_ in "ab")
    return Scope(Graph(nodes, edges), (("left", left), ("right", right)), crashes)


def keyed(graph: Graph, keys: tuple[int, ...], length: int, crashes: int = 1) -> Scope:
    """Records of these keys; key 2 moves to the second instance if there are two, key 1 stays."""
    alphabet = tuple(Arrival(1, "a", (("key", key),)) for key in keys)
    sinks = (("sink", BAG),)
    return Scope(graph, (("source", Inputs(alphabet, length)),), crashes, sinks=sinks)


def falls(scope: Scope, *victims: str) -> Scope:
    """The scope in which these nodes alone may crash."""
    return replace(scope, victims=frozenset(victims))


KEYED = chain(("writer", BY_KEY))
KEYED_TWICE = chain(("first", EACH_BY_KEY), ("writer", BY_KEY))
BEHIND_A_RELAY = chain(("first", Relay()), ("writer", BY_KEY))
