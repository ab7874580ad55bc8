"""Running: an operator that answers each item with the fold of its group so far.

Rule of this file: no window and no end of a fold; an Aggregate has these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from model.boxes.box import NOTHING_OF, Box, Fed, Item, Lineage, Out, answer, attribute
from model.boxes.folds import FOLDS, check_fold


class SoFar(NamedTuple):
    """The fold of a group, and the items in it."""

    value: Any
    of: Lineage = NOTHING_OF


@dataclass(frozen=True)
class Running(Box):
    """Puts out each item with `emits`: the fold of `of` over the items of its group up to it.

    group: the attribute that names the group of an item; None: all items are one group.  With
    several inputs the value depends on the order of arrival.
    """

    fold: str = "count"
    of: str = "type"
    group: str | None = None
    emits: str = "value"
    edges = None

    def __post_init__(self) -> None:
        check_fold("running", self.fold)

    def feed(self, state: tuple[tuple[Any, SoFar], ...], item: Item) -> tuple[Fed, ...]:
        fold = FOLDS[self.fold]
        key = None if self.group is None else attribute(item.body, self.group)
        groups = dict(state)
        value, of = groups.get(key, SoFar(fold.begin))
        so_far = SoFar(fold.add(value, attribute(item.body, self.of)), of | item.of)
        data = (*item.body.data, (self.emits, fold.result(so_far.value)))
        out = Out(item.body._replace(data=data), so_far.of)
        after = sorted({**groups, key: so_far}.items(), key=lambda group: repr(group[0]))
        return answer(tuple(after), out)
