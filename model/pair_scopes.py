"""The networks in which process pairs are explored: one or more for each class of operators.

Rule of this file: no verdict; the families have what is expected in each scope.

The operator A may crash, and so may its secondary.  An aggregate lists the times of the tuples in a
window, so a tuple that is lost or counted twice is seen.
Hwang et al., Section 3.2, Fig. 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from model.boxes.aggregate import Aggregate
from model.boxes.network import INPUT, OUTPUT, Arc, Network
from model.boxes.stateless import Filter, Map, Relay, Union
from model.core import Arrival, Guarantee, Inputs, OperatorClass, Outcome, PinnedScope, Scope
from model.graph import SINK, SOURCE, Graph, chain
from model.parts import over_words
from model.predicates import Not, Type

REPEATABLE = OperatorClass.REPEATABLE
CONVERGENT_CAPABLE = OperatorClass.CONVERGENT_CAPABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC
ARBITRARY = OperatorClass.ARBITRARY


MANY = 1_150_000
"""Scopes of more worlds are left to the full profile."""


class Explored(NamedTuple):
    scope: Scope
    operators: OperatorClass


def windows(size: int, advance: int, **more: Any) -> Aggregate:
    """The list of the times of the tuples in a window."""
    return Aggregate("list", size, advance, of="time", **more)


def one(spec: Any, length: int, types: str = "a", **more: Any) -> Scope:
    return over_words(chain(("A", spec)), length, types, **more)


def two(spec: Any, left: int, right: int, types: str = "b") -> Scope:
    """One operator with two sources, of so many events each; types: of the right one.  Its
    secondary does not crash."""
    nodes = (("left", SOURCE), ("right", SOURCE), ("A", spec), ("sink", SINK))
    graph = Graph(nodes, (("left", "A"), ("right", "A"), ("A", "sink")))
    inputs = (
        ("left", Inputs((Arrival(1, "a"),), left)),
        ("right", Inputs(tuple(Arrival(5, type_) for type_ in types), right)),
    )
    return Scope(graph, inputs, victims=frozenset({"A"}))


def after_union(box: Any) -> Network:
    """The network inside a node in which a box follows a union of two inputs."""
    arcs = (Arc(INPUT, "union", 0, 0), Arc(INPUT, "union", 1, 1))
    boxes = (("union", Union()), ("box", box))
    return Network(boxes, (*arcs, Arc("union", "box"), Arc("box", OUTPUT)))


def series(first: Any, second: Any) -> Network:
    """The network inside a node in which one box follows the other."""
    arcs = (Arc(INPUT, "first"), Arc("first", "second"), Arc("second", OUTPUT))
    return Network((("first", first), ("second", second)), arcs)


def beside(first: Any, second: Any) -> Network:
    """The network inside a node in which two boxes get the same input."""
    ends = ((INPUT, "first"), (INPUT, "second"), ("first", OUTPUT), ("second", OUTPUT))
    return Network((("first", first), ("second", second)), tuple(Arc(*end) for end in ends))


COPIES = beside(Map("one"), Map("two"))
"""Two paths through a node: each tuple comes out twice, in two forms."""

LAST_ALONE = Network(
    (
        ("union", Union()),
        ("paired", Filter(Not(Type("c")))),
        ("pairs", windows(2, 2)),
        ("alone", Filter(Type("c"))),
    ),
    (
        Arc(INPUT, "union", 0, 0),
        Arc(INPUT, "union", 1, 1),
        Arc("union", "paired"),
        Arc("paired", "pairs"),
        Arc("pairs", OUTPUT),
        Arc("union", "alone"),
        Arc("alone", OUTPUT),
    ),
)
"""Behind a union, tuples of type c come out alone, and the others in pairs."""

RELAYS = replace(
    over_words(chain(("A", Relay()), ("B", Relay())), 2, "a"), victims=frozenset({"A"})
)
"""Two nodes in a row, of which the second one has no secondary."""

PAIRS, SLIDING, EVERY = windows(2, 2), windows(2, 1, by="time"), windows(1, 2)
SCOPES = {
    "a relay": Explored(one(Relay(), 2), REPEATABLE),
    "a tuple": Explored(one(Relay(), 1), REPEATABLE),
    "a filter": Explored(one(Filter(Type("a")), 2, "ab"), REPEATABLE),
    "two paths": Explored(one(COPIES, 1), REPEATABLE),
    "sliding windows": Explored(one(SLIDING, 3), CONVERGENT_CAPABLE),
    "windows that close together": Explored(
        one(windows(3, 1, by="time"), 2, gaps=(1, 3)), CONVERGENT_CAPABLE
    ),
    "pairs": Explored(one(PAIRS, 3), DETERMINISTIC),
    "a pair": Explored(one(PAIRS, 2), DETERMINISTIC),
    "every other tuple": Explored(one(EVERY, 3), DETERMINISTIC),
    "two operators in a node": Explored(one(series(Map("b"), PAIRS), 3), DETERMINISTIC),
    "a union": Explored(two(Union(), 1, 1), ARBITRARY),
    "pairs of a union": Explored(two(after_union(windows(2, 1)), 2, 1), ARBITRARY),
    "two paths after a union": Explored(two(LAST_ALONE, 2, 2, "bc"), ARBITRARY),
    "two nodes": Explored(over_words(chain(("A", Relay()), ("B", PAIRS)), 2, "a"), DETERMINISTIC),
    "two nodes that relay": Explored(
        over_words(chain(("A", Relay()), ("B", SLIDING)), 2, "a"), CONVERGENT_CAPABLE
    ),
    "two relays": Explored(RELAYS, REPEATABLE),
    "two nodes, three tuples": Explored(
        over_words(chain(("A", Relay()), ("B", windows(3, 3))), 3, "a"), DETERMINISTIC
    ),
    "two nodes, overlapping windows": Explored(
        over_words(chain(("A", Relay()), ("B", windows(2, 1))), 3, "a"), REPEATABLE
    ),
    "a window beside a map": Explored(one(beside(windows(3, 3), Map("b")), 3), DETERMINISTIC),
    "windows by key": Explored(
        one(windows(2, 2, by="time", group="type"), 4, "ab", gaps=(2,)), REPEATABLE
    ),
    "sliding windows, four tuples": Explored(one(SLIDING, 4), CONVERGENT_CAPABLE),
    "windows from the first tuple": Explored(
        one(windows(2, 2, by="time", aligned=False), 4, gaps=(3,)), DETERMINISTIC
    ),
    "no crash": Explored(one(Relay(), 2, crashes=0), REPEATABLE),
    "no crash, a filter": Explored(one(Filter(Type("a")), 2, "ab", crashes=0), REPEATABLE),
    "no crash, sliding windows": Explored(one(SLIDING, 3, crashes=0), CONVERGENT_CAPABLE),
}
TWICE = {
    f"{name}, two crashes": scope._replace(scope=replace(scope.scope, crashes=2, victims=None))
    for name, scope in SCOPES.items()
    if scope.scope.crashes
}


Pins: TypeAlias = Mapping[str, tuple[int | None, int | None, Guarantee]]
"""What is expected in each scope: its worlds (None: they are not counted), the steps of a shortest
counterexample (None: it holds), the guarantee."""


def pin(pins: Pins) -> tuple[PinnedScope, ...]:
    """The scopes of these names, with what is expected in them."""
    known = SCOPES | TWICE
    return tuple(
        PinnedScope(
            name,
            known[name].scope,
            known[name].operators,
            Outcome.HOLDS if steps is None else Outcome.REFUTED,
            states,
            steps,
            guarantee,
            (states or 0) < MANY,
        )
        for name, (states, steps, guarantee) in pins.items()
    )
