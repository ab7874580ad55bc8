"""A result that nobody expects: the events that went into it, or that went into it twice.

Rule of this file: a hypothesis about events is given only if the oracle, asked about other events,
allows all that the sink shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from model.boxes.box import Of, Out
from model.core import Arrival, Observation, Scope
from model.graph import SOURCE
from model.properties import AS_IF, COMPLETE
from model.results.culprit import CulpritKind

TRIES = 60
"""The number of other inputs about which the oracle is asked at most."""

Arrivals = tuple[tuple[Arrival, ...], ...]


@dataclass(frozen=True, slots=True)
class ResultOrigin:
    """kind: MADE_UP or COUNTED_TWICE.  twice: the events that went into several results, or one of
    which went in twice (guessed).  dropped: the events without one of which the output is right."""

    kind: CulpritKind
    twice: tuple[Of, ...] = ()
    guessed: bool = False
    dropped: tuple[Of, ...] = ()


def origin_of(
    scope: Scope,
    seen: Observation,
    want: Sequence[Out],
    got: Sequence[Out],
    place: int,
    *,
    ended: bool,
) -> ResultOrigin:
    """Where an unexpected result of an edge comes from: the one at this place of the observed.

    want, got: the outputs of this edge.  ended: False: more may follow.
    """
    if twice := _counted_again(want, got, place):
        return ResultOrigin(CulpritKind.COUNTED_TWICE, twice)
    try:
        doubled = _explaining(_doubled(scope, seen.arrivals), scope, seen, ended=ended)
        dropped = _explaining(_dropped(scope, seen.arrivals), scope, seen, ended=ended)
    except Exception:  # of an operator, which may be anybody's, about events that no scope has
        return ResultOrigin(CulpritKind.MADE_UP)
    if doubled and not dropped:
        return ResultOrigin(CulpritKind.COUNTED_TWICE, doubled, guessed=True)
    if dropped and not doubled:
        return ResultOrigin(CulpritKind.MADE_UP, dropped=dropped)
    return ResultOrigin(CulpritKind.MADE_UP)


def _counted_again(want: Sequence[Out], got: Sequence[Out], place: int) -> tuple[Of, ...]:
    """The events of this result that went into more observed results than expected ones."""
    if not all(out.of for out in (*want, *got)):
        return ()
    before, now = _counts(want), _counts(got)
    return tuple(sorted(of for of in got[place].of if now[of] > max(before[of], 1)))


def _counts(outs: Sequence[Out]) -> Counter[Of]:
    """The number of different results that each event went into."""
    return Counter(of for _, lineage in {(out.body, out.of) for out in outs} for of in lineage)


def _explaining(
    inputs: Iterator[tuple[Of, Arrivals]], scope: Scope, seen: Observation, *, ended: bool
) -> tuple[Of, ...]:
    """The events whose change of the input makes all outputs right."""
    judge = COMPLETE if ended else AS_IF
    found = (
        event
        for (event, arrivals), _ in zip(inputs, range(TRIES), strict=False)
        if judge.holds(scope, seen._replace(arrivals=arrivals))
    )
    return tuple(dict.fromkeys(found))


def _sources(scope: Scope) -> list[int]:
    """The place of each input among the sources of the graph."""
    names = [name for name, spec in scope.graph.nodes if spec is SOURCE]
    return [names.index(name) for name, _ in scope.inputs]


def _doubled(scope: Scope, arrivals: Arrivals) -> Iterator[tuple[Of, Arrivals]]:
    """The input with an event that comes once more, at once or later."""
    for at, source in enumerate(_sources(scope)):
        own = arrivals[at]
        for place, event in enumerate(own):
            for later in range(place + 1, len(own) + 1):
                more = (*own[:later], event._replace(gap=0), *own[later:])
                yield Of(source, place), (*arrivals[:at], more, *arrivals[at + 1 :])


def _dropped(scope: Scope, arrivals: Arrivals) -> Iterator[tuple[Of, Arrivals]]:
    """The input without an event; the others come at their times."""
    for at, source in enumerate(_sources(scope)):
        own = arrivals[at]
        for place, event in enumerate(own):
            rest = own[place + 1 :]
            if rest:
                rest = (rest[0]._replace(gap=rest[0].gap + event.gap), *rest[1:])
            yield Of(source, place), (*arrivals[:at], (*own[:place], *rest), *arrivals[at + 1 :])
