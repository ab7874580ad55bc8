"""Process pairs: primaries with their secondaries, streams between them, output queues.

Rule of this file: no recovery; it carries what families with a secondary beside each primary send
to each other, and decides nothing about when a secondary takes over or what it begins from.

An operator that may crash is deployed twice; the replicas watch each other.  A stream is numbered
by its producer.  A consumer knows one producer for each of its inputs; another one presents itself
with `Begin`.  A producer keeps its outputs until all readers have released them.
Hwang et al., Sections 2 and 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, NamedTuple, TypeAlias

from model.boxes.box import NOTHING_OF, Box, Lineage, Of
from model.cep.box import CepBox
from model.cep.operator import Operator
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
    Quantity,
    Received,
    Role,
    Scope,
    Send,
    SetTimer,
    Site,
    Step,
    TimerFired,
)
from model.costs import EVENT, MessageKind, Size
from model.errors import Invalid
from model.events import Body
from model.graph import SOURCE
from model.log import Log
from model.parts import deploy_graph
from model.queues import TRIMMED

TOOK_OVER = Quantity("failovers", "nodes", "a secondary took over from its primary")
WITHHELD = Quantity("outputs withheld", "outputs", "an output had to wait before it left")
REJOINED = Quantity("rejoins", "nodes", "a node came back as the secondary of the other one")

ACKNOWLEDGE = "acknowledge"

Marks: TypeAlias = tuple[Any, ...]
"""For each input of a node the place of an input tuple, or its marks: indicators of an output."""


# --- choices that all families have ----------------------------------------------------------
class Late(Enum):
    """What a consumer does with the tuples of a dead producer that come after those of the new
    one.  The paper has no word about the order of messages at a takeover."""

    TAKEN = "it takes them as well"
    REFUSED = "it has closed that connection"


class Again(Enum):
    """Whether a new producer sends what its consumer has received.  6: it must "ask downstream
    neighbors for the identifiers of the last tuples they received and then discard all tuples
    preceding the ones identified"."""

    ALL = "it sends all that it has"
    FROM = "it asks, and sends the tuple identified and all after it"
    AFTER = "it asks, and sends what comes after the tuple identified"


class Newest(Enum):
    """The high watermark of an output.  5.3: "the identifier of the most recent tuple that
    contributed to the production of O[v]"."""

    MADE_OF = "the most recent tuple that the output was made of"
    PROCESSED = "the most recent tuple processed, which made it come out"


class Determinants(Enum):
    """When an output leaves.  6: "the primary cannot send tuples downstream until the secondary
    receives all determinants involved in generating these tuples"."""

    NONE = "at once: no determinants are logged"
    SENT = "when its determinants have been sent"
    STORED = "when the secondary has its determinants"


class Deposes(Enum):
    """Whether a secondary that takes over informs the primary, which may be up.  No word: Section 2
    has no false suspicions."""

    NO = "it does not: the primary goes on"
    YES = "it does: the primary becomes its secondary"


class Returns(Enum):
    """Whether a crashed node comes back.  2: "once a failed node comes back to life, it assumes the
    role of the secondary"."""

    YES = "it does, as the new secondary"
    NEVER = "a primary never does, and no secondary crashes"


# --- messages --------------------------------------------------------------------------------
class Output(NamedTuple):
    """A tuple on a stream.  place: its number there, from 1.  of: a ghost, the arrivals that it was
    made of.  marks: the indicators that travel with it."""

    place: int
    body: Body
    of: Lineage = NOTHING_OF
    marks: Marks = ()


class Begin(NamedTuple):
    """A producer presents itself: its next tuple has the number after `start`.

    asks: it waits for `Last` before it sends any.  again: which of those before `Last` it sends.
    """

    start: int
    asks: bool = False
    again: Again = Again.ALL


class Last(NamedTuple):
    """The number of the last tuple that a consumer has of this stream, whoever sent it."""

    place: int


class Connect(NamedTuple):
    """A consumer asks for the stream.

    kept: with the tuples that the producer keeps; else only what is new.
    """

    kept: bool = True


class Ack(NamedTuple):
    """The consumer has received the tuples up to here (level 0), and needs those up to there no
    more (level 1: the number before the oldest tuple that it needs)."""

    received: int
    released: int


class Deposed(NamedTuple):
    """The sender leads now: it has taken the receiver for dead."""


class Rejoined(NamedTuple):
    """A node is back, and is the secondary of the receiver."""


class Determinant(NamedTuple):
    """The primary has processed a tuple of this input next; with that, it has made so many
    outputs.  place: of the tuple.  cut: for each input the first tuple that a restart needs; both
    for a secondary that processes the tuples later."""

    edge: int
    outputs: int
    place: int = 0
    cut: tuple[int, ...] = ()


class Logged(NamedTuple):
    """The secondary has the determinants of the outputs up to this one, from the cut on."""

    output: int
    cut: tuple[int, ...] = ()


# --- where nodes stand -----------------------------------------------------------------------
class Wiring(NamedTuple):
    """The configuration of a site.

    source: the number of a source among those of the graph.  other: the other replica, "" if there
    is none.  second: is it the secondary at the start?  above, below: the replicas of each node
    that sends it tuples, or gets them.
    """

    design: Any
    source: int
    other: NodeName
    second: bool
    above: tuple[tuple[NodeName, ...], ...]
    below: tuple[tuple[NodeName, ...], ...]


def secondary(name: NodeName) -> NodeName:
    return f"{name}'"


def deploy_pairs(family: str, design: Any, scope: Scope) -> Deployment:
    """The deployment with a secondary for each operator that may crash in the scope.

    Raises Invalid for an operator that is neither a box nor a CEP operator, and for a CEP operator
    with several inputs: it merges them in the order of time, and tuples come here as they arrive.
    """
    graph, base = scope.graph, deploy_graph(scope.graph, replies=True)
    sources = [name for name, spec in graph.nodes if spec is SOURCE]
    replicas: dict[NodeName, tuple[NodeName, ...]] = {}
    for site in base.sites:
        names = (site.name, secondary(site.name))
        twice = site.role is Role.OPERATOR and (
            scope.victims is None or not scope.victims.isdisjoint(names)
        )
        replicas[site.name] = names if twice else names[:1]

    def place(site: Site, name: NodeName) -> Site:
        names = replicas[site.name]
        wiring = Wiring(
            design,
            sources.index(name) if site.role is Role.SOURCE else 0,
            next((other for other in names if other != name), ""),
            name != site.name,
            tuple(replicas[pred] for pred in site.preds),
            tuple(replicas[succ] for succ in site.succs),
        )
        spec = site.spec
        if site.role is Role.OPERATOR and not isinstance(spec, Box | Operator):
            raise Invalid(
                f"{family}: {name} is a {type(spec).__name__}; give a box or CEP operator"
            )
        if isinstance(spec, Operator) and len(site.preds) > 1:
            raise Invalid(
                f"{family}: {name} is a CEP operator with {len(site.preds)} inputs, which it needs "
                "in the order of time; give it one input"
            )
        spec = CepBox(spec) if isinstance(spec, Operator) else spec
        return site._replace(name=name, spec=spec, config=wiring)

    sites = tuple(place(site, name) for site in base.sites for name in replicas[site.name])
    pairs = [names for names in replicas.values() if len(names) == 2]
    between = [(one, other) for names in pairs for one, other in (names, names[::-1])]
    ends = [
        (sender, receiver)
        for above, below in base.channels
        for sender in replicas[above]
        for receiver in replicas[below]
    ]
    watched = frozenset(between)
    if design.returns is Returns.NEVER:
        primaries = frozenset(names[0] for names in pairs)
        return Deployment(sites, (*ends, *between), primaries, (), watched, frozenset())
    crashable = frozenset(name for names in pairs for name in names)
    return Deployment(sites, (*ends, *between), crashable, watched=watched)


def edge_of(site: Site, sender: NodeName) -> int:
    """The number of the input on which this node sends."""
    return next(edge for edge, names in enumerate(site.config.above) if sender in names)


# --- a producer ------------------------------------------------------------------------------
class Reader(NamedTuple):
    """A consumer of an output queue.  names: the replicas that count as this one.  target: the one
    that gets the tuples, "" while nobody knows which one that is.  received, released: as in Ack.
    has: the last tuple that it has from another producer and wants no more; None: it was asked, and
    has not answered.
    """

    names: tuple[NodeName, ...]
    target: NodeName
    received: int = 0
    released: int = 0
    has: int | None = 0


class Queue(NamedTuple):
    """An output queue: the number of the newest tuple, the tuples that are kept, the readers."""

    readers: tuple[Reader, ...]
    place: int = 0
    kept: Log[Output] = Log()

    @property
    def received(self) -> int:
        """The last tuple that all readers have."""
        return min(reader.received for reader in self.readers)

    @property
    def released(self) -> int:
        """The last tuple that no reader needs."""
        return min(reader.released for reader in self.readers)


def open_queue(site: Site, *, both: bool = False) -> Queue:
    """An empty queue.  both: each replica of a consumer is a reader of its own."""
    if both:
        return Queue(tuple(Reader((n,), n) for names in site.config.below for n in names))
    return Queue(tuple(Reader(names, names[0]) for names in site.config.below))


def put(queue: Queue, output: Output) -> Queue:
    """The queue with one more tuple, which has the next number."""
    return queue._replace(place=output.place, kept=queue.kept.append(output))


def send(queue: Queue, outputs: Iterable[Output]) -> tuple[Send, ...]:
    """Send the outputs to all readers that are known and do not have them."""
    readers = [reader for reader in queue.readers if reader.target]
    return tuple(
        Send(reader.target, output)
        for output in outputs
        for reader in readers
        if output.place > (reader.has or 0)
    )


def ask(queue: Queue) -> Queue:
    """The queue whose readers have been asked for the last tuple that they have."""
    return queue._replace(readers=tuple(reader._replace(has=None) for reader in queue.readers))


def answer(again: Again, queue: Queue, sender: NodeName, place: int) -> Queue:
    """The queue after the answer of a reader."""
    has = place - 1 if again is Again.FROM else place
    readers = (r._replace(has=has) if sender in r.names else r for r in queue.readers)
    return queue._replace(readers=tuple(readers))


def waits(queue: Queue) -> bool:
    """Has a reader not answered yet?"""
    return any(reader.has is None for reader in queue.readers)


def hear(queue: Queue, sender: NodeName, ack: Ack) -> tuple[Queue, tuple[Note, ...]]:
    """The queue after an acknowledgement."""
    readers = tuple(
        reader._replace(
            received=max(reader.received, ack.received), released=max(reader.released, ack.released)
        )
        if sender in reader.names
        else reader
        for reader in queue.readers
    )
    return trim(queue._replace(readers=readers))


def trim(queue: Queue) -> tuple[Queue, tuple[Note, ...]]:
    kept = queue.kept.trim(lambda output: output.place <= queue.released)
    gone = len(queue.kept) - len(kept)
    return queue._replace(kept=kept), ((Note(TRIMMED, gone),) if gone else ())


def connect(queue: Queue, sender: NodeName, request: Connect) -> tuple[Queue, tuple[Effect, ...]]:
    """Send the stream to this replica from now on, with what is kept if it asks for that.

    What it had acknowledged, it may have lost.
    """
    done = queue.released
    readers = tuple(
        reader._replace(target=sender, received=done, released=done, has=0)
        if sender in reader.names
        else reader
        for reader in queue.readers
    )
    again = [*queue.kept] if request.kept else []
    start = again[0].place - 1 if again else queue.place
    sends = (Send(sender, one) for one in (Begin(start), *again))
    return queue._replace(readers=readers), (Note(REPLAYED, len(again)), *sends)


# --- a consumer ------------------------------------------------------------------------------
class Inlet(NamedTuple):
    """A consumer's end of a stream: its producer, how many there were before, the number up to
    which it has the tuples of this producer, and the number and the marks of the last tuple of
    any."""

    producer: NodeName
    connection: int = 0
    place: int = 0
    last: int = 0
    marks: Marks = ()


def open_inlets(site: Site) -> tuple[Inlet, ...]:
    return tuple(Inlet(names[0]) for names in site.config.above)


def begin(inlet: Inlet, sender: NodeName, message: Begin) -> Inlet:
    """The inlet after a producer has presented itself; a known one goes on where it was."""
    if sender == inlet.producer:
        return inlet
    place = {
        Again.ALL: message.start,
        Again.FROM: max(0, inlet.last - 1),
        Again.AFTER: inlet.last,
    }[message.again]
    return Inlet(sender, inlet.connection + 1, place, inlet.last, inlet.marks)


def receive(
    late: Late,
    inlet: Inlet,
    sender: NodeName,
    output: Output,
    repeats: Callable[[Marks, Marks], bool] = lambda _last, _marks: False,
) -> tuple[Inlet, tuple[Note, ...] | None]:
    """The inlet after a tuple; notes if it is not to be processed, else None.

    repeats: do its marks, beside those of the last one, say that it is a duplicate?
    """
    known = repeats(inlet.marks, output.marks)
    if sender != inlet.producer:
        if late is Late.REFUSED:
            return inlet, (Note(STALE),)
        if known:
            return inlet, (Note(DISCARDED),)
        return inlet._replace(marks=output.marks), None
    if output.place <= inlet.place:
        return inlet, (Note(DISCARDED),)
    inlet = inlet._replace(place=output.place)
    if known:
        return inlet, (Note(DISCARDED),)
    return inlet._replace(last=output.place, marks=output.marks), None


# --- sources and sinks -----------------------------------------------------------------------
class SourceQueue(NamedTuple):
    """now: the time of the last event."""

    queue: Queue
    now: int = 0


class SinkInlets(NamedTuple):
    inlets: tuple[Inlet, ...]


def step_source(site: Site, state: SourceQueue, input_: Input) -> Step:
    queue = state.queue
    match input_:
        case Arrival(gap, type_, data):
            now = state.now + gap
            of = frozenset([Of(site.config.source, queue.place)])
            output = Output(queue.place + 1, Body(now, type_, data), of)
            queue = put(queue, output)
            return Step(SourceQueue(queue, now), send(queue, (output,)))
        case Received(sender, Ack() as ack):
            queue, notes = hear(queue, sender, ack)
            return Step(state._replace(queue=queue), notes)
        case Received(sender, Connect() as request):
            queue, effects = connect(queue, sender, request)
            return Step(state._replace(queue=queue), effects)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def step_sink(
    site: Site,
    state: SinkInlets,
    input_: Input,
    repeats: Callable[[Marks, Marks], bool] = lambda _last, _marks: False,
) -> Step:
    """A consumer that passes on what is no duplicate; it acknowledges when a timer runs out."""
    match input_:
        case Received(sender, Begin() as message):
            edge = edge_of(site, sender)
            inlet = state.inlets[edge]
            answer = (Send(sender, Last(inlet.last)),) if message.asks else ()
            return Step(set_inlet(state, edge, begin(inlet, sender, message)), answer)
        case Received(sender, Output() as output):
            edge = edge_of(site, sender)
            before, late = state.inlets[edge], site.config.design.late
            inlet, known = receive(late, before, sender, output, repeats)
            state = set_inlet(state, edge, inlet)
            passed = (Emit((edge, output.body), output.of),) if known is None else known
            timer = (SetTimer(ACKNOWLEDGE),) if inlet != before or known is None else ()
            return Step(state, (*passed, *timer))
        case TimerFired():
            return Step(state, acknowledge(state.inlets))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def acknowledge(inlets: Iterable[Inlet]) -> tuple[Send, ...]:
    """What a consumer sends that needs no tuple again."""
    return tuple(Send(inlet.producer, Ack(inlet.place, inlet.place)) for inlet in inlets)


def set_inlet(state: Any, edge: int, inlet: Inlet) -> Any:
    inlets = state.inlets
    return state._replace(inlets=(*inlets[:edge], inlet, *inlets[edge + 1 :]))


# --- what is shown ---------------------------------------------------------------------------
def size(message: Any) -> Size:
    match message:
        case Output():
            return EVENT
        case Ack():
            return Size(MessageKind.ACKNOWLEDGEMENT)
        case Logged():
            return Size(MessageKind.ACKNOWLEDGEMENT, name="logged")
        case Determinant():
            return Size(MessageKind.DETERMINANT, items=1)
        case Begin() | Last() | Connect() | Rejoined() | Deposed():
            return Size(MessageKind.RECOVERY, name=type(message).__name__.lower())
        case _:
            return Size(MessageKind.CONTROL)


def show(value: object) -> str:
    """A message in a few words."""
    match value:
        case Output(place, body):
            return f"{body.type}{place}@{body.time}"
        case Begin(start, asks):
            return f"begin after {start}" + ("?" if asks else "")
        case Last(place):
            return f"last {place}"
        case Connect(kept):
            return "connect" if kept else "connect, new ones"
        case Ack(received, released):
            return f"ack {received}" if received == released else f"ack {received}, {released}"
        case Determinant(edge, outputs):
            return f"next: input {edge}, {outputs}"
        case Logged(output):
            return f"logged {output}"
        case Rejoined():
            return "rejoined"
        case Deposed():
            return "deposed"
        case _:
            return ""
