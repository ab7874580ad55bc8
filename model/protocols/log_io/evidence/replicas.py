"""The scopes in which replicas of LOG.io come and go away, by name.

Rule of this file: no verdict; scale_up.py and scaling.py have what is expected in each scope.
"""

from __future__ import annotations

from dataclasses import replace

from model.boxes.box import Box
from model.boxes.stateless import Filter, Relay, Union
from model.boxes.triggered import Triggered
from model.core import Arrival, Inputs, OperatorClass, Scope
from model.graph import SINK, SOURCE, Graph
from model.predicates import Type
from model.protocols.log_io.scaling.share import Share

REPLICAS = Graph(
    (
        *(("left", SOURCE), ("right", SOURCE), ("dispatch", Union())),
        *(("one", Filter(Type("a"))), ("two", Filter(Type("b")))),
        *(("merge", Union()), ("sink", SINK)),
    ),
    (
        *(("left", "dispatch"), ("right", "dispatch")),
        *(("dispatch", "one"), ("dispatch", "two"), ("one", "merge"), ("two", "merge")),
        ("merge", "sink"),
    ),
)


def replicas(events: int, crashes: int, *victims: str, gap: int = 0) -> Scope:
    """An event of the replica that stays, and so many of the one that goes away.

    gap: 0: events of one type are equal, so that their order does not matter.
    """
    stays, leaves = (Arrival(gap, "a"),), (Arrival(gap, "b"),)
    inputs = (("left", Inputs(stays, 1)), ("right", Inputs(leaves, events)))
    scope = Scope(REPLICAS, inputs, crashes=crashes)
    return replace(scope, victims=frozenset(victims)) if victims else scope


def shared(box: Box, types: str, length: int, crashes: int, *victims: str, gap: int = 1) -> Scope:
    """One source, whose events have the keys "a" and "b", and two replicas of an operator.

    gap: as in `replicas`.
    """
    graph = Graph(
        (
            *(("source", SOURCE), ("dispatch", Union())),
            *(("one", Share(Type("a"), box)), ("two", Share(Type("b"), box))),
            *(("merge", Union()), ("sink", SINK)),
        ),
        (
            *(("source", "dispatch"), ("dispatch", "one"), ("dispatch", "two")),
            *(("one", "merge"), ("two", "merge"), ("merge", "sink")),
        ),
    )
    events = tuple(Arrival(gap, type_) for type_ in types)
    scope = Scope(graph, (("source", Inputs(events, length)),), crashes=crashes)
    return replace(scope, victims=frozenset(victims)) if victims else scope


EACH = Relay()
PAIRS = Triggered((2,), group="type", of="time")
"""A stateful operator: two events of a key make an output, which has their times."""
FAILING = ("controller", "dispatch", "merge", "one", "two")
SCOPES = {
    OperatorClass.ARBITRARY: {
        "a replica goes away": replicas(1, 1),
        "a replica goes away no crash": replicas(1, 0),
        "a replica goes away its node fails": replicas(1, 2, "two", "merge"),
        "a replica goes away its controller fails": replicas(1, 2, "controller"),
        "a replica with two events goes away": replicas(2, 0, gap=1),
        "two keys": shared(EACH, "ab", 2, 0),
    },
    OperatorClass.DETERMINISTIC: {
        "a pair": shared(PAIRS, "b", 2, 0),
        "a pair with a crash": shared(PAIRS, "b", 2, 1),
        "a pair and its replicas fail": shared(PAIRS, "b", 2, 1, "one", "two"),
        "a pair and one more": shared(PAIRS, "b", 3, 0),
    },
    OperatorClass.REPEATABLE: {
        "an event of a key": shared(EACH, "b", 1, 1),
        **{f"{name} fails": shared(EACH, "b", 1, 2, name) for name in FAILING},
        "controller and two fail": shared(EACH, "b", 1, 2, "controller", "two"),
        "a key": shared(EACH, "b", 2, 0),
        "a key with a crash": shared(EACH, "b", 2, 1),
        "an equal pair with a crash": shared(PAIRS, "b", 2, 1, gap=0),
        "equal events": shared(EACH, "b", 2, 0, gap=0),
        "equal events with a crash": shared(EACH, "b", 2, 1, gap=0),
    },
}
"""By the class of the operators over these events."""
