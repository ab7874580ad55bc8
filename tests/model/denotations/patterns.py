"""The matches of a pattern in a window, from "Patterns" in docs/reference/model.md.

Rule of this file: no state.  A match under skip-till-any-match is a choice of places; a run of the
other strategies follows from the place where it begins.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import chain, combinations, zip_longest
from typing import NamedTuple, TypeAlias

from model.cep.patterns import Pattern, PatternStep, Strategy
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


class Life(NamedTuple):
    """A partial match: the choice at its end; killed, matched: the places where it ends so."""

    choice: Choice
    killed: int | None = None
    matched: int | None = None

    def until(self, place: int) -> Choice:
        """The choice before this place."""
        kept = (tuple(p for p in group if p < place) for group in self.choice)
        return tuple(group for group in kept if group)


class Found(NamedTuple):
    """at: by place, the matches that the event there completes.  close: those that come at the end
    of the window.  partial: by place, the partial matches before the event there, and behind the
    last one."""

    at: list[list[Choice]]
    close: list[Choice]
    partial: list[list[Choice]]


def find_matches(pattern: Pattern, word: Word) -> Found:
    links = chain_links(pattern)
    if pattern.strategy is Strategy.ANY:
        return _all_choices(links, word)
    return _one_at_a_time(links, word, pattern.strategy is Strategy.STRICT)


def chain_links(pattern: Pattern) -> tuple[Link, ...]:
    return tuple(
        Link(step, behind.predicate if behind and behind.negated else None)
        for step, behind in zip_longest(pattern.steps, pattern.steps[1:])
        if not step.negated
    )


def _places(predicate: Predicate | None, word: Word) -> frozenset[int]:
    return frozenset(
        place
        for place, body in enumerate(word)
        if predicate is not None and satisfies(predicate, body)
    )


# "Skip-till-any-match follows every choice of events for the steps, and each choice is a match".
# "The last event taken completes it. If the last step is negated, the match waits for the end of
# the window."
def _all_choices(links: tuple[Link, ...], word: Word) -> Found:
    by_steps = [_choices(links[: steps + 1], word) for steps in range(len(links))]
    last = links[-1]
    until_close = last.negation is not None
    whole = _in_order(by_steps[-1])
    # A choice of all steps is a partial match only if it waits for the close or may take more.
    unfinished = by_steps if until_close or last.step.plus else by_steps[:-1]
    kills = [_places(link.negation, word) for link in links]
    lives = [
        (choice, range(choice[-1][-1] + 1, _first_after(choice[-1][0], kills[len(choice) - 1]) + 1))
        for choice in _in_order(chain.from_iterable(unfinished))
    ]
    return Found(
        [[c for c in whole if not until_close and c[-1][-1] == p] for p in range(len(word))],
        [c for c in whole if until_close and not any(p > c[-1][0] for p in kills[-1])],
        [[c for c, places in lives if p in places] for p in range(len(word) + 1)],
    )


def _first_after(place: int, places: frozenset[int]) -> int:
    return min((p for p in places if p > place), default=1_000)


def _choices(links: tuple[Link, ...], word: Word) -> list[Choice]:
    """All choices of these steps in the whole word."""
    *before, link = links
    places = _places(link.step.predicate, word)
    if not before:
        return [(group,) for group in _groups(places, link.step.plus)]
    # "A negated step kills the run if it comes before the next step; an event that satisfies both
    # kills. It watches from the first event of the step before it on, also while a plus goes on."
    kills = _places(before[-1].negation, word)
    return [
        (*choice, group)
        for choice in _choices(tuple(before), word)
        for group in _groups(frozenset(p for p in places if p > choice[-1][-1]), link.step.plus)
        if not any(choice[-1][0] < p <= group[0] for p in kills)
    ]


@cache
def _groups(places: frozenset[int], plus: bool) -> tuple[Group, ...]:
    # "A step takes one event; a `plus` step takes one or more events".
    sizes = range(1, len(places) + 1 if plus else 2)
    return tuple(chain.from_iterable(combinations(sorted(places), size) for size in sizes))


def _in_order(choices: Iterable[Choice]) -> list[Choice]:
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


# "Strict contiguity and skip-till-next-match follow one run at a time. They start anew, with later
# events, after a match or a kill. A killing event is then tried as the beginning of a new run."
def _one_at_a_time(links: tuple[Link, ...], word: Word, strict: bool) -> Found:
    starts = _places(links[0].step.predicate, word)
    lives: list[Life] = []
    start = min(starts, default=None)
    while start is not None:
        life = _live(links, word, start, strict)
        lives.append(life)
        if life.killed is not None:
            begin = life.killed
        elif life.matched is not None:
            begin = life.matched + 1
        else:
            break
        start = min((place for place in starts if place >= begin), default=None)

    def running(life: Life, before: int) -> bool:
        ends = [end for end in (life.killed, life.matched) if end is not None]
        return life.choice[0][0] < before and all(before <= end for end in ends)

    return Found(
        [[life.choice for life in lives if life.matched == p] for p in range(len(word))],
        [
            life.choice
            for life in lives
            if running(life, len(word)) and len(life.choice) == len(links)
        ],
        [
            [life.until(place) for life in lives if running(life, place)]
            for place in range(len(word) + 1)
        ],
    )


def _live(links: tuple[Link, ...], word: Word, start: int, strict: bool) -> Life:
    """The run that begins at this place."""
    end, whole = len(word), len(links)
    firsts = [start]
    for link in links[1:]:  # "The run moves on as soon as the next step is satisfied"
        later = [p for p in _places(link.step.predicate, word) if p > firsts[-1]]
        if not later:
            break
        firsts.append(min(later))
    finished = len(firsts) == whole
    waits = links[-1].negation is not None
    # "If it waits with a final plus, the plus takes every later event that satisfies it."
    bounds = [*firsts[1:], end if waits or not finished else firsts[-1]]
    groups = tuple(
        (first, *sorted(p for p in _places(link.step.predicate, word) if first < p < bound))
        if link.step.plus
        else (first,)
        for link, first, bound in zip(links, firsts, bounds, strict=False)
    )
    taken = {place for group in groups for place in group}
    # "A negated step kills the run if it comes before the next step".
    kills = {
        place
        for link, first, bound in zip(links, firsts, bounds, strict=False)
        for place in _places(link.negation, word)
        if first < place <= bound
    }
    # "Under strict contiguity, an event that does not continue the run kills it. A run that waits
    # for the end of the window is no longer killed by such events."
    if strict:
        until = firsts[-1] if finished else end
        kills |= {place for place in range(start, until) if place not in taken}
    matched = firsts[-1] if finished and not waits else None
    killed = min(kills, default=None)
    if killed is not None and (matched is None or killed <= matched):
        return Life(Life(groups).until(killed), killed=killed)
    return Life(groups, matched=matched)
