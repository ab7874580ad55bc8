"""The phases of a recovery, as the driver sees them: which step ends which.

Rule of this file: it records times in outages, and changes nothing that a run depends on.
"""

from __future__ import annotations

from collections.abc import Iterable

from model.core import RESTORED, Effect, Input, NodeName, Note, Received, Role
from model.graph import Graph
from model.protocol import Protocol
from model.system import System, size_of
from sim.timed.ages import DataStep, UsualAges, data_step
from sim.timed.failures import TimedOutage
from sim.timed.network import TimedNode


class RecoveryRecord:
    """It records the course of each outage while the run lasts.

    usual: the ages of the run without failures; None: nobody knows when a node has caught up.
    """

    def __init__(self, system: System, usual: UsualAges | None) -> None:
        self.system, self.protocol, self.usual = system, system.protocol, usual
        terms = self.protocol.behaviour.outage
        self._replicas_have_the_state = terms is not None and not terms.restart and not terms.read

    def record_step(
        self,
        node: TimedNode,
        times: tuple[int, int, int],
        effects: tuple[Effect, ...],
        input_: Input | None,
        events: int,
    ) -> None:
        """Record the phases that end with this step, of the node and of its replicas.

        times: began, served, done.  input_: None for a restart.  events: in the input.
        """
        began, _, done = times
        outage = node.outage
        if outage is not None and input_ is None and not self._has_job(node):
            outage.serve_again(done)
            return
        open_ = [outage] if outage is not None and outage.caught_up_ps is None else []
        if outage is not None and outage.restored_ps is None:
            outage.restored_ps = _restored(self.protocol, node, (began, done), effects, input_)
            outage.restoring_done_ps = None if outage.restored_ps is None else done
        if outage is not None and outage.restored_ps is not None:
            self._replay(node, outage, done)
        for replica in node.replicas:
            if replica.outage is not None and replica.outage.caught_up_ps is None:
                self._take_over(node, replica.outage, done)
                open_.append(replica.outage)
        if open_ and self.usual is not None:
            unit_ps = self.usual.unit_ps
            step = data_step(self.protocol, node, input_, effects, events, (began, done), unit_ps)
            if step is not None:
                for one in open_:
                    self._catch_up(node, one, step)

    def _has_job(self, node: TimedNode) -> bool:
        """Does the node, or a replica of it, run an operator?"""
        return (
            bool(self.system.operators_at(node.name)) or node.job in self.system.scope.graph.specs
        )

    def _replay(self, node: TimedNode, outage: TimedOutage, done: int) -> None:
        """Record it if the node has come as far as it was before the crash."""
        if outage.server is None and self._is_reached(node, outage):
            outage.replayed_ps = outage.replayed_ps or done
            outage.serve(node.name, self._senders(node))

    def _take_over(self, node: TimedNode, outage: TimedOutage, done: int) -> None:
        """Record it if the node has come as far as its replica that is down."""
        if done < outage.detected_ps:
            return
        if outage.restored_ps is None and self._replicas_have_the_state:
            outage.restored_ps, outage.restoring_done_ps = outage.detected_ps, done
        if outage.server is None and self._is_reached(node, outage):
            if outage.restored_ps is None:
                outage.restored_ps = outage.restoring_done_ps = done
            outage.replayed_ps = outage.replayed_ps or done
            outage.serve(node.name, self._senders(node))

    def _is_reached(self, node: TimedNode, outage: TimedOutage) -> bool:
        return outage.is_reached(self.protocol.behaviour.gauges(node.site, node.state).progress)

    def _senders(self, node: TimedNode) -> frozenset[NodeName]:
        return frozenset() if self.usual is None else self.usual.senders(node.job)

    def _catch_up(self, node: TimedNode, outage: TimedOutage, step: DataStep) -> None:
        """Record how late the events are, and whether the node has caught up with their senders."""
        assert self.usual is not None
        if outage.restored_ps is None or step.done < outage.restored_ps:
            return
        usual = self.usual.usual(step)
        first = outage.oldest.get(step.sender, (step.oldest, usual))
        outage.oldest[step.sender] = min(first, (step.oldest, usual))
        outage.again += sum(at < outage.crashed_ps for at in step.handed_out)
        if outage.server != node.name:
            return
        if step.age > usual:
            outage.late_ps = step.done
            known = self._senders(node)
            outage.behind |= {step.sender} if step.sender in known else known
        else:
            outage.behind.discard(step.sender)
            if not outage.behind:
                outage.catch_up(step.done)


def _restored(
    protocol: Protocol,
    node: TimedNode,
    times: tuple[int, int],
    effects: tuple[Effect, ...],
    input_: Input | None,
) -> int | None:
    """When the node has its state again: in this step, if its effects say so; in a protocol whose
    nodes never say so, when the step begins, if it processes events.

    times: began, done.  A restart has the state at its end.  A message with the state has been read
    when its own service is over; replayed outputs, writes and waits of the step come after that.
    """
    began, done = times
    message = input_.message if isinstance(input_, Received) else None
    if RESTORED in protocol.evidence.must_occur:
        if not any(isinstance(e, Note) and e.what == RESTORED for e in effects):
            return None
        return done if input_ is None else min(done, began + _service(protocol, node, input_))
    return began if message is not None and size_of(protocol, message).events else None


def _service(protocol: Protocol, node: TimedNode, input_: Input) -> int:
    """The service of a message itself; a timer has none."""
    if not isinstance(input_, Received):
        return 0
    size = size_of(protocol, input_.message)
    found = (
        tariff.service
        for channel in node.incoming
        if channel.sender == input_.sender
        for charged, tariff in channel.tariffs.items()
        if charged._replace(state_bytes=0) == size
    )
    return next(found, 0)


def forget_later(node: TimedNode, now: int) -> None:
    """The node crashes: phases of its outage, and of those that it serves, that would have ended
    later never end."""
    for outage in (node.outage, *(replica.outage for replica in node.replicas)):
        if outage is not None and (outage.node == node.name or outage.server == node.name):
            outage.forget_later(now)


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


def find_job(node: TimedNode, graph: Graph) -> NodeName:
    """The name of the node's job: that of the graph, if it has one of the nodes with this job."""
    names = sorted((node.name, *(replica.name for replica in node.replicas)))
    return next((name for name in names if name in graph.specs), names[0])
