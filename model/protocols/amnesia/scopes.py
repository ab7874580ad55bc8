"""The scopes in which amnesia is explored, with the verdict expected in each.

Rule of this file: no scope without an operator of another kind or a crash of another kind; amnesia
runs whatever the other families run.
"""

from __future__ import annotations

from typing import Any

from model.boxes.aggregate import Aggregate
from model.boxes.join import Join
from model.boxes.reorder import Ordered
from model.boxes.stateless import Relay
from model.cep.engines import Function
from model.cep.one_run import one_run
from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.windows import CountWindows, TimeWindows
from model.core import Guarantee, OperatorClass, Scope
from model.evidence import Case
from model.graph import SINK, SOURCE, Graph, chain
from model.pair_scopes import FILTER_AND_UNION, joined, read_twice, two
from model.parts import over_words

REPEATABLE = OperatorClass.REPEATABLE
CONVERGENT_CAPABLE = OperatorClass.CONVERGENT_CAPABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC
ARBITRARY = OperatorClass.ARBITRARY
GAP = Guarantee.GAP

PAIRS = Aggregate("list", 2, 2, of="time")
MATCH = Operator(one_run("a", "b"), CountWindows(2, 2))
SERIAL = Operator(one_run("a", "a"), TimeWindows(2, 2), parallel=False)
LATER = Operator(sequence("match"), CountWindows(1, 1), "later")


def two_sources(*operators: tuple[str, Any]) -> Graph:
    """The graph in which the first of the operators has two sources, and the others follow it."""
    names = [name for name, _ in operators]
    rest = zip(names, (*names[1:], "sink"), strict=True)
    nodes = (("left", SOURCE), ("right", SOURCE), *operators, ("sink", SINK))
    return Graph(nodes, (("left", names[0]), ("right", names[0]), *rest))


BESIDE = Graph(
    (
        ("source", SOURCE),
        ("match", MATCH),
        ("merge", Operator(Function(lambda window: (window,)), CountWindows(2, 2))),
        ("sink", SINK),
    ),
    (("source", "match"), ("match", "merge"), ("source", "merge"), ("merge", "sink")),
)
"""An operator that merges what another one makes of its input with the input itself; it puts out
every two events, so that their order is seen."""


def words(graph: Graph, length: int, types: str = "ab", crashes: int = 1) -> Scope:
    return over_words(graph, length, types, crashes=crashes)


SCOPES = (
    Case("a relay", words(chain(("A", Relay())), 2, "a"), REPEATABLE).fails(37, 3, GAP),
    Case("a pattern", words(chain(("A", MATCH)), 2), DETERMINISTIC).fails(61, 4, GAP),
    Case("a pattern, twice", words(chain(("A", MATCH)), 3, crashes=2), DETERMINISTIC).fails(
        368, 4, GAP
    ),
    Case("a pattern, window by window", words(chain(("A", SERIAL)), 3, "a"), DETERMINISTIC).fails(
        40, 5, GAP
    ),
    Case("an aggregate", words(chain(("A", PAIRS)), 3), DETERMINISTIC).fails(287, 4, GAP),
    Case("two operators", words(chain(("A", MATCH), ("B", LATER)), 3), DETERMINISTIC).fails(
        303, 4, GAP
    ),
    Case("a merge", words(BESIDE, 3), DETERMINISTIC).fails(3_578, 6, GAP),
    Case("a join", words(two_sources(("A", Join(9))), 1, "a"), ARBITRARY).fails(35, 4, GAP),
    Case("a join in the order of time", joined(Ordered(Join(9)), 2, 1), REPEATABLE).fails(
        70, 5, GAP
    ),
    Case("two consumers", read_twice(words(chain(("A", Relay())), 2, "a")), REPEATABLE).fails(
        114, 3, GAP
    ),
    Case(
        "a filter, a union and two consumers",
        read_twice(two(FILTER_AND_UNION, 1, 1)),
        ARBITRARY,
    ).fails(213, 3, GAP),
    Case(
        "nothing fails", words(chain(("A", MATCH), ("B", LATER)), 4, crashes=0), DETERMINISTIC
    ).holds(172),
    Case(
        "nothing fails, two sources", words(two_sources(("A", MATCH)), 2, crashes=0), DETERMINISTIC
    ).holds(299),
    Case("nothing fails, a merge", words(BESIDE, 4, crashes=0), DETERMINISTIC).holds(1_821),
    Case(
        "nothing fails, an aggregate", words(chain(("A", PAIRS)), 4, crashes=0), DETERMINISTIC
    ).holds(213),
    Case("nothing fails, a join", words(two_sources(("A", Join(9))), 2, "a", 0), ARBITRARY).holds(
        57
    ),
)
