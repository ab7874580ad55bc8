"""The scopes in which LOG.io is explored, by name.

Rule of this file: no verdict; the other files and protocol.py have what is expected in each scope.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from model.boxes.aggregate import Aggregate
from model.boxes.box import Box
from model.boxes.counted import Counted
from model.boxes.reorder import Ordered
from model.boxes.stateless import AnyOf, Filter, Relay, Union
from model.boxes.triggered import Functions, Triggered
from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.windows import CountWindows
from model.core import Arrival, Guarantee, Inputs, OperatorClass, Scope
from model.evidence import Outcome, PinnedScope
from model.graph import SINK, SOURCE, Graph, chain
from model.parts import over_words
from model.predicates import Type
from model.protocols.log_io.evidence import replicas
from model.protocols.log_io.writing.lookup import Lookup

REPEATABLE = OperatorClass.REPEATABLE
CONVERGENT_CAPABLE = OperatorClass.CONVERGENT_CAPABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC
ARBITRARY = OperatorClass.ARBITRARY

BATCHES, BY_TYPE, IN_TURN = Triggered((2,)), Triggered((2,), group="type"), Triggered((1, 2))
IN_TURN_BY_TYPE = Triggered((2, 1), group="type")
APART = Triggered((2,), apart=True)
TWO = Functions((Triggered((1,), emits="one"), Triggered((2,), emits="pair")))
TWO_BY_TYPE = Functions((Triggered((1, 2), group="type"), Triggered((2,), emits="all")))
"""Each input is in an Input Set of both functions (Section 3.1)."""
COUNTED = Counted((2, 3), group="type")
COUNTED_TOO = Functions((Counted((2, 3), group="type", emits="one"), Triggered((2,), emits="pair")))
TWICE = AnyOf(("write",), 2)
"""Two writes for each input."""
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
LOOKUP = Graph(
    (
        *(("source", SOURCE), ("op", Relay()), ("reader", Lookup("store"))),
        *(("store", SINK), ("sink", SINK)),
    ),
    (("source", "op"), ("op", "store"), ("op", "reader"), ("reader", "sink")),
)
"""The reader reads what op writes."""
PATHS = Graph(
    (
        *(("other", SOURCE), ("one", SOURCE)),
        *(("two", BATCHES), ("three", Union()), ("sink", SINK)),
    ),
    (("other", "two"), ("one", "two"), ("one", "three"), ("two", "three"), ("three", "sink")),
)
"""The operators of Figure 2, as Example 5 describes it: "one" is OP1, and so on."""
SPLIT = Graph(
    (
        *(("source", SOURCE), ("first", Relay()), ("second", Relay()), ("third", Relay())),
        *(("near", SINK), ("far", SINK)),
    ),
    (
        *(("source", "first"), ("first", "second"), ("first", "third")),
        *(("second", "near"), ("third", "far")),
    ),
)
RACE_AND_SPLIT = Graph(
    (("left", SOURCE), ("right", SOURCE), ("first", BATCHES), *SPLIT.nodes[2:]),
    (("left", "first"), ("right", "first"), *SPLIT.edges[1:]),
)
WRITES = Graph(
    (SPLIT.nodes[0], ("first", Relay()), ("second", Relay()), *SPLIT.nodes[4:]),
    (("source", "first"), ("first", "near"), ("first", "second"), ("second", "far")),
)
MEET = Graph(
    (
        *(("source", SOURCE), ("first", Relay()), ("second", Relay())),
        *(("op", BATCHES), ("sink", SINK)),
    ),
    (("source", "first"), ("source", "second"), ("first", "op"), ("second", "op"), ("op", "sink")),
)


def ports(box: Box, left: tuple[str, int], right: tuple[str, int], crashes: int) -> Explored:
    """An operator with two ports, (types, events) of each; it alone crashes."""
    graph = Graph((*RACE.nodes[:2], ("op", box), RACE.nodes[3]), RACE.edges)
    inputs = tuple(
        (name, Inputs(tuple(Arrival(1, type_) for type_ in types), events))
        for name, (types, events) in (("left", left), ("right", right))
    )
    return Explored(Scope(graph, inputs, crashes, frozenset({"op"})), ARBITRARY)


def operator_alone(scope: Scope, operators: OperatorClass = DETERMINISTIC) -> Explored:
    return Explored(replace(scope, victims=frozenset({"op"})), operators)


def race(spec: Box, left: int, right: int, crashes: int) -> Scope:
    """An operator with two ports, and so many equal events at most on each."""
    nodes = tuple((name, spec if name == "op" else was) for name, was in RACE.nodes)
    inputs = (("left", Inputs(EQUAL, left)), ("right", Inputs(EQUAL, right)))
    return Scope(Graph(nodes, RACE.edges), inputs, crashes=crashes)


EQUAL = (Arrival(1, "a"),)
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
    "two inputs of two functions": Explored(one(TWO, 2, crashes=1), DETERMINISTIC),
    "two functions by type": Explored(one(TWO_BY_TYPE, 2, "ab"), DETERMINISTIC),
    "an aggregate": Explored(one(PAIRS, 3, "ab"), DETERMINISTIC),
    "a CEP operator": Explored(one(MATCHES, 3, "ab"), REPEATABLE),
    "two types": Explored(one(BY_TYPE, 2, "ab"), DETERMINISTIC),
    "three crashes": Explored(one(BATCHES, 2, crashes=3), DETERMINISTIC),
    "crashes of the operator alone": operator_alone(one(BY_TYPE, 4, "ab")),
    "batches in turn by type that crash once": operator_alone(
        one(IN_TURN_BY_TYPE, 3, "ab", crashes=1)
    ),
    "counted by type": operator_alone(one(COUNTED, 3, "ab")),
    "counted by two functions": operator_alone(one(COUNTED_TOO, 3, "ab")),
    "two inputs counted by two functions": operator_alone(one(COUNTED_TOO, 2, "ab")),
    "two ports counted by type": ports(COUNTED, ("ab", 2), ("a", 1), 2),
    "two ports counted by two functions": ports(COUNTED_TOO, ("a", 2), ("b", 1), 2),
    "two ports and two functions": ports(TWO, ("a", 1), ("b", 1), 2),
    "two ports in order of time": ports(Ordered(Union()), ("a", 2), ("b", 1), 2)._replace(
        operators=REPEATABLE
    ),
    "two ports by type": ports(BY_TYPE, ("ab", 2), ("ab", 2), 1),
    "two writes an input": Explored(one(TWICE, 2), REPEATABLE),
    "two writes an input of three": operator_alone(one(TWICE, 3), REPEATABLE),
    "a reader of writes": Explored(over_words(LOOKUP, 1, "a", crashes=2), REPEATABLE),
    "a reader of two writes": Explored(over_words(LOOKUP, 2, "a", crashes=1), REPEATABLE),
    "a reader of writes no crash": Explored(over_words(LOOKUP, 2, "a", crashes=0), REPEATABLE),
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
    "a read and a crash": Explored(line(READ, Relay(), length=1, crashes=1), ARBITRARY),
    "a read and three crashes": Explored(line(READ, Relay(), length=1, crashes=3), ARBITRARY),
    "a read and batches": Explored(line(READ, BATCHES, length=2, crashes=2), ARBITRARY),
    "one batch and a relay": Explored(line(BATCHES, Relay(), length=2), DETERMINISTIC),
    "batches in turn and a relay": Explored(line(IN_TURN, Relay(), length=3), DETERMINISTIC),
    "batches by type twice": Explored(line(BY_TYPE, BY_TYPE, length=2, types="ab"), DETERMINISTIC),
    "three relays and an event": Explored(line(Relay(), Relay(), Relay(), length=1), REPEATABLE),
    "three relays": Explored(line(Relay(), Relay(), Relay(), length=2), REPEATABLE),
    "three relays and a crash": Explored(
        line(Relay(), Relay(), Relay(), length=2, crashes=1), REPEATABLE
    ),
    "three operators and a batch": Explored(
        line(Relay(), BATCHES, Relay(), length=2), DETERMINISTIC
    ),
    "two functions and a relay": Explored(line(TWO, Relay(), length=2), DETERMINISTIC),
    "a relay and two functions": Explored(line(Relay(), TWO, length=2), DETERMINISTIC),
    "a relay and two functions and a crash": Explored(
        line(Relay(), TWO, length=2, crashes=1), DETERMINISTIC
    ),
    "two receivers": Explored(over_words(SPLIT, 1, "a", crashes=2), REPEATABLE),
    "a race and two receivers": Explored(
        Scope(
            RACE_AND_SPLIT,
            tuple(
                (source, Inputs((Arrival(1, type_),), 1))
                for source, type_ in (("left", "a"), ("right", "b"))
            ),
        ),
        ARBITRARY,
    ),
    "a relay that writes": Explored(over_words(WRITES, 2, "a", crashes=2), REPEATABLE),
    "two relays that meet": Explored(over_words(MEET, 1, "a", crashes=2), ARBITRARY),
    "two ports": Explored(race(Union(), 1, 1, 2), ARBITRARY),
    "batches apart": Explored(one(APART, 2), DETERMINISTIC),
    "two ports and batches": Explored(race(BATCHES, 1, 2, 1), ARBITRARY),
    "two paths": Explored(
        Scope(PATHS, (("other", Inputs(EQUAL, 2)), ("one", Inputs(EQUAL, 1)))), ARBITRARY
    ),
    "batches and a relay": Explored(line(BATCHES, Relay(), length=4, crashes=1), DETERMINISTIC),
    "a relay and a batch": Explored(line(Relay(), BATCHES, length=2), DETERMINISTIC),
    "an aggregate that crashes once": Explored(one(PAIRS, 3, "ab", crashes=1), DETERMINISTIC),
    "a CEP operator that crashes once": Explored(one(MATCHES, 3, "ab", crashes=1), REPEATABLE),
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


def fail_in_full(**found: tuple[int, int, Guarantee]) -> tuple[PinnedScope, ...]:
    """As `fail`, in the full profile only: a larger scope leaves no weaker guarantee."""
    return tuple(replace(pinned, quick=False) for pinned in fail(**found))


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
