"""The scopes in which LOG.io is explored, by name.

Rule of this file: no verdict; variants.py and protocol.py have what is expected in each scope.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from model.boxes.aggregate import Aggregate
from model.boxes.box import Box
from model.boxes.stateless import AnyOf, Filter, Relay
from model.boxes.triggered import Functions, Triggered
from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.predicates import Type
from model.cep.windows import CountWindows
from model.core import Guarantee, OperatorClass, Outcome, PinnedScope, Scope
from model.graph import SINK, SOURCE, Graph, chain
from model.parts import over_words
from model.protocols.log_io.evidence import replicas

REPEATABLE = OperatorClass.REPEATABLE
CONVERGENT_CAPABLE = OperatorClass.CONVERGENT_CAPABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC
ARBITRARY = OperatorClass.ARBITRARY

BATCHES, BY_TYPE, IN_TURN = Triggered((2,)), Triggered((2,), group="type"), Triggered((1, 2))
IN_TURN_BY_TYPE = Triggered((2, 1), group="type")
TWO = Functions((Triggered((1,), emits="one"), Triggered((2,), emits="pair")))
TWO_BY_TYPE = Functions((Triggered((1, 2), group="type"), Triggered((2,), emits="all")))
"""Each input is in an Input Set of both functions (Section 3.1)."""
COIN = AnyOf(("heads", "tails"))
"""Its answer depends on an external service, which shows another value at each read."""
READ = AnyOf(("heads", "tails"), 2)
"""A read action of two events."""


class Explored(NamedTuple):
    scope: Scope
    operators: OperatorClass


def one(spec: Box | Operator, length: int, types: str = "a", **more: Any) -> Scope:
    """One operator between the reader of a source and a sink."""
    return over_words(chain(("op", spec)), length, types, **{"crashes": 2, **more})


def line(*specs: Box, length: int, types: str = "a", **more: Any) -> Scope:
    """Operators one after the other."""
    names = ("first", "second", "third")
    return over_words(
        chain(*zip(names, specs, strict=False)), length, types, **{"crashes": 2, **more}
    )


RACE = Graph(
    (("left", SOURCE), ("right", SOURCE), ("op", BATCHES), ("sink", SINK)),
    (("left", "op"), ("right", "op"), ("op", "sink")),
)
FAN = Graph(
    (("source", SOURCE), ("op", BATCHES), ("near", SINK), ("far", SINK)),
    (("source", "op"), ("op", "near"), ("op", "far")),
)
COINS = Graph((FAN.nodes[0], ("op", COIN), *FAN.nodes[2:]), FAN.edges)
DIAMOND = Graph(
    (
        *(("source", SOURCE), ("up", Relay()), ("down", Relay())),
        *(("op", BATCHES), ("sink", SINK)),
    ),
    (("source", "up"), ("source", "down"), ("up", "op"), ("down", "op"), ("op", "sink")),
)
PAIRS = Aggregate("list", 2, 2, of="time", group="type")
MATCHES = Operator(sequence("a", "b"), CountWindows(3, 1))
SCOPES = {
    "a relay": Explored(one(Relay(), 2), REPEATABLE),
    "a filter": Explored(one(Filter(Type("a")), 2, "ab"), REPEATABLE),
    "batches": Explored(one(BATCHES, 3), DETERMINISTIC),
    "batches by type": Explored(one(BY_TYPE, 3, "ab"), DETERMINISTIC),
    "batches in turn": Explored(one(IN_TURN, 3), DETERMINISTIC),
    "batches in turn by type": Explored(one(IN_TURN_BY_TYPE, 3, "ab"), DETERMINISTIC),
    "two functions": Explored(one(TWO, 3), DETERMINISTIC),
    "two functions by type": Explored(one(TWO_BY_TYPE, 2, "ab"), DETERMINISTIC),
    "an aggregate": Explored(one(PAIRS, 3, "ab"), DETERMINISTIC),
    "a CEP operator": Explored(one(MATCHES, 3, "ab"), REPEATABLE),
    "two types": Explored(one(BY_TYPE, 2, "ab"), DETERMINISTIC),
    "three crashes": Explored(one(BATCHES, 2, crashes=3), DETERMINISTIC),
    "crashes of the operator alone": Explored(
        replace(one(BY_TYPE, 4, "ab", crashes=2), victims=frozenset({"op"})), DETERMINISTIC
    ),
    "two relays": Explored(line(Relay(), Relay(), length=2), REPEATABLE),
    "a relay and batches": Explored(line(Relay(), BATCHES, length=3), DETERMINISTIC),
    "three operators": Explored(
        line(Relay(), BATCHES, Relay(), length=3, crashes=2), DETERMINISTIC
    ),
    "two ports that race": Explored(over_words(RACE, 2, "a", crashes=2), ARBITRARY),
    "two ways to one operator": Explored(over_words(DIAMOND, 1, "a", crashes=2), ARBITRARY),
    "two sinks": Explored(over_words(FAN, 2, "a", crashes=3), DETERMINISTIC),
    "a side effect read": Explored(one(COIN, 2, crashes=3), ARBITRARY),
    "a side effect read and two sinks": Explored(over_words(COINS, 1, "a", crashes=3), ARBITRARY),
    "a read": Explored(line(READ, Relay(), length=2, crashes=2), ARBITRARY),
    "a read and three crashes": Explored(line(READ, Relay(), length=1, crashes=3), ARBITRARY),
    "a read and batches": Explored(line(READ, BATCHES, length=2, crashes=2), ARBITRARY),
    "no crash": Explored(one(BY_TYPE, 4, "ab", crashes=0), DETERMINISTIC),
    **{
        name: Explored(scope, operators)
        for operators, named in replicas.SCOPES.items()
        for name, scope in named.items()
    },
}


def hold(**states: int) -> tuple[PinnedScope, ...]:
    """Scopes in which nothing goes wrong, each with its number of worlds; "_" stands for " "."""
    return tuple(_pin(name, Outcome.HOLDS, worlds) for name, worlds in states.items())


def hold_in_full(**states: int) -> tuple[PinnedScope, ...]:
    """As `hold`, in the full profile only."""
    return tuple(replace(pinned, quick=False) for pinned in hold(**states))


def fail(**found: tuple[int, int, Guarantee]) -> tuple[PinnedScope, ...]:
    """Refuted scopes: worlds, steps of a shortest counterexample, the guarantee that is left."""
    return tuple(_pin(name, Outcome.REFUTED, *values) for name, values in found.items())


def _pin(
    name: str,
    expect: Outcome,
    states: int,
    steps: int | None = None,
    guarantee: Guarantee = Guarantee.PRECISE,
) -> PinnedScope:
    name = name.replace("_", " ")
    scope, operators = SCOPES[name]
    return PinnedScope(name, scope, operators, expect, states, steps, guarantee)
