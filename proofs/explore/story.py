"""A run as a story to show to people: each action with its node, and the way of each message.

Rule of this file: no knowledge of any protocol.  The names of messages and states come from
Protocol.show, the effects come from model.world.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeAlias

import networkx as nx

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
from model.core import Arrival, Emit, Lost, NodeName, Send, Site
from model.events import Body
from model.protocol import Protocol
from model.results.story import MomentKind, SentFrom, Story, StoryMessage, StoryMoment
from model.system import System, read_gauges, show_value, size_of
from model.world import (
    DOWN,
    Node,
    World,
    input_of,
    is_noticed,
    real_effects,
    response,
    struck,
    unfold,
)
from proofs.explore.explorer import Trace

Channel: TypeAlias = tuple[NodeName, NodeName]


def story(trace: Trace, circle: int = 0) -> Story:
    """The run as a story: a moment for every action and for every step of a prompt site, in order.

    circle: the number of the last actions that repeat without end.

    A message is lost if its receiver is down at the time of the send, or if a crash empties the
    channel before the receiver takes the message.  The notice of a crash is a message that the node
    sends as it goes down.  An action whose step failed is the last moment, without effects.
    """
    parts = [
        tuple(unfold(trace.system, world, action))
        for action, world, _ in zip(trace.actions, trace.worlds, trace.worlds[1:], strict=False)
    ]
    chronicle = _Chronicle(trace.system)
    for action, before, after in chain.from_iterable(parts):
        chronicle.add(action, before, after)
    if trace.worlds and len(trace.actions) == len(trace.worlds):  # else even a boot failed
        chronicle.add_failed(trace.worlds[-1], trace.actions[-1])
    repeated = sum(map(len, parts[len(parts) - circle :]))
    return Story(tuple(_lanes(trace.system)), chronicle.finished(), repeated)


@dataclass(slots=True)
class _Sent:
    """A message that a moment sent; it may still get lost."""

    at: int
    message: StoryMessage


class _Chronicle:
    """The moments so far, the messages that each sent, and those still under way."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.moments: list[StoryMoment] = []
        self.sends: list[list[_Sent]] = []
        self.under_way: dict[Channel, deque[_Sent]] = {
            ends: deque() for ends in system.deployment.channels
        }

    def add(self, action: Action, before: World, after: World) -> None:
        """Add the moment of an action between two worlds."""
        system, name = self.system, action.node
        from_ = self._take(action)
        self.sends.append([])
        emits = []
        for effect in _effects_of(system, before, action):
            if isinstance(effect, Send):
                lost = _is_down(system, before, effect.to)
                self._send((name, effect.to), _message(system.protocol, effect, lost=lost))
            elif isinstance(effect, Emit):
                emits.append(show_output(system.protocol, system.sites[name], effect.output))
        down = struck(system, before, action)
        self._notice(action, down, after)
        node = _node(system, after, name)
        gauges = None if node.state is DOWN else read_gauges(system, name, node.state)
        self.moments.append(
            StoryMoment(
                node=name,
                kind=_kind(action),
                label=_label(system, before, action),
                cut=_cut(action),
                fails=isinstance(action, StepAction) and not _cut(action) and bool(down),
                with_=tuple(other for other in down if other != name),
                from_=from_,
                emits=tuple(emits),
                state=show_value(system.protocol, node.state) if gauges else "",
                windows=gauges and gauges.windows,
                backup=gauges and gauges.buffered,
            )
        )

    def add_failed(self, world: World, action: Action) -> None:
        """Add the moment of an action whose step failed."""
        from_ = self._take(action)
        label = _label(self.system, world, action)
        self.sends.append([])
        self.moments.append(
            StoryMoment(action.node, _kind(action), label, from_=from_, state="this step fails")
        )

    def finished(self) -> tuple[StoryMoment, ...]:
        """The moments with their messages."""
        return tuple(
            replace(moment, sends=tuple(sent.message for sent in sends))
            for moment, sends in zip(self.moments, self.sends, strict=True)
        )

    def _take(self, action: Action) -> SentFrom | None:
        if not isinstance(action, Deliver):
            return None
        return SentFrom(action.sender, self.under_way[action.sender, action.node].popleft().at)

    def _send(self, ends: Channel, message: StoryMessage) -> None:
        """Send a message in the moment that is being added."""
        sent = _Sent(len(self.moments), message)
        self.sends[-1].append(sent)
        if not message.lost:
            self.under_way[ends].append(sent)

    def _notice(self, action: Action, down: Iterable[NodeName], after: World) -> None:
        """Send the notices of nodes that go down or are suspected; mark the messages that a crash
        has lost."""
        for ends, channel in self.under_way.items():
            suspected = isinstance(action, Suspect) and ends == action
            if suspected or (ends[0] in down and is_noticed(self.system, after, ends)):
                notice = _message(self.system.protocol, Send(ends[1], Lost(ends[0])), lost=False)
                self._send(ends, replace(notice, by=ends[0]))
            if isinstance(action, Disturb) and ends == (action.sender, action.node):
                self._disturb(channel, action.how)
            while len(channel) > len(after.channels[self.system.channel_at[ends]]):
                sent = channel.popleft()
                sent.message = replace(sent.message, lost=True)

    @staticmethod
    def _disturb(channel: deque[_Sent], how: Disturbance) -> None:
        """Double or delay the first message; those that are lost are marked by who calls."""
        if how is Disturbance.DOUBLE:
            first = channel[0]
            channel.append(_Sent(first.at, first.message))  # a loss of the copy is not drawn
        elif how is Disturbance.DELAY:
            channel.rotate(-1)


def _kind(action: Action) -> MomentKind:
    return MomentKind(type(action).__name__.lower())


def _lanes(system: System) -> list[NodeName]:
    """All nodes in the order of the data's way, also nodes that the graph does not have."""
    names = [*system.sites]
    way = nx.DiGraph()
    way.add_nodes_from(names)
    for site in system.deployment.sites:
        way.add_edges_from((pred, site.name) for pred in site.preds if pred in system.sites)
        way.add_edges_from((site.name, succ) for succ in site.succs if succ in system.sites)
    whole = nx.condensation(way)  # nodes that send each other data stand together
    rank = [min(names.index(name) for name in whole.nodes[at]["members"]) for at in whole]
    order = nx.lexicographical_topological_sort(whole, key=rank.__getitem__)
    return [name for at in order for name in sorted(whole.nodes[at]["members"], key=names.index)]


def _effects_of(system: System, world: World, action: Action) -> tuple[Any, ...]:
    """The effects of the action that took place; a crash in the action drops the later ones."""
    if isinstance(action, Crash | Suspect | Disturb):
        return ()
    return real_effects(response(system, world, action).effects)[: _cut(action)]


def _cut(action: Action) -> int | None:
    """After how many effects of the step a crash strikes; None: there is no crash in a step."""
    return None if isinstance(action, Crash | Suspect | Disturb) else action.crash_after


def _message(protocol: Protocol, send: Send, *, lost: bool) -> StoryMessage:
    message = send.message
    label = show_value(protocol, message) or type(message).__name__
    return StoryMessage(send.to, label, lost, size_of(protocol, message).kind)


def _label(system: System, world: World, action: Action) -> str:
    match action:
        case Deliver(node, sender):
            message = world.channels[system.channel_at[sender, node]][0]
            return show_value(system.protocol, message) or type(message).__name__
        case Timeout():
            return f"{action.timer}, early" if action.early else action.timer
        case Inject():
            return _arrival(action.arrival)
        case Crash(_, drops_sent, group):
            return ("their" if group else "its") + " messages lost" if drops_sent else ""
        case Reread():
            input_ = input_of(system, world, action)
            assert isinstance(input_, Arrival)
            return f"again {_arrival(input_)}"
        case Restart(_, _, _, kept, torn):
            return _left(system.sites[action.node], kept, torn)
        case Suspect(_, watcher):
            return f"suspected by {watcher}"
        case Disturb(node, sender, how):
            message = world.channels[system.channel_at[sender, node]][0]
            shown = show_value(system.protocol, message) or type(message).__name__
            if how is Disturbance.RESET:
                return f"connection with {sender} reset"
            return f"{shown} of {sender} {how.value}"


def _left(site: Site, kept: tuple[int, ...], torn: tuple[str, ...]) -> str:
    """The writes without a sync that survived a crash, by file."""
    found = [
        f"{file.name} {number}" for file, number in zip(site.files, kept, strict=True) if number
    ]
    texts = [f"writes kept: {', '.join(found)}"] if found else []
    return "; ".join([*texts, *(f"{name} torn" for name in torn)])


def show_output(protocol: Protocol, site: Site, output: Any) -> str:
    """A result as the application sees it, with its edge if the sink has several edges."""
    if name := show_value(protocol, output):
        return name
    edge, body = output
    text = show_body(body) if isinstance(body, Body) else str(body)
    return text if len(site.preds) == 1 else f"{text} from {site.preds[edge]}"


def _arrival(arrival: Arrival) -> str:
    about = [f"gap {arrival.gap}", *_attributes(arrival.data)]
    return f"{arrival.type} ({', '.join(about)})"


def show_body(body: Body) -> str:
    """The text "match@3(a@1 b@3)": type, time, and the events or attributes inside."""
    inside = [show_body(item) for item in body.data if isinstance(item, Body)]
    inside += _attributes(item for item in body.data if not isinstance(item, Body))
    return f"{body.type}@{body.time}" + (f"({' '.join(inside)})" if inside else "")


def _attributes(data: Iterable[Any]) -> list[str]:
    """The data as texts: (attribute, value) pairs as name=value, anything else by `str`."""
    return [
        f"{item[0]}={item[1]}" if isinstance(item, tuple) and len(item) == 2 else str(item)
        for item in data
    ]


def _node(system: System, world: World, name: NodeName) -> Node:
    return world.nodes[system.node_at[name]]


def _is_down(system: System, world: World, name: NodeName) -> bool:
    return _node(system, world, name).state is DOWN
