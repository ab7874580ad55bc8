"""The matches of the engine that follows one run, from "One run" in docs/reference/model.md.

Rule of this file: no state.  A run follows from the place where it begins.
"""

from __future__ import annotations

from typing import NamedTuple

from model.cep.one_run import OneRun
from model.cep.patterns import Strategy
from tests.model.denotations.patterns import Choice, Found, Link, chain_links, events_of, places_of
from tests.model.denotations.words import Word


class Life(NamedTuple):
    """A partial match: the choice at its end; killed, matched: the places where it ends so."""

    choice: Choice
    killed: int | None = None
    matched: int | None = None

    def until(self, place: int) -> Choice:
        """The choice before this place."""
        kept = (tuple(p for p in group if p < place) for group in self.choice)
        return tuple(group for group in kept if group)


# "Strict contiguity and skip-till-next-match follow one run at a time. They start anew, with later
# events, after a match or a kill. A killing event is then tried as the beginning of a new run."
def follow_one_run(engine: OneRun, word: Word) -> Found:
    links, strict = chain_links(engine.steps), engine.strategy is Strategy.STRICT
    starts = places_of(links[0].step.predicate, word)
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
            [(len(one), events_of(one, word)) for one in choices]
            for choices in (
                [life.until(place) for life in lives if running(life, place)]
                for place in range(len(word) + 1)
            )
        ],
    )


def _live(links: tuple[Link, ...], word: Word, start: int, strict: bool) -> Life:
    """The run that begins at this place."""
    end, whole = len(word), len(links)
    firsts = [start]
    for link in links[1:]:  # "The run moves on as soon as the next step is satisfied"
        later = [p for p in places_of(link.step.predicate, word) if p > firsts[-1]]
        if not later:
            break
        firsts.append(min(later))
    finished = len(firsts) == whole
    waits = links[-1].negation is not None
    # "If it waits with a final plus, the plus takes every later event that satisfies it."
    bounds = [*firsts[1:], end if waits or not finished else firsts[-1]]
    groups = tuple(
        (first, *sorted(p for p in places_of(link.step.predicate, word) if first < p < bound))
        if link.step.plus
        else (first,)
        for link, first, bound in zip(links, firsts, bounds, strict=False)
    )
    taken = {place for group in groups for place in group}
    # "A negated step kills the run if it comes before the next step".
    kills = {
        place
        for link, first, bound in zip(links, firsts, bounds, strict=False)
        for place in places_of(link.negation, word)
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
