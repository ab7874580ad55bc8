"""Join: pairs of items, one of each edge, that are near to each other.

Rule of this file: a pair goes out when its second item comes; for an order that does not depend on
arrival see Ordered (model.boxes.reorder).
Hwang et al., Section 3.2; Abadi et al., Aurora, 2003, Section 2.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from model.boxes.box import Box, Fed, Item, Out, answer, attribute, check_sizes
from model.errors import Invalid
from model.events import Body

Halves = tuple[tuple[Item, ...], tuple[Item, ...]]
"""The items of each edge that may still find a partner, oldest first."""


@dataclass(frozen=True)
class Join(Box):
    """All pairs (left, right) with equal attribute `on` (None: any) and at most `size` apart.

    by: "time" (units of time apart) or "count" (each item meets the last `size` items of the other
    edge).  timeout: the oldest item may leave at any moment.  one_sided: left.time - right.time <=
    size, as Sebepou and Magoutis, V, write it; a left item then may be any time before its partner,
    so it is held for ever.  flat: a pair has the attributes of both (`attributes_of_both`), rather
    than the two bodies.

    Raises Invalid for an unknown `by`, a size that is too small, and one_sided by count.
    """

    size: int
    on: str | None = None
    by: str = "time"
    timeout: bool = False
    emits: str = "pair"
    one_sided: bool = False
    flat: bool = False
    edges = 2

    def __post_init__(self) -> None:
        if self.by not in ("time", "count"):
            raise Invalid(f"join: by {self.by!r}; give 'time' or 'count'")
        if self.one_sided and self.by == "count":
            raise Invalid("join: one_sided by 'count'; give 'time'")
        check_sizes("join", 1 if self.by == "count" else 0, size=self.size)

    @property
    def horizon(self) -> int:
        return self.size if self.by == "time" else 0

    def begin(self, _edges: int) -> Halves:
        return (), ()

    def feed(self, state: Halves, item: Item) -> tuple[Fed, ...]:
        others = state[1 - item.edge]
        if self.by == "time" and not (self.one_sided and item.edge):
            # an item of this edge never has a smaller time than this one
            earliest = item.body.time - self.size
            others = tuple([other for other in others if other.body.time >= earliest])
        mine = (*state[item.edge], item)
        if self.by == "count":
            mine = mine[-self.size :]
        outs = [self._pair(item, other) for other in self._partners(item, others)]
        return answer((others, mine) if item.edge else (mine, others), *outs)

    def expire(self, state: Halves) -> tuple[Fed, ...]:
        items = [*state[0], *state[1]]
        if not (self.timeout and items):
            return ()
        first = min(items, key=lambda item: (item.body.time, item.edge))
        left, right = (tuple(one for one in half if one is not first) for half in state)
        return answer((left, right))

    def _partners(self, one: Item, others: tuple[Item, ...]) -> list[Item]:
        """Those of the others that meet the item: a key is compared first, since few are equal."""
        found = [*others]
        if self.on is not None:
            key = attribute(one.body, self.on)
            found = [other for other in others if attribute(other.body, self.on) == key]
        return found if self.by == "count" else [o for o in found if self._is_near(one, o)]

    def _is_near(self, one: Item, other: Item) -> bool:
        apart = one.body.time - other.body.time
        return ((-apart if one.edge else apart) if self.one_sided else abs(apart)) <= self.size

    def _pair(self, one: Item, other: Item) -> Out:
        left, right = (other, one) if one.edge else (one, other)
        data = (attributes_of_both if self.flat else _bodies)(left.body, right.body)
        time = max(left.body.time, right.body.time)
        return Out(Body(time, self.emits, data), left.of | right.of)


def attributes_of_both(left: Body, right: Body) -> tuple[Any, ...]:
    """The attributes of the left body, then those of the right one that the left one lacks."""
    known = {pair[0] for pair in left.data}
    return (*left.data, *(pair for pair in right.data if pair[0] not in known))


def _bodies(left: Body, right: Body) -> tuple[Any, ...]:
    return left, right
