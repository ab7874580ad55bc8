"""A world under way: the caller hands out events, lets the system act, and crashes nodes.

Rule of this file: no semantics; an action has the effect that model.world gives it.  The caller
chooses the next action, or gives the order in which the nodes act by themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, TypeAlias

from model.actions import (
    Action,
    Crash,
    Deliver,
    Disturb,
    Inject,
    OwnStep,
    Suspect,
    Timeout,
)
from model.choices import enabled, ready
from model.core import Arrival, Effect, NodeName, Note, Scope
from model.protocol import Protocol
from model.system import System
from model.world import Node, World, initial, input_of, response, unfold

Order: TypeAlias = Callable[[OwnStep], Any]
"""The place of an action: the least one comes next; None: the action does not come now."""
Stop: TypeAlias = Callable[[OwnStep], "int | None"]
"""The number of effects of the action after which its nodes crash; None: they do not."""


def in_order_of_sites(_action: OwnStep) -> int:
    """The first action of the first site comes next."""
    return 0


def timers_last(action: OwnStep) -> bool:
    """A timer runs out when nothing else is left to do."""
    return isinstance(action, Timeout)


def goes_on(_action: OwnStep) -> None:
    """No node crashes."""


class Play:
    """The system, its world now, and what its nodes have noted: (node, quantity) -> number.

    record: receives (world before, action, world after) for each action.
    """

    def __init__(
        self,
        protocol: Protocol,
        scope: Scope,
        record: Callable[[World, Action, World], None] | None = None,
    ) -> None:
        self.system = System(protocol, scope)
        self.world = initial(self.system)
        self.notes: Counter[tuple[NodeName, str]] = Counter()
        self.record = record

    # --- actions -----------------------------------------------------------------------------
    def do(self, *actions: Action) -> None:
        """Do these actions, which are enabled one after the other."""
        for action in actions:
            before = self.world
            for part, world, after in unfold(self.system, before, action):
                self._count_notes(world, part)
                self.world = after
            if self.record is not None:
                self.record(before, action, self.world)

    def follow(self, *actions: Action) -> None:
        """Do these actions; raises ValueError for one that the world does not offer then."""
        for action in actions:
            if action not in enabled(self.system, self.world):
                raise ValueError(f"{action}: the world offers no such action now")
            self.do(action)

    def inject(self, source: NodeName, *arrivals: Arrival) -> None:
        """Hand these events to a source."""
        self.do(*(Inject(source, arrival) for arrival in arrivals))

    def crash(
        self, node: NodeName, group: tuple[NodeName, ...] = (), *, drops: bool = False
    ) -> None:
        """Crash the node, or the failure group whose first member that is up it is.

        drops: its messages that nobody has received are lost.
        """
        self.do(Crash(node, drops, group))

    def steps(self, order: Order = in_order_of_sites) -> Iterator[OwnStep]:
        """The next action in this order, again and again until none comes; each one is done when
        the caller asks for the one after it."""
        while ready := [action for action in self.ready() if order(action) is not None]:
            action = min(ready, key=order)
            yield action
            self.do(action)

    def settle(self, order: Order = in_order_of_sites, stop: Stop = goes_on) -> OwnStep | None:
        """Let the nodes act in this order until no action comes, or until `stop` crashes one.

        Returns the action that crashed, with the place of the crash; None without a crash.
        """
        for action in self.steps(order):
            after = stop(action)
            if after is not None:
                crashed = action._replace(crash_after=after)
                self.do(crashed)
                return crashed
        return None

    def branch(self) -> Play:
        """Another play of the same system, which goes on from this world."""
        other = copy(self)
        other.notes = self.notes.copy()
        return other

    # --- looks -------------------------------------------------------------------------------
    def ready(self) -> list[OwnStep]:
        """The actions that nodes may take by themselves now, in the order of the sites."""
        return [*ready(self.system, self.world)]

    def effects(self, action: OwnStep | Inject) -> tuple[Effect, ...]:
        """The effects that the action would have now, with the notes among them."""
        return response(self.system, self.world, action).effects

    def message(self, action: Action) -> Any:
        """The message that the action delivers; None if it delivers none."""
        if not isinstance(action, Deliver):
            return None
        return getattr(input_of(self.system, self.world, action), "message", None)

    def node(self, name: NodeName) -> Node:
        return self.world.nodes[self.system.node_at[name]]

    def state(self, name: NodeName) -> Any:
        return self.node(name).state

    def channel(self, sender: NodeName, receiver: NodeName) -> tuple[Any, ...]:
        """The messages on their way, the next one first."""
        return self.world.channels[self.system.channel_at[sender, receiver]]

    def outputs(self, sink: NodeName) -> tuple[Any, ...]:
        """The outputs that the sink has passed on."""
        return self.world.outputs[self.system.sink_at[sink]]

    def _count_notes(self, world: World, action: Action) -> None:
        if isinstance(action, Crash | Suspect | Disturb):
            return
        for effect in response(self.system, world, action).effects:
            if isinstance(effect, Note):
                self.notes[action.node, effect.what.name] += effect.times
