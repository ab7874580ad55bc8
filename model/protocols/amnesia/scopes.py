"""The scopes in which amnesia is explored, with the verdict expected in each.

Rule of this file: no scope without an operator of another kind or a crash of another kind; amnesia
runs whatever the other families run.
"""

from __future__ import annotations

from typing import Any

from model.boxes.aggregate import Aggregate
from model.boxes.join import Join
from model.boxes.stateless import Relay
from model.cep.engines import Function
from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.windows import CountWindows, TimeWindows
from model.core import Guarantee, OperatorClass, Outcome, PinnedScope, Scope
from model.graph import SINK, SOURCE, Graph, chain
from model.parts import over_words

REPEATABLE = OperatorClass.REPEATABLE
CONVERGENT_CAPABLE = OperatorClass.CONVERGENT_CAPABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC
ARBITRARY = OperatorClass.ARBITRARY

PAIRS = Aggregate("list", 2, 2, of="time")
MATCH = Operator(sequence("a", "b"), CountWindows(2, 2))
SERIAL = Operator(sequence("a", "a"), TimeWindows(2, 2), parallel=False)
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


def lost(
    name: str, scope: Scope, operators: OperatorClass, states: int, steps: int = 4
) -> PinnedScope:
    """A scope with a crash: what the node held is lost."""
    refuted, gap = Outcome.REFUTED, Guarantee.GAP
    return PinnedScope(name, scope, operators, refuted, states, steps, gap)


def right(name: str, scope: Scope, operators: OperatorClass, states: int) -> PinnedScope:
    """A scope without a crash: the output is right."""
    return PinnedScope(name, scope, operators, states=states)


def words(graph: Graph, length: int, types: str = "ab", crashes: int = 1) -> Scope:
    return over_words(graph, length, types, crashes=crashes)


SCOPES = (
    lost("a relay", words(chain(("A", Relay())), 2, "a"), REPEATABLE, 37, 3),
    lost("a pattern", words(chain(("A", MATCH)), 2), DETERMINISTIC, 61),
    lost("a pattern, twice", words(chain(("A", MATCH)), 3, crashes=2), DETERMINISTIC, 368),
    lost("a pattern, window by window", words(chain(("A", SERIAL)), 3, "a"), DETERMINISTIC, 40, 5),
    lost("an aggregate", words(chain(("A", PAIRS)), 3), DETERMINISTIC, 287),
    lost("two operators", words(chain(("A", MATCH), ("B", LATER)), 3), DETERMINISTIC, 303),
    lost("a merge", words(BESIDE, 3), DETERMINISTIC, 3_578, 6),
    lost("a join", words(two_sources(("A", Join(9))), 1, "a"), ARBITRARY, 35),
    right(
        "nothing fails", words(chain(("A", MATCH), ("B", LATER)), 4, crashes=0), DETERMINISTIC, 172
    ),
    right(
        "nothing fails, two sources",
        words(two_sources(("A", MATCH)), 2, crashes=0),
        DETERMINISTIC,
        299,
    ),
    right("nothing fails, a merge", words(BESIDE, 4, crashes=0), DETERMINISTIC, 1_821),
    right(
        "nothing fails, an aggregate", words(chain(("A", PAIRS)), 4, crashes=0), DETERMINISTIC, 213
    ),
    right("nothing fails, a join", words(two_sources(("A", Join(9))), 2, "a", 0), ARBITRARY, 57),
)
