"""The engine that follows one run at a time, and forgets the run when it is killed.

Rule of this file: one run.  The automaton of Lima et al.'s Fig. 5 is `one_run("a", "b", "c")`: it
holds a partial match or none.  Scopes, kernels and figures that were pinned with it name it.

Exact semantics.  Steps, negation and plus are those of model.cep.patterns, under STRICT or NEXT.
  A run begins with an event that satisfies the first step, if there is no run.
  After a match or a kill the search starts anew, with later events; a killing event is then tried
  as the beginning of a new run.  Events that a killed run has passed begin nothing: under STRICT,
  `a a b` on the word a a a b matches nothing here, and events 2 to 4 in an independent run.
  A run that waits for the end of the window lets no other run begin.  Its final plus takes every
  later event that satisfies it, under STRICT too, across a gap.
Without negation, NEXT finds the matches of independent runs that skip past the last event.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from model.cep.engines import EngineAnswer, Matches
from model.cep.patterns import (
    FRESH,
    Guards,
    PatternRun,
    Runs,
    Steps,
    Strategy,
    divided,
    followers,
    steps_of,
)
from model.errors import Invalid
from model.events import Body


@dataclass(frozen=True, slots=True)
class OneRun:
    """An engine (model.cep.engines); its fields are those of model.cep.patterns.Pattern."""

    steps: Steps
    strategy: Strategy = Strategy.NEXT
    positive: Steps = field(init=False, repr=False, compare=False)
    guards: Guards = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.strategy is Strategy.ANY:
            raise Invalid("one run: skip till any match follows every choice; use a Pattern")
        positive, guards = divided(self.steps)
        object.__setattr__(self, "positive", positive)
        object.__setattr__(self, "guards", guards)

    def begin(self) -> Runs:
        return ()

    def feed(self, state: Runs, event: Body) -> EngineAnswer:
        runs, matches = self._feed_one(state[0] if state else FRESH, event)
        return EngineAnswer(runs, matches, bool(matches) or runs != state)

    def close(self, state: Runs) -> Matches:
        whole = len(self.positive)
        if self.guards[whole] is None:
            return ()
        return tuple(run.taken for run in state if run.done == whole)

    def _feed_one(self, run: PatternRun, event: Body) -> tuple[Runs, Matches]:
        whole = len(self.positive)
        guard = self.guards[run.done]
        if guard is not None and guard.holds(event):
            return self._feed_one(FRESH, event)
        follow = followers(self.positive, run, event)
        if follow:
            taking = follow[0]
            if taking.done == whole and self.guards[whole] is None:
                return (), (taking.taken,)
            return (taking,), ()
        if run.done and self.strategy is Strategy.STRICT and run.done < whole:
            return self._feed_one(FRESH, event)
        return ((run,) if run.done else ()), ()


def one_run(*types: str, strategy: Strategy = Strategy.NEXT) -> OneRun:
    """The engine that follows one run for these types (model.cep.patterns.steps_of)."""
    return OneRun(steps_of(*types), strategy)
