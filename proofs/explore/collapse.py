"""Collapsed worlds: a world as one integer, and a cache of steps by the values that they read.

Rule of this file: no decision.  model.world decides which actions may happen and their effects;
this file only makes sure that no question is asked twice.

SPIN's *collapse* compression fits pure steps: every node state, channel content, history and
output that ever occurs is interned, and a world is the vector of their numbers, packed into one
integer.  The actions of a node depend on its *view* alone: its own state, its incoming channels,
its arrivals and the budgets of faults; and of the view only on the *focus*: the first message of a
channel, and whether a budget allows a fault.  So model.world is asked once for each distinct
focus, on a world that is empty elsewhere.  For each view the answer is kept as a difference, and as
the messages appended to outgoing channels and outputs.  Appends are cached too, so that an action
on a packed world costs one addition for the node and one for each channel on which the node sends.

A failure group has a view for each member at which it may crash: what the member's own view reads,
and the nodes of the others.  Nothing else of the others is read: a crash closes their channels
whatever these hold.  A node that never crashes alone has these nodes in its own view, too: it may
fail by itself.

A prompt site has a view like any other site.  A message to it is in its channel, as an action
leaves it; the successor is then settled: the site takes message after message.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import accumulate, chain
from operator import itemgetter
from typing import Any

from model.actions import Action, Crash, Deliver, Disturb, Disturbance
from model.choices import crashes_of, disturbances, late_crashes_of, offers, patience, progress
from model.observations import Looks
from model.protocol import Failures
from model.system import System
from model.world import DOWN, Node, World, act, initial, struck
from proofs.explore.evidence import ActionEvidence, FoundEvidence, gather_evidence
from proofs.explore.interning import own_key
from proofs.explore.views import (
    CLEAR,
    CLOSE,
    CLOSED,
    DISTURBED,
    CachedEffect,
    CachedSystem,
    FieldChange,
    Move,
    NodeView,
    StepCache,
    Transitions,
    Whose,
    change_value,
)


class Overflow(Exception):
    """One field has more distinct values than its bits can number."""


ELSEWHERE = Node("elsewhere")
MORE_BUDGETS = ("early", "disturbances")
_NONE: tuple[Action, ...] = ()


class Collapsed:
    """A system, with the tables that grow as it is explored.

    Fields of a world, in order: nodes, channels, arrivals, outputs, the budget of crashes, and the
    other budgets that the scope grants.  `bits` is the width of a field: 16 or 32.

    rationed: further faults than the first are granted at rest only.  by_world: a focus does not
    decide whether its crashes and patient timers are granted; whoever searches calls `grant`.
    """

    def __init__(self, system: System, bits: int = 16) -> None:
        self.system = system = CachedSystem(system.protocol, system.scope)
        self.bits = bits
        self.evidence = FoundEvidence()
        self.granted: set[tuple[Whose, tuple[int, ...], int]] = set()  # the calls of `grant`
        single = system.protocol.promise.assumes.failures is Failures.SINGLE
        self.rationed = single and system.scope.crashes > 1
        self.by_world = bool(self.rationed or system.deployment.patient or system.prompt)
        deployment = system.deployment
        counts = [len(deployment.sites), len(deployment.channels)]
        more = any(getattr(system.scope, name) for name in MORE_BUDGETS)
        self.budgets = ("crashes", *(MORE_BUDGETS if more else ()))
        counts += [len(system.source_at), len(system.sink_at), len(self.budgets)]
        self.starts = [sum(counts[:i]) for i in range(len(counts))]
        self.width = sum(counts)
        self.values: list[list[Any]] = [[] for _ in range(self.width)]
        self._numbers: list[dict[Hashable, int]] = [{} for _ in range(self.width)]
        self._narrow: tuple[dict[int, int], ...] = tuple({} for _ in range(self.width))
        self.appends: tuple[dict[tuple[int, int], int], ...] = tuple({} for _ in range(self.width))
        self.messages: list[tuple[Any, ...]] = []
        self._message_numbers: dict[Hashable, int] = {}
        self._layout = struct.Struct(f"<{self.width}{'H' if bits == 16 else 'I'}")
        alone = [self._view(name, ()) for name in system.sites]
        self.prompt = [system.node_at[name] for name in system.prompt]
        self.views = (*alone, *(self._view(name, g) for g in system.groups for name in g))
        self.initial = self.pack(initial(system))

    # --- worlds and numbers ------------------------------------------------------------------
    def pack(self, world: World) -> int:
        numbers = [self.number(i, value) for i, value in enumerate(self.flatten(world))]
        return int.from_bytes(self._layout.pack(*numbers), "little")

    def numbers(self, packed: int) -> tuple[int, ...]:
        return self._layout.unpack(packed.to_bytes(self._layout.size, "little"))

    def world(self, packed: int) -> World:
        return self.world_of(self.numbers(packed))

    def world_of(self, numbers: tuple[int, ...]) -> World:
        return self.fold([self.values[i][number] for i, number in enumerate(numbers)])

    def arrivals_and_outputs(self, numbers: Sequence[int]) -> tuple[Any, Any]:
        _, _, arrivals, outputs, end = self.starts
        value = [self.values[field][numbers[field]] for field in range(arrivals, end)]
        return tuple(value[: outputs - arrivals]), tuple(value[outputs - arrivals :])

    def looked_at(self, looks: Looks) -> list[int]:
        """The fields that an observation with these looks depends on; one at least, which need not
        be asked where there is no stream."""
        nodes, channels, arrivals, _, end = self.starts
        inside = [*range(nodes, channels)] if looks.nodes else []
        inside += range(channels, arrivals) if looks.messages else []
        return [*range(arrivals, end), *inside] or [end]

    def flatten(self, world: World) -> list[Any]:
        channels = [
            CLOSED if world.nodes[self.system.node_at[receiver]].state is DOWN else channel
            for (_, receiver), channel in zip(
                self.system.deployment.channels, world.channels, strict=True
            )
        ]
        budgets = world[4 : 4 + len(self.budgets)]
        return [*world.nodes, *channels, *world.arrivals, *world.outputs, *budgets]

    def fold(self, values: list[Any]) -> World:
        nodes, channels, arrivals, outputs, budgets = (
            tuple(values[start:end])
            for start, end in zip(self.starts, [*self.starts[1:], None], strict=True)
        )
        opened = tuple(() if channel is CLOSED else channel for channel in channels)
        return World(nodes, opened, arrivals, outputs, *budgets)

    def number(self, field: int, value: Hashable) -> int:
        numbers, values = self._numbers[field], self.values[field]
        key = own_key(value, value, numbers, values.__getitem__)
        number = numbers.get(key)
        if number is None:
            number = len(numbers)
            if number >> self.bits:
                raise Overflow
            numbers[key] = number
            values.append(value)
        return number

    # --- views -------------------------------------------------------------------------------
    def _view(self, name: str, group: tuple[str, ...]) -> NodeView:
        system = self.system
        nodes, channels, arrivals, outputs, budgets = self.starts
        ends = system.deployment.channels
        fields = [nodes + system.node_at[name]]
        others = {*(group or system.bound.get(name, ()))} - {name}
        fields += [nodes + system.node_at[other] for other in system.sites if other in others]
        if name in system.source_at and not group:
            fields.append(arrivals + system.source_at[name])
        wide = len(fields)
        fields += [channels + at for at, (_, receiver) in enumerate(ends) if receiver == name]
        after = len(fields)
        fields += range(budgets, self.width)
        outgoing = [
            channels + at
            for at, (sender, receiver) in enumerate(ends)
            if sender == name or (receiver != name and not others.isdisjoint((sender, receiver)))
        ]
        if name in system.sink_at:
            outgoing.append(outputs + system.sink_at[name])
        pick: Callable[[tuple[int, ...]], tuple[int, ...]] = itemgetter(*fields)
        tables: tuple[dict[Any, Any], ...] = ({}, {}, {}, {})
        return NodeView(name, group, tuple(fields), wide, after, pick, tuple(outgoing), *tables)

    def moves(self, view: NodeView, numbers: tuple[int, ...]) -> Transitions:
        """The transitions of a view; `numbers` are those of its fields."""
        focus = self.focus(view, self.focus_key(view, numbers))
        found = tuple(self._move(view, numbers, cached) for cached in focus.cached)
        a, b, c, d, e, _ = focus.ends
        kinds = found[:a], found[a:b], found[b:c], found[c:d], found[d:e], found[e:]
        moves = Transitions(*kinds, found[:c], found[:d], found)
        view.table[numbers] = moves
        view.actions[numbers] = focus.actions
        return moves

    def moves_in(self, numbers: tuple[int, ...]) -> Iterator[tuple[NodeView, Transitions]]:
        """The transitions of each node in a world, if every fault is granted."""
        for view in self.views:
            key = view.pick(numbers)
            yield view, view.table.get(key) or self.moves(view, key)

    def may_crash(self, numbers: tuple[int, ...]) -> bool:
        """The answer of model.choices.may_crash for a world."""
        left = self.values[self.starts[4]][numbers[self.starts[4]]]
        if not left:
            return False
        if left == self.system.scope.crashes or not self.rationed:
            return True
        return not any(moves.own or moves.patient for _, moves in self.moves_in(numbers))

    def append(self, field: int, content: int, messages: int) -> int:
        """The difference that an append makes to a channel; a closed channel loses the messages."""
        before = self.values[field][content]
        difference = 0
        if before is not CLOSED:
            sent = self.messages[messages]
            after: Any = (*before, *sent)
            if sent[0] is CLEAR:
                after = sent[1:]
            elif sent[0] is CLOSE:
                after = CLOSED
            difference = (self.number(field, after) - content) << (self.bits * field)
        self.appends[field][content, messages] = difference
        return difference

    def successor(self, packed: int, numbers: tuple[int, ...], move: Move) -> int:
        """The world to which a move leads; `numbers` are those of `packed`."""
        difference, sent = move
        after = packed + difference
        for field, messages in sent:
            known = self.appends[field].get((numbers[field], messages))
            after += self.append(field, numbers[field], messages) if known is None else known
        return self.settle(after) if self.prompt else after

    def settle(self, packed: int) -> int:
        """The world in which the prompt sites have taken their messages."""
        for at in self.prompt:
            view = self.views[at]
            while True:
                numbers = self.numbers(packed)
                key = view.pick(numbers)
                moves = view.table.get(key) or self.moves(view, key)
                if not moves.own:
                    break
                difference, sent = moves.own[0]
                packed += difference + sum(
                    self.append(field, numbers[field], messages) for field, messages in sent
                )
        return packed

    def alone(self, view: NodeView, numbers: tuple[int, ...]) -> World:
        """The world with the view's own values, which is empty elsewhere."""
        values: list[Any] = [ELSEWHERE] * self.starts[1]
        values += [()] * (self.width - self.starts[1])
        for field, number in zip(view.fields, numbers, strict=True):
            values[field] = self.values[field][number]
        return self.fold(values)

    def _to_focus(self, field: int, number: int) -> int:
        """The number of the focus's part of a channel or of the crash budget."""
        known = self._narrow[field].get(number)
        if known is None:
            value = self.values[field][number]
            if value is not CLOSED:
                value = min(value, 1) if field >= self.starts[4] else value[:1]
            known = self._narrow[field][number] = self.number(field, value)
        return known

    def focus_key(self, view: NodeView, numbers: tuple[int, ...]) -> tuple[int, ...]:
        """The numbers of the view's fields in its focus."""
        wide = view.wide
        return (*numbers[:wide], *map(self._to_focus, view.fields[wide:], numbers[wide:]))

    def focus(self, view: NodeView, numbers: tuple[int, ...]) -> StepCache:
        """The answer of model.world for a focus; `numbers` are those of the view's fields in it."""
        known = view.focuses.get(numbers)
        if known is None:
            known = view.focuses[numbers] = self._ask(view, numbers)
        return known

    def _ask(self, view: NodeView, numbers: tuple[int, ...]) -> StepCache:
        system = self.system
        world = self.alone(view, numbers)
        node, group = view.node, view.group
        own = inputs = disturbed = patient = late = _NONE
        if not group:
            own, inputs = progress(system, world, node), offers(system, world, node)
            disturbed = disturbances(system, world, node) if len(self.budgets) > 1 else _NONE
        if system.deployment.patient:
            patient = _NONE if group else patience(system, world, node)
            late = late_crashes_of(system, world, node, group)
        kinds = own, inputs, disturbed, crashes_of(system, world, node, group), patient, late
        actions: tuple[Action, ...] = tuple(chain.from_iterable(kinds))
        cached = tuple(self.answer(view, numbers, world, action) for action in actions)
        ends = tuple(accumulate(map(len, kinds)))
        effects, evidence = zip(*cached, strict=True) if cached else ((), ())
        for one in evidence[: ends[2]]:
            self.evidence.add(one)
        return StepCache(actions, effects, ends, evidence)

    def grant(self, view: NodeView, focus: tuple[int, ...], kind: int) -> None:
        """Add the evidence of the moves of a kind that some world with a focus allows.

        kind: FAULTS, PATIENT or LATE.
        """
        key = view.whose, focus, kind
        if key not in self.granted:
            self.granted.add(key)
            found = self.focus(view, focus)
            for one in found.evidence[found.ends[kind - 1] : found.ends[kind]]:
                self.evidence.add(one)

    def answer(
        self, view: NodeView, numbers: tuple[int, ...], world: World, action: Action
    ) -> tuple[CachedEffect, ActionEvidence]:
        """The effect of an action, and the evidence that it gives.

        Both depend on the node's own fields, on whether a fault may follow, and on the message that
        the action takes; of other channels they change or use nothing.
        """
        taken = -1
        if isinstance(action, Deliver | Disturb):
            channel = self.system.channel_at[action.sender, action.node]
            taken = numbers[view.fields.index(self.starts[1] + channel)]
        kind = type(action)  # a Restart of a node and a Reread of it are equal tuples
        key = (kind, action, *numbers[: view.wide], *numbers[view.budgets :], taken)
        known = view.answers.get(key)
        if known is None:
            effect = self._effect(view, numbers, world, action)
            known = view.answers[key] = effect, gather_evidence(self.system, world, action)
        return known

    def _effect(
        self, view: NodeView, numbers: tuple[int, ...], world: World, action: Action
    ) -> CachedEffect:
        values = self.flatten(act(self.system, world, action))
        disturbed = -1
        if isinstance(action, Disturb):
            disturbed = self.starts[1] + self.system.channel_at[action.sender, action.node]
        changed = []
        after = []
        for position, (field, number) in enumerate(zip(view.fields, numbers, strict=True)):
            before, now = self.values[field][number], values[field]
            if now is before:
                continue
            if position < view.wide:
                changed.append((field, self.number(field, now) - number))
            elif now != before or field == disturbed:  # a delay shows only before other messages
                after.append((field, self._change(field, before, now, action)))
        sent = [(field, values[field]) for field in view.outgoing]
        after_node = values[self.system.node_at[action.node]]
        if after_node.state is DOWN and (down := struck(self.system, world, action)):
            drops_sent = isinstance(action, Crash) and action.drops_sent
            sent = [(field, self._marked(field, value, down, drops_sent)) for field, value in sent]
        elif isinstance(action, Disturb) and action.how is Disturbance.RESET:
            ends = self.system.channel_at.get((action.node, action.sender))
            sent = [(self.starts[1] + ends, (CLEAR,))] if ends is not None else []
        numbered = tuple((field, self.message_number(value)) for field, value in sent if value)
        return CachedEffect(tuple(changed), tuple(after), numbered)

    def _change(self, field: int, before: Any, now: Any, action: Action) -> FieldChange:
        """The change of a field that varies within a focus, by its value in the focus."""
        if field >= self.starts[4]:
            return FieldChange.SPENT
        if isinstance(action, Disturb):
            return DISTURBED[action.how]
        if now is CLOSED:
            return FieldChange.CLOSED
        assert now == (), "not a FIFO's way"
        return FieldChange.OPENED if before is CLOSED else FieldChange.TAKEN

    def _marked(
        self, field: int, value: Any, down: tuple[str, ...], drops_sent: bool
    ) -> tuple[Any, ...]:
        """The items that a crash appends to a channel or an output that is empty before, and holds
        `value` afterwards."""
        messages: tuple[Any, ...] = value
        if field < self.starts[2]:
            ends = sender, receiver = self.system.deployment.channels[field - self.starts[1]]
            if value is CLOSED:
                messages = (CLOSE,) if receiver in down else ()
            elif sender in down and (drops_sent or self.system.resets(ends)):
                messages = (CLEAR, *value)
        return messages

    def _move(self, view: NodeView, numbers: tuple[int, ...], cached: CachedEffect) -> Move:
        """The cached effect with all that the view holds beyond the focus."""
        difference = sum(change << (self.bits * field) for field, change in cached.changed)
        for field, change in cached.after:
            number = numbers[view.fields.index(field)]
            now = change_value(self.values[field][number], change)
            difference += (self.number(field, now) - number) << (self.bits * field)
        return difference, cached.sent

    def message_number(self, messages: tuple[Any, ...]) -> int:
        key = own_key(messages, messages, self._message_numbers, self.messages.__getitem__)
        number = self._message_numbers.setdefault(key, len(self.messages))
        if number == len(self.messages):
            self.messages.append(messages)
        return number
