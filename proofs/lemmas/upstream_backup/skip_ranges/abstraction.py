"""The model, as ranges sees it: one operator, its input edges, and the messages on their way
upstream.

Rule of this file: which events an operator skips is found by running it, and its skip ranges are
read only to be compared with that.

Needed are the events that a replay from the newest savepoint, of all events that there are, does
not skip; and those that the merge cannot have given the operator yet, because earlier events may
follow.  Deleted are the events that an upstream that is up has emitted and no longer holds, and
those that are missing in the stream to the operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import reduce
from operator import le
from typing import Any, NamedTuple

from model.actions import Action, Deliver
from model.cep.savepoint import Place, Savepoint
from model.cep.skips import Skips, covers
from model.core import NodeName, Role, Site
from model.events import BEGINNING, NOTHING, SN, Event
from model.protocols.upstream_backup.buffers import Ack, Restore
from model.protocols.upstream_backup.savepoints import (
    NumberedOperator,
    Skipping,
    origin,
    push,
    restore,
)
from model.protocols.upstream_backup.states import OperatorNode, SourceNode
from model.system import System
from model.world import DOWN, World, initial
from proofs.lemmas.upstream_backup.observer import Observer, OperatorIteration, iterations
from proofs.lemmas.upstream_backup.reference import Arrivals, operator_of, scheme_of
from proofs.lemmas.upstream_backup.skip_ranges import ranges
from proofs.prove.conformance import Abstraction, Path
from proofs.prove.structure import StateTable, Structure

RANGES = ("running", "lo", "hi", "made")


class Near(NamedTuple):
    """What of a world concerns an operator: itself, for each edge upstream and both channels, and
    the savepoint from which it was restored, or will be."""

    node: Any
    edges: tuple[tuple[Any, tuple[Any, ...], tuple[Any, ...]], ...]
    savepoint: Savepoint

    @property
    def operator(self) -> NumberedOperator | None:
        """None if it is down or not yet restored."""
        return None if self.node is DOWN else self.node.operator


class SkipRangeObserver(Observer):
    """The operators of a world system that skip, and the events that they skip in a run."""

    def __init__(self, system: System) -> None:
        super().__init__(system)
        self.streams: dict[tuple[NodeName, Arrivals], SkippedStream] = {}
        self.initial = initial(system)
        self.sites = tuple(
            site
            for site in system.deployment.sites
            if site.role is Role.OPERATOR and scheme_of(site).skipping is not Skipping.OFF
        )

    def paths(self, before: World, action: Action, after: World) -> Iterator[Path]:
        for site in self.sites:
            if action.node != site.name and action.node not in site.preds:
                continue
            ends = self.near(site, before), self.near(site, after)
            if ends[0] != ends[1] and self.is_new(site.name, *ends, action, after.arrivals):
                key = site.name, after.arrivals
                if key not in self.streams:
                    self.streams[key] = SkippedStream(self, site, after.arrivals)
                yield self.streams[key].path(ends, action, before == self.initial)

    def near(self, site: Site, world: World) -> Near:
        node = self.node(world, site.name)
        edges = tuple(
            (
                self.node(world, pred),
                self.channel(world, pred, site.name),
                self.channel(world, site.name, pred),
            )
            for pred in site.preds
        )
        up = node is not DOWN and node.operator is not None
        return Near(node, edges, node.mine if up else self.newest(site, world))

    def newest(self, site: Site, world: World) -> Savepoint:
        """The savepoint from which an operator that is down will be restored: all copies joined."""
        sent = [m.replicas for c in world.channels for m in c if isinstance(m, Ack | Restore)]
        held = [
            node.state.replicas
            for node in world.nodes
            if isinstance(node.state, SourceNode | OperatorNode)
        ]
        found = [copy for copies in (*sent, *held) for name, copy in copies if name == site.name]
        return reduce(Savepoint.join, found, origin(scheme_of(site), len(site.preds)))

    def reach(self, name: NodeName, arrivals: Arrivals) -> int:
        """Nothing earlier can come from there."""
        if name in self.system.source_at:
            mine = arrivals[self.system.source_at[name]]
            return sum(gap for gap, _, _ in mine) if mine else BEGINNING
        return min(self.reach(pred, arrivals) for pred in self.system.sites[name].preds)


class SkippedStream:
    """All input events of an operator that skips, for the arrivals of a world."""

    def __init__(self, observer: SkipRangeObserver, site: Site, arrivals: Arrivals) -> None:
        self.site = site
        self.inputs = observer.reference.inputs(site.name, arrivals)
        self.events: tuple[Place, ...] = tuple(sorted((at, event.sn) for at, event in self.inputs))
        self.numbers = [[sn for at, sn in self.events if at == i] for i, _ in enumerate(site.preds)]
        self.one = scheme_of(site).skipping is Skipping.COALESCED
        edges = range(len(site.preds))
        self.rigid = Structure(
            {
                "event": self.events,
                "edge": edges,
                "array": range(1) if self.one else edges,
                "number": sorted({NOTHING, *(sn for _, sn in self.events)}),
            },
            {
                "edge": lambda event: event[0],
                "sn": lambda event: event[1],
                "array": lambda edge: 0 if self.one else edge,
                "le": le,
                "nothing": NOTHING,
            },
        )
        # Events that the merge cannot have let through, because an earlier one may follow.
        reached = [observer.reach(pred, arrivals) for pred in site.preds]
        self.unknown = {
            (i, event.sn)
            for i, event in self.inputs
            if any((time, j) <= (event.body.time, i) for j, time in enumerate(reached) if j != i)
        }
        preds = [observer.system.sites[pred] for pred in site.preds]
        self.outlets = [pred.succs.index(site.name) for pred in preds]
        self.upstream = [observer.reference.outputs(pred.name, arrivals) for pred in preds]
        self.states: dict[Near, StateTable] = {}
        self.unneeded: dict[Savepoint, frozenset[Place]] = {}

    # --- paths -------------------------------------------------------------------------------
    def path(self, ends: tuple[Near, Near], action: Action, initial_: bool) -> Path:
        """What the step does, in this order: it processes events, saves, crashes; messages leave
        the channels, and what they cover is deleted."""
        first, last = ({**self.state(near)} for near in ends)
        if any(last["needed"][at] and not was for at, was in first["needed"].items()):
            # In a crash a savepoint has been lost, with all that it said.
            return Path(self.rigid, (first, last), initial_)
        states = [first, *self.processed(ends, action, first, last)]
        up = all(near.operator is not None for near in ends)
        if up and not self.site.spec.parallel:
            # What is left out before an event that waits in the queue is passed sooner or later.
            last["passed"] = states[-1]["passed"]
        sent = {at: last["sent"][at] or was for at, was in first["sent"].items()}
        saved = {name: last[name] for name in ("needed", "trim", *(RANGES if up else ()))}
        states.append(states[-1] | saved | {"sent": sent})
        states.append(last | {"sent": sent, "deleted": first["deleted"]})
        states.append(last | {"sent": sent})
        return Path(self.rigid, (*states, last), initial_)

    def processed(
        self, ends: tuple[Near, Near], action: Action, first: StateTable, last: StateTable
    ) -> Iterator[StateTable]:
        """The state after each event of which it becomes known whether it is skipped; a crash in
        between leaves nothing of them."""
        site, (before, after) = self.site, ends
        if not isinstance(action, Deliver) or action.node != site.name or after.node is DOWN:
            return
        if action.sender not in site.preds:
            return
        message = before.edges[site.preds.index(action.sender)][1][0]
        restored = before.operator is None and after.operator is not None
        if isinstance(message, Restore) and restored:
            first = first | {name: last[name] for name in ("needed", "trim")}
            yield first
            trimmed = {at: at[1] <= after.node.mine.trim[at[0]] for at in self.events}
            first = first | self.ranges(()) | {"passed": trimmed}
            yield first
        for iteration in iterations(site, before.node, action.sender, message):
            for (edge, sn), skips in entered(iteration):
                # Events before this one have been left out.
                passed = {
                    at: was or (at[0] == edge and at[1] <= sn)
                    for at, was in first["passed"].items()
                }
                first = first | self.ranges(skips) | {"passed": passed}
                yield first

    # --- states ------------------------------------------------------------------------------
    def state(self, near: Near) -> StateTable:
        if near not in self.states:
            self.states[near] = self.translate(near)
        return self.states[near]

    def translate(self, near: Near) -> StateTable:
        unneeded, trim, operator = self.skipped(near.savepoint), near.savepoint.trim, near.operator
        passed = trim
        if operator is not None:
            passed = tuple(drained(operator, i, sns) for i, sns in enumerate(self.numbers))
        deleted = {(i, sn) for i, at in enumerate(passed) for sn in self.deleted(near, i, at)}
        acks = [[m for m in back if isinstance(m, Ack)] for _, _, back in near.edges]
        return {
            "needed": {
                at: at[1] > trim[at[0]] and (at in self.unknown or at not in unneeded)
                for at in self.events
            },
            "passed": {at: at[1] <= passed[at[0]] for at in self.events},
            "trim": dict(enumerate(trim)),
            "sent": {
                (i, sn): any(sn <= ack.trim or covers(ack.skips, sn) for ack in sent)
                for i, sent in enumerate(acks)
                for sn in self.rigid.sorts["number"]
            },
            "deleted": {at: at in deleted for at in self.events},
            **self.ranges(() if operator is None else operator.skips),
        }

    def ranges(self, skips: tuple[Skips, ...]) -> StateTable:
        """The arrays of an operator; none are in the making in one that is down."""
        arrays = dict(enumerate(skips or [Skips()] * len(self.rigid.sorts["array"])))
        runs = {i: array.run or (NOTHING, NOTHING) for i, array in arrays.items()}
        return {
            "running": {i: array.run is not None for i, array in arrays.items()},
            "lo": {i: lo for i, (lo, _) in runs.items()},
            "hi": {i: hi for i, (_, hi) in runs.items()},
            "made": {
                (i, sn): any(lo <= sn <= hi for lo, hi in array.done)
                for i, array in arrays.items()
                for sn in self.rigid.sorts["number"]
            },
        }

    def skipped(self, savepoint: Savepoint) -> frozenset[Place]:
        """What a replay from there skips, if nothing has been deleted."""
        if savepoint not in self.unneeded:
            state = restore(replace(scheme_of(self.site), skipping=Skipping.PER_EDGE), savepoint)
            found: set[Place] = set()
            for edge, event in self.inputs:
                if event.sn > savepoint.trim[edge]:
                    state, now = verdicts(self.site, state, edge, event)
                    found |= now
            self.unneeded[savepoint] = frozenset(found)
        return self.unneeded[savepoint]

    def deleted(self, near: Near, edge: int, passed: SN) -> Iterator[SN]:
        """The events that upstream of an edge that is up has emitted and deleted, and those that
        are left out of the stream to the operator, which has later ones."""
        state, _, _ = near.edges[edge]
        if state is not DOWN:
            outlet = state.outlets[self.outlets[edge]]
            held = {event.sn for event in outlet.backup}
            for event in self.upstream[edge]:
                if event.sn not in held and (event.sn <= outlet.acked or _emitted(state, event.sn)):
                    yield event.sn
        coming = stream_to(self.site, near, edge)
        newest = max(coming, default=NOTHING)
        yield from (sn for sn in self.numbers[edge] if passed < sn < newest and sn not in coming)


# --- one operator ----------------------------------------------------------------------------
def drained(state: NumberedOperator, edge: int, numbers: Iterable[SN]) -> SN:
    """The last event of which it is known whether it is skipped.  In serial processing it comes
    before the last event consumed, since nothing is known of events that wait."""
    waiting = [queued.place[1] for queued in state.queue if queued.place[0] == edge]
    if not waiting:
        return state.last[edge]
    own = len(state.skips) == len(state.last)
    if own and (run := state.skips[edge].run) is not None:
        return run[1]
    return max((sn for sn in numbers if sn < waiting[0]), default=NOTHING)


def verdicts(
    site: Site, state: NumberedOperator, edge: int, event: Event
) -> tuple[NumberedOperator, set[Place]]:
    """Process an event: the state, and the events that are now known to be skipped."""
    scheme = replace(scheme_of(site), skipping=Skipping.PER_EDGE)
    empty = (Skips(),) * len(site.preds)
    after, _ = push(operator_of(site), scheme, state._replace(skips=empty), edge, event)
    places = [*(queued.place for queued in state.queue), (edge, event.sn)]
    skipped = {(i, sn) for i, sn in places if covers(after.skips[i].after(NOTHING), sn)}
    return after, skipped


def entered(iteration: OperatorIteration) -> Iterator[tuple[Place, tuple[Skips, ...]]]:
    """Each event of which this iteration says whether it is skipped, and the arrays after it."""
    site, before, after = iteration.site, iteration.before, iteration.after
    place = (iteration.edge, iteration.event.sn)
    places = [place]
    if not site.spec.parallel:
        waiting = [*(queued.place for queued in before.queue), place]
        places = waiting[: len(waiting) - len(after.queue)]
    _, skipped = verdicts(site, before, iteration.edge, iteration.event)
    one = scheme_of(site).skipping is Skipping.COALESCED
    arrays = [*before.skips]
    for at in places[:-1]:
        array = 0 if one else at[0]
        arrays[array] = arrays[array].skip(at[1]) if at in skipped else arrays[array].keep()
        yield at, tuple(arrays)
    if places:
        yield places[-1], after.skips


def stream_to(site: Site, near: Near, edge: int) -> set[SN]:
    """The events of an edge that the operator will process, as far as they are known."""
    node = near.node
    if node is DOWN:
        return set()
    inlet = node.inlets[edge]
    waiting = () if node.operator is None else node.operator.queue
    stream = {sn for at, sn in (queued.place for queued in waiting) if at == edge}
    stream |= {event.sn for event in inlet.queue}
    heard = max(inlet.heard, near.savepoint.trim[edge])
    listens = site.preds[edge] not in node.awaited
    for message in near.edges[edge][1]:
        listens = listens or isinstance(message, Restore)
        if listens and isinstance(message, Event) and message.sn > heard:
            heard = message.sn
            stream.add(heard)
    return stream


def _emitted(state: SourceNode | OperatorNode, sn: SN) -> bool:
    """Has this incarnation emitted the event?  Complex events have the numbers of
    model.cep.numbering.TRIGGERED."""
    if isinstance(state, SourceNode):
        return sn <= (state.latest,)
    if state.operator is None:
        return False
    edge, trigger, window = sn[1], sn[2:-2], sn[-2]
    return window >= state.mine.seed.window and trigger <= state.operator.last[edge]


ABSTRACTIONS = (
    Abstraction(
        "skip ranges of an operator",
        ranges.per_edge,
        lambda system: SkipRangeObserver(system).paths,
    ),
)
