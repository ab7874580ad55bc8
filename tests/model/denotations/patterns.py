"""The matches of a pattern in a window, from "Patterns" in docs/reference/model.md.

Rule of this file: no state.  A match is a choice of places; a strategy says which choices it
allows; a skip and a consumption choose among the matches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain, combinations, zip_longest
from typing import Any, NamedTuple, TypeAlias

from model.cep.engines import Match
from model.cep.patterns import AfterMatch, Pattern, PatternStep, Steps, Strategy
from model.predicates import Predicate
from tests.model.denotations.predicates import satisfies
from tests.model.denotations.words import Word

Group: TypeAlias = tuple[int, ...]
"""The places of the events that one step takes."""
Choice: TypeAlias = tuple[Group, ...]
"""A group for each of the first steps."""


class Link(NamedTuple):
    """A step that takes events, and the negated step behind it."""

    step: PatternStep
    negation: Predicate | None


class Completed(NamedTuple):
    """A match, and the place of the event that completes it; behind the word: its end."""

    place: int
    choice: Choice


class Found(NamedTuple):
    """at: by place, the matches that the event there completes.  close: those that come at the end
    of the window.  states: by place, all that is remembered before the event there, and behind the
    last one."""

    at: list[list[Choice]]
    close: list[Choice]
    states: list[list[Any]]


def chain_links(steps: Steps) -> tuple[Link, ...]:
    return tuple(
        Link(step, behind.predicate if behind and behind.negated else None)
        for step, behind in zip_longest(steps, steps[1:])
        if not step.negated
    )


def places_of(predicate: Predicate | None, word: Word) -> frozenset[int]:
    return frozenset(
        place
        for place, body in enumerate(word)
        if predicate is not None and satisfies(predicate, body)
    )


def events_of(choice: Choice, word: Word) -> Match:
    return tuple(word[place] for group in choice for place in group)


def find_matches(pattern: Pattern, word: Word) -> Found:
    choices = choices_of(pattern.steps, pattern.strategy, word)
    matches = reported(pattern, choices.matches())
    return Found(
        [[c for place, c in matches if place == p] for p in range(len(word))],
        [c for place, c in matches if place == len(word)],
        [state(pattern, choices, matches, place) for place in range(len(word) + 1)],
    )


class Choices:
    """The steps of a pattern, a strategy and a word: the choices that the strategy allows."""

    def __init__(self, steps: Steps, strategy: Strategy, word: Word) -> None:
        self.word, self.strategy = word, strategy
        self.links = chain_links(steps)
        self.fits = [places_of(link.step.predicate, word) for link in self.links]
        self.kills = [places_of(link.negation, word) for link in self.links]
        # "If the last step is negated, the match waits for the end of the window."
        self.waits = self.links[-1].negation is not None
        self.all = [
            [c for c in self._choices(done) if self._allowed(c, c[-1][-1] + 1)]
            for done in range(1, len(self.links) + 1)
        ]
        self.alive = [self._alive(place) for place in range(len(word) + 1)]

    def _choices(self, steps: int) -> list[Choice]:
        """All choices of events for these first steps in the whole word."""
        link, fits = self.links[steps - 1], self.fits[steps - 1]
        if steps == 1:
            return [(group,) for group in groups_of(fits, link.step.plus)]
        # "A negated step kills the run if it comes before the next step; an event that satisfies
        # both kills. It watches from the first event of the step before it on, also while a plus
        # goes on."
        return [
            (*choice, group)
            for choice in self._choices(steps - 1)
            for group in groups_of(frozenset(p for p in fits if p > choice[-1][-1]), link.step.plus)
            if not any(choice[-1][0] < p <= group[0] for p in self.kills[steps - 2])
        ]

    def _allowed(self, choice: Choice, end: int) -> bool:
        """Does the strategy allow the choice, as far as the events before `end` say?"""
        if self.strategy is Strategy.ANY:
            return True  # "each choice is a match"
        firsts = {group[0] for group in choice}
        taken = {place for group in choice for place in group}
        whole, strict = len(self.links), self.strategy is Strategy.STRICT
        # "so that a final plus takes one event", unless the match waits
        if len(choice) == whole and not self.waits and len(choice[-1]) > 1:
            return False
        for place in range(choice[0][0] + 1, end):
            done = sum(first < place for first in firsts)
            moves_on = done < whole and place in self.fits[done]
            goes_on = self.links[done - 1].step.plus and place in self.fits[done - 1]
            if strict and done == whole:
                # "under strict contiguity those that follow without a gap"
                goes_on = goes_on and place - 1 in taken
            if place in firsts:
                continue
            if place in taken:
                # "The run moves on as soon as the next step is satisfied"
                if moves_on or not goes_on:
                    return False
            elif moves_on or goes_on or (strict and done < whole):
                # "skip-till-next-match skips events that do not continue the run"; "under strict
                # contiguity, an event that does not continue the run kills it"
                return False
        return True

    def _alive(self, place: int) -> list[Choice]:
        """The partial matches before this place."""
        whole = len(self.links)
        # A whole choice is a partial match only if it waits for the close or may take more.
        loops = self.strategy is Strategy.ANY and self.links[-1].step.plus
        kept = whole if self.waits or loops else whole - 1
        return in_order(
            choice
            for choice in chain.from_iterable(self.all[:kept])
            if choice[-1][-1] < place
            and not any(choice[-1][0] < p < place for p in self.kills[len(choice) - 1])
            and self._allowed(choice, place)
        )

    def matches(self) -> list[Completed]:
        """All matches, in the order in which they come."""
        end = len(self.word)
        if self.waits:
            return [Completed(end, c) for c in self.alive[end] if len(c) == len(self.links)]
        whole = in_order(self.all[-1])
        return [Completed(p, c) for p in range(end) for c in whole if c[-1][-1] == p]

    def over(self, run: Choice, place: int) -> bool:
        """Does the final plus take no more?"""
        strict = self.strategy is Strategy.STRICT and len(run) == len(self.links)
        return strict and self.links[-1].step.plus and place > run[-1][-1] + 1


choices_of = lru_cache(maxsize=16)(Choices)


# --- after a match ---------------------------------------------------------------------------
def reported(pattern: Pattern, matches: list[Completed]) -> list[Completed]:
    if pattern.after_match is AfterMatch.PAST_LAST_EVENT:
        matches = sorted(past_last_event(matches), key=matches.index)
    return list(unshared(matches)) if pattern.consumes else matches


def state(
    pattern: Pattern, choices: Choices, matches: Sequence[Completed], place: int
) -> list[Any]:
    """All that is remembered before the event at this place: the partial matches that may still be
    reported, each with the steps done and the events taken."""
    skips, waits = pattern.after_match is AfterMatch.PAST_LAST_EVENT, choices.waits
    before = [match.choice for match in matches if match.place < place]
    runs = choices.alive[place]
    if skips and not waits:
        # "of partial matches with the same steps done, the first alone"
        runs = [run for run in runs if not before or run[0][0] > before[-1][-1][-1]]
        runs = [run for at, run in enumerate(runs) if len(run) not in map(len, runs[:at])]
    elif pattern.consumes:
        runs = [run for run in runs if all(apart(run, match) for match in before)]
    known = [(len(run), events_of(run, choices.word), choices.over(run, place)) for run in runs]
    if not (waits if skips else pattern.consumes):
        return known
    # ... and which events they share.
    held = sorted({p for run in runs for group in run for p in group})
    shares = [[held.index(p) for group in run for p in group] for run in runs]
    return list(zip(known, shares, strict=True))


# "Skip past last event reports the first match, by its first event and then by its last, and goes
# on behind its last event."
def past_last_event(matches: Sequence[Completed]) -> Iterator[Completed]:
    begin = 0
    while left := [match for match in matches if match.choice[0][0] >= begin]:
        first = min(left, key=lambda match: (match.choice[0][0], match.place))
        yield first
        begin = first.choice[-1][-1] + 1


# "An event of a match that was reported is in no other match; an earlier match goes before a later
# one."
def unshared(matches: Sequence[Completed]) -> Iterator[Completed]:
    kept: list[Completed] = []
    for match in matches:
        if all(apart(match.choice, other.choice) for other in kept):
            kept.append(match)
            yield match


def apart(one: Choice, other: Choice) -> bool:
    return {p for group in one for p in group}.isdisjoint(p for group in other for p in group)


@cache
def groups_of(places: frozenset[int], plus: bool) -> tuple[Group, ...]:
    # "A step takes one event; a `plus` step takes one or more events".
    sizes = range(1, len(places) + 1 if plus else 2)
    return tuple(chain.from_iterable(combinations(sorted(places), size) for size in sizes))


def in_order(choices: Iterable[Choice]) -> list[Choice]:
    # "Matches that come with one event are in the order of their first events. Of two with the same
    # first event, the first event that they treat differently decides: a match that skips the event
    # comes before one that begins the next step with it, and this one before one whose plus goes
    # on."

    def treatment(choice: Choice) -> tuple[int, ...]:
        begins = {group[0] for group in choice}
        goes_on = {place for group in choice for place in group[1:]}
        return tuple(
            1 if p in begins else 2 if p in goes_on else 0 for p in range(choice[-1][-1] + 1)
        )

    return sorted(choices, key=lambda choice: (choice[0][0], treatment(choice)))
