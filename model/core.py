"""The values that drivers and protocols hand to each other: inputs, effects, sites and scopes.

Rule of this file: no behaviour.  A node receives an input and returns effects as values; a driver
(the world, the explorer, the walkers, the simulator) makes the effects happen.
Costs are in model.costs, evidence in model.evidence, the protocol itself in model.protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any, NamedTuple, TypeAlias

from model.boxes.box import NOTHING_OF, Lineage
from model.comparison import Compare
from model.graph import NO_GRAPH, Graph

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
    """Replace a durable value of the node, which survives crashes.

    name: one of the site's files; "" where the site has none: the node's only durable value.
    synced: False: until the next Sync a crash may lose this write and those after it to the file.
    """

    value: Any
    name: str = ""
    synced: bool = True


class Sync(NamedTuple):
    """All writes of the node to its files survive crashes from now on."""


class Emit(NamedTuple):
    """Hand a result to the application behind a sink: (input edge, body).  Nobody can undo this.

    of: a ghost, the arrivals that the result was made of (model.oracle.Output).  The explorer
    counts worlds with different lineage as different worlds.  Keep lineage small in small scopes.
    """

    output: Any
    of: Lineage = NOTHING_OF


class SetTimer(NamedTuple):
    name: str


class CancelTimer(NamedTuple):
    """A timer that is not set stays so."""

    name: str


class Rewind(NamedTuple):
    """A source reads its arrivals again, from place `to` on (0: from the first one).

    The arrivals of a source are a log that no crash loses; a restarted source begins behind its
    last arrival unless it goes back.  A place behind the last arrival is the end of the log.
    """

    to: int


class Fail(NamedTuple):
    """The node crashes by its own step, of which this is the last effect: an exception, a fenced
    writer.  It restarts like any node that has crashed, and no fault of the scope is used."""


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
EARLY = Quantity(
    "early time-outs", "timers", "a patient timer ran out early; every driver counts this itself"
)
DISTURBED = Quantity(
    "link faults", "faults", "a link lost, doubled, delayed or reset; the drivers count this"
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
    *(CRASHED, SPANNED, SUSPECTED, EARLY, DISTURBED, CHECKPOINTED, RESTORED),
    *(REPLAYED, RESENT, STALE, DISCARDED),
)
"""The quantities of every family, which drivers, price lists and metrics know; a family may add
its own."""


class Note(NamedTuple):
    """A ghost: drivers count notes, and no node sees one.  No crash comes between notes."""

    what: Quantity
    times: int = 1


Effect: TypeAlias = Send | Save | Sync | Emit | SetTimer | CancelTimer | Rewind | Fail | Note


Answer: TypeAlias = tuple[Any, tuple[Effect, ...]]
"""The state after an input, and the effects of the step, in order.

A protocol returns a plain pair (`return state, (Send(to, message),)`): one is made at every node
that a message passes, and with names it would take seven times as long.
"""


class Step(NamedTuple):
    """An answer with names, for those who look into it; a protocol may also return one."""

    state: Any
    effects: tuple[Effect, ...] = ()


# --- where nodes stand -----------------------------------------------------------------------
class Role(Enum):
    SOURCE = "source"
    OPERATOR = "operator"
    SINK = "sink"


class File(NamedTuple):
    """A durable value of a site that has several.  tears: a crash may leave the first lost write
    half there: a restart reads `Torn` of it then."""

    name: str
    tears: bool = False


class Torn(NamedTuple):
    """A write that a crash has cut: the value that was to be written."""

    value: Any


class Site(NamedTuple):
    """The knowledge of a node at its start: its place in the deployment and its job.

    timers: the timers that are set when the node boots; a restarted node sets timers in `recover`.
    files: the durable values of a site that has several; `recover` receives the values in the order
    of the files, None for one that was never saved.  disk: these values at each step of the node,
    with its writes that are not synced; () without files.
    """

    name: NodeName
    role: Role
    spec: Any
    preds: tuple[NodeName, ...]
    succs: tuple[NodeName, ...]
    config: Any = None
    timers: tuple[str, ...] = ()
    files: tuple[File, ...] = ()
    disk: tuple[Any, ...] = ()


class Group(NamedTuple):
    """A failure group (a process, a host, a rack): crashable sites that one fault may take down at
    once.  alone: may a member also crash alone?"""

    members: frozenset[NodeName]
    alone: bool = True


class Link(NamedTuple):
    """The things that may happen to the messages of a channel besides crashes.

    lossy, doubling, unordered: the next message may be lost, come once more behind all that are on
    their way, or go behind them; each is one of the scope's `disturbances`, so that other orders
    take several.  resets: a crash of either end loses all messages on their way, so that none from
    before reaches the restarted node; and as a disturbance the connection may be reset while both
    ends are up, which loses the messages both ways.
    """

    lossy: bool = False
    doubling: bool = False
    unordered: bool = False
    resets: bool = False


class Deployment(NamedTuple):
    """Sites, and the directed FIFO channels between them.

    There may be more sites than the graph has nodes (standbys, stores, coordinators).  Messages go
    both ways along an edge only if there is a channel each way.

    together: failure groups.  watched: channels (sender, receiver) that end with a notice, `Lost`,
    when the sender crashes.  returning: the nodes that restart after a crash; None: all.  prompt:
    sites that take what they are sent within the action that sends it, and never crash: a database,
    a broker, an external system; channels between prompt sites form no circle.  connections: the
    prompt sites that are a connection to one node, and hold its events until it has taken them
    (their gauge `buffered`); drivers with a clock may bound them, and no other driver asks.
    patient: the kinds of timers that run out only when nothing else can happen: a time-out that is
    longer than all that it waits for, unless the scope grants an `early` one.  links: the channels
    that are no perfect FIFO channels.  runs: the operators of the graph that a site runs, if they
    are not the one of its name.  storing: the sites that store the messages to them, and are not
    prompt.  leaders: the nodes that start the others again; when one crashes, the others go on
    until they know it, which drivers with a clock ask for, and no other driver.
    """

    sites: tuple[Site, ...]
    channels: tuple[tuple[NodeName, NodeName], ...]
    crashable: frozenset[NodeName]
    together: tuple[Group, ...] = ()
    watched: frozenset[tuple[NodeName, NodeName]] = frozenset()
    returning: frozenset[NodeName] | None = None
    prompt: frozenset[NodeName] = frozenset()
    connections: frozenset[NodeName] = frozenset()
    patient: frozenset[str] = frozenset()
    links: Mapping[tuple[NodeName, NodeName], Link] = {}
    runs: Mapping[NodeName, tuple[NodeName, ...]] = {}
    storing: frozenset[NodeName] = frozenset()
    leaders: frozenset[NodeName] = frozenset()


# --- worlds to look at -----------------------------------------------------------------------
class Inputs(NamedTuple):
    """The possible inputs of a source: any word over `alphabet` of at most `length` arrivals."""

    alphabet: tuple[Arrival, ...]
    length: int


class NamedLevel(IntEnum):
    """Levels in order, each with a word for people."""

    @property
    def word(self) -> str:
        """The name as people read it: convergent-capable."""
        return self.name.lower().replace("_", "-")


class OperatorClass(NamedLevel):
    """The operator classes of Hwang et al., Section 3.2, Fig. 3; each contains the ones before."""

    REPEATABLE = 1
    CONVERGENT_CAPABLE = 2
    DETERMINISTIC = 3
    ARBITRARY = 4


class Guarantee(NamedLevel):
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

    graph: NO_GRAPH for a protocol without a stream, which has properties alone.
    crashes: how many crashes may happen in one run; that of a failure group is one.  victims: the
    nodes that may crash, and the failure groups of such nodes alone; None: all crashable nodes.
    early: how many patient timers may run out early.  disturbances: how many faults of links may
    happen.  Failures.SINGLE is about crashes; these two may come at any time.
    sinks: how the output of a sink compares with the expected one, if not as a sequence.
    """

    graph: Graph = NO_GRAPH
    inputs: tuple[tuple[NodeName, Inputs], ...] = ()
    crashes: int = 1
    victims: frozenset[NodeName] | None = None
    early: int = 0
    disturbances: int = 0
    sinks: tuple[tuple[NodeName, Compare], ...] = ()


class Observation(NamedTuple):
    """The view from outside: the inputs of each source, the outputs of each sink.

    To properties that look at `nodes` also: states: (node, its state) of all nodes that are up;
    durable: (node, its saved value) of all nodes, down ones too, that have saved anything.  To
    properties that look at `messages`: the messages on their way, by (sender, receiver), where
    there are any.
    """

    arrivals: tuple[tuple[Arrival, ...], ...]
    outputs: tuple[tuple[Any, ...], ...]
    states: tuple[tuple[NodeName, Any], ...] = ()
    durable: tuple[tuple[NodeName, Any], ...] = ()
    messages: tuple[tuple[tuple[NodeName, NodeName], tuple[Any, ...]], ...] = ()


class When(Enum):
    ALWAYS = "always"
    QUIESCENT = "quiescent"


@dataclass(frozen=True, slots=True)
class Property:
    """A condition `holds(scope, observation)` on every reachable world, or on the worlds at rest.

    nodes: the property also looks at the nodes' states and durable values ("no two nodes decide
    otherwise").  messages: it also looks at the messages on their way.  outputs: it looks at the
    outputs, so that whoever judges a long run has to keep them.
    """

    name: str
    when: When
    holds: Callable[[Scope, Observation], bool]
    nodes: bool = False
    messages: bool = False
    outputs: bool = True
