"""Pipelines of several inputs under a random attack: crashes between any two effects, untimed.

The families are those that tests/sim/test_pipelines.py simulates; a scope has two or three sources,
an operator of several inputs, and one before or behind it.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.boxes.aggregate import Aggregate
from model.boxes.join import Join
from model.boxes.reorder import Ordered
from model.boxes.stateless import Filter, Union
from model.cep.box import CepBox
from model.cep.engines import Partitioned
from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.stateless import joining, passing
from model.cep.windows import TimeWindows
from model.core import Arrival, Guarantee, Inputs, Scope
from model.graph import SINK, SOURCE, Graph
from model.predicates import ANYTHING, Where
from model.properties import at_least
from model.protocol import Failures, Protocol
from model.registry import modules
from proofs.explore.explorer import explore
from proofs.explore.random_attack import attack
from tests.sim.test_pipelines import PRECISE
from tests.sizes import FULL

WALKS, EXAMPLES = (400, 50) if FULL else (40, 5)
FAMILIES = {protocol.name: protocol for protocol in modules().values()}
FEW = Where("key", "==", 1)
KEYED = Operator(Partitioned(sequence("a", "b"), "key"), TimeWindows(4, 2))
PAIRS = Aggregate("list", 2, 2, of="time")


def scope(*operators: object, sources: int = 2, crashes: int = 2) -> Scope:
    """Operators one after the other; the first one reads one source, and the second all others."""
    names = [f"s{number}" for number in range(sources)]
    called = [f"o{number}" for number in range(len(operators))]
    nodes = ((name, SOURCE) for name in names)
    first = [(names[0], called[0])] if len(operators) > 1 else []
    rest = [(name, called[min(1, len(called) - 1)]) for name in names[len(first) :]]
    line = list(zip(called, (*called[1:], "sink"), strict=True))
    graph = Graph(
        (*nodes, *zip(called, operators, strict=True), ("sink", SINK)),
        (*first, *line[:1], *rest, *line[1:]) if first else (*rest, *line),
    )
    inputs = tuple(
        (
            name,
            Inputs(
                tuple(Arrival(gap, kind, (("key", key),)) for gap in (0, 1) for key in (1, 2)), 4
            ),
        )
        for name, kind in zip(names, "abc", strict=False)
    )
    return Scope(graph, inputs, crashes)


BOXES = {
    "a join behind a filter": scope(Filter(FEW), Ordered(Join(2, "key", flat=True))),
    "pairs of three sources": scope(Ordered(PAIRS), sources=3),
    "a union behind a filter": scope(Filter(FEW), Ordered(Union()), PAIRS, sources=3),
    "a keyed pattern of two sources": scope(Ordered(CepBox(KEYED))),
}
CEP = {
    "a join behind a filter": scope(passing(FEW), joining(frozenset("a"), 2, "key", "pair")),
    "a union behind a filter": scope(passing(FEW), passing(ANYTHING), KEYED, sources=3),
    "a keyed pattern of two sources": scope(KEYED),
    "a filter behind a union": scope(passing(ANYTHING), passing(FEW), sources=1),
}
"""The forms of `upstream-backup`."""
CASES = [
    *((name, case) for name in PRECISE if name != "upstream-backup" for case in BOXES),
    *(("upstream-backup", case) for case in CEP),
]


@pytest.mark.parametrize(("name", "case"), CASES)
def test_no_walk_finds_a_run_whose_output_differs(name: str, case: str) -> None:
    protocol = FAMILIES[name]
    found = attack(protocol, walks=WALKS, examples=EXAMPLES, scopes=[asked(protocol, case)])
    assert found.failure is None, found.failure
    assert found.walks == WALKS


def asked(protocol: Protocol, case: str) -> Scope:
    """The scope in the family's form; with one crash where a single failure is assumed."""
    chosen = (CEP if protocol.name == "upstream-backup" else BOXES)[case]
    single = protocol.promise.assumes.failures is Failures.SINGLE
    return replace(chosen, crashes=1) if single else chosen


@pytest.mark.parametrize("case", BOXES)
def test_the_attack_finds_lost_results(case: str) -> None:
    """A family that loses what a crash takes is refuted in each scope."""
    precise = replace(FAMILIES["amnesia"].promise, properties=(at_least(Guarantee.PRECISE),))
    found = attack(
        replace(FAMILIES["amnesia"], promise=precise), walks=400, examples=0, scopes=[BOXES[case]]
    )
    assert found.failure is not None


SMALL = {
    "a filter and a union": scope(passing(FEW), passing(ANYTHING), crashes=1),
    "a join": scope(joining(frozenset("a"), 1, None, "pair"), crashes=1),
}


@pytest.mark.parametrize("case", SMALL)
def test_upstream_backup_keeps_operators_of_single_events_safe_in_all_small_worlds(
    case: str,
) -> None:
    inputs = tuple(
        (name, Inputs((Arrival(1, kind, (("key", 1),)), Arrival(1, kind, (("key", 2),))), 1))
        for name, kind in zip(("s0", "s1"), "ab", strict=True)
    )
    lengths = tuple((name, one._replace(length=2 - at)) for at, (name, one) in enumerate(inputs))
    found = explore(FAMILIES["upstream-backup"], replace(SMALL[case], inputs=lengths))
    assert found.counterexample is None
    assert found.guarantee is Guarantee.PRECISE
