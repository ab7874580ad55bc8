"""The words for a moment of a story: its input, messages, results, writes and reads.

Rule of this file: no order of moments; each word is of one action in one world.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from model.actions import (
    Action,
    Crash,
    Deliver,
    Disturb,
    Disturbance,
    Inject,
    Reread,
    Restart,
    Suspect,
    Timeout,
)
from model.core import (
    Arrival,
    CancelTimer,
    Effect,
    Emit,
    Rewind,
    Save,
    Send,
    SetTimer,
    Site,
    Sync,
    Torn,
)
from model.events import Body
from model.protocol import Protocol
from model.results.story import StoryMessage, StoryRead, StoryWrite, WriteKind
from model.system import System, size_of
from model.words import changes, generic, own_words, show_value
from model.world import DOWN, Node, World, input_of, survivors

_RESULT = 40
"""The length of the words for a result that is no Body and that the protocol does not show."""


def label_of(system: System, world: World, action: Action) -> str:
    """The input of the action, or the fault."""
    match action:
        case Deliver(node, sender):
            message = world.channels[system.channel_at[sender, node]][0]
            return show_value(system.protocol, message)
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
            if how is Disturbance.RESET:
                return f"connection with {sender} reset"
            return f"{show_value(system.protocol, message)} of {sender} {how.value}"


def message_of(protocol: Protocol, send: Send, *, lost: bool) -> StoryMessage:
    """The message that is sent."""
    label = show_value(protocol, send.message)
    return StoryMessage(send.to, label, lost, size_of(protocol, send.message).kind)


def show_output(protocol: Protocol, site: Site, output: Any) -> str:
    """A result as the application sees it, with its edge if the sink has several edges."""
    if name := own_words(protocol, output):
        return name
    edge, body = output
    text = show_body(body) if isinstance(body, Body) else generic(body, _RESULT)
    return text if len(site.preds) == 1 else f"{text} from {site.preds[edge]}"


def write_of(protocol: Protocol, site: Site, before: Node, effect: Effect) -> StoryWrite | None:
    """The effect on the durable values of the node or its place in the log; None: it has none.

    A long value that the protocol does not show is shown by the fields that changed.
    """
    match effect:
        case Save(value, file, synced):
            label = show_value(protocol, value)
            if label.endswith("…") and not own_words(protocol, value):
                at = [one.name for one in site.files].index(file) if site.files else 0
                last = before.durable[at][-1] if site.files else before.durable
                label = changes(last, value) or label
            return StoryWrite(WriteKind.SAVE if synced else WriteKind.WRITE, label, file)
        case Sync():
            return StoryWrite(WriteKind.SYNC)
        case Rewind(to):
            return StoryWrite(WriteKind.REWIND, str(to))
    return None


def undone(system: System, site: Site, effects: Iterable[Effect]) -> str:
    """The first of the effects that a crash prevented; not a timer, since the crash ends it."""
    lasting = (one for one in effects if not isinstance(one, SetTimer | CancelTimer))
    return next((describe_effect(system, site, one) for one in lasting), "")


def describe_effect(system: System, site: Site, effect: Effect) -> str:
    """The effect in words, as a thing that a node is doing; "" of a ghost."""
    match effect:
        case Save(value):
            return f"saving {show_value(system.protocol, value)}"
        case Sync():
            return "syncing"
        case Send(to, message):
            return f"sending {show_value(system.protocol, message)} to {to}"
        case Emit(output):
            return f"emitting {show_output(system.protocol, site, output)}"
        case Rewind(to):
            return f"going back to place {to}"
        case SetTimer(timer):
            return f"setting the timer {timer}"
        case CancelTimer(timer):
            return f"ending the timer {timer}"
    return ""


def reads_of(
    system: System, node: Node, action: Restart, saved: Iterable[str]
) -> Iterator[StoryRead]:
    """The durable values that a restart reads back; none if the node simply boots again.

    saved: the files in which the node has saved anything, or was about to; "" for the only value.
    """
    site, protocol = system.sites[action.node], system.protocol
    if protocol.behaviour.recover is None:
        return
    files = [file.name for file in site.files] or [""]
    values = survivors(node.durable, action, site) if site.files else (node.durable,)
    for file, value in zip(files, values, strict=True):
        if isinstance(value, Torn):
            yield StoryRead(f"torn {show_value(protocol, value.value)}", file)
        elif value is not None:
            yield StoryRead(show_value(protocol, value), file)
        elif file in saved:
            yield StoryRead("", file)


def shows_states(system: System, worlds: Iterable[World]) -> bool:
    """Does the protocol itself have words for any state in these worlds?"""
    return any(
        node.state is not DOWN and own_words(system.protocol, node.state)
        for world in worlds
        for node in world.nodes
    )


def changes_of(action: Action, before: Node, after: Node) -> str:
    """The fields of the state that an action changed; "" in a crash and in a restart, and where a
    source takes an event."""
    if isinstance(action, Inject | Reread) or DOWN in (before.state, after.state):
        return ""
    return changes(before.state, after.state)


def _left(site: Site, kept: tuple[int, ...], torn: tuple[str, ...]) -> str:
    """The writes without a sync that survived a crash, by file."""
    found = [
        f"{file.name} {number}" for file, number in zip(site.files, kept, strict=True) if number
    ]
    texts = [f"writes kept: {', '.join(found)}"] if found else []
    return "; ".join([*texts, *(f"{name} torn" for name in torn)])


def _arrival(arrival: Arrival) -> str:
    about = [f"gap {arrival.gap}", *_attributes(arrival.data)]
    return f"{arrival.type} ({', '.join(about)})"


def show_body(body: Body) -> str:
    """The text "match@3(a@1 b@3)": type, time, and the events or attributes inside."""
    given: Any = body.data  # of a protocol, which may be anybody's
    data = given if isinstance(given, tuple) else (given,)
    inside = [show_body(item) for item in data if isinstance(item, Body)]
    inside += _attributes(item for item in data if not isinstance(item, Body))
    return f"{body.type}@{body.time}" + (f"({' '.join(inside)})" if inside else "")


def _attributes(data: Iterable[Any]) -> list[str]:
    """The data as texts: (attribute, value) pairs as name=value, anything else by `str`."""
    return [
        f"{item[0]}={item[1]}" if isinstance(item, tuple) and len(item) == 2 else str(item)
        for item in data
    ]
