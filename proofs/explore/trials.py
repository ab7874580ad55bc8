"""Trials: the things that the exploration of a scope has tried, and those that it has not.

Rule of this file: one scope that was explored whole, and no sentence.  proofs.explore.vacuity adds
the scopes of a protocol up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import Any

from model.actions import Crash, StepAction
from model.comparison import SEQUENCE, Shape
from model.core import SUSPECTED, Guarantee, NodeName, Observation, Property, When
from model.errors import Invalid
from model.properties import guarantee
from model.system import LETS_GO, System, is_satisfied, read_gauges
from model.world import DOWN, replace_item
from proofs.explore.any_answer import with_any_answer
from proofs.explore.canonical import canonical
from proofs.explore.collapse import Collapsed
from proofs.explore.corruption import (
    in_turn,
    observations,
    with_one_twice,
    with_value,
    without_some,
)
from proofs.explore.named_values import named_values
from proofs.explore.search.judge import Judge
from proofs.explore.views import FAULTS, LATE

ASKED = 2_000
"""The corruptions of a kind about which a property is asked, unless one breaks it before."""
VALUES = 100
"""The values of a node in other worlds that go into corruptions."""


@dataclass(frozen=True, slots=True)
class ScopeTrial:
    """The trials of a scope that was explored whole.

    crashes: does the scope grant some?  crashed: did one strike?  lost: did one strike a node that
    had something to lose?  suspected: was a node suspected falsely?  disturbances: does the scope
    grant some?  None: no link has faults of its own.

    expected: do the inputs of some world at rest have a result?  emitted: did a sink emit any?
    misses, copies: is the guarantee weaker than precise if one or all results are left out, or if
    one comes twice?  copies is None if no sink counts copies.  lets_go: may `needed` be too little
    for a node?  None: nobody asked.
    asked, broken: the names of the properties, and of those that some corruption breaks.
    """

    crashes: bool
    crashed: bool
    lost: bool
    suspected: bool
    disturbances: bool | None
    expected: bool
    emitted: bool
    misses: bool
    copies: bool | None
    lets_go: bool | None
    asked: tuple[str, ...]
    broken: tuple[str, ...]


def try_scope(collapsed: Collapsed, judge: Judge) -> ScopeTrial:
    """The trials of a whole search, by its tables and its judge's samples."""
    system, rested = judge.system, judge.rested.all()
    own = [p for p in system.properties if p.name != LETS_GO]
    broken = Breaker(collapsed, judge)
    return ScopeTrial(
        crashes=system.scope.crashes > 0,
        crashed=bool(collapsed.evidence.hit),
        lost=_struck_something(collapsed),
        suspected=collapsed.evidence.notes[SUSPECTED.name] > 0,
        disturbances=_disturbances(system),
        expected=judge.expected,
        emitted=any(any(one.outputs) for one in rested),
        misses=any(_is_weaker(system, one, without_some) for one in rested),
        copies=_counts_copies(system, rested),
        lets_go=_lets_go(system, rested),
        asked=tuple(p.name for p in own),
        broken=tuple(p.name for p in own if broken.breaks(p)),
    )


def _struck_something(collapsed: Collapsed) -> bool:
    """Did some crash strike a node that had changed since its boot, or that had begun a step, or to
    which something was on its way?"""
    if any(point.after for point in collapsed.evidence.hit):
        return True
    first = collapsed.numbers(collapsed.initial)
    for view in collapsed.views:
        later = [*zip(view.fields, range(view.budgets), strict=False)]
        for focus, cached in view.focuses.items():
            if all(focus[at] == first[field] for field, at in later):
                continue
            for kind in (FAULTS, LATE):
                if (view.whose, focus, kind) in collapsed.granted:
                    moves = cached.actions[cached.ends[kind - 1] : cached.ends[kind]]
                    if any(map(_is_crash, moves)):
                        return True
    return False


def _is_crash(action: Any) -> bool:
    return isinstance(action, Crash) or (
        isinstance(action, StepAction) and action.crash_after is not None
    )


def _disturbances(system: System) -> bool | None:
    links = system.deployment.links.values()
    if not any(link.lossy or link.doubling or link.unordered for link in links):
        return None
    return system.scope.disturbances > 0


def _is_weaker(system: System, seen: Observation, changes: Any, *shapes: Shape) -> bool:
    """Is the guarantee weaker than precise after one of the changes of a sink's outputs?

    shapes: of the sinks that change; any sink of the graph if none is given.
    """
    how = dict(system.scope.sinks)
    for sink, at in system.sink_at.items():
        if sink not in system.scope.graph.specs:
            continue  # nothing is expected of it
        if shapes and how.get(sink, SEQUENCE).shape not in shapes:
            continue
        for other in changes(seen.outputs[at]):
            changed = seen._replace(outputs=replace_item(seen.outputs, at, other))
            if guarantee(system.scope, changed) is not Guarantee.PRECISE:
                return True
    return False


def _counts_copies(system: System, rested: Sequence[Observation]) -> bool | None:
    counted = Shape.SEQUENCE, Shape.BAG
    how = dict(system.scope.sinks)
    sinks = [sink for sink in system.sink_at if sink in system.scope.graph.specs]
    if not any(how.get(sink, SEQUENCE).shape in counted for sink in sinks):
        return None
    return any(_is_weaker(system, one, with_one_twice, *counted) for one in rested)


def _lets_go(system: System, rested: Sequence[Observation]) -> bool | None:
    """Is there a world at rest in which a node would keep too much if it had kept all events?"""
    needed = system.protocol.behaviour.needed
    if needed is None or system.scope.crashes:
        return None
    for seen in rested:
        states, events = dict(seen.states), sum(map(len, seen.arrivals))
        for name, most in needed(system.scope, seen).items():
            if name not in states or most >= events:
                continue
            if read_gauges(system, name, states[name]).buffered is not None:
                return True
    return False


def _seen_by(property_: Property, seen: Observation) -> Observation:
    """The parts of the observation at which the property looks."""
    if not property_.nodes:
        seen = seen._replace(states=(), durable=())
    return seen if property_.messages else seen._replace(messages=())


def _with_value(samples: Sequence[Observation], value: Any) -> Iterator[Observation]:
    return chain.from_iterable(with_value(one, value) for one in samples)


class Breaker:
    """The corruptions of a scope."""

    def __init__(self, collapsed: Collapsed, judge: Judge) -> None:
        self.collapsed, self.judge, self.system = collapsed, judge, judge.system

    @cached_property
    def states(self) -> dict[NodeName, list[Any]]:
        return self._values("state")

    @cached_property
    def durable(self) -> dict[NodeName, list[Any]]:
        return self._values("durable")

    def _values(self, part: str) -> dict[NodeName, list[Any]]:
        """The states or the durable values of each node about which the search asked.

        A reduced search also asks about values that the node has in no world.  They are taken from
        all over the order of their texts, so the order in which the search asks does not count.
        """
        found = {}
        for name, at in self.system.node_at.items():
            values = (getattr(node, part) for node in self.collapsed.values[at])
            texts = {canonical(one): one for one in values if one is not DOWN and one is not None}
            ordered = [texts[text] for text in sorted(texts)]
            found[name] = ordered[:: 1 + len(ordered) // VALUES]
        return found

    def breaks(self, property_: Property) -> bool:
        """Is there a corruption of an observation of which the property does not hold?

        A property that raises looks at the part that is corrupted; but of a value that the property
        names in a wrong place that says nothing.  A property that no corruption breaks may be about
        more than a corruption reaches: it counts as broken if it depends on any answer.
        """
        samples = self.judge.rested.all()
        if property_.when is When.ALWAYS:
            looks = self.judge.always_looks
            samples += self.judge.seen.all() if looks.nodes or not property_.nodes else []
        samples = [*dict.fromkeys(_seen_by(property_, one) for one in samples)]
        named = named_values(property_.holds)
        return (
            self._fails(property_, [observations(one, samples, {}, {}) for one in samples])
            or self._fails(property_, [with_any_answer(one, named) for one in samples])
            or (property_.nodes and self._fails(property_, self._with_known(samples)))
            or self._fails(
                property_,
                [_with_value(samples, value) for value in named],
                otherwise=True,
            )
        )

    def _with_known(self, samples: Sequence[Observation]) -> list[Iterator[Observation]]:
        """Corruptions with the values of other worlds, too: to sort these takes time."""
        return [observations(one, samples, self.states, self.durable) for one in samples]

    def _fails(
        self,
        property_: Property,
        corrupted: Sequence[Iterator[Observation]],
        otherwise: bool = False,
    ) -> bool:
        """Does the property not hold of one of the first corruptions?  otherwise: as in _holds."""
        first = islice(in_turn(corrupted), ASKED)
        return any(not self._holds(property_, one, otherwise) for one in first)

    def _holds(self, property_: Property, seen: Observation, otherwise: bool) -> bool:
        """Does the property hold?  otherwise: the answer if it raises."""
        try:
            return is_satisfied(self.system, property_, seen)
        except Invalid:
            return otherwise
