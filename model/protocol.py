"""The one abstraction: a protocol is behaviour, a design, a promise, evidence and words.

Rule of this file: no behaviour of any protocol; a protocol is a frozen value that holds pure
functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import Any, NamedTuple

from model.core import (
    Answer,
    Deployment,
    Guarantee,
    Input,
    NamedLevel,
    NodeName,
    Observation,
    OperatorClass,
    Property,
    Quantity,
    Scope,
    SetTimer,
    Site,
)
from model.costs import (
    NO_GAUGES,
    NO_MEMORY,
    NO_STATES,
    CarriedStates,
    Gauges,
    Memory,
    Size,
    default_size,
)
from model.errors import Invalid
from model.evidence import Evidence
from model.outages import OutageTerms


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


class CheckpointNotes(NamedTuple):
    """The notes of a family about its checkpoints, of which one is under way at a time."""

    begun: Quantity
    complete: Quantity
    given_up: Quantity


class SourceNeed(NamedLevel):
    """The abilities that a protocol needs of a source; each contains the ones before."""

    NOTHING = 1
    KEEPS = 2
    SEEKS = 3


class SinkNeed(Enum):
    """The ability that a protocol needs of the application behind a sink.

    NOTHING: an output that comes twice is there twice.  REMEMBERS: it drops or replaces an output
    that it has had.  TRANSACTS: it prepares outputs, and shows them when they are committed.
    """

    NOTHING = "nothing"
    REMEMBERS = "remembers"
    TRANSACTS = "transacts"


class EndNeeds(NamedTuple):
    """The abilities that a protocol needs outside the pipeline, at its two ends.

    source: KEEPS: it sends events again that nobody has acknowledged; SEEKS: it goes back to a
    position in a log.
    """

    source: SourceNeed = SourceNeed.NOTHING
    sink: SinkNeed = SinkNeed.NOTHING


@dataclass(frozen=True, slots=True)
class Behaviour:
    """The pure functions of a protocol, and the vocabulary that comes with them.

    deploy(design, scope) returns the sites and channels; boot(site) returns the first state of a
    node; step(site, state, input) is every step but the first one after a crash.  recover(site,
    durable) is that first step (durable is None if nothing was ever saved); None: the node boots
    again, with the timers of its site.

    gauges(site, state) returns what the node holds, for plots; show(message, state or output)
    returns one short line for people; size(message or durable value) returns what drivers charge
    for; memory(site, state) returns what the node's memory holds, and is asked now and then;
    states(message, durable value or state) returns the operators' states in it.
    needed(scope, observation) returns, for the nodes that it names, how many events a restart may
    still need: in a run without faults, at rest, they buffer no more (model.system).

    timers: the kinds of its timers (their names up to ":"), each with what it is for; drivers with
    a clock take the time of each kind from the user.  background: the kinds that stand for a write
    beside the work of the node: drivers with a clock let such a timer last as long as the storage
    takes for the saves of its step, which then have been paid.  clocked: the kinds that an engine
    has on a clock, and not some time after a change.  quantities: the family's own, which
    its notes count and its gauges measure.  knobs: the fields of the design that users may set.
    outage: the terms of the length of a recovery; None: nobody has said.
    checkpoints: the quantities that count checkpoints, if one is of all nodes.
    interval: the kind of timer whose length trades protection for recovery; empty: none does.
    ends(design) returns the needs of the protocol at sources and sinks.
    """

    deploy: Callable[[Any, Scope], Deployment]
    boot: Callable[[Site], Any]
    step: Callable[[Site, Any, Input], Answer]
    recover: Callable[[Site, Any], Answer] | None = None
    gauges: Callable[[Site, Any], Gauges] = lambda _site, _state: NO_GAUGES
    show: Callable[[Any], str] = lambda _value: ""
    size: Callable[[Any], Size] = default_size
    memory: Callable[[Site, Any], Memory] = lambda _site, _state: NO_MEMORY
    states: Callable[[Any], CarriedStates] = lambda _value: NO_STATES
    needed: Callable[[Scope, Observation], Mapping[NodeName, int]] | None = None
    timers: Mapping[str, str] = field(default_factory=dict)
    background: frozenset[str] = frozenset()
    clocked: frozenset[str] = frozenset()
    quantities: tuple[Quantity, ...] = ()
    checkpoints: CheckpointNotes | None = None
    knobs: tuple[Knob, ...] = ()
    outage: OutageTerms | None = None
    interval: str = ""
    ends: Callable[[Any], EndNeeds] = lambda _design: EndNeeds()

    def restart(self, site: Site, durable: Any) -> Answer:
        """The first step after a crash."""
        if self.recover is None:
            return self.boot(site), tuple(SetTimer(name) for name in site.timers)
        return self.recover(site, durable)


class Failures(Enum):
    """The failures that a protocol promises to survive; every driver grants exactly these.

    NONE: no node crashes; link faults and early time-outs come as the scope grants them.
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
    sender is up.  Raises Invalid with Failures.NONE: a suspicion takes the place of a crash.
    """

    failures: Failures
    suspicions: bool = False

    def __post_init__(self) -> None:
        if self.suspicions and self.failures is Failures.NONE:
            raise Invalid(
                "Assumptions: a false suspicion takes the place of a crash, and Failures.NONE has "
                "none; give Failures.SINGLE or ANY"
            )


@dataclass(frozen=True, slots=True)
class Promise:
    """The promise that is judged: properties and guarantees, under assumptions.

    claims: a guarantee for each class of operators.  protects: False for the protocol that protects
    nothing; what others do beyond it is overhead.
    """

    claims: Mapping[OperatorClass, Guarantee]
    properties: tuple[Property, ...]
    assumes: Assumptions
    protects: bool = True


@dataclass(frozen=True, slots=True)
class Words:
    """The words for people.  source: where it is published.  finding: what its evidence shows."""

    title: str
    source: str
    finding: str = ""


@dataclass(frozen=True, slots=True)
class Protocol:
    """A recovery protocol: one design of a family (model.family), with its variants.

    variant: empty for the family's own protocol.  design: the value that `deploy` receives; None in
    a family without choices.
    """

    family: str
    behaviour: Behaviour
    promise: Promise
    evidence: Evidence
    words: Words
    design: Any = None
    variant: str = ""
    variants: tuple[Protocol, ...] = ()

    @property
    def name(self) -> str:
        """The full name: FAMILY, or FAMILY:VARIANT."""
        return f"{self.family}:{self.variant}" if self.variant else self.family

    def deploy(self, scope: Scope) -> Deployment:
        """The deployment of this design in a scope."""
        return self.behaviour.deploy(self.design, scope)

    def vary(self, **changes: Any) -> Protocol:
        """This protocol with other values of these fields, each in the part that has the field."""
        for name in ("behaviour", "promise", "evidence", "words"):
            part = changes.get(name, getattr(self, name))
            own = {one.name for one in fields(part)} & {*changes}
            if own:
                changes[name] = replace(part, **{one: changes.pop(one) for one in own})
        return replace(self, **changes)

    def named(self, name: str) -> Protocol:
        """This protocol or one of its variants, by full name; KeyError if there is none."""
        return {p.name: p for p in (self, *self.variants)}[name]
