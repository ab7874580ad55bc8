"""The properties of checkpoint roll-backward beyond its output: waits and leaks at rest.

Rule of this file: a look at the states of nodes; no step.
Sebepou and Magoutis, CEC, 2011, Section II: queues preserve results "until receiving an
acknowledgment from all downstream nodes".
"""

from __future__ import annotations

from model.core import Observation, Property, Scope, When
from model.protocols.crb.messages import CrbOperator, CrbSink
from model.queues import QueueState


def _is_answered(_scope: Scope, seen: Observation) -> bool:
    """Has every consumer the answer to its request?"""
    ends = [
        inlet
        for _, state in seen.states
        if isinstance(state, CrbOperator | CrbSink)
        for inlet in (state.inlets if isinstance(state, CrbOperator) else (state.inlet,))
    ]
    return all(inlet.request is None for inlet in ends)


def _lets_go(_scope: Scope, seen: Observation) -> bool:
    """At rest everything is in a checkpoint or taken, also after a restart."""
    for _, state in seen.states:
        queue = state.queue if isinstance(state, CrbOperator) else state
        if isinstance(queue, QueueState) and queue.kept:
            return False
    return True


ANSWERED = Property("at rest, nobody waits for an answer", When.QUIESCENT, _is_answered, nodes=True)
QUEUES_EMPTY = Property(
    "at rest, no queue keeps an acknowledged output", When.QUIESCENT, _lets_go, nodes=True
)
