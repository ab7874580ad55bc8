"""The operators and graphs of the scopes of LOG.io, and the scopes over them.

Rule of this file: no name of a scope; scopes.py has these.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from model.boxes.aggregate import Aggregate
from model.boxes.box import Box
from model.boxes.counted import Counted
from model.boxes.hourly import Hourly
from model.boxes.stateless import AnyOf, Relay, Union
from model.boxes.triggered import Functions, Triggered
from model.cep.one_run import one_run
from model.cep.operator import Operator
from model.cep.windows import CountWindows
from model.core import Arrival, Inputs, Scope
from model.graph import SINK, SOURCE, Graph, chain
from model.parts import over_words
from model.protocols.log_io.sources.effects import FromQueue, Polled
from model.protocols.log_io.writing.lookup import Lookup

BATCH, BY_TYPE, IN_TURN = Triggered((2,)), Triggered((2,), group="type"), Triggered((1, 2))
IN_TURN_BY_TYPE = Triggered((2, 1), group="type")
APART = Triggered((2,), apart=True)
TWO = Functions((Triggered((1,), emits="one"), Triggered((2,), emits="pair")))
TWO_BY_TYPE = Functions((Triggered((1, 2), group="type"), Triggered((2,), emits="all")))
"""Each input is in an Input Set of both functions (Section 3.1)."""
COUNTED = Counted((2, 3), group="type")
COUNTED_TOO = Functions((Counted((2, 3), group="type", emits="one"), Triggered((2,), emits="pair")))
COUNTED_SECOND = Functions(
    (Triggered((1,), emits="one"), Counted((2, 3), group="type", emits="full"))
)
TWICE = AnyOf(("write",), 2)
"""Two writes for each input."""
COIN = AnyOf(("heads", "tails"))
"""Its answer depends on an external service, which shows another value at each read."""
READ = AnyOf(("heads", "tails"), 2)
"""A read action of two events."""
POLLED = Polled(("heads",))
FROM_QUEUE = FromQueue(("heads", "tails"))
EQUAL = (Arrival(1, "a"),)
HOURLY = Hourly()
PAIRS = Aggregate("list", 2, 2, of="time", group="type")
MATCHES = Operator(one_run("a", "b"), CountWindows(3, 1))


def one(spec: Box | Operator, length: int, types: str = "a", **more: Any) -> Scope:
    """One operator between the reader of a source and a sink."""
    return over_words(chain(("op", spec)), length, types, **{"crashes": 2, **more})


def hourly(length: int, *hours: int, after: tuple[Box, ...] = (), **more: Any) -> Scope:
    """Windows of hours, and operators after them.  An event has records of one of these numbers of
    hours, of which the first is the last one of the event before."""
    names = (("first" if after else "op", HOURLY), *zip(("second", "third"), after, strict=False))
    alphabet = tuple(Arrival(one - 1, "a", (("hours", one),)) for one in hours)
    return Scope(chain(*names), (("source", Inputs(alphabet, length)),), **{"crashes": 2, **more})


def line(*specs: Box, length: int, types: str = "a", **more: Any) -> Scope:
    """Operators one after the other."""
    names = ("first", "second", "third")
    return over_words(
        chain(*zip(names, specs, strict=False)), length, types, **{"crashes": 2, **more}
    )


RACE = Graph(
    (("left", SOURCE), ("right", SOURCE), ("op", BATCH), ("sink", SINK)),
    (("left", "op"), ("right", "op"), ("op", "sink")),
)
FAN = Graph(
    (("source", SOURCE), ("op", BATCH), ("near", SINK), ("far", SINK)),
    (("source", "op"), ("op", "near"), ("op", "far")),
)
COINS = Graph((FAN.nodes[0], ("op", COIN), *FAN.nodes[2:]), FAN.edges)
DIAMOND = Graph(
    (
        *(("source", SOURCE), ("up", Relay()), ("down", Relay())),
        *(("op", BATCH), ("sink", SINK)),
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
        *(("two", BATCH), ("three", Union()), ("sink", SINK)),
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
    (("left", SOURCE), ("right", SOURCE), ("first", BATCH), *SPLIT.nodes[2:]),
    (("left", "first"), ("right", "first"), *SPLIT.edges[1:]),
)
WRITES = Graph(
    (SPLIT.nodes[0], ("first", Relay()), ("second", Relay()), *SPLIT.nodes[4:]),
    (("source", "first"), ("first", "near"), ("first", "second"), ("second", "far")),
)
MEET = Graph(
    (
        *(("source", SOURCE), ("first", Relay()), ("second", Relay())),
        *(("op", BATCH), ("sink", SINK)),
    ),
    (("source", "first"), ("source", "second"), ("first", "op"), ("second", "op"), ("op", "sink")),
)
TWO_WRITERS = Graph(
    (*MEET.nodes[:3], ("sink", SINK)),
    (*MEET.edges[:2], ("first", "sink"), ("second", "sink")),
)


def ports(box: Box, left: tuple[str, int], right: tuple[str, int], crashes: int) -> Scope:
    """An operator with two ports, (types, events) of each; it alone crashes."""
    graph = Graph((*RACE.nodes[:2], ("op", box), RACE.nodes[3]), RACE.edges)
    inputs = tuple(
        (name, Inputs(tuple(Arrival(1, type_) for type_ in types), events))
        for name, (types, events) in (("left", left), ("right", right))
    )
    return Scope(graph, inputs, crashes, frozenset({"op"}))


def operator_alone(scope: Scope) -> Scope:
    """The scope in which the operator alone crashes."""
    return replace(scope, victims=frozenset({"op"}))


def race(spec: Box, left: int, right: int, crashes: int) -> Scope:
    """An operator with two ports, and so many equal events at most on each."""
    nodes = tuple((name, spec if name == "op" else was) for name, was in RACE.nodes)
    inputs = (("left", Inputs(EQUAL, left)), ("right", Inputs(EQUAL, right)))
    return Scope(Graph(nodes, RACE.edges), inputs, crashes=crashes)
