"""What the proof about acknowledgements asks of the model is so, also in graphs with shortcuts."""

from __future__ import annotations

from model.backup import Ack, Restore
from model.core import Arrival, Inputs, Scope
from model.engines import Engine
from model.graph import SINK, SOURCE, Graph
from model.operator import Operator
from model.patterns import sequence
from model.registry import protocols
from model.upstream import OperatorNode
from model.windows import CountWindows
from proofs.drift import compare
from proofs.explore import edges
from proofs.lemmas.upstream_backup.acks_seen import ABSTRACTIONS

PROTOCOL = protocols()["upstream-backup"]


def each(type_: str) -> Operator:
    engine: Engine = sequence(type_)
    return Operator(engine, CountWindows(1, 1))


SHORTCUT = Scope(
    Graph(
        (
            ("O", SOURCE),
            ("P", SOURCE),
            ("Q", each("a")),
            ("A", each("match")),
            ("B", each("match")),
            ("C", each("match")),
            ("sink", SINK),
        ),
        (
            ("O", "Q"),
            ("Q", "A"),
            ("P", "A"),
            ("Q", "B"),
            ("A", "B"),
            ("B", "C"),
            ("P", "C"),
            ("C", "sink"),
        ),
    ),
    (("O", Inputs((Arrival(1, "a"),), 1)), ("P", Inputs((Arrival(2, "b"),), 1))),
    crashes=2,
)
"""The graph in which telling a restarted node of others loses events."""

LIMIT = 4_000


def test_nodes_hold_savepoints_of_themselves_and_of_nodes_below_alone() -> None:
    graph, seen = SHORTCUT.graph, 0
    names = [name for name, _ in graph.nodes]
    for _, _, world in edges(PROTOCOL, SHORTCUT, limit=LIMIT):
        for name, node in zip(names, world.nodes, strict=True):
            if isinstance(node.state, OperatorNode):
                held = {of for of, _ in node.state.replicas}
                assert held <= {name} | graph.descendants(name)
        for channel in world.channels:
            for message in channel:
                seen += isinstance(message, Ack | Restore)
    assert seen, "otherwise nothing was told"


def test_a_graph_with_shortcuts_does_not_drift() -> None:
    (account,) = compare(ABSTRACTIONS, PROTOCOL, SHORTCUT, limit=LIMIT).values()
    assert account.drift is None
    assert account.states
