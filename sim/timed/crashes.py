"""The crashes of a timed run: planned crashes strike, notices depart, nodes restart.

Rule of this file: no costs of a step; the loop of the run lets the step of a restart take place.

Nodes that are planned to crash together are one crash if they are a failure group, and otherwise
one each.  The notice of a crash reaches its watcher when the failure detector detects the crash,
and after all messages that the node had sent there; a prompt watcher, at once.  At one time
restarts come first and crashes last.

If the whole pipeline restarts, the others stop when the crash is detected.  After a crash of a node
that leads them, they so go on and write until its session has timed out; the node restarts last, so
that it orders one restart of all, and not one for each node that is up again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from simpy.events import URGENT

from model.actions import Crash
from model.core import Effect, Lost, NodeName, Save, Send, Sync
from model.costs import CONTROL
from model.errors import Invalid
from model.protocol import Failures
from model.system import size_of
from model.world import DOWN
from sim.timed.clock import LAST, Occurrence
from sim.timed.detector import Detector
from sim.timed.failures import TimedCrash, TimedOutage
from sim.timed.files import open_files, take_write
from sim.timed.network import Tariff, TimedNode
from sim.timed.record import LogEntry
from sim.timed.recovery import forget_later
from sim.timed.refusals import check_plans
from sim.timed.running import NEVER, Evaluated, RunState


class Crashes:
    """The crashes to come and those that happened.  after_crash: receives (node, time) when a node
    is down.  suspend: receives (node, time, time of its wake); None: nobody is suspended."""

    def __init__(
        self,
        run: RunState,
        detector: Detector,
        planned: Sequence[TimedCrash],
        after_crash: Callable[[TimedNode, int], None],
        suspend: Callable[[TimedNode, int, int], None] | None = None,
    ) -> None:
        self.run, self.system, self.detector = run, run.system, detector
        self.after_crash, self.suspend = after_crash, suspend
        self.single = run.protocol.promise.assumes.failures is Failures.SINGLE
        self.restarts: set[int] = set()
        self._plan(planned)

    def _plan(self, planned: Sequence[TimedCrash]) -> None:
        name = self.run.protocol.name
        if self.single and self.detector.whole_pipeline and planned:
            raise Invalid(f"detector: {name} assumes single failures; leave out whole_pipeline")
        check_plans(self.system, self.detector, planned, self.run.costs.storage.blocking)
        for plan in planned:
            whole = [group for group in self.system.groups if {*group} == {*plan.nodes}]
            for names in whole or [(node,) for node in plan.nodes]:
                self.run.at(plan.at_ps, Occurrence(self._strike, (plan, names)), LAST)

    # --- the crash ---------------------------------------------------------------------------
    def _strike(self, moment: Occurrence) -> None:
        """Crash those of the nodes that are up: one node, or the members of a failure group."""
        plan, names = moment.what
        now = plan.at_ps
        up = [node for name in names if (node := self.run.nodes[name]).since != NEVER]
        if not up or (self.single and self.run.outages and not self._at_rest(now)):
            self.run.missed += 1
            return
        leads = not self.system.deployment.leaders.isdisjoint(node.name for node in up)
        detected, back = self.detector.outage(now, plan.kind, leads=leads)
        if plan.pause_ps is not None and now + plan.pause_ps < detected:
            self._pause(up, now, now + plan.pause_ps)
            return
        seen = [node for node in up if node.since <= now]  # the restart of others was not logged
        for node in up:
            self.run.settle(node, now)
        if seen:
            self._log_crash(seen[0].name, names if len(names) > 1 else (), now)
        if self.run.checkpoints is not None:
            self.run.checkpoints.strike(now)
        own = dict(zip(plan.nodes, plan.restart_ps, strict=False))
        backs = [detected + own[node.name] if node.name in own else back for node in up]
        for node in up:
            self._take_down(node, now, plan, detected)
        for node in seen:
            self._send_notices(node, now)
        stops = self.detector.whole_pipeline
        if not (leads and stops):
            self._bring_back(zip(up, backs, strict=True))
        if stops:
            what = (detected, max(backs), up if leads else [])
            self.run.at(detected, Occurrence(self._stop, what), LAST)

    def _pause(self, nodes: Iterable[TimedNode], now: int, until: int) -> None:
        """Suspend the nodes, which wake before anybody takes them for crashed."""
        assert self.suspend is not None
        for node in nodes:
            if node.paused > now or node.since > now:
                self.run.missed += 1
            else:
                self.suspend(node, now, until)

    def _stop(self, moment: Occurrence) -> None:
        """Take down all other nodes, since a crash has been detected; all are back at one time.  A
        node that leads them goes on; if it has crashed, it comes back after them."""
        now, back, leaders = moment.what
        others = [
            node
            for node in self.run.seen.queued
            if node.since <= now
            and node.name in self.system.returning
            and node.name not in self.system.deployment.leaders
        ]
        for node in others:
            self.run.settle(node, now)
            self._log_crash(node.name, (), now)
            self._take_down(node, now, None, now)
            self._send_notices(node, now)
        self._bring_back((node, max(back, now + 1)) for node in (*others, *leaders))

    def _log_crash(self, name: NodeName, together: tuple[NodeName, ...], now: int) -> None:
        run = self.run
        if run.log is not None:
            run.order += 1
            action = Crash(name, False, together)
            run.log.append(LogEntry(now, 1, run.order, now, now, action, ("crash", None)))

    def _take_down(self, node: TimedNode, now: int, plan: TimedCrash | None, detected: int) -> None:
        """Crash the node.  plan: of which the crash is a part; None: it has only been stopped."""
        before = node.outage
        forget_later(node, now)
        self.run.in_vain += _drop_inputs(node)
        self.run.abort_uploads(node, now)
        _take_back(node, now)
        node.keep(now, 0)
        node.stored = min(node.stored, now)
        if before is not None and before.replayed_ps is None:
            reached = before.reached
        else:
            reached = self.run.protocol.behaviour.gauges(node.site, node.settled).progress
        node.state, node.settled, node.since, node.paused = DOWN, DOWN, NEVER, 0
        node.outage = TimedOutage(node.name, now, detected, reached, node.job)
        self.run.outages.append(node.outage)
        if plan is not None and plan.kind == "host":  # with its disk
            self.run.sizes.bare.add(node.name)
        node.again = None
        if plan is not None and plan.again_ps is not None:
            node.again = plan._replace(at_ps=plan.again_ps, again_ps=None, restart_ps=())
        self.after_crash(node, now)

    def _bring_back(self, nodes: Iterable[tuple[TimedNode, int]]) -> None:
        """Let the nodes restart, each at its time, unless it never returns."""
        for node, back in nodes:
            if node.name in self.system.returning:
                self.run.at(back, Occurrence(self._restart, (back, node)), URGENT)

    def _send_notices(self, node: TimedNode, now: int) -> None:
        """Let the node's watched channels end with a notice.

        Nobody pays for its way; the receiver has a control message to process, or loses it if the
        receiver is down now.  The node restarts after the detection, so its messages of then come
        later.
        """
        assert node.outage is not None
        for receiver, channel in node.outgoing.items():
            if (node.name, receiver) in self.system.deployment.watched:
                flying = channel.flying
                arrives = max(node.outage.detected_ps, flying[-1][0] if flying else 0)
                if channel.prompt:
                    arrives = now
                    self.run.at(now, Occurrence(self.run.ask, (now, channel)))
                elif not flying:
                    self.run.at(arrives, channel)
                tariff = Tariff(self.run.costs, CONTROL, channel.receiver)
                flying.append((arrives, now, Lost(node.name), tariff))

    def _at_rest(self, now: int) -> bool:
        """Is the system at rest: is no node to return, none busy, no message on its way, no timer
        set, and does no sink write?"""
        return not any(
            (node.since == NEVER and node.name in self.system.returning)
            or node.inputs
            or node.timers
            or node.done > now
            or any(channel.flying for channel in node.incoming)
            for node in self.run.nodes.values()
        ) and all(writer.is_at_rest() for writer in self.run.writers.values())

    # --- the restart -------------------------------------------------------------------------
    def _restart(self, moment: Occurrence) -> Evaluated:
        now, node = moment.what
        assert node.outage is not None
        durable = open_files(node)
        node.state, effects = self.run.answered(node, durable, None)
        check_sizes(self.run, effects)
        reading = self._read_ps(node, durable)
        saving = sum(self._save_ps(node, effect) for effect in effects)
        open_files(node)  # none of these writes has come yet
        # If two nodes restarted at one time, the order of their first messages would be undefined.
        back = now
        while back + reading + saving in self.restarts:
            back += 1
        self.restarts.add(back + reading + saving)
        node.outage.restarted_ps, node.done = back, back + reading
        return node, 0, effects, None

    def _read_ps(self, node: TimedNode, durable: Any) -> int:
        """The time in which a restarted node reads its states from its own disk."""
        run = self.run
        if not run.costs.sizes_states:
            return 0
        state_bytes = run.sizes.restarted(node.name, durable, node.state)
        return 0 if node.durable is None else run.costs.read_ps(state_bytes)

    def _save_ps(self, node: TimedNode, effect: Effect) -> int:
        stored = isinstance(effect, Save | Sync) and take_write(self.run.sizes, node, effect)
        return self.run.costs.save_ps(*stored) if stored else 0

    def come_back(self, node: TimedNode, done: int) -> None:
        """Let the node run again: the effects of its first step take place."""
        node.since = done
        if node.again is not None:
            plan = node.again._replace(at_ps=done + node.again.at_ps)
            self.run.at(plan.at_ps, Occurrence(self._strike, (plan, (node.name,))), LAST)


def check_sizes(run: RunState, effects: tuple[Effect, ...]) -> None:
    """Raise Invalid if the protocol cannot size the messages and values of the effects."""
    for effect in effects:
        if isinstance(effect, Send):
            size_of(run.protocol, effect.message)
        elif isinstance(effect, Save):
            size_of(run.protocol, effect.value)


def _drop_inputs(node: TimedNode) -> int:
    """Nobody processes the inputs that the node has; return the number of their events."""
    steps = sum(aftermath[-1] for _, aftermath in node.unsettled if aftermath)
    inputs = sum(queued.events for queued in node.inputs)
    node.unsettled.clear()
    node.inputs.clear()
    node.under_way = None
    return steps + inputs


def _take_back(node: TimedNode, now: int) -> None:
    """Take back the service and the messages after this time; the timers are lost."""
    if node.busy > now:
        node.worked -= node.busy - now
        node.busy = now
    node.reading = 0
    for channel in node.outgoing.values():
        flying = channel.flying
        while flying and flying[-1][1] > now:
            flying.pop()[3].count -= 1
        channel.free = flying[-1][0] - channel.delay if flying else now
    node.timers.clear()
