"""The queued loop of the timed driver: nodes wait for shared stores and cores, and for room in
connections; sinks wait for their writes.

Rule of this file: no other semantics than the fast loop's; the loop only evaluates steps later,
since the store, the core or the room that a node waits for may not be free when a message arrives.

A node takes the input that came first when it is free, and timers before messages.  Its step has
three parts: service, with a core if the node is on a host; then its saves and transactions, one
after the other, each in the order of the requests at its store; then the node waits until none of
the connections that it has to send on is full.  At that moment all effects take place at once, so
that a step of several events may fill a connection beyond the bound.

There is no deadlock.  Only events of the data stream wait for room, and these go down the graph:
acknowledgements, markers, transactions and requests wait for nobody's room.  A node that waits for
no room takes its inputs in order, and so makes room; the last operators send to sinks alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from simpy.events import NORMAL, URGENT, Event

from model.core import (
    Arrival,
    Effect,
    Input,
    NodeName,
    Note,
    Received,
    Save,
    Send,
    Sync,
    TimerFired,
)
from model.costs import CONTROL, MessageKind, Size
from model.errors import Invalid
from model.system import size_of
from sim.timed.clock import Occurrence
from sim.timed.connections import BoundedConnection, count_events, find_connections
from sim.timed.crashes import Crashes
from sim.timed.detector import Detector
from sim.timed.failures import TimedCrash
from sim.timed.hosts import place_nodes
from sim.timed.network import Channel, QueuedInput, TimedNode, is_stored
from sim.timed.refusals import check_effects
from sim.timed.running import Evaluated, RunState
from sim.timed.sinks import SinkWriter
from sim.timed.stores import SharedStore
from sim.timed.suspension import Suspensions
from sim.timed.timers import Timers


class QueuedLoop:
    """The loop that evaluates a step when its node is free for it."""

    def __init__(self, state: RunState, detector: Detector, planned: Sequence[TimedCrash]) -> None:
        self.state, self.costs, self.protocol = state, state.costs, state.protocol
        self.into, self.out = find_connections(state.system, state.nodes)
        self.stores = {
            name: SharedStore(state.costs, name) for name in state.system.deployment.prompt
        }
        hosts = place_nodes(state.costs, state.nodes)
        self.hosts = {node.name: host for host in hosts for node in host.nodes if node.pace}
        for name in state.system.sink_at:
            self._price_sink(state.nodes[name])
        state.seen.stores, state.seen.hosts, state.seen.writers = self.stores, hosts, state.writers
        self.timers = Timers(state, self._fire)
        suspensions = Suspensions(state, self._keep_busy, self._work)
        self.crashes = Crashes(state, detector, planned, self._free_room, suspensions.suspend)

    def _price_sink(self, node: TimedNode) -> None:
        """Let the sink write its inputs, if its writes have a price."""
        state, costs = self.state, self.costs.sink
        if costs is not None:
            state.writers[node.name] = SinkWriter(costs, state.at, partial(self._take, node))

    # --- inputs come -----------------------------------------------------------------------------
    def run(self, feed: Iterator[tuple[int, NodeName, Arrival]]) -> None:
        """Process all events in order; one event of the feed at a time is in SimPy's queue."""
        state, clock = self.state, self.state.clock
        self.timers.start_all()
        offer = Event(clock)
        given = next(feed, None)
        if given is not None:
            state.at(given[0], offer)
        while clock.queue:
            now, event = clock.pop()
            if type(event) is Channel:
                self._arrive(event, now)
            elif event is offer:
                assert given is not None
                state.events += 1
                self._take(state.nodes[given[1]], QueuedInput(given[2], 0), now)
                if state.seen.gauged:
                    state.seen.measure(now)
                given = next(feed, None)
                if given is not None:
                    state.at(given[0], offer)
                else:
                    self.timers.end_input()
                    state.until = now
            else:
                evaluated = clock.happen(now, event)
                if evaluated is not None:
                    self._go_on_from(now, evaluated)
        for node in state.nodes.values():
            if node.inputs:
                raise Invalid(f"room: {node.name} waits for room in a connection for ever")

    def _arrive(self, channel: Channel, now: int) -> None:
        flying = channel.flying
        if not flying or flying[0][0] > now:  # the message was lost with its sender
            return
        if channel.receiver.reading > now:
            self.state.at(channel.receiver.reading, channel)
            return
        _, departed, message, tariff = flying.popleft()
        if flying:
            self.state.at(flying[0][0], channel)
        node = channel.receiver
        if departed < node.since:
            self.state.lost += 1
            self.state.in_vain += tariff.events
            self._leave(channel.sender, node, tariff.events, now)
            return
        received = Received(channel.sender, message)
        queued = QueuedInput(received, tariff.service, tariff.events)
        writer = self.state.writers.get(node.name)
        if writer is None:
            self._take(node, queued, now)
        else:
            writer.put(queued, now)

    def _fire(self, node: TimedNode, name: str, now: int) -> None:
        """A timer runs out; it counts as set until its step begins."""
        service = round(self.costs.service_ps(CONTROL) * node.pace)
        self._take(node, QueuedInput(TimerFired(name), service), now)

    def _go_on_from(self, now: int, evaluated: Evaluated) -> None:
        """A step that an occurrence has evaluated: a restart, or that of a prompt site on a
        notice."""
        node, _, effects, input_ = evaluated
        if node.name in self.stores:
            self._take_effect_at_once(node, effects, input_, now)
            return
        restart = QueuedInput(input_, 0)
        node.inputs.append(restart)
        self._begin(node, restart, effects, now)
        if node.done > now:  # another node restarts at this time
            node.busy = node.done
            self.state.at(node.busy, Occurrence(self._resume, (node, restart)), URGENT)
        self._work(node, now)

    def _take(self, node: TimedNode, queued: QueuedInput, now: int) -> None:
        inputs = node.inputs
        node.wait(queued)
        node.longest = max(node.longest, len(inputs))
        if len(inputs) == 1:
            self._work(node, now)

    # --- a step ----------------------------------------------------------------------------------
    def _work(self, node: TimedNode, now: int) -> None:
        """Process the inputs that wait at the node, as long as steps take no time."""
        if node.paused > now:
            return
        while node.inputs:
            first = node.inputs[0]
            if first.began is None:
                if not self._has_core(node, now):
                    return
                if isinstance(first.input_, TimerFired):
                    self.timers.unset(node, first.input_.timer, now)
                node.state, effects = self.state.answered(node, node.state, first.input_)
                self._begin(node, first, effects, now)
            if node.busy > now:
                return
            first.served = now if first.served is None else first.served
            self._leave_core(node, now)
            if not self._store_next(node, first, now) or not self._finish(node, first, now):
                return

    def _has_core(self, node: TimedNode, now: int) -> bool:
        host = self.hosts.get(node.name)
        return host is None or host.ask(node, now)

    def _leave_core(self, node: TimedNode, now: int) -> None:
        """The service is over; a node that waited has the core now, and begins soon."""
        host = self.hosts.get(node.name)
        following = None if host is None else host.leave(node, now)
        if following is not None:
            self.state.at(now, Occurrence(self._use_core, following))

    def _use_core(self, moment: Occurrence) -> None:
        """Begin the step for which the node has waited for a core, if it is still there."""
        node, now = moment.what, int(self.state.clock.now)
        if not node.inputs:
            self._leave_core(node, now)
        elif node.inputs[0].began is None:
            self._work(node, now)

    def _begin(
        self, node: TimedNode, queued: QueuedInput, effects: tuple[Effect, ...], now: int
    ) -> None:
        """Begin the service; an event that was in a connection has left it."""
        node.under_way, queued.began, queued.effects = queued.input_, now, effects
        check_effects(self.state.system, node, effects, queued.input_)
        if isinstance(queued.input_, Received):
            self._leave(queued.input_.sender, node, queued.events, now)
        service = queued.service
        if node.making:
            service += node.making * self.state.count_generated(node, effects)
        for effect in effects:
            if isinstance(effect, Note) and effect.what.name in self.state.prices:
                service += self.state.note_ps(node, effect)
        paid = self.timers.has_paid(queued.input_)
        lasting = (effect for effect in effects if self._lasts(node, effect))
        queued.stores.extend(one for one in lasting if isinstance(one, Send) or not paid)
        self._keep_busy(node, queued, now, now + service)

    def _lasts(self, node: TimedNode, effect: Effect) -> bool:
        if isinstance(effect, Send) and node.asks:
            size = size_of(self.protocol, effect.message)
            return is_stored(node.outgoing[effect.to], size)
        return isinstance(effect, Save | Sync)

    def _keep_busy(self, node: TimedNode, queued: QueuedInput, now: int, until: int) -> None:
        node.busy = until
        node.worked += until - now
        if until > now:
            priority = URGENT if queued.input_ is None else NORMAL
            self.state.at(until, Occurrence(self._resume, (node, queued)), priority)

    def _resume(self, moment: Occurrence) -> None:
        """Go on with a step, unless it was lost with its node."""
        node, queued = moment.what
        if node.inputs and node.inputs[0] is queued:
            self._work(node, int(self.state.clock.now))

    def _store_next(self, node: TimedNode, queued: QueuedInput, now: int) -> bool:
        """Begin the next save or transaction of the step; is everything stored?"""
        while queued.stores:
            effect = queued.stores.popleft()
            if isinstance(effect, Send):
                store = self.stores[effect.to]
                size = self.state.sizes.sent(node.name, effect.to, effect.message)
                takes, end = store.write(now, size)
                self.state.saves += 1
                self.state.saving += takes
            else:
                assert isinstance(effect, Save | Sync)
                end = max(now, node.stored) + self.state.store(node, effect)
            self._keep_busy(node, queued, now, end)
            if end > now:
                return False
        return True

    def _finish(self, node: TimedNode, queued: QueuedInput, now: int) -> bool:
        """Let the effects take place, unless the node has to wait for room; did they?"""
        assert queued.began is not None
        assert queued.served is not None
        restarts = queued.input_ is None  # which comes first at its time, and waits for nobody
        fills = () if restarts else self._fills(node, queued.effects)
        full = [one for one in fills if self._is_full(one)]
        for connection in full:
            if node not in connection.waiting:
                connection.waiting.append(node)
        if full:
            return False
        node.inputs.popleft()
        node.under_way, node.done = None, now
        if restarts:
            self.crashes.come_back(node, now)
        times = queued.began, queued.served, now
        effects = queued.effects
        aftermath = self.state.watch_step(node, times, effects, queued.input_, queued.events)
        if node.aged and queued.input_ is not None:
            self.state.record_age(node, queued.input_, effects, queued.events, (queued.began, now))
        self.state.take_effect(node, now, aftermath)
        self.timers.take(node, now, effects)
        self._depart(node, effects, now)
        return True

    # --- effects ---------------------------------------------------------------------------------
    def _depart(self, node: TimedNode, effects: tuple[Effect, ...], now: int) -> None:
        """Send the messages; prompt sites take theirs at once.  A store has to read its answers to
        a recovery."""
        for effect in effects:
            if not isinstance(effect, Send):
                continue
            channel = node.outgoing[effect.to]
            size = self.state.sizes.sent(node.name, effect.to, effect.message)
            tariff = self.state.tariff(channel, size)
            tariff.count += 1
            if channel.prompt:
                if tariff.upload is not None:
                    self._upload(channel, tariff.upload, now)
                self._ask_at_once(channel.receiver, Received(node.name, effect.message), now)
                continue
            ready = now
            if size.kind is MessageKind.RECOVERY and node.name in self.stores:
                ready = self.stores[node.name].read(now, size)
            elif size.kind is MessageKind.RECOVERY and channel.reads:
                ready = self.state.read_back(node, now, size)
            local = now
            if size.kind is MessageKind.RECOVERY and channel.reads:
                local = self.state.read_locally(effect.to, effect.message, now)
            ready = max(ready, local)
            line = channel.line
            if line is None:
                channel.free = max(channel.free, ready) + tariff.wire
            else:
                channel.free = line.send(max(ready, channel.upload[1]), tariff.wire)
            if not channel.flying:
                self.state.at(channel.free + channel.delay, channel)
            arrives = channel.free + channel.delay
            self.state.wait_for_state(channel, size, local > now, arrives)
            channel.flying.append((arrives, now, effect.message, tariff))
            connection = self.out.get((node.name, effect.to))
            if connection is not None and connection.site is None:
                connection.events += size.events

    def _upload(self, channel: Channel, size: Size, now: int) -> None:
        """Let the store write beside the work of the sender."""
        takes, end = self.stores[channel.receiver.name].write(now, size)
        self.state.hold_answers(channel, takes, end)

    def _ask_at_once(self, site: TimedNode, input_: Received, now: int) -> None:
        site.state, effects = self.state.answered(site, site.state, input_)
        self._take_effect_at_once(site, effects, input_, now)

    def _take_effect_at_once(
        self, site: TimedNode, effects: tuple[Effect, ...], input_: Input | None, now: int
    ) -> None:
        """Let the effects of a prompt site's step take place."""
        check_effects(self.state.system, site, effects, input_)
        site.done = now
        aftermath = self.state.watch_step(site, (now, now, now), effects, input_, 0)
        self.state.take_effect(site, now, aftermath)
        self._depart(site, effects, now)
        for channel in site.outgoing.values():
            self._make_room(self.out.get((site.name, channel.receiver.name)), now)

    # --- room ------------------------------------------------------------------------------------
    def _fills(self, node: TimedNode, effects: tuple[Effect, ...]) -> Iterator[BoundedConnection]:
        """The connections on which the step sends events."""
        for effect in effects:
            if isinstance(effect, Send) and (node.name, effect.to) in self.into:
                size = size_of(self.protocol, effect.message)
                if size.kind is MessageKind.EVENT and size.events:
                    yield self.into[node.name, effect.to]

    def _is_full(self, connection: BoundedConnection) -> bool:
        room = self.costs.room
        return room is not None and count_events(self.state.system, connection) >= room

    def _leave(self, sender: NodeName, receiver: TimedNode, events: int, now: int) -> None:
        """Count the events out of a connection: the receiver begins with them, or is down."""
        connection = self.out.get((sender, receiver.name))
        if connection is not None and events:
            if connection.site is None:
                connection.events -= events
            self._make_room(connection, now)

    def _make_room(self, connection: BoundedConnection | None, now: int) -> None:
        """Let those who wait for room look again, soon: others have to end their steps first."""
        if connection is None or not connection.waiting or self._is_full(connection):
            return
        for node in connection.waiting:
            if node.inputs:
                self.state.at(now, Occurrence(self._resume, (node, node.inputs[0])))
        connection.waiting.clear()

    def _free_room(self, node: TimedNode, now: int) -> None:
        """The node is down: it waits for no room and no core, and messages on their way to it will
        be lost."""
        self._leave_core(node, now)
        for connection in self.into.values():
            if node in connection.waiting:
                connection.waiting.remove(node)
        for channel in node.incoming:
            into = self.out.get((channel.sender, node.name))
            if into is not None and into.site is None:
                into.events = sum(tariff.events for _, _, _, tariff in channel.flying)
                self._make_room(into, now + 1)  # a crash comes last at its time
