"""Nodes, FIFO channels, durable values and crashes, composed into one transition system.

Rule of this file: no choice.  A world is a value; `enabled` lists the possible actions in an order
that never varies, `apply` returns the next world, and every driver is a way to choose an action.

The network and the machines.  A channel is FIFO and loses nothing, but the messages on their way to
a node are lost when the node crashes, and so are messages sent to a node that is down.  Messages
that a node sent before its crash still arrive, or are lost with its connections (`drops_sent`):
both happen.  A crash loses the node's state and timers and keeps its durable value.  A crash may
come between any two effects of a step (`crash_after`), also of the step with which a node recovers;
the effects before the crash have happened.

One fault may take down a failure group (`group`): all its members that are up go down at once, and
each restarts by itself.  A watched channel ends with a notice, `Lost`, when its sender goes down
and its receiver is up: the last message there, also where `drops_sent` clears what came before.
A fault may be a false suspicion instead of a crash, where the protocol assumes that: such a notice
comes, and the sender goes on.

A message to a prompt site is processed at once, at the end of the action that sent it; the site
never crashes.  So one message to it is a transaction: atomic, since its step is; durable, since the
site stays up; and a crash of the sender strikes before or after it, since a crash comes between
effects.  Its answer goes through a channel like any other, and is lost with its receiver.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any, NamedTuple, TypeAlias

from model.core import (
    Arrival,
    Effect,
    Emit,
    Input,
    Lost,
    NodeName,
    Note,
    Received,
    Save,
    Send,
    SetTimer,
    Site,
    Step,
    TimerFired,
)
from model.errors import StepFailed, describe_error
from model.protocol import Failures, Protocol
from model.system import System, check_state


class Down(Enum):
    """The state of a crashed node; equal to no other state."""

    DOWN = "down"


DOWN = Down.DOWN


class Node(NamedTuple):
    state: Any
    durable: Any = None
    timers: tuple[str, ...] = ()


class World(NamedTuple):
    """The whole system at one moment.

    nodes: in the order of the sites.  channels: in the order of the deployment's channels.
    arrivals: in the order of scope.inputs.  outputs: in the order of system.sink_at.
    crashes: how many more may come.
    """

    nodes: tuple[Node, ...]
    channels: tuple[tuple[Any, ...], ...]
    arrivals: tuple[tuple[Arrival, ...], ...]
    outputs: tuple[tuple[Any, ...], ...]
    crashes: int


# --- what may happen -------------------------------------------------------------------------
class Deliver(NamedTuple):
    """The message at the head of the channel from `sender` is delivered to the node.

    Of all actions that are steps: crash_after: the number of effects after which the node crashes;
    None: it does not.  group: the failure group that goes down in this crash; (): the node alone.
    """

    node: NodeName
    sender: NodeName
    crash_after: int | None = None
    group: tuple[NodeName, ...] = ()


class Timeout(NamedTuple):
    node: NodeName
    timer: str
    crash_after: int | None = None
    group: tuple[NodeName, ...] = ()


class Inject(NamedTuple):
    """The outside world hands an event to a source; sources do not crash."""

    node: NodeName
    arrival: Arrival


class Crash(NamedTuple):
    """The node crashes between two steps; `drops_sent`: messages that the node sent and nobody
    has received are lost.

    group: the failure group that goes down; `node` is its first member that is up.  (): the node
    alone.
    """

    node: NodeName
    drops_sent: bool = False
    group: tuple[NodeName, ...] = ()


class Restart(NamedTuple):
    node: NodeName
    crash_after: int | None = None
    group: tuple[NodeName, ...] = ()


class Suspect(NamedTuple):
    """The watcher gets the notice that the node has crashed, and the node is up."""

    node: NodeName
    watcher: NodeName


Action: TypeAlias = Deliver | Timeout | Inject | Crash | Restart | Suspect


def initial(system: System) -> World:
    """The world in which every node has just booted and no event has arrived."""
    return World(
        nodes=tuple(boot_node(system.protocol, site) for site in system.deployment.sites),
        channels=((),) * len(system.deployment.channels),
        arrivals=((),) * len(system.source_at),
        outputs=((),) * len(system.sink_at),
        crashes=system.scope.crashes,
    )


def boot_node(protocol: Protocol, site: Site) -> Node:
    """The node as deployed.  Raises StepFailed if its state cannot be made."""
    try:
        state = protocol.behaviour.boot(site)
    except Exception as error:  # of a protocol, which may be anybody's
        raise StepFailed(site.name, "boot", describe_error(error)) from error
    check_state(site.name, "boot", state)
    return Node(state, None, tuple(sorted({*site.timers})))


def enabled(system: System, world: World) -> tuple[Action, ...]:
    """All possible actions: progress first, then the outside world, then faults."""
    names = [site.name for site in system.deployment.sites]
    kinds = (progress, offers, faults) if may_fail(system, world) else (progress, offers)
    return tuple(action for kind in kinds for name in names for action in kind(system, world, name))


def may_fail(system: System, world: World) -> bool:
    """Does the protocol's assumption grant a fault in this world?  Which faults: see `faults`.

    Failures.SINGLE grants the first one always, further ones only when the system is at rest.
    """
    if not world.crashes:
        return False
    first = world.crashes == system.scope.crashes
    return (
        first
        or system.protocol.promise.assumes.failures is Failures.ANY
        or quiescent(system, world)
    )


def quiescent(system: System, world: World) -> bool:
    """Is the system at rest: does no node do anything more by itself?"""
    return not any(progress(system, world, site.name) for site in system.deployment.sites)


def progress(
    system: System, world: World, name: NodeName
) -> tuple[Deliver | Timeout | Restart, ...]:
    """The actions that the node takes by itself."""
    node = world.nodes[system.node_at[name]]
    if node.state is DOWN:
        return (Restart(name),) if name in system.returning else ()
    takes = tuple(
        Deliver(name, sender)
        for (sender, receiver), channel in zip(
            system.deployment.channels, world.channels, strict=True
        )
        if receiver == name and channel
    )
    return (*takes, *(Timeout(name, timer) for timer in node.timers))


def offers(system: System, world: World, name: NodeName) -> tuple[Inject, ...]:
    """The events that the outside world may hand to the node next, if the node is a source."""
    at = system.source_at.get(name)
    if at is None:
        return ()
    _, inputs = system.scope.inputs[at]
    if len(world.arrivals[at]) >= inputs.length:
        return ()
    return tuple(Inject(name, arrival) for arrival in inputs.alphabet)


def faults(system: System, world: World, name: NodeName) -> tuple[Action, ...]:
    """The faults at the node: its own crashes, those of its failure groups, false suspicions.

    `may_fail` knows whether anything may fail now.
    """
    groups = ((), *(group for group in system.groups if name in group))
    return tuple(a for group in groups for a in faults_of(system, world, name, group))


def faults_of(
    system: System, world: World, name: NodeName, group: tuple[NodeName, ...]
) -> tuple[Action, ...]:
    """The crashes at the node, alone (()) or with a group: between two steps, or between any two
    effects of a step; for the node alone also false suspicions.

    Only these nodes are looked at: a suspicion is lost if its watcher is down.  Between two steps a
    group crashes at its first member that is up, so that no crash is listed twice.
    """
    if not world.crashes or name not in system.victims:
        return ()
    actions: list[Action] = []
    up = (member for member in group or (name,) if not _is_down(system, world, member))
    if next(up, None) == name:
        actions += [Crash(name, False, group), Crash(name, True, group)]
    for action in progress(system, world, name):
        try:
            points = len(real_effects(response(system, world, action).effects))
        except StepFailed:  # `apply` of the action reports this; no step, so no crash in it
            continue
        actions += [
            action._replace(crash_after=crash_after, group=group)
            for crash_after in range(1, points)
        ]
    if system.protocol.promise.assumes.suspicions and actions and not group:
        ends = system.deployment.channels
        watched = (end for end in ends if end[0] == name and end in system.deployment.watched)
        actions += [Suspect(*end) for end in watched if not _is_down(system, world, name)]
    return tuple(actions)


def apply(system: System, world: World, action: Action) -> World:
    """The world after an enabled action."""
    for _, _, after in unfold(system, world, action):
        world = after
    return world


def unfold(system: System, world: World, action: Action) -> Iterator[tuple[Action, World, World]]:
    """The action, then the steps of prompt sites within it: (action, world before, world after)."""
    part: Action | None = action
    while part is not None:
        after = act(system, world, part)
        yield part, world, after
        world = after
        part = next((a for name in system.prompt for a in progress(system, world, name)), None)


def act(system: System, world: World, action: Action) -> World:
    """The world after an enabled action alone: prompt sites have not taken what it sent them."""
    if isinstance(action, Suspect):
        world = world._replace(crashes=world.crashes - 1)
        return _take_effect(system, world, action.node, Send(action.watcher, Lost(action.node)))
    down = struck(system, world, action)
    if isinstance(action, Crash):
        return _crash(system, world, down, action.drops_sent)
    if isinstance(action, Inject):
        at = system.source_at[action.node]
        world = world._replace(
            arrivals=replace_item(world.arrivals, at, (*world.arrivals[at], action.arrival))
        )
    if isinstance(action, Deliver):
        at = system.channel_at[action.sender, action.node]
        step = response(system, world, action)
        world = world._replace(channels=replace_item(world.channels, at, world.channels[at][1:]))
    else:
        step = response(system, world, action)
    at = system.node_at[action.node]
    node = world.nodes[at]
    if isinstance(action, Timeout):
        timers = tuple(timer for timer in node.timers if timer != action.timer)
        node = node._replace(timers=timers)
    world = world._replace(nodes=replace_item(world.nodes, at, node._replace(state=step.state)))
    crash_after = None if isinstance(action, Inject) else action.crash_after
    for effect in real_effects(step.effects)[:crash_after]:
        world = _take_effect(system, world, action.node, effect)
    return _crash(system, world, down) if down else world


def response(system: System, world: World, action: Deliver | Timeout | Inject | Restart) -> Step:
    """The protocol's answer to the action, before any effect of the action has happened.

    Raises StepFailed if the answer breaks the contract.
    """
    name = action.node
    node = world.nodes[system.node_at[name]]
    if isinstance(action, Restart):
        return system.answer(name, node.durable, None)
    return system.answer(name, node.state, input_of(system, world, action))


def input_of(system: System, world: World, action: Deliver | Timeout | Inject) -> Input:
    """The input that the action hands to its node."""
    if isinstance(action, Deliver):
        channel = world.channels[system.channel_at[action.sender, action.node]]
        return Received(action.sender, channel[0])
    if isinstance(action, Timeout):
        return TimerFired(action.timer)
    return action.arrival


def real_effects(effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """The effects without the notes: a crash may come between any two of these."""
    return tuple(effect for effect in effects if not isinstance(effect, Note))


def struck(system: System, world: World, action: Action) -> tuple[NodeName, ...]:
    """The nodes that go down in the action; `world` is the one before it."""
    if isinstance(action, Inject | Suspect):
        return ()
    if not isinstance(action, Crash) and action.crash_after is None:
        return ()
    return tuple(
        name
        for name in action.group or (action.node,)
        if name == action.node or not _is_down(system, world, name)
    )


def is_noticed(system: System, world: World, ends: tuple[NodeName, NodeName]) -> bool:
    """Does the channel end with a notice if its sender has just gone down?"""
    return ends in system.deployment.watched and not _is_down(system, world, ends[1])


def replace_item(items: tuple[Any, ...], at: int, item: Any) -> tuple[Any, ...]:
    """The items with another one at position `at`."""
    return (*items[:at], item, *items[at + 1 :])


def _is_down(system: System, world: World, name: NodeName) -> bool:
    return world.nodes[system.node_at[name]].state is DOWN


def _crash(
    system: System, world: World, down: tuple[NodeName, ...], drops_sent: bool = False
) -> World:
    """The world after a crash of these nodes, which are up."""
    nodes = tuple(
        Node(DOWN, node.durable) if name in down else node
        for name, node in zip(system.sites, world.nodes, strict=True)
    )
    world = world._replace(nodes=nodes, crashes=world.crashes - 1)
    channels = []
    for ends, channel in zip(system.deployment.channels, world.channels, strict=True):
        sender, receiver = ends
        left = () if receiver in down or (drops_sent and sender in down) else channel
        if sender in down and is_noticed(system, world, ends):
            left = (*left, Lost(sender))
        channels.append(left)
    return world._replace(channels=tuple(channels))


def _take_effect(system: System, world: World, name: NodeName, effect: Effect) -> World:
    at = system.node_at[name]
    match effect:
        case Send(to, message):
            if _is_down(system, world, to):
                return world
            channel = system.channel_at[name, to]
            sent = (*world.channels[channel], message)
            return world._replace(channels=replace_item(world.channels, channel, sent))
        case Save(value):
            node = world.nodes[at]._replace(durable=value)
            return world._replace(nodes=replace_item(world.nodes, at, node))
        case Emit(output, of):
            sink = system.sink_at[name]
            output = (*output, of) if of else output
            outputs = replace_item(world.outputs, sink, (*world.outputs[sink], output))
            return world._replace(outputs=outputs)
        case SetTimer(timer):
            node = world.nodes[at]
            node = node._replace(timers=tuple(sorted({*node.timers, timer})))
            return world._replace(nodes=replace_item(world.nodes, at, node))
        case Note():
            return world
