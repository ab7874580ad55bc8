"""The one abstraction: a protocol is a value that holds pure functions; effects are returned.

Rule of this file: nothing here does anything.  It only names the things that drivers
(the world, the explorer, the walkers, the simulator) and protocols say to each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any, NamedTuple, TypeAlias

from model.events import Body, Event
from model.graph import Graph

NodeName: TypeAlias = str


# --- what a node is told ---------------------------------------------------------------------
class Received(NamedTuple):
    """A message at the head of the FIFO channel from `sender`."""

    sender: NodeName
    message: Any


class TimerFired(NamedTuple):
    """A timer that the node set and that now runs out."""

    timer: str


class Arrival(NamedTuple):
    """The next event that the outside world hands a source.

    gap: time units since the source's last one, >= 0.
    """

    gap: int
    type: str
    data: tuple[Any, ...] = ()


Input: TypeAlias = Received | TimerFired | Arrival


# --- what a node does ------------------------------------------------------------------------
class Send(NamedTuple):
    to: NodeName
    message: Any


class Save(NamedTuple):
    """Replace the node's durable value; survives crashes."""

    value: Any


class Emit(NamedTuple):
    """Hand a result to the application behind a sink: (input edge, body).  It cannot be undone."""

    output: Any


class SetTimer(NamedTuple):
    name: str


class Note(NamedTuple):
    """A ghost: drivers count it, nobody can see it.  Not an effect, so never a crash point."""

    what: str
    times: int = 1


Effect: TypeAlias = Send | Save | Emit | SetTimer | Note


Answer: TypeAlias = tuple[Any, tuple[Effect, ...]]
"""The state after an input, and what was done on the way, in order.

A protocol returns a plain pair (`return state, (Send(to, message),)`): one is made at every node
that a message passes, and with names it would take seven times as long.
"""


class Step(NamedTuple):
    """An answer with names, for those who look into it; a protocol may also return one."""

    state: Any
    effects: tuple[Effect, ...] = ()


# --- what it costs ---------------------------------------------------------------------------
class Size(NamedTuple):
    """What a message carries, for drivers that charge for it; never part of the behaviour.

    kind: how reports call its traffic.  events: of the data stream; a message without any is a
    control message.  items: what else it carries that takes room (savepoints, windows, ranges).
    """

    kind: str
    events: int = 0
    items: int = 0


EVENT, CONTROL = Size("event", 1), Size("control")
_EVENTS = (Event, Body)


def sized(message: Any) -> Size:
    """An event is an event, and everything else is control: for protocols that say no more."""
    return EVENT if isinstance(message, _EVENTS) else CONTROL


# --- where nodes stand -----------------------------------------------------------------------
class Role(Enum):
    SOURCE = "source"
    OPERATOR = "operator"
    SINK = "sink"


class Site(NamedTuple):
    """All that a node knows without being told: its place in the deployment and its job."""

    name: NodeName
    role: Role
    spec: Any
    preds: tuple[NodeName, ...]
    succs: tuple[NodeName, ...]
    config: Any = None


class Deployment(NamedTuple):
    """Sites, and the directed FIFO channels between them (both directions of every edge)."""

    sites: tuple[Site, ...]
    channels: tuple[tuple[NodeName, NodeName], ...]
    crashable: frozenset[NodeName]


# --- worlds to look at -----------------------------------------------------------------------
class Inputs(NamedTuple):
    """What a source may be handed: any word over `alphabet` of at most `length` arrivals."""

    alphabet: tuple[Arrival, ...]
    length: int


class OperatorClass(IntEnum):
    """Hwang et al., Section 3.2, Fig. 3: each class contains the ones below it."""

    REPEATABLE = 1
    CONVERGENT_CAPABLE = 2
    DETERMINISTIC = 3
    ARBITRARY = 4


class Guarantee(IntEnum):
    """Hwang et al., Section 3.1, strongest first, as seen by the application behind the sinks."""

    PRECISE = 1
    REPEATING = 2
    CONVERGENT = 3
    DIVERGENT = 4
    GAP = 5


@dataclass(frozen=True, slots=True)
class Scope:
    """A world small enough to be explored whole.

    `crashes` is how many crashes may happen in one run, `victims` who may crash (all crashable
    nodes when None).
    """

    graph: Graph
    inputs: tuple[tuple[NodeName, Inputs], ...]
    crashes: int = 1
    victims: frozenset[NodeName] | None = None


class Outcome(Enum):
    HOLDS = "holds"
    REFUTED = "refuted"


@dataclass(frozen=True, slots=True)
class PinnedScope:
    """A scope with the evidence expected of it.

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
    """What can be seen from outside: what each source was handed, what each sink passed on."""

    arrivals: tuple[tuple[Arrival, ...], ...]
    outputs: tuple[tuple[Any, ...], ...]


class When(Enum):
    ALWAYS = "always"
    QUIESCENT = "quiescent"


@dataclass(frozen=True, slots=True)
class Property:
    """`holds(scope, observation)`, in every reachable world or only where nothing is left to do."""

    name: str
    when: When
    holds: Callable[[Scope, Observation], bool]


class Failures(Enum):
    NONE = 0
    SINGLE = 1
    ANY = 2


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What the protocol takes for granted; the world grants exactly this and no more."""

    failures: Failures
    replayable_sources: bool = True
    reliable_sinks: bool = True
    fifo_channels: bool = True


@dataclass(frozen=True, slots=True)
class Mutant:
    """One line of one module, replaced.  `old` is the whole line, stripped; it must be unique.

    scope: the name of one that shows it; it is looked for there first.
    """

    name: str
    module: str
    old: str
    new: str
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Protocol:
    """A recovery protocol: what to deploy, what each node does, what it promises, the evidence.

    boot(site) is the state as deployed; recover(site, durable) is the first step after a crash
    (durable is None if nothing was ever saved); step(site, state, input) is everything else;
    gauges(site, state) are sizes to plot, never part of the behaviour; show(message or state) is
    one short line for people; size(message or durable value) is what drivers charge for.
    """

    name: str
    title: str
    source: str
    deploy: Callable[[Scope], Deployment]
    boot: Callable[[Site], Any]
    recover: Callable[[Site, Any], Answer]
    step: Callable[[Site, Any, Input], Answer]
    gauges: Callable[[Site, Any], Mapping[str, int]]
    show: Callable[[Any], str]
    assumes: Assumptions
    claims: Mapping[OperatorClass, Guarantee]
    properties: tuple[Property, ...]
    scopes: tuple[PinnedScope, ...]
    must_occur: tuple[str, ...] = ()
    finding: str = ""
    variants: tuple[Protocol, ...] = ()
    mutants: tuple[Mutant, ...] = ()
    size: Callable[[Any], Size] = sized

    @property
    def expected(self) -> Outcome:
        """Refuted if any scope is expected to be."""
        refuted = any(pinned.expect is Outcome.REFUTED for pinned in self.scopes)
        return Outcome.REFUTED if refuted else Outcome.HOLDS

    def variant(self, name: str) -> Protocol:
        """This protocol or one of its variants, by full name; KeyError if there is none."""
        return {p.name: p for p in (self, *self.variants)}[name]
