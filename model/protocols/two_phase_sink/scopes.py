"""The scopes in which a two-phase-commit sink is explored.

Rule of this file: no claim of a protocol; the file holds scopes as data.
"""

from __future__ import annotations

from dataclasses import replace

from model.boxes.aggregate import Aggregate
from model.boxes.stateless import Filter, Relay
from model.core import OperatorClass, Scope
from model.evidence import Case
from model.graph import SINK, SOURCE, Graph, chain
from model.parts import over_words
from model.predicates import Type

REPEATABLE, DETERMINISTIC = OperatorClass.REPEATABLE, OperatorClass.DETERMINISTIC
RELAY = chain(("job", Relay()), sink="system")
PAIRS = chain(("job", Aggregate("count", 2, 2)), sink="system")
FILTER = chain(("job", Filter(Type("a"))), sink="system")
JOBS = Graph(
    (
        ("left", SOURCE),
        ("right", SOURCE),
        ("A", Relay()),
        ("B", Relay()),
        ("system", SINK),
    ),
    (("left", "A"), ("right", "B"), ("A", "system"), ("B", "system")),
)


def timed(scope: Scope, early: int = 1) -> Scope:
    """The scope with time-outs, of which some may come early."""
    return replace(scope, early=early)


def overtaking(scope: Scope) -> Scope:
    """The scope in which one request may be overtaken."""
    return replace(scope, disturbances=1)


ONE_EVENT = Case("one event", over_words(RELAY, 1, "a"), REPEATABLE)
TWO_EVENTS = Case("two events", over_words(RELAY, 2, "a"), REPEATABLE)
A_FILTER = Case("a filter", over_words(FILTER, 2), REPEATABLE)
WINDOWS = Case("windows of two events", over_words(PAIRS, 3, "a"), DETERMINISTIC)
TWO_CRASHES = Case("two crashes", over_words(RELAY, 2, "a", crashes=2), REPEATABLE)
TIME_OUT = Case("a time-out", timed(over_words(RELAY, 1, "a")), REPEATABLE)
TWO_CRASHES_AND_TIME_OUT = Case(
    "two crashes and a time-out", timed(over_words(RELAY, 2, "a", crashes=2)), REPEATABLE
)
TWO_TIME_OUTS = Case("two time-outs", timed(over_words(RELAY, 2, "a"), 2), REPEATABLE)
WINDOWS_AND_TIME_OUT = Case(
    "windows of two events and a time-out", timed(over_words(PAIRS, 3, "a")), DETERMINISTIC
)
TWO_JOBS = Case("two jobs", over_words(JOBS, 1, "a"), REPEATABLE)
TWO_JOBS_AND_TWO_CRASHES = Case(
    "two jobs and two crashes", over_words(JOBS, 1, "a", crashes=2), REPEATABLE
)
NO_CRASH = Case("no crash", over_words(RELAY, 3, "a", crashes=0), REPEATABLE)
NO_CRASH_AND_TIME_OUT = Case(
    "no crash and a time-out", timed(over_words(RELAY, 2, "a", crashes=0)), REPEATABLE
)
LATE_REQUEST = Case("an overtaken request", overtaking(over_words(RELAY, 1, "a")), REPEATABLE)
LATE_REQUEST_OF_TWO = Case(
    "two events and an overtaken request", overtaking(over_words(RELAY, 2, "a")), REPEATABLE
)
LATE_REQUEST_AND_THREE_CRASHES = Case(
    "an overtaken request and three crashes",
    overtaking(over_words(RELAY, 2, "a", crashes=3)),
    REPEATABLE,
)
LATE_REQUEST_AND_TIME_OUT = Case(
    "an overtaken request and a time-out",
    overtaking(timed(over_words(RELAY, 1, "a"))),
    REPEATABLE,
)
