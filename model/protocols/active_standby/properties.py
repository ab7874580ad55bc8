"""The properties of active standby beyond its output: the waits and leaks of replicas.

Rule of this file: a look at the states of replicas; no step.
Hwang et al., Section 5.3: "bounding the output queues on each secondary".
"""

from __future__ import annotations

from model.core import Observation, Property, Scope, When
from model.protocols.active_standby.design import Trims
from model.protocols.active_standby.messages import Joining, Replica
from model.protocols.active_standby.watermarks import is_duplicate
from model.standbys import producers


def _lets_go(_scope: Scope, seen: Observation) -> bool:
    """Both replicas number their outputs alike: the node is deterministic, or logs determinants.

    A scope has one node with a secondary, so all replicas are of this node.
    """
    replicas = [state for _, state in seen.states if isinstance(state, Replica)]
    primaries = [one for one in replicas if one.leads]
    queues = [one.queue for one in primaries]
    overdue = (out for queue in queues for out in queue.kept if out.place <= queue.released)
    behind = (
        _keeps_duplicates(one, primary.queue.received)
        for one in replicas
        for primary in primaries
        if not one.leads
    )
    return not any(overdue) and not any(behind)


def _keeps_duplicates(secondary: Replica, received: int) -> bool:
    """Does the secondary keep an output with lower watermarks than the last one received?"""
    served = [output for output in secondary.queue.kept if output.place <= received]
    if not served:
        return False
    marks = served[-1].marks[len(secondary.inlets) :]
    return any(is_duplicate(Trims.ALL_LOWER, one.marks, marks) for one in served)


def _is_idle(_scope: Scope, seen: Observation) -> bool:
    """A replica that waits for a tuple, a determinant, a copy or an answer is not idle."""
    for _, state in seen.states:
        if isinstance(state, Joining):
            return False
        if isinstance(state, Replica):
            waits = state.leads and (
                state.forwarded < state.queue.place or producers.waits(state.queue)
            )
            if waits or state.order or any(state.pending):
                return False
    return True


IDLE = Property("at rest, no replica waits", When.QUIESCENT, _is_idle, nodes=True)
LETS_GO = Property(
    "at rest, no replica keeps outputs that its readers have released",
    When.QUIESCENT,
    _lets_go,
    nodes=True,
)
