"""Nodes, FIFO channels, durable values and crashes, composed into one transition system.

Rule of this file: a world is a value; `enabled` lists what may happen next in an order that never
varies, `apply` says what then is.  Every driver is a way to choose from `enabled`.

The network and the machines.  A channel is FIFO and loses nothing, but the messages on their way to
a node are lost when it crashes, and so are those sent to it while it is down; messages that a node
sent before it crashed still arrive, or are lost with its connections (`drops_sent`): both happen. A
crash loses the node's state and timers and keeps its durable value.  A crash may come between any
two effects of a step (`crash_after`), also of the step with which a node recovers; those before it
have happened.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, TypeAlias

from model.core import (
    Arrival,
    Deployment,
    Effect,
    Emit,
    Input,
    NodeName,
    Note,
    Observation,
    Protocol,
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


class Down(Enum):
    """In place of the state of a crashed node; equal to nothing else."""

    DOWN = "down"


DOWN = Down.DOWN


class Node(NamedTuple):
    state: Any
    durable: Any = None
    timers: tuple[str, ...] = ()


class World(NamedTuple):
    """All that is.  Orders: nodes as sites, channels as channels, arrivals as scope.inputs,
    outputs as sinks among the sites; crashes is how many may still come."""

    nodes: tuple[Node, ...]
    channels: tuple[tuple[Any, ...], ...]
    arrivals: tuple[tuple[Arrival, ...], ...]
    outputs: tuple[tuple[Any, ...], ...]
    crashes: int


# --- what may happen -------------------------------------------------------------------------
class Deliver(NamedTuple):
    """The message at the head of the channel from `sender` is delivered to the node."""

    node: NodeName
    sender: NodeName
    crash_after: int | None = None


class Timeout(NamedTuple):
    node: NodeName
    timer: str
    crash_after: int | None = None


class Inject(NamedTuple):
    """The outside world hands a source an event; sources do not crash."""

    node: NodeName
    arrival: Arrival


class Crash(NamedTuple):
    """The node crashes between two steps; `drops_sent`: what it
    sent and nobody has received is lost."""

    node: NodeName
    drops_sent: bool = False


class Restart(NamedTuple):
    node: NodeName
    crash_after: int | None = None


Action: TypeAlias = Deliver | Timeout | Inject | Crash | Restart


@dataclass(frozen=True)
class System:
    """A protocol deployed in a scope, with the indices that drivers look up."""

    protocol: Protocol
    scope: Scope
    deployment: Deployment = field(init=False)
    sites: Mapping[NodeName, Site] = field(init=False)
    node_at: Mapping[NodeName, int] = field(init=False)
    channel_at: Mapping[tuple[NodeName, NodeName], int] = field(init=False)
    source_at: Mapping[NodeName, int] = field(init=False)
    sink_at: Mapping[NodeName, int] = field(init=False)
    victims: frozenset[NodeName] = field(init=False)

    def __post_init__(self) -> None:
        deployment = self.protocol.deploy(self.scope)
        names = [site.name for site in deployment.sites]
        sinks = [site.name for site in deployment.sites if site.role is Role.SINK]
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
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)


def initial(system: System) -> World:
    return World(
        nodes=tuple(Node(system.protocol.boot(site)) for site in system.deployment.sites),
        channels=((),) * len(system.deployment.channels),
        arrivals=((),) * len(system.source_at),
        outputs=((),) * len(system.sink_at),
        crashes=system.scope.crashes,
    )


def enabled(system: System, world: World) -> tuple[Action, ...]:
    """Everything that may happen next: progress first, then the outside world, then faults."""
    names = [site.name for site in system.deployment.sites]
    return tuple(
        action
        for kind in (progress, offers, faults)
        for name in names
        for action in kind(system, world, name)
    )


def quiescent(system: System, world: World) -> bool:
    """Is there nothing left that the system does by itself?"""
    return not any(progress(system, world, site.name) for site in system.deployment.sites)


def progress(
    system: System, world: World, name: NodeName
) -> tuple[Deliver | Timeout | Restart, ...]:
    """What the node does by itself."""
    node = world.nodes[system.node_at[name]]
    if node.state is DOWN:
        return (Restart(name),)
    takes = tuple(
        Deliver(name, sender)
        for (sender, receiver), channel in zip(
            system.deployment.channels, world.channels, strict=True
        )
        if receiver == name and channel
    )
    return (*takes, *(Timeout(name, timer) for timer in node.timers))


def offers(system: System, world: World, name: NodeName) -> tuple[Inject, ...]:
    """What the outside world may hand the node next, if it is a source."""
    at = system.source_at.get(name)
    if at is None:
        return ()
    _, inputs = system.scope.inputs[at]
    if len(world.arrivals[at]) >= inputs.length:
        return ()
    return tuple(Inject(name, arrival) for arrival in inputs.alphabet)


def faults(system: System, world: World, name: NodeName) -> tuple[Action, ...]:
    """A crash of the node between two steps, or between any two effects of a step."""
    if not world.crashes or name not in system.victims:
        return ()
    actions: list[Action] = []
    if not _is_down(system, world, name):
        actions += [Crash(name), Crash(name, drops_sent=True)]
    for action in progress(system, world, name):
        points = len(real_effects(response(system, world, action).effects))
        actions += [action._replace(crash_after=crash_after) for crash_after in range(1, points)]
    return tuple(actions)


def apply(system: System, world: World, action: Action) -> World:
    """The world after an enabled action."""
    if isinstance(action, Crash):
        return crashed(system, world, action.node, action.drops_sent)
    if isinstance(action, Inject):
        at = system.source_at[action.node]
        world = world._replace(
            arrivals=replaced(world.arrivals, at, (*world.arrivals[at], action.arrival))
        )
    if isinstance(action, Deliver):
        at = system.channel_at[action.sender, action.node]
        step = response(system, world, action)
        world = world._replace(channels=replaced(world.channels, at, world.channels[at][1:]))
    else:
        step = response(system, world, action)
    at = system.node_at[action.node]
    node = world.nodes[at]
    if isinstance(action, Timeout):
        timers = tuple(timer for timer in node.timers if timer != action.timer)
        node = node._replace(timers=timers)
    world = world._replace(nodes=replaced(world.nodes, at, node._replace(state=step.state)))
    crash_after = None if isinstance(action, Inject) else action.crash_after
    for effect in real_effects(step.effects)[:crash_after]:
        world = _affected(system, world, action.node, effect)
    return world if crash_after is None else crashed(system, world, action.node)


def response(system: System, world: World, action: Deliver | Timeout | Inject | Restart) -> Step:
    """The protocol's answer to the action, before any effect of it has happened."""
    site = system.sites[action.node]
    node = world.nodes[system.node_at[action.node]]
    if isinstance(action, Restart):
        return Step(*system.protocol.recover(site, node.durable))
    return Step(*system.protocol.step(site, node.state, input_of(system, world, action)))


def input_of(system: System, world: World, action: Deliver | Timeout | Inject) -> Input:
    if isinstance(action, Deliver):
        channel = world.channels[system.channel_at[action.sender, action.node]]
        return Received(action.sender, channel[0])
    if isinstance(action, Timeout):
        return TimerFired(action.timer)
    return action.arrival


def real_effects(effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """The effects that happen, and between which a crash may come."""
    return tuple(effect for effect in effects if not isinstance(effect, Note))


def crashed(system: System, world: World, name: NodeName, drops_sent: bool = False) -> World:
    at = system.node_at[name]
    node = Node(DOWN, world.nodes[at].durable)
    channels = tuple(
        () if receiver == name or (drops_sent and sender == name) else channel
        for (sender, receiver), channel in zip(
            system.deployment.channels, world.channels, strict=True
        )
    )
    nodes = replaced(world.nodes, at, node)
    return world._replace(nodes=nodes, channels=channels, crashes=world.crashes - 1)


def observed(world: World) -> Observation:
    return Observation(world.arrivals, world.outputs)


def replaced(items: tuple[Any, ...], at: int, item: Any) -> tuple[Any, ...]:
    return (*items[:at], item, *items[at + 1 :])


def _is_down(system: System, world: World, name: NodeName) -> bool:
    return world.nodes[system.node_at[name]].state is DOWN


def _affected(system: System, world: World, name: NodeName, effect: Effect) -> World:
    at = system.node_at[name]
    match effect:
        case Send(to, message):
            if _is_down(system, world, to):
                return world
            channel = system.channel_at[name, to]
            sent = (*world.channels[channel], message)
            return world._replace(channels=replaced(world.channels, channel, sent))
        case Save(value):
            node = world.nodes[at]._replace(durable=value)
            return world._replace(nodes=replaced(world.nodes, at, node))
        case Emit(output):
            sink = system.sink_at[name]
            outputs = replaced(world.outputs, sink, (*world.outputs[sink], output))
            return world._replace(outputs=outputs)
        case SetTimer(timer):
            node = world.nodes[at]
            node = node._replace(timers=tuple(sorted({*node.timers, timer})))
            return world._replace(nodes=replaced(world.nodes, at, node))
        case Note():
            return world
