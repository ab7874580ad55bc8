"""The model, as ranges sees it: one operator, its input edges, and what is on its way upstream.

Rule of this file: which events an operator skips is found by running it, and its skip ranges are
read only to be compared with that.

Needed is what a replay from the newest savepoint, of all events that there are, does not skip; and
what the merge cannot have given the operator yet, because earlier events may follow.  Deleted is
what an upstream that is up has emitted and no longer holds, and what is missing in the stream to
the operator.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
    OperatorState,
    Skipping,
    origin,
    push,
    restore,
)
from model.protocols.upstream_backup.states import OperatorNode, SourceState
from model.system import System
from model.world import DOWN, World, initial
from proofs.lemmas.upstream_backup.observer import Observer, OperatorIteration, iterations
from proofs.lemmas.upstream_backup.reference import Arrivals, operator_of, scheme_of
from proofs.lemmas.upstream_backup.skip_ranges import ranges
from proofs.prove.conformance import Abstraction, Path
from proofs.prove.structure import StateTable, Structure

RANGES = ("running", "lo", "hi", "made")


class Near(NamedTuple):
    """What of a world concerns an operator: itself, for each edge upstream and both channels."""

    node: Any
    edges: tuple[tuple[Any, tuple[Any, ...], tuple[Any, ...]], ...]
    savepoint: Savepoint


class SkipRangeObserver(Observer):
    """The operators of a world system that skip, and what they skip when it is run."""

    def __init__(self, system: System) -> None:
        super().__init__(system)
        self.unneeded: dict[tuple[NodeName, Savepoint, Arrivals], frozenset[Place]] = {}
        self.structures: dict[tuple[NodeName, Arrivals], Structure] = {}
        self.states: dict[tuple[NodeName, Near, Arrivals], StateTable] = {}
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
            key = (site.name, *ends, action, after.arrivals)
            if ends[0] != ends[1] and self.is_new(*key):
                yield from self.step(site, ends, action, after.arrivals, before == self.initial)

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
        if node is not DOWN and node.operator is not None:
            return Near(node, edges, node.mine)
        return Near(node, edges, self.newest(site, world))

    def newest(self, site: Site, world: World) -> Savepoint:
        """The savepoint from which an operator that is down will be restored: all copies joined."""
        sent = [m.replicas for c in world.channels for m in c if isinstance(m, Ack | Restore)]
        held = [
            node.state.replicas
            for node in world.nodes
            if isinstance(node.state, SourceState | OperatorNode)
        ]
        found = [copy for copies in (*sent, *held) for name, copy in copies if name == site.name]
        return reduce(Savepoint.join, found, origin(scheme_of(site), len(site.preds)))

    # --- paths -------------------------------------------------------------------------------
    def step(
        self,
        site: Site,
        ends: tuple[Near, Near],
        action: Action,
        arrivals: Arrivals,
        initial_: bool,
    ) -> Iterator[Path]:
        """What the step does, in this order: it processes events, saves, crashes; messages leave
        the channels, and what they cover is deleted."""
        rigid = self.structure(site, arrivals)
        first, last = ({**self.state(site, near, arrivals)} for near in ends)
        if not _within(last["needed"], first["needed"]):
            # In a crash a savepoint has been lost, with all that it said.
            yield Path(rigid, (first, last), initial_)
            return
        states = [first, *self.processed(site, ends, action, first, last)]
        up = all(near.node is not DOWN and near.node.operator is not None for near in ends)
        if up and not site.spec.parallel:
            # What is left out before an event that waits in the queue is passed sooner or later.
            last["passed"] = states[-1]["passed"]
        saved = {name: last[name] for name in ("needed", "trim")}
        saved["sent"] = {at: last["sent"][at] or first["sent"][at] for at in first["sent"]}
        states.append(states[-1] | saved | ({name: last[name] for name in RANGES} if up else {}))
        states.append(last | {"sent": saved["sent"], "deleted": first["deleted"]})
        states.append(states[-1] | {"deleted": last["deleted"]})
        yield Path(rigid, (*states, last), initial_)

    def processed(
        self,
        site: Site,
        ends: tuple[Near, Near],
        action: Action,
        first: StateTable,
        last: StateTable,
    ) -> Iterator[StateTable]:
        """The state after each event of which it becomes known whether it is skipped; a crash in
        between leaves nothing of them."""
        after = ends[1].node
        if not isinstance(action, Deliver) or action.node != site.name or after is DOWN:
            return
        if action.sender not in site.preds:
            return
        numbers = [sn for i, sn in first["sent"] if i == 0]
        node, message = ends[0].node, ends[0].edges[site.preds.index(action.sender)][1][0]
        if isinstance(message, Restore) and node.operator is None and after.operator is not None:
            mine = after.mine
            first = first | {name: last[name] for name in ("needed", "trim")}
            yield first
            idle = self.ranges(site, (), numbers)
            passed = {at: at[1] <= mine.trim[at[0]] for at in first["passed"]}
            first = first | idle | {"passed": passed}
            yield first
        for iteration in iterations(site, node, action.sender, message):
            for place, skips in entered(iteration):
                first = first | self.ranges(site, skips, numbers) | passing(first, place)
                yield first

    # --- states ------------------------------------------------------------------------------
    def structure(self, site: Site, arrivals: Arrivals) -> Structure:
        key = (site.name, arrivals)
        if key not in self.structures:
            events = self.events(site, arrivals)
            edges = range(len(site.preds))
            one = scheme_of(site).skipping is Skipping.COALESCED
            self.structures[key] = Structure(
                {
                    "event": events,
                    "edge": edges,
                    "array": range(1) if one else edges,
                    "number": sorted({NOTHING, *(sn for _, sn in events)}),
                },
                {
                    "edge": lambda event: event[0],
                    "sn": lambda event: event[1],
                    "array": lambda edge: 0 if one else edge,
                    "le": le,
                    "nothing": NOTHING,
                },
            )
        return self.structures[key]

    def events(self, site: Site, arrivals: Arrivals) -> tuple[Place, ...]:
        inputs = self.reference.inputs(site.name, arrivals)
        return tuple(sorted((edge, event.sn) for edge, event in inputs))

    def state(self, site: Site, near: Near, arrivals: Arrivals) -> StateTable:
        key = (site.name, near, arrivals)
        if key not in self.states:
            self.states[key] = self.translate(site, near, arrivals)
        return self.states[key]

    def translate(self, site: Site, near: Near, arrivals: Arrivals) -> StateTable:
        events = self.events(site, arrivals)
        unneeded = self.skipped(site, near.savepoint, arrivals)
        unknown = self.unknown(site, arrivals)
        trim = near.savepoint.trim
        up = near.node is not DOWN and near.node.operator is not None
        numbers_of = [[sn for at, sn in events if at == i] for i in range(len(trim))]
        passed = (
            [drained(near.node.operator, i, numbers) for i, numbers in enumerate(numbers_of)]
            if up
            else trim
        )
        deleted = {
            (i, sn)
            for i, (pred, _, _) in enumerate(near.edges)
            for sn in (
                *self.gone(site, i, pred, arrivals),
                *missing(site, near, i, passed[i], numbers_of[i]),
            )
        }
        acks = [[m for m in back if isinstance(m, Ack)] for _, _, back in near.edges]
        numbers = self.structure(site, arrivals).sorts["number"]
        return {
            "needed": {
                at: at[1] > trim[at[0]] and (at in unknown or at not in unneeded) for at in events
            },
            "passed": {at: at[1] <= passed[at[0]] for at in events},
            "trim": dict(enumerate(trim)),
            "sent": {
                (i, sn): any(sn <= ack.trim or covers(ack.skips, sn) for ack in sent)
                for i, sent in enumerate(acks)
                for sn in numbers
            },
            "deleted": {at: at in deleted for at in events},
            **self.ranges(site, near.node.operator.skips if up else (), numbers),
        }

    def ranges(self, site: Site, skips: tuple[Skips, ...], numbers: Collection[SN]) -> StateTable:
        """The arrays of an operator; none are in the making in one that is down."""
        one = scheme_of(site).skipping is Skipping.COALESCED
        arrays = skips or (Skips(),) * (1 if one else len(site.preds))
        runs = [array.run or (NOTHING, NOTHING) for array in arrays]
        return {
            "running": {i: array.run is not None for i, array in enumerate(arrays)},
            "lo": {i: lo for i, (lo, _) in enumerate(runs)},
            "hi": {i: hi for i, (_, hi) in enumerate(runs)},
            "made": {
                (i, sn): any(lo <= sn <= hi for lo, hi in array.done)
                for i, array in enumerate(arrays)
                for sn in numbers
            },
        }

    def skipped(self, site: Site, savepoint: Savepoint, arrivals: Arrivals) -> frozenset[Place]:
        """What a replay from there skips, if nothing has been deleted."""
        key = (site.name, savepoint, arrivals)
        if key not in self.unneeded:
            scheme = replace(scheme_of(site), skipping=Skipping.PER_EDGE)
            state = restore(scheme, savepoint)
            found: set[Place] = set()
            for edge, event in self.reference.inputs(site.name, arrivals):
                if event.sn > savepoint.trim[edge]:
                    after, found_now = verdicts(site, state, edge, event)
                    found |= found_now
                    state = after
            self.unneeded[key] = frozenset(found)
        return self.unneeded[key]

    def unknown(self, site: Site, arrivals: Arrivals) -> set[Place]:
        """Events that the merge cannot have let through, because an earlier one may follow."""
        reached = [self.reach(pred, arrivals) for pred in site.preds]
        return {
            (i, event.sn)
            for i, event in self.reference.inputs(site.name, arrivals)
            if any((time, j) <= (event.body.time, i) for j, time in enumerate(reached) if j != i)
        }

    def reach(self, name: NodeName, arrivals: Arrivals) -> int:
        """Nothing earlier can come from there."""
        if name in self.system.source_at:
            mine = arrivals[self.system.source_at[name]]
            return sum(gap for gap, _, _ in mine) if mine else BEGINNING
        return min(self.reach(pred, arrivals) for pred in self.system.sites[name].preds)

    def gone(self, site: Site, edge: int, state: Any, arrivals: Arrivals) -> Iterator[SN]:
        """The events that upstream of the edge has emitted and deleted; none if it is down."""
        if state is DOWN:
            return
        pred = self.system.sites[site.preds[edge]]
        outlet = state.outlets[pred.succs.index(site.name)]
        held = {event.sn for event in outlet.backup}
        for event in self.reference.outputs(pred.name, arrivals):
            if event.sn not in held and (event.sn <= outlet.acked or _emitted(state, event.sn)):
                yield event.sn


# --- one operator ----------------------------------------------------------------------------
def drained(state: OperatorState, edge: int, numbers: Iterable[SN]) -> SN:
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
    site: Site, state: OperatorState, edge: int, event: Event
) -> tuple[OperatorState, set[Place]]:
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


def missing(site: Site, near: Near, edge: int, passed: SN, numbers: Sequence[SN]) -> Iterator[SN]:
    """The events that are left out of the stream to the operator, which has later ones."""
    node = near.node
    if node is DOWN:
        return
    _, coming, _ = near.edges[edge]
    inlet = node.inlets[edge]
    stream = [event.sn for event in inlet.queue]
    if node.operator is not None:
        stream = [*(q.place[1] for q in node.operator.queue if q.place[0] == edge), *stream]
    heard = max(inlet.heard, near.savepoint.trim[edge])
    waits = site.preds[edge] in node.awaited
    for message in coming:
        if isinstance(message, Restore):
            waits = False
        elif not waits and isinstance(message, Event) and message.sn > heard:
            heard = message.sn
            stream.append(heard)
    known = set(stream)
    newest = max(known, default=NOTHING)
    yield from (sn for sn in numbers if passed < sn < newest and sn not in known)


def _emitted(state: SourceState | OperatorNode, sn: SN) -> bool:
    """Has this incarnation emitted the event?  Complex events have the numbers of
    model.cep.numbering.TRIGGERED."""
    if isinstance(state, SourceState):
        return sn <= (state.latest,)
    if state.operator is None:
        return False
    edge, trigger, window = sn[1], sn[2:-2], sn[-2]
    return window >= state.mine.seed.window and trigger <= state.operator.last[edge]


def _within(some: Mapping[Any, bool], others: Mapping[Any, bool]) -> bool:
    return all(others[at] for at, holds in some.items() if holds)


def passing(state: StateTable, place: Place) -> StateTable:
    """The event at the place has been processed, those before it have been left out."""
    edge, sn = place
    done = {at: was or (at[0] == edge and at[1] <= sn) for at, was in state["passed"].items()}
    return {"passed": done}


ABSTRACTIONS = (
    Abstraction(
        "skip ranges of an operator",
        ranges.per_edge,
        lambda system: SkipRangeObserver(system).paths,
    ),
)
