"""The copies of an event along a run: where they are, and the moment in which the last one goes.

Rule of this file: copies word for word.  A number that a node has counted or added up is no copy,
so who says that something is lost needs another reason as well (proofs.explore.culprit.missing).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from model.actions import Deliver, Disturb
from model.core import Emit, NodeName, Save, Send
from model.events import Body
from model.system import System
from model.world import DOWN, World, divided_effects, is_down, struck
from proofs.explore.culprit.run import Part


class CopyPlace(NamedTuple):
    """A node that holds a copy; or the channel to `to` on which a copy is on its way."""

    node: NodeName
    to: NodeName = ""

    def __str__(self) -> str:
        return f"the channel from {self.node} to {self.to}" if self.to else self.node


class Loss(StrEnum):
    """How a copy went."""

    CRASHED = "crashed"
    RECEIVER = "its receiver crashed"
    SENDER = "its sender crashed"
    SENT_DOWN = "sent to a node that was down"
    LINK = "the link lost it"
    LET_GO = "let go"


class Gone(NamedTuple):
    """The moment in which the last copies went.

    place: where the copy was.  of: the node to name: that crashed, was down, or let go.  undone:
    after a crash within a step, the effect that this step had still to have on the copy.
    """

    moment: int
    how: Loss
    place: CopyPlace
    of: NodeName
    undone: str = ""


def holds(value: Any, bodies: AbstractSet[Body]) -> bool:
    """Is one of these bodies somewhere in the value?"""
    if type(value) is Body and value in bodies:
        return True
    if isinstance(value, Mapping):
        return any(holds(one, bodies) for pair in value.items() for one in pair)
    if isinstance(value, (tuple, list, AbstractSet)):
        return any(holds(one, bodies) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        return any(holds(getattr(value, one.name), bodies) for one in fields(value))
    return False


def places(system: System, world: World, bodies: AbstractSet[Body]) -> tuple[CopyPlace, ...]:
    """The places with a copy of one of these bodies."""
    return tuple(_places(system, world, bodies))


def _places(system: System, world: World, bodies: AbstractSet[Body]) -> Iterator[CopyPlace]:
    for name, node in zip(system.sites, world.nodes, strict=True):
        up = node.state is not DOWN
        if (up and holds(node.state, bodies)) or holds(node.durable, bodies):
            yield CopyPlace(name)
    for ends, channel in zip(system.deployment.channels, world.channels, strict=True):
        if holds(channel, bodies):
            yield CopyPlace(*ends)


def last_copy(
    system: System, moments: list[Part], bodies: AbstractSet[Body], arrival: int
) -> tuple[Gone | None, tuple[CopyPlace, ...]]:
    """The moment in which the last copy went for good, if it did, and the places that have one at
    the end.  (None, ()): there never was a copy.

    arrival: the moment in which the event came.
    """
    there = [places(system, after, bodies) for _, _, after in moments]
    if not any(there):
        return _sent_down(system, arrival, moments[arrival], bodies), ()
    if there[-1]:
        return None, there[-1]
    moment = max(at for at, found in enumerate(there) if found) + 1
    return _gone(system, moment, moments[moment], there[moment - 1], bodies), ()


def _gone(
    system: System,
    moment: int,
    part: Part,
    before: tuple[CopyPlace, ...],
    bodies: AbstractSet[Body],
) -> Gone:
    """How the last copies, which were at these places, went in a moment."""
    action, world, _ = part
    down = struck(system, world, action)
    if isinstance(action, Deliver) and action.node in down:
        taken = world.channels[system.channel_at[action.sender, action.node]][0]
        if holds(taken, bodies):
            undone = _undone(system, part, bodies)
            return Gone(moment, Loss.CRASHED, CopyPlace(action.node), action.node, undone)
    for place in before:
        if not place.to and place.node in down:
            return Gone(moment, Loss.CRASHED, place, place.node, _undone(system, part, bodies))
    for place in before:
        if place.to and place.to in down:
            return Gone(moment, Loss.RECEIVER, place, place.to)
        if place.to and place.node in down:
            return Gone(moment, Loss.SENDER, place, place.node)
    if isinstance(action, Disturb):
        return Gone(moment, Loss.LINK, CopyPlace(action.sender, action.node), action.sender)
    sent = _sent_down(system, moment, part, bodies)
    return sent or Gone(moment, Loss.LET_GO, before[0], action.node)


def _sent_down(system: System, moment: int, part: Part, bodies: AbstractSet[Body]) -> Gone | None:
    """A copy that was sent to a node that is down."""
    action, world, _ = part
    done, _ = divided_effects(system, world, action)
    for effect in done:
        if isinstance(effect, Send) and is_down(system, world, effect.to) and holds(effect, bodies):
            return Gone(moment, Loss.SENT_DOWN, CopyPlace(action.node), effect.to)
    return None


def _undone(system: System, part: Part, bodies: AbstractSet[Body]) -> str:
    """The effect on the copy that the step of the node had not had when it crashed."""
    action, world, _ = part
    _, prevented = divided_effects(system, world, action)
    for effect in prevented:
        if holds(effect, bodies):
            match effect:
                case Send():
                    return "sent"
                case Save():
                    return "saved"
                case Emit():
                    return "emitted"
    return ""
