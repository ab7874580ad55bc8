"""Patterns: sequences of predicates with negation and Kleene plus, under three strategies.

Rule of this file: no state but runs.  A run is (steps done, events taken); a strategy is a rule
that says which runs follow from a run and an event.  The strategies are those of Agrawal et al.
(SIGMOD 2008), which Lima et al. adopt in III-A: their Fig. 5 is `sequence("a", "b", "c")`.

Exact semantics.  STRICT and NEXT follow one run at a time and start anew, with later events,
after a match or a kill.  ANY follows every choice, so an event may belong to many matches.
  STRICT  the next event continues the run or kills it;
  NEXT    events that do not continue the run are skipped;
  ANY     also an event that continues the run may be skipped.
A negated step kills the run if it comes before the next step (an event that satisfies both
kills), also while a plus before it goes on.  A killing event is then tried as the beginning of a
new run.  A `plus` step takes one or more events; STRICT and NEXT move on as soon as the next step
is satisfied, so that a final plus takes one.  A negated last step means "until the window closes":
the match comes at its close; a run that waits for it is killed by the negated step alone, and its
final plus takes every later event that satisfies it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, TypeAlias

from model.cep.engines import EngineAnswer, Match, Matches
from model.errors import Invalid
from model.events import Body
from model.predicates import Predicate, Type


class Strategy(Enum):
    STRICT = "strict contiguity"
    NEXT = "skip till next match"
    ANY = "skip till any match"


@dataclass(frozen=True, slots=True)
class PatternStep:
    predicate: Predicate
    negated: bool = False
    plus: bool = False


class PatternRun(NamedTuple):
    """A partial match.  done: how many positive steps are satisfied.  taken: the events that
    satisfied these steps."""

    done: int
    taken: Match


FRESH = PatternRun(0, ())
Runs: TypeAlias = tuple[PatternRun, ...]


@dataclass(frozen=True, slots=True)
class Pattern:
    """An engine (model.cep.engines) that searches each window for `steps`.

    Both are made of the steps once, as each event asks for them.  positive: the steps that are not
    negated.  guards: after so many of these, the negated predicate that watches, or None.
    """

    steps: tuple[PatternStep, ...]
    strategy: Strategy = Strategy.NEXT
    positive: tuple[PatternStep, ...] = field(init=False, repr=False, compare=False)
    guards: tuple[Predicate | None, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not any(not step.negated for step in self.steps):
            raise Invalid("pattern: empty; give at least one step that is not negated")
        if self.steps[0].negated:
            raise Invalid("pattern: begins with a negated step; nothing comes before it")
        for step, after in zip(self.steps, self.steps[1:], strict=False):
            if step.negated and after.negated:
                raise Invalid("pattern: two negated steps in a row; join them with Either")
        for step in self.steps:
            if step.negated and step.plus:
                raise Invalid("pattern: a step is negated and plus; negation already covers all")
        positive: list[PatternStep] = []
        guards: list[Predicate | None] = [None]
        for step in self.steps:
            if step.negated:
                guards[-1] = step.predicate
            else:
                positive.append(step)
                guards.append(None)
        object.__setattr__(self, "positive", tuple(positive))
        object.__setattr__(self, "guards", tuple(guards))

    def begin(self) -> Runs:
        return ()

    def feed(self, state: Runs, event: Body) -> EngineAnswer:
        if self.strategy is Strategy.ANY:
            runs, matches = self._feed_all(state, event)
        else:
            runs, matches = self._feed_one(state[0] if state else FRESH, event)
        return EngineAnswer(runs, matches, bool(matches) or runs != state)

    def close(self, state: Runs) -> Matches:
        whole = len(self.positive)
        if self.guards[whole] is None:
            return ()
        return tuple(run.taken for run in state if run.done == whole)

    def _feed_one(self, run: PatternRun, event: Body) -> tuple[Runs, Matches]:
        guard = self.guards[run.done] if run.done else None
        if guard is not None and guard.holds(event):
            return self._feed_one(FRESH, event)
        follow = self._takes(run, event)
        if follow:
            return self._settle(follow[0])
        if run.done and self.strategy is Strategy.STRICT and run.done < len(self.positive):
            return self._feed_one(FRESH, event)
        return ((run,) if run.done else ()), ()

    def _settle(self, run: PatternRun) -> tuple[Runs, Matches]:
        """Report the run if no later event can stop it."""
        if run.done == len(self.positive) and self.guards[run.done] is None:
            return (), (run.taken,)
        return (run,), ()

    def _feed_all(self, state: Runs, event: Body) -> tuple[Runs, Matches]:
        runs: list[PatternRun] = []
        matches: list[Match] = []
        whole = len(self.positive)
        for run in (*state, FRESH):
            guard = self.guards[run.done] if run.done else None
            if guard is not None and guard.holds(event):
                continue
            if run.done:
                runs.append(run)
            for follow in self._takes(run, event):
                kept, match = self._settle(follow)
                matches += match
                loops = follow.done == whole and self.positive[-1].plus
                runs += (follow,) if loops else kept
        return tuple(runs), tuple(matches)

    def _takes(self, run: PatternRun, event: Body) -> Runs:
        """The runs that take the event: the next step first, then the plus that may go on."""
        steps = self.positive
        taken = (*run.taken, event)
        follow: list[PatternRun] = []
        if run.done < len(steps) and steps[run.done].predicate.holds(event):
            follow.append(PatternRun(run.done + 1, taken))
        if run.done and steps[run.done - 1].plus and steps[run.done - 1].predicate.holds(event):
            follow.append(PatternRun(run.done, taken))
        return tuple(follow)


def sequence(*types: str, strategy: Strategy = Strategy.NEXT) -> Pattern:
    """The pattern of events of these types in this order; "!x" negates a step, "x+" takes one or
    more events."""
    steps = []
    for type_ in types:
        name = type_.removeprefix("!").removesuffix("+")
        if not name:
            raise Invalid(f"pattern: step {type_!r} names no event type")
        steps.append(PatternStep(Type(name), type_.startswith("!"), type_.endswith("+")))
    return Pattern(tuple(steps), strategy)
