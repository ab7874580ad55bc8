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
    limits[n % len(limits)] items.  apart: a complete set has an output for each item, of the item
    alone, and not one of all.
    """

    limits: tuple[int, ...]
    group: str | None = None
    fold: str = "list"
    of: str = "type"
    emits: str = "batch"
    apart: bool = False
    edges = None

    def __post_init__(self) -> None:
        check_fold("triggered", self.fold)
        check_sizes("triggered", 1, limits=min(self.limits, default=0))

    def begin(self, _edges: int) -> Sets:
        return Sets()

    def feed(self, state: Sets, item: Item) -> tuple[Fed, ...]:
        (key,) = self.keys(item)
        state = self.gather(state, item)
        sets = dict(state.open)
        items = sets[key]
        if len(items) < self.limits[state.done]:
            return answer(state)
        left = tuple(one for one in state.open if one.key != key)
        done = (state.done + 1) % len(self.limits)
        groups = [(one,) for one in items] if self.apart else [items]
        return answer(Sets(left, done), *(self.fold_set(key, group) for group in groups))

    def recheck(self, state: Sets, item: Item) -> tuple[Fed, ...]:
        """The answer to an item that has updated the global state already."""
        return self.feed(state, item)

    def gather(self, state: Sets, item: Item) -> Sets:
        """The state with the item in its input set, which is not looked at."""
        (key,) = self.keys(item)
        sets = dict(state.open)
        sets[key] = (*sets.get(key, ()), item)
        return state._replace(open=tuple(InputSet(*s) for s in sorted(sets.items(), key=repr)))

    def keys(self, item: Item) -> tuple[Any, ...]:
        """The input sets that the item belongs to."""
        return (None if self.group is None else attribute(item.body, self.group),)

    def fold_set(self, key: Any, items: tuple[Item, ...]) -> Out:
        """The output that an input set makes."""
        fold = FOLDS[self.fold]
        value = fold.begin
        for one in items:
            value = fold.add(value, attribute(one.body, self.of))
        data: tuple[tuple[str, Any], ...] = (("value", fold.result(value)),)
        if self.group is not None:
            data = ((self.group, key), *data)
        of = frozenset().union(*(one.of for one in items))
        return Out(Body(items[-1].body.time, self.emits, data), of)


@dataclass(frozen=True)
class Functions(Box):
    """Several generative functions over the same items, each with input sets of its own (3.1).

    The key of an input set is (place of the function, its key); the state is one for each function.
    """

    parts: tuple[Triggered, ...]
    edges = None

    def begin(self, edges: int) -> tuple[Sets, ...]:
        return tuple(part.begin(edges) for part in self.parts)

    def feed(self, state: tuple[Sets, ...], item: Item) -> tuple[Fed, ...]:
        outs: list[Out] = []
        for key in self.keys(item):
            (fed,) = self.feed_set(state, item, key)
            state, outs = fed.state, [*outs, *fed.outs]
        return answer(state, *outs)

    def keys(self, item: Item) -> tuple[Any, ...]:
        """The input sets that the item belongs to."""
        return tuple((at, key) for at, part in enumerate(self.parts) for key in part.keys(item))

    def feed_set(self, state: tuple[Sets, ...], item: Item, key: Any) -> tuple[Fed, ...]:
        """Feed the item to the function of one of its input sets."""
        return _changed(state, key[0], self.parts[key[0]].feed(state[key[0]], item))

    def recheck_set(self, state: tuple[Sets, ...], item: Item, key: Any) -> tuple[Fed, ...]:
        """As feed_set, for an item that has updated the global state of the function already."""
        return _changed(state, key[0], self.parts[key[0]].recheck(state[key[0]], item))

    def gather_set(self, state: tuple[Sets, ...], item: Item, key: Any) -> tuple[Sets, ...]:
        """The state with the item in one of its input sets, which is not looked at."""
        at = key[0]
        return (*state[:at], self.parts[at].gather(state[at], item), *state[at + 1 :])


def _changed(state: tuple[Sets, ...], at: int, fed: tuple[Fed, ...]) -> tuple[Fed, ...]:
    ((changed, outs),) = fed
    return answer((*state[:at], changed, *state[at + 1 :]), *outs)
