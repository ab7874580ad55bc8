"""Boxes that keep items back: BSort, Resample, Ordered.

Rule of this file: every item waits for later ones, never for a clock.
Hwang et al., Section 3.2; Abadi et al., Aurora, 2003, Section 2.2.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import merge
from typing import Any, NamedTuple

from model.boxes.box import (
    Box,
    Fed,
    Item,
    Moment,
    Out,
    Stream,
    all_items,
    answer,
    attribute,
    check_sizes,
)
from model.boxes.folds import FOLDS, check_fold
from model.events import BEGINNING, Body


@dataclass(frozen=True)
class BSort(Box):
    """Keeps the `slack` largest items so far (by attribute `by`) and puts out the smallest one: a
    sort with a buffer, which is right if no item is more than `slack` places late."""

    slack: int
    by: str = "time"

    def __post_init__(self) -> None:
        check_sizes("bsort", 0, slack=self.slack)

    def feed(self, state: tuple[Item, ...], item: Item) -> tuple[Fed, ...]:
        kept = sorted((*state, item), key=lambda one: attribute(one.body, self.by))
        outs = [Out(one.body, one.of) for one in kept[: -self.slack or None]]
        return answer(tuple(kept[len(outs) :]), *outs)


class Samples(NamedTuple):
    """waiting: items of the left edge whose window may still grow.  around: of the right edge."""

    waiting: tuple[Item, ...] = ()
    around: tuple[Item, ...] = ()
    left: Moment = Moment(BEGINNING)


@dataclass(frozen=True)
class Resample(Box):
    """For each item of the left edge a fold of the right items at most `size` time units away.

    It goes out with the first right item beyond the window.
    """

    size: int
    fold: str = "list"
    of: str = "type"
    emits: str = "sample"
    edges = 2

    def __post_init__(self) -> None:
        check_fold("resample", self.fold)
        check_sizes("resample", 0, size=self.size)

    @property
    def horizon(self) -> int:
        return 2 * self.size

    def begin(self, _edges: int) -> Samples:
        return Samples()

    def feed(self, state: Samples, item: Item) -> tuple[Fed, ...]:
        waiting, around, left = state
        time = item.body.time
        if item.edge == 0:
            waiting, left = (*waiting, item), Moment(time)
        else:
            around = (*around, item)
        newest = around[-1].body.time if around else None
        ready = tuple(o for o in waiting if newest is not None and o.body.time + self.size < newest)
        outs = [self._out(one, around) for one in ready]
        waiting = waiting[len(ready) :]
        needed = (waiting[0].body.time if waiting else left.time) - self.size
        # The last right item stays: it says how far the right edge has come.
        kept = tuple(one for one in around[:-1] if one.body.time >= needed) + around[-1:]
        return answer(Samples(waiting, kept, left), *outs)

    def _out(self, item: Item, around: tuple[Item, ...]) -> Out:
        near = [one for one in around if abs(one.body.time - item.body.time) <= self.size]
        fold = FOLDS[self.fold]
        value = fold.begin
        for one in near:
            value = fold.add(value, attribute(one.body, self.of))
        data = (("value", fold.result(value)),)
        of = item.of.union(*(one.of for one in near))
        return Out(Body(item.body.time, self.emits, data), of)


class Queues(NamedTuple):
    """The state of an ordered box: the items of each edge that are not yet taken, and the state of
    the box itself."""

    waiting: tuple[tuple[Item, ...], ...]
    inner: Any


@dataclass(frozen=True)
class Ordered(Box):
    """A box that takes its items in the order (time, edge), whatever the order of their arrival:
    each waits until no earlier one can follow."""

    box: Box
    edges = None

    @property
    def horizon(self) -> int:
        return self.box.horizon

    @property
    def period(self) -> int:
        return self.box.period

    def order(self, inputs: tuple[Stream, ...]) -> Iterable[Item]:
        edges = (all_items(inputs, edge) for edge in range(len(inputs)))
        return merge(*edges, key=lambda item: (item.body.time, item.edge))

    def begin(self, edges: int) -> Queues:
        return Queues(((),) * edges, self.box.begin(edges))

    def feed(self, state: Queues, item: Item) -> tuple[Fed, ...]:
        waiting = [*state.waiting]
        waiting[item.edge] = (*waiting[item.edge], item)
        answers = [Fed(state.inner)]
        while all(waiting):  # the next item of an empty queue may precede all that wait
            first = min((queue[0] for queue in waiting), key=lambda one: (one.body.time, one.edge))
            waiting[first.edge] = waiting[first.edge][1:]
            answers = [
                Fed(after.state, before.outs + after.outs)
                for before in answers
                for after in self.box.feed(before.state, first)
            ]
        return tuple(Fed(Queues(tuple(waiting), one.state), one.outs) for one in answers)

    def expire(self, state: Queues) -> tuple[Fed, ...]:
        return tuple(
            Fed(state._replace(inner=fed.state), fed.outs) for fed in self.box.expire(state.inner)
        )
