"""The one abstraction: a protocol is a value that holds pure functions; effects are returned.

Rule of this file: no behaviour.  The file only names the values that drivers (the world, the
explorer, the walkers, the simulator) and protocols hand to each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Any, NamedTuple, TypeAlias

from model.boxes.box import NOTHING_OF, Lineage
from model.errors import Invalid
from model.events import Body, Event
from model.graph import Graph

NodeName: TypeAlias = str


# --- what a node receives --------------------------------------------------------------------
class Received(NamedTuple):
    """A message at the head of the FIFO channel from `sender`."""

    sender: NodeName
    message: Any


class TimerFired(NamedTuple):
    """A timer that the node set and that runs out now."""

    timer: str


class Arrival(NamedTuple):
    """The next event that the outside world hands a source.

    gap: time units since the source's last one, >= 0.
    """

    gap: int
    type: str
    data: tuple[Any, ...] = ()


class Lost(NamedTuple):
    """The notice that ends a watched channel: its sender has crashed.

    The notice comes as Received(node, Lost(node)) after all that the node had sent there, so it is
    a failure detector that never errs, unless the protocol assumes false suspicions (Assumptions).
    It is a message like any other: it is lost if its receiver crashes before it is delivered, and
    never sent if the receiver is down.  A node that crashes again sends it again.
    """

    node: NodeName


Input: TypeAlias = Received | TimerFired | Arrival


# --- what a node does ------------------------------------------------------------------------
class Send(NamedTuple):
    to: NodeName
    message: Any


class Save(NamedTuple):
    """Replace the node's durable value, which survives crashes."""

    value: Any


class Emit(NamedTuple):
    """Hand a result to the application behind a sink: (input edge, body).  Nobody can undo this.

    of: a ghost, the arrivals that the result was made of (model.oracle.Output).  The explorer
    counts worlds with different lineage as different worlds.  Keep lineage small in small scopes.
    """

    output: Any
    of: Lineage = NOTHING_OF


class SetTimer(NamedTuple):
    name: str


class Quantity(NamedTuple):
    """A quantity that notes count or gauges measure: name, unit and meaning."""

    name: str
    unit: str
    description: str


CRASHED = Quantity("crashes", "crashes", "a node lost its state; every driver counts this itself")
SPANNED = Quantity(
    "windows that spanned a crash",
    "crashes",
    "a node with an open window crashed; every driver that explores counts this itself",
)
SUSPECTED = Quantity(
    "false suspicions", "suspicions", "a node that is up was reported lost; the drivers count this"
)
CHECKPOINTED = Quantity(
    "savepoints sent", "savepoints", "a node made safe what a restart of it begins from"
)
RESTORED = Quantity("operators restored", "nodes", "a restarted node has its state again")
RESENT = Quantity("outputs sent again", "events", "a restarted node sent an undone output again")
REPLAYED = Quantity("events replayed", "events", "an event was sent, or is to be read, once more")
STALE = Quantity(
    "stale messages ignored", "messages", "a message from before a crash came to who waits for more"
)
DISCARDED = Quantity(
    "duplicates discarded", "messages", "a node received again what it had, and dropped it"
)
COMMON = (
    *(CRASHED, SPANNED, SUSPECTED, CHECKPOINTED, RESTORED),
    *(REPLAYED, RESENT, STALE, DISCARDED),
)
"""The quantities of every family, which drivers, price lists and metrics know; a family may add
its own."""


class Note(NamedTuple):
    """A ghost: drivers count notes, and no node sees one.  No crash comes between notes."""

    what: Quantity
    times: int = 1


Effect: TypeAlias = Send | Save | Emit | SetTimer | Note


Answer: TypeAlias = tuple[Any, tuple[Effect, ...]]
"""The state after an input, and the effects of the step, in order.

A protocol returns a plain pair (`return state, (Send(to, message),)`): one is made at every node
that a message passes, and with names it would take seven times as long.
"""


class Step(NamedTuple):
    """An answer with names, for those who look into it; a protocol may also return one."""

    state: Any
    effects: tuple[Effect, ...] = ()


# --- what it costs ---------------------------------------------------------------------------
class MessageKind(Enum):
    """The purpose of a message: diagrams colour by kind, price lists charge by kind."""

    EVENT = "event"
    ACKNOWLEDGEMENT = "acknowledgement"
    CONTROL = "control"
    RECOVERY = "recovery"
    CHECKPOINT = "checkpoint"
    COPY = "copy"
    DETERMINANT = "determinant"


class Size(NamedTuple):
    """The content of a message, for drivers that charge for it; never part of the behaviour.

    events: of the data stream; a message without events is a control message.  items: other
    contents that take room (savepoints, windows, ranges).  name: the name of its traffic in
    reports; if empty, the name of the kind.
    """

    kind: MessageKind
    events: int = 0
    items: int = 0
    name: str = ""

    @property
    def traffic(self) -> str:
        return self.name or self.kind.value


EVENT, CONTROL = Size(MessageKind.EVENT, 1), Size(MessageKind.CONTROL)
_EVENTS = (Event, Body)


def default_size(message: Any) -> Size:
    """The size of a message for protocols without a `size`: an event, or a control message."""
    return EVENT if isinstance(message, _EVENTS) else CONTROL


class Gauges(NamedTuple):
    """The amounts that a node holds now, to plot and to compare; never part of the behaviour.

    buffered: events kept for other nodes, None for a node that keeps none in any state.  windows:
    open windows, None for a node that has no windows.  progress: how far the state has come in the
    node's input; values of one type that can be compared and never decrease while the node lives;
    None where nothing is known.  A restarted node has replayed when its progress is no less than
    before the crash; the parts of a tuple are then compared one by one.  own: the family's own
    quantities.
    """

    buffered: int | None = None
    windows: int | None = None
    progress: Any = None
    own: tuple[tuple[Quantity, int], ...] = ()


NO_GAUGES = Gauges()


class Amount(NamedTuple):
    """Contents of a memory that take room, in the words of `Size`: events, and other items."""

    events: int = 0
    items: int = 0


class Memory(NamedTuple):
    """The contents of a node's memory, for drivers that charge for them; never part of the
    behaviour.  What is on a disk is not in it.

    buffers: what is kept for other nodes.  savepoints: the node's own and those of others.  state:
    of the operator, with the input that it cannot take yet.
    """

    buffers: Amount = Amount()
    savepoints: Amount = Amount()
    state: Amount = Amount()


NO_MEMORY = Memory()


# --- where nodes stand -----------------------------------------------------------------------
class Role(Enum):
    SOURCE = "source"
    OPERATOR = "operator"
    SINK = "sink"


class Site(NamedTuple):
    """The knowledge of a node at its start: its place in the deployment and its job.

    timers: the timers that are set when the node boots; a restarted node sets timers in `recover`.
    """

    name: NodeName
    role: Role
    spec: Any
    preds: tuple[NodeName, ...]
    succs: tuple[NodeName, ...]
    config: Any = None
    timers: tuple[str, ...] = ()


class Deployment(NamedTuple):
    """Sites, and the directed FIFO channels between them.

    There may be more sites than the graph has nodes (standbys, stores, coordinators).  Messages go
    both ways along an edge only if there is a channel each way.

    together: failure groups (a host, a rack): crashable sites that one fault may take down at once;
    each may also crash alone.  watched: channels (sender, receiver) that end with a notice, `Lost`,
    when the sender crashes.  returning: the nodes that restart after a crash; None: all.  prompt:
    sites that take what they are sent within the action that sends it, and never crash: a database,
    a broker, an external system.  connections: the prompt sites that are a connection to one node,
    and hold its events until it has taken them (their gauge `buffered`); drivers with a clock may
    bound them, and no other driver asks.
    """

    sites: tuple[Site, ...]
    channels: tuple[tuple[NodeName, NodeName], ...]
    crashable: frozenset[NodeName]
    together: tuple[frozenset[NodeName], ...] = ()
    watched: frozenset[tuple[NodeName, NodeName]] = frozenset()
    returning: frozenset[NodeName] | None = None
    prompt: frozenset[NodeName] = frozenset()
    connections: frozenset[NodeName] = frozenset()


# --- worlds to look at -----------------------------------------------------------------------
class Inputs(NamedTuple):
    """The possible inputs of a source: any word over `alphabet` of at most `length` arrivals."""

    alphabet: tuple[Arrival, ...]
    length: int


class OperatorClass(IntEnum):
    """The operator classes of Hwang et al., Section 3.2, Fig. 3; each contains the ones before."""

    REPEATABLE = 1
    CONVERGENT_CAPABLE = 2
    DETERMINISTIC = 3
    ARBITRARY = 4


class Guarantee(IntEnum):
    """The guarantees of Hwang et al., Section 3.1, strongest first, as the application behind the
    sinks sees them."""

    PRECISE = 1
    REPEATING = 2
    CONVERGENT = 3
    DIVERGENT = 4
    GAP = 5


@dataclass(frozen=True, slots=True)
class Scope:
    """A deployment that is small enough to explore whole.

    crashes: how many crashes may happen in one run; that of a failure group is one.  victims: the
    nodes that may crash, and the failure groups of such nodes alone; None: all crashable nodes.
    """

    graph: Graph
    inputs: tuple[tuple[NodeName, Inputs], ...]
    crashes: int = 1
    victims: frozenset[NodeName] | None = None


class Outcome(Enum):
    """The result of a check.  VACUOUS: nothing was refuted, but the check never tried something
    that it should have tried.  UNFINISHED: nothing was refuted so far, when a budget was spent."""

    HOLDS = "holds"
    REFUTED = "refuted"
    VACUOUS = "vacuous"
    UNFINISHED = "explored so far"


@dataclass(frozen=True, slots=True)
class PinnedScope:
    """A scope with the evidence that is expected of it.

    states: reachable worlds (None: not pinned).  steps: length of the shortest counterexample.
    """

    name: str
    scope: Scope
    operators: OperatorClass
    expect: Outcome = Outcome.HOLDS
    states: int | None = None
    steps: int | None = None
    guarantee: Guarantee = Guarantee.PRECISE
    quick: bool = True


class Observation(NamedTuple):
    """The view from outside: the inputs of each source, the outputs of each sink.

    states: (node, its state) of all nodes that are up; given only at rest, and only to properties
    that look at `nodes`.
    """

    arrivals: tuple[tuple[Arrival, ...], ...]
    outputs: tuple[tuple[Any, ...], ...]
    states: tuple[tuple[NodeName, Any], ...] = ()


class When(Enum):
    ALWAYS = "always"
    QUIESCENT = "quiescent"


@dataclass(frozen=True, slots=True)
class Property:
    """A condition `holds(scope, observation)` on every reachable world, or on the worlds at rest.

    nodes: at rest the property also looks at the nodes' states ("at rest, every node is ready").
    """

    name: str
    when: When
    holds: Callable[[Scope, Observation], bool]
    nodes: bool = False

    def __post_init__(self) -> None:
        if self.nodes and self.when is When.ALWAYS:
            raise Invalid(f"property {self.name!r}: nodes are looked at at rest (When.QUIESCENT)")


class Failures(Enum):
    """The failures that a protocol promises to survive; every driver grants exactly these.

    SINGLE: after the first fault of a run, a further fault comes only when the system is at rest:
    nothing is in progress, though more inputs may come.
    """

    NONE = 0
    SINGLE = 1
    ANY = 2


@dataclass(frozen=True, slots=True)
class Assumptions:
    """The assumptions of a protocol; drivers grant exactly these.

    suspicions: a fault may also be a false suspicion: a watched channel carries a notice, and its
    sender is up.
    """

    failures: Failures
    suspicions: bool = False


@dataclass(frozen=True, slots=True)
class Mutant:
    """A protocol with one changed line.  `old` is the whole line, stripped, and stands once.

    scope: the name of a scope that shows the fault, or VARIANT: SCOPE; the hunt begins there.
    by_chance: no scope shows it, and the random attack does; the hunt begins with the attack.
    """

    name: str
    module: str
    old: str
    new: str
    scope: str = ""
    by_chance: bool = False


class Knob(NamedTuple):
    """A setting of a family by which costs differ (model.knobs): a field of its design.

    name: of the field.  choices: (what users write, the value of the field); empty: any whole
    number from `least`.
    """

    name: str
    unit: str
    description: str
    choices: tuple[tuple[str | bool, Any], ...] = ()
    least: int = 1


@dataclass(frozen=True, slots=True)
class Protocol:
    """A recovery protocol: its deployment, the steps of its nodes, its promises, the evidence.

    boot(site) returns the first state of a node; recover(site, durable) is the first step after a
    crash (durable is None if nothing was ever saved); step(site, state, input) is every other step;
    gauges(site, state) returns what the node holds, for plots; show(message, state or output)
    returns one short line for people; size(message or durable value) returns what drivers charge
    for; memory(site, state) returns what the node's memory holds, and is asked now and then.

    needed(scope, observation) returns, for the nodes that it names, how many events a restart may
    still need: in a run without faults, at rest, they buffer no more (model.system).
    must_occur: quantities without which a verdict is vacuous.  quantities: the family's own, which
    its notes count and its gauges measure.  compare_with: the full name of the variant whose costs
    are shown beside this protocol's; empty: none.  lemmas: the pinned number of lemmas about it.
    knobs: what users may set; a protocol with knobs has deploy = partial(function, design).
    timers: the kinds of its timers (their names up to ":"), each with what it is for; drivers with
    a clock take the time of each kind from the user.  protects: False for the protocol that
    protects nothing; what others do beyond it is overhead.
    """

    name: str
    title: str
    source: str
    deploy: Callable[[Scope], Deployment]
    boot: Callable[[Site], Any]
    recover: Callable[[Site, Any], Answer]
    step: Callable[[Site, Any, Input], Answer]
    gauges: Callable[[Site, Any], Gauges]
    show: Callable[[Any], str]
    assumes: Assumptions
    claims: Mapping[OperatorClass, Guarantee]
    properties: tuple[Property, ...]
    scopes: tuple[PinnedScope, ...]
    needed: Callable[[Scope, Observation], Mapping[NodeName, int]] | None = None
    must_occur: tuple[Quantity, ...] = ()
    finding: str = ""
    variants: tuple[Protocol, ...] = ()
    mutants: tuple[Mutant, ...] = ()
    size: Callable[[Any], Size] = default_size
    memory: Callable[[Site, Any], Memory] = lambda _site, _state: NO_MEMORY
    quantities: tuple[Quantity, ...] = ()
    compare_with: str = ""
    lemmas: int = 0
    knobs: tuple[Knob, ...] = ()
    timers: Mapping[str, str] = field(default_factory=dict)
    protects: bool = True

    @property
    def expected(self) -> Outcome:
        """Refuted if any scope is expected to be."""
        refuted = any(pinned.expect is Outcome.REFUTED for pinned in self.scopes)
        return Outcome.REFUTED if refuted else Outcome.HOLDS

    def variant(self, name: str) -> Protocol:
        """This protocol or one of its variants, by full name; KeyError if there is none."""
        return {p.name: p for p in (self, *self.variants)}[name]
