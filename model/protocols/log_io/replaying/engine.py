"""The pipeline engine: it asks replay operators for outputs.

Rule of this file: the engine never crashes, and remembers nothing.
LOG.io, Section 5.2.
"""

from __future__ import annotations

from typing import Any

from model.core import Answer, Lost, NodeName, Send, Site
from model.graph import SINK, Graph
from model.protocols.log_io.design import Replaying
from model.protocols.log_io.replaying.messages import Ask, Regenerate


def ask(site: Site, _state: None, _sender: NodeName, message: Any) -> Answer:
    """The step of the engine on the failure of an operator, or when an operator lacks inputs."""
    match message:
        case Lost():  # who restarts marks the inputs that it lacks, and asks then
            return None, ()
        case Ask(operators):
            return None, tuple(Send(name, Regenerate()) for name in operators)
    raise TypeError(f"{site.name}: nothing to do with {message}")


def replay_operators_before(
    replaying: Replaying, graph: Graph
) -> tuple[tuple[NodeName, tuple[NodeName, ...]], ...]:
    """By operator, the replay operators before it, through others of these."""
    before: dict[NodeName, tuple[NodeName, ...]] = {}
    for name in graph.order():
        preds = [pred for pred in graph.preds(name) if pred in replaying.operators]
        if preds and graph.specs[name] is not SINK:
            far = {one for pred in preds for one in before.get(pred, ())}
            before[name] = tuple(sorted(far.union(preds)))
    return tuple(before.items())
