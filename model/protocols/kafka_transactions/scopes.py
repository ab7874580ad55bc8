"""The scopes in which Kafka's transactions are explored.

Rule of this file: no claim of a protocol; the file holds scopes as data.
"""

from __future__ import annotations

from dataclasses import replace

from model.boxes.aggregate import Aggregate
from model.boxes.stateless import Filter, Relay
from model.core import OperatorClass, Scope
from model.evidence import Case
from model.graph import chain
from model.parts import over_words
from model.predicates import Type

REPEATABLE, DETERMINISTIC = OperatorClass.REPEATABLE, OperatorClass.DETERMINISTIC
RELAY = chain(("worker", Relay()), sink="topic")
PAIRS = chain(("worker", Aggregate("count", 2, 2)), sink="topic")
FILTER = chain(("worker", Filter(Type("a"))), sink="topic")
COORDINATOR, WORKERS = frozenset({"coordinator"}), frozenset({"worker", "successor"})


def timed(scope: Scope, early: int = 1) -> Scope:
    """The scope with time-outs, of which some may come early."""
    return replace(scope, early=early)


def crashing(scope: Scope, victims: frozenset[str]) -> Scope:
    return replace(scope, victims=victims)


ONE_EVENT = Case("one event", over_words(RELAY, 1, "a"), REPEATABLE)
TWO_EVENTS = Case("two events", over_words(RELAY, 2, "a"), REPEATABLE)
A_FILTER = Case("a filter", over_words(FILTER, 2), REPEATABLE)
WINDOWS = Case("windows of two events", over_words(PAIRS, 3, "a"), DETERMINISTIC)
TWO_CRASHES = Case("two crashes", over_words(RELAY, 1, "a", crashes=2), REPEATABLE)
COORDINATOR_TWICE = Case(
    "two crashes of the coordinator",
    crashing(over_words(RELAY, 2, "a", crashes=2), COORDINATOR),
    REPEATABLE,
)
TIME_OUT = Case("a time-out", timed(over_words(RELAY, 1, "a")), REPEATABLE)
TIME_OUT_ALONE = Case(
    "a time-out and no crash", timed(over_words(RELAY, 2, "a", crashes=0)), REPEATABLE
)
THREE_CRASHES_OF_THE_SUCCESSOR = Case(
    "two events, three crashes of successor",
    replace(over_words(RELAY, 2, "a", crashes=3), victims=frozenset({"successor"})),
    REPEATABLE,
    quick=False,
)
THREE_EVENTS = Case("three events", over_words(RELAY, 3, "a"), REPEATABLE)
NO_CRASH = Case("three events, nothing fails", over_words(RELAY, 3, "a", crashes=0), REPEATABLE)
