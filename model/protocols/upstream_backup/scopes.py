"""The scopes in which upstream backup is explored, each with the evidence expected of it.

Rule of this file: no claim of a protocol; the file holds engines, graphs and scopes as data.
"""

from __future__ import annotations

from dataclasses import replace

from model.cep.engines import Engine, Mealy
from model.cep.one_run import one_run
from model.cep.operator import Operator
from model.cep.patterns import AfterMatch, Strategy, sequence
from model.cep.windows import CountWindows, PatternWindows, Splitter, TimeWindows
from model.core import Arrival, Inputs, OperatorClass, Scope
from model.evidence import Case
from model.graph import SINK, SOURCE, Graph, chain
from model.parts import over_words
from model.predicates import Type

REPEATABLE = OperatorClass.REPEATABLE
CONVERGENT_CAPABLE = OperatorClass.CONVERGENT_CAPABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC


# --- engines and graphs that distinguish variants ---------------------------------------------
A, B, AB = one_run("a"), one_run("b"), one_run("a", "b")
SUPPRESSED = Mealy(((("a", 0, 1), ("b", 1, 0)), (("a", 0, 0), ("b", 0, 0))))
"""A machine that matches every a but the one after a b: a later window may match first."""
ALTERNATING = Mealy(((("a", 0, 1), ("b", 1, 0)), (("a", 1, 0), ("b", 0, 1))))
"""A machine that matches a in one state and b in the other; b toggles the state."""
LEADING = Mealy(((("match", 1, 1),), (("match", 1, 0),)))
"""A machine that matches the first event of a window only, and so shows where windows begin."""


def one(engine: Engine, splitter: Splitter, parallel: bool = True) -> Graph:
    return chain(("A", Operator(engine, splitter, parallel=parallel)))


MERGE = Graph(
    (
        ("left", SOURCE),
        ("right", SOURCE),
        ("A", Operator(A, PatternWindows(Type("a"), size=1))),
        ("sink", SINK),
    ),
    (("left", "A"), ("right", "A"), ("A", "sink")),
)
FORK = Graph(
    (
        ("source", SOURCE),
        ("A", Operator(A, CountWindows(2, 1))),
        ("near", SINK),
        ("far", SINK),
    ),
    (("source", "A"), ("A", "near"), ("A", "far")),
)
DIAMOND = Graph(
    (
        ("source", SOURCE),
        ("A", Operator(A, CountWindows(1, 1), "x")),
        ("B", Operator(B, CountWindows(1, 1), "y")),
        ("C", Operator(one_run("x", "y"), CountWindows(2, 1))),
        ("sink", SINK),
    ),
    (("source", "A"), ("source", "B"), ("A", "C"), ("B", "C"), ("C", "sink")),
)
PIPELINE = chain(
    ("A", Operator(A, CountWindows(2, 2))),
    ("B", Operator(one_run("match"), CountWindows(2, 1))),
)
ALIGNED = chain(
    ("A", Operator(A, CountWindows(1, 1))),
    ("B", Operator(LEADING, CountWindows(2, 2))),
)
TIMED = chain(
    ("A", Operator(A, CountWindows(1, 1))),
    ("B", Operator(LEADING, TimeWindows(2, 2))),
)
UNEVEN = Scope(
    MERGE,
    (
        ("left", Inputs((Arrival(1, "a"), Arrival(1, "b")), 3)),
        ("right", Inputs((Arrival(1, "a"),), 2)),
    ),
)
"""Sequence numbers of the two sources overlap, and their order is not the order of the merge."""
UNEVEN_BY_TYPE = Scope(
    MERGE, (("left", Inputs((Arrival(1, "b"),), 3)), ("right", Inputs((Arrival(1, "a"),), 2)))
)
"""The same, with events of one type on each edge."""

EVERY = over_words(one(A, CountWindows(3, 1)), 4, "a")
TOGGLED = over_words(one(ALTERNATING, CountWindows(3, 1)), 4)
LATE = over_words(one(SUPPRESSED, CountWindows(3, 1)), 3)
SERIAL = over_words(one(AB, CountWindows(4, 3), parallel=False), 5)
SKIPPY = over_words(one(A, CountWindows(3, 2)), 4)
CALM = over_words(one(A, CountWindows(4, 4)), 5, crashes=0)
ANY_MATCH = over_words(one(sequence("a", "b", strategy=Strategy.ANY), CountWindows(3, 1)), 4)

# Independent runs: all matches, a skip, consumption.
EVERY_RUN = sequence("a", "b")
SKIPPING = sequence("a", "a", after_match=AfterMatch.PAST_LAST_EVENT)
CONSUMING = sequence("a", "b", strategy=Strategy.ANY, consumes=True)
TWO_RUNS_IN_ONE_ITERATION = Case(
    "independent runs: two matches in one iteration",
    over_words(one(EVERY_RUN, CountWindows(3, 1)), 4),
    REPEATABLE,
)
RUNS_THAT_SKIP = Case(
    "independent runs: skip past last event",
    over_words(one(SKIPPING, CountWindows(5, 2)), 6),
    DETERMINISTIC,
)
RUNS_THAT_CONSUME = Case(
    "any match, events consumed",
    over_words(one(CONSUMING, CountWindows(3, 1)), 4),
    REPEATABLE,
)
RUNS_THAT_WAIT = Case(
    "independent runs: matches at the end of the window",
    over_words(one(sequence("a", "!b"), CountWindows(3, 2)), 4),
    DETERMINISTIC,
)

ONE_EVENT_ONE_MATCH = Case(
    "one event, one match", over_words(one(A, CountWindows(1, 1)), 4), REPEATABLE
)
TIME_WINDOWS_ON_A_GRID = Case(
    "time windows on a grid",
    over_words(one(AB, TimeWindows(4, 2, grid=True)), 4, gaps=(1, 2)),
    CONVERGENT_CAPABLE,
)
COUNT_WINDOWS = Case("count windows", over_words(one(AB, CountWindows(3, 1)), 5), REPEATABLE)
COUNT_WINDOWS_EVENTS_SKIPPED_TWO_CRASHES = Case(
    "count windows, events skipped, two crashes",
    over_words(one(AB, CountWindows(3, 2)), 4, crashes=2),
    DETERMINISTIC,
)
EVERY_EVENT_MATCHES_TWO_CRASHES = Case(
    "every event matches, two crashes",
    over_words(one(A, CountWindows(2, 1)), 3, "a", crashes=2),
    REPEATABLE,
)
TIME_WINDOWS = Case(
    "time windows", over_words(one(AB, TimeWindows(3, 2)), 4, gaps=(1, 2)), DETERMINISTIC
)
PATTERN_OPENED_WINDOWS = Case(
    "pattern-opened windows", over_words(one(AB, PatternWindows(Type("a"), size=3)), 5), REPEATABLE
)
MATCH_AT_THE_END_OF_THE_WINDOW = Case(
    "match at the end of the window",
    over_words(one(one_run("a", "!b"), CountWindows(3, 2)), 5),
    DETERMINISTIC,
)
ANY_MATCH_SEVERAL_IN_ONE_ITERATION = Case(
    "any match, several in one iteration",
    over_words(one(sequence("a", "b", strategy=Strategy.ANY), CountWindows(3, 1)), 4),
    REPEATABLE,
)
AN_ENGINE_THAT_IS_NOT_MONOTONE = Case("an engine that is not monotone", TOGGLED, REPEATABLE)
SERIAL_PROCESSING = Case("serial processing", SERIAL, DETERMINISTIC)
AN_EVENT_USED_BY_ONE_OF_TWO_WINDOWS = Case(
    "an event used by one of two windows",
    over_words(one(ALTERNATING, CountWindows(5, 2)), 4),
    DETERMINISTIC,
)
WIDE_WINDOWS_USED_AND_SKIPPED_IN_TURN = Case(
    "wide windows, used and skipped in turn",
    over_words(one(AB, CountWindows(7, 7)), 6),
    DETERMINISTIC,
)
ADJACENT_OPERATORS_TIME_WINDOWS = Case(
    "adjacent operators, time windows", over_words(TIMED, 4, "a", crashes=2), DETERMINISTIC
)
TWO_INPUT_EDGES = Case("two input edges", UNEVEN, REPEATABLE, quick=False)
ONE_EVENT_ON_EACH_EDGE = Case(
    "one event on each edge",
    replace(
        UNEVEN, inputs=tuple((one, Inputs((Arrival(1, "a"),), 1)) for one in ("left", "right"))
    ),
    REPEATABLE,
)
TWO_OUTPUT_EDGES = Case("two output edges", over_words(FORK, 2, "a"), REPEATABLE)
TWO_OUTPUT_EDGES_TWO_CRASHES = Case(
    "two output edges, two crashes", over_words(FORK, 2, "a", crashes=2), REPEATABLE
)
ADJACENT_OPERATORS_TWO_CRASHES = Case(
    "adjacent operators, two crashes", over_words(PIPELINE, 2, "a", crashes=2), CONVERGENT_CAPABLE
)
TWO_OUTPUT_EDGES_ONE_EVENT = Case(
    "two output edges, one event", over_words(FORK, 1, "a", crashes=2), REPEATABLE
)
A_DIAMOND = Case("diamond", over_words(DIAMOND, 2), REPEATABLE)
DIAMOND_ANY_TWO_CRASH = Case(
    "diamond, any two crash", over_words(DIAMOND, 1, crashes=2), REPEATABLE
)
DIAMOND_TWO_EVENTS_TWO_CRASHES = Case(
    "diamond, two events, two crashes", over_words(DIAMOND, 2, crashes=2), REPEATABLE
)
NO_CRASH_EVERY_EVENT_MATCHES = Case(
    "no crash, every event matches",
    over_words(one(A, CountWindows(1, 1)), 4, crashes=0),
    REPEATABLE,
)
NO_CRASH_EVENTS_SKIPPED = Case("no crash, events skipped", CALM, REPEATABLE)
ADJACENT_OPERATORS_AND_THEIR_ALIGNMENT = Case(
    "adjacent operators and their alignment", over_words(ALIGNED, 4, "a", crashes=2), DETERMINISTIC
)
NO_CRASH = Case("no crash", CALM, REPEATABLE)
SKIPPED_EVENTS_DO_NOT_COUNT = Case("skipped events do not count", SKIPPY, DETERMINISTIC)
FIRST_MATCH_NOT_IN_THE_FIRST_WINDOW_KEPT = Case(
    "first match not in the first window kept", LATE, REPEATABLE
)
