"""Sequence numbers as published, searched for the smallest streams on which a replay goes wrong.

Rule of this file: a failure-free run, one acknowledgement, its savepoint and the replay are written
out for n events, with everything else symbolic: the stream, the pattern, the strategy, the windows
and what is acknowledged.  n grows until the solver finds a wrong number, so a counterexample is
the smallest.  The fragment is finite: quantifier-free, booleans and small bitvectors.

The numberings are those of model.cep.numbering; Lima et al., III-B1 to III-B4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import z3

from model.cep.patterns import Strategy
from model.core import Outcome
from proofs.lemmas.upstream_backup.numbering.streams import (
    Place,
    Scenario,
    Windows,
    count,
    either,
    small,
    value,
)
from proofs.prove.grid import Cell, Grid, Mark, Row, lane
from proofs.prove.kinds import Kind
from proofs.prove.lemma import Erratum, Given, Lemma
from proofs.prove.query import Query, smallest, sometimes

# --- numberings ------------------------------------------------------------------------------
Seen = Callable[[int], Any]
"""Whether the run at hand has the window that this event opens: a replay has only those kept."""


def everything(_opener: int) -> Any:
    return z3.BoolVal(True)


@dataclass(frozen=True)
class Pairs:
    """x:y (III-B4).  before: the x of the iteration before the run; first: its first window's y."""

    windows: Windows
    seen: Seen
    before: Any
    first: Any

    def x(self, event: int) -> Any:
        """One more for every iteration that produced something."""
        return self._x[event]

    @cached_property
    def _x(self) -> tuple[Any, ...]:
        sums = []
        latest = self.before
        for event in range(self.windows.events):
            produced = either(
                z3.And(self.seen(place.opener), self.windows.matched(place))
                for place in self.windows.places
                if place.event == event
            )
            latest = z3.If(produced, latest + 1, latest)
            sums.append(latest)
        return tuple(sums)

    def y(self, opener: int) -> Any:
        older = (z3.And(self.seen(j), self.windows.opens(j)) for j in range(opener))
        return self.first + count(older)

    def text(self, model: Any, place: Place) -> str:
        return f"{value(model, self.x(place.event))}:{value(model, self.y(place.opener))}"


@dataclass(frozen=True)
class Scalar:
    """1, 2, 3, ... (III-B3).  before: the number of the match before the run."""

    windows: Windows
    seen: Seen
    before: Any

    def number(self, place: Place) -> Any:
        """Of the first match there."""
        return self._numbers[place]

    @cached_property
    def _numbers(self) -> dict[Place, Any]:
        numbers = {}
        latest = self.before
        for place in self.windows.places:
            numbers[place] = latest + 1
            more = self.windows.completed(place)
            latest = z3.If(self.seen(place.opener), latest + more, latest)
        return numbers

    def text(self, model: Any, place: Place) -> str:
        return str(value(model, self.number(place)))


class Scheme(NamedTuple):
    """The numbers of a run and of its replay.  wrong: the replay gives the match there another
    number.  seed: what the savepoint says, for drawing."""

    original: Pairs | Scalar
    replayed: Pairs | Scalar
    wrong: Callable[[Place], Any]
    seed: Callable[[Any], str]


def pairs(windows: Windows) -> Scheme:
    """As published: the seed is the x:y of the first match of the windows kept."""
    original = Pairs(windows, everything, small(0), small(1))
    x = windows.first_match(lambda place: original.x(place.event))
    y = windows.first_match(lambda place: original.y(place.opener))
    return _compared(windows, original, x, y)


def pairs_from_first_window(windows: Windows) -> Scheme:
    """x as published; the seed's y is the number of the first window kept."""
    original = Pairs(windows, everything, small(0), small(1))
    x = windows.first_match(lambda place: original.x(place.event))
    return _compared(windows, original, x, windows.first_kept(original.y))


def _compared(windows: Windows, original: Pairs, x: Any, y: Any) -> Scheme:
    replayed = Pairs(windows, windows.kept, x - 1, y)
    return Scheme(
        original,
        replayed,
        lambda place: z3.Or(
            original.x(place.event) != replayed.x(place.event),
            original.y(place.opener) != replayed.y(place.opener),
        ),
        lambda model: f"{value(model, x)}:{value(model, y)}",
    )


def scalar(windows: Windows) -> Scheme:
    """The seed is the number of the first match of the windows kept."""
    original = Scalar(windows, everything, small(0))
    seed = windows.first_match(original.number)
    replayed = Scalar(windows, windows.kept, seed - 1)
    return Scheme(
        original,
        replayed,
        lambda place: original.number(place) != replayed.number(place),
        lambda model: str(value(model, seed)),
    )


# --- what can be wrong -----------------------------------------------------------------------
def misnumbered(scenario: Scenario, scheme: Scheme) -> Any:
    """Some match of a window kept has another number in the replay."""
    windows = scenario.windows
    return either(
        z3.And(windows.kept(place.opener), windows.matched(place), scheme.wrong(place))
        for place in windows.places
    )


def shared(scenario: Scenario, scheme: Scheme) -> Any:
    """Two matches have one number: in one place, or in two of which one has the other's number."""
    windows, original = scenario.windows, scheme.original
    assert isinstance(original, Pairs)
    together = (z3.UGT(windows.completed(place), 1) for place in windows.places)
    apart = (
        z3.And(
            windows.matched(p),
            windows.matched(q),
            original.x(p.event) == original.x(q.event),
            original.y(p.opener) == original.y(q.opener),
        )
        for p in windows.places
        for q in windows.places
        if p < q
    )
    return z3.Or(*together, *apart)


Numbered = Callable[[Windows], Scheme]
Wrong = Callable[[Scenario, Scheme], Any]


def question(
    numbered: Numbered,
    wrong: Wrong,
    assuming: Callable[[Scenario], Any],
    events: int,
    kind: Kind,
) -> Query:
    """Is there a stream of so many events on which it goes wrong?"""
    scenario = Scenario(events)
    scheme = numbered(scenario.windows)
    return Query(
        f"wrong on {events} event{'s' * (events > 1)}",
        kind,
        (*scenario.claims, assuming(scenario), wrong(scenario, scheme)),
        partial(draw, scenario, scheme),
    )


def refute(numbered: Numbered, wrong: Wrong, events: int, _given: Given) -> Iterable[Query]:
    """Nothing goes wrong on fewer events; on so many, something does."""
    ask = partial(question, numbered, wrong, lambda scenario: scenario.uses(*Strategy))
    return smallest(ask, range(1, events + 1))


def hold(
    numbered: Numbered,
    wrong: Wrong,
    events: int,
    hypothesis: str,
    of: Callable[[Scenario], Any],
    given: Given,
) -> Iterable[Query]:
    """Under the hypothesis nothing goes wrong on so many events or fewer; and dropped windows match
    together with kept ones (`partly_dropped`)."""

    def assuming(scenario: Scenario) -> Any:
        return given(hypothesis, of(scenario))

    for n in range(1, events + 1):
        yield question(numbered, wrong, assuming, n, Kind.CLAIM)
    scenario = Scenario(events)
    yield sometimes(
        "dropped and kept windows match together, and kept ones again",
        (*scenario.claims, assuming(scenario), partly_dropped(scenario)),
        partial(draw, scenario, numbered(scenario.windows)),
    )


def partly_dropped(scenario: Scenario) -> Any:
    """A window dropped and a window kept both match in one iteration, and so does a window kept
    in a later one."""
    windows = scenario.windows
    return either(
        z3.And(
            windows.matched(old),
            z3.Not(windows.kept(old.opener)),
            windows.matched(new),
            windows.kept(new.opener),
            windows.matched(later),
            windows.kept(later.opener),
        )
        for old in windows.places
        for new in windows.places
        if new.event == old.event and new.opener > old.opener
        for later in windows.places
        if later.event > old.event and later.opener >= new.opener
    )


# --- drawing ---------------------------------------------------------------------------------
def draw(scenario: Scenario, scheme: Scheme, model: Any) -> Grid:
    """Columns are events, rows windows with the numbers of their matches, before and after."""
    found = scenario.read(model)
    pattern = f"{' '.join(found.pattern)} ({found.strategy.value})"
    caption = f"pattern {pattern}, windows of {found.size} events every {found.slide}"
    return run_grid(scenario.windows, scheme, model, found.word, caption)


def run_grid(windows: Windows, scheme: Scheme, model: Any, word: str, caption: str) -> Grid:
    def true(condition: Any) -> bool:
        return bool(model.eval(condition, model_completion=True))

    events = range(windows.events)
    openers = [event for event in events if true(windows.opens(event))]
    kept = [opener for opener in openers if true(windows.kept(opener))]
    theta = Place(value(model, windows.theta_opener), value(model, windows.theta_event))
    blank = tuple(Cell() for _ in events)

    def original(place: Place) -> Cell:
        if not true(windows.holds(place)):
            return Cell()
        number = scheme.original.text(model, place)
        copies = value(model, windows.completed(place))
        if not copies:
            return Cell("·", Mark.DIM)
        if copies > 1 and isinstance(scheme.original, Pairs):
            return Cell(f"{number}, {copies} times", Mark.BAD)
        dropped = place.opener not in kept
        return Cell(number, Mark.DIM if dropped else Mark.PLAIN)

    def replayed(place: Place) -> Cell:
        if not true(windows.holds(place)):
            return Cell()
        if not true(windows.matched(place)):
            return Cell("·", Mark.DIM)
        number = scheme.replayed.text(model, place)
        if true(scheme.wrong(place)):
            return Cell(f"{number}, was {scheme.original.text(model, place)}", Mark.BAD)
        return Cell(number, Mark.GOOD)

    def window(opener: int, cell: Callable[[Place], Cell], label: str) -> Row:
        return Row(
            label,
            tuple(cell(Place(opener, event)) if event >= opener else Cell() for event in events),
        )

    names = {opener: f"window {number}" for number, opener in enumerate(openers, 1)}
    newest = f"up to {scheme.original.text(model, theta)}"
    acked = [newest if event == theta.event else "" for event in events]
    seed = [
        f"seed {scheme.seed(model)}" if event == kept[0] else "deleted" if event < kept[0] else ""
        for event in events
    ]
    rows = (
        Row("original run", blank, heading=True),
        *(window(o, original, names[o] + ", dropped" * (o not in kept)) for o in openers),
        lane("acknowledgement", acked, [Mark.NEW if text else Mark.PLAIN for text in acked]),
        lane("savepoint", seed, [Mark.NEW if text else Mark.PLAIN for text in seed]),
        Row("replay", blank, heading=True),
        *(window(o, replayed, names[o]) for o in kept),
    )
    columns = tuple(f"{letter}{number}" for number, letter in enumerate(word, 1))
    return Grid(caption, columns, rows)


# --- lemmas ----------------------------------------------------------------------------------
ANY_STRATEGY = "under any of the three strategies"
TRIGGER = (
    "x names the input event that triggered the iteration, by its place in the merge; nothing is "
    "counted"
)

LEMMAS = (
    Lemma(
        name="pairs-shared",
        statement=(
            "Two matches never have one x:y: refuted where a window completes several matches "
            "with one event, which skip-till-any-match does."
        ),
        section="Lima et al., III-B4",
        expect=Outcome.REFUTED,
        build=partial(refute, pairs, shared, 3),
        scope=f"streams of up to 3 events, patterns of up to 3 steps over 2 types, {ANY_STRATEGY}",
        fragment="finite",
        erratum=Erratum(
            "x:y is a sequence number: it identifies a complex event.",
            "Lima et al., II-A and III-B4",
            "3 events, a pattern of 2 steps",
            "a third part numbers the matches of one window and iteration",
        ),
    ),
    Lemma(
        name="pairs-distinct",
        statement=(
            "If no window completes more than one match with one event, all x:y differ; so they "
            "do under STRICT and NEXT."
        ),
        section="Lima et al., III-B4",
        expect=Outcome.HOLDS,
        build=partial(
            hold,
            pairs,
            shared,
            6,
            "one run at a time",
            lambda scenario: scenario.uses(Strategy.STRICT, Strategy.NEXT),
        ),
        scope="streams of up to 6 events, patterns of up to 3 steps over 2 types",
        fragment="finite",
    ),
    Lemma(
        name="pairs-first-window",
        statement=(
            "Numbering the first window of the replay with the y of the first match of the "
            "windows kept gives all matches their numbers again: refuted under STRICT, where a "
            "younger window may match before an older one that is open."
        ),
        section="Lima et al., III-B4",
        expect=Outcome.REFUTED,
        build=partial(refute, pairs, misnumbered, 4),
        scope=f"streams of up to 4 events, patterns of up to 3 steps over 2 types, {ANY_STRATEGY}",
        fragment="finite",
        erratum=Erratum(
            "After a restore all matches get the x:y that they had.",
            "Lima et al., III-B4",
            "4 events, a pattern of 3 steps",
            "the seed carries the number of the first window kept",
        ),
    ),
    Lemma(
        name="pairs-iterations",
        statement=(
            "With the seed's y mended, x:y come back: refuted, as x counts iterations in which "
            "only windows dropped since have matched, and the replay cannot; also under NEXT."
        ),
        section="Lima et al., III-B4",
        expect=Outcome.REFUTED,
        build=partial(refute, pairs_from_first_window, misnumbered, 6),
        scope=f"streams of up to 6 events, patterns of up to 3 steps over 2 types, {ANY_STRATEGY}",
        fragment="finite",
        erratum=Erratum(
            "x, incremented in each iteration that produces an event, comes back in a replay.",
            "Lima et al., III-B4",
            "6 events, a pattern of 2 steps, skip till next match",
            TRIGGER,
        ),
    ),
    Lemma(
        name="pairs-any-match",
        statement=(
            "Under skip-till-any-match a replay gives every place its x:y again: a window that "
            "has matched does so with every event that completes any match."
        ),
        section="Lima et al., III-B4",
        expect=Outcome.HOLDS,
        build=partial(
            hold,
            pairs,
            misnumbered,
            7,
            "skip till any match",
            lambda scenario: scenario.uses(Strategy.ANY),
        ),
        scope="streams of up to 7 events, patterns of up to 3 steps over 2 types",
        fragment="finite",
    ),
    Lemma(
        name="pairs-figure-8b",
        statement=(
            "For patterns of one step, as in Fig. 8, a replay gives every match its x:y again, "
            "as published."
        ),
        section="Lima et al., III-B4",
        expect=Outcome.HOLDS,
        build=partial(
            hold,
            pairs,
            misnumbered,
            7,
            "the pattern has one step",
            lambda scenario: scenario.length == 1,
        ),
        scope=f"streams of up to 7 events over 2 types, {ANY_STRATEGY}",
        fragment="finite",
    ),
    Lemma(
        name="scalar-parallel",
        statement=(
            "Scalar numbers come back in a replay though windows are processed in parallel: "
            "refuted, as the paper says."
        ),
        section="Lima et al., III-B3",
        expect=Outcome.REFUTED,
        build=partial(refute, scalar, misnumbered, 3),
        scope=f"streams of up to 3 events, patterns of up to 3 steps over 2 types, {ANY_STRATEGY}",
        fragment="finite",
    ),
)

ABSTRACTIONS = ()
"""None: this is no transition system.  What keeps it honest is that tests/lemmas/test_numbering.py
runs the counterexamples, and all smaller runs, on the operator itself."""
