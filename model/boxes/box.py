"""What an operator is: a box takes items from its input edges and returns outputs.

Rule of this file: no operator.  A box is incremental, so a protocol can run it node by node; all
outputs that a box may have (`Box.runs`) follow from the same code: every interleaving of its input
edges, every choice that it leaves open, every moment at which it may time out.
Hwang et al., Sections 2 and 3.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from model.errors import Invalid
from model.events import BEGINNING, Body


class Of(NamedTuple):
    """An input that an output was made of: the place in the stream of an input edge, from 0."""

    edge: int
    place: int


Lineage: TypeAlias = frozenset[Of]
NOTHING_OF: Lineage = frozenset()

RUNS = 200_000
"""So many beginnings of runs are tried one after the other, for a minute or less."""


class Item(NamedTuple):
    """An input of a box.  of: a ghost; a box hands it on and decides nothing by it."""

    edge: int
    body: Body
    of: Lineage = NOTHING_OF


class Out(NamedTuple):
    """An output of a box.  of: the inputs that it was made of."""

    body: Body
    of: Lineage = NOTHING_OF


class Fed(NamedTuple):
    """An answer of a box: its next state, and what it puts out at once."""

    state: Any
    outs: tuple[Out, ...] = ()


class Moment(NamedTuple):
    """A time in the state of a box.  Times stand in moments and bodies and nowhere else, so that
    whoever compares states can move all of them."""

    time: int


class Stream(NamedTuple):
    """The outputs on an edge, and the time before which nothing more will follow."""

    outs: tuple[Out, ...]
    mark: int = BEGINNING


class Box:
    """An operator.  A subclass is a frozen dataclass; states are tuples, never changed."""

    edges: int | None = 1
    """The number of input edges; None: any."""

    @property
    def horizon(self) -> int:
        """Of times that are further back than this, the box sees only their order."""
        return 0

    @property
    def period(self) -> int:
        """The box does the same if all times are moved by this."""
        return 1

    def begin(self, _edges: int) -> Any:
        """The state before the first item."""
        return ()

    def feed(self, state: Any, item: Item) -> tuple[Fed, ...]:
        """The allowed answers to an item: one, unless the box chooses."""
        raise NotImplementedError

    def expire(self, _state: Any) -> tuple[Fed, ...]:
        """The allowed answers to a timeout; empty if the state waits for none."""
        return ()

    def order(self, inputs: tuple[Stream, ...]) -> Iterable[Item] | None:
        """All items in an order that stands for every order of arrival; None if there is none."""
        return all_items(inputs) if len(inputs) == 1 else None

    def runs(self, inputs: tuple[Stream, ...]) -> Iterator[Stream]:
        """Every allowed output of finite inputs, each once; equal ones that were made of other
        inputs count as one.

        A timeout may strike between any two items, and also after the last one; it need not.
        Raises Invalid for more than RUNS beginnings of runs; a box that allows one run, whatever
        the order of arrival, takes inputs of any length.
        """
        only = self._only_run(inputs)
        yield from self._every_run(inputs) if only is None else (only,)

    def _only_run(self, inputs: tuple[Stream, ...]) -> Stream | None:
        """The output if no order of arrival, choice or timeout makes a difference; or None."""
        items = self.order(inputs)
        if items is None:
            return None
        state = self.begin(len(inputs))
        outs: list[Out] = []
        for item in items:
            if self.expire(state):
                return None
            fed, *others = self.feed(state, item)
            if others:
                return None
            state = fed.state
            outs += fed.outs
        return None if self.expire(state) else _finished(tuple(outs))

    def _every_run(self, inputs: tuple[Stream, ...]) -> Iterator[Stream]:
        found: dict[tuple[Body, ...], Stream] = {}
        items = [[*all_items(inputs, edge)] for edge in range(len(inputs))]
        start = (self.begin(len(inputs)), (0,) * len(inputs), ())
        seen: set[Any] = {start}
        waiting: list[tuple[Any, tuple[int, ...], tuple[Out, ...]]] = [start]
        while waiting:
            state, taken, outs = waiting.pop()
            steps = [(taken, fed) for fed in self.expire(state)]
            for edge, stream in enumerate(items):
                if taken[edge] < len(stream):
                    after = (*taken[:edge], taken[edge] + 1, *taken[edge + 1 :])
                    steps += [(after, fed) for fed in self.feed(state, stream[taken[edge]])]
            if all(count == len(stream) for count, stream in zip(taken, items, strict=True)):
                found.setdefault(bodies(outs), _finished(outs))
            for after, fed in steps:
                step = (fed.state, after, outs + fed.outs)
                if step not in seen:
                    seen.add(step)
                    waiting.append(step)
            if len(seen) > RUNS:
                raise Invalid(
                    f"{type(self).__name__}: more than {RUNS:,} beginnings of runs over "
                    f"{' and '.join(str(len(stream)) for stream in items)} items; give fewer, or "
                    "an operator whose output depends on no arrival, choice or timeout"
                )
        yield from found.values()


def all_items(inputs: tuple[Stream, ...], edge: int = 0) -> Iterator[Item]:
    """The items of an edge; each is made of itself."""
    for place, out in enumerate(inputs[edge].outs):
        yield Item(edge, out.body, frozenset([Of(edge, place)]))


def _finished(outs: tuple[Out, ...]) -> Stream:
    return Stream(outs, outs[-1].body.time if outs else BEGINNING)


def bodies(outs: Iterable[Out]) -> tuple[Body, ...]:
    return tuple(out.body for out in outs)


def answer(state: Any, *outs: Out) -> tuple[Fed, ...]:
    """The only allowed answer."""
    return (Fed(state, outs),)


class Packed:
    """A state of a box, or a part of one, in another shape than tuples: equal to all that are the
    same when they are unpacked."""

    __slots__ = ()

    def unpacked(self) -> tuple[Any, ...]:
        """The state as tuples, for those who look into it or compare it."""
        raise NotImplementedError

    def lineages(self) -> Iterator[Lineage]:
        """The lineage of everything that the state holds."""
        return held(self.unpacked())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Packed) and self.unpacked() == other.unpacked()

    def __hash__(self) -> int:
        return hash(self.unpacked())


def held(state: Any) -> Iterator[Lineage]:
    """The lineage of everything that a state of a box holds.  Another set may hold some."""
    if isinstance(state, Packed):
        yield from state.lineages()
    elif isinstance(state, frozenset) and all(isinstance(one, Of) for one in state):
        yield state
    elif isinstance(state, frozenset | tuple):
        for part in state:
            yield from held(part)


def inputs_in(state: Any) -> Iterator[Of]:
    """The inputs that a state of a box still holds, or that went into what it holds."""
    return chain.from_iterable(held(state))


def oldest(state: Any, edges: int) -> tuple[int | None, ...]:
    """For each edge the place of the oldest input that the state still needs; None: it needs none.

    Who restarts the box empty and feeds it from there loses nothing.
    """
    places: list[int | None] = [None] * edges
    for edge, place in inputs_in(state):
        known = places[edge]
        places[edge] = place if known is None else min(known, place)
    return tuple(places)


def check_sizes(box: str, least: int, **sizes: int) -> None:
    """Raises Invalid for a parameter of a box that is too small."""
    for name, value in sizes.items():
        if value < least:
            raise Invalid(f"{box}: {name} {value}; give {least} or more")


def attribute(body: Body, name: str) -> Any:
    """The value of an attribute, "time" or "type"; None if the body has no such attribute.

    A complex event holds bodies in place of attributes, and no body begins with a name.
    """
    if name == "time":
        return body.time
    if name == "type":
        return body.type
    for pair in body.data:
        if pair[0] == name:
            return pair[1]
    return None
