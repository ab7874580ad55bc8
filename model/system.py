"""A protocol deployed in a scope; its functions are called here, and their answers checked.

Rule of this file: a function of a protocol may be anybody's.  What it raises or returns against
model.core is reported with the node, the input and the reason, and never as a driver's fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from model.core import (
    Arrival,
    Deployment,
    Effect,
    Emit,
    Input,
    Lost,
    NodeName,
    Note,
    Observation,
    Property,
    Quantity,
    Received,
    Role,
    Save,
    Scope,
    Send,
    SetTimer,
    Site,
    Step,
    TimerFired,
    When,
)
from model.costs import CONTROL, Gauges, Memory, Size
from model.errors import Invalid, StepFailed, describe_error, nearest
from model.graph import SINK
from model.protocol import Failures, Protocol

LETS_GO = "without faults, at rest, nodes buffer only what a restart needs"


@dataclass(frozen=True)
class System:
    """A protocol deployed in a scope, with the indices that drivers look up.

    properties: the protocol's, and LETS_GO in a scope without crashes if the protocol says what is
    `needed`.  victims: the nodes that may crash in the scope.  returning: the nodes that restart
    after a crash.  groups: the failure groups that may crash; members in the order of the sites.
    prompt: the prompt sites, in the order of the sites.
    """

    protocol: Protocol
    scope: Scope
    deployment: Deployment = field(init=False)
    sites: Mapping[NodeName, Site] = field(init=False)
    node_at: Mapping[NodeName, int] = field(init=False)
    channel_at: Mapping[tuple[NodeName, NodeName], int] = field(init=False)
    source_at: Mapping[NodeName, int] = field(init=False)
    sink_at: Mapping[NodeName, int] = field(init=False)
    properties: tuple[Property, ...] = field(init=False)
    victims: frozenset[NodeName] = field(init=False)
    returning: frozenset[NodeName] = field(init=False)
    groups: tuple[tuple[NodeName, ...], ...] = field(init=False)
    prompt: tuple[NodeName, ...] = field(init=False)

    def __post_init__(self) -> None:
        try:
            deployment = self.protocol.deploy(self.scope)
        except Invalid:
            raise
        except Exception as error:  # of a protocol, which may be anybody's
            raise Invalid(f"{self.protocol.name}: deploy raises {describe_error(error)}") from error
        if not isinstance(deployment, Deployment):
            raise Invalid(
                f"{self.protocol.name}: deploy returns {deployment!r:.60}; return a Deployment"
            )
        names = [site.name for site in deployment.sites]
        _check(self.protocol, self.scope, deployment)
        own = [name for name, spec in self.scope.graph.nodes if spec is SINK]
        more = [site.name for site in deployment.sites if site.role is Role.SINK]
        sinks = [*own, *(name for name in more if name not in own)]
        victims = deployment.crashable
        if self.scope.victims is not None:
            victims &= self.scope.victims
        derived: dict[str, Any] = {
            "deployment": deployment,
            "sites": {site.name: site for site in deployment.sites},
            "node_at": {name: at for at, name in enumerate(names)},
            "channel_at": {ends: at for at, ends in enumerate(deployment.channels)},
            "source_at": {name: at for at, (name, _) in enumerate(self.scope.inputs)},
            "sink_at": {name: at for at, name in enumerate(sinks)},
            "victims": victims,
            "returning": deployment.crashable
            if deployment.returning is None
            else deployment.returning,
            "groups": tuple(
                tuple(name for name in names if name in group)
                for group in deployment.together
                if group <= victims
            ),
            "prompt": tuple(name for name in names if name in deployment.prompt),
            "properties": self.protocol.promise.properties,
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)
        if self.protocol.behaviour.needed is not None and not self.scope.crashes:
            lets_go = Property(LETS_GO, When.QUIESCENT, self._lets_go, nodes=True)
            object.__setattr__(self, "properties", (*self.properties, lets_go))

    def _lets_go(self, scope: Scope, seen: Observation) -> bool:
        """Does every node at rest buffer at most what the protocol says that a restart needs?

        Where faults are granted, an acknowledgement may be lost, and the next one may not come.
        """
        assert self.protocol.behaviour.needed is not None
        needed = self.protocol.behaviour.needed(scope, seen)
        if unknown := sorted({*needed} - {*self.sites}):
            raise Invalid(f"needed names {unknown[0]!r}, which is no site")
        return all(
            (read_gauges(self, name, state).buffered or 0) <= needed[name]
            for name, state in seen.states
            if name in needed
        )

    def answer(self, name: NodeName, value: Any, input_: Input | None) -> Step:
        """The step of the node, checked; a driver that asks the same again may remember it.

        value: the state, or the durable value if input_ is None: a restart.  Raises StepFailed.
        """
        return check_step(self, name, input_, call_step(self, name, value, input_))


def _check(protocol: Protocol, scope: Scope, deployment: Deployment) -> None:
    """Raise Invalid for a scope or deployment that names an unknown site."""
    if scope.crashes < 0:
        raise Invalid(f"scope: crashes {scope.crashes}; give 0 or more")
    names = [site.name for site in deployment.sites]
    sources = [site.name for site in deployment.sites if site.role is Role.SOURCE]
    sinks = [site.name for site in deployment.sites if site.role is Role.SINK]
    for name, spec in scope.graph.nodes:
        if spec is SINK and name not in sinks:
            raise Invalid(f"{protocol.name}: deploy gives no sink {name!r}, which the graph has")
    for name in names:
        if names.count(name) > 1:
            raise Invalid(f"{protocol.name}: deploy gives two sites called {name!r}")
    for ends in deployment.channels:
        if ends[0] == ends[1]:
            raise Invalid(f"{protocol.name}: deploy gives a channel from {ends[0]!r} to itself")
        for end in ends:
            if end not in names:
                raise Invalid(
                    f"{protocol.name}: deploy gives a channel {ends[0]} -> {ends[1]} and no site "
                    f"{end!r}{nearest(end, names)}"
                )
    for name, _ in scope.inputs:
        if name not in sources:
            raise Invalid(f"inputs: there is no source {name!r}{nearest(name, sources)}")
    _check_crashes(protocol, deployment)
    _check_prompt(protocol, deployment)
    crashable = [name for name in names if name in deployment.crashable]
    for name in sorted((scope.victims or frozenset()) - {*crashable}):
        raise Invalid(f"victims: no node {name!r} that may crash{nearest(name, crashable)}")
    if scope.crashes and protocol.promise.assumes.failures is Failures.NONE:
        raise Invalid(
            f"scope with crashes ({scope.crashes}): {protocol.name} assumes that nothing fails "
            "(Failures.NONE)"
        )


def _check_crashes(protocol: Protocol, deployment: Deployment) -> None:
    """Raise Invalid for a crash, a failure group, a watched channel or a return of no such site."""
    names = [site.name for site in deployment.sites]
    crashable = [name for name in names if name in deployment.crashable]
    for name in sorted(deployment.crashable - {*names}):
        raise Invalid(
            f"{protocol.name}: deploy lets {name!r} crash, which is no site{nearest(name, names)}"
        )
    for group in deployment.together:
        shown = ", ".join(sorted(group))
        for name in sorted(group - {*crashable}):
            raise Invalid(
                f"{protocol.name}: deploy gives a failure group {shown}, and no site {name!r} may "
                f"crash{nearest(name, crashable)}"
            )
        if len(group) < 2:
            raise Invalid(
                f"{protocol.name}: deploy gives a failure group of {len(group)} ({shown}); "
                "give two sites or more"
            )
        if deployment.together.count(group) > 1:
            raise Invalid(f"{protocol.name}: deploy gives the failure group {shown} twice")
    for ends in sorted(deployment.watched - {*deployment.channels}):
        raise Invalid(
            f"{protocol.name}: deploy watches a channel {ends[0]} -> {ends[1]}, and there is none"
        )
    for name in sorted((deployment.returning or frozenset()) - {*crashable}):
        raise Invalid(
            f"{protocol.name}: deploy lets {name!r} return from a crash, and it may not crash"
            f"{nearest(name, crashable)}"
        )


def _check_prompt(protocol: Protocol, deployment: Deployment) -> None:
    """Raise Invalid for a prompt site that is none, or that something else would move."""
    sites = {site.name: site for site in deployment.sites}
    for name in sorted(deployment.prompt):
        gives = f"{protocol.name}: deploy gives a prompt site {name!r}"
        if name not in sites:
            raise Invalid(f"{gives}, which is no site{nearest(name, [*sites])}")
        if name in deployment.crashable:
            raise Invalid(f"{gives} that may crash; a prompt site never does")
        if sites[name].role is Role.SOURCE:
            raise Invalid(f"{gives} that is a source; a prompt site only takes what it is sent")
        if sites[name].timers:
            raise Invalid(f"{gives} with timers; a prompt site only takes what it is sent")
    for name in sorted(deployment.connections):
        gives = f"{protocol.name}: deploy gives a connection {name!r}"
        if name not in deployment.prompt:
            raise Invalid(f"{gives}, which is no prompt site{nearest(name, [*deployment.prompt])}")
        receivers = sum(sender == name for sender, _ in deployment.channels)
        if receivers != 1:
            raise Invalid(f"{gives} with {receivers} receivers; give it one")
    for ends in deployment.channels:
        if deployment.prompt.issuperset(ends):
            raise Invalid(
                f"{protocol.name}: deploy gives a channel {ends[0]} -> {ends[1]} between two "
                "prompt sites; each answers at once, so neither can wait for the other"
            )


def call_step(system: System, name: NodeName, value: Any, input_: Input | None) -> Any:
    """What the protocol's step returns, unchecked; its recovery's first step if input_ is None.

    value: the state, or the durable value.  Raises StepFailed if the step raises.
    """
    behaviour, site = system.protocol.behaviour, system.sites[name]
    try:
        if input_ is None:
            return behaviour.restart(site, value)
        return behaviour.step(site, value, input_)
    except Exception as error:  # of a protocol, which may be anybody's
        raise StepFailed(name, describe(input_), describe_error(error)) from error


def check_step(
    system: System, name: NodeName, input_: Input | None, answer: Any, *, hashed: bool = True
) -> Step:
    """The answer as a Step; raises StepFailed if the answer is no step.

    input_: None for a restart.  hashed: also check that values can be hashed; in long runs, a hash
    of every value would take too long.
    """
    on = describe(input_)
    if not isinstance(answer, tuple) or len(answer) != 2 or not isinstance(answer[1], tuple):
        raise StepFailed(name, on, f"returns {answer!r:.60}, not a pair (state, tuple of effects)")
    for effect in answer[1]:
        if not isinstance(effect, Effect):
            raise StepFailed(name, on, f"has {effect!r:.60} among its effects, which is none")
        if isinstance(effect, Send) and (name, effect.to) not in system.channel_at:
            ends = [receiver for sender, receiver in system.channel_at if sender == name]
            raise StepFailed(
                name, on, f"sends to {effect.to!r}: no channel goes there{nearest(effect.to, ends)}"
            )
        if isinstance(effect, Emit):
            why = faulty_output(system, name, effect.output)
            if why:
                raise StepFailed(name, on, why)
        if isinstance(effect, Note) and not isinstance(effect.what, Quantity):
            raise StepFailed(name, on, f"notes {effect.what!r:.60}, which is no Quantity")
        if isinstance(effect, SetTimer | Save) and name in system.deployment.prompt:
            why = "a prompt site sets no timer, and keeps its state without a save"
            raise StepFailed(name, on, f"has a {type(effect).__name__} among its effects: {why}")
        if isinstance(effect, SetTimer) and not isinstance(effect.name, str):
            raise StepFailed(name, on, f"sets the timer {effect.name!r:.60}; its name is a text")
        if hashed and not isinstance(effect, Note):
            _check_hashable(name, on, effect[-1], f"in {type(effect).__name__}")
    if hashed:
        check_state(name, on, answer[0])
    return Step(*answer)


def faulty_output(system: System, name: NodeName, output: Any) -> str:
    """What is wrong with an output; nothing if a sink emits (input edge, body)."""
    if name not in system.sink_at:
        return "emits an output, which only sinks do"
    edges = range(len(system.sites[name].preds))
    if isinstance(output, tuple) and len(output) == 2 and output[0] in edges:
        return ""
    return f"emits {output!r:.60}, not (number of its input edge, from 0; what it passes on)"


def check_state(name: NodeName, on: str, state: Any) -> None:
    """Raise StepFailed if the state cannot be hashed."""
    _check_hashable(name, on, state, "as the state")


def _check_hashable(name: NodeName, on: str, value: Any, place: str) -> None:
    try:
        hash(value)
    except TypeError as error:
        why = f"gives {value!r:.60} {place}: {error}; give tuples and frozen values"
        raise StepFailed(name, on, why) from error


def describe(input_: Input | None) -> str:
    """Describe an input in a few words; None is a restart."""
    match input_:
        case None:
            return "restart"
        case Received(sender, message):
            return f"{type(message).__name__} from {sender}"
        case TimerFired(timer):
            return f"timer {timer}"
        case Arrival(_, type_, _):
            return f"input {type_}"


def is_satisfied(system: System, property_: Property, seen: Observation) -> bool:
    """Does the property hold of what was seen?  Raises Invalid if it does not answer."""
    seen = seen if property_.nodes else seen._replace(states=())
    try:
        answer: Any = property_.holds(system.scope, seen)
    except Exception as error:  # of a protocol, which may be anybody's
        where = f"{system.protocol.name}: property {property_.name!r}"
        raise Invalid(f"{where} raises {describe_error(error)}") from error
    if answer is not True and answer is not False:
        where = f"{system.protocol.name}: property {property_.name!r}"
        raise Invalid(f"{where} returns {answer!r:.60}; return True or False")
    return answer


def read_gauges(system: System, name: NodeName, state: Any) -> Gauges:
    """The gauges of a node that is up.  Raises Invalid if the protocol returns none."""
    try:
        gauges = system.protocol.behaviour.gauges(system.sites[name], state)
    except Exception as error:  # of a protocol, which may be anybody's
        raise Invalid(f"{system.protocol.name}: gauges raises {describe_error(error)}") from error
    if not isinstance(gauges, Gauges):
        raise Invalid(f"{system.protocol.name}: gauges returns {gauges!r:.60}; return Gauges(...)")
    return gauges


def read_memory(system: System, name: NodeName, state: Any) -> Memory:
    """The contents of the memory of a node that is up.  Raises Invalid if the protocol returns
    none."""
    try:
        memory = system.protocol.behaviour.memory(system.sites[name], state)
    except Exception as error:  # of a protocol, which may be anybody's
        raise Invalid(f"{system.protocol.name}: memory raises {describe_error(error)}") from error
    if not isinstance(memory, Memory):
        raise Invalid(f"{system.protocol.name}: memory returns {memory!r:.60}; return Memory(...)")
    return memory


def size_of(protocol: Protocol, value: Any) -> Size:
    """The size of a message or a durable value.  Raises Invalid if the protocol gives it none.

    A notice, which no protocol sends, is a control message.
    """
    if isinstance(value, Lost):
        return CONTROL
    try:
        size = protocol.behaviour.size(value)
    except Exception as error:  # of a protocol, which may be anybody's
        raise Invalid(
            f"{protocol.name}: size raises {describe_error(error)} for {value!r:.60}"
        ) from error
    if not isinstance(size, Size):
        raise Invalid(f"{protocol.name}: size returns {size!r:.60}; return Size(...)")
    return size


def show_value(protocol: Protocol, value: Any) -> str:
    """What the protocol calls a message, an output or a state.  Raises Invalid if it cannot.

    A notice, which no protocol sends, is "lost NODE".
    """
    if isinstance(value, Lost):
        return f"lost {value.node}"
    try:
        text = protocol.behaviour.show(value)
    except Exception as error:  # of a protocol, which may be anybody's
        raise Invalid(
            f"{protocol.name}: show raises {describe_error(error)} for {value!r:.60}"
        ) from error
    if not isinstance(text, str):
        raise Invalid(f"{protocol.name}: show returns {text!r:.60}; return a str")
    return text
