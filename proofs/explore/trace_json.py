"""A run as data to show to people: who did what when, and which message went where.

Rule of this file: no knowledge of any protocol.  The names of messages and states come from
Protocol.show, the effects come from model.world, and the result is JSON.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, TypeAlias

import networkx as nx

from model.core import Arrival, Emit, Lost, NodeName, Send, Site
from model.events import Body
from model.protocol import Protocol
from model.system import System, read_gauges, show_value, size_of
from model.world import (
    DOWN,
    Action,
    Crash,
    Deliver,
    Inject,
    Node,
    Restart,
    Suspect,
    Timeout,
    World,
    is_noticed,
    real_effects,
    response,
    struck,
    unfold,
)
from proofs.explore.explorer import Trace

Channel: TypeAlias = tuple[NodeName, NodeName]


def story(trace: Trace, circle: int = 0) -> dict[str, Any]:
    """The run as {"lanes": [node], "moments": [moment], "circle": how many of the last moments
    repeat without end}; a moment for every action and for every step of a prompt site, in order.
    circle: how many of the last actions do.

    A message is lost if its receiver is down at the time of the send, or if a crash empties the
    channel before the receiver takes the message.  The notice of a crash is a message that the node
    sends as it goes down.  An action whose step failed is the last moment, without effects.
    """
    system = trace.system
    under_way: dict[Channel, deque[tuple[int, dict[str, Any]]]] = {
        ends: deque() for ends in system.deployment.channels
    }
    moments: list[dict[str, Any]] = []
    parts = [
        tuple(unfold(system, world, action))
        for action, world, _ in zip(trace.actions, trace.worlds, trace.worlds[1:], strict=False)
    ]
    repeated = sum(map(len, parts[len(parts) - circle :]))
    for at, (action, before, after) in enumerate(chain.from_iterable(parts)):
        name = action.node
        came_from = None
        if isinstance(action, Deliver):
            sent_at, _ = under_way[action.sender, name].popleft()
            came_from = {"node": action.sender, "sent_at": sent_at}
        sends: list[dict[str, Any]] = []
        emits: list[str] = []
        for effect in _effects_of(system, before, action):
            if isinstance(effect, Send):
                sent = _send_fields(
                    system.protocol, effect, lost=_is_down(system, before, effect.to)
                )
                sends.append(sent)
                if not sent["lost"]:
                    under_way[name, effect.to].append((at, sent))
            elif isinstance(effect, Emit):
                emits.append(_show_output(system.protocol, system.sites[name], effect.output))
        down = struck(system, before, action)
        for ends, channel in under_way.items():
            suspected = isinstance(action, Suspect) and ends == action
            if suspected or (ends[0] in down and is_noticed(system, after, ends)):
                notice = _send_fields(system.protocol, Send(ends[1], Lost(ends[0])), lost=False)
                sends.append({**notice, "by": ends[0]})
                channel.append((at, sends[-1]))
            while len(channel) > len(after.channels[system.channel_at[ends]]):  # gone in a crash
                _, sent = channel.popleft()
                sent["lost"] = True
        moments.append(
            {
                "node": name,
                "kind": type(action).__name__.lower(),
                "label": _label(system, before, action),
                "cut": _cut(action),
                "with": [other for other in down if other != name],
                "from": came_from,
                "sends": sends,
                "emits": emits,
                **_state_fields(system, name, _node(system, after, name)),
            }
        )
    if trace.worlds and len(trace.actions) == len(trace.worlds):  # else even a boot failed
        moments.append(_failed_moment(system, trace.worlds[-1], trace.actions[-1], under_way))
    return {"lanes": _lanes(system), "moments": moments, "circle": repeated}


def _failed_moment(
    system: System,
    world: World,
    action: Action,
    under_way: Mapping[Channel, deque[tuple[int, dict[str, Any]]]],
) -> dict[str, Any]:
    came_from = None
    if isinstance(action, Deliver):
        sent_at, _ = under_way[action.sender, action.node].popleft()
        came_from = {"node": action.sender, "sent_at": sent_at}
    return {
        "node": action.node,
        "kind": type(action).__name__.lower(),
        "label": _label(system, world, action),
        "cut": None,
        "with": [],
        "from": came_from,
        "sends": [],
        "emits": [],
        "state": "this step fails",
        "windows": None,
        "backup": None,
    }


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
    if isinstance(action, Crash | Suspect):
        return ()
    return real_effects(response(system, world, action).effects)[: _cut(action)]


def _cut(action: Action) -> int | None:
    """After how many effects of the step a crash strikes; None: there is no crash in a step."""
    return None if isinstance(action, Crash | Inject | Suspect) else action.crash_after


def _send_fields(protocol: Protocol, send: Send, *, lost: bool) -> dict[str, Any]:
    message = send.message
    label = show_value(protocol, message) or type(message).__name__
    return {
        "to": send.to,
        "label": label,
        "lost": lost,
        "kind": size_of(protocol, message).kind.value,
    }


def _label(system: System, world: World, action: Action) -> str:
    match action:
        case Deliver(node, sender):
            message = world.channels[system.channel_at[sender, node]][0]
            return show_value(system.protocol, message) or type(message).__name__
        case Timeout():
            return action.timer
        case Inject():
            return _arrival(action.arrival)
        case Crash(_, drops_sent, group):
            return ("their" if group else "its") + " messages lost" if drops_sent else ""
        case Restart():
            return ""
        case Suspect(_, watcher):
            return f"suspected by {watcher}"


def _state_fields(system: System, name: NodeName, node: Node) -> dict[str, Any]:
    """The fields of a moment for the node's state, in words and gauges; empty while it is down."""
    if node.state is DOWN:
        return {"state": "", "windows": None, "backup": None}
    gauges = read_gauges(system, name, node.state)
    return {
        "state": show_value(system.protocol, node.state),
        "windows": gauges.windows,
        "backup": gauges.buffered,
    }


def _show_output(protocol: Protocol, site: Site, output: Any) -> str:
    """A result as the application sees it, with its edge if the sink has several edges."""
    if name := show_value(protocol, output):
        return name
    edge, body = output
    text = _body(body) if isinstance(body, Body) else str(body)
    return text if len(site.preds) == 1 else f"{text} from {site.preds[edge]}"


def _arrival(arrival: Arrival) -> str:
    about = [f"gap {arrival.gap}", *_attributes(arrival.data)]
    return f"{arrival.type} ({', '.join(about)})"


def _body(body: Body) -> str:
    """The text "match@3(a@1 b@3)": type, time, and the events or attributes inside."""
    inside = [_body(item) for item in body.data if isinstance(item, Body)]
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
