"""The fast loop of the timed driver: nodes that wait for nobody.

Rule of this file: no own semantics.  The loop orders steps by time and cost.

Each message is one SimPy event, at its arrival.  A node is a FIFO server, so the order of arrival
is the order of service: on arrival the loop evaluates the step and knows when its service ends.
A timer goes before the messages that wait: an operator that has set one therefore evaluates the
steps on these messages when it is free, and those on its timers in between.
At the end of the service all effects take place at once: sent messages depart, saved values are
durable, emitted outputs are out.  A crash drops the effects that have not taken place.

A prompt site takes a message when the effects of the sending step take place, and answers at once.
It is a storage device for checkpoints and determinants, the records that have to last: they take
the time of a save, one after the other, and hold up their step as a save does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush, heappushpop
from typing import Any

from simpy.events import NORMAL, URGENT, Event

from model.core import (
    Arrival,
    Effect,
    Emit,
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
from model.errors import Invalid, StepFailed, brief, describe_error, pass_ctrl_c
from model.system import call_step, check_step, describe, read_gauges
from sim.timed.clock import Entry, Occurrence
from sim.timed.crashes import Crashes, check_sizes
from sim.timed.detector import Detector
from sim.timed.failures import TimedCrash
from sim.timed.network import Channel, QueuedInput, TimedNode, is_stored
from sim.timed.refusals import check_effects
from sim.timed.running import Evaluated, RunState
from sim.timed.timers import Timers

new = tuple.__new__
"""A constructor that takes half the time of NamedTuple's own, for the two most frequent ones."""


class FastLoop:
    """The loop that evaluates each step when its input arrives."""

    def __init__(self, state: RunState, detector: Detector, planned: Sequence[TimedCrash]) -> None:
        self.state = state
        self.timers = Timers(state, self._fire)
        self.crashes = Crashes(state, detector, planned, lambda _node, _now: None)

    def run(self, feed: Iterator[tuple[int, NodeName, Arrival]]) -> None:
        """Process all events in order; one event of the feed at a time is in SimPy's queue.

        Every message passes this loop, so the loop is one method of more than 60 lines and not a
        method for each stage: calls would be a third of the costs of a hop.  Input and messages are
        processed here; all other events are callbacks, and a step that a callback has evaluated
        continues here.
        """
        self.timers.start_all()
        run, clock, nodes = self.state, self.state.clock, self.state.nodes
        queue, count = clock.queue, clock.count
        step, size_of = run.protocol.behaviour.step, run.protocol.behaviour.size
        watched, seen, affect, take_effect = run.watched, run.seen, run.affect, run.take_effect
        sized, sent = run.costs.sizes_states, run.sizes.sent
        offer = Event(clock)
        given: Any = next(feed, None)
        input_: Any = None
        if given is not None:
            run.at(given[0], offer)
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
                    if event.receiver.reading > now:
                        heappush(queue, (event.receiver.reading, NORMAL, next(count), event))
                        continue
                    _, departed, message, received = flying.popleft()
                    if flying:
                        held = (flying[0][0], NORMAL, next(count), event)
                    node, service = event.receiver, received.service
                    if departed < node.since:
                        run.lost += 1
                        run.in_vain += received.events
                        continue
                    if node.defers and (node.inputs or node.busy > now):
                        input_ = new(Received, (event.sender, message))
                        self._defer(node, QueuedInput(input_, service, received.events))
                        continue
                    unsettled = node.unsettled
                    while unsettled and unsettled[0][0] <= now:
                        done, aftermath = unsettled.popleft()
                        if aftermath is not None:
                            take_effect(node, done, aftermath)
                    input_ = new(Received, (event.sender, message))
                    node.state, effects = step(node.site, node.state, input_)
                elif event is offer:
                    run.events += 1
                    _, source, arrival = given
                    node, service = nodes[source], 0
                    input_ = arrival
                    node.state, effects = step(node.site, node.state, input_)
                else:
                    evaluated = clock.happen(now, event)
                    if evaluated is None:
                        continue
                    node, service, effects, input_ = evaluated

                # The times at which the service ends and the effects take place.
                if node.making:
                    service += node.making * run.count_generated(node, effects)
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
                        busy, done = self._hold_up(node, busy, effects, input_)
                        break
                node.busy = busy
                node.done = done

                # Messages depart at `done`.  Where nobody watches, nothing crashes, so that the
                # other effects may take place at once; otherwise they wait until `done`.
                for effect in effects:
                    if type(effect) is Send:
                        channel = node.outgoing[effect[0]]
                        message = effect[1]
                        size = sent(node.name, effect[0], message) if sized else size_of(message)
                        tariff = (
                            channel.tariff if size is channel.size else run.tariff(channel, size)
                        )
                        tariff.count += 1
                        if channel.prompt:
                            channel.flying.append((done, done, message, tariff))
                            priority = URGENT if input_ is None else NORMAL
                            run.at(done, Occurrence(run.ask, (done, channel)), priority)
                            continue
                        free = channel.free
                        if free < done:
                            free = done
                        if sized and channel.reads:
                            local = done
                            if size.kind is MessageKind.RECOVERY:
                                local = run.read_locally(effect[0], message, done)
                                free = max(free, local, run.read_back(node, done, size))
                            arrives = free + tariff.wire + channel.delay
                            run.wait_for_state(channel, size, local > done, arrives)
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
                        affect(node, done, effect)
                aftermath = None
                if watched or node.aged:
                    if type(event) is Channel:
                        events = received.events
                    else:  # a prompt site, or a message that has waited
                        waited = type(input_) is Received
                        events = size_of(input_[1]).events if waited else 0
                    if node.aged:
                        run.record_age(node, input_, effects, events, (began, done))
                if watched:
                    if input_ is None:
                        self.crashes.come_back(node, done)
                    times = began, busy, done
                    aftermath = run.watch_step(node, times, effects, input_, events)
                if done > now:
                    unsettled = node.unsettled
                    unsettled.append((done, aftermath))
                    if len(unsettled) > node.longest:
                        node.longest = len(unsettled)
                elif aftermath is not None:
                    take_effect(node, done, aftermath)
                if node.inputs:
                    run.at(busy, Occurrence(self._begin, node))

                if event is offer:
                    if seen.gauged:
                        seen.measure(now)
                    given = next(feed, None)
                    if given is not None:
                        heappush(queue, (given[0], NORMAL, next(count), offer))
                    else:
                        self.timers.end_input()
                        run.until = now
        except (Invalid, StepFailed):
            raise
        except BaseException as error:
            pass_ctrl_c(error)
            self._blame(node, input_, effects, error)
            raise

    def _blame(
        self, node: TimedNode, input_: Input, effects: tuple[Effect, ...], error: BaseException
    ) -> None:
        """Raise the error of the protocol in the loop; checking there would slow all runs.

        Its functions are pure, so what raised once raises again.
        """
        system = self.state.system
        assert error.__traceback__ is not None
        inside = error.__traceback__.tb_next is None  # the loop itself, and no function of its
        if inside and isinstance(error, KeyError):  # there is no such channel
            check_step(system, node.name, input_, (node.state, effects))
        elif inside:  # the state is still the one before
            again = call_step(system, node.name, node.state, input_, node.site.disk)
            check_step(system, node.name, input_, again)
        check_sizes(self.state, effects)
        read_gauges(system, node.name, node.state)
        raise StepFailed(node.name, describe(input_), describe_error(error)) from error

    # --- inputs that wait for their node -----------------------------------------------------
    def _fire(self, node: TimedNode, name: str, now: int) -> Evaluated | None:
        """The step on a timer that runs out; if a step is under way, the timer waits for it."""
        run = self.state
        service = round(run.costs.service_ps(CONTROL) * node.pace)
        fired = QueuedInput(TimerFired(name), service)
        if node.defers and node.busy > now:
            self._defer(node, fired)
            return None
        return self._evaluate(node, fired, now)

    def _defer(self, node: TimedNode, queued: QueuedInput) -> None:
        """Let the input wait until the node is free."""
        if not node.inputs:
            self.state.at(node.busy, Occurrence(self._begin, node))
        node.wait(queued)
        node.longest = max(node.longest, len(node.unsettled) + len(node.inputs))

    def _begin(self, moment: Occurrence) -> Evaluated | None:
        """The step on the first input that waits, if the node is free."""
        node, now = moment.what, int(self.state.clock.now)
        if not node.inputs or node.busy > now:
            return None
        return self._evaluate(node, node.inputs.popleft(), now)

    def _evaluate(self, node: TimedNode, queued: QueuedInput, now: int) -> Evaluated:
        """The step on an input; a timer counts as set until here."""
        run, input_ = self.state, queued.input_
        if isinstance(input_, TimerFired):
            self.timers.unset(node, input_.timer, now)
        run.settle(node, now)
        node.state, effects = run.answered(node, node.state, input_)
        return node, queued.service, effects, input_

    # --- steps that hold their node up -------------------------------------------------------

    def _hold_up(
        self, node: TimedNode, busy: int, effects: tuple[Effect, ...], input_: Input | None
    ) -> tuple[int, int]:
        """The times at which the node is free and the effects take place, for a step with notes,
        saves or timers, or of a node that sends to prompt sites.

        A save, or a send to a prompt site, delays all effects of its step and of later steps,
        whether it blocks or not.
        """
        run, began = self.state, busy
        check_effects(run.system, node, effects, input_)
        for effect in effects:
            if not isinstance(effect, Effect):
                raise StepFailed(
                    node.name, "a step", f"has {brief(effect)} among its effects, which is none"
                )
            if isinstance(effect, Note) and effect.what.name in run.prices:
                busy += run.note_ps(node, effect)
        done = max(busy, node.done)
        paid = self.timers.has_paid(input_)
        for effect in effects:
            if isinstance(effect, Save | Sync):
                if paid:
                    continue
                done = max(done, node.stored) + run.store(node, effect)
                if run.costs.storage.blocking:
                    busy = done
            elif isinstance(effect, Send) and node.asks:
                channel = node.outgoing[effect.to]
                size = run.sizes.sent(node.name, effect.to, effect.message)
                if is_stored(channel, size):
                    done = self._store(channel.receiver, done, size)
                    if run.costs.storage.blocking:
                        busy = done
        self.timers.take(node, done, effects)
        node.worked += busy - began
        return busy, done

    def _store(self, store: TimedNode, ready: int, size: Size) -> int:
        """The time at which a prompt site has stored a message: after those that came before."""
        takes, end = self.state.write(store, ready, size)
        self.state.saves += 1
        self.state.saving += takes
        return end
