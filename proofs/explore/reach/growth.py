"""Values that grow without end: containers in a node's state that no step makes smaller.

Rule of this file: it looks at the steps that a search took; it proves nothing.  A hint, no verdict.

The steps of one node lead from state to state.  A container grows without end if some state leads
to none in which a step makes the container smaller, and it gains two items or more from there on.
Crashes are no steps: a container that only a crash empties grows as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from model.core import Site
from model.world import DOWN, Node
from proofs.explore.collapse import Collapsed
from proofs.explore.reach.shape import parts, saved_values, size_of
from proofs.explore.reach.steps import steps_of
from proofs.explore.views import NodeView

GAIN = 2


class GrowingValue(NamedTuple):
    """A container that grows.  field: its path in the state; empty: the state itself.  saved: it is
    in the durable value alone.  most: its greatest size.  always: from the first state on."""

    node: str
    field: str
    saved: bool
    most: int
    always: bool


def growing_values(collapsed: Collapsed) -> tuple[GrowingValue, ...]:
    """The containers that grow, node after node; prompt sites, which are external, left out."""
    prompt = collapsed.system.deployment.prompt
    views = (one for one in collapsed.views if not one.group and one.node not in prompt)
    return tuple(found for view in views for found in _growing_in(collapsed, view))


def _growing_in(collapsed: Collapsed, view: NodeView) -> Iterator[GrowingValue]:
    nodes: Sequence[Node] = collapsed.values[view.fields[0]]
    steps = _steps(collapsed, view)
    seen = {*steps, *(after for ends in steps.values() for after in ends)}
    site = collapsed.system.sites[view.node]
    sizes = {number: _sizes(site, nodes[number]) for number in seen}
    first = view.pick(collapsed.numbers(collapsed.initial))[0]
    places = {place for one in sizes.values() for place in one}
    in_state = {path for saved, path in places if not saved}
    for saved, path in sorted(places):
        if saved and path in in_state:  # a save is a copy of it, which the next one renews
            continue
        of = {number: one.get((saved, path), 0) for number, one in sizes.items()}
        gains = _gains(steps, of)
        grown = [number for number, gain in gains.items() if gain >= GAIN]
        if grown:
            most = max(of[number] + gains[number] for number in grown)
            yield GrowingValue(view.node, ".".join(path), saved, most, first in grown)


def _steps(collapsed: Collapsed, view: NodeView) -> Mapping[int, set[int]]:
    """The states to which the steps of a node lead from each state; none of a crash."""
    at = view.fields[0]
    nodes: Sequence[Node] = collapsed.values[at]
    found: dict[int, set[int]] = {}
    for one in steps_of(collapsed, view):
        before = one.focus[0]
        after = before + dict(one.effect.changed).get(at, 0)
        if after != before and DOWN not in (nodes[before].state, nodes[after].state):
            found.setdefault(before, set()).add(after)
    return found


def _sizes(site: Site, node: Node) -> dict[tuple[bool, tuple[str, ...]], int]:
    """The sizes of the containers of a node: of its state, and of its durable values."""
    held: list[tuple[bool, tuple[str, ...], Any]] = [(False, (), node.state)]
    for name, value in saved_values(site, node.durable):
        held.append((True, (name,) if name else (), value))
    return {
        (saved, (*file, *part.path)): size
        for saved, file, value in held
        for part in parts(value)
        for size in [size_of(part.value)]
        if size is not None
    }


def _gains(steps: Mapping[int, set[int]], size: Mapping[int, int]) -> dict[int, int]:
    """How many items are gained from each state that leads to no smaller container."""
    before: dict[int, set[int]] = {}
    for one, ends in steps.items():
        for after in ends:
            before.setdefault(after, set()).add(one)
    smaller = [one for one, ends in steps.items() if any(size[e] < size[one] for e in ends)]
    shrinks = {*smaller}
    while smaller:
        more = before.get(smaller.pop(), set()) - shrinks
        shrinks |= more
        smaller += more
    most: dict[int, int] = {}
    for one in sorted({*size} - shrinks, key=lambda number: -size[number]):
        waiting = [] if one in most else [one]
        while waiting:  # the first one to come is the largest one to which it leads
            number = waiting.pop()
            most[number] = size[one]
            ahead = before.get(number, set()) - shrinks
            waiting += [other for other in ahead if other not in most]
    return {number: largest - size[number] for number, largest in most.items()}
