"""Collapsed worlds: a world as one integer, and steps remembered by what they look at.

Rule of this file: nothing is decided here.  What may happen and what it does is model.world's;
this file only makes sure that no question is asked twice.

SPIN's *collapse* compression fits pure steps: every node state, channel content, history and
output that ever occurs is interned, and a world is the vector of their numbers, packed into one
integer.  What a node may do depends on its *view* alone: its own state, its incoming channels, what
it was offered and the crash budget; and of these, on the *focus*: of a channel the first message
alone, of the budget whether there is any.  So for each distinct focus model.world is asked once, on
a world that is empty elsewhere; for each view the answer is kept as a difference and as what is
appended to outgoing channels and outputs.  Appending is remembered likewise, so applying an action
to a packed world is an addition for the node and one for each channel that it sends on.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import replace
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from model.core import Answer, Input, Note, Site
from model.world import (
    DOWN,
    Action,
    Crash,
    Deliver,
    Inject,
    Node,
    Restart,
    System,
    World,
    apply,
    faults,
    initial,
    offers,
    progress,
    real_effects,
    response,
)

CLOSED = "closed"
"""In place of the content of a channel whose receiver is down: what is sent there is lost."""

CLEAR = 0
"""In place of a number of messages to append: the channel loses what it holds."""

ELSEWHERE = Node("elsewhere")


class Overflow(Exception):
    """More distinct values in one field than its bits can number."""


class CrashPoint(NamedTuple):
    """A place where a crash may fall: in the step of `node` `on` an input, after some effects.

    `after` is empty for a crash between two steps.
    """

    node: str
    on: str
    after: tuple[str, ...]

    def __str__(self) -> str:
        if not self.after:
            return f"{self.node}: between steps"
        return f"{self.node}: on {self.on}, after {', '.join(self.after)}"


Move: TypeAlias = tuple[int, tuple[tuple[int, int], ...]]
"""A difference to add, and (channel field, number of the messages) to append."""


class Transitions(NamedTuple):
    """What the node does by itself, and what the world does to it."""

    own: tuple[Move, ...]
    others: tuple[Move, ...]


class CachedEffect(NamedTuple):
    """What an action does in a focus: a difference where the view has the focus's own numbers,
    the values after it where it may have others (by field), and what is sent."""

    difference: int
    after: tuple[tuple[int, Any], ...]
    sent: tuple[tuple[int, int], ...]


class StepCache(NamedTuple):
    """What may happen in any view with this focus; own: so many of it the node does by itself."""

    actions: tuple[Action, ...]
    glimpses: tuple[CachedEffect, ...]
    own: int


class NodeView(NamedTuple):
    """What the actions of one node read and write; what was found, by numbers of the fields.

    fields: the node's first; what varies within a focus last, from `wide` on.
    outgoing: channels and outputs, which are only appended to.
    """

    node: str
    fields: tuple[int, ...]
    wide: int
    pick: Callable[[tuple[int, ...]], tuple[int, ...]]
    outgoing: tuple[int, ...]
    table: dict[tuple[int, ...], Transitions]
    focuses: dict[tuple[int, ...], StepCache]
    actions: dict[tuple[int, ...], tuple[Action, ...]]


class Collapsed:
    """A system, with the tables that grow as it is explored.

    Fields of a world, in order: nodes, channels, arrivals, outputs, crashes.  `bits` is the width
    of a field: 16 or 32.
    """

    def __init__(self, system: System, bits: int = 16) -> None:
        protocol = replace(system.protocol, step=_remembered(system.protocol.step))
        self.system = System(protocol, system.scope)
        system = self.system
        self.bits = bits
        self.points: set[CrashPoint] = set()
        self.hit: set[CrashPoint] = set()
        self.notes: Counter[str] = Counter()
        self._values: list[list[Any]] = []
        self._numbers: list[dict[Hashable, int]] = []
        deployment = system.deployment
        counts = [len(deployment.sites), len(deployment.channels)]
        counts += [len(system.source_at), len(system.sink_at), 1]
        self._starts = [sum(counts[:i]) for i in range(len(counts))]
        self.width = sum(counts)
        for _ in range(self.width):
            self._values.append([])
            self._numbers.append({})
        self._narrow: tuple[dict[int, int], ...] = tuple({} for _ in range(self.width))
        self.appends: tuple[dict[tuple[int, int], int], ...] = tuple({} for _ in range(self.width))
        self._messages: list[tuple[Any, ...]] = [()]  # number 0 is CLEAR
        self._message_numbers: dict[tuple[Any, ...], int] = {}
        self._layout = struct.Struct(f"<{self.width}{'H' if bits == 16 else 'I'}")
        self.views = tuple(self._view(site.name) for site in deployment.sites)
        seen = self._starts[2], self._starts[4]
        self.observation: Callable[[tuple[int, ...]], tuple[int, ...]] = itemgetter(*range(*seen))
        self.initial = self.packed(initial(system))

    # --- worlds and numbers ------------------------------------------------------------------
    def packed(self, world: World) -> int:
        numbers = [self._number(i, value) for i, value in enumerate(self._flat(world))]
        return int.from_bytes(self._layout.pack(*numbers), "little")

    def numbers(self, packed: int) -> tuple[int, ...]:
        return self._layout.unpack(packed.to_bytes(self._layout.size, "little"))

    def world(self, packed: int) -> World:
        values = [self._values[i][number] for i, number in enumerate(self.numbers(packed))]
        return self._folded(values)

    def arrivals_and_outputs(self, numbers: tuple[int, ...]) -> tuple[Any, Any]:
        _, _, arrivals, outputs, end = self._starts
        value = [self._values[arrivals + i][n] for i, n in enumerate(numbers)]
        return tuple(value[: outputs - arrivals]), tuple(value[outputs - arrivals : end])

    def _flat(self, world: World) -> list[Any]:
        channels = [
            CLOSED if world.nodes[self.system.node_at[receiver]].state is DOWN else channel
            for (_, receiver), channel in zip(
                self.system.deployment.channels, world.channels, strict=True
            )
        ]
        return [*world.nodes, *channels, *world.arrivals, *world.outputs, world.crashes]

    def _folded(self, values: list[Any]) -> World:
        nodes, channels, arrivals, outputs, crashes = (
            tuple(values[start:end])
            for start, end in zip(self._starts, [*self._starts[1:], None], strict=True)
        )
        opened = tuple(() if channel is CLOSED else channel for channel in channels)
        return World(nodes, opened, arrivals, outputs, crashes[0])

    def _number(self, field: int, value: Hashable) -> int:
        numbers = self._numbers[field]
        key = (_types(value), value)
        number = numbers.get(key)
        if number is None:
            number = len(numbers)
            if number >> self.bits:
                raise Overflow
            numbers[key] = number
            self._values[field].append(value)
        return number

    # --- views -------------------------------------------------------------------------------
    def _view(self, name: str) -> NodeView:
        system = self.system
        nodes, channels, arrivals, outputs, crashes = self._starts
        ends = system.deployment.channels
        fields = [nodes + system.node_at[name]]
        if name in system.source_at:
            fields.append(arrivals + system.source_at[name])
        wide = len(fields)
        fields += [channels + at for at, (_, receiver) in enumerate(ends) if receiver == name]
        fields.append(crashes)
        outgoing = [channels + at for at, (sender, _) in enumerate(ends) if sender == name]
        if name in system.sink_at:
            outgoing.append(outputs + system.sink_at[name])
        return NodeView(name, tuple(fields), wide, itemgetter(*fields), tuple(outgoing), {}, {}, {})

    def moves(self, view: NodeView, numbers: tuple[int, ...]) -> Transitions:
        """What may happen in a view; `numbers` are those of its fields."""
        wide = view.wide
        narrow = map(self._narrowed, view.fields[wide:], numbers[wide:])
        key = (*numbers[:wide], *narrow)
        focus = view.focuses.get(key)
        if focus is None:
            focus = view.focuses[key] = self._focus(view, key)
        found = tuple(self._move(view, numbers, glimpse) for glimpse in focus.glimpses)
        moves = Transitions(found[: focus.own], found[focus.own :])
        view.table[numbers] = moves
        view.actions[numbers] = focus.actions
        return moves

    def append(self, field: int, content: int, messages: int) -> int:
        """The difference that appending makes to a channel; a closed channel loses it."""
        before = self._values[field][content]
        difference = 0
        if before is not CLOSED:
            kept = () if messages == CLEAR else before
            after = self._number(field, (*kept, *self._messages[messages]))
            difference = (after - content) << (self.bits * field)
        self.appends[field][content, messages] = difference
        return difference

    def successor(self, packed: int, numbers: tuple[int, ...], move: Move) -> int:
        """The world to which a move leads; `numbers` are those of `packed`."""
        difference, sent = move
        after = packed + difference
        for field, messages in sent:
            known = self.appends[field].get((numbers[field], messages))
            after += self.append(field, numbers[field], messages) if known is None else known
        return after

    def _alone(self, view: NodeView, numbers: tuple[int, ...]) -> World:
        """The view's own values, and nothing elsewhere."""
        values: list[Any] = [ELSEWHERE] * self._starts[1]
        values += [()] * (self.width - self._starts[1])
        for field, number in zip(view.fields, numbers, strict=True):
            values[field] = self._values[field][number]
        return self._folded(values)

    def _narrowed(self, field: int, number: int) -> int:
        """The number of what the focus has of a channel or of the crash budget."""
        known = self._narrow[field].get(number)
        if known is None:
            value = self._values[field][number]
            if value is not CLOSED:
                value = min(value, 1) if field == self._starts[4] else value[:1]
            known = self._narrow[field][number] = self._number(field, value)
        return known

    def _focus(self, view: NodeView, numbers: tuple[int, ...]) -> StepCache:
        """What model.world says of a focus; `numbers` are those of the view's fields in it."""
        system = self.system
        world = self._alone(view, numbers)
        own = progress(system, world, view.node)
        others = (*offers(system, world, view.node), *faults(system, world, view.node))
        self._observe(world, view.node, own, others)
        actions = (*own, *others)
        glimpses = tuple(self._glimpse(view, numbers, world, action) for action in actions)
        return StepCache(actions, glimpses, len(own))

    def _glimpse(
        self, view: NodeView, numbers: tuple[int, ...], world: World, action: Action
    ) -> CachedEffect:
        values = self._flat(apply(self.system, world, action))
        difference = 0
        after = []
        for position, (field, number) in enumerate(zip(view.fields, numbers, strict=True)):
            if values[field] is self._values[field][number]:
                continue
            if position < view.wide:
                now = self._number(field, values[field])
                difference += (now - number) << (self.bits * field)
            elif values[field] != self._values[field][number]:
                assert values[field] in ((), CLOSED) or field == self._starts[4], "not a FIFO's way"
                after.append((field, values[field]))
        if isinstance(action, Crash) and action.drops_sent:
            sent = tuple((field, CLEAR) for field in view.outgoing if field < self._starts[2])
        else:
            sent = tuple(
                (field, self._message_number(values[field]))
                for field in view.outgoing
                if values[field]
            )
        return CachedEffect(difference, tuple(after), sent)

    def _move(self, view: NodeView, numbers: tuple[int, ...], glimpse: CachedEffect) -> Move:
        """The glimpse with all that the view holds beyond the focus."""
        difference = glimpse.difference
        for field, after in glimpse.after:
            number = numbers[view.fields.index(field)]
            before = self._values[field][number]
            if field == self._starts[4]:
                after = before - 1
            elif after is not CLOSED and before is not CLOSED:
                after = before[1:]  # its first message was taken
            difference += (self._number(field, after) - number) << (self.bits * field)
        return difference, glimpse.sent

    def _message_number(self, messages: tuple[Any, ...]) -> int:
        key = (_types(messages), messages)
        number = self._message_numbers.setdefault(key, len(self._messages))
        if number == len(self._messages):
            self._messages.append(messages)
        return number

    # --- evidence ----------------------------------------------------------------------------
    def _observe(
        self, world: World, node: str, own: tuple[Action, ...], others: tuple[Action, ...]
    ) -> None:
        """Count notes, and crash points: those that exist and those where a crash fell."""
        system = self.system
        for action in own:
            assert not isinstance(action, Crash)
            effects = response(system, world, action).effects
            for effect in effects:
                if isinstance(effect, Note):
                    self.notes[effect.what] += effect.times
            if node in system.victims:
                self.points.add(CrashPoint(node, "", ()))
                for crash_after in range(1, len(real_effects(effects))):
                    self.points.add(self._point(world, action, crash_after))
        for action in others:
            if isinstance(action, Crash):
                self.hit.add(CrashPoint(node, "", ()))
            elif not isinstance(action, Inject) and action.crash_after is not None:
                self.hit.add(self._point(world, action, action.crash_after))
            else:
                continue
            self.notes["crashes"] += 1
            state = world.nodes[system.node_at[node]].state
            gauges = {} if state is DOWN else system.protocol.gauges(system.sites[node], state)
            if gauges.get("windows"):
                self.notes["windows that spanned a crash"] += 1

    def _point(self, world: World, action: Any, crash_after: int) -> CrashPoint:
        effects = real_effects(response(self.system, world, action).effects)[:crash_after]
        if isinstance(action, Restart):
            on = "restart"
        elif isinstance(action, Deliver):
            at = self.system.channel_at[action.sender, action.node]
            on = f"{type(world.channels[at][0]).__name__} from {action.sender}"
        else:
            on = f"timer {action.timer}"
        return CrashPoint(action.node, on, tuple(_kind(effect) for effect in effects))


def _remembered(step: Callable[[Site, Any, Input], Answer]) -> Callable[[Site, Any, Input], Answer]:
    """The same pure function, asked once for each (node, state, input)."""
    known: dict[tuple[Any, ...], Answer] = {}

    def remembered(site: Site, state: Any, input_: Input) -> Answer:
        key = (site.name, type(state), type(input_[-1]), state, input_)
        found = known.get(key)
        if found is None:
            found = known[key] = step(site, state, input_)
        return found

    return remembered


def _types(value: Any) -> Any:
    """What tells apart states and messages that are tuples with the same items."""
    if isinstance(value, Node):
        return type(value.state)
    return tuple(map(type, value)) if isinstance(value, tuple) else None


def _kind(effect: Any) -> str:
    kind = type(effect).__name__
    if kind == "Send":
        return f"{type(effect.message).__name__} to {effect.to}"
    return kind
