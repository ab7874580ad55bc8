"""A timed run under way: its nodes, its clock, its counts, and how effects take place.

Rule of this file: no order of events and no crash; the loops (sim.timed.fast_loop, queued_loop)
order the events, and sim.timed.crashes takes nodes down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from model.core import (
    RESENT,
    Arrival,
    Effect,
    Emit,
    Input,
    NodeName,
    Note,
    Received,
    Role,
    Save,
    Send,
    Step,
    Sync,
)
from model.costs import Size
from model.system import System, call_step, check_step, read_gauges, size_of
from model.world import boot_node, synced, write
from sim.timed.ages import AgeRecord, UsualAges, data_step
from sim.timed.checkpoints import CheckpointClock
from sim.timed.clock import Occurrence, SimulatedClock
from sim.timed.costs import Costs, picoseconds
from sim.timed.failures import TimedOutage
from sim.timed.files import open_files, take_write
from sim.timed.network import Aftermath, Channel, Tariff, TimedNode, is_stored
from sim.timed.observation import RunObservation
from sim.timed.record import LogEntry, log_step
from sim.timed.recovery import RecoveryRecord, find_job, find_replicas
from sim.timed.sinks import SinkWriter
from sim.timed.state_sizes import StateSizes

NEVER = float("inf")
Evaluated: TypeAlias = tuple[TimedNode, int, tuple[Effect, ...], Any]
"""A step: its node, the service that it asks for, its effects, its input (None for a restart)."""
Feed: TypeAlias = Iterable[tuple[int, NodeName, Arrival]]
"""(time in picoseconds, source, arrival), times not decreasing."""
Record: TypeAlias = Callable[[NodeName, int, Any], None]
"""A function that receives each output of a sink, in order: (sink, picoseconds, output)."""


class RunState:
    """The mutable parts of a run that both loops have.

    watched: are the effects of a step kept until their time, since somebody may look at a state or
    crash a node in between?  events: handed out so far.  until: the time of the last one.  saves,
    saving, saved_bytes: writes to stable storage, and their time; the bytes of those to nodes' own.
    lost, in_vain, missed: as in TimedResult.
    order: the number of log entries.  sizes: of the operators' states.  writers: of the sinks
    whose writes have a price.
    """

    def __init__(
        self,
        system: System,
        costs: Costs,
        record: Record,
        log: list[LogEntry] | None,
        *,
        ages: AgeRecord | None,
        usual: UsualAges | None,
        crashes: bool,
    ) -> None:
        self.system, self.protocol, self.costs = system, system.protocol, costs
        self.record, self.log = record, log
        self.ages, self.usual = ages, usual
        self.recoveries = RecoveryRecord(system, usual)
        self.clock = SimulatedClock()
        self.at = self.clock.at
        self.nodes = _make_nodes(system, costs)
        _watch_ages(self.nodes, ages.watched if ages is not None else ())
        gauged = any(node.gauged for node in self.nodes.values())
        self.watched = gauged or log is not None or crashes
        self.sizes = StateSizes(system, costs)
        self.seen = RunObservation(self.sizes, self.nodes, self.settle, self.watched)
        self.prices = costs.note_ps()
        self.notes: Counter[str] = Counter()
        noted = self.protocol.behaviour.checkpoints
        self.checkpoints = None if noted is None else CheckpointClock(noted)
        self.outages: list[TimedOutage] = []
        self.writers: dict[NodeName, SinkWriter] = {}
        self.events = self.saves = self.saving = self.missed = self.lost = self.order = 0
        self.in_vain = self.until = self.saved_bytes = 0

    # --- steps -------------------------------------------------------------------------------
    def answered(self, node: TimedNode, value: Any, input_: Input | None) -> Step:
        """The checked step on a timer, on a restart (None), or of a prompt site."""
        answer = call_step(self.system, node.name, value, input_, node.site.disk)
        return check_step(self.system, node.name, input_, answer, hashed=input_ is None)

    def ask(self, moment: Occurrence) -> Evaluated | None:
        """The step of a prompt site on a message that departs now."""
        now, channel = moment.what
        flying = channel.flying
        if not flying or flying[0][0] > now:  # the message was lost with its sender
            return None
        _, _, message, tariff = flying.popleft()
        node, input_ = channel.receiver, Received(channel.sender, message)
        if tariff.upload is not None:
            takes, end = self.write(node, now, tariff.upload)
            self.hold_answers(channel, takes, end)
        node.state, effects = self.answered(node, node.state, input_)
        return node, 0, effects, input_

    def watch_step(
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
        kept = None
        if node.gauged:
            kept = self.protocol.behaviour.gauges(node.site, node.state).buffered or 0
        logged = None
        if self.log is not None and node.name not in self.system.deployment.prompt:
            self.order += 1
            kind = ""
            if isinstance(input_, Received):
                kind = size_of(self.protocol, input_.message).traffic
            logged = log_step(node.site, times, self.order, input_, kind)
        self.recoveries.record_step(node, times, effects, input_, events)
        return effects, logged, kept, node.state, events

    def record_age(
        self,
        node: TimedNode,
        input_: Input,
        effects: tuple[Effect, ...],
        events: int,
        times: tuple[int, int],
    ) -> None:
        """Record the age of the events of a step of an aged node.  times: began, done."""
        assert self.ages is not None
        unit_ps = self.ages.unit_ps
        step = data_step(self.protocol, node, input_, effects, events, times, unit_ps)
        if step is not None:
            self.ages.add(step)

    # --- costs -------------------------------------------------------------------------------
    def tariff(self, channel: Channel, size: Size) -> Tariff:
        tariff = channel.tariffs.get(size)
        if tariff is None:
            moved = channel.prompt or channel.reads or channel.receiver.stores
            tariff = Tariff(self.costs, size, channel.receiver, moved)
            if channel.line is not None:
                tariff.wire = channel.line.wire_ps(tariff.bytes)
            channel.tariffs[size] = tariff
        channel.size, channel.tariff = size, tariff
        return tariff

    def count_generated(self, node: TimedNode, effects: tuple[Effect, ...]) -> int:
        """The events that a step generates for receivers; a store's copy of them is none, and an
        event that is sent again from a store was generated before."""
        found = 0
        for effect in effects:
            if type(effect) is Note and effect.what == RESENT:
                found -= effect.times
            if type(effect) is Send:
                size = self.protocol.behaviour.size(effect.message)
                if size.events and not is_stored(node.outgoing[effect.to], size):
                    found += size.events
        return found

    def note_ps(self, node: TimedNode, note: Note) -> int:
        """The time for which a note of a priced quantity keeps the node busy."""
        return round(note.times * self.prices[note.what.name] * node.pace)

    def store(self, node: TimedNode, effect: Save | Sync) -> int:
        """The time that a save or a sync takes, if it stores anything; the write is counted."""
        sizes = take_write(self.sizes, node, effect)
        if not sizes:
            return 0
        takes = self.costs.save_ps(*sizes)
        self.saves += 1
        self.saving += takes
        self.saved_bytes += self.costs.saved_bytes(*sizes)
        return takes

    def write(self, store: TimedNode, ready: int, size: Size) -> tuple[int, int]:
        """How long a prompt site takes to store a message, and when it has stored this and all that
        came before."""
        takes = self.costs.save_ps(size)
        store.stored = max(store.stored, ready) + takes
        store.worked += takes
        return takes, store.stored

    def hold_answers(self, channel: Channel, takes: int, end: int) -> None:
        """The store writes an upload of the channel's sender until `end`, and answers it then."""
        self.saves += 1
        self.saving += takes
        channel.receiver.outgoing[channel.sender].hold(end - takes, end)

    def abort_uploads(self, node: TimedNode, now: int) -> None:
        """The node crashes: the stores write its uploads no further, and answer none of them."""
        for channel in node.incoming:
            begins, ends = channel.upload
            if ends <= now:
                continue
            self.lost += channel.drop(now)
            store, site = self.seen.stores.get(channel.sender), self.nodes[channel.sender]
            if store is not None:
                store.give_back(ends, max(begins, now))
            elif site.stored == ends:
                site.stored = max(begins, now)

    def read_back(self, store: TimedNode, ready: int, size: Size) -> int:
        """The time at which a store has read the states in its answer, after earlier requests."""
        takes = self.costs.read_ps(size.state_bytes)
        if not takes:
            return ready
        store.stored = max(store.stored, ready) + takes
        store.worked += takes
        return store.stored

    def read_locally(self, to: NodeName, message: Any, now: int) -> int:
        """The time at which a node has read the states in an answer that are on its own disk."""
        if not self.costs.keeps_copies:
            return now
        moved = self.sizes.read_locally(to, message)
        return now + self.costs.read_ps(moved) if moved else now

    def wait_for_state(self, channel: Channel, size: Size, local: bool, arrives: int) -> None:
        """Let a restarted receiver take no message before the one with its state has come.

        local: it reads some states from its own disk.  A node that takes over drops the messages of
        that time, since it asks for them again.
        """
        outage = self.protocol.behaviour.outage
        restarts = outage is None or outage.restart
        if (size.state_bytes or local) and channel.reads and restarts:
            node = channel.receiver
            node.reading = max(node.reading, arrives)

    # --- effects -----------------------------------------------------------------------------
    def settle(self, node: TimedNode, now: int) -> None:
        """Let the effects of the node take place that are due."""
        unsettled = node.unsettled
        while unsettled and unsettled[0][0] <= now:
            done, aftermath = unsettled.popleft()
            if aftermath is not None:
                self.take_effect(node, done, aftermath)

    def take_effect(self, node: TimedNode, done: int, aftermath: Aftermath) -> None:
        """Let the effects of a step take place; its messages are on their way already."""
        effects, logged, kept, node.settled, _ = aftermath
        for effect in effects:
            self.affect(node, done, effect)
        if logged is not None and self.log is not None:
            self.log.append(logged)
        if kept is not None:
            node.keep(done, kept)

    def affect(self, node: TimedNode, done: int, effect: Effect) -> None:
        """Let one effect take place; a message is on its way already, and a timer is set."""
        if type(effect) is Emit:
            self.record(node.name, done, effect.output)
        elif type(effect) is Note:
            self.notes[effect.what.name] += effect.times
            if self.checkpoints is not None:
                self.checkpoints.note(effect.what, done)
        elif type(effect) is Save:
            filed = node.site.files
            node.durable = write(node.site, node.durable, effect) if filed else effect.value
        elif type(effect) is Sync:
            node.durable = synced(node.durable)


def _make_nodes(system: System, costs: Costs) -> dict[NodeName, TimedNode]:
    """The nodes at the start, with their channels."""
    nodes: dict[NodeName, TimedNode] = {}
    for name, site in system.sites.items():
        booted = boot_node(system.protocol, site)
        state = booted.state
        works = site.role is Role.OPERATOR and name not in system.prompt
        operator = (*system.operators_at(name), name)[0]
        pace = costs.slow.get(operator, 1.0) if works else 0.0
        making = round(costs.output_ps(operator) * pace)
        gauged = read_gauges(system, name, state).buffered is not None
        nodes[name] = TimedNode(site, state, pace, making, gauged)
        nodes[name].operator = operator
        nodes[name].stores = name in system.deployment.storing
        nodes[name].durable = booted.durable
        open_files(nodes[name])
    delay = picoseconds(costs.link.delay_s)
    for sender, receiver in system.deployment.channels:
        prompt = receiver in system.deployment.prompt
        reads = sender in system.prompt or nodes[sender].stores
        channel = Channel(sender, nodes[receiver], 0 if prompt else delay, prompt, reads)
        nodes[sender].outgoing[receiver] = channel
        nodes[sender].asks |= prompt
        nodes[receiver].incoming.append(channel)
    for node in nodes.values():
        node.replicas = find_replicas(node, nodes.values(), system.scope.graph)
        node.job = find_job(node, system.scope.graph)
    for node in nodes.values():
        node.jobs_before = {one.sender: nodes[one.sender].job for one in node.incoming}
    return nodes


def _watch_ages(nodes: Mapping[NodeName, TimedNode], watched: Iterable[NodeName]) -> None:
    """Watch the nodes with the jobs of these."""
    jobs = {nodes[name].job for name in watched}
    for node in nodes.values():
        node.aged = node.job in jobs
