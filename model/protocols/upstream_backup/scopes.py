"""The scopes in which upstream backup is explored, each with the evidence expected of it.

Rule of this file: no claim of a protocol; the file holds engines, graphs and scopes as data.
"""

from __future__ import annotations

from model.cep.engines import Engine, Mealy
from model.cep.operator import Operator
from model.cep.patterns import Strategy, sequence
from model.cep.windows import CountWindows, PatternWindows, Splitter, TimeWindows
from model.core import (
    Arrival,
    Inputs,
    OperatorClass,
    PinnedScope,
    Scope,
)
from model.graph import SINK, SOURCE, Graph, chain
from model.parts import over_words
from model.predicates import Type

REPEATABLE = OperatorClass.REPEATABLE
CONVERGENT_CAPABLE = OperatorClass.CONVERGENT_CAPABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC


# --- engines and graphs that distinguish variants ---------------------------------------------
A, B, AB = sequence("a"), sequence("b"), sequence("a", "b")
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
        ("C", Operator(sequence("x", "y"), CountWindows(2, 1))),
        ("sink", SINK),
    ),
    (("source", "A"), ("source", "B"), ("A", "C"), ("B", "C"), ("C", "sink")),
)
PIPELINE = chain(
    ("A", Operator(A, CountWindows(2, 2))),
    ("B", Operator(sequence("match"), CountWindows(2, 1))),
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

SCOPES = (
    PinnedScope(
        "one event, one match", over_words(one(A, CountWindows(1, 1)), 4), REPEATABLE, states=53_346
    ),
    PinnedScope(
        "time windows on a grid",
        over_words(one(AB, TimeWindows(4, 2, grid=True)), 4, gaps=(1, 2)),
        CONVERGENT_CAPABLE,
        states=72_144,
    ),
    PinnedScope(
        "count windows", over_words(one(AB, CountWindows(3, 1)), 5), REPEATABLE, states=65_694
    ),
    PinnedScope(
        "count windows, events skipped, two crashes",
        over_words(one(AB, CountWindows(3, 2)), 4, crashes=2),
        DETERMINISTIC,
        states=59_175,
    ),
    PinnedScope(
        "every event matches, two crashes",
        over_words(one(A, CountWindows(2, 1)), 3, "a", crashes=2),
        REPEATABLE,
        states=275_809,
    ),
    PinnedScope(
        "time windows",
        over_words(one(AB, TimeWindows(3, 2)), 4, gaps=(1, 2)),
        DETERMINISTIC,
        states=54_227,
    ),
    PinnedScope(
        "pattern-opened windows",
        over_words(one(AB, PatternWindows(Type("a"), size=3)), 5),
        REPEATABLE,
        states=37_776,
    ),
    PinnedScope(
        "match at the end of the window",
        over_words(one(sequence("a", "!b"), CountWindows(3, 2)), 5),
        DETERMINISTIC,
        states=19_107,
    ),
    PinnedScope(
        "any match, several in one iteration",
        over_words(one(sequence("a", "b", strategy=Strategy.ANY), CountWindows(3, 1)), 4),
        REPEATABLE,
        states=20_340,
    ),
    PinnedScope("an engine that is not monotone", TOGGLED, REPEATABLE, states=471_017),
    PinnedScope("serial processing", SERIAL, DETERMINISTIC, states=11_881),
    PinnedScope(
        "an event used by one of two windows",
        over_words(one(ALTERNATING, CountWindows(5, 2)), 4),
        DETERMINISTIC,
        states=121_743,
    ),
    PinnedScope(
        "wide windows, used and skipped in turn",
        over_words(one(AB, CountWindows(7, 7)), 6),
        DETERMINISTIC,
        states=94_333,
    ),
    PinnedScope(
        "adjacent operators, time windows",
        over_words(TIMED, 4, "a", crashes=2),
        DETERMINISTIC,
        states=258_510,
    ),
    PinnedScope("two input edges", UNEVEN, REPEATABLE, states=1_032_090, quick=False),
    PinnedScope("two output edges", over_words(FORK, 2, "a"), REPEATABLE, states=50_301),
    PinnedScope(
        "two output edges, two crashes",
        over_words(FORK, 2, "a", crashes=2),
        REPEATABLE,
        states=2_311_206,
    ),
    PinnedScope(
        "adjacent operators, two crashes",
        over_words(PIPELINE, 2, "a", crashes=2),
        CONVERGENT_CAPABLE,
        states=71_957,
    ),
    PinnedScope(
        "two output edges, one event",
        over_words(FORK, 1, "a", crashes=2),
        REPEATABLE,
        states=14_310,
    ),
    PinnedScope("diamond", over_words(DIAMOND, 2), REPEATABLE, states=15_945),
    PinnedScope(
        "diamond, any two crash", over_words(DIAMOND, 1, crashes=2), REPEATABLE, states=44_989
    ),
    PinnedScope(
        "diamond, two events, two crashes",
        over_words(DIAMOND, 2, crashes=2),
        REPEATABLE,
        states=655_823,
    ),
    PinnedScope(
        "no crash, every event matches",
        over_words(one(A, CountWindows(1, 1)), 4, crashes=0),
        REPEATABLE,
        states=1_460,
    ),
    PinnedScope(
        "no crash, events skipped",
        CALM,
        REPEATABLE,
        states=7_557,
    ),
    PinnedScope(
        "adjacent operators and their alignment",
        over_words(ALIGNED, 4, "a", crashes=2),
        DETERMINISTIC,
        states=330_325,
    ),
)
