"""Network: boxes and arcs inside one node; a network of boxes is a box.

Rule of this file: no operator.  Within a node an item goes along all arcs at once, depth first.
Hwang et al., Section 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm
from typing import Any, NamedTuple

from model.boxes.box import Box, Fed, Item, Out
from model.errors import Invalid

INPUT, OUTPUT = "input", "output"


class Arc(NamedTuple):
    """From an input edge (INPUT) or a box to an edge of a box, or to the OUTPUT.

    port: the input edge of the network, 0 for a box.  edge: of the receiving box.
    """

    source: str
    target: str
    port: int = 0
    edge: int = 0


@dataclass(frozen=True)
class Network(Box):
    """Boxes by name, and the arcs between them.  Outputs leave in the order in which they are made.

    Raises Invalid for an arc that names an unknown box, or a circle.
    """

    boxes: tuple[tuple[str, Box], ...]
    arcs: tuple[Arc, ...]
    edges = None

    def __post_init__(self) -> None:
        names = [name for name, _ in self.boxes]
        for arc in self.arcs:
            for name, end in ((arc.source, INPUT), (arc.target, OUTPUT)):
                if name not in names and name != end:
                    raise Invalid(f"network: arc {arc.source} -> {arc.target}: no box {name!r}")
        left = set(names)
        while ready := {name for name in left if not self._waits(name, left)}:
            left -= ready
        if left:
            raise Invalid(f"network: a circle of arcs among {', '.join(sorted(left))}")

    def _waits(self, name: str, others: set[str]) -> bool:
        return any(arc.target == name and arc.source in others for arc in self.arcs)

    @property
    def horizon(self) -> int:
        """A box may get items that have waited in the boxes before it."""
        return sum(box.horizon for _, box in self.boxes)

    @property
    def period(self) -> int:
        return lcm(*(box.period for _, box in self.boxes))

    def begin(self, edges: int) -> tuple[Any, ...]:
        return tuple(box.begin(self._edges(name)) for name, box in self.boxes)

    def _edges(self, name: str) -> int:
        return 1 + max((arc.edge for arc in self.arcs if arc.target == name), default=0)

    def feed(self, state: tuple[Any, ...], item: Item) -> tuple[Fed, ...]:
        arcs = [arc for arc in self.arcs if (arc.source, arc.port) == (INPUT, item.edge)]
        return self._pass_on((Fed(state),), Out(item.body, item.of), arcs)

    def expire(self, state: tuple[Any, ...]) -> tuple[Fed, ...]:
        return tuple(
            after
            for at, (_, box) in enumerate(self.boxes)
            for fed in box.expire(state[at])
            for after in self._settle(state, (), at, fed)
        )

    def _pass_on(self, feds: tuple[Fed, ...], out: Out, arcs: list[Arc]) -> tuple[Fed, ...]:
        """The answers after this output went along the arcs."""
        for arc in arcs:
            if arc.target == OUTPUT:
                feds = tuple(Fed(fed.state, (*fed.outs, out)) for fed in feds)
                continue
            at = [name for name, _ in self.boxes].index(arc.target)
            box, item = self.boxes[at][1], Item(arc.edge, out.body, out.of)
            feds = tuple(
                after
                for fed in feds
                for inner in box.feed(fed.state[at], item)
                for after in self._settle(fed.state, fed.outs, at, inner)
            )
        return feds

    def _settle(
        self, state: tuple[Any, ...], outs: tuple[Out, ...], at: int, inner: Fed
    ) -> tuple[Fed, ...]:
        """The answers after the box in place `at` has answered, and all its outputs went on."""
        feds: tuple[Fed, ...] = (Fed((*state[:at], inner.state, *state[at + 1 :]), outs),)
        arcs = [arc for arc in self.arcs if arc.source == self.boxes[at][0]]
        for out in inner.outs:
            feds = self._pass_on(feds, out, arcs)
        return feds
