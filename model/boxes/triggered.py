"""Triggered: an operator that gathers items in input sets, and answers when a set is complete.

Rule of this file: when a set is complete may depend on what the box did before (its global state).
LOG.io, Section 2.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from model.boxes.box import Box, Fed, Item, Out, answer, attribute, check_sizes
from model.boxes.folds import FOLDS, check_fold
from model.events import Body


class InputSet(NamedTuple):
    key: Any
    items: tuple[Item, ...]


class Sets(NamedTuple):
    """open: input sets, by key.  done: the place in `limits` of the next output (global state)."""

    open: tuple[InputSet, ...] = ()
    done: int = 0


@dataclass(frozen=True)
class Triggered(Box):
    """Gathers items in one input set for each value of `group` (None: one set) and folds a set that
    has reached the limit.

    limits: in turn; with more than one the trigger is stateful: the n-th output set needs
    limits[n % len(limits)] items.
    """

    limits: tuple[int, ...]
    group: str | None = None
    fold: str = "list"
    of: str = "type"
    emits: str = "batch"
    edges = None

    def __post_init__(self) -> None:
        check_fold("triggered", self.fold)
        check_sizes("triggered", 1, limits=min(self.limits, default=0))

    def begin(self, _edges: int) -> Sets:
        return Sets()

    def feed(self, state: Sets, item: Item) -> tuple[Fed, ...]:
        key = self.key(item)
        sets = dict(state.open)
        items = (*sets.pop(key, ()), item)
        outs = []
        done = state.done
        if len(items) >= self.limits[done]:
            outs.append(self._out(key, items))
            done = (done + 1) % len(self.limits)
        else:
            sets[key] = items
        return answer(
            Sets(tuple(InputSet(*s) for s in sorted(sets.items(), key=repr)), done), *outs
        )

    def key(self, item: Item) -> Any:
        """The input set that the item belongs to."""
        return None if self.group is None else attribute(item.body, self.group)

    def _out(self, key: Any, items: tuple[Item, ...]) -> Out:
        fold = FOLDS[self.fold]
        value = fold.begin
        for one in items:
            value = fold.add(value, attribute(one.body, self.of))
        data: tuple[tuple[str, Any], ...] = (("value", fold.result(value)),)
        if self.group is not None:
            data = ((self.group, key), *data)
        of = frozenset().union(*(one.of for one in items))
        return Out(Body(items[-1].body.time, self.emits, data), of)
