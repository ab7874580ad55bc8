"""The scopes in which checkpoint roll-backward is explored, by name.

Rule of this file: no verdict; variants.py and protocol.py have what is expected in each scope.

An aggregate lists the times of the tuples in a window, so a tuple that is lost or counted twice is
seen.  Keys are the types of events.
"""

from __future__ import annotations

from typing import Any

from model.boxes.aggregate import Aggregate
from model.boxes.box import Box
from model.boxes.join import Join
from model.boxes.reorder import Ordered
from model.boxes.stateless import Filter
from model.cep.one_run import one_run
from model.cep.operator import Operator
from model.cep.windows import CountWindows
from model.core import OperatorClass, Scope
from model.evidence import Case
from model.graph import chain
from model.parts import merged, over_words
from model.predicates import Type

REPEATABLE = OperatorClass.REPEATABLE
CONVERGENT_CAPABLE = OperatorClass.CONVERGENT_CAPABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC


def windows(size: int, advance: int | None = None, **more: Any) -> Aggregate:
    """The list of the times of the tuples in a window of each key."""
    more = {"group": "type", **more}
    return Aggregate("list", size, advance or size, of="time", **more)


def one(spec: Box | Operator, length: int, types: str = "ab", **more: Any) -> Scope:
    """One operator behind a source of `length` events."""
    return over_words(chain(("agg", spec)), length, types, **more)


def two(first: Box, second: Box, length: int, types: str = "a", **more: Any) -> Scope:
    """Two operators, one after the other."""
    return over_words(chain(("first", first), ("second", second)), length, types, **more)


EQUAL = (0, 1)
SINGLES, PAIRS, ALL = windows(1), windows(2), windows(2, group=None)
MATCHES = Operator(one_run("a", "b"), CountWindows(3, 1))
WINDOWS_OF_ONE_TUPLE = Case("windows of one tuple", one(SINGLES, 2, "a", gaps=EQUAL), REPEATABLE)
WINDOWS_OF_TWO_TUPLES = Case("windows of two tuples", one(PAIRS, 3), DETERMINISTIC)
TWO_TUPLES = Case("two tuples", one(PAIRS, 2), DETERMINISTIC)
ONE_KEY = Case("one key", one(PAIRS, 3, "a"), DETERMINISTIC)
FOUR_TUPLES = Case("four tuples", one(PAIRS, 4), DETERMINISTIC, quick=False)
EQUAL_TIMES = Case("equal times", one(PAIRS, 3, "a", gaps=EQUAL), DETERMINISTIC)
RISING_TIMES = Case("rising times", one(SINGLES, 3, "a"), REPEATABLE)
TWO_CRASHES = Case("two crashes", one(PAIRS, 2, crashes=2), DETERMINISTIC)
THREE_CRASHES = Case("three crashes", one(PAIRS, 2, "a", crashes=3), DETERMINISTIC)
WINDOWS_BY_TIME = Case("windows by time", one(windows(2, by="time"), 3), CONVERGENT_CAPABLE)
WINDOWS_FROM_THE_FIRST_TUPLE = Case(
    "windows from the first tuple", one(windows(2, by="time", aligned=False), 3), DETERMINISTIC
)
TICKS = windows(2, by="time", any_closes=True, ticks="t")
WINDOWS_THAT_TICKS_CLOSE = Case(
    "windows that ticks close", one(TICKS, 3, "abt"), CONVERGENT_CAPABLE
)
SLIDING_WINDOWS = Case("sliding windows", one(windows(3, 1), 4, "a"), REPEATABLE)
GAPS_BETWEEN_WINDOWS = Case("gaps between windows", one(windows(1, 2), 3, "a"), DETERMINISTIC)
A_FILTER = Case("a filter", one(Filter(Type("a")), 2), REPEATABLE)
A_CEP_OPERATOR = Case("a CEP operator", one(MATCHES, 3), REPEATABLE)
AN_AGGREGATE_OF_AN_AGGREGATE = Case(
    "an aggregate of an aggregate", two(SINGLES, ALL, 2), DETERMINISTIC
)
A_FILTER_UPSTREAM = Case("a filter upstream", two(Filter(Type("a")), PAIRS, 2, "ab"), DETERMINISTIC)
ADJACENT_CRASHES = Case("adjacent crashes", two(SINGLES, SINGLES, 1, crashes=2), REPEATABLE)
ADJACENT_CRASHES_AND_TWO_TUPLES = Case(
    "adjacent crashes and two tuples", two(SINGLES, ALL, 2, crashes=2), DETERMINISTIC, quick=False
)
A_JOIN = Case("a join in the order of time", merged(Ordered(Join(9)), 2, 1), REPEATABLE)
PAIRS_OF_TWO_SOURCES = Case("pairs of two sources", merged(Ordered(ALL), 2, 1), DETERMINISTIC)
NO_CRASH = Case("no crash", one(PAIRS, 3, crashes=0), DETERMINISTIC)
NO_CRASH_AND_TWO_OPERATORS = Case(
    "no crash and two operators", two(SINGLES, ALL, 3, crashes=0), DETERMINISTIC
)
