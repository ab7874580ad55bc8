"""The nodes of micro-batch recovery: replayable sources, a streaming query, a sink.

Rule of this file: no claim which order of writes is right (model.protocols.micro_batch.protocol).
A node is a value; the query's writes to its checkpoint, and their order, are here.

Theory of operation (Spark Structured Streaming, class MicroBatchExecution):

1. A source keeps its events until they are acknowledged.  Sources and the sink are systems of
   their own and do not fail.
2. At a trigger the query asks the sources for their newest offsets.  A batch holds all events up to
   these.
3. The checkpoint is the query's durable value.  Each of its entries is a `Save`, so that a crash
   may come between any two.  The order of the entries is that of MicroBatchExecution.
4. The query writes the offsets of a batch, processes the batch, and commits it.
5. The sink remembers the batches that it has taken, and takes none twice.
6. The events of several sources are processed in the order of their times within a batch.
7. A restarted query reads its checkpoint.  A batch that has offsets and no commit runs again, with
   the same events.

Spark asks the source for its newest offset at every trigger, also in vain.  A world that never
comes to rest cannot be explored, so the query here asks once.  The trigger is a timer of the
source, which runs while the query waits and there is something new; the world decides when it
fires.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from heapq import merge

from model.core import (
    DISCARDED,
    REPLAYED,
    STALE,
    Arrival,
    Deployment,
    Effect,
    Emit,
    Input,
    NodeName,
    Note,
    Observation,
    Received,
    Role,
    Save,
    Scope,
    Send,
    SetTimer,
    Site,
    Step,
    TimerFired,
)
from model.costs import Amount, Gauges, Memory
from model.events import Body, Event
from model.graph import SINK, SOURCE, Graph
from model.parts import contents, deploy_graph
from model.protocols.micro_batch.messages import (
    AGAIN,
    BETWEEN,
    NO_BATCH,
    REGROUPED,
    SEVERAL,
    TRIMMED,
    Acks,
    AnyBatch,
    Ask,
    BatchSink,
    BatchSource,
    CheckpointDirectory,
    Commit,
    Commits,
    Latest,
    MicroBatchDesign,
    Offsets,
    QueryPhase,
    QueryState,
    Read,
    Rows,
    SinkRule,
    Version,
    Versions,
    Write,
    Written,
    empty,
    end_of,
    next_batch,
)
from model.protocols.micro_batch.operators import open_in, process_batch, query_of

TRIGGER = "trigger"
TIMERS = {TRIGGER: "From the end of a batch, or the first event after it, to the next batch."}
OVERDUE = "trigger:overdue"
"""The trigger of a query that asks when there are new events already: a driver with a clock fires
at once if the tick after the last one has passed."""


def deploy(design: MicroBatchDesign, scope: Scope) -> Deployment:
    """The deployment: the sources, a query that runs all operators and has the name of the first,
    and a sink.  Raises Refused for a graph that is no query."""
    query = query_of(scope.graph)
    specs = scope.graph.specs
    sources = [name for name, spec in scope.graph.nodes if spec is SOURCE]
    (sink,) = (name for name, spec in scope.graph.nodes if spec is SINK)
    name = query.names[0]
    nodes = (*((one, specs[one]) for one in sources), (name, query), (sink, SINK))
    graph = Graph(nodes, (*((one, name) for one in sources), (name, sink)))
    deployment = deploy_graph(graph, replies=True, config=lambda _: design)
    return deployment._replace(runs={name: query.names})


def boot(site: Site) -> BatchSource | QueryState | BatchSink:
    if site.role is Role.SOURCE:
        return BatchSource()
    if site.role is Role.SINK:
        return BatchSink()
    return QueryState(empty(site.spec.begin()), NO_BATCH)


def step(site: Site, state: BatchSource | QueryState | BatchSink, input_: Input) -> Step:
    match state, input_:
        case BatchSource(), Arrival(gap, type_, data):
            return _produce(site, state, gap, type_, data)
        case BatchSource(), TimerFired():
            return _report(site, state)
        case BatchSource(), Received(sender, message):
            return _serve(site, state, sender, message)
        case BatchSink(), Received(sender, Write(batch, rows)):
            return _take(site, state, batch, rows)
        case QueryState(phase=QueryPhase.WAITING), Received(sender, Latest(end)):
            return _hear(site, state, sender, end)
        case QueryState(phase=QueryPhase.READING), Received(sender, Rows(batch, events)):
            if batch == state.running.part(site.preds.index(sender)):
                return _gather(site, state, sender, events)
        case QueryState(phase=QueryPhase.WRITING), Received(_, Written(batch)):
            if batch == state.running:
                return _finish(site, state)
        case QueryState(), Received(_, Latest() | Rows() | Written()):
            pass
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_} in {type(state).__name__}")
    # An answer to what the query asked before it crashed.
    return Step(state, (Note(STALE),))


# --- the source ------------------------------------------------------------------------------
def _produce(
    site: Site, state: BatchSource, gap: int, type_: str, data: tuple[object, ...]
) -> Step:
    now, latest = state.now + gap, state.latest + 1
    kept = state.kept.append(Event((latest,), Body(now, type_, data)))
    effects = (SetTimer(TRIGGER),) if state.asked == state.latest else ()
    return Step(BatchSource(latest, now, kept, state.asked), effects)


def _report(
    site: Site, state: BatchSource, limit: int | None = None, *, always: bool = False
) -> Step:
    """Report the newest offset, unless the query has an answer since the trigger was set.  limit:
    of the events that are reported.  always: also an offset that the query knows."""
    if state.asked is None or (state.latest <= state.asked and not always):
        return Step(state)
    end = state.latest if limit is None else min(state.latest, state.asked + limit)
    return Step(state._replace(asked=None), (Send(site.succs[0], Latest(end)),))


def _serve(site: Site, state: BatchSource, query: str, message: Ask | Read | Commit) -> Step:
    match message:
        case Ask(after, _, True):
            return _report(site, state._replace(asked=after), always=True)
        case Ask(after, at_once):
            state = state._replace(asked=after)
            if at_once:
                return _report(site, state, site.config.first)
            return Step(state, (SetTimer(OVERDUE),) if state.latest > after else ())
        case Read(batch, leads):
            events = tuple(e for e in state.kept if batch.start < e.sn[0] <= batch.end)
            return Step(state, (Send(query, Rows(batch, events, leads)),))
        case Commit(end):
            kept = state.kept.trim(lambda event: event.sn[0] <= end)
            trimmed = len(state.kept) - len(kept)
            return Step(state._replace(kept=kept), (Note(TRIMMED, trimmed),))


# --- the query -------------------------------------------------------------------------------
def _hear(site: Site, state: QueryState, sender: NodeName, end: int) -> Step:
    """A source reports its newest offset: ask the others for theirs, and plan the batch that ends
    there."""
    edge, edges = site.preds.index(sender), len(site.preds)
    first, ends = not state.ends, state.ends or (None,) * edges
    ends = (*ends[:edge], end, *ends[edge + 1 :])
    known = tuple(one for one in ends if one is not None)
    if len(known) == edges:
        return _plan(site, state._replace(ends=()), known)
    effects: list[Effect] = []
    if first:
        last = state.running
        effects += _to_sources(site, lambda at: Ask(end_of(last, at), always=True), but=edge)
    return Step(state._replace(ends=ends), tuple(effects))


def _plan(site: Site, state: QueryState, ends: tuple[int, ...]) -> Step:
    design, query = site.config, state.checkpoint
    last = query.planned
    batch = next_batch(last, ends)
    effects: list[Effect] = []
    if batch.end - batch.start > 1:
        effects.append(Note(SEVERAL))
    if design.offsets is Offsets.BEFORE:
        query = query._replace(planned=batch)
        effects.append(Save(query))
    for edge, source in enumerate(site.preds):
        part = batch.part(edge)
        if design.acks is Acks.LAGGING and part.start:
            effects.append(Send(source, Commit(part.start)))
        effects.append(Send(source, Read(part, not edge)))
    return Step(QueryState(query, batch, QueryPhase.READING), tuple(effects))


def _gather(site: Site, state: QueryState, sender: NodeName, events: tuple[Event, ...]) -> Step:
    """The events of a source have come: run the batch once all have, in the order of time."""
    edge = site.preds.index(sender)
    read = state.read or (None,) * len(site.preds)
    read = (*read[:edge], events, *read[edge + 1 :])
    found = [one for one in read if one is not None]
    if len(found) < len(read):
        return Step(state._replace(read=read))
    entries = [[(at, event) for event in one] for at, one in enumerate(found)]
    return _run(site, state, [*merge(*entries, key=lambda entry: entry[1].body.time)])


def _run(site: Site, state: QueryState, events: list[tuple[int, Event]]) -> Step:
    """Run the batch on its events, each with the number of its source."""
    design, batch = site.config, state.running
    before = base(design, state.checkpoint, batch)
    number = None if len(site.preds) == 1 else batch.start
    after, rows = process_batch(site.spec, before.states, events, number)
    last = events[-1][1].sn if events else before.last
    version = Version(batch.id, after, last)
    kept = (before, version) if design.versions is Versions.KEPT else (version,)
    query = state.checkpoint._replace(versions=kept)
    effects: list[Effect] = [Save(query)]
    if design.acks is Acks.EAGER:
        effects += _to_sources(site, lambda at: Commit(end_of(batch, at)))
    if design.commits is Commits.BEFORE_SINK:
        query = query._replace(committed=batch.id)
        effects.append(Save(query))
    effects.append(Send(site.succs[0], Write(batch, rows)))
    return Step(QueryState(query, batch, QueryPhase.WRITING), tuple(effects))


def base(design: MicroBatchDesign, query: CheckpointDirectory, batch: AnyBatch) -> Version:
    """The state from which the batch starts: the version of the batch before, if there is one."""
    if design.versions is Versions.IN_PLACE:
        return query.versions[-1]
    return next(v for v in query.versions if v.batch == batch.id - 1)


def _finish(site: Site, state: QueryState) -> Step:
    design, query, batch = site.config, state.checkpoint, state.running
    effects: list[Effect] = []
    if design.offsets is Offsets.AFTER:
        query = query._replace(planned=batch)
        effects.append(Save(query))
    if query.committed < batch.id:
        query = query._replace(committed=batch.id)
        effects.append(Save(query))
    if design.acks is Acks.PROMPT:
        effects += _to_sources(site, lambda at: Commit(end_of(batch, at)))
    effects += _to_sources(site, lambda at: Ask(end_of(batch, at)))
    return Step(QueryState(query, batch), tuple(effects))


def _to_sources(
    site: Site, message: Callable[[int], Ask | Read | Commit], but: int | None = None
) -> list[Send]:
    """A message to each source, by its number; to all but one."""
    return [Send(pred, message(at)) for at, pred in enumerate(site.preds) if at != but]


def recover(site: Site, durable: CheckpointDirectory | None) -> Step:
    """Restart the query: run the logged but uncommitted batch again, in the same range; or begin
    one at once."""
    query = durable or empty(site.spec.begin())
    batch = query.planned
    state = QueryState(query, batch)
    if batch.id == query.committed:
        asks = _to_sources(site, lambda at: Ask(end_of(batch, at), at_once=True))
        return Step(state, (Note(BETWEEN), *asks))
    notes = (Note(AGAIN), Note(REPLAYED, batch.end - batch.start))
    reads = _to_sources(site, lambda at: Read(batch.part(at), not at))
    return Step(state._replace(phase=QueryPhase.READING), (*notes, *reads))


# --- the sink --------------------------------------------------------------------------------
def _take(site: Site, state: BatchSink, batch: AnyBatch, rows: tuple[Event, ...]) -> Step:
    """Take a batch; all its rows appear at once, since every variant writes a batch atomically."""
    sink = site.config.sink
    notes: list[Note] = []
    if batch.id == state.batch.id and batch != state.batch:
        notes.append(Note(REGROUPED))
    if sink is SinkRule.BY_BATCH and batch.id <= state.batch.id:
        rows = ()
        notes.append(Note(DISCARDED))
    if sink is SinkRule.BY_ROW and any(row.sn <= state.row for row in rows):
        rows = tuple(row for row in rows if row.sn > state.row)
        notes.append(Note(DISCARDED))
    emits = tuple(Emit((0, row.body)) for row in rows)
    taken = BatchSink(batch, rows[-1].sn if rows else state.row)
    return Step(taken, (*notes, *emits, Send(site.preds[0], Written(batch))))


# --- what is shown ---------------------------------------------------------------------------
def gauges(site: Site, state: BatchSource | QueryState | BatchSink) -> Gauges:
    """The gauges of a node.  buffered: events that the source keeps.  windows: open windows in the
    newest state written.  progress: offsets read, batches run, batches written."""
    match state:
        case BatchSource(latest, _, kept):
            return Gauges(len(kept), 0, latest)
        case QueryState(checkpoint=CheckpointDirectory(versions=(*_, newest))):
            return Gauges(0, open_in(newest.states), newest.batch)
        case BatchSink(batch, _):
            return Gauges(0, 0, batch.id)
        case _:
            raise AssertionError(f"{site.name}: {state} is no state of a node")


def memory(_site: Site, state: BatchSource | QueryState | BatchSink) -> Memory:
    """What the memory of a node holds: the checkpoint directory is on a disk, and of the state
    store the newest version is in memory."""
    match state:
        case BatchSource(kept=kept):
            return Memory(Amount(len(kept)))
        case QueryState(checkpoint=CheckpointDirectory(versions=(*_, newest))):
            each = [contents(state) for state in newest.states]
            return Memory(state=Amount(*(sum(amounts) for amounts in zip(*each, strict=True))))
        case _:
            return Memory()


def needed(scope: Scope, seen: Observation) -> Mapping[NodeName, int]:
    """The most events that the nodes keep at rest: a source its part of the last batch that the
    sink took, since the query acknowledges a batch when it plans the next one."""
    (batch,) = (state.batch for _, state in seen.states if isinstance(state, BatchSink))
    sources = [name for name, spec in scope.graph.nodes if spec is SOURCE]
    parts = {name: batch.part(edge) for edge, name in enumerate(sources)}
    kept = {name: part.end - part.start for name, part in parts.items()}
    return {name: kept.get(name, batch.end - batch.start) for name, _ in seen.states}
