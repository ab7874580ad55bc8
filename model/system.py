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
    CancelTimer,
    Deployment,
    Effect,
    Emit,
    Fail,
    Input,
    Lost,
    NodeName,
    Note,
    Observation,
    Property,
    Quantity,
    Received,
    Rewind,
    Role,
    Save,
    Scope,
    Send,
    SetTimer,
    Site,
    Step,
    Sync,
    TimerFired,
    When,
)
from model.costs import CONTROL, Gauges, Memory, Size
from model.errors import (
    Invalid,
    StepFailed,
    brief,
    describe_error,
    nearest,
    pass_ctrl_c,
    words_of,
)
from model.graph import SINK, SOURCE
from model.protocol import Protocol
from model.timers import parse_timer
from model.wiring import check_wiring, in_order

LETS_GO = "without faults, at rest, nodes buffer only what a restart needs"


@dataclass(frozen=True)
class System:
    """A protocol deployed in a scope, with the indices that drivers look up.

    properties: the protocol's, and LETS_GO in a scope without crashes if the protocol says what is
    `needed`.  victims: the nodes that may crash in the scope.  returning: the nodes that restart
    after a crash.  groups: the failure groups that may crash; members in the order of the sites.
    alone: the victims that may crash alone.  bound: of a node in a group whose members never crash
    alone, the members.  prompt: the prompt sites, in an order in which each comes before those to
    which it sends.
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
    alone: frozenset[NodeName] = field(init=False)
    bound: Mapping[NodeName, tuple[NodeName, ...]] = field(init=False)
    prompt: tuple[NodeName, ...] = field(init=False)

    def __post_init__(self) -> None:
        try:
            deployment = self.protocol.deploy(self.scope)
        except Invalid:
            raise
        except BaseException as error:  # of a protocol, which may be anybody's
            raise Invalid(f"{self.protocol.name}: deploy raises {describe_error(error)}") from error
        if not isinstance(deployment, Deployment):
            raise Invalid(
                f"{self.protocol.name}: deploy returns {brief(deployment)}; return a Deployment"
            )
        names = [site.name for site in deployment.sites]
        check_wiring(self.protocol, self.scope, deployment)
        own = [name for name, spec in self.scope.graph.nodes if spec is SINK]
        more = [site.name for site in deployment.sites if site.role is Role.SINK]
        sinks = [*own, *(name for name in more if name not in own)]
        victims = deployment.crashable
        if self.scope.victims is not None:
            victims &= self.scope.victims
        bound = [group for group in deployment.together if not group.alone]
        between = [ends for ends in deployment.channels if deployment.prompt.issuperset(ends)]
        prompt = in_order(names, between)
        derived: dict[str, Any] = {
            "deployment": deployment,
            "sites": {site.name: site for site in deployment.sites},
            "node_at": {name: at for at, name in enumerate(names)},
            "channel_at": {ends: at for at, ends in enumerate(deployment.channels)},
            "source_at": {name: at for at, (name, _) in enumerate(self.scope.inputs)},
            "sink_at": {name: at for at, name in enumerate(sinks)},
            "victims": victims,
            "returning": frozenset(names) if deployment.returning is None else deployment.returning,
            "groups": tuple(
                tuple(name for name in names if name in group.members)
                for group in deployment.together
                if group.members <= victims
            ),
            "alone": victims.difference(*(group.members for group in bound)),
            "bound": {
                name: tuple(other for other in names if other in group.members)
                for group in bound
                for name in group.members
            },
            "prompt": tuple(name for name in prompt if name in deployment.prompt),
            "properties": self.protocol.promise.properties,
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)
        if self.protocol.behaviour.needed is not None and not self.scope.crashes:
            lets_go = Property(LETS_GO, When.QUIESCENT, self._lets_go, nodes=True, outputs=False)
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

    def operators_at(self, name: NodeName) -> tuple[NodeName, ...]:
        """The operators of the graph that this site runs."""
        own = self.scope.graph.specs.get(name, SINK) not in (SOURCE, SINK)
        return self.deployment.runs.get(name, (name,) if own else ())

    def resets(self, ends: tuple[NodeName, NodeName]) -> bool:
        """Does a crash of one end of the channel lose all messages on their way?"""
        links = self.deployment.links
        return any(one in links and links[one].resets for one in (ends, ends[::-1]))

    def answer(
        self, name: NodeName, value: Any, input_: Input | None, disk: tuple[Any, ...] = ()
    ) -> Step:
        """The step of the node, checked; a driver that asks the same again may remember it.

        value: the state, or the durable value if input_ is None: a restart.  disk: the values of
        the files of a site that has files.  Raises StepFailed.
        """
        return check_step(self, name, input_, call_step(self, name, value, input_, disk))


def call_step(
    system: System, name: NodeName, value: Any, input_: Input | None, disk: tuple[Any, ...] = ()
) -> Any:
    """What the protocol's step returns, unchecked; its recovery's first step if input_ is None.

    value: the state, or the durable value.  disk: the values of the files, if the site has files.
    Raises StepFailed if the step raises.
    """
    behaviour, site = system.protocol.behaviour, system.sites[name]
    if disk:
        site = site._replace(disk=disk)
    try:
        if input_ is None:
            return behaviour.restart(site, value)
        return behaviour.step(site, value, input_)
    except BaseException as error:  # of a protocol, which may be anybody's
        raise StepFailed(name, describe(input_), describe_error(error)) from error


_ANYWHERE = (Send, Note, Emit)
"""The effects that check_step judges without a look at the site's files, timers or log."""


def check_step(
    system: System, name: NodeName, input_: Input | None, answer: Any, *, hashed: bool = True
) -> Step:
    """The answer as a Step; raises StepFailed if the answer is no step.

    input_: None for a restart.  hashed: also check that values can be hashed; in long runs, a hash
    of every value would take too long.
    """
    on = describe(input_)
    if not isinstance(answer, tuple) or len(answer) != 2 or not isinstance(answer[1], tuple):
        raise StepFailed(name, on, f"returns {brief(answer)}, not a pair (state, tuple of effects)")
    for place, effect in enumerate(answer[1], start=1):
        if not isinstance(effect, Effect):
            raise StepFailed(name, on, f"has {brief(effect)} among its effects, which is none")
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
            raise StepFailed(name, on, f"notes {brief(effect.what)}, which is no Quantity")
        if not isinstance(effect, _ANYWHERE):
            why = _misplaced(system, name, effect, last=place == len(answer[1]))
            if why:
                kind = type(effect).__name__
                raise StepFailed(name, on, f"has a {kind} among its effects: {why}")
        if hashed and not isinstance(effect, Note):
            _check_hashable(name, on, carried(effect), f"in {type(effect).__name__}")
    if hashed:
        check_state(name, on, answer[0])
    return Step(*answer)


def _misplaced(system: System, name: NodeName, effect: Effect, *, last: bool) -> str:
    """Why this node may not have this effect there; nothing if it may."""
    files = [file.name for file in system.sites[name].files]
    prompt, patient = name in system.prompt, system.deployment.patient
    match effect:
        case SetTimer() | CancelTimer():
            timer: object = effect.name
            if not isinstance(timer, str):
                return f"the timer {brief(timer)}; its name is a text"
            if prompt and parse_timer(timer).kind not in patient:
                return "a prompt site sets patient timers only"
        case Save() | Sync() if prompt:
            return "a prompt site keeps its state without a save"
        case Save(_, file) if files and file not in files:
            return f"the file {file!r}; the site has {', '.join(files)}"
        case Save(_, file, synced) if not files and (file or not synced):
            return "only a site with files (Site.files) names them or leaves out a sync"
        case Sync() if not files:
            return "only a site with files (Site.files) syncs"
        case Fail() if prompt:
            return "a prompt site never crashes"
        case Fail() if not last:
            return "it is the last effect of a step"
        case Rewind(to) if name not in system.source_at or not _is_place(to):
            return f"to {brief(to)}; a source goes back to one of its arrivals, from 0"
    return ""


def _is_place(to: Any) -> bool:
    return isinstance(to, int) and to >= 0


def faulty_output(system: System, name: NodeName, output: Any) -> str:
    """What is wrong with an output; nothing if a sink emits (input edge, body)."""
    if name not in system.sink_at:
        return "emits an output, which only sinks do"
    edges = range(len(system.sites[name].preds))
    if isinstance(output, tuple) and len(output) == 2 and output[0] in edges:
        return ""
    return f"emits {brief(output)}, not (number of its input edge, from 0; what it passes on)"


def check_state(name: NodeName, on: str, state: Any) -> None:
    """Raise StepFailed if the state cannot be hashed."""
    _check_hashable(name, on, state, "as the state")


def carried(effect: Effect) -> Any:
    """The value that an effect hands on: a message, a durable value, an output with its lineage.

    None: it hands on none.
    """
    match effect:
        case Send(_, message):
            return message
        case Save(value):
            return value
        case Emit(output, of):
            return output, of
    return None


def _check_hashable(name: NodeName, on: str, value: Any, place: str) -> None:
    try:
        hash(value)
    except BaseException as error:  # of a value, which may be anybody's
        pass_ctrl_c(error)
        said = f"{place}: {words_of(error)}; give tuples and frozen values"
        raise StepFailed(name, on, f"gives {brief(value)} {said}") from error


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


class _Unasked(tuple[Any, ...]):
    """The part of a world at which a property does not look: who looks nevertheless would see
    nothing there, and hold of every world."""

    __slots__ = ()

    def _refuse(self, *_: object) -> Any:
        raise Invalid(
            "it looks at states or durable values without nodes=True, at messages without "
            "messages=True, or at outputs with outputs=False"
        )

    __iter__ = __len__ = __getitem__ = __contains__ = _refuse


_UNASKED = _Unasked()


def is_satisfied(system: System, property_: Property, seen: Observation) -> bool:
    """Does the property hold of what was seen?  Raises Invalid if it does not answer."""
    if not property_.nodes:
        seen = seen._replace(states=_UNASKED, durable=_UNASKED)
    if not property_.messages:
        seen = seen._replace(messages=_UNASKED)
    if not property_.outputs:
        seen = seen._replace(outputs=_UNASKED)
    try:
        answer: Any = property_.holds(system.scope, seen)
    except Invalid as error:
        where = f"{system.protocol.name}: property {property_.name!r}"
        raise Invalid(f"{where}: {error}") from error
    except BaseException as error:  # of a protocol, which may be anybody's
        where = f"{system.protocol.name}: property {property_.name!r}"
        raise Invalid(f"{where} raises {describe_error(error)}") from error
    if answer is not True and answer is not False:
        where = f"{system.protocol.name}: property {property_.name!r}"
        raise Invalid(f"{where} returns {brief(answer)}; return True or False")
    return answer


def read_gauges(system: System, name: NodeName, state: Any) -> Gauges:
    """The gauges of a node that is up.  Raises Invalid if the protocol returns none."""
    try:
        gauges = system.protocol.behaviour.gauges(system.sites[name], state)
    except BaseException as error:  # of a protocol, which may be anybody's
        raise Invalid(f"{system.protocol.name}: gauges raises {describe_error(error)}") from error
    if not isinstance(gauges, Gauges):
        raise Invalid(f"{system.protocol.name}: gauges returns {brief(gauges)}; return Gauges(...)")
    return gauges


def read_memory(system: System, name: NodeName, state: Any) -> Memory:
    """The contents of the memory of a node that is up.  Raises Invalid if the protocol returns
    none."""
    try:
        memory = system.protocol.behaviour.memory(system.sites[name], state)
    except BaseException as error:  # of a protocol, which may be anybody's
        raise Invalid(f"{system.protocol.name}: memory raises {describe_error(error)}") from error
    if not isinstance(memory, Memory):
        raise Invalid(f"{system.protocol.name}: memory returns {brief(memory)}; return Memory(...)")
    return memory


def size_of(protocol: Protocol, value: Any) -> Size:
    """The size of a message or a durable value.  Raises Invalid if the protocol gives it none.

    A notice, which no protocol sends, is a control message.
    """
    if isinstance(value, Lost):
        return CONTROL
    try:
        size = protocol.behaviour.size(value)
    except BaseException as error:  # of a protocol, which may be anybody's
        raise Invalid(
            f"{protocol.name}: size raises {describe_error(error)} for {brief(value)}"
        ) from error
    if not isinstance(size, Size):
        raise Invalid(f"{protocol.name}: size returns {brief(size)}; return Size(...)")
    return size
