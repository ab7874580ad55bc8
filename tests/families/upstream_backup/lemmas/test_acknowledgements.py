"""What the proof about acknowledgements asks of the model is so, also in graphs with shortcuts."""

from __future__ import annotations

import pytest

from model.cep.engines import Engine
from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.windows import CountWindows
from model.core import Arrival, Inputs, Scope
from model.graph import SINK, SOURCE, Graph
from model.play import Play
from model.protocols.upstream_backup.buffers import Restore
from model.protocols.upstream_backup.states import OperatorNode
from model.registry import protocols
from model.world import World
from proofs.lemmas.upstream_backup.acknowledgements.abstraction import ABSTRACTIONS
from proofs.prove.conformance import compare

PROTOCOL = protocols()["upstream-backup"]


def each(type_: str) -> Operator:
    engine: Engine = sequence(type_)
    return Operator(engine, CountWindows(1, 1))


EVENT = Arrival(1, "a")
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
    (("O", Inputs((EVENT,), 4)), ("P", Inputs((EVENT,), 4))),
)
"""The graph that loses events if a restarted node receives savepoints of others."""

LIMIT = 4_000


def worlds(victim: str) -> list[World]:
    """All events come and are acknowledged, then `victim` crashes and is restored."""
    found: list[World] = []
    play = Play(PROTOCOL, SHORTCUT, lambda _before, _action, after: found.append(after))
    for _ in range(4):
        for source in ("O", "P"):
            play.inject(source, EVENT)
            play.settle()
    play.crash(victim)
    play.settle()
    return found


@pytest.mark.parametrize("victim", ["Q", "A", "B", "C"])
def test_nodes_hold_savepoints_of_themselves_and_of_nodes_below_alone(victim: str) -> None:
    graph = SHORTCUT.graph
    restored: set[str] = set()
    for world in worlds(victim):
        for (name, _), node in zip(graph.nodes, world.nodes, strict=True):
            if isinstance(node.state, OperatorNode):
                held = {of for of, _ in node.state.replicas}
                assert held <= {name} | graph.descendants(name)
        for channel in world.channels:
            for message in channel:
                if isinstance(message, Restore):
                    restored |= {name for name, _ in message.replicas}
    assert victim in restored, "otherwise it was restored from nothing"


def test_a_graph_with_shortcuts_does_not_drift() -> None:
    (account,) = compare(ABSTRACTIONS, PROTOCOL, SHORTCUT, limit=LIMIT).values()
    assert account.drift is None
    assert account.states
