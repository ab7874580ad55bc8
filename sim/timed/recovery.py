"""The phases of a recovery, as the driver sees them: which step or arrival ends which.

Rule of this file: it records times in outages, and changes nothing that a run depends on.
"""

from __future__ import annotations

from collections.abc import Iterable

from model.core import RESTORED, Effect, Input, Note, Received, Role
from model.graph import Graph
from model.protocol import Protocol
from model.system import size_of
from sim.timed.failures import TimedOutage
from sim.timed.network import TimedNode


def record_step(
    protocol: Protocol,
    node: TimedNode,
    times: tuple[int, int, int],
    effects: tuple[Effect, ...],
    input_: Input | None,
) -> None:
    """Record the phases that end with this step, of the node and of its replicas.

    times: began, served, done.  input_: None for a restart.
    """
    began, _, done = times
    outage = node.outage
    if outage is not None:
        if outage.restored_ps is None:
            outage.restored_ps = _restored(protocol, began, done, effects, input_)
        if outage.restored_ps is not None and outage.replayed_ps is None:
            progress = protocol.behaviour.gauges(node.site, node.state).progress
            outage.replayed_ps = done if outage.is_reached(progress) else None
    for replica in node.replicas:
        _take_over(protocol, node, replica.outage, done)


def _restored(
    protocol: Protocol,
    began: int,
    done: int,
    effects: tuple[Effect, ...],
    input_: Input | None,
) -> int | None:
    """When the node has its state again: with the effects of this step, if they say so; in a
    protocol whose nodes never say so, when the step begins, if it processes events."""
    if RESTORED in protocol.evidence.must_occur:
        says_so = any(isinstance(e, Note) and e.what == RESTORED for e in effects)
        return done if says_so else None
    message = input_.message if isinstance(input_, Received) else None
    return began if message is not None and size_of(protocol, message).events else None


def _take_over(protocol: Protocol, node: TimedNode, outage: TimedOutage | None, done: int) -> None:
    """Record it if the node has come as far as its replica that is down."""
    if outage is None or outage.replayed_ps is not None or done < outage.detected_ps:
        return
    if outage.is_reached(protocol.behaviour.gauges(node.site, node.state).progress):
        outage.restored_ps = outage.restored_ps or done
        outage.replayed_ps = done
        outage.caught_up_ps = max(node.busy, done)


def record_arrival(node: TimedNode, outage: TimedOutage, now: int, departed: int) -> None:
    """Record it if the node had caught up before this arrival.

    departed: when the message that arrives was sent.
    """
    replayed = outage.replayed_ps
    if replayed is None or node.busy > now or departed <= replayed:
        return
    if any(c.flying and c.flying[0][1] <= replayed for c in node.incoming):
        return
    outage.caught_up_ps = outage.caught_up_ps or max(node.busy, replayed)
    node.outage = None


def find_replicas(
    node: TimedNode, nodes: Iterable[TimedNode], graph: Graph
) -> tuple[TimedNode, ...]:
    """The other nodes with the same job: the graph has one of them, at most."""
    site = node.site
    return tuple(
        other
        for other in nodes
        if other is not node
        and not {node.name, other.name} <= graph.specs.keys()
        and site.role is other.site.role is Role.OPERATOR
        and (site.spec, site.preds) == (other.site.spec, other.site.preds)
    )
