"""The scopes in which asynchronous barrier snapshotting is explored, by name.

Rule of this file: no verdict; variants.py and protocol.py have what is expected in each scope.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from model.boxes.aggregate import Aggregate
from model.boxes.box import Box
from model.boxes.stateless import AnyOf, Map, Relay, Union
from model.core import (
    Arrival,
    Guarantee,
    Inputs,
    OperatorClass,
    Outcome,
    PinnedScope,
    Scope,
)
from model.graph import SINK, SOURCE, Graph, chain
from model.parts import over_words

REPEATABLE = OperatorClass.REPEATABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC
ARBITRARY = OperatorClass.ARBITRARY
PAIRS = Aggregate("list", 2, 2, of="time")
COIN = AnyOf(("heads", "tails"))


class Explored(NamedTuple):
    scope: Scope
    operators: OperatorClass
    quick: bool = True


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


def alone(scope: Scope) -> Scope:
    """The scope in which the coordinator alone may crash, of designs that let it."""
    return replace(scope, victims=frozenset({"coordinator"}))


SCOPES = {
    "a relay": Explored(one(Relay(), 2), REPEATABLE),
    "a relay and two crashes": Explored(one(Relay(), 2, crashes=2), REPEATABLE),
    "pairs": Explored(one(PAIRS, 3), DETERMINISTIC),
    "pairs and two crashes": Explored(one(PAIRS, 2, crashes=2), DETERMINISTIC),
    "two relays": Explored(two(Relay(), Relay(), 1), REPEATABLE),
    "pairs behind a relay": Explored(two(Relay(), PAIRS, 2), DETERMINISTIC),
    "a relay behind pairs": Explored(two(PAIRS, Relay(), 2), DETERMINISTIC),
    "two relays and two crashes": Explored(two(Relay(), Relay(), 1, crashes=2), REPEATABLE),
    "a coin": Explored(one(COIN, 2), ARBITRARY),
    "a union": Explored(merged(Union(), 1), ARBITRARY),
    "a diamond": Explored(diamond(1), ARBITRARY),
    "pairs behind a relay and two crashes": Explored(
        two(Relay(), PAIRS, 2, crashes=2), DETERMINISTIC
    ),
    "a relay behind pairs and two crashes": Explored(
        two(PAIRS, Relay(), 2, crashes=2), DETERMINISTIC
    ),
    "a diamond and two crashes of a side": Explored(
        replace(diamond(1, crashes=2), victims=frozenset({"left"})), ARBITRARY, quick=False
    ),
    "a diamond and two crashes of the other side": Explored(
        replace(diamond(1, crashes=2), victims=frozenset({"right"})), ARBITRARY, quick=False
    ),
    "three relays": Explored(relays(3), REPEATABLE),
    "four relays": Explored(relays(4), REPEATABLE),
    "three relays and two crashes": Explored(relays(3, crashes=2), REPEATABLE, quick=False),
    "two types and two crashes": Explored(
        over_words(chain(("writer", PAIRS)), 2, "ab", crashes=2), DETERMINISTIC
    ),
    "a union and two crashes": Explored(merged(Union(), 1, crashes=2), ARBITRARY, quick=False),
    "two writers": Explored(two_writers(), REPEATABLE),
    "two writers and two crashes": Explored(two_writers(crashes=2), REPEATABLE),
    "a coin before two writers": Explored(two_writers(COIN), ARBITRARY),
    "no crash": Explored(one(PAIRS, 3, crashes=0), DETERMINISTIC),
    "no crash and two inputs": Explored(merged(Union(), 2, crashes=0), ARBITRARY),
    "coordinator of a relay": Explored(alone(one(Relay(), 2)), REPEATABLE),
    "coordinator of a relay twice": Explored(alone(one(Relay(), 1, crashes=2)), REPEATABLE),
    "coordinator of a relay thrice": Explored(alone(one(Relay(), 1, crashes=3)), REPEATABLE),
    "coordinator of pairs": Explored(alone(one(PAIRS, 3)), DETERMINISTIC),
    "coordinator of pairs twice": Explored(alone(one(PAIRS, 2, crashes=2)), DETERMINISTIC),
    "coordinator of two relays twice": Explored(
        alone(two(Relay(), Relay(), 1, crashes=2)), REPEATABLE
    ),
    "coordinator of two writers twice": Explored(alone(two_writers(crashes=2)), REPEATABLE),
    "coordinator of a coin": Explored(alone(one(COIN, 2)), ARBITRARY),
    "coordinator of a union": Explored(alone(merged(Union(), 1)), ARBITRARY, quick=False),
    "coordinator and a relay": Explored(one(Relay(), 1, crashes=2), REPEATABLE),
    "coordinator and a relay thrice": Explored(one(Relay(), 1, crashes=3), REPEATABLE),
    "coordinator and pairs": Explored(one(PAIRS, 2, crashes=2), DETERMINISTIC, quick=False),
    "coordinator and two relays": Explored(
        two(Relay(), Relay(), 1, crashes=2), REPEATABLE, quick=False
    ),
}


def hold(**states: int | None) -> tuple[PinnedScope, ...]:
    """Scopes in which nothing goes wrong, each with its number of worlds; "_" stands for " "."""
    return tuple(_pin(name, Outcome.HOLDS, worlds) for name, worlds in states.items())


def weak(guarantee: Guarantee, **states: int | None) -> tuple[PinnedScope, ...]:
    """Scopes that hold with a weaker guarantee."""
    found = states.items()
    return tuple(_pin(name, Outcome.HOLDS, worlds, None, guarantee) for name, worlds in found)


def fail(**found: tuple[int | None, int | None, Guarantee]) -> tuple[PinnedScope, ...]:
    """Refuted scopes: worlds, steps of a shortest counterexample, the guarantee that is left."""
    return tuple(_pin(name, Outcome.REFUTED, *values) for name, values in found.items())


def _pin(
    name: str,
    expect: Outcome,
    states: int | None,
    steps: int | None = None,
    guarantee: Guarantee = Guarantee.PRECISE,
) -> PinnedScope:
    name = name.replace("_", " ")
    scope, operators, quick = SCOPES[name]
    return PinnedScope(name, scope, operators, expect, states, steps, guarantee, quick)
