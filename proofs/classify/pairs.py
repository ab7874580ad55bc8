"""Two copies of a box side by side: every pair of states that any stream leads to.

Rule of this file: it decides; it samples nothing.  Two questions, each a graph of pairs:
does the output depend on anything but the streams (`confluence`), and what does a copy that begins
empty, later, put out beside one that never failed (`restarts`)?
Hwang et al., Section 3.2.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias

import networkx as nx

from model.boxes.box import Box, Fed, Item, Of, Out, bodies, held, inputs_in
from model.core import Arrival
from model.events import Body
from proofs.classify.streams import Alphabet, StreamPlace, beginning, next_items, relative

LIMIT = 50_000
"""Pairs of states after which nothing is decided."""


class Undecided(Exception):
    """There are more pairs of states than the limit."""


class CopyPhase(StrEnum):
    ALONE = "alone"
    """One copy; the other one has not begun."""
    REPLAY = "replay"
    """Both; the outputs of the second copy are duplicates."""
    AFTER = "after"
    """The first copy has failed; the second one should put out the same outputs as it would."""


class DueOutput(NamedTuple):
    """An output of the first copy.  owed: it had failed by then, so nobody else puts this out."""

    body: Body
    owed: bool


class CopyPair(NamedTuple):
    """States of both copies, relative to the newest time.

    began: edges whose items the second copy gets.  late: items since the first of them began.
    due: outputs of the first copy that the second one may still repeat.
    """

    phase: CopyPhase
    first: Any
    second: Any
    place: StreamPlace
    began: frozenset[int] = frozenset()
    late: int = 0
    due: tuple[DueOutput, ...] = ()


# --- the inputs of the copies ------------------------------------------------------------------
class Feed(NamedTuple):
    """Both copies get an item, but for a second one that has not begun.  answers: which of the
    allowed answers each copy gives."""

    edge: int
    arrival: Arrival
    answers: tuple[int, int] = (0, 0)


class Swap(NamedTuple):
    """Both copies get two items, the second copy in the other order."""

    items: tuple[tuple[int, Arrival], tuple[int, Arrival]]


class Expire(NamedTuple):
    """A timeout strikes, in both copies or in the first one.  answer: which of the allowed ones."""

    both: bool
    answer: int


class BeginSecond(NamedTuple):
    """The second copy gets the items of this edge from now on."""

    edge: int


class CopyFails(NamedTuple):
    """The first copy fails; from now on its outputs are those that are expected of the second."""


PairEvent: TypeAlias = Feed | Swap | Expire | BeginSecond | CopyFails


class PairStep(NamedTuple):
    """A step of both copies.  first, second: the outputs of each copy.

    other: the second copy puts out something else than the first one, or leaves something out.
    """

    event: PairEvent
    first: tuple[Body, ...] = ()
    second: tuple[Body, ...] = ()
    other: bool = False


def explore(
    start: CopyPair,
    steps: Callable[[CopyPair], Iterator[tuple[PairStep, CopyPair]]],
    box: Box,
    limit: int,
) -> nx.MultiDiGraph[Any]:
    """The graph of all pairs, breadth first; edges have `taken`, and vertices are `normal`.

    Raises Undecided.
    """
    graph: nx.MultiDiGraph[Any] = nx.MultiDiGraph()
    start = normal(start, box)
    graph.add_node(start)
    waiting = deque([start])
    while waiting:
        pair = waiting.popleft()
        for taken, after in steps(pair):
            after = normal(after, box)
            if after not in graph:
                if len(graph) >= limit:
                    raise Undecided(f"more than {limit:,} pairs of states")
                waiting.append(after)
            graph.add_edge(pair, after, taken=taken)
    return graph


def normal(pair: CopyPair, box: Box) -> CopyPair:
    """The pair with times relative to now.

    The box sees as far back as its horizon from the next item, and the next item of an edge may be
    as old as the newest one of this edge.
    """
    now, last = max(pair.place.times).time, min(pair.place.times).time
    first, second, place, due = relative(
        (pair.first, pair.second, pair.place, pair.due), now, box.period, box.horizon + now - last
    )
    return pair._replace(first=first, second=second, place=place, due=due)


def item(edge: int, body: Body, replayed: bool = True) -> Item:
    """An item.  Its place says no more than whether a restarted copy gets it."""
    return Item(edge, body, frozenset([Of(edge, 0 if replayed else -1)]))


# --- does the output depend on the streams alone? ----------------------------------------------
def confluence(box: Box, alphabet: Alphabet) -> tuple[CopyPair, Callable[..., Any]]:
    """The first pair, and the steps: two copies that differ in one choice, order or timeout, and
    then get the same."""

    def steps(pair: CopyPair) -> Iterator[tuple[PairStep, CopyPair]]:
        if pair.phase is CopyPhase.ALONE:
            yield from _one(pair)
        elif pair.first != pair.second:
            yield from _both(pair)

    def _one(pair: CopyPair) -> Iterator[tuple[PairStep, CopyPair]]:
        state, place = pair.first, pair.place
        for number, fed in enumerate(box.expire(state)):
            outs = bodies(fed.outs)
            split = CopyPair(CopyPhase.AFTER, fed.state, state, place)
            yield _apart(Expire(False, number), outs, ()), split
            yield PairStep(Expire(True, number), outs, outs), pair._replace(first=fed.state)
        for edge, arrival, body, after in next_items(alphabet, place):
            answers = box.feed(state, item(edge, body))
            for number, fed in enumerate(answers):
                outs = bodies(fed.outs)
                yield (
                    PairStep(Feed(edge, arrival, (number, number)), outs, outs),
                    CopyPair(CopyPhase.ALONE, fed.state, None, after),
                )
                if number:
                    yield (
                        _apart(Feed(edge, arrival, (0, number)), bodies(answers[0].outs), outs),
                        CopyPair(CopyPhase.AFTER, answers[0].state, fed.state, after),
                    )
            for edge2, arrival2, body2, last in next_items(alphabet, after):
                if edge < edge2:
                    one = feed_all(box, state, [item(edge, body), item(edge2, body2)])
                    two = feed_all(box, state, [item(edge2, body2), item(edge, body)])
                    swap = Swap(((edge, arrival), (edge2, arrival2)))
                    yield (
                        _apart(swap, bodies(one.outs), bodies(two.outs)),
                        CopyPair(CopyPhase.AFTER, one.state, two.state, last),
                    )

    def _both(pair: CopyPair) -> Iterator[tuple[PairStep, CopyPair]]:
        for edge, arrival, body, after in next_items(alphabet, pair.place):
            one, two = (box.feed(state, item(edge, body))[0] for state in pair[1:3])
            yield (
                _apart(Feed(edge, arrival), bodies(one.outs), bodies(two.outs)),
                pair._replace(first=one.state, second=two.state, place=after),
            )

    return CopyPair(
        CopyPhase.ALONE, box.begin(len(alphabet.edges)), None, beginning(alphabet)
    ), steps


def _apart(event: PairEvent, first: tuple[Body, ...], second: tuple[Body, ...]) -> PairStep:
    return PairStep(event, first, second, first != second)


def feed_all(box: Box, state: Any, items: Iterable[Item]) -> Fed:
    """The first allowed answer to all items together."""
    outs: tuple[Out, ...] = ()
    for one in items:
        fed = box.feed(state, one)[0]
        state, outs = fed.state, outs + fed.outs
    return Fed(state, outs)


# --- what does a restarted copy put out? ---------------------------------------------------------
def restarts(box: Box, alphabet: Alphabet) -> tuple[CopyPair, Callable[..., Any]]:
    """The first pair, and the steps: the second copy begins empty, edge by edge at any item; the
    first one fails when it needs no item that the second one did not get."""
    edges = range(len(alphabet.edges))

    def steps(pair: CopyPair) -> Iterator[tuple[PairStep, CopyPair]]:
        if pair.phase is not CopyPhase.AFTER:
            for edge in edges:
                if edge not in pair.began:
                    began = pair.began | {edge}
                    second = box.begin(len(edges)) if not pair.began else pair.second
                    after = pair._replace(
                        phase=CopyPhase.REPLAY,
                        second=second,
                        began=began,
                        late=pair.late * (len(began) < len(edges)),
                    )
                    yield PairStep(BeginSecond(edge)), after
            if len(pair.began) == len(edges) and not _needs_older(pair.first):
                yield PairStep(CopyFails()), pair._replace(phase=CopyPhase.AFTER)
        all_ = len(pair.began) == len(edges)
        late = 0 if all_ or not pair.began else pair.late + 1
        nexts = next_items(alphabet, pair.place) if late <= alphabet.ahead else ()
        for edge, arrival, body, place in nexts:
            replayed = edge in pair.began
            one = box.feed(pair.first, item(edge, body, replayed))[0]
            two = box.feed(pair.second, item(edge, body))[0] if replayed else Fed(pair.second)
            due, other = _repeated(pair, one.outs, two) if pair.began else ((), False)
            yield (
                PairStep(Feed(edge, arrival), bodies(one.outs), bodies(two.outs), other),
                pair._replace(first=one.state, second=two.state, place=place, late=late, due=due),
            )

    begin = CopyPair(CopyPhase.ALONE, box.begin(len(edges)), None, beginning(alphabet))
    return begin, steps


def _repeated(
    pair: CopyPair, first: tuple[Out, ...], second: Fed
) -> tuple[tuple[DueOutput, ...], bool]:
    """The outputs that are due after a step, and whether the second copy put out any other.

    It may be late, and leave out the outputs that the first copy has put out itself.  An output
    that it can still repeat was made of items that it holds, and of at least one that it got.
    """
    failed = pair.phase is CopyPhase.AFTER
    fresh = (out for out in first if failed or any(of.place >= 0 for of in out.of))
    due = [*pair.due, *(DueOutput(out.body, failed) for out in fresh)]
    for body in bodies(second.outs):
        at = next((at for at, one in enumerate(due) if one.body == body), None)
        if at is None or any(one.owed for one in due[:at]):
            return (), True
        del due[: at + 1]
    late = due[: max(0, len(due) - len(list(held(second.state))))]
    return tuple(due[len(late) :]), any(one.owed for one in late)


def _needs_older(state: Any) -> bool:
    return any(of.place < 0 for of in inputs_in(state))
