"""The scopes in which micro-batch recovery is explored, each with the evidence expected of it.

Rule of this file: no claim of a protocol; the file holds engines and scopes as data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from model.boxes.aggregate import Aggregate
from model.boxes.join import Join
from model.boxes.reorder import Ordered
from model.boxes.stateless import Union
from model.cep.engines import Engine, EngineAnswer, Matches, Mealy
from model.cep.one_run import one_run
from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.windows import CountWindows, Splitter, TimeWindows
from model.core import OperatorClass, Scope
from model.events import Body
from model.evidence import Case
from model.graph import chain
from model.parts import merged, over_words

REPEATABLE = OperatorClass.REPEATABLE
CONVERGENT_CAPABLE = OperatorClass.CONVERGENT_CAPABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC

Counts: TypeAlias = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class RunningCount:
    """A running count for each type: every event gives the number of its like in the window."""

    def begin(self) -> Counts:
        return ()

    def feed(self, state: Counts, event: Body) -> EngineAnswer:
        counts = dict(state)
        count = counts.get(event.type, 0) + 1
        counts[event.type] = count
        match = (Body(event.time, event.type, (("count", count),)),)
        return EngineAnswer(tuple(sorted(counts.items())), (match,), True)

    def close(self, state: Counts) -> Matches:
        return ()


def counting_operator(length: int) -> Operator:
    """The operator of a running count over a stream of up to `length` events: every event gives a
    row, and a row says how often the events before it were counted."""
    return Operator(RunningCount(), CountWindows(length, length))


# --- worlds ----------------------------------------------------------------------------------
def _scope(
    engine: Engine, splitter: Splitter, length: int, types: str = "ab", crashes: int = 1
) -> Scope:
    """The scope of one query, whose source may emit any word of `length` over the types."""
    graph = chain(("query", Operator(engine, splitter)))
    return over_words(graph, length, types, crashes=crashes)


A, AB = sequence("a"), one_run("a", "b")
LEADING = Mealy(((("a", 1, 1), ("b", 1, 1)), (("a", 1, 0), ("b", 1, 0))))
"""A machine that matches the first event of a window only, and so shows where windows begin."""
ALONE, GRID, SLIDING, ALL = (
    CountWindows(1, 1),
    TimeWindows(2, 2, grid=True),
    CountWindows(3, 1),
    CountWindows(9, 9),
)


STATELESS = Case("stateless", _scope(A, ALONE, 4), REPEATABLE)
TIME_WINDOWS_ON_A_GRID = Case("time windows on a grid", _scope(AB, GRID, 4), REPEATABLE)
FIRST_EVENT_OF_EACH_WINDOW = Case(
    "first event of each window", _scope(LEADING, GRID, 4, "a"), CONVERGENT_CAPABLE
)
COUNT_WINDOWS = Case("count windows", _scope(AB, SLIDING, 4), REPEATABLE)
A_RUNNING_COUNT = Case("a running count", _scope(RunningCount(), ALL, 4), DETERMINISTIC)
A_RUNNING_COUNT_TWO_CRASHES = Case(
    "a running count, two crashes", _scope(RunningCount(), ALL, 3, crashes=2), DETERMINISTIC
)
A_RUNNING_COUNT_THREE_CRASHES = Case(
    "a running count, three crashes",
    _scope(RunningCount(), ALL, 4, "a", crashes=3),
    DETERMINISTIC,
    quick=False,
)
A_PATTERN_AND_A_COUNT_OF_ITS_MATCHES = Case(
    "a pattern, and a count of its matches",
    over_words(
        chain(
            ("query", Operator(AB, SLIDING)),
            ("count", Aggregate("count", 2, 1, group="type")),
        ),
        4,
    ),
    CONVERGENT_CAPABLE,
)
A_JOIN_OF_TWO_SOURCES = Case("a join of two sources", merged(Ordered(Join(9)), 2, 1), REPEATABLE)
A_UNION_AND_PAIRS = Case(
    "pairs of a union",
    merged(Ordered(Union()), 2, 1, Aggregate("list", 2, 2, of="time"), crashes=2),
    DETERMINISTIC,
    quick=False,
)
NO_CRASH_AND_TWO_SOURCES = Case(
    "no crash and two sources", merged(Ordered(Join(9)), 2, 2, crashes=0), REPEATABLE
)
NO_CRASH = Case("no crash", _scope(RunningCount(), ALL, 4, "a", crashes=0), DETERMINISTIC)
"""Nobody may keep more than a restart needs."""


A_SHORT_STATELESS = Case("stateless", _scope(A, ALONE, 3), REPEATABLE)
A_SHORT_RUNNING_COUNT = Case("a running count", _scope(RunningCount(), ALL, 3), DETERMINISTIC)
A_SHORT_RUNNING_COUNT_TWO_CRASHES = Case(
    "a running count, two crashes", _scope(RunningCount(), ALL, 3, "a", crashes=2), DETERMINISTIC
)
"""With the time windows, the scopes in which the variants are compared."""
