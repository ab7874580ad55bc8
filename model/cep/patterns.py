"""Patterns: sequences of predicates with negation and Kleene plus, followed by independent runs.

Rule of this file: no state but runs, and no run that another run blocks.  Every event may begin a
run; a strategy is a rule that says which runs follow from a run and an event.

Exact semantics.  The strategies have the names of Agrawal et al. (SIGMOD 2008), which Lima et al.
adopt in III-A.
  STRICT  the next event continues the run or kills it;
  NEXT    events that do not continue the run are skipped;
  ANY     also an event that continues the run may be skipped: every choice is a match.
A negated step kills the run if it comes before the next step (an event that satisfies both
kills), also while a plus before it goes on.  A `plus` step takes one or more events; STRICT and
NEXT move on as soon as the next step is satisfied, so that a final plus takes one.  A negated last
step means "until the window closes": the match comes at its close; a run that waits for it is
killed by the negated step alone.  Its final plus takes more events: under NEXT every later one that
satisfies it, under STRICT those that follow without a gap.

After a match.  NO_SKIP reports all matches.  PAST_LAST_EVENT reports the first match (by its first
event, then by its last), goes on behind its last event, and so on.  `consumes`: an event of a match
that was reported is in no other match; an earlier match goes before a later one.

The engine of Lima et al.'s Fig. 5 follows one run at a time: model.cep.one_run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from model.cep.engines import EngineAnswer, Match, Matches
from model.errors import Invalid
from model.events import Body
from model.predicates import Predicate, Type


class Strategy(Enum):
    STRICT = "strict contiguity"
    NEXT = "skip till next match"
    ANY = "skip till any match"


class AfterMatch(Enum):
    NO_SKIP = "no skip"
    PAST_LAST_EVENT = "skip past last event"


@dataclass(frozen=True, slots=True)
class PatternStep:
    predicate: Predicate
    negated: bool = False
    plus: bool = False


Steps: TypeAlias = tuple[PatternStep, ...]
Guards: TypeAlias = tuple[Predicate | None, ...]


class PatternRun(NamedTuple):
    """A partial match.  done: how many positive steps are satisfied.  taken: the events that
    satisfied these steps.

    places: of these events among all events of runs, from 0, where a later match must know which
    events it shares; else empty.  over: whether the final plus takes no more events.
    """

    done: int
    taken: Match
    places: tuple[int, ...] = ()
    over: bool = False


FRESH = PatternRun(0, ())
Runs: TypeAlias = tuple[PatternRun, ...]


@dataclass(frozen=True, slots=True)
class Pattern:
    """An engine (model.cep.engines) that searches each window for `steps`.

    Both are made of the steps once, as each event asks for them.  positive: the steps that are not
    negated.  guards: after so many of these, the negated predicate that watches, or None.
    """

    steps: Steps
    strategy: Strategy = Strategy.NEXT
    after_match: AfterMatch = AfterMatch.NO_SKIP
    consumes: bool = False
    positive: Steps = field(init=False, repr=False, compare=False)
    guards: Guards = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        positive, guards = divided(self.steps)
        object.__setattr__(self, "positive", positive)
        object.__setattr__(self, "guards", guards)

    @property
    def waits(self) -> bool:
        """Do matches come at the end of the window?"""
        return self.guards[-1] is not None

    @property
    def skips(self) -> bool:
        return self.after_match is AfterMatch.PAST_LAST_EVENT

    @property
    def placed(self) -> bool:
        """Do runs know the places of their events?"""
        return self.waits if self.skips else self.consumes

    def begin(self) -> Runs:
        return ()

    def feed(self, state: Runs, event: Body) -> EngineAnswer:
        whole, waits = len(self.positive), self.waits
        loops = self.strategy is Strategy.ANY and self.positive[-1].plus
        runs: list[PatternRun] = []
        complete: list[PatternRun] = []
        for run in (*state, FRESH):
            guard = self.guards[run.done]
            if guard is not None and guard.holds(event):
                continue
            stays, goes_on = self._moves(run, event)
            runs += stays
            for follow in goes_on:
                if follow.done < whole or waits:
                    runs.append(follow)
                else:
                    complete.append(follow)
                    runs += (follow,) if loops else ()
        if self.skips or self.consumes:
            runs, complete = self._after(runs, complete)
        after = tuple(runs)
        matches = tuple(run.taken for run in complete)
        return EngineAnswer(after, matches, bool(matches) or after != state)

    def close(self, state: Runs) -> Matches:
        if not self.waits:
            return ()
        reported: list[PatternRun] = []
        for run in state:
            if run.done == len(self.positive) and self._allows(reported, run):
                reported.append(run)
        return tuple(run.taken for run in reported)

    def _moves(self, run: PatternRun, event: Body) -> tuple[Runs, Runs]:
        """The run if it stays as it is, and the runs that take the event."""
        goes_on = () if run.over else self._taking(run, event)
        if self.strategy is Strategy.ANY:
            return ((run,) if run.done else ()), goes_on
        if goes_on or not run.done:
            return (), goes_on[:1]
        if self.strategy is Strategy.NEXT:
            return (run,), ()
        if run.done < len(self.positive):
            return (), ()
        return (run._replace(over=self.positive[-1].plus),), ()

    def _taking(self, run: PatternRun, event: Body) -> Runs:
        follow = followers(self.positive, run, event)
        if not follow or not self.placed:
            return follow
        return tuple(one._replace(places=(*run.places, NEWEST)) for one in follow)

    def _after(
        self, runs: list[PatternRun], complete: list[PatternRun]
    ) -> tuple[list[PatternRun], list[PatternRun]]:
        """The runs that go on, and the matches that are reported.

        All matches of an event share it, so that one of them is reported.  Of runs that stand at
        one place, the first matches whenever another does: the others are not needed for a skip.
        """
        if self.skips and not self.waits:
            if complete:
                return [], complete[:1]
            first = {run.done: run for run in reversed(runs)}
            return [run for run in runs if first[run.done] is run], complete
        if complete:
            taken = complete[0].places
            runs = [run for run in runs if set(taken).isdisjoint(run.places)]
        return ranked(runs), complete[:1]

    def _allows(self, reported: Sequence[PatternRun], run: PatternRun) -> bool:
        """May the run be reported after these?"""
        if self.skips and reported and run.places[0] <= reported[-1].places[-1]:
            return False
        return not self.consumes or all(set(o.places).isdisjoint(run.places) for o in reported)


NEWEST = 1 << 30
"""The place of the event at hand, behind all others."""


def ranked(runs: Sequence[PatternRun]) -> list[PatternRun]:
    """The runs with places counted anew: states that look the same go on in the same way."""
    rank = {place: at for at, place in enumerate(sorted({p for r in runs for p in r.places}))}
    return [run._replace(places=tuple(rank[place] for place in run.places)) for run in runs]


def followers(positive: Steps, run: PatternRun, event: Body) -> Runs:
    """The runs that take the event: the next step first, then the plus that may go on."""
    done = run.done
    follow: list[PatternRun] = []
    if done < len(positive) and positive[done].predicate.holds(event):
        follow.append(PatternRun(done + 1, (*run.taken, event)))
    if done and positive[done - 1].plus and positive[done - 1].predicate.holds(event):
        follow.append(PatternRun(done, (*run.taken, event)))
    return tuple(follow)


def divided(steps: Steps) -> tuple[Steps, Guards]:
    """The positive steps and the guards, as Pattern has them.  Raises Invalid."""
    if not any(not step.negated for step in steps):
        raise Invalid("pattern: empty; give at least one step that is not negated")
    if steps[0].negated:
        raise Invalid("pattern: begins with a negated step; nothing comes before it")
    for step, after in pairwise(steps):
        if step.negated and after.negated:
            raise Invalid("pattern: two negated steps in a row; join them with Either")
    for step in steps:
        if step.negated and step.plus:
            raise Invalid("pattern: a step is negated and plus; negation already covers all")
    positive: list[PatternStep] = []
    guards: list[Predicate | None] = [None]
    for step in steps:
        if step.negated:
            guards[-1] = step.predicate
        else:
            positive.append(step)
            guards.append(None)
    return tuple(positive), tuple(guards)


def steps_of(*types: str) -> Steps:
    """Events of these types in this order; "!x" negates a step, "x+" takes one or more events."""
    steps = []
    for type_ in types:
        name = type_.removeprefix("!").removesuffix("+")
        if not name:
            raise Invalid(f"pattern: step {type_!r} names no event type")
        steps.append(PatternStep(Type(name), type_.startswith("!"), type_.endswith("+")))
    return tuple(steps)


def sequence(
    *types: str,
    strategy: Strategy = Strategy.NEXT,
    after_match: AfterMatch = AfterMatch.NO_SKIP,
    consumes: bool = False,
) -> Pattern:
    """The pattern of these types (steps_of)."""
    return Pattern(steps_of(*types), strategy, after_match, consumes)
