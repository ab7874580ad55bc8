"""Sequence numbers as published, searched for the smallest streams on which a replay goes wrong.

Rule of this file: a failure-free run, one acknowledgement, its savepoint and the replay are written
out for n events, with everything else symbolic: the stream, the pattern, the strategy, the windows
and what is acknowledged.  n grows until the solver finds a wrong number, so a counterexample is
the smallest.  The fragment is finite: quantifier-free, booleans and small bitvectors.  There is no
transition system, and so no abstraction: tests/lemmas/test_numbering.py runs the counterexamples,
and all smaller runs, on the operator itself.

The numberings are those of schemes; Lima et al., III-B1 to III-B4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import z3

from model.cep.patterns import Strategy
from model.evidence import Outcome
from model.results.answers import QueryKind
from model.results.grid import Grid
from model.results.proofs import Erratum
from proofs.lemmas.upstream_backup import streams
from proofs.lemmas.upstream_backup.numbering import schemes
from proofs.prove.lemma import Given, Lemma
from proofs.prove.query import SolverQuery, smallest, sometimes


# --- what can be wrong -----------------------------------------------------------------------
def misnumbered(scenario: streams.SymbolicScenario, scheme: schemes.NumberingScheme) -> Any:
    """Some match of a window kept has another number in the replay."""
    windows = scenario.windows
    return streams.either(
        z3.And(windows.kept(place.opener), windows.matched(place), scheme.wrong(place))
        for place in windows.places
    )


def shared(scenario: streams.SymbolicScenario, scheme: schemes.NumberingScheme) -> Any:
    """Two matches have one number: in one place, or in two of which one has the other's number."""
    windows, original = scenario.windows, scheme.original
    assert isinstance(original, schemes.Pairs)
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


Numbering = Callable[[streams.CountedWindows], schemes.NumberingScheme]
Wrong = Callable[[streams.SymbolicScenario, schemes.NumberingScheme], Any]


def question(
    numbering: Numbering,
    wrong: Wrong,
    assuming: Callable[[streams.SymbolicScenario], Any],
    events: int,
    kind: QueryKind,
) -> SolverQuery:
    """Is there a stream of so many events on which it goes wrong?"""
    scenario = streams.SymbolicScenario(events)
    scheme = numbering(scenario.windows)
    return SolverQuery(
        f"wrong on {events} event{'s' * (events > 1)}",
        kind,
        (*scenario.claims, assuming(scenario), wrong(scenario, scheme)),
        partial(draw, scenario, scheme),
    )


def refute(numbering: Numbering, wrong: Wrong, events: int, _given: Given) -> Iterable[SolverQuery]:
    """Nothing goes wrong on fewer events; on so many, something does."""
    ask = partial(question, numbering, wrong, lambda scenario: scenario.uses(*Strategy))
    return smallest(ask, range(1, events + 1))


def hold(
    numbering: Numbering,
    wrong: Wrong,
    events: int,
    hypothesis: str,
    of: Callable[[streams.SymbolicScenario], Any],
    given: Given,
) -> Iterable[SolverQuery]:
    """Under the hypothesis nothing goes wrong on so many events or fewer; and dropped windows match
    together with kept ones (`partly_dropped`)."""

    def assuming(scenario: streams.SymbolicScenario) -> Any:
        return given(hypothesis, of(scenario))

    for n in range(1, events + 1):
        yield question(numbering, wrong, assuming, n, QueryKind.CLAIM)
    scenario = streams.SymbolicScenario(events)
    yield sometimes(
        "dropped and kept windows match together, and kept ones again",
        (*scenario.claims, assuming(scenario), partly_dropped(scenario)),
        partial(draw, scenario, numbering(scenario.windows)),
    )


def partly_dropped(scenario: streams.SymbolicScenario) -> Any:
    """A window dropped and a window kept both match in one iteration, and so does a window kept
    in a later one."""
    windows = scenario.windows
    return streams.either(
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
def draw(scenario: streams.SymbolicScenario, scheme: schemes.NumberingScheme, model: Any) -> Grid:
    """The stream that a model describes: the original run and the replay."""
    found = scenario.read(model)
    pattern = f"{' '.join(found.pattern)} ({found.strategy.value})"
    caption = f"pattern {pattern}, windows of {found.size} events every {found.slide}"
    return schemes.ReplayPicture(scenario.windows, scheme, model).grid(found.word, caption)


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
        build=partial(refute, schemes.pairs, shared, 3),
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
            schemes.pairs,
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
        build=partial(refute, schemes.pairs, misnumbered, 4),
        scope=(
            f"streams of up to 4 events, patterns of up to 3 steps over 2 types, {ANY_STRATEGY}, "
            f"{streams.ONE_RUN}"
        ),
        fragment="finite",
        erratum=Erratum(
            "After a restore all matches get the x:y that they had.",
            "Lima et al., III-B4",
            f"4 events, a pattern of 3 steps, {streams.ONE_RUN}",
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
        build=partial(refute, schemes.pairs_from_first_window, misnumbered, 6),
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
            schemes.pairs,
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
            schemes.pairs,
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
        build=partial(refute, schemes.scalar, misnumbered, 3),
        scope=f"streams of up to 3 events, patterns of up to 3 steps over 2 types, {ANY_STRATEGY}",
        fragment="finite",
    ),
)
