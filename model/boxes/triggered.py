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
        state = self.gather(self.count(state), item)
        return (self.generate(state, key),) if self.is_ready(state, key) else answer(state)

    def count(self, state: Sets) -> Sets:
        """The state after the update of the global state by an item; here no item updates it."""
        return state

    def is_ready(self, state: Sets, key: Any) -> bool:
        """Is the input set, to which the newest item belongs, complete?"""
        return len(dict(state.open)[key]) >= self.limits[state.done]

    def generate(self, state: Sets, key: Any) -> Fed:
        """The state without an input set that is complete, and the outputs of the set."""
        items = dict(state.open)[key]
        left = tuple(one for one in state.open if one.key != key)
        groups = [(one,) for one in items] if self.apart else [items]
        outs = tuple(self.fold_set(key, group) for group in groups)
        return Fed(Sets(left, self.after(state.done)), outs)

    def after(self, done: int) -> int:
        """The global state after an output set."""
        return (done + 1) % len(self.limits)

    def gather(self, state: Sets, item: Item) -> Sets:
        """The state with the item in its input set; the global state is not updated."""
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
        parts: list[Sets] = []
        outs: list[Out] = []
        for part, sets in zip(self.parts, state, strict=True):
            (fed,) = part.feed(sets, item)
            parts.append(fed.state)
            outs += fed.outs
        return answer(tuple(parts), *outs)

    def keys(self, item: Item) -> tuple[Any, ...]:
        """The input sets that the item belongs to."""
        return tuple((at, key) for at, part in enumerate(self.parts) for key in part.keys(item))
