"""The nodes of upstream backup by acknowledgements: a source, process pairs, a sink.

Rule of this file: no claim which choice is right (model.protocols.upstream_backup_acks.variants).

A node acknowledges when a timer runs out: what it has received (level 0), and, from the outputs
that its readers have, what it needs no more (level 1).  Its secondary holds nothing; when it hears
that its primary is lost, it begins empty, and asks upstream for all tuples that are kept there.
Hwang et al., Sections 2, 5.2 and 6.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from model.boxes.box import Item, Lineage, Of, Out, inputs_in
from model.core import (
    RESTORED,
    STALE,
    Answer,
    Deployment,
    Effect,
    Input,
    Lost,
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
from model.costs import Amount, Gauges, Memory
from model.pairs import (
    ACKNOWLEDGE,
    REJOINED,
    TOOK_OVER,
    Ack,
    Begin,
    Connect,
    Deposed,
    Deposes,
    Determinant,
    Determinants,
    Last,
    Logged,
    Marks,
    Newest,
    Output,
    Rejoined,
    SinkInlets,
    SourceQueue,
    begin,
    connect,
    deploy_pairs,
    edge_of,
    hear,
    open_inlets,
    open_queue,
    receive,
    set_inlet,
    step_sink,
    step_source,
)
from model.parts import contents, open_windows
from model.protocols.upstream_backup_acks.design import (
    Absent,
    Cuts,
    Design,
    Idle,
    Labels,
    Maps,
    Names,
    Oldest,
    Repeats,
)
from model.protocols.upstream_backup_acks.determinants import (
    leave,
    log,
    places,
    release,
    release_all,
    renew,
    restrict,
)
from model.protocols.upstream_backup_acks.journal import (
    Arrived,
    Journal,
    Label,
    Renewed,
    admit,
    begin_at,
    follow,
    turn,
)
from model.protocols.upstream_backup_acks.messages import (
    MAPPED,
    Cause,
    Primary,
    State,
    Waiting,
)

TIMERS = {ACKNOWLEDGE: "From something new to the next acknowledgements of a node."}


def deploy(design: Design, scope: Scope) -> Deployment:
    return deploy_pairs("upstream-backup-acks", design, scope)


def boot(site: Site) -> State:
    if site.role is Role.SOURCE:
        return SourceQueue(open_queue(site))
    if site.role is Role.SINK:
        return SinkInlets(open_inlets(site))
    if site.config.second:
        return Waiting(cut=(1,) * len(site.preds) if _logs(site) else ())
    return _empty(site)


def _empty(site: Site) -> Primary:
    """The state before the first tuple."""
    edges = len(site.preds)
    return Primary(
        open_inlets(site),
        site.spec.begin(edges),
        open_queue(site),
        (Label(),) * edges,
        ((),) * edges,
        journal=Journal(bool(site.config.other), (1,) * edges) if _logs(site) else None,
    )


def _logs(site: Site) -> bool:
    return site.config.design.determinants is not Determinants.NONE


def recover(site: Site, _durable: None) -> Answer:
    """Come back as the secondary of the other replica."""
    asks = (Send(site.config.other, Rejoined()),) if _logs(site) else ()
    return Waiting(cut=(1,) * len(site.preds) if asks else ()), (Note(REJOINED), *asks)


def step(site: Site, state: State, input_: Input) -> Answer:
    match state:
        case SourceQueue():
            return step_source(site, state, input_)
        case SinkInlets():
            return step_sink(site, state, input_, _rule(site))
        case Primary():
            return _lead(site, state, input_)
        case Waiting():
            return _wait(site, state, input_)
    raise TypeError(f"{site.name}: {state} is no state of a node")


# --- duplicates ------------------------------------------------------------------------------
def _rule(site: Site) -> Any:
    """By their marks, is an output a duplicate, given the last one?"""
    repeats = site.config.design.repeats

    def is_repeated(last: Marks, marks: Marks) -> bool:
        if repeats is Repeats.NEVER or not last:
            return False
        pairs = [*zip(marks, last, strict=True)]
        if repeats is Repeats.HIGH_LOWER:
            return all(new < old for new, old in pairs)
        if repeats is Repeats.COUNTED and marks[:-1] != last[:-1]:
            pairs = pairs[:-1]
        return all(new <= old for new, old in pairs)

    return is_repeated


def _marks(site: Site, state: Primary, of: Lineage, cause: Cause, follow: int) -> Marks:
    """The indicators that travel with an output.  follow: how many more come of the same input."""
    design = site.config.design
    repeats = design.repeats
    if repeats is Repeats.NEVER:
        return ()
    if repeats is Repeats.LOW:
        return tuple(label.place for label in cause.oldest)
    marks = state.newest if design.names is Names.MARKS else _high(site, state, of)
    return (*marks, -follow) if repeats is Repeats.COUNTED else marks


def _high(site: Site, state: Primary, of: Lineage) -> Marks:
    """The place of the most recent tuple of each input in a lineage, or of the output before."""
    high = [0] * len(state.inlets)
    for edge, label in _labels(site, of):
        high[edge] = max(high[edge], label.place)
    before = state.queue.kept.last().marks if state.queue.kept else (0,) * len(high)
    return tuple(map(max, high, before))


# --- a primary -------------------------------------------------------------------------------
def _lead(site: Site, state: Primary, input_: Input) -> Step:
    match input_:
        case Received(sender, Output() as output):
            return _process(site, state, sender, output)
        case Received(sender, Begin() as message):
            edge = edge_of(site, sender)
            inlet = state.inlets[edge]
            answer = (Send(sender, Last(inlet.last)),) if message.asks else ()
            after = set_inlet(state, edge, begin(inlet, sender, message))
            if after.journal is not None:
                journal = begin_at(after.journal, edge, message.start)
                after, effects = _go_on(site, after._replace(journal=journal))
                answer = (*answer, *effects)
            return _end(state, after, answer)
        case Received(sender, Ack() as ack):
            queue, notes = hear(state.queue, sender, ack)
            return _end(state, state._replace(queue=queue), notes)
        case Received(sender, Connect() | Last()):
            queue, effects = connect(state.queue, sender, Connect())
            return Step(state._replace(queue=queue), effects)
        case Received(_, Deposed()):
            return Step(*recover(site, None))
        case Received(_, Lost()):  # its secondary
            return _end(state, *release_all(state))
        case Received(_, Logged() as logged):
            return _end(state, *release(state, logged))
        case Received(sender, Rejoined()):
            return _end(state, *renew(site, state, sender))
        case TimerFired():
            return _acknowledge(site, state)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def _process(site: Site, state: Primary, sender: NodeName, output: Output) -> Step:
    edge = edge_of(site, sender)
    inlet, known = receive(site.config.design.late, state.inlets[edge], sender, output, _rule(site))
    after = set_inlet(state, edge, inlet)
    if known is not None:
        return _end(state, after, known)
    late = sender != inlet.producer
    arrived = Arrived(edge, Label(inlet.connection - late, output.place), output)
    if after.journal is None:
        return _end(state, *_feed(site, after, arrived))
    return _end(state, *_go_on(site, after._replace(journal=admit(after.journal, arrived))))


def _go_on(site: Site, state: Primary) -> tuple[Primary, tuple[Effect, ...]]:
    """Process the tuples whose turn it is."""
    effects: list[Effect] = []
    while True:
        assert state.journal is not None
        journal, arrived = turn(state.journal)
        if arrived is None:
            return state, tuple(effects)
        state, more = _feed(site, state._replace(journal=journal), arrived)
        effects += more


def _feed(site: Site, state: Primary, arrived: Arrived) -> tuple[Primary, tuple[Effect, ...]]:
    """Process a tuple.  Of several allowed answers the box gives the first."""
    (edge, label, output), edges = arrived, len(state.inlets)
    of = output.of | {Of(-1 - (label.connection * edges + edge), label.place)}
    fed, *_ = site.spec.feed(state.inner, Item(edge, output.body, of))
    name = output.marks or (output.place,)
    after = state._replace(
        last=(*state.last[:edge], label, *state.last[edge + 1 :]),
        newest=(*state.newest[:edge], name, *state.newest[edge + 1 :]),
    )
    held = [*inputs_in(state.inner), *of]
    news: list[Output] = []
    for number, out in enumerate(fed.outs, start=1):
        after, new = _make(site, after, out, of, held, len(fed.outs) - number, len(news))
        news.append(new)
    after = after._replace(inner=fed.state)
    if after.journal is None:
        return leave(after, news)
    cut = places(_needed(site, after)[1])
    return log(site, after, edge, label.place, tuple(news), cut)


def _make(
    site: Site, state: Primary, out: Out, by: Lineage, held: Iterable[Of], follow: int, before: int
) -> tuple[Primary, Output]:
    """An output, numbered, with its indicators.

    by: of the input that made it come out.  held: in the state then.  follow, before: the number
    of outputs still to come, and that have come.
    """
    design = site.config.design
    made_of = design.oldest is Oldest.MADE_OF
    known = state.causes[-1].oldest if state.causes else state.last
    absent = state.last if design.absent is Absent.PRECEDING else _nexts(state)
    oldest = _oldest(site, out.of, known) if made_of else _oldest(site, held, absent)
    waiting = len(state.journal.waiting) if state.journal else 0
    cause = Cause(state.queue.place + waiting + before + 1, oldest)
    ghost = frozenset(one for one in out.of if one.edge >= 0)
    processed = design.newest is Newest.PROCESSED
    marks = _marks(site, state, out.of | by if processed else out.of, cause, follow)
    new = Output(cause.output, out.body, ghost, marks)
    return state._replace(causes=(*state.causes, cause)), new


def _nexts(state: Primary) -> tuple[Label, ...]:
    """The tuples after the last ones that were processed."""
    return tuple(Label(connection, place + 1) for connection, place in state.last)


def _labels(site: Site, of: Iterable[Of]) -> Iterator[tuple[int, Label]]:
    """The input tuples of the node in a lineage: (input, label)."""
    for one in of:
        if one.edge < 0:
            connection, edge = divmod(-1 - one.edge, len(site.preds))
            yield edge, Label(connection, one.place)


def _oldest(site: Site, of: Iterable[Of], otherwise: tuple[Label, ...]) -> tuple[Label, ...]:
    """The oldest tuple of each input in a lineage."""
    found: dict[int, Label] = {}
    for edge, label in _labels(site, of):
        found[edge] = min(label, found.get(edge, label))
    return tuple(found.get(edge, label) for edge, label in enumerate(otherwise))


def _end(before: Primary, after: Primary, effects: Iterable[Effect]) -> Step:
    """The step, with the timer of the next acknowledgements if something has changed."""
    return Step(after, (*effects, *((SetTimer(ACKNOWLEDGE),) if after != before else ())))


def _needed(
    site: Site, state: Primary
) -> tuple[tuple[Cause, ...], tuple[Label, ...], tuple[Note, ...]]:
    """The causes that still count, and the oldest tuple of each input that a restart needs."""
    design, queue = site.config.design, state.queue
    mapped = queue.received if design.maps is Maps.RECEIVED else queue.released
    causes = state.causes
    notes: tuple[Note, ...] = ()
    while len(causes) > 1 and causes[1].output <= mapped:
        causes = causes[1:]
    if design.idle is Idle.STATE and mapped == queue.place:
        needed = _oldest(site, inputs_in(state.inner), _nexts(state))
    elif causes and causes[0].output <= mapped:
        needed, notes = causes[0].oldest, (Note(MAPPED),)
    else:
        needed = (Label(),) * len(state.inlets)
    return causes, needed, notes


def _acknowledge(site: Site, state: Primary) -> Step:
    """Acknowledge to all upstream nodes at both levels."""
    design = site.config.design
    causes, needed, notes = _needed(site, state)
    state = state._replace(causes=causes)
    if state.journal is not None and design.cuts is Cuts.STORED:
        state, needed = restrict(state, needed)
    sends = []
    for inlet, label in zip(state.inlets, needed, strict=True):
        known = design.labels is Labels.PLACE or label.connection == inlet.connection
        released = max(0, label.place - 1) if known else 0
        sends.append(Send(inlet.producer, Ack(inlet.place, released)))
    return Step(state, (*notes, *sends))


# --- a secondary -----------------------------------------------------------------------------
def _wait(site: Site, state: Waiting, input_: Input) -> Step:
    match input_:
        case Received(_, Lost()):
            return _take_over(site, state)
        case Received(sender, Determinant(_, outputs) as one):
            entries, cut = follow(*state, one)
            if site.config.design.cuts is Cuts.SENT:
                entries, cut = (*state.entries, (one.edge, one.place)), state.cut
            return Step(Waiting(entries, cut), (Send(sender, Logged(outputs, cut)),))
        case Received(_, Renewed(entries, cut)):
            return Step(Waiting(entries, cut))
        case Received() | TimerFired():  # for a primary that is no more
            return Step(state, (Note(STALE),))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def _take_over(site: Site, state: Waiting) -> Step:
    """Become the primary: begin empty, with all tuples that upstream keeps.

    Where a reader has two replicas, the one that leads answers, and gets the outputs.
    """
    primary = _empty(site)
    if primary.journal is not None:
        journal = Journal(spare=False, cut=state.cut, order=state.entries)
        newest = tuple((at - 1,) if at > 1 else () for at in state.cut)
        primary = primary._replace(journal=journal, newest=newest)
    effects: list[Effect] = [Note(TOOK_OVER), Note(RESTORED)]
    if site.config.design.deposes is Deposes.YES:
        effects.append(Send(site.config.other, Deposed()))
    readers = []
    for reader in primary.queue.readers:
        several = len(reader.names) > 1
        effects += (Send(name, Begin(0, several)) for name in reader.names)
        readers.append(reader._replace(target="") if several else reader)
    effects += (Send(name, Connect()) for names in site.config.above for name in names)
    queue = primary.queue._replace(readers=tuple(readers))
    return Step(primary._replace(queue=queue), tuple(effects))


# --- what is shown ---------------------------------------------------------------------------
def gauges(_site: Site, state: State) -> Gauges:
    match state:
        case SourceQueue(queue):
            return Gauges(len(queue.kept), None, queue.place)
        case Primary(inlets, inner, queue):
            places = tuple((inlet.connection, inlet.place) for inlet in inlets)
            return Gauges(len(queue.kept), open_windows(inner), places)
        case SinkInlets():
            return Gauges()
        case _:  # a secondary
            return Gauges(0)


def memory(_site: Site, state: State) -> Memory:
    match state:
        case SourceQueue(queue):
            return Memory(Amount(len(queue.kept)))
        case Primary(_, inner, queue):
            return Memory(Amount(len(queue.kept)), state=contents(inner))
        case _:
            return Memory()


def needed(scope: Scope, seen: Observation) -> Mapping[NodeName, int]:
    """The most that nodes keep at rest: nothing, if no operator downstream holds a tuple.

    For the other nodes nothing is said.
    """
    holding = {
        name
        for name, state in seen.states
        if isinstance(state, Primary) and any(inputs_in(state.inner))
    }
    graph = scope.graph
    return {name: 0 for name, _ in graph.nodes if holding.isdisjoint(graph.descendants(name))}
