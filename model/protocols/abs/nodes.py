"""The nodes of asynchronous barrier snapshotting: replayable sources, operators, writers, sinks.

Rule of this file: no claim which choice is right (model.protocols.abs.variants), and no step of the
coordinator (coordinator.py).

A writer is an operator that puts out to a sink; a sink is the external system.  Nothing is saved on
a node: snapshots are with the coordinator.
LOG.io, Sections 1, 8.1.1 and 9.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any, NamedTuple

from model.boxes.box import Box, Item, Of, Out
from model.cep.box import CepBox
from model.cep.operator import Operator
from model.core import (
    REPLAYED,
    RESTORED,
    Amount,
    Arrival,
    Deployment,
    Effect,
    Emit,
    Gauges,
    Input,
    Memory,
    NodeName,
    Note,
    Observation,
    Received,
    Role,
    Scope,
    Send,
    SetTimer,
    Site,
    Step,
    TimerFired,
)
from model.errors import Invalid
from model.events import Body
from model.parts import contents, deploy_graph, open_windows
from model.protocols.abs.coordinator import oversee, recover_overseer
from model.protocols.abs.design import (
    Alignment,
    Coordinator,
    Design,
    Generations,
    Settles,
    Sources,
    Writes,
)
from model.protocols.abs.messages import (
    ALIGNED,
    EARLY_RECORDS,
    IN_FLIGHT,
    SETTLED,
    AskRun,
    CommitEpoch,
    EndEpoch,
    EpochComplete,
    EpochDue,
    EpochMarker,
    EpochPart,
    ExternalState,
    Kept,
    OverseerState,
    Prepared,
    ReaderState,
    Reborn,
    RollBack,
    RunIs,
    SettleEpoch,
    State,
    StreamRecord,
    TaskPart,
    TaskState,
    WriteAction,
)
from model.queues import STALE_NOTE

OVERSEER = "coordinator"
EPOCH = "epoch"
TIMERS = {EPOCH: "From the first record of an epoch to the source's wish to end it."}


class Job(NamedTuple):
    """What a node knows of the pipeline.  number: of a source among the sources."""

    design: Design
    readers: tuple[NodeName, ...]
    writers: tuple[NodeName, ...]
    sinks: tuple[NodeName, ...]
    number: int = 0


def deploy(design: Design, scope: Scope) -> Deployment:
    """The deployment: the graph, and a coordinator with channels to and from each node but sinks.

    Raises Invalid for an operator that is neither a box nor a CEP operator with one input, and for
    a source that no operator reads.
    """
    graph = scope.graph
    deployment = deploy_graph(graph)
    by_role: dict[Role, list[NodeName]] = {role: [] for role in Role}
    for site in deployment.sites:
        by_role[site.role].append(site.name)
    readers, tasks, sinks = (tuple(by_role[role]) for role in Role)
    writers = tuple(name for name in tasks if {*graph.succs(name)} & {*sinks})
    job = Job(design, readers, writers, sinks)
    sites = tuple(_placed(site, job) for site in deployment.sites)
    nodes = (*readers, *tasks)
    overseer = Site(OVERSEER, Role.OPERATOR, None, nodes, nodes, job)
    ends = [(name, OVERSEER) for name in nodes] + [(OVERSEER, name) for name in nodes]
    fails = design.coordinator is not Coordinator.NEVER_FAILS
    prompt = ({OVERSEER} if design.prompt_store and not fails else set()) | (
        {*sinks} if design.prompt_system else set()
    )
    return deployment._replace(
        sites=(*sites, overseer),
        channels=(*deployment.channels, *ends),
        crashable=deployment.crashable | ({OVERSEER} if fails else set()),
        watched=frozenset((name, OVERSEER) for name in tasks),
        prompt=frozenset(prompt),
    )


def _placed(site: Site, job: Job) -> Site:
    """The site with what it knows, and with its operator as a box."""
    if site.name == OVERSEER:
        raise Invalid(f"abs: a node has the name {OVERSEER!r}, which is the coordinator's")
    if site.role is Role.SOURCE:
        if {*site.succs} & {*job.sinks}:
            raise Invalid(f"abs: {site.name} goes to a sink; give an operator that writes")
        return site._replace(config=job._replace(number=job.readers.index(site.name)))
    if site.role is Role.OPERATOR and isinstance(site.spec, Operator):
        site = site._replace(spec=CepBox(site.spec))
    if site.role is Role.OPERATOR and not (
        isinstance(site.spec, Box) and site.spec.edges in (None, len(site.preds))
    ):
        raise Invalid(
            f"abs: {site.name} is a {type(site.spec).__name__} with {len(site.preds)} inputs; "
            "give a box with so many inputs, or a CEP operator with one"
        )
    return site._replace(config=job)


def boot(site: Site) -> State:
    if site.name == OVERSEER:
        return OverseerState()
    if site.role is Role.SINK:
        return ExternalState()
    return ReaderState() if site.role is Role.SOURCE else _load(site, 0, 0, None)


def _load(site: Site, run: int, epoch: int, part: TaskPart | None) -> TaskState:
    """An operator as of an epoch; without a snapshot as of the beginning."""
    box, taken, made, _ = part or TaskPart(site.spec.begin(len(site.preds)))
    return TaskState(run, epoch, box, taken, made)


def recover(site: Site, durable: Kept | None) -> Step:
    """A restarted node has nothing, and waits for its snapshot; the coordinator has its storage."""
    if site.name == OVERSEER:
        return recover_overseer(site, durable)
    return Step(_load(site, -1, 0, None), (Send(OVERSEER, Reborn()),))


def step(site: Site, state: State, input_: Input) -> Step:
    match state, input_:
        case OverseerState(), Received():
            return oversee(site, state, input_)
        case ExternalState(), Received(sender, message):
            return _change(site, state, sender, message)
        case ((ReaderState() | TaskState()), Received(sender, AskRun())):
            return Step(state, (Send(sender, RunIs(state.run)),))
        case ReaderState(), Arrival(gap, type_, data):
            return _read(site, state, Body(state.now + gap, type_, data))
        case ReaderState(), TimerFired():
            due = (Send(OVERSEER, EpochDue(state.run)),) if state.place > state.cut else ()
            return Step(state, due)
        case ReaderState(), Received(_, message):
            return _obey(site, state, message)
        case TaskState(), Received(_, RollBack() as order):
            return _roll_back(site, state, order)
        case TaskState(), Received(_, EpochComplete(run, epoch)):
            return _commit(site, state, run, epoch)
        case TaskState(), Received(sender, message):
            return _drain(site, state._replace(held=(*state.held, (sender, message))))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_} in {type(state).__name__}")


# --- a source --------------------------------------------------------------------------------
def _read(site: Site, state: ReaderState, body: Body) -> Step:
    """Keep and send an event (8.1.1: "data sources be replayable")."""
    place = state.place + 1
    replayable = site.config.design.sources is Sources.REPLAYABLE
    kept = state.kept.append((place, body)) if replayable else state.kept
    sends = _sends(site, state.run, place, body)
    return Step(state._replace(now=body.time, place=place, kept=kept), (*sends, SetTimer(EPOCH)))


def _sends(site: Site, run: int, place: int, body: Body) -> tuple[Send, ...]:
    record = StreamRecord(run, body, frozenset([Of(site.config.number, place - 1)]))
    return tuple(Send(succ, record) for succ in site.succs)


def _obey(site: Site, state: ReaderState, message: Any) -> Step:
    match message:
        case EndEpoch(run, epoch):  # 8.1.1: markers "are injected into each data source"
            if run != state.run:
                return Step(state, (STALE_NOTE,))
            markers = (Send(succ, EpochMarker(run, epoch)) for succ in site.succs)
            part = EpochPart(run, epoch, state.place)
            return Step(state._replace(cut=state.place), (*markers, Send(OVERSEER, part)))
        case EpochComplete():  # the records up to the last marker will not be read again
            return Step(state._replace(kept=state.kept.trim(lambda one: one[0] <= state.cut)))
        case RollBack(run, _, part):  # 8.1.1: "restarted from the last complete epoch"
            cut = part or 0
            again = [one for one in state.kept if one[0] > cut]
            effects: list[Effect] = [Note(REPLAYED, len(again))]
            for place, body in again:
                effects += _sends(site, run, place, body)
            timer = (SetTimer(EPOCH),) if again else ()
            return Step(state._replace(run=run, cut=cut), (*effects, *timer))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {message}")


# --- an operator -----------------------------------------------------------------------------
def _drain(site: Site, state: TaskState) -> Step:
    """Process the messages that need not wait, until all do."""
    effects: list[Effect] = []
    while (at := _ready(site, state)) is not None:
        sender, message = state.held[at]
        state = state._replace(held=(*state.held[:at], *state.held[at + 1 :]))
        if message.run < state.run and site.config.design.generations is Generations.DROPPED:
            effects.append(STALE_NOTE)
            continue
        if isinstance(message, EpochMarker):
            state, more = _mark(site, state, sender, message)
        else:
            state, more = _process(site, state, sender, message)
        effects += more
    if state.held:
        effects.append(Note(EARLY_RECORDS if state.held[-1][1].run > state.run else ALIGNED))
    return Step(state, tuple(effects))


def _ready(site: Site, state: TaskState) -> int | None:
    """The first of the held messages that need not wait.  8.1.1: "it blocks the channel from where
    the new marker has been received"."""
    design = site.config.design
    if state.run < 0:
        return None
    for at, (sender, message) in enumerate(state.held):
        if message.run < state.run:
            return at
        if message.run > state.run and design.generations is Generations.DROPPED:
            continue
        if sender not in state.marked or design.alignment is not Alignment.STRICT:
            return at
    return None


def _process(site: Site, state: TaskState, sender: NodeName, record: StreamRecord) -> Step:
    """Feed the box; of several allowed answers the one that the run chooses."""
    notes: tuple[Effect, ...] = ()
    if state.open is not None and sender not in state.marked:
        opened = state.open._replace(flight=(*state.open.flight, (sender, record)))
        state, notes = state._replace(open=opened), (Note(IN_FLIGHT),)
    item = Item(site.preds.index(sender), record.body, record.of)
    answers = site.spec.feed(state.box, item)
    fed = answers[state.run % len(answers)]
    state = state._replace(box=fed.state, taken=state.taken + 1)
    state, effects = _put_out(site, state, fed.outs)
    return Step(state, (*notes, *effects))


def _put_out(site: Site, state: TaskState, outs: tuple[Out, ...]) -> Step:
    """Send the outputs to operators; write them, or keep them for the transaction."""
    job, effects = site.config, []
    for out in outs:
        state = state._replace(made=state.made + 1)
        for succ in site.succs:
            if succ not in job.sinks:
                effects.append(Send(succ, StreamRecord(state.run, *out)))
            elif job.design.writes in (Writes.AT_ONCE, Writes.IDEMPOTENT):
                effects.append(Send(succ, WriteAction(state.made, out)))
        if site.name in job.writers and job.design.writes not in (
            Writes.AT_ONCE,
            Writes.IDEMPOTENT,
        ):
            state = state._replace(outs=(*state.outs, out))
    return Step(state, tuple(effects))


def _mark(site: Site, state: TaskState, sender: NodeName, marker: EpochMarker) -> Step:
    """A marker has come: is it time for the snapshot?  8.1.1: an operator "waits for the same
    marker to be received from all its input channels"."""
    alignment = site.config.design.alignment
    early = alignment in (Alignment.FIRST, Alignment.UNALIGNED)
    first, marked = not state.marked, state.marked | {sender}
    last = marked.issuperset(site.preds)
    state = state._replace(marked=frozenset() if last else marked)
    effects: tuple[Effect, ...] = ()
    if first if early else last:
        state, effects = _capture(site, state, marker)
    if state.open is None or not (last or alignment is not Alignment.UNALIGNED):
        return Step(state, effects)
    part = EpochPart(marker.run, marker.epoch, state.open)
    return Step(state._replace(open=None), (*effects, Send(OVERSEER, part)))


def _capture(site: Site, state: TaskState, marker: EpochMarker) -> Step:
    """Broadcast the marker, then pre-commit what was put out (8.1.1, in this order)."""
    job = site.config
    writes = job.design.writes
    effects: list[Effect] = [
        Send(succ, marker._replace(run=state.run)) for succ in site.succs if succ not in job.sinks
    ]
    if state.outs or (site.name in job.writers and writes is Writes.CHECKED):
        prepared = Prepared(marker.epoch, state.outs, state.made)
        effects += [Send(succ, prepared) for succ in site.succs if succ in job.sinks]
    part = TaskPart(state.box, state.taken, state.made)
    return Step(state._replace(epoch=marker.epoch, open=part, outs=()), tuple(effects))


def _commit(site: Site, state: TaskState, run: int, epoch: int) -> Step:
    """8.1.1: "once a global epoch is reached, all the pre-committed changes are ... committed"."""
    if run != state.run:
        return Step(state, (STALE_NOTE,))
    return Step(state, _to_system(site, CommitEpoch(epoch)))


def _to_system(site: Site, message: CommitEpoch | SettleEpoch) -> tuple[Send, ...]:
    """The message to each external system of a writer that commits in two phases."""
    job = site.config
    if job.design.writes is not Writes.TWO_PHASES:
        return ()
    return tuple(Send(succ, message) for succ in site.succs if succ in job.sinks)


def _roll_back(site: Site, state: TaskState, order: RollBack) -> Step:
    """Go on from the snapshot in a new run; first the records that were on their way (9.1)."""
    run, epoch, part = order
    held = tuple(one for one in state.held if one[1].run >= run)
    flight = () if part is None else part.flight
    again = tuple((sender, record._replace(run=run)) for sender, record in flight)
    loaded = _load(site, run, epoch, part)._replace(held=(*again, *held))
    settle = _to_system(site, SettleEpoch(epoch))
    state, effects = _drain(site, loaded)
    return Step(state, (*settle, Note(RESTORED), *effects))


# --- the external system ---------------------------------------------------------------------
def _change(site: Site, state: ExternalState, sender: NodeName, message: Any) -> Step:
    """Take a change; every message is a transaction of the external system."""
    design = site.config.design
    edge, last = site.preds.index(sender), dict(state.last)
    match message:
        case WriteAction(number, out):
            if design.writes is Writes.IDEMPOTENT and number <= last.get(sender, 0):
                return Step(state, (STALE_NOTE,))
            return Step(_numbered(site, state, sender, number), (Emit((edge, out.body), out.of),))
        case Prepared(_, outs, number) if design.writes is Writes.COUNTED:
            new = max(0, number - last.get(sender, 0))
            if not new:
                return Step(state, (STALE_NOTE,))
            return Step(_numbered(site, state, sender, number), _emits(edge, outs[-new:]))
        case Prepared(epoch, outs, _) if design.writes is not Writes.TWO_PHASES:
            if design.writes is Writes.CHECKED and epoch <= last.get(sender, 0):
                return Step(state, (STALE_NOTE,))
            return Step(_numbered(site, state, sender, epoch), _emits(edge, outs))
        case Prepared():
            return Step(state._replace(prepared=(*state.prepared, (sender, message))))
        case CommitEpoch(epoch):
            return _settle(state, sender, edge, epoch, drops=False)
        case SettleEpoch(epoch):
            limits = {Settles.BY_EPOCH: epoch, Settles.DROP: 0, Settles.COMMIT: inf}
            state, effects = _settle(state, sender, edge, limits[design.settles], drops=True)
            return Step(state, (Note(SETTLED), *effects))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {message}")


def _numbered(site: Site, state: ExternalState, sender: NodeName, number: int) -> ExternalState:
    """The state with the number of the writer's last change, if it is checked."""
    if site.config.design.writes not in (Writes.IDEMPOTENT, Writes.CHECKED, Writes.COUNTED):
        return state
    last = {**dict(state.last), sender: number}
    return state._replace(last=tuple(sorted(last.items())))


def _emits(edge: int, outs: tuple[Out, ...]) -> tuple[Emit, ...]:
    return tuple(Emit((edge, out.body), out.of) for out in outs)


def _settle(
    state: ExternalState, sender: NodeName, edge: int, epoch: float, *, drops: bool
) -> Step:
    """Commit the writer's transactions up to the epoch; a restart drops its others."""
    effects: list[Effect] = []
    left = []
    for one in state.prepared:
        writer, prepared = one
        if writer == sender and prepared.epoch <= epoch:
            effects += _emits(edge, prepared.outs)
        elif writer != sender or not drops:
            left.append(one)
    return Step(state._replace(prepared=tuple(left)), tuple(effects))


# --- what is shown ---------------------------------------------------------------------------
def gauges(_site: Site, state: State) -> Gauges:
    """The gauges of a node.  progress: the run, and how many records are in the state."""
    match state:
        case ReaderState(_, _, place, _, kept):
            return Gauges(len(kept), None, place)
        case TaskState(run, _, box, taken, held=held, outs=outs):
            return Gauges(len(held) + len(outs), open_windows(box), (run, taken))
        case _:
            return Gauges()


def memory(_site: Site, state: State) -> Memory:
    """Snapshots in the storage, and what is prepared in the external system, are on disks."""
    match state:
        case ReaderState(kept=kept):
            return Memory(Amount(len(kept)))
        case TaskState(box=box, held=held, outs=outs):
            return Memory(Amount(len(held) + len(outs)), state=contents(box))
        case _:
            return Memory()


def needed(scope: Scope, _seen: Observation) -> Mapping[NodeName, int]:
    """The most that sources keep at rest: nothing, since everything is in a complete epoch."""
    return {name: 0 for name, _ in scope.inputs}
