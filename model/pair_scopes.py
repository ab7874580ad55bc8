"""The networks in which process pairs are explored: one or more for each class of operators.

Rule of this file: no verdict; the families have what is expected in each scope.

The operator A may crash, and so may its secondary.  An aggregate lists the times of the tuples in a
window, so a tuple that is lost or counted twice is seen.
Hwang et al., Section 3.2, Fig. 3.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from model.boxes.aggregate import Aggregate
from model.boxes.join import Join
from model.boxes.network import INPUT, OUTPUT, Arc, Network
from model.boxes.reorder import Ordered
from model.boxes.stateless import Filter, Map, Relay, Union
from model.core import Arrival, Inputs, OperatorClass, Scope
from model.evidence import Case
from model.graph import SINK, SOURCE, Graph, chain
from model.parts import over_words
from model.predicates import Not, Type
from model.standbys.streams import OutputStream

REPEATABLE = OperatorClass.REPEATABLE
CONVERGENT_CAPABLE = OperatorClass.CONVERGENT_CAPABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC
ARBITRARY = OperatorClass.ARBITRARY


def windows(size: int, advance: int, **more: Any) -> Aggregate:
    """The list of the times of the tuples in a window."""
    return Aggregate("list", size, advance, of="time", **more)


def one(spec: Any, length: int, types: str = "a", **more: Any) -> Scope:
    return over_words(chain(("A", spec)), length, types, **more)


def two(spec: Any, left: int, right: int, types: str = "b") -> Scope:
    """One operator with two sources, of so many events each; types: of the right one.  Its
    secondary does not crash."""
    nodes = (("left", SOURCE), ("right", SOURCE), ("A", spec), ("sink", SINK))
    graph = Graph(nodes, (("left", "A"), ("right", "A"), ("A", "sink")))
    inputs = (
        ("left", Inputs((Arrival(1, "a"),), left)),
        ("right", Inputs(tuple(Arrival(5, type_) for type_ in types), right)),
    )
    return Scope(graph, inputs, victims=frozenset({"A"}))


def joined(spec: Any, left: int, right: int) -> Scope:
    """As `two`, with events of both sources that are equally far apart."""
    scope = two(spec, left, right)
    return replace(scope, inputs=(scope.inputs[0], ("right", Inputs((Arrival(1, "b"),), right))))


def read_twice(scope: Scope) -> Scope:
    """The scope with a second application that reads the outputs of A."""
    nodes, edges = scope.graph.nodes, scope.graph.edges
    graph = Graph((*nodes, ("other", SINK)), (*edges, ("A", "other")))
    return replace(scope, graph=graph)


def two_streams(spec: Any, length: int, types: str) -> Scope:
    """The operator A with two output streams: the tuples of the first type, those of the second."""
    nodes = (
        *(("source", SOURCE), ("A", spec), ("sink", SINK), ("other", SINK)),
        *(("one", OutputStream(Type(types[0]))), ("two", OutputStream(Type(types[1])))),
    )
    edges = (("source", "A"), ("A", "one"), ("A", "two"), ("one", "sink"), ("two", "other"))
    return over_words(Graph(nodes, edges), length, types)


def after_union(box: Any) -> Network:
    """The network inside a node in which a box follows a union of two inputs."""
    arcs = (Arc(INPUT, "union", 0, 0), Arc(INPUT, "union", 1, 1))
    boxes = (("union", Union()), ("box", box))
    return Network(boxes, (*arcs, Arc("union", "box"), Arc("box", OUTPUT)))


def series(first: Any, second: Any) -> Network:
    """The network inside a node in which one box follows the other."""
    arcs = (Arc(INPUT, "first"), Arc("first", "second"), Arc("second", OUTPUT))
    return Network((("first", first), ("second", second)), arcs)


def beside(first: Any, second: Any) -> Network:
    """The network inside a node in which two boxes get the same input."""
    ends = ((INPUT, "first"), (INPUT, "second"), ("first", OUTPUT), ("second", OUTPUT))
    return Network((("first", first), ("second", second)), tuple(Arc(*end) for end in ends))


COPIES = beside(Map("one"), Map("two"))
"""Two paths through a node: each tuple comes out twice, in two forms."""

LAST_ALONE = Network(
    (
        ("union", Union()),
        ("paired", Filter(Not(Type("c")))),
        ("pairs", windows(2, 2)),
        ("alone", Filter(Type("c"))),
    ),
    (
        Arc(INPUT, "union", 0, 0),
        Arc(INPUT, "union", 1, 1),
        Arc("union", "paired"),
        Arc("paired", "pairs"),
        Arc("pairs", OUTPUT),
        Arc("union", "alone"),
        Arc("alone", OUTPUT),
    ),
)
"""Behind a union, tuples of type c come out alone, and the others in pairs."""

FILTER_AND_UNION = Network(
    (("filter", Filter(Type("a"))), ("union", Union())),
    (
        Arc(INPUT, "filter", 0),
        Arc("filter", "union", 0, 0),
        Arc(INPUT, "union", 1, 1),
        Arc("union", OUTPUT),
    ),
)
"""The node Na of Fig. 5: a filter of the first input, and a union with the second one."""

RELAYS = replace(
    over_words(chain(("A", Relay()), ("B", Relay())), 2, "a"), victims=frozenset({"A"})
)
"""Two nodes in a row, of which the second one has no secondary."""

PAIRED, SLIDING, EVERY = windows(2, 2), windows(2, 1, by="time"), windows(1, 2)
A_RELAY = Case("a relay", one(Relay(), 2), REPEATABLE)
A_TUPLE = Case("a tuple", one(Relay(), 1), REPEATABLE)
A_FILTER = Case("a filter", one(Filter(Type("a")), 2, "ab"), REPEATABLE)
TWO_PATHS = Case("two paths", one(COPIES, 1), REPEATABLE)
SLIDING_WINDOWS = Case("sliding windows", one(SLIDING, 3), CONVERGENT_CAPABLE)
WINDOWS_THAT_CLOSE_TOGETHER = Case(
    "windows that close together", one(windows(3, 1, by="time"), 2, gaps=(1, 3)), CONVERGENT_CAPABLE
)
PAIRS = Case("pairs", one(PAIRED, 3), DETERMINISTIC)
A_PAIR = Case("a pair", one(PAIRED, 2), DETERMINISTIC)
EVERY_OTHER_TUPLE = Case("every other tuple", one(EVERY, 3), DETERMINISTIC)
TWO_OPERATORS_IN_A_NODE = Case(
    "two operators in a node", one(series(Map("b"), PAIRED), 3), DETERMINISTIC
)
A_UNION = Case("a union", two(Union(), 1, 1), ARBITRARY)
ONE_TUPLE_OF_A_UNION = Case("one tuple of a union", two(Union(), 1, 0), ARBITRARY)
PAIRS_OF_A_UNION = Case("pairs of a union", two(after_union(windows(2, 1)), 2, 1), ARBITRARY)
TWO_PATHS_AFTER_A_UNION = Case("two paths after a union", two(LAST_ALONE, 2, 2, "bc"), ARBITRARY)
A_JOIN = Case("a join", joined(Join(9), 2, 1), ARBITRARY)
A_JOIN_BY_TIME = Case("a join in the order of time", joined(Ordered(Join(9)), 2, 2), REPEATABLE)
A_JOIN_BY_TIME_THREE_TUPLES = Case(
    "a join in the order of time, three tuples", joined(Ordered(Join(9)), 2, 1), REPEATABLE
)
TWO_CONSUMERS = Case("two consumers", read_twice(one(Relay(), 2)), REPEATABLE)
FIGURE_5 = Case(
    "a filter, a union and two consumers", read_twice(two(FILTER_AND_UNION, 1, 1)), ARBITRARY
)
TWO_STREAMS = Case("two output streams", two_streams(Relay(), 2, "ab"), REPEATABLE)
A_WINDOW_BESIDE_AN_APPLICATION = Case(
    "two consumers, one with windows",
    over_words(
        Graph(
            (
                ("source", SOURCE),
                ("A", Relay()),
                ("B", windows(2, 1)),
                ("sink", SINK),
                ("other", SINK),
            ),
            (("source", "A"), ("A", "B"), ("B", "sink"), ("A", "other")),
        ),
        2,
        "a",
    ),
    REPEATABLE,
)
TWO_NODES = Case(
    "two nodes", over_words(chain(("A", Relay()), ("B", PAIRED)), 2, "a"), DETERMINISTIC
)
TWO_NODES_THAT_RELAY = Case(
    "two nodes that relay",
    over_words(chain(("A", Relay()), ("B", SLIDING)), 2, "a"),
    CONVERGENT_CAPABLE,
)
PAIRS_BEHIND_A_NODE = Case(
    "pairs behind a node", replace(TWO_NODES.scope, victims=frozenset({"A"})), DETERMINISTIC
)
TWO_NODES_WINDOWS_BY_TIME = Case(
    "two nodes, windows by time",
    over_words(chain(("A", Relay()), ("B", windows(3, 3, by="time"))), 3, "a"),
    CONVERGENT_CAPABLE,
)
TWO_RELAYS = Case("two relays", RELAYS, REPEATABLE)
TWO_NODES_THREE_TUPLES = Case(
    "two nodes, three tuples",
    over_words(chain(("A", Relay()), ("B", windows(3, 3))), 3, "a"),
    DETERMINISTIC,
)
TWO_NODES_OVERLAPPING_WINDOWS = Case(
    "two nodes, overlapping windows",
    over_words(chain(("A", Relay()), ("B", windows(2, 1))), 3, "a"),
    REPEATABLE,
)
A_WINDOW_BESIDE_A_MAP = Case(
    "a window beside a map", one(beside(windows(3, 3), Map("b")), 3), DETERMINISTIC
)
WINDOWS_BY_KEY = Case(
    "windows by key", one(windows(2, 2, by="time", group="type"), 4, "ab", gaps=(2,)), REPEATABLE
)
SLIDING_WINDOWS_FOUR_TUPLES = Case(
    "sliding windows, four tuples", one(SLIDING, 4), CONVERGENT_CAPABLE
)
WINDOWS_FROM_THE_FIRST_TUPLE = Case(
    "windows from the first tuple",
    one(windows(2, 2, by="time", aligned=False), 4, gaps=(3,)),
    DETERMINISTIC,
)
NO_CRASH = Case("no crash", one(Relay(), 2, crashes=0), REPEATABLE)
NO_CRASH_A_FILTER = Case(
    "no crash, a filter", one(Filter(Type("a")), 2, "ab", crashes=0), REPEATABLE
)
NO_CRASH_SLIDING_WINDOWS = Case(
    "no crash, sliding windows", one(SLIDING, 3, crashes=0), CONVERGENT_CAPABLE
)


def any_replica(case: Case) -> Case:
    """The case in which any crashable node crashes, the secondary, too."""
    return replace(case, name=f"{case.name}, any replica", scope=replace(case.scope, victims=None))


def the_secondary(case: Case) -> Case:
    """The case in which the secondary of A alone crashes."""
    scope = replace(case.scope, victims=frozenset({"A'"}))
    return replace(case, name=f"{case.name}, the secondary", scope=scope)


A_RELAY_SECONDARY = the_secondary(A_RELAY)
A_UNION_SECONDARY = the_secondary(A_UNION)
PAIRS_OF_A_UNION_SECONDARY = the_secondary(PAIRS_OF_A_UNION)
A_UNION_ANY = any_replica(A_UNION)
ONE_TUPLE_OF_A_UNION_ANY = any_replica(ONE_TUPLE_OF_A_UNION)


def twice(case: Case) -> Case:
    """The case with two crashes, of any crashable nodes."""
    scope = replace(case.scope, crashes=2, victims=None)
    return replace(case, name=f"{case.name}, two crashes", scope=scope)


A_RELAY_TWO_CRASHES = twice(A_RELAY)
A_TUPLE_TWO_CRASHES = twice(A_TUPLE)
A_FILTER_TWO_CRASHES = twice(A_FILTER)
SLIDING_WINDOWS_TWO_CRASHES = twice(SLIDING_WINDOWS)
PAIRS_TWO_CRASHES = twice(PAIRS)
A_PAIR_TWO_CRASHES = twice(A_PAIR)
TWO_OPERATORS_IN_A_NODE_TWO_CRASHES = twice(TWO_OPERATORS_IN_A_NODE)
THREE_TUPLES_OF_A_UNION_TWO_CRASHES = twice(
    Case("three tuples of a union", two(Union(), 2, 1), ARBITRARY)
)
ONE_TUPLE_OF_A_UNION_TWO_CRASHES = twice(ONE_TUPLE_OF_A_UNION)
A_UNION_TWO_CRASHES = twice(A_UNION)
PAIRS_OF_A_UNION_TWO_CRASHES = twice(PAIRS_OF_A_UNION)
TWO_NODES_TWO_CRASHES = twice(TWO_NODES)
TWO_NODES_THAT_RELAY_TWO_CRASHES = twice(TWO_NODES_THAT_RELAY)
TWO_NODES_WINDOWS_BY_TIME_TWO_CRASHES = twice(TWO_NODES_WINDOWS_BY_TIME)
TWO_NODES_OVERLAPPING_WINDOWS_TWO_CRASHES = twice(TWO_NODES_OVERLAPPING_WINDOWS)
SLIDING_WINDOWS_FOUR_TUPLES_TWO_CRASHES = twice(SLIDING_WINDOWS_FOUR_TUPLES)
WINDOWS_FROM_THE_FIRST_TUPLE_TWO_CRASHES = twice(WINDOWS_FROM_THE_FIRST_TUPLE)
