"""Collapsed worlds: a world as one integer, and steps remembered by what they look at.

Rule of this file: nothing is decided here.  What may happen and what it does is model.world's;
this file only makes sure that no question is asked twice.

SPIN's *collapse* compression fits pure steps: every node state, channel content, history and
output that ever occurs is interned, and a world is the vector of their numbers, packed into one
integer.  An action of a node reads and writes its *view* alone: its own state, the channels at its
doors, its history and the crash budget.  So for each distinct view model.world is asked once, on a
world that is empty elsewhere, and the answer is kept as differences: applying an action to a
packed world is one addition.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Hashable
from operator import itemgetter
from typing import Any, NamedTuple

from model.core import Role
from model.world import (
    DOWN,
    Action,
    Crash,
    Node,
    Offer,
    Restart,
    System,
    Take,
    World,
    apply,
    initial,
    offers,
    faults,
    physical,
    progress,
    taken,
)

CLOSED = "closed"
"""In place of the content of a channel whose receiver is down: what is sent there is lost."""

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


class Moves(NamedTuple):
    """Differences to add: what the node does by itself, and what the world does to it."""

    own: tuple[int, ...]
    others: tuple[int, ...]


class View(NamedTuple):
    """What the actions of one node read and write."""

    node: str
    fields: tuple[int, ...]
    pick: Callable[[tuple[int, ...]], tuple[int, ...]]
    table: dict[tuple[int, ...], Moves]


class Collapsed:
    """A system, with the tables that grow as it is explored.

    Fields of a world, in order: nodes, channels, arrivals, outputs, crashes.  `bits` is the width
    of a field: 16 or 32.
    """

    def __init__(self, system: System, bits: int = 16) -> None:
        self.system = system
        self.bits = bits
        self.points: set[CrashPoint] = set()
        self.hit: set[CrashPoint] = set()
        self.notes: Counter[str] = Counter()
        self._values: list[list[Any]] = []
        self._numbers: list[dict[Hashable, int]] = []
        deployment = system.deployment
        counts = (len(deployment.sites), len(deployment.channels))
        counts += (len(system.source_at), len(system.sink_at), 1)
        self._starts = [sum(counts[:i]) for i in range(len(counts))]
        self.width = sum(counts)
        for _ in range(self.width):
            self._values.append([])
            self._numbers.append({})
        self._layout = struct.Struct(f"<{self.width}{'H' if bits == 16 else 'I'}")
        self.views = tuple(self._view(site.name) for site in deployment.sites)
        seen = self._starts[2], self._starts[4]
        self.observation: Callable[[tuple[int, ...]], tuple[int, ...]] = itemgetter(
            *range(*seen)
        )
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
        number = numbers.get(value)
        if number is None:
            number = len(numbers)
            if number >> self.bits:
                raise Overflow
            numbers[value] = number
            self._values[field].append(value)
        return number

    # --- views -------------------------------------------------------------------------------
    def _view(self, name: str) -> View:
        system = self.system
        nodes, channels, arrivals, outputs, crashes = self._starts
        fields = [nodes + system.node_at[name]]
        fields += [
            channels + at
            for at, ends in enumerate(system.deployment.channels)
            if name in ends
        ]
        if name in system.source_at:
            fields.append(arrivals + system.source_at[name])
        if name in system.sink_at:
            fields.append(outputs + system.sink_at[name])
        fields.append(crashes)
        return View(name, tuple(fields), itemgetter(*fields), {})

    def moves(self, view: View, numbers: tuple[int, ...]) -> Moves:
        """What may happen in a view; `numbers` are those of its fields."""
        system = self.system
        world = self._alone(view, numbers)
        own = [action for action in progress(system, world) if action.node == view.node]
        others: list[Action] = [
            action
            for action in (*offers(system, world), *faults(system, world))
            if action.node == view.node
        ]
        self._observe(world, view.node, own, others)
        moves = Moves(
            tuple(self._difference(view, numbers, apply(system, world, a)) for a in own),
            tuple(self._difference(view, numbers, apply(system, world, a)) for a in others),
        )
        view.table[numbers] = moves
        return moves

    def _alone(self, view: View, numbers: tuple[int, ...]) -> World:
        """The view's own values, and nothing elsewhere but the nodes known to be down."""
        values: list[Any] = [ELSEWHERE] * self._starts[1]
        values += [()] * (self.width - self._starts[1])
        for field, number in zip(view.fields, numbers, strict=True):
            values[field] = self._values[field][number]
        for at, (_, receiver) in enumerate(self.system.deployment.channels):
            if values[self._starts[1] + at] is CLOSED and receiver != view.node:
                values[self.system.node_at[receiver]] = Node(DOWN)
        return self._folded(values)

    def _difference(self, view: View, numbers: tuple[int, ...], after: World) -> int:
        values = self._flat(after)
        return sum(
            (self._number(field, values[field]) - number) << (self.bits * field)
            for field, number in zip(view.fields, numbers, strict=True)
        )

    # --- evidence ----------------------------------------------------------------------------
    def _observe(
        self, world: World, node: str, own: list[Action], others: list[Action]
    ) -> None:
        """Count notes, and crash points: those that exist and those where a crash fell."""
        system = self.system
        for action in own:
            assert not isinstance(action, Crash)
            effects = taken(system, world, action).effects
            for effect in effects:
                if not isinstance(effect, tuple) or type(effect).__name__ != "Note":
                    continue
                self.notes[effect.what] += effect.count
            if node in system.victims:
                self.points.add(CrashPoint(node, "", ()))
                for cut in range(1, len(physical(effects))):
                    self.points.add(self._point(world, action, cut))
        for action in others:
            if isinstance(action, Crash):
                self.hit.add(CrashPoint(node, "", ()))
            elif not isinstance(action, Offer) and action.cut is not None:
                self.hit.add(self._point(world, action, action.cut))
            else:
                continue
            self.notes["crashes"] += 1
            state = world.nodes[system.node_at[node]].state
            if state is not DOWN and system.protocol.gauges(system.sites[node], state)["windows"]:
                self.notes["windows that spanned a crash"] += 1

    def _point(self, world: World, action: Any, cut: int) -> CrashPoint:
        effects = physical(taken(self.system, world, action).effects)[:cut]
        if isinstance(action, Restart):
            on = "restart"
        elif isinstance(action, Take):
            at = self.system.channel_at[action.sender, action.node]
            on = f"{type(world.channels[at][0]).__name__} from {action.sender}"
        else:
            on = f"timer {action.timer}"
        return CrashPoint(action.node, on, tuple(_kind(effect) for effect in effects))


def _kind(effect: Any) -> str:
    kind = type(effect).__name__
    if kind == "Send":
        return f"{type(effect.message).__name__} to {effect.to}"
    return kind
