"""The timed driver: a deployed protocol on SimPy, with costs, crashes and a failure detector.

Rule of this file: no own semantics and no knowledge of scenario files.  The driver orders actions
by time and cost; an action has the effect that model.world gives it (a differential test replays
every run there).

Each message is one SimPy event, at its arrival.  A node is a FIFO server, so the order of arrival
is the order of service: on arrival the driver evaluates the step and knows when its service ends.
At the end of the service all effects take place at once: sent messages depart, saved values are
durable, emitted outputs are out.  A crash drops the effects that have not taken place.

Nodes that are planned to crash together are one crash if they are a failure group, and otherwise
one each.  A prompt site takes what it is sent when the effects of the step take place, and answers
at once.  It is a storage device for checkpoints and determinants, the records that have to last:
they take the time of a save, one after the other, and hold up their step as a save does.  The
notice of a crash reaches its watcher when the failure detector detects the crash, and after
everything that the node had sent there; a prompt watcher, at once.

Times are whole picoseconds.  At one time restarts come first and crashes last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heappop, heappush, heappushpop
from typing import Any, TypeAlias

from simpy.events import NORMAL, URGENT, Event

from model.core import (
    RESENT,
    Arrival,
    Effect,
    Emit,
    Input,
    Lost,
    NodeName,
    Note,
    Received,
    Role,
    Save,
    Send,
    SetTimer,
    Step,
    TimerFired,
)
from model.costs import CONTROL, Size
from model.errors import Invalid, StepFailed, describe_error
from model.protocol import Failures
from model.system import (
    System,
    call_step,
    check_state,
    check_step,
    describe,
    read_gauges,
    size_of,
)
from model.world import DOWN, Crash, boot_node
from sim.timed.clock import LAST, Clock, Entry, Occurrence
from sim.timed.costs import Costs, Detector, picoseconds
from sim.timed.failures import CrashPlan, Outage
from sim.timed.network import Aftermath, Channel, Tariff, TimedNode, is_stored, traffic
from sim.timed.observation import Observation
from sim.timed.record import LogEntry, TimedResult, log_step
from sim.timed.recovery import find_replicas, record_arrival, record_step

FIRINGS = 100_000
"""If timers run out so often after the last event, the run never ends."""
POINTS = 600
"""The number of looks at queues and backup while there is input."""
new = tuple.__new__
"""A constructor that takes half the time of NamedTuple's own, for the two most frequent ones."""
NEVER = float("inf")
DETECTOR = Detector()
Evaluated: TypeAlias = tuple[TimedNode, int, tuple[Effect, ...], Any]
"""A step: its node, the service that it asks for, its effects, its input (None for a restart)."""
Feed: TypeAlias = Iterable[tuple[int, NodeName, Arrival]]
"""(time in picoseconds, source, arrival), times not decreasing."""
Record: TypeAlias = Callable[[NodeName, int, Any], None]
"""A function that receives each output of a sink, in order: (sink, picoseconds, output)."""


def run_timed(
    system: System,
    feed: Feed,
    costs: Costs,
    record: Record,
    *,
    ends_ps: int,
    detector: Detector = DETECTOR,
    planned: Sequence[CrashPlan] = (),
    log: list[LogEntry] | None = None,
    watch: Callable[[int], None] | None = None,
) -> TimedResult:
    """Run to the end of the feed, then until the system is at rest; return the result.

    record: receives the outputs.  ends_ps: the time at which the feed ends, for the points of the
    series.  log: receives every action, unsorted.  watch: is called at each point with the number
    of events handed out.
    """
    kind: type[TimedRun] = TimedRun
    if costs.waits:
        from sim.timed.waiting import WaitingRun  # which extends this file

        kind = WaitingRun
    driver = kind(system, costs, record, detector, log, planned)
    driver.look(max(1, -(-ends_ps // POINTS)), watch)
    driver.run(iter(feed))
    return driver.result()


class TimedRun:
    """The mutable parts of a run."""

    def __init__(
        self,
        system: System,
        costs: Costs,
        record: Record,
        detector: Detector,
        log: list[LogEntry] | None,
        planned: Sequence[CrashPlan],
    ) -> None:
        protocol = system.protocol
        self.system, self.protocol, self.costs, self.detector = system, protocol, costs, detector
        self.record, self.log = record, log
        self.step, self.size = protocol.behaviour.step, protocol.behaviour.size
        self.single = protocol.promise.assumes.failures is Failures.SINGLE
        self.clock = Clock()
        self.at = self.clock.at
        self.nodes: dict[NodeName, TimedNode] = {}
        for name, site in system.sites.items():
            state = boot_node(protocol, site).state
            works = site.role is Role.OPERATOR and name not in system.prompt
            pace = costs.slow.get(name, 1.0) if works else 0.0
            making = round(costs.output_ps(name) * pace)
            gauged = read_gauges(system, name, state).buffered is not None
            self.nodes[name] = TimedNode(site, state, pace, making, gauged)
        delay = picoseconds(costs.link.delay_s)
        for sender, receiver in system.deployment.channels:
            prompt = receiver in system.deployment.prompt
            channel = Channel(sender, self.nodes[receiver], 0 if prompt else delay, prompt)
            self.nodes[sender].outgoing[receiver] = channel
            self.nodes[sender].asks |= prompt
            self.nodes[receiver].incoming.append(channel)
        for node in self.nodes.values():
            node.replicas = find_replicas(node, self.nodes.values(), system.scope.graph)
        gauged = any(node.gauged for node in self.nodes.values())
        self.watched = gauged or log is not None or bool(planned)
        self.seen = Observation(system, costs, self.nodes, self._settle, self.watched)
        self.timer = picoseconds(costs.timer_s)
        self.restart = picoseconds(detector.restart_s)
        self.prices = costs.note_ps()
        self.notes: Counter[str] = Counter()
        self.outages: list[Outage] = []
        self.restarts: set[int] = set()
        self.firings_left = NEVER
        self.events = self.saves = self.saving = self.missed = self.lost = self.order = 0
        self.in_vain = 0
        self.until = 0
        self._plan(planned)

    # --- the run -----------------------------------------------------------------------------
    def run(self, feed: Iterator[tuple[int, NodeName, Arrival]]) -> None:
        for node in self.nodes.values():
            self._set_timers(node, 0, node.site.timers)
        self._loop(feed)
        now = max(node.done for node in self.nodes.values())
        for node in self.nodes.values():
            self._settle(node, now)
            outage = node.outage
            if outage is not None and outage.replayed_ps is not None:
                outage.caught_up_ps = outage.caught_up_ps or max(node.busy, outage.replayed_ps)
        self.ended = now
        self.seen.look(now)

    def look(self, every: int, watch: Callable[[int], None] | None) -> None:
        """Look at queues and backup every so many picoseconds until the run ends; less often in a
        run that lasts longer than POINTS times that."""

        def tick(moment: Occurrence) -> None:
            now = moment.what
            self.seen.look(now)
            if watch is not None:
                watch(self.events)
            if self.clock.queue:
                after = now + max(every, now // POINTS)
                moment.what = after
                self.at(after, moment)

        self.at(every, Occurrence(tick, every))

    def _loop(self, feed: Iterator[tuple[int, NodeName, Arrival]]) -> None:
        """Process all events in order; one event of the feed at a time is in SimPy's queue.

        Every message passes this loop, so the loop is one method and not a method for each stage:
        calls would be a third of the costs of a hop.  Input and messages are processed here; all
        other events are callbacks, and a step that a callback has evaluated continues here.
        """
        queue, count, nodes = self.clock.queue, self.clock.count, self.nodes
        step, size_of, watched, seen = self.step, self.size, self.watched, self.seen
        offer = Event(self.clock)
        given: Any = next(feed, None)
        input_: Any = None
        if given is not None:
            self.at(given[0], offer)
        # The first entry that a step adds to the queue is held back: heappushpop costs less than a
        # push and a pop, most of all if the entry held is the next one.
        held: Entry | None = None
        node: Any = None
        effects: Any = ()
        try:
            while held or queue:
                if held is None:
                    now, _, _, event = heappop(queue)
                else:
                    now, _, _, event = heappushpop(queue, held)
                    held = None

                # The event, up to the evaluation of a step.
                if type(event) is Channel:
                    flying = event.flying
                    if not flying or flying[0][0] > now:  # the message was lost with its sender
                        continue
                    _, departed, message, received = flying.popleft()
                    if flying:
                        held = (flying[0][0], NORMAL, next(count), event)
                    node, service = event.receiver, received.service
                    if node.outage is not None:
                        if departed < node.since:
                            self.lost += 1
                            self.in_vain += received.events
                            continue
                        record_arrival(node, node.outage, now, departed)
                    pending = node.pending
                    while pending and pending[0][0] <= now:
                        done, aftermath = pending.popleft()
                        if aftermath is not None:
                            self._take_effect(node, done, aftermath)
                    input_ = new(Received, (event.sender, message))
                    node.state, effects = step(node.site, node.state, input_)
                elif event is offer:
                    self.events += 1
                    _, source, arrival = given
                    node, service = nodes[source], 0
                    input_ = arrival
                    node.state, effects = step(node.site, node.state, input_)
                else:
                    evaluated = self.clock.happen(now, event)
                    if evaluated is None:
                        continue
                    node, service, effects, input_ = evaluated

                # The times at which the service ends and the effects take place.
                if node.making:
                    service += node.making * self._count_generated(node, effects)
                began = node.busy
                if began < now:
                    began = now
                busy = began
                if service:
                    busy += service
                    node.worked += service
                done = node.done
                if done < busy:
                    done = busy
                for effect in effects:
                    kind = type(effect)
                    if node.asks or (kind is not Send and kind is not Emit):
                        busy, done = self._hold_up(node, busy, effects)
                        break
                node.busy = busy
                node.done = done

                # Messages depart at `done`.  Where nobody watches, nothing crashes, so that the
                # other effects may take place at once; otherwise they wait until `done`.
                for effect in effects:
                    if type(effect) is Send:
                        channel = node.outgoing[effect[0]]
                        message = effect[1]
                        size = size_of(message)
                        tariff = (
                            channel.tariff if size is channel.size else self._tariff(channel, size)
                        )
                        tariff.count += 1
                        if channel.prompt:
                            channel.flying.append((done, done, message, tariff))
                            priority = URGENT if input_ is None else NORMAL
                            self.at(done, Occurrence(self._ask, (done, channel)), priority)
                            continue
                        free = channel.free
                        if free < done:
                            free = done
                        channel.free = free = free + tariff.wire
                        free += channel.delay
                        flying = channel.flying
                        if not flying:
                            if held is None:
                                held = (free, NORMAL, next(count), channel)
                            else:
                                heappush(queue, (free, NORMAL, next(count), channel))
                        flying.append((free, done, message, tariff))
                    elif not watched:
                        self._affect(node, done, effect)
                aftermath = None
                if watched:
                    events = received.events if type(event) is Channel else 0
                    times = began, busy, done
                    aftermath = self._watch_step(node, times, effects, input_, events)
                if done > now:
                    pending = node.pending
                    pending.append((done, aftermath))
                    if len(pending) > node.longest:
                        node.longest = len(pending)
                elif aftermath is not None:
                    self._take_effect(node, done, aftermath)

                if event is offer:
                    if seen.gauged:
                        seen.measure(now)
                    given = next(feed, None)
                    if given is not None:
                        heappush(queue, (given[0], NORMAL, next(count), offer))
                    else:
                        self.firings_left = FIRINGS
                        self.until = now
        except (Invalid, StepFailed):
            raise
        except Exception as error:
            self._blame(node, input_, effects, error)
            raise

    def _blame(
        self, node: TimedNode, input_: Input, effects: tuple[Effect, ...], error: Exception
    ) -> None:
        """Raise what the protocol did wrong in the loop; checking there would slow all runs.

        Its functions are pure, so what raised once raises again.
        """
        assert error.__traceback__ is not None
        inside = error.__traceback__.tb_next is None  # the loop itself, not what it called
        if inside and isinstance(error, KeyError):  # there is no such channel
            check_step(self.system, node.name, input_, (node.state, effects))
        elif inside:  # the state is still the one before
            again = call_step(self.system, node.name, node.state, input_)
            check_step(self.system, node.name, input_, again)
        self._check_sizes(effects)
        read_gauges(self.system, node.name, node.state)
        raise StepFailed(node.name, describe(input_), describe_error(error)) from error

    def _check_sizes(self, effects: tuple[Effect, ...]) -> None:
        """Raise Invalid if the protocol cannot size what the effects send and save."""
        for effect in effects:
            if isinstance(effect, Send | Save):
                size_of(self.protocol, effect[-1])

    def _fire(self, moment: Occurrence) -> Evaluated | None:
        node, name, now = moment.what
        if node.timers.get(name) is not moment:  # the timer was lost with its node
            return None
        del node.timers[name]
        node.ticks[name.partition(":")[0]] = now
        self._count_firing(node, name)
        self._settle(node, now)
        input_ = TimerFired(name)
        node.state, effects = self._answered(node, node.state, input_)
        service = round(self.costs.service_ps(CONTROL) * node.pace)
        return node, service, effects, input_

    def _count_firing(self, node: TimedNode, name: str) -> None:
        self.firings_left -= 1
        if self.firings_left < 0:
            raise Invalid(
                f"{self.protocol.name}: the run never ends: {node.name} sets the timer {name!r} "
                "again whenever it runs out"
            )

    def _ask(self, moment: Occurrence) -> Evaluated | None:
        """The step of a prompt site on a message that departs now."""
        now, channel = moment.what
        flying = channel.flying
        if not flying or flying[0][0] > now:  # the message was lost with its sender
            return None
        _, _, message, _ = flying.popleft()
        node, input_ = channel.receiver, Received(channel.sender, message)
        node.state, effects = self._answered(node, node.state, input_)
        return node, 0, effects, input_

    def _answered(self, node: TimedNode, value: Any, input_: Input | None) -> Step:
        """The checked step on a timer, on a restart (None), or of a prompt site."""
        answer = call_step(self.system, node.name, value, input_)
        return check_step(self.system, node.name, input_, answer, hashed=input_ is None)

    def _watch_step(
        self,
        node: TimedNode,
        times: tuple[int, int, int],
        effects: tuple[Effect, ...],
        input_: Any,
        events: int,
    ) -> Aftermath:
        """The part of a step that is kept for the log, backups, memories and recoveries.

        times: began, served, done.  events: in the input.
        """
        if type(effects) is not tuple:
            check_step(self.system, node.name, input_, (node.state, effects))
        done = times[2]
        kept = None
        if node.gauged:
            kept = self.protocol.behaviour.gauges(node.site, node.state).buffered or 0
        logged = None
        if self.log is not None and node.name not in self.system.deployment.prompt:
            self.order += 1
            kind = ""
            if isinstance(input_, Received):
                kind = size_of(self.protocol, input_.message).traffic
            logged = log_step(node.name, times, self.order, input_, kind)
        if input_ is None:
            self._come_back(node, done)
        record_step(self.protocol, node, times, effects, input_)
        return effects, logged, kept, node.state, events

    def _tariff(self, channel: Channel, size: Size) -> Tariff:
        tariff = channel.tariffs.get(size)
        if tariff is None:
            tariff = Tariff(self.costs, size, channel.receiver)
            channel.tariffs[size] = tariff
        channel.size, channel.tariff = size, tariff
        return tariff

    def _count_generated(self, node: TimedNode, effects: tuple[Effect, ...]) -> int:
        """The events that a step generates for receivers; a store's copy of them is none, and what
        is sent again from a store was generated before."""
        found = 0
        for effect in effects:
            if type(effect) is Note and effect.what == RESENT:
                found -= effect.times
            if type(effect) is Send:
                size = self.size(effect.message)
                if size.events and not is_stored(node.outgoing[effect.to], size):
                    found += size.events
        return found

    def _hold_up(self, node: TimedNode, busy: int, effects: tuple[Effect, ...]) -> tuple[int, int]:
        """The times at which the node is free and the effects take place, for a step with notes,
        saves or timers, or of a node that sends to prompt sites.

        A save, or a send to a prompt site, delays all effects of its step and of later steps,
        whether it blocks or not.
        """
        began = busy
        for effect in effects:
            if not isinstance(effect, Effect):
                raise StepFailed(
                    node.name, "a step", f"has {effect!r:.60} among its effects, which is none"
                )
            if isinstance(effect, Note) and effect.what.name in self.prices:
                busy += round(effect.times * self.prices[effect.what.name] * node.pace)
        done = max(busy, node.done)
        for effect in effects:
            if isinstance(effect, Save):
                takes = self.costs.save_ps(self.size(effect.value))
                done += takes
                self.saves += 1
                self.saving += takes
                if self.costs.storage.blocking:
                    busy = done
            elif isinstance(effect, Send) and node.asks:
                channel = node.outgoing[effect.to]
                size = size_of(self.protocol, effect.message)
                if is_stored(channel, size):
                    done = self._store(channel.receiver, done, size)
                    if self.costs.storage.blocking:
                        busy = done
        self._set_timers(node, done, [e.name for e in effects if isinstance(e, SetTimer)])
        node.worked += busy - began
        return busy, done

    def _store(self, store: TimedNode, ready: int, size: Size) -> int:
        """The time at which a prompt site has stored a message: after those that came before."""
        takes = self.costs.save_ps(size)
        store.stored = max(store.stored, ready) + takes
        store.worked += takes
        self.saves += 1
        self.saving += takes
        return store.stored

    def _set_timers(self, node: TimedNode, now: int, names: Sequence[str]) -> None:
        for name in names:
            if name not in node.timers:
                fires = self._due(node, name, now)
                moment = Occurrence(self._fire, (node, name, fires))
                node.timers[name] = moment
                self.at(fires, moment)

    def _due(self, node: TimedNode, name: str, now: int) -> int:
        kind, _, way = name.partition(":")
        timer = self.costs.timers.get(kind)
        if timer is None:
            return now + self.timer
        return timer.due_ps(now, node.ticks.get(kind), overdue=way == "overdue")

    def _settle(self, node: TimedNode, now: int) -> None:
        pending = node.pending
        while pending and pending[0][0] <= now:
            done, aftermath = pending.popleft()
            if aftermath is not None:
                self._take_effect(node, done, aftermath)

    def _take_effect(self, node: TimedNode, done: int, aftermath: Aftermath) -> None:
        """Let the effects of a step take place; its messages are on their way already."""
        effects, logged, kept, node.settled, _ = aftermath
        for effect in effects:
            self._affect(node, done, effect)
        if logged is not None and self.log is not None:
            self.log.append(logged)
        if kept is not None:
            node.keep(done, kept)

    def _affect(self, node: TimedNode, done: int, effect: Effect) -> None:
        """Let one effect take place; a message is on its way already, and a timer is set."""
        if type(effect) is Emit:
            self.record(node.name, done, effect.output)
        elif type(effect) is Note:
            self.notes[effect.what.name] += effect.times
        elif type(effect) is Save:
            node.durable = effect.value

    # --- failures ----------------------------------------------------------------------------
    def _plan(self, planned: Sequence[CrashPlan]) -> None:
        if self.single and self.detector.whole_pipeline and planned:
            raise Invalid(
                f"detector: {self.protocol.name} assumes single failures; leave out whole_pipeline"
            )
        for plan in planned:
            for name in plan.nodes:
                if name not in self.system.deployment.crashable:
                    raise Invalid(f"failures: {self.protocol.name} deploys {name!r} never to crash")
            whole = [group for group in self.system.groups if {*group} == {*plan.nodes}]
            for names in whole or [(name,) for name in plan.nodes]:
                restarts = dict(zip(plan.nodes, plan.restart_ps, strict=False))
                what = (plan.at_ps, names, plan.again_ps, restarts)
                self.at(plan.at_ps, Occurrence(self._strike, what), LAST)

    def _strike(self, moment: Occurrence) -> None:
        """Crash those of the nodes that are up: one node, or the members of a failure group."""
        now, names, again, restarts = moment.what
        up = [node for name in names if (node := self.nodes[name]).since != NEVER]
        if not up or (self.single and self.outages and not self._at_rest(now)):
            self.missed += 1
            return
        seen = [node for node in up if node.since <= now]  # the restart of others was not logged
        for node in up:
            self._settle(node, now)
        if seen:
            self._log_crash(seen[0].name, names if len(names) > 1 else (), now)
        detected = self.detector.detected_ps(now)
        backs = [detected + restarts.get(node.name, self.restart) for node in up]
        for node, back in zip(up, backs, strict=True):
            self._take_down(node, now, again, (detected, back))
        for node in seen:
            self._send_notices(node, now)
        if self.detector.whole_pipeline:
            self.at(detected, Occurrence(self._stop, (detected, max(backs))), LAST)

    def _stop(self, moment: Occurrence) -> None:
        """Take down all other nodes, since a crash has been detected; all are back at one time."""
        now, back = moment.what
        for node in self.seen.queued:
            if node.since > now or node.name not in self.system.returning:
                continue
            self._settle(node, now)
            self._log_crash(node.name, (), now)
            self._take_down(node, now, None, (now, back))
            self._send_notices(node, now)

    def _log_crash(self, name: NodeName, together: tuple[NodeName, ...], now: int) -> None:
        if self.log is not None:
            self.order += 1
            action = Crash(name, False, together)
            self.log.append(LogEntry(now, 2, self.order, now, now, action, ("crash", None)))

    def _take_down(
        self, node: TimedNode, now: int, again: int | None, returns: tuple[int, int]
    ) -> None:
        """Crash the node.  returns: the times of the detection and of the restart."""
        before = node.outage
        if before is not None:
            if (before.restored_ps or 0) > now:
                before.restored_ps = None
            if (before.replayed_ps or 0) > now:
                before.replayed_ps = None
        self.in_vain += sum(aftermath[-1] for _, aftermath in node.pending if aftermath)
        node.pending.clear()
        if node.busy > now:
            node.worked -= node.busy - now
            node.busy = now
        for channel in node.outgoing.values():
            flying = channel.flying
            while flying and flying[-1][1] > now:
                flying.pop()[3].count -= 1
            channel.free = flying[-1][0] - channel.delay if flying else now
        node.timers.clear()
        node.keep(now, 0)
        if before is not None and before.replayed_ps is None:
            reached = before.reached
        else:
            reached = self.protocol.behaviour.gauges(node.site, node.settled).progress
        node.state, node.settled, node.since = DOWN, DOWN, NEVER
        detected, back = returns
        node.outage = Outage(node.name, now, detected, reached)
        self.outages.append(node.outage)
        node.again_ps = again
        if node.name in self.system.returning:
            self.at(back, Occurrence(self._restart, (back, node)), URGENT)

    def _send_notices(self, node: TimedNode, now: int) -> None:
        """Let the node's watched channels end with a notice.

        Nobody pays for its way; the receiver has a control message to process, or loses it if the
        receiver is down now.  The node restarts after the detection, so what it sends then comes
        later.
        """
        assert node.outage is not None
        for receiver, channel in node.outgoing.items():
            if (node.name, receiver) in self.system.deployment.watched:
                flying = channel.flying
                arrives = max(node.outage.detected_ps, flying[-1][0] if flying else 0)
                if channel.prompt:
                    arrives = now
                    self.at(now, Occurrence(self._ask, (now, channel)))
                elif not flying:
                    self.at(arrives, channel)
                tariff = Tariff(self.costs, CONTROL, channel.receiver)
                flying.append((arrives, now, Lost(node.name), tariff))

    def _at_rest(self, now: int) -> bool:
        """Is the system at rest: is no node to return, none busy, no message on its way, no timer
        set?"""
        return not any(
            (node.since == NEVER and node.name in self.system.returning)
            or node.timers
            or node.done > now
            or any(channel.flying for channel in node.incoming)
            for node in self.nodes.values()
        )

    def _restart(self, moment: Occurrence) -> Evaluated:
        now, node = moment.what
        assert node.outage is not None
        node.state, effects = self._answered(node, node.durable, None)
        self._check_sizes(effects)
        saving = sum(self.costs.save_ps(self.size(e.value)) for e in effects if isinstance(e, Save))
        # If two nodes restarted at one time, the order of their first messages would be undefined.
        back = now
        while back + saving in self.restarts:
            back += 1
        self.restarts.add(back + saving)
        node.outage.restarted_ps = node.done = back
        return node, 0, effects, None

    def _come_back(self, node: TimedNode, done: int) -> None:
        """Let the node run again: the effects of its first step take place."""
        node.since = done
        if node.again_ps is not None:
            strikes = done + node.again_ps
            self.at(strikes, Occurrence(self._strike, (strikes, (node.name,), None, {})), LAST)

    # --- the end ---------------------------------------------------------------------------
    def result(self) -> TimedResult:
        area = 0
        for node in self.nodes.values():
            check_state(node.name, "its last step", node.state)
            node.keep(self.ended, node.kept)
            area += node.kept_area
        return TimedResult(
            events=self.events,
            ended_ps=self.ended,
            notes=dict(sorted(self.notes.items())),
            traffic=traffic(self.nodes.values()),
            busy_ps={node.name: node.worked for node in self.seen.queued},
            saves=self.saves,
            saving_ps=self.saving,
            outages=tuple(self.outages),
            missed=self.missed,
            lost=self.lost,
            in_vain=self.in_vain,
            asked=self.seen.count_asked(self.until),
            queued=tuple(node.name for node in self.seen.queued),
            points=tuple(self.seen.points),
            backup_peak=self.seen.peak,
            backup_mean=area / self.ended if self.ended else 0.0,
            memory_peak=self.seen.memory_peak,
            memory_peaks=self.seen.memory_peaks,
            states={name: node.state for name, node in self.nodes.items()},
            durable={name: node.durable for name, node in self.nodes.items()},
        )
