"""The scopes in which continuous eventual checkpointing is explored, by name.

Rule of this file: no verdict; variants.py has what is expected in each scope.

The operator lists the times of the tuples in a window, so a tuple that is lost or counted twice is
seen.  Keys are the types of events.
Sebepou and Magoutis, CEC, 2011: windows by count and by time (II), sliding ones (II), several open
at once (II.B), equal times, a filter upstream (IV.B), a join of two inputs (V).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from model.boxes.aggregate import Aggregate
from model.boxes.box import Box
from model.boxes.join import Join
from model.boxes.reorder import Ordered
from model.boxes.stateless import Filter, Relay, Union
from model.core import Arrival, Inputs, OperatorClass, Scope
from model.evidence import Case
from model.graph import SINK, SOURCE, Graph, chain
from model.parts import over_words
from model.predicates import Type
from model.protocols.cec.messages import LoggedBox

REPEATABLE = OperatorClass.REPEATABLE
CONVERGENT_CAPABLE = OperatorClass.CONVERGENT_CAPABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC
ARBITRARY = OperatorClass.ARBITRARY


def windows(size: int, advance: int | None = None, **more: Any) -> Aggregate:
    """The list of the times of the tuples in a window of each key."""
    more = {"group": "type", **more}
    return Aggregate("list", size, advance or size, of="time", **more)


def spans(size: int, advance: int | None = None, *, aligned: bool = True) -> Aggregate:
    """How many tuples of each key there are in a window of so many time units."""
    return Aggregate("count", size, advance or size, by="time", group="type", aligned=aligned)


def any_spans(size: int, advance: int | None = None, *, aligned: bool = True) -> Aggregate:
    """The same windows, which a tuple of any key closes."""
    return replace(spans(size, advance, aligned=aligned), any_closes=True)


def one(
    box: Box,
    length: int,
    types: str = "ab",
    gaps: tuple[int, ...] = (1,),
    crashes: int = 1,
    **settings: Any,
) -> Scope:
    """One operator behind a source of `length` events.  settings: of its node (LoggedBox)."""
    graph = chain(("agg", LoggedBox(box, **settings)))
    return over_words(graph, length, types, gaps, crashes)


def two(
    first: Box, second: Box, length: int, types: str = "a", crashes: int = 1, **settings: Any
) -> Scope:
    """Two operators, one after the other; settings: of both nodes (LoggedBox)."""
    nodes = (("first", LoggedBox(first, **settings)), ("second", LoggedBox(second, **settings)))
    return over_words(chain(*nodes), length, types, (1,), crashes)


def in_memory(length: int, types: str, crashes: int = 1, **settings: Any) -> Scope:
    """A filter, whose results are not persisted, and an aggregate; settings: of both nodes."""
    first = LoggedBox(Filter(Type("a")), persists=False, **settings)
    second = LoggedBox(PAIRS, **settings)
    return over_words(chain(("first", first), ("second", second)), length, types, (1,), crashes)


def forked(box: Box, length: int, types: str = "a", crashes: int = 1, **settings: Any) -> Scope:
    """One operator with two outputs; settings: of its node (LoggedBox)."""
    nodes = (
        ("source", SOURCE),
        ("agg", LoggedBox(box, **settings)),
        ("sink", SINK),
        ("other", SINK),
    )
    edges = (("source", "agg"), ("agg", "sink"), ("agg", "other"))
    arrivals = tuple(Arrival(1, type_) for type_ in types)
    return Scope(Graph(nodes, edges), (("source", Inputs(arrivals, length)),), crashes)


def joined(
    box: Box,
    left: int,
    right: int,
    gaps: tuple[tuple[int, ...], tuple[int, ...]] = ((1,), (1,)),
    crashes: int = 1,
    first: Box | None = None,
    **settings: Any,
) -> Scope:
    """One operator behind two sources of `left` and `right` events, whose times are `gaps` apart.

    first: the operator between the left source and this one.  settings: of the nodes (LoggedBox).
    """
    nodes = [
        ("left", SOURCE),
        ("right", SOURCE),
        ("join", LoggedBox(box, **settings)),
        ("sink", SINK),
    ]
    edges = [("left", "join"), ("right", "join"), ("join", "sink")]
    if first is not None:
        nodes.insert(2, ("first", LoggedBox(first, **settings)))
        edges[:1] = [("left", "first"), ("first", "join")]
    lengths = zip(("left", "right"), (left, right), gaps, strict=True)
    inputs = tuple(
        (name, Inputs(tuple(Arrival(gap, "a") for gap in apart), length))
        for name, length, apart in lengths
    )
    return Scope(Graph((*nodes,), (*edges,)), inputs, crashes)


EQUAL = (0, 1)
PAIRS, ALL = windows(2), windows(2, group=None)
EVERY, NEAR, LATEST = Join(9), Join(1), Join(1, by="count")
WINDOWS_OF_ONE_TUPLE = Case("windows of one tuple", one(windows(1), 3), REPEATABLE)
WINDOWS_OF_TWO_TUPLES = Case("windows of two tuples", one(PAIRS, 4), DETERMINISTIC)
FIVE_TUPLES = Case("five tuples", one(PAIRS, 5), DETERMINISTIC)
EQUAL_TIMES = Case("equal times", one(PAIRS, 3, gaps=EQUAL), DETERMINISTIC)
EQUAL_TIMES_OF_ONE_KEY = Case(
    "equal times of one key", one(PAIRS, 3, "a", gaps=EQUAL), DETERMINISTIC
)
BACKGROUND = Case("background", one(PAIRS, 3, checks=True), DETERMINISTIC)
BACKGROUND_WINDOWS_OF_THREE = Case(
    "background, windows of three", one(windows(3), 4, "a", checks=True), DETERMINISTIC
)
BACKGROUND_TWO_CRASHES = Case(
    "background, two crashes", one(PAIRS, 2, crashes=2, checks=True), DETERMINISTIC
)
TWO_CRASHES = Case("two crashes", one(PAIRS, 3, crashes=2), DETERMINISTIC)
QUEUES_LET_GO = Case("queues let go", one(PAIRS, 3, trims=True, checks=True), DETERMINISTIC)
QUEUES_OF_ONE_KEY_LET_GO = Case(
    "queues of one key let go", one(PAIRS, 3, "a", trims=True, checks=True), DETERMINISTIC
)
QUEUES_LET_GO_TWO_CRASHES = Case(
    "queues let go, two crashes", one(PAIRS, 2, crashes=2, gaps=EQUAL, trims=True), DETERMINISTIC
)
WINDOWS_OF_THREE_QUEUES_LET_GO = Case(
    "windows of three, queues let go", one(windows(3), 4, trims=True), DETERMINISTIC
)
RESULTS_ALONE = Case("results alone", one(windows(1), 2, gaps=EQUAL), REPEATABLE)
OUTSTANDING_WRITES = Case("outstanding writes", one(PAIRS, 3, writes=2, tears=True), DETERMINISTIC)
OUTSTANDING_WRITES_OF_ONE_KEY = Case(
    "outstanding writes of one key", one(PAIRS, 3, "a", writes=2, tears=True), DETERMINISTIC
)
OUTSTANDING_WRITES_QUEUES_LET_GO = Case(
    "outstanding writes, queues let go",
    one(windows(1), 2, writes=2, tears=True, trims=True),
    REPEATABLE,
)
CATCHING_UP = Case("catching up", one(windows(1), 3, "a", writes=1, reads=True), REPEATABLE)
CATCHING_UP_QUEUES_LET_GO = Case(
    "catching up, queues let go",
    one(windows(1), 3, "a", writes=1, reads=True, trims=True),
    REPEATABLE,
)
ALL_AT_ONCE = Case(
    "all at once",
    one(PAIRS, 3, writes=2, tears=True, trims=True, checks=True),
    DETERMINISTIC,
    quick=False,
)
WINDOWS_BY_TIME = Case("windows by time", one(spans(2), 3, gaps=EQUAL), CONVERGENT_CAPABLE)
WINDOWS_OF_ONE_KEY_BY_TIME = Case(
    "windows of one key by time", one(spans(2), 3, "a", gaps=EQUAL), CONVERGENT_CAPABLE
)
WINDOWS_BY_TIME_BACKGROUND = Case(
    "windows by time, background", one(spans(2), 3, checks=True, trims=True), CONVERGENT_CAPABLE
)
WINDOWS_FROM_THE_FIRST_TUPLE = Case(
    "windows from the first tuple", one(spans(2, aligned=False), 3, checks=True), DETERMINISTIC
)
WINDOWS_OF_ONE_KEY_FROM_ITS_FIRST_TUPLE = Case(
    "windows of one key from its first tuple",
    one(spans(2, aligned=False), 3, "a", checks=True),
    DETERMINISTIC,
)
SLIDING_WINDOWS = Case("sliding windows", one(windows(3, 1), 4, "a", checks=True), REPEATABLE)
WINDOWS_THAT_OVERLAP_IN_PART = Case(
    "windows that overlap in part",
    one(spans(3, 2, aligned=False), 4, "a", gaps=(1, 2)),
    DETERMINISTIC,
)
SLIDING_WINDOWS_BY_TIME = Case(
    "sliding windows by time", one(spans(2, 1), 3, checks=True), CONVERGENT_CAPABLE
)
SLIDING_WINDOWS_OF_ONE_KEY_BY_TIME = Case(
    "sliding windows of one key by time", one(spans(2, 1), 3, "a", checks=True), CONVERGENT_CAPABLE
)
GAPS_BETWEEN_WINDOWS = Case(
    "gaps between windows", one(windows(1, 2), 3, checks=True), DETERMINISTIC
)
GAPS_BETWEEN_WINDOWS_QUEUES_LET_GO = Case(
    "gaps between windows, queues let go", one(windows(1, 2), 3, trims=True), DETERMINISTIC
)
A_FILTER_UPSTREAM = Case("a filter upstream", two(Filter(Type("a")), PAIRS, 3, "ab"), DETERMINISTIC)
AN_AGGREGATE_OF_AN_AGGREGATE = Case(
    "an aggregate of an aggregate", two(windows(1), ALL, 3), DETERMINISTIC
)
ADJACENT_CRASHES = Case("adjacent crashes", two(windows(1), ALL, 2, crashes=2), DETERMINISTIC)
A_JOIN = Case("a join", joined(EVERY, 2, 1), ARBITRARY)
A_JOIN_OF_NEAR_TUPLES = Case("a join of near tuples", joined(NEAR, 2, 1, ((0, 2), (1,))), ARBITRARY)
A_JOIN_BY_COUNT = Case("a join by count", joined(LATEST, 3, 1), ARBITRARY)
A_JOIN_BACKGROUND = Case("a join, background", joined(EVERY, 2, 1, checks=True), ARBITRARY)
A_JOIN_QUEUES_LET_GO = Case(
    "a join, queues let go", joined(EVERY, 2, 1, checks=True, trims=True), ARBITRARY
)
A_JOIN_TWO_CRASHES = Case("a join, two crashes", joined(EVERY, 2, 1, crashes=2), ARBITRARY)
A_JOIN_OUTSTANDING_WRITES = Case(
    "a join, outstanding writes", joined(EVERY, 2, 1, writes=2, tears=True), ARBITRARY
)
A_JOIN_BEHIND_AN_OPERATOR_ADJACENT_CRASHES = Case(
    "a join behind an operator, adjacent crashes",
    joined(EVERY, 1, 1, crashes=2, first=Relay()),
    ARBITRARY,
)
A_JOIN_BY_TIME = Case("a join by time", joined(Ordered(EVERY), 2, 2), REPEATABLE)
A_JOIN_BY_TIME_DISTINCT_TIMES = Case(
    "a join by time, distinct times",
    joined(Ordered(EVERY), 2, 2, ((2,), (3,)), checks=True),
    REPEATABLE,
)
A_UNION = Case("a union", joined(Union(), 2, 1), ARBITRARY)
BACKGROUND_THREE_TUPLES_TWO_CRASHES = Case(
    "background, three tuples, two crashes", one(PAIRS, 3, crashes=2, checks=True), DETERMINISTIC
)
OUTSTANDING_WRITES_BACKGROUND_TWO_CRASHES = Case(
    "outstanding writes, background, two crashes",
    one(PAIRS, 3, "a", crashes=2, writes=2, checks=True),
    DETERMINISTIC,
)
WINDOWS_THAT_ANY_KEY_CLOSES = Case(
    "windows that any key closes", one(any_spans(1), 3, checks=True), REPEATABLE
)
WINDOWS_THAT_ANY_KEY_CLOSES_EQUAL_TIMES = Case(
    "windows that any key closes, equal times",
    one(any_spans(2), 3, gaps=(0, 2), checks=True),
    CONVERGENT_CAPABLE,
)
WINDOWS_FROM_THE_FIRST_TUPLE_THAT_ANY_KEY_CLOSES = Case(
    "windows from the first tuple that any key closes",
    one(any_spans(2, aligned=False), 3, checks=True),
    DETERMINISTIC,
)
WINDOWS_THAT_TICKS_CLOSE = Case(
    "windows that ticks close",
    one(replace(any_spans(2), ticks="t"), 3, "abt", checks=True),
    CONVERGENT_CAPABLE,
)
STREAM_EVENTS_OF_SEVERAL_TUPLES = Case(
    "stream events of several tuples", one(PAIRS, 3, groups=True, checks=True), DETERMINISTIC
)
STREAM_EVENTS_OF_SEVERAL_TUPLES_OUTSTANDING_WRITES = Case(
    "stream events of several tuples, outstanding writes",
    one(PAIRS, 3, "a", groups=True, writes=2, tears=True),
    DETERMINISTIC,
)
STREAM_EVENTS_OF_SEVERAL_TUPLES_QUEUES_LET_GO = Case(
    "stream events of several tuples, queues let go",
    one(PAIRS, 3, groups=True, checks=True, trims=True),
    DETERMINISTIC,
    quick=False,
)
A_JOIN_STREAM_EVENTS_OF_SEVERAL_TUPLES = Case(
    "a join, stream events of several tuples",
    joined(EVERY, 2, 1, groups=True, trims=True),
    ARBITRARY,
)
AN_INDEX = Case("an index", one(windows(1), 2, indexed=True), REPEATABLE)
AN_INDEX_NO_CRASH = Case(
    "an index, no crash",
    one(PAIRS, 3, indexed=True, crashes=0, checks=True, trims=True),
    DETERMINISTIC,
)
AN_INDEX_OUTSTANDING_WRITES = Case(
    "an index, outstanding writes",
    one(windows(1), 2, indexed=True, writes=2, tears=True),
    REPEATABLE,
)
AN_INDEX_QUEUES_LET_GO = Case(
    "an index, queues let go",
    one(PAIRS, 3, "a", indexed=True, trims=True, checks=True),
    DETERMINISTIC,
)
AN_INDEX_TWO_CRASHES = Case(
    "an index, two crashes",
    one(PAIRS, 3, "a", crashes=2, indexed=True, writes=2, checks=True),
    DETERMINISTIC,
)
A_STREAM_IN_MEMORY = Case("a stream in memory", in_memory(3, "ab"), DETERMINISTIC)
A_STREAM_IN_MEMORY_TWO_CRASHES = Case(
    "a stream in memory, two crashes", in_memory(2, "a", crashes=2, trims=True), DETERMINISTIC
)
TWO_OUTPUTS = Case("two outputs", forked(windows(1), 2, "ab"), REPEATABLE)
TWO_OUTPUTS_QUEUES_LET_GO = Case(
    "two outputs, queues let go", forked(windows(1), 2, trims=True), REPEATABLE
)
TWO_OUTPUTS_OUTSTANDING_WRITES = Case(
    "two outputs, outstanding writes", forked(windows(1), 2, writes=2, tears=True), REPEATABLE
)
A_ONE_SIDED_JOIN = Case(
    "a one-sided join", joined(Join(1, one_sided=True), 2, 1, ((0, 2), (1,))), ARBITRARY
)
WINDOWS_OF_ONE_TUPLE_TWO_CRASHES = Case(
    "windows of one tuple, two crashes", one(windows(1), 3, "a", crashes=2), REPEATABLE
)
CATCHING_UP_TWO_CRASHES = Case(
    "catching up, two crashes",
    one(windows(1), 3, "a", crashes=2, writes=1, reads=True),
    REPEATABLE,
)
AN_INDEX_QUEUES_LET_GO_TWO_CRASHES = Case(
    "an index, queues let go, two crashes",
    one(PAIRS, 3, "a", crashes=2, indexed=True, trims=True, checks=True),
    DETERMINISTIC,
)
THREE_TUPLES_ADJACENT_CRASHES = Case(
    "three tuples, adjacent crashes", two(windows(1), ALL, 3, crashes=2), DETERMINISTIC
)
TWO_OUTPUTS_QUEUES_LET_GO_TWO_CRASHES = Case(
    "two outputs, queues let go, two crashes",
    forked(windows(1), 1, crashes=2, trims=True),
    REPEATABLE,
)
A_JOIN_OUTSTANDING_WRITES_TWO_CRASHES = Case(
    "a join, outstanding writes, two crashes",
    joined(EVERY, 1, 1, crashes=2, writes=2, tears=True),
    ARBITRARY,
)
SLIDING_WINDOWS_QUEUES_LET_GO_TWO_CRASHES = Case(
    "sliding windows, queues let go, two crashes",
    one(windows(3, 1), 3, "a", crashes=2, trims=True, checks=True),
    REPEATABLE,
    quick=False,
)
ALL_AT_ONCE_TWO_CRASHES = Case(
    "all at once, two crashes",
    one(PAIRS, 2, crashes=2, writes=2, tears=True, trims=True, checks=True),
    DETERMINISTIC,
    quick=False,
)
STREAM_EVENTS_OF_SEVERAL_TUPLES_QUEUES_LET_GO_TWO_CRASHES = Case(
    "stream events of several tuples, queues let go, two crashes",
    one(PAIRS, 2, crashes=2, groups=True, trims=True, checks=True),
    DETERMINISTIC,
    quick=False,
)
TWO_OUTPUTS_OUTSTANDING_WRITES_TWO_CRASHES = Case(
    "two outputs, outstanding writes, two crashes",
    forked(windows(1), 2, crashes=2, writes=2, tears=True),
    REPEATABLE,
    quick=False,
)
A_UNION_TWO_CRASHES = Case(
    "a union, two crashes", joined(Union(), 2, 1, crashes=2), ARBITRARY, quick=False
)
A_JOIN_BY_TIME_DISTINCT_TIMES_TWO_CRASHES = Case(
    "a join by time, distinct times, two crashes",
    joined(Ordered(EVERY), 2, 2, ((2,), (3,)), crashes=2, checks=True),
    REPEATABLE,
    quick=False,
)
A_JOIN_QUEUES_LET_GO_TWO_CRASHES = Case(
    "a join, queues let go, two crashes",
    joined(EVERY, 2, 1, crashes=2, checks=True, trims=True),
    ARBITRARY,
    quick=False,
)
NO_CRASH = Case("no crash", one(PAIRS, 3, crashes=0, checks=True, trims=True), DETERMINISTIC)
NO_CRASH_GAPS_BETWEEN_WINDOWS = Case(
    "no crash, gaps between windows",
    one(windows(1, 2), 3, crashes=0, checks=True, trims=True),
    DETERMINISTIC,
)
