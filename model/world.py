"""Nodes, FIFO channels, durable values and crashes, composed into one transition system.

Rule of this file: no choice.  A world is a value; model.choices lists the possible actions, `apply`
returns the next world, and every driver is a way to choose an action.

The network and the machines.  A channel is FIFO and loses nothing, but the messages on their way to
a node are lost when the node crashes, and so are messages sent to a node that is down.  Messages
that a node sent before its crash still arrive, or are lost with its connections (`drops_sent`):
both happen.  A crash loses the node's state and timers and keeps its durable values.  A crash may
come between any two effects of a step (`crash_after`), also of the step with which a node recovers;
the effects before the crash have happened.  A step may also end in a crash by itself (`Fail`).

One fault may take down a failure group (`group`): all its members that are up go down at once, and
each restarts by itself.  A watched channel ends with a notice, `Lost`, when its sender goes down
and its receiver is up: the last message there, also where `drops_sent` clears what came before.
A fault may be a false suspicion instead of a crash, where the protocol assumes that: such a notice
comes, and the sender goes on.  A link (model.core.Link) may lose, double, delay and reset messages.

A message to a prompt site is processed at once, at the end of the action that sent it; the site
never crashes.  So one message to it is a transaction: atomic, since its step is; durable, since the
site stays up; and a crash of the sender strikes before or after it, since a crash comes between
effects.  Its answer goes through a channel like any other, and is lost with its receiver.  A prompt
site may send to further prompt sites: they take that within the same action.

The arrivals of a source are a log.  A source that crashes and goes back in it (`Rewind`) reads them
again before any new event comes.  A file of a node holds its last write that is synced, and the
writes after it; a crash loses any of these from some write on, which shows at the restart.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any, NamedTuple

from model.actions import (
    Action,
    Crash,
    Deliver,
    Disturb,
    Disturbance,
    Inject,
    Reread,
    Restart,
    StepAction,
    Suspect,
    Timeout,
)
from model.core import (
    Arrival,
    CancelTimer,
    Effect,
    Emit,
    Fail,
    Input,
    Lost,
    NodeName,
    Note,
    Received,
    Rewind,
    Save,
    Send,
    SetTimer,
    Site,
    Step,
    Sync,
    TimerFired,
    Torn,
)
from model.errors import StepFailed, describe_error
from model.protocol import Protocol
from model.system import System, check_state


class Down(Enum):
    """The state of a crashed node; equal to no other state."""

    DOWN = "down"


DOWN = Down.DOWN


class Node(NamedTuple):
    """A node now.

    durable: the value that it saved; of a site with files, for each file its synced value and then
    its writes that are not synced.  behind: of a source, the number of arrivals that it has still
    to read again.
    """

    state: Any
    durable: Any = None
    timers: tuple[str, ...] = ()
    behind: int = 0


class World(NamedTuple):
    """The whole system at one moment.

    nodes: in the order of the sites.  channels: in the order of the deployment's channels.
    arrivals: in the order of scope.inputs.  outputs: in the order of system.sink_at.
    crashes, early, disturbances: how many more faults of each kind may come (Scope).
    """

    nodes: tuple[Node, ...]
    channels: tuple[tuple[Any, ...], ...]
    arrivals: tuple[tuple[Arrival, ...], ...]
    outputs: tuple[tuple[Any, ...], ...]
    crashes: int
    early: int = 0
    disturbances: int = 0


def initial(system: System) -> World:
    """The world in which every node has just booted and no event has arrived."""
    return World(
        nodes=tuple(boot_node(system.protocol, site) for site in system.deployment.sites),
        channels=((),) * len(system.deployment.channels),
        arrivals=((),) * len(system.source_at),
        outputs=((),) * len(system.sink_at),
        crashes=system.scope.crashes,
        early=system.scope.early,
        disturbances=system.scope.disturbances,
    )


def boot_node(protocol: Protocol, site: Site) -> Node:
    """The node as deployed.  Raises StepFailed if its state cannot be made."""
    try:
        state = protocol.behaviour.boot(site)
    except BaseException as error:  # of a protocol, which may be anybody's
        raise StepFailed(site.name, "boot", describe_error(error)) from error
    check_state(site.name, "boot", state)
    return Node(state, ((None,),) * len(site.files) or None, tuple(sorted({*site.timers})))


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
        part = _asked(system, world)


def _asked(system: System, world: World) -> Deliver | None:
    """The first message that a prompt site has still to take."""
    ends = system.deployment.channels
    return next(
        (
            Deliver(name, sender)
            for name in system.prompt
            for (sender, receiver), channel in zip(ends, world.channels, strict=True)
            if receiver == name and channel
        ),
        None,
    )


def act(system: System, world: World, action: Action) -> World:
    """The world after an enabled action alone: prompt sites have not taken what it sent them."""
    if isinstance(action, Suspect):
        world = world._replace(crashes=world.crashes - 1)
        return _take_effect(system, world, action.node, Send(action.watcher, Lost(action.node)))
    if isinstance(action, Disturb):
        return _disturb(system, world, action)
    if isinstance(action, Crash):
        down = struck(system, world, action)
        return _crash(system, world, down, action.drops_sent)._replace(crashes=world.crashes - 1)
    state, effects = response(system, world, action)
    cut = action.crash_after is not None
    down = struck(system, world, action) if cut or fails(effects) else ()
    world = _begin(system, world, action, state)
    for effect in real_effects(effects)[: action.crash_after]:
        world = _take_effect(system, world, action.node, effect)
    if cut:
        world = world._replace(crashes=world.crashes - 1)
    return _crash(system, world, down) if down else world


def _begin(system: System, world: World, action: StepAction, state: Any) -> World:
    """The world in which the node has taken its input and has its next state: no effect yet."""
    at = system.node_at[action.node]
    node = world.nodes[at]._replace(state=state)
    match action:
        case Inject(name, arrival):
            source = system.source_at[name]
            arrivals = (*world.arrivals[source], arrival)
            world = world._replace(arrivals=replace_item(world.arrivals, source, arrivals))
        case Reread():
            node = node._replace(behind=node.behind - 1)
        case Deliver(name, sender):
            channel = system.channel_at[sender, name]
            left = world.channels[channel][1:]
            world = world._replace(channels=replace_item(world.channels, channel, left))
        case Timeout(_, timer):
            node = node._replace(timers=tuple(name for name in node.timers if name != timer))
            world = world._replace(early=world.early - action.early)
        case Restart(name) if system.sites[name].files:
            survived = survivors(node.durable, action, system.sites[name])
            node = node._replace(durable=tuple((value,) for value in survived))
    return world._replace(nodes=replace_item(world.nodes, at, node))


def response(system: System, world: World, action: StepAction) -> Step:
    """The protocol's answer to the action, before any effect of the action has happened.

    Raises StepFailed if the answer breaks the contract.
    """
    name = action.node
    node, site = world.nodes[system.node_at[name]], system.sites[name]
    if isinstance(action, Restart):
        durable = survivors(node.durable, action, site) if site.files else node.durable
        return system.answer(name, durable, None, durable if site.files else ())
    disk = tuple(writes[-1] for writes in node.durable) if site.files else ()
    return system.answer(name, node.state, input_of(system, world, action), disk)


def survivors(durable: Any, action: Restart, site: Site) -> tuple[Any, ...]:
    """The value of each file of the site that a crash left."""
    return tuple(
        Torn(writes[kept + 1]) if file.name in action.torn else writes[kept]
        for file, writes, kept in zip(site.files, durable, action.kept, strict=True)
    )


def input_of(system: System, world: World, action: Deliver | Timeout | Inject | Reread) -> Input:
    """The input that the action hands to its node."""
    if isinstance(action, Deliver):
        channel = world.channels[system.channel_at[action.sender, action.node]]
        return Received(action.sender, channel[0])
    if isinstance(action, Timeout):
        return TimerFired(action.timer)
    if isinstance(action, Reread):
        behind = world.nodes[system.node_at[action.node]].behind
        return world.arrivals[system.source_at[action.node]][-behind]
    return action.arrival


def real_effects(effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """The effects without the notes and the last `Fail`: a crash may come between any two of
    these."""
    return tuple(effect for effect in effects if not isinstance(effect, Note | Fail))


def divided_effects(
    system: System, world: World, action: Action
) -> tuple[tuple[Effect, ...], tuple[Effect, ...]]:
    """The effects of the action that took place, and those that a crash in it prevented."""
    if isinstance(action, Crash | Suspect | Disturb):
        return (), ()
    effects = real_effects(response(system, world, action).effects)
    cut = len(effects) if action.crash_after is None else action.crash_after
    return effects[:cut], effects[cut:]


def struck(system: System, world: World, action: Action) -> tuple[NodeName, ...]:
    """The nodes that go down in the action; `world` is the one before it."""
    if isinstance(action, Suspect | Disturb):
        return ()
    if not isinstance(action, Crash) and action.crash_after is None:
        if not fails(response(system, world, action).effects):
            return ()
        group = system.bound.get(action.node, ())
    else:
        group = action.group
    return tuple(
        name
        for name in group or (action.node,)
        if name == action.node or not is_down(system, world, name)
    )


def fails(effects: tuple[Effect, ...]) -> bool:
    """Does the node crash by the step with these effects itself?"""
    return bool(effects) and isinstance(effects[-1], Fail)


def is_noticed(system: System, world: World, ends: tuple[NodeName, NodeName]) -> bool:
    """Does the channel end with a notice if its sender has just gone down?"""
    return ends in system.deployment.watched and not is_down(system, world, ends[1])


def replace_item(items: tuple[Any, ...], at: int, item: Any) -> tuple[Any, ...]:
    """The items with another one at position `at`."""
    return (*items[:at], item, *items[at + 1 :])


def is_down(system: System, world: World, name: NodeName) -> bool:
    return world.nodes[system.node_at[name]].state is DOWN


def _crash(
    system: System, world: World, down: tuple[NodeName, ...], drops_sent: bool = False
) -> World:
    """The world after a crash of these nodes, which are up."""
    nodes = tuple(
        Node(DOWN, node.durable) if name in down else node
        for name, node in zip(system.sites, world.nodes, strict=True)
    )
    world = world._replace(nodes=nodes)
    channels = []
    for ends, channel in zip(system.deployment.channels, world.channels, strict=True):
        sender, receiver = ends
        left = () if receiver in down else channel
        if sender in down:
            left = () if drops_sent or system.resets(ends) else left
            if is_noticed(system, world, ends):
                left = (*left, Lost(sender))
        channels.append(left)
    return world._replace(channels=tuple(channels))


def _disturb(system: System, world: World, action: Disturb) -> World:
    """The world after a fault of a link, on which there is a message."""
    at = system.channel_at[action.sender, action.node]
    first, *others = world.channels[at]
    left = {
        Disturbance.LOSE: others,
        Disturbance.DOUBLE: [first, *others, first],
        Disturbance.DELAY: [*others, first],
        Disturbance.RESET: [],
    }[action.how]
    channels = replace_item(world.channels, at, tuple(left))
    back = system.channel_at.get((action.node, action.sender))
    if action.how is Disturbance.RESET and back is not None:
        channels = replace_item(channels, back, ())
    return world._replace(channels=channels, disturbances=world.disturbances - 1)


def _take_effect(system: System, world: World, name: NodeName, effect: Effect) -> World:
    match effect:
        case Send(to, message):
            if is_down(system, world, to):
                return world
            channel = system.channel_at[name, to]
            sent = (*world.channels[channel], message)
            return world._replace(channels=replace_item(world.channels, channel, sent))
        case Emit(output, of):
            sink = system.sink_at[name]
            output = (*output, of) if of else output
            outputs = replace_item(world.outputs, sink, (*world.outputs[sink], output))
            return world._replace(outputs=outputs)
        case Note() | Fail():
            return world
    at = system.node_at[name]
    node = _keep(system, world, name, world.nodes[at], effect)
    return world._replace(nodes=replace_item(world.nodes, at, node))


def _keep(system: System, world: World, name: NodeName, node: Node, effect: Effect) -> Node:
    """The node after an effect on its durable values, its timers or its place in the log."""
    match effect:
        case Save(value) if not system.sites[name].files:
            return node._replace(durable=value)
        case Save():
            return node._replace(durable=write(system.sites[name], node.durable, effect))
        case Sync():
            return node._replace(durable=synced(node.durable))
        case SetTimer(timer):
            return node._replace(timers=tuple(sorted({*node.timers, timer})))
        case CancelTimer(timer):
            return node._replace(timers=tuple(one for one in node.timers if one != timer))
        case Rewind(to):
            read = len(world.arrivals[system.source_at[name]])
            return node._replace(behind=read - min(to, read))
    raise AssertionError(f"{effect} is no effect on a node")


def write(site: Site, durable: Any, save: Save) -> tuple[Any, ...]:
    """The files of a node after a write."""
    return tuple(
        writes if one.name != save.name else (save.value,) if save.synced else (*writes, save.value)
        for one, writes in zip(site.files, durable, strict=True)
    )


def synced(durable: Any) -> tuple[Any, ...]:
    """The files of a node after a sync."""
    return tuple(writes[-1:] for writes in durable)
