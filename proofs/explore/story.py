"""A run as a story to show to people: each action with its node, and the way of each message.

Rule of this file: no knowledge of any protocol.  The names of messages and states come from
Protocol.show, the effects come from model.world.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import networkx as nx

from model.actions import (
    Action,
    Crash,
    Deliver,
    Disturb,
    Disturbance,
    Restart,
    StepAction,
    Suspect,
)
from model.core import Effect, Emit, Lost, NodeName, Save, Send
from model.results.story import (
    MomentKind,
    SentFrom,
    Story,
    StoryMessage,
    StoryMoment,
    StoryRead,
)
from model.system import System, read_gauges
from model.words import own_words
from model.world import (
    DOWN,
    Node,
    World,
    divided_effects,
    is_noticed,
    struck,
    unfold,
)
from proofs.explore.explorer import Trace
from proofs.explore.moment_words import (
    changes_of,
    label_of,
    message_of,
    reads_of,
    show_output,
    shows_states,
    undone,
    write_of,
)

Channel: TypeAlias = tuple[NodeName, NodeName]


def story(trace: Trace, circle: int = 0) -> Story:
    """The run as a story (`chronicle`)."""
    return chronicle(trace, circle).story


class SentMessage(NamedTuple):
    """A message on its way from a node to another one.  sent: the moment that sent it.  ended: the
    one in which it was taken or lost; None: it is still under way."""

    from_: NodeName
    message: StoryMessage
    sent: int
    ended: int | None


class Chronicle(NamedTuple):
    """A run as a story, and every message of the run; a doubled one is two messages."""

    story: Story
    messages: tuple[SentMessage, ...]


def chronicle(trace: Trace, circle: int = 0) -> Chronicle:
    """The chronicle of a run: a moment for every action and for every step of a prompt site, in
    order, and the messages in the order in which they were sent.

    circle: the number of the last actions that repeat without end.

    A message is lost if its receiver is down at the time of the send, or if a crash empties the
    channel before the receiver takes the message.  The notice of a crash is a message that the node
    sends as it goes down.  An action whose step failed is the last moment, without effects.
    """
    parts = [
        tuple(unfold(trace.system, world, action))
        for action, world, _ in zip(trace.actions, trace.worlds, trace.worlds[1:], strict=False)
    ]
    found = _Moments(trace.system, shows_states(trace.system, trace.worlds))
    for steps in parts:
        for at, (action, before, after) in enumerate(steps):
            found.add(action, before, after, part=at > 0)
    if trace.worlds and len(trace.actions) == len(trace.worlds):  # else even a boot failed
        found.add_failed(trace.worlds[-1], trace.actions[-1])
    repeated = sum(map(len, parts[len(parts) - circle :]))
    whole = Story(tuple(_lanes(trace.system)), found.finished(), repeated)
    sent = (SentMessage(one.from_, one.message, one.since, one.ended) for one in found.sent)
    return Chronicle(whole, tuple(sent))


@dataclass(slots=True)
class _Sent:
    """A message that a moment sent; it may still get lost.  since: the moment since which it is
    under way: of a copy, the one that doubled it."""

    at: int
    from_: NodeName
    message: StoryMessage
    since: int
    ended: int | None = None


class _Moments:
    """The moments so far, the messages that each sent, and those still under way.

    states: does the protocol show states itself?  saved: for each node, the files that it saved.
    """

    def __init__(self, system: System, states: bool) -> None:
        self.system = system
        self.states = states
        self.saved: dict[NodeName, set[str]] = {name: set() for name in system.sites}
        self.moments: list[StoryMoment] = []
        self.sends: list[list[_Sent]] = []
        self.sent: list[_Sent] = []
        self.under_way: dict[Channel, deque[_Sent]] = {
            ends: deque() for ends in system.deployment.channels
        }

    def add(self, action: Action, before: World, after: World, *, part: bool) -> None:
        """Add the moment of an action between two worlds, or of a part of the action."""
        system, name, protocol = self.system, action.node, self.system.protocol
        from_ = self._take(action)
        self.sends.append([])
        emits, writes = [], []
        done, prevented = divided_effects(system, before, action)
        for effect in done:
            if isinstance(effect, Send):
                lost = _is_down(system, before, effect.to)
                self._send((name, effect.to), message_of(protocol, effect, lost=lost))
            elif isinstance(effect, Emit):
                emits.append(show_output(protocol, system.sites[name], effect.output))
            elif write := write_of(
                protocol, system.sites[name], _node(system, before, name), effect
            ):
                writes.append(write)
        down = struck(system, before, action)
        self._notice(action, down, after)
        node = _node(system, after, name)
        gauges = None if node.state is DOWN else read_gauges(system, name, node.state)
        changed = "" if self.states else changes_of(action, _node(system, before, name), node)
        self.moments.append(
            StoryMoment(
                node=name,
                kind=_kind(action),
                label=label_of(system, before, action),
                part=part,
                cut=_cut(action),
                undone=undone(system, system.sites[name], prevented),
                fails=isinstance(action, StepAction) and _cut(action) is None and bool(down),
                with_=tuple(other for other in down if other != name),
                from_=from_,
                emits=tuple(emits),
                writes=tuple(writes),
                reads=self._reads(before, action, (*done, *prevented)),
                changes=changed,
                state=own_words(protocol, node.state) if gauges else "",
                windows=gauges and gauges.windows,
                backup=gauges and gauges.buffered,
            )
        )

    def add_failed(self, world: World, action: Action) -> None:
        """Add the moment of an action whose step failed."""
        from_ = self._take(action)
        label = label_of(self.system, world, action)
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

    def _reads(
        self, before: World, action: Action, effects: Iterable[Effect]
    ) -> tuple[StoryRead, ...]:
        """The values that a restart reads; note the files to which the step saves."""
        saved = self.saved[action.node]
        saves = {effect.name for effect in effects if isinstance(effect, Save)}
        found: tuple[StoryRead, ...] = ()
        if isinstance(action, Restart):
            found = tuple(
                reads_of(self.system, _node(self.system, before, action.node), action, saved)
            )
        saved |= saves
        return found

    def _take(self, action: Action) -> SentFrom | None:
        if not isinstance(action, Deliver):
            return None
        taken = self.under_way[action.sender, action.node].popleft()
        taken.ended = len(self.moments)
        return SentFrom(action.sender, taken.at)

    def _send(self, ends: Channel, message: StoryMessage) -> None:
        """Send a message in the moment that is being added."""
        now = len(self.moments)
        sent = _Sent(now, ends[0], message, now, now if message.lost else None)
        self.sends[-1].append(sent)
        self.sent.append(sent)
        if not message.lost:
            self.under_way[ends].append(sent)

    def _notice(self, action: Action, down: Iterable[NodeName], after: World) -> None:
        """Send the notices of nodes that go down or are suspected; mark the messages that a crash
        has lost."""
        for ends, channel in self.under_way.items():
            suspected = isinstance(action, Suspect) and ends == action
            if suspected or (ends[0] in down and is_noticed(self.system, after, ends)):
                notice = message_of(self.system.protocol, Send(ends[1], Lost(ends[0])), lost=False)
                self._send(ends, replace(notice, by=ends[0]))
            if isinstance(action, Disturb) and ends == (action.sender, action.node):
                self._disturb(channel, action.how)
            while len(channel) > len(after.channels[self.system.channel_at[ends]]):
                sent = channel.popleft()
                sent.message = replace(sent.message, lost=True)
                sent.ended = len(self.moments)

    def _disturb(self, channel: deque[_Sent], how: Disturbance) -> None:
        """Double or delay the first message; those that are lost are marked by who calls."""
        if how is Disturbance.DOUBLE:
            first = channel[0]
            copy = _Sent(first.at, first.from_, first.message, since=len(self.moments))
            channel.append(copy)  # a loss of the copy is not drawn
            self.sent.append(copy)
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


def _cut(action: Action) -> int | None:
    """After how many effects of the step a crash strikes; None: there is no crash in a step."""
    return None if isinstance(action, Crash | Suspect | Disturb) else action.crash_after


def _node(system: System, world: World, name: NodeName) -> Node:
    return world.nodes[system.node_at[name]]


def _is_down(system: System, world: World, name: NodeName) -> bool:
    return _node(system, world, name).state is DOWN
