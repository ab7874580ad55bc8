"""The timed driver: a deployed protocol on SimPy, with costs, crashes and a failure detector.

Rule of this file: it orders actions by time and cost; what an action does is what model.world says
(a differential test replays every run there).  What is written in scenarios is not known here.

One SimPy event a message, when it arrives.  A node is a FIFO server, so the order of arrival is the
order of service: on arrival the step is evaluated and the time known at which its service ends.
Then its effects take place, all at once: what it sends departs, what it saves is durable, what it
emits is out.  A crash undoes what has not taken place by then.

Times are whole picoseconds.  At one time restarts come first and crashes last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from simpy.events import URGENT

from model.core import (
    Arrival,
    Arrive,
    Deliver,
    Effect,
    Emit,
    Fire,
    Input,
    NodeName,
    Note,
    Role,
    Save,
    Send,
    SetTimer,
    Size,
)
from model.world import DOWN, Crash, System
from sim.clock import LAST, Clock, Moment
from sim.costs import Costs, Detector, picoseconds
from sim.failures import RESTORED, Outage, Planned
from sim.network import Channel, Node, Tariff, traffic
from sim.played import Logged, Played, Point, step_logged

POINTS = 600
"""Queues and backup are looked at so often while there is input."""
SAVEPOINT = "savepoints sent"
"""The note with which a protocol says that it made a savepoint."""
new = tuple.__new__
"""Makes a NamedTuple in half the time of its own constructor; for the two that are made most."""
NEVER = float("inf")
DETECTOR = Detector()

Feed: TypeAlias = Iterable[tuple[int, NodeName, Arrival]]
"""(time in picoseconds, source, arrival), times not decreasing."""
Emitted: TypeAlias = Callable[[NodeName, int, Any], None]
"""Told of what the sinks pass on, a sink's outputs in order: (sink, picoseconds, output)."""


def play(
    system: System,
    feed: Feed,
    costs: Costs,
    emitted: Emitted,
    *,
    ends_ps: int,
    detector: Detector = DETECTOR,
    planned: Sequence[Planned] = (),
    log: list[Logged] | None = None,
    watch: Callable[[int], None] | None = None,
) -> Played:
    """Run to the end of the feed, and on until nothing is left to do.

    ends_ps: when the feed ends, for the points of the series.  log: gets every action, not yet
    sorted.  watch: is called at each point with the number of events handed out.
    """
    driver = _Driver(system, costs, emitted, detector, log)
    driver.plan(planned)
    driver.look(max(1, -(-ends_ps // POINTS)), watch)
    driver.play(iter(feed))
    return driver.played()


class _Driver:
    """The moving parts of a run."""

    def __init__(
        self,
        system: System,
        costs: Costs,
        emitted: Emitted,
        detector: Detector,
        log: list[Logged] | None,
    ) -> None:
        protocol = system.protocol
        self.system, self.protocol, self.costs, self.detector = system, protocol, costs, detector
        self.emitted, self.log = emitted, log
        self.step, self.size = protocol.step, protocol.size
        self.says_restored = RESTORED in protocol.sometimes
        self.clock = Clock()
        self.at = self.clock.at
        self.nodes: dict[NodeName, Node] = {}
        for name, site in system.sites.items():
            state = protocol.boot(site)
            pace = costs.slow.get(name, 1.0) if site.role is Role.OPERATOR else 0.0
            self.nodes[name] = Node(site, state, pace, "backup" in protocol.gauges(site, state))
        delay = picoseconds(costs.link.delay_s)
        for sender, receiver in system.deployment.channels:
            channel = Channel(self._arrive, sender, self.nodes[receiver], delay)
            self.nodes[sender].outgoing[receiver] = channel
            self.nodes[receiver].incoming.append(channel)
        self.gauged = [node for node in self.nodes.values() if node.gauged]
        self.watched = bool(self.gauged or log is not None)
        self.queued = [n for n in self.nodes.values() if n.name in system.deployment.crashable]
        self.timer = picoseconds(costs.timer_s)
        self.savepoint = picoseconds(costs.service.savepoint_s)
        self.notes: Counter[str] = Counter()
        self.outages: list[Outage] = []
        self.restarts: set[int] = set()
        self.points: list[Point] = []
        self.peak = self.peak_since = 0
        self.events = self.saves = self.saving = self.missed = self.lost = self.order = 0

    # --- input -------------------------------------------------------------------------------
    def play(self, feed: Iterator[tuple[int, NodeName, Arrival]]) -> None:
        self.feed = feed
        first = next(feed, None)
        if first is not None:
            moment = Moment(self._offer, first)
            self.at(first[0], moment)
        self.clock.drain()
        now = max(node.done for node in self.nodes.values())
        for node in self.nodes.values():
            self._settle(node, now)
            outage = node.outage
            if outage is not None and outage.restored_ps is not None:
                outage.caught_up_ps = max(node.busy, outage.restored_ps)
        self.ended = now
        self._look(now)

    def _offer(self, moment: Moment) -> None:
        """The input event that is due; of what follows, one at a time is in SimPy's queue."""
        now, source, arrival = moment.what
        self.events += 1
        node = self.nodes[source]
        input_ = new(Arrive, (arrival,))
        node.state, effects = self.step(node.site, node.state, input_)
        self._promise(node, now, 0, effects, input_)
        if self.gauged:
            self._measure(now)
        moment.what = entry = next(self.feed, None)
        if entry is not None:
            self.at(entry[0], moment)

    # --- steps -------------------------------------------------------------------------------
    def _arrive(self, channel: Channel) -> None:
        flying = channel.flying
        now = self.clock.time
        if not flying or flying[0][0] > now:  # what it was set for was lost with its sender
            return
        _, departed, message, tariff = flying.popleft()
        if flying:
            self.at(flying[0][0], channel)
        node = channel.receiver
        if departed < node.since:
            self.lost += 1
            return
        if node.outage is not None:
            self._catch_up(node, node.outage, now, departed)
        pending = node.pending
        while pending and pending[0][0] <= now:
            done, aftermath = pending.popleft()
            if aftermath is not None:
                self._happen(node, done, *aftermath)
        input_ = new(Deliver, (channel.sender, message))
        node.state, effects = self.step(node.site, node.state, input_)
        self._promise(node, now, tariff.service, effects, input_)

    def _fire(self, moment: Moment) -> None:
        node, name, now = moment.what
        del node.timers[name]
        self._settle(node, now)
        input_ = Fire(name)
        node.state, effects = self.step(node.site, node.state, input_)
        service = round(self.costs.service_ps(Size("timer")) * node.pace)
        self._promise(node, now, service, effects, input_)

    def _promise(
        self, node: Node, now: int, service: int, effects: tuple[Effect, ...], input_: Any
    ) -> None:
        """The step has been evaluated: say when its service ends and its effects take place."""
        began = node.busy
        if began < now:
            node.idle += now - began
            began = now
        busy = began + service
        done = busy if busy > node.done else node.done
        others = None
        for effect in effects:
            kind = effect.__class__
            if kind is not Send:
                others = effects
                if kind is not Emit:
                    busy, done = self._held_up(node, busy, effects)
                    break
        node.busy = busy
        node.done = done
        for effect in effects:
            if effect.__class__ is Send:
                to, message = effect
                channel = node.outgoing[to]
                size = self.size(message)
                tariff = channel.tariff if size is channel.size else self._tariff(channel, size)
                tariff.count += 1
                free = channel.free
                if free < done:
                    free = done
                channel.free = free = free + tariff.wire
                free += channel.delay
                flying = channel.flying
                if not flying:
                    self.at(free, channel)
                flying.append((free, done, message, tariff))
        if self.watched:
            self._watch(node, now, began, busy, done, effects, input_)
        elif done > now:
            node.wait((done, None if others is None else (others, None, None)))
        elif others is not None:
            self._happen(node, done, others, None, None)

    def _watch(
        self,
        node: Node,
        now: int,
        began: int,
        busy: int,
        done: int,
        effects: tuple[Effect, ...],
        input_: Any,
    ) -> None:
        """As the end of `_promise`, where there is more to keep: the log, backups, recoveries."""
        kept = None
        if node.gauged:
            kept = self.protocol.gauges(node.site, node.state).get("backup", 0)
        logged = None
        if self.log is not None:
            self.order += 1
            kind = self.size(input_.message).kind if isinstance(input_, Deliver) else ""
            logged = step_logged(node.name, (began, busy, done), self.order, input_, kind)
        if node.outage is not None and node.outage.restored_ps is None:
            self._restore(node.outage, done, effects, input_)
        if done > now:
            node.wait((done, (effects, logged, kept)))
        else:
            self._happen(node, done, effects, logged, kept)

    def _tariff(self, channel: Channel, size: Size) -> Tariff:
        tariff = channel.tariffs.get(size)
        if tariff is None:
            tariff = Tariff(self.costs, size, channel.receiver.pace)
            channel.tariffs[size] = tariff
        channel.size, channel.tariff = size, tariff
        return tariff

    def _held_up(self, node: Node, busy: int, effects: tuple[Effect, ...]) -> tuple[int, int]:
        """When the node is free and the effects take place, where there are notes, saves, timers;
        a save holds up all effects of its step and of later ones, whether it blocks or not."""
        for effect in effects:
            if isinstance(effect, Note) and effect.what == SAVEPOINT:
                busy += round(effect.times * self.savepoint * node.pace)
        done = max(busy, node.done)
        for effect in effects:
            if isinstance(effect, Save):
                takes = self.costs.save_ps(self.size(effect.value))
                done += takes
                self.saves += 1
                self.saving += takes
                if self.costs.storage.blocking:
                    busy = done
        for effect in effects:
            if isinstance(effect, SetTimer) and effect.name not in node.timers:
                fires = done + self.timer
                moment = Moment(self._fire, (node, effect.name, fires))
                node.timers[effect.name] = moment
                self.at(fires, moment)
        return busy, done

    def _settle(self, node: Node, now: int) -> None:
        pending = node.pending
        while pending and pending[0][0] <= now:
            done, aftermath = pending.popleft()
            if aftermath is not None:
                self._happen(node, done, *aftermath)

    def _happen(
        self,
        node: Node,
        done: int,
        effects: tuple[Effect, ...],
        logged: Logged | None,
        kept: int | None,
    ) -> None:
        """The effects take place; messages are on their way already."""
        for effect in effects:
            kind = effect.__class__
            if kind is Emit:
                self.emitted(node.name, done, effect.output)  # type: ignore[union-attr]
            elif kind is Note:
                self.notes[effect.what] += effect.times  # type: ignore[union-attr]
            elif kind is Save:
                node.durable = effect.value  # type: ignore[union-attr]
        if logged is not None and self.log is not None:
            self.log.append(logged)
        if kept is not None:
            node.keep(done, kept)

    # --- failures ----------------------------------------------------------------------------
    def plan(self, planned: Sequence[Planned]) -> None:
        self.watched = self.watched or bool(planned)
        for plan in planned:
            for name in plan.nodes:
                what = (plan.at_ps, self.nodes[name], plan.again_ps)
                self.at(plan.at_ps, Moment(self._strike, what), LAST)

    def _strike(self, moment: Moment) -> None:
        now, node, again = moment.what
        if node.since == NEVER:
            self.missed += 1
            return
        self._settle(node, now)
        if node.outage is not None and (node.outage.restored_ps or 0) > now:
            node.outage.restored_ps = None
        if self.log is not None and node.since <= now:  # else its restart has not taken place
            self.order += 1
            action = Crash(node.name)
            self.log.append(Logged(now, 2, self.order, now, now, action, ("crash", None)))
        node.pending.clear()
        node.busy = min(node.busy, now)
        for channel in node.outgoing.values():
            flying = channel.flying
            while flying and flying[-1][1] > now:
                flying.pop()[3].count -= 1
            channel.free = flying[-1][0] - channel.delay if flying else now
        for timer in node.timers.values():
            timer.callbacks = []
        node.timers.clear()
        node.keep(now, 0)
        node.state, node.since = DOWN, NEVER
        node.outage = Outage(node.name, now, self.detector.detected_ps(now))
        self.outages.append(node.outage)
        back = node.outage.detected_ps + picoseconds(self.detector.restart_s)
        self.at(back, Moment(self._restart, (back, node, again)), URGENT)

    def _restart(self, moment: Moment) -> None:
        now, node, again = moment.what
        assert node.outage is not None
        node.state, effects = self.protocol.recover(node.site, node.durable)
        saving = sum(self.costs.save_ps(self.size(e.value)) for e in effects if isinstance(e, Save))
        # Two nodes that restart at once would have to agree on who hears the other's first words.
        back = now
        while back + saving in self.restarts:
            back += 1
        self.restarts.add(back + saving)
        node.outage.restarted_ps = node.done = back
        self._promise(node, now, 0, effects, None)
        node.since = node.done
        if again is not None:
            strikes = node.done + again
            self.at(strikes, Moment(self._strike, (strikes, node, None)), LAST)

    def _restore(
        self, outage: Outage, done: int, effects: tuple[Effect, ...], input_: Input | None
    ) -> None:
        """Has the node its state again, when the effects of this step take place?"""
        if self.says_restored:
            restored = any(isinstance(e, Note) and e.what == RESTORED for e in effects)
        else:
            restored = isinstance(input_, Deliver) and self.size(input_.message).events > 0
        if restored:
            outage.restored_ps = done

    def _catch_up(self, node: Node, outage: Outage, now: int, departed: int) -> None:
        """With this arrival it shows whether all was done before it."""
        restored = outage.restored_ps
        if restored is None or node.busy > now or departed <= restored:
            return
        if any(c.flying and c.flying[0][1] <= restored for c in node.incoming):
            return
        outage.caught_up_ps = max(node.busy, restored)
        node.outage = None

    # --- looking -----------------------------------------------------------------------------
    def look(self, every: int, watch: Callable[[int], None] | None) -> None:
        """Look at queues and backup every so many picoseconds, as long as anything happens; less
        often when it has gone on for longer than that times POINTS."""

        def tick(moment: Moment) -> None:
            now = moment.what
            self._look(now)
            if watch is not None:
                watch(self.events)
            if self.clock.peek() < NEVER:
                after = now + max(every, now // POINTS)
                self.at(after, Moment(tick, after))

        self.at(every, Moment(tick, every))

    def _look(self, now: int) -> None:
        self._measure(now)
        for node in self.queued:
            self._settle(node, now)
        queues = tuple(node.longest for node in self.queued)
        for node in self.queued:
            node.longest = len(node.pending)
        self.points.append(Point(now, self.peak_since, queues))
        self.peak = max(self.peak, self.peak_since)
        self.peak_since = 0

    def _measure(self, now: int) -> None:
        total = 0
        for node in self.gauged:
            pending = node.pending
            if pending and pending[0][0] <= now:
                self._settle(node, now)
            total += node.kept
        if total > self.peak_since:
            self.peak_since = total

    def played(self) -> Played:
        area = 0
        for node in self.nodes.values():
            node.keep(self.ended, node.kept)
            area += node.kept_area
        return Played(
            events=self.events,
            ended_ps=self.ended,
            notes=dict(sorted(self.notes.items())),
            traffic=traffic(self.nodes.values()),
            busy_ps={node.name: node.busy - node.idle for node in self.queued},
            saves=self.saves,
            saving_ps=self.saving,
            outages=tuple(self.outages),
            missed=self.missed,
            lost=self.lost,
            queued=tuple(node.name for node in self.queued),
            points=tuple(self.points),
            backup_peak=self.peak,
            backup_mean=area / self.ended if self.ended else 0.0,
            states={name: node.state for name, node in self.nodes.items()},
            durable={name: node.durable for name, node in self.nodes.items()},
        )
