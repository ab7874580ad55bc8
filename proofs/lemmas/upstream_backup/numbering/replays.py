"""Sequence numbers as published, searched for the smallest streams on which a replay goes wrong.

Rule of this file: a failure-free run, one acknowledgement, its savepoint and the replay are written
out for n events; the stream, the pattern, the strategy and the windows are symbolic.  n grows until
the solver finds a wrong number.  There is no transition system, and so no abstraction:
tests/families/upstream_backup/lemmas/test_numbering.py runs the counterexamples, and all smaller
runs, on the operator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

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

PAPER = "Lima et al., III-B4"
Numbering: TypeAlias = Callable[[streams.CountedWindows], schemes.NumberingScheme]
Wrong: TypeAlias = Callable[[streams.CountedWindows, schemes.NumberingScheme], Any]


# --- what can be wrong -----------------------------------------------------------------------
def misnumbered(windows: streams.CountedWindows, scheme: schemes.NumberingScheme) -> Any:
    """Some match of a window kept has another number in the replay."""
    return streams.either(
        z3.And(windows.kept(place.opener), windows.matched(place), scheme.wrong(place))
        for place in windows.places
    )


def shared(windows: streams.CountedWindows, scheme: schemes.NumberingScheme) -> Any:
    """Two matches have one x:y: in one place, or in two of which one has the other's number."""
    number, matched = scheme.original, windows.matched
    together = (z3.UGT(windows.completed(place), 1) for place in windows.places)
    apart = (
        z3.And(matched(p), matched(q), number[p][0] == number[q][0], number[p][1] == number[q][1])
        for p in windows.places
        for q in windows.places
        if p < q
    )
    return z3.Or(*together, *apart)


def partly_dropped(windows: streams.CountedWindows) -> Any:
    """A window dropped and a window kept both match in one iteration, and so does a window kept
    in a later one."""

    def matches(place: streams.WindowPlace, kept: bool = True) -> Any:
        its = windows.kept(place.opener)
        return z3.And(windows.matched(place), its if kept else z3.Not(its))

    return streams.either(
        z3.And(matches(old, kept=False), matches(new), matches(later))
        for old in windows.places
        for new in windows.places
        if new.event == old.event and new.opener > old.opener
        for later in windows.places
        if later.event > old.event and later.opener >= new.opener
    )


# --- searches --------------------------------------------------------------------------------
class ReplaySearch:
    """Streams of n events, numbered.  more: a claim about the scenario."""

    def __init__(self, numbering: Numbering, events: int, more: Callable[..., Any]) -> None:
        self.scenario = streams.SymbolicScenario(events)
        self.windows = self.scenario.windows
        self.scheme = numbering(self.windows)
        self.claims = (*self.scenario.claims, more(self.scenario))

    def draw(self, model: Any) -> Grid:
        found = self.scenario.read(model)
        pattern = f"{' '.join(found.pattern)} ({found.strategy.value})"
        caption = f"pattern {pattern}, windows of {found.size} events every {found.slide}"
        return schemes.replay_grid(self.windows, self.scheme, model, found.word, caption)


def question(
    numbering: Numbering, wrong: Wrong, more: Callable[..., Any], events: int, kind: QueryKind
) -> SolverQuery:
    """Is there a stream of n events on which it goes wrong?"""
    search = ReplaySearch(numbering, events, more)
    claims = (*search.claims, wrong(search.windows, search.scheme))
    return SolverQuery(f"wrong on {events} event{'s' * (events > 1)}", kind, claims, search.draw)


def refute(numbering: Numbering, wrong: Wrong, events: int, _: Given) -> Iterator[SolverQuery]:
    """Nothing goes wrong on fewer events; on n events, something does."""
    ask = partial(question, numbering, wrong, lambda scenario: scenario.uses(*Strategy))
    return smallest(ask, range(1, events + 1))


def hold(
    wrong: Wrong, events: int, hypothesis: str, of: Callable[..., Any], given: Given
) -> Iterator[SolverQuery]:
    """Under the hypothesis nothing goes wrong with x:y on n events or fewer."""

    def more(scenario: streams.SymbolicScenario) -> Any:
        return given(hypothesis, of(scenario))

    for n in range(1, events + 1):
        yield question(schemes.pairs, wrong, more, n, QueryKind.CLAIM)
    search = ReplaySearch(schemes.pairs, events, more)
    what = "dropped and kept windows match together, and kept ones again"
    yield sometimes(what, (*search.claims, partly_dropped(search.windows)), search.draw)


# --- lemmas ----------------------------------------------------------------------------------
PATTERNS = "patterns of up to 3 steps over 2 types"
ANY_STRATEGY = "under any of the three strategies"


def refuted(
    name: str,
    statement: str,
    found: tuple[Numbering, Wrong, int],
    section: str = PAPER,
    which: str = ANY_STRATEGY,
    erratum: Erratum | None = None,
) -> Lemma:
    """found: what goes wrong with a numbering, and on how many events.  which: of the patterns."""
    scope = f"streams of up to {found[2]} events, {PATTERNS}, {which}"
    build = partial(refute, *found)
    return Lemma(name, statement, section, Outcome.REFUTED, build, scope, "finite", erratum)


def holds(name: str, statement: str, scope: str, build: Callable[..., Any]) -> Lemma:
    return Lemma(name, statement, PAPER, Outcome.HOLDS, build, scope, "finite")


LEMMAS = (
    refuted(
        "pairs-shared",
        "Two matches never have one x:y: refuted where a window completes several matches with "
        "one event, which skip-till-any-match does.",
        (schemes.pairs, shared, 3),
        erratum=Erratum(
            "x:y is a sequence number: it identifies a complex event.",
            "Lima et al., II-A and III-B4",
            "3 events, a pattern of 2 steps",
            "a third part numbers the matches of one window and iteration",
        ),
    ),
    holds(
        "pairs-distinct",
        "If no window completes more than one match with one event, all x:y differ; so they do "
        "under STRICT and NEXT, if one run at a time is followed.",
        f"streams of up to 6 events, {PATTERNS}",
        partial(
            hold, shared, 6, "one run at a time", lambda s: s.uses(Strategy.STRICT, Strategy.NEXT)
        ),
    ),
    refuted(
        "pairs-first-window",
        "Numbering the first window of the replay with the y of the first match of the windows "
        "kept gives all matches their numbers again: refuted under STRICT, where a younger window "
        "may match before an older one that is open.",
        (schemes.pairs, misnumbered, 4),
        which=f"{ANY_STRATEGY}, {streams.ONE_RUN}",
        erratum=Erratum(
            "After a restore all matches get the x:y that they had.",
            PAPER,
            f"4 events, a pattern of 3 steps, {streams.ONE_RUN}",
            "the seed carries the number of the first window kept",
        ),
    ),
    refuted(
        "pairs-iterations",
        "With the seed's y mended, x:y come back: refuted, as x counts iterations in which only "
        "windows dropped since have matched, and the replay cannot; also under NEXT.",
        (schemes.pairs_from_first_window, misnumbered, 6),
        erratum=Erratum(
            "x, incremented in each iteration that produces an event, comes back in a replay.",
            PAPER,
            "6 events, a pattern of 2 steps, skip till next match",
            "x names the input event that triggered the iteration, by its place in the merge; "
            "nothing is counted",
        ),
    ),
    holds(
        "pairs-any-match",
        "Under skip-till-any-match a replay gives every place its x:y again, if all matches are "
        "reported: a window that has matched does so with every event that completes any match.",
        f"streams of up to 7 events, {PATTERNS}",
        partial(hold, misnumbered, 7, "skip till any match", lambda s: s.uses(Strategy.ANY)),
    ),
    holds(
        "pairs-figure-8b",
        "For patterns of one step, as in Fig. 8, a replay gives every match its x:y again, as "
        "published.",
        f"streams of up to 7 events over 2 types, {ANY_STRATEGY}",
        partial(hold, misnumbered, 7, "the pattern has one step", lambda s: s.length == 1),
    ),
    refuted(
        "scalar-parallel",
        "Scalar numbers come back in a replay though windows are processed in parallel: refuted, "
        "as the paper says.",
        (schemes.scalar, misnumbered, 3),
        section="Lima et al., III-B3",
    ),
)
