"""The scopes in which replicas of LOG.io come and go away, by name.

Rule of this file: no verdict; scale_up.py and scaling.py have what is expected in each scope.
"""

from __future__ import annotations

from dataclasses import replace

from model.boxes.aggregate import Aggregate
from model.boxes.box import Box
from model.boxes.counted import Counted
from model.boxes.stateless import Filter, Relay, Union
from model.boxes.triggered import Triggered
from model.comparison import BAG
from model.core import Arrival, Inputs, OperatorClass, Scope
from model.evidence import Case
from model.graph import SINK, SOURCE, Graph
from model.predicates import Type
from model.protocols.log_io.scaling.share import Share

REPEATABLE = OperatorClass.REPEATABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC
ARBITRARY = OperatorClass.ARBITRARY
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
LISTS = Aggregate("list", 2, 2, of="time")
"""The same as an operator with a global state: the list of a key is in it until it is full."""
COUNTED_BY_THREE = Counted((3, 2), group="type")
COUNTED_BY_TWO = Counted((2, 3), group="type")
COUNTED_APART = Counted((2, 3), group="time")
"""Operators whose global state counts the inputs of open Input Sets, too."""
A_REPLICA_GOES_AWAY = Case("a replica goes away", replicas(1, 1), ARBITRARY)
A_REPLICA_GOES_AWAY_NO_CRASH = Case("a replica goes away no crash", replicas(1, 0), ARBITRARY)
A_REPLICA_GOES_AWAY_ITS_NODE_FAILS = Case(
    "a replica goes away its node fails", replicas(1, 2, "two", "merge"), ARBITRARY
)
A_REPLICA_GOES_AWAY_ITS_CONTROLLER_FAILS = Case(
    "a replica goes away its controller fails", replicas(1, 2, "controller"), ARBITRARY
)
A_REPLICA_WITH_TWO_EVENTS_GOES_AWAY = Case(
    "a replica with two events goes away", replicas(2, 0, gap=1), ARBITRARY
)
TWO_KEYS = Case("two keys", shared(EACH, "ab", 2, 0), ARBITRARY)
TWO_KEYS_AND_ONE_FAILS = Case("two keys and one fails", shared(EACH, "ab", 2, 1, "one"), ARBITRARY)
A_PAIR = Case("a pair", shared(PAIRS, "b", 2, 0), DETERMINISTIC)
A_PAIR_WITH_A_CRASH = Case("a pair with a crash", shared(PAIRS, "b", 2, 1), DETERMINISTIC)
A_PAIR_AND_ITS_REPLICAS_FAIL = Case(
    "a pair and its replicas fail", shared(PAIRS, "b", 2, 1, "one", "two"), DETERMINISTIC
)
A_PAIR_AND_ONE_MORE = Case("a pair and one more", shared(PAIRS, "b", 3, 0), DETERMINISTIC)
AN_EVENT_OF_A_KEY = Case("an event of a key", shared(EACH, "b", 1, 1), REPEATABLE)
CONTROLLER_FAILS = Case("controller fails", shared(EACH, "b", 1, 2, "controller"), REPEATABLE)
DISPATCH_FAILS = Case("dispatch fails", shared(EACH, "b", 1, 2, "dispatch"), REPEATABLE)
MERGE_FAILS = Case("merge fails", shared(EACH, "b", 1, 2, "merge"), REPEATABLE)
ONE_FAILS = Case("one fails", shared(EACH, "b", 1, 2, "one"), REPEATABLE)
TWO_FAILS = Case("two fails", shared(EACH, "b", 1, 2, "two"), REPEATABLE)
CONTROLLER_AND_TWO_FAIL = Case(
    "controller and two fail", shared(EACH, "b", 1, 2, "controller", "two"), REPEATABLE
)
A_KEY = Case("a key", shared(EACH, "b", 2, 0), REPEATABLE)
A_KEY_WITH_A_CRASH = Case("a key with a crash", shared(EACH, "b", 2, 1), REPEATABLE)
AN_EQUAL_PAIR_WITH_A_CRASH = Case(
    "an equal pair with a crash", shared(PAIRS, "b", 2, 1, gap=0), REPEATABLE
)
EQUAL_EVENTS = Case("equal events", shared(EACH, "b", 2, 0, gap=0), REPEATABLE)
EQUAL_EVENTS_WITH_A_CRASH = Case(
    "equal events with a crash", shared(EACH, "b", 2, 1, gap=0), REPEATABLE
)


def a_list(crashes: int, *victims: str) -> Scope:
    return shared(LISTS, "b", 2, crashes, *victims)


A_LIST = Case("a list", a_list(0), DETERMINISTIC)
A_LIST_AND_ONE_FAILS = Case("a list and one fails", a_list(1, "one"), DETERMINISTIC)
A_LIST_AND_TWO_FAILS = Case("a list and two fails", a_list(1, "two"), DETERMINISTIC)
A_LIST_AND_MERGE_FAILS = Case("a list and merge fails", a_list(1, "merge"), DETERMINISTIC)
A_LIST_AND_DISPATCH_FAILS = Case("a list and dispatch fails", a_list(1, "dispatch"), DETERMINISTIC)


def in_any_order(case: Case) -> Case:
    """The case with a sink whose results have no order: Algorithm 13 claims none."""
    return replace(case, scope=replace(case.scope, sinks=(("sink", BAG),)))


COUNTED = Case("counted", shared(COUNTED_BY_THREE, "b", 3, 0), DETERMINISTIC)
COUNTED_BY_KEY = Case("counted by key", shared(COUNTED_BY_TWO, "ab", 4, 0), ARBITRARY)
COUNTED_APART_FROM_EACH_OTHER = Case(
    "counted apart", shared(COUNTED_APART, "b", 2, 0), DETERMINISTIC
)
