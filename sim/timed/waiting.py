"""The timed driver where nodes wait: for shared stores, and for room in bounded connections.

Rule of this file: no other semantics than the driver's; the file only evaluates steps later, since
what a node waits for may not have happened when a message arrives.

A node takes the input that came first when it is free.  Its step has three parts: service; then its
saves and transactions, one after the other, each in the order of the requests at its store; then
the node waits until none of the connections that it has to send on is full.  At that moment all
effects take place at once, so that a step of several events may fill a connection beyond the bound.

There is no deadlock.  Only events of the data stream wait for room, and these go down the graph:
acknowledgements, markers, transactions and requests wait for nobody's room.  A node that waits for
no room takes its inputs in order, and so makes room; the last operators send to sinks alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

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
    SetTimer,
    TimerFired,
)
from model.costs import CONTROL, MessageKind
from model.errors import Invalid
from model.system import size_of
from sim.timed.clock import Occurrence
from sim.timed.connections import Connection, count_events, find_connections
from sim.timed.network import Channel, TimedNode, is_stored
from sim.timed.recovery import record_arrival
from sim.timed.simulator import FIRINGS, NEVER, TimedRun
from sim.timed.stores import Store


class _Task:
    """An input that waits at a node, or the step on it that is under way.

    service: what the message asks for.  events: in the input.  stores: what the step still has to
    store.  began, served: None until then.
    """

    __slots__ = ("began", "effects", "events", "input_", "served", "service", "stores")

    def __init__(self, input_: Input | None, service: int, events: int = 0) -> None:
        self.input_, self.service, self.events = input_, service, events
        self.effects: tuple[Effect, ...] = ()
        self.stores: deque[Effect] = deque()
        self.began: int | None = None
        self.served: int | None = None


class WaitingRun(TimedRun):
    """A run in which a node's `pending` holds its tasks; the first one is under way."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.into, self.out = find_connections(self.system, self.nodes)
        self.stores = {name: Store(self.costs, name) for name in self.system.deployment.prompt}
        self.seen.stores = self.stores

    # --- inputs come ---------------------------------------------------------------------------
    def _loop(self, feed: Iterator[tuple[int, NodeName, Arrival]]) -> None:
        offer = Event(self.clock)
        given = next(feed, None)
        if given is not None:
            self.at(given[0], offer)
        while self.clock.queue:
            now, event = self.clock.pop()
            if type(event) is Channel:
                self._arrive(event, now)
            elif event is offer:
                assert given is not None
                self.events += 1
                self._take(self.nodes[given[1]], _Task(given[2], 0), now)
                if self.seen.gauged:
                    self.seen.measure(now)
                given = next(feed, None)
                if given is not None:
                    self.at(given[0], offer)
                else:
                    self.firings_left, self.until = FIRINGS, now
            else:
                evaluated = self.clock.happen(now, event)
                if evaluated is not None:
                    self._go_on_from(now, *evaluated)
        for node in self.nodes.values():
            if node.pending:
                raise Invalid(f"room: {node.name} waits for room in a connection for ever")

    def _arrive(self, channel: Channel, now: int) -> None:
        flying = channel.flying
        if not flying or flying[0][0] > now:  # the message was lost with its sender
            return
        _, departed, message, tariff = flying.popleft()
        if flying:
            self.at(flying[0][0], channel)
        node = channel.receiver
        if node.outage is not None:
            if departed < node.since:
                self.lost += 1
                self.in_vain += tariff.events
                self._leave(channel.sender, node, tariff.events, now)
                return
            if not node.pending:
                record_arrival(node, node.outage, now, departed)
        task = _Task(Received(channel.sender, message), tariff.service, tariff.events)
        self._take(node, task, now)

    def _fire(self, moment: Occurrence) -> None:
        """A timer runs out; it counts as set until its step begins."""
        node, name, now = moment.what
        if node.timers.get(name) is moment:
            self._count_firing(node, name)
            service = round(self.costs.service_ps(CONTROL) * node.pace)
            self._take(node, _Task(TimerFired(name), service), now)

    def _go_on_from(
        self,
        now: int,
        node: TimedNode,
        _service: int,
        effects: tuple[Effect, ...],
        input_: Input | None,
    ) -> None:
        """A step that an occurrence has evaluated: a restart, or that of a prompt site on a
        notice."""
        if node.name in self.stores:
            self._take_effect_at_once(node, effects, input_, now)
            return
        task = _Task(input_, 0)
        node.pending.append((NEVER, task))
        self._begin(node, task, effects, now)
        if node.done > now:  # another node restarts at this time
            node.busy = node.done
            self.at(node.busy, Occurrence(self._resume, (node, task)), URGENT)
        self._work(node, now)

    def _take(self, node: TimedNode, task: _Task, now: int) -> None:
        pending = node.pending
        pending.append((NEVER, task))
        node.longest = max(node.longest, len(pending))
        if len(pending) == 1:
            self._work(node, now)

    # --- a step ----------------------------------------------------------------------------------
    def _work(self, node: TimedNode, now: int) -> None:
        """Process what waits at the node, as long as steps take no time."""
        while node.pending:
            task = node.pending[0][1]
            if task.began is None:
                if isinstance(task.input_, TimerFired):
                    name = task.input_.timer
                    del node.timers[name]
                    node.ticks[name.partition(":")[0]] = now
                node.state, effects = self._answered(node, node.state, task.input_)
                self._begin(node, task, effects, now)
            if node.busy > now or not self._store_next(node, task, now):
                return
            if not self._finish(node, task, now):
                return

    def _begin(self, node: TimedNode, task: _Task, effects: tuple[Effect, ...], now: int) -> None:
        """Begin the service; what was in a connection has left it."""
        node.under_way, task.began, task.effects = task.input_, now, effects
        if isinstance(task.input_, Received):
            self._leave(task.input_.sender, node, task.events, now)
        service: int = task.service
        if node.making:
            service += node.making * self._count_generated(node, effects)
        for effect in effects:
            if isinstance(effect, Note) and effect.what.name in self.prices:
                service += round(effect.times * self.prices[effect.what.name] * node.pace)
        task.stores.extend(effect for effect in effects if self._lasts(node, effect))
        self._keep_busy(node, task, now, now + service)

    def _lasts(self, node: TimedNode, effect: Effect) -> bool:
        if isinstance(effect, Send) and node.asks:
            size = size_of(self.protocol, effect.message)
            return is_stored(node.outgoing[effect.to], size)
        return isinstance(effect, Save)

    def _keep_busy(self, node: TimedNode, task: _Task, now: int, until: int) -> None:
        node.busy = until
        node.worked += until - now
        if until > now:
            priority = URGENT if task.input_ is None else NORMAL
            self.at(until, Occurrence(self._resume, (node, task)), priority)

    def _resume(self, moment: Occurrence) -> None:
        """Go on with a step, unless it was lost with its node."""
        node, task = moment.what
        if node.pending and node.pending[0][1] is task:
            self._work(node, int(self.clock.now))

    def _store_next(self, node: TimedNode, task: _Task, now: int) -> bool:
        """Begin what the step has to store next; is everything stored?"""
        while task.stores:
            effect = task.stores.popleft()
            if isinstance(effect, Send):
                store = self.stores[effect.to]
                takes, end = store.write(now, size_of(self.protocol, effect.message))
            else:
                assert isinstance(effect, Save)
                takes = self.costs.save_ps(size_of(self.protocol, effect.value))
                end = now + takes
            self.saves += 1
            self.saving += takes
            self._keep_busy(node, task, now, end)
            if end > now:
                return False
        return True

    def _finish(self, node: TimedNode, task: _Task, now: int) -> bool:
        """Let the effects take place, unless the node has to wait for room; did they?"""
        assert task.began is not None
        task.served = now if task.served is None else task.served
        restarts = task.input_ is None  # which comes first at its time, and waits for nobody
        fills = () if restarts else self._fills(node, task.effects)
        full = [one for one in fills if self._is_full(one)]
        for connection in full:
            if node not in connection.waiting:
                connection.waiting.append(node)
        if full:
            return False
        node.pending.popleft()
        node.under_way, node.done = None, now
        times = task.began, task.served, now
        aftermath = self._watch_step(node, times, task.effects, task.input_, task.events)
        self._take_effect(node, now, aftermath)
        self._set_timers(node, now, [e.name for e in task.effects if isinstance(e, SetTimer)])
        self._depart(node, task.effects, now)
        return True

    # --- effects -------------------------------------------------------------------------------
    def _depart(self, node: TimedNode, effects: tuple[Effect, ...], now: int) -> None:
        """Send the messages; prompt sites take theirs at once.  What a store answers for recovery
        has to be read."""
        for effect in effects:
            if not isinstance(effect, Send):
                continue
            channel = node.outgoing[effect.to]
            size = size_of(self.protocol, effect.message)
            tariff = self._tariff(channel, size)
            tariff.count += 1
            if channel.prompt:
                self._ask_at_once(channel.receiver, Received(node.name, effect.message), now)
                continue
            ready = now
            if size.kind is MessageKind.RECOVERY and node.name in self.stores:
                ready = self.stores[node.name].read(now, size)
            channel.free = max(channel.free, ready) + tariff.wire
            if not channel.flying:
                self.at(channel.free + channel.delay, channel)
            channel.flying.append((channel.free + channel.delay, now, effect.message, tariff))
            connection = self.out.get((node.name, effect.to))
            if connection is not None and connection.site is None:
                connection.events += size.events

    def _ask_at_once(self, site: TimedNode, input_: Received, now: int) -> None:
        site.state, effects = self._answered(site, site.state, input_)
        self._take_effect_at_once(site, effects, input_, now)

    def _take_effect_at_once(
        self, site: TimedNode, effects: tuple[Effect, ...], input_: Input | None, now: int
    ) -> None:
        """Let the effects of a prompt site's step take place."""
        site.done = now
        aftermath = self._watch_step(site, (now, now, now), effects, input_, 0)
        self._take_effect(site, now, aftermath)
        self._depart(site, effects, now)
        for channel in site.outgoing.values():
            self._make_room(self.out.get((site.name, channel.receiver.name)), now)

    # --- room ----------------------------------------------------------------------------------
    def _fills(self, node: TimedNode, effects: tuple[Effect, ...]) -> Iterator[Connection]:
        """The connections on which the step sends events."""
        for effect in effects:
            if isinstance(effect, Send) and (node.name, effect.to) in self.into:
                size = size_of(self.protocol, effect.message)
                if size.kind is MessageKind.EVENT and size.events:
                    yield self.into[node.name, effect.to]

    def _is_full(self, connection: Connection) -> bool:
        room = self.costs.room
        return room is not None and count_events(self.system, connection) >= room

    def _leave(self, sender: NodeName, receiver: TimedNode, events: int, now: int) -> None:
        """Count the events out of a connection: the receiver begins with them, or is down."""
        connection = self.out.get((sender, receiver.name))
        if connection is not None and events:
            if connection.site is None:
                connection.events -= events
            self._make_room(connection, now)

    def _make_room(self, connection: Connection | None, now: int) -> None:
        """Let those who wait for room look again, soon: others have to end their steps first."""
        if connection is None or not connection.waiting or self._is_full(connection):
            return
        for node in connection.waiting:
            if node.pending:
                self.at(now, Occurrence(self._resume, (node, node.pending[0][1])))
        connection.waiting.clear()

    # --- failures ------------------------------------------------------------------------------
    def _take_down(
        self, node: TimedNode, now: int, again: int | None, returns: tuple[int, int]
    ) -> None:
        """Nobody takes what waits at the node, and what was sent to it will be lost."""
        self.in_vain += sum(task.events for _, task in node.pending)
        node.pending.clear()
        node.under_way = None
        super()._take_down(node, now, again, returns)
        for connection in self.into.values():
            if node in connection.waiting:
                connection.waiting.remove(node)
        for channel in node.incoming:
            into = self.out.get((channel.sender, node.name))
            if into is not None and into.site is None:
                into.events = sum(tariff.events for _, _, _, tariff in channel.flying)
                self._make_room(into, now + 1)  # a crash comes last at its time

    def _at_rest(self, now: int) -> bool:
        return not any(node.pending for node in self.nodes.values()) and super()._at_rest(now)
