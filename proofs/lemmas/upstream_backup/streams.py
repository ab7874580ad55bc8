"""Short streams with everything symbolic: events, pattern, strategy, windows, acknowledgement.

Rule of this file: what a failure-free run does and what a savepoint keeps is written out for n
events, and nothing is said of numbers.  The fragment is finite: quantifier-free, booleans and small
bitvectors.

What is encoded: Lima et al., III-B1 to III-B4, as model.cep.operator, model.cep.windows,
model.cep.one_run (STRICT, NEXT) and model.cep.patterns (ANY, no skip) have it: data-parallel
processing, no skipping, count windows that close with their last event, patterns of one to three
steps over two types without plus.  One acknowledgement is enough: what a savepoint keeps depends on
the newest event acknowledged alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import z3
from z3 import UGE, UGT, ULE, ULT, And, BitVec, BoolVal, If, Implies, Not, Or

from model.cep.patterns import Strategy
from model.results.grid import Cell, GridRow
from proofs.prove.drawing import true

BITS = 8
"""Wide enough for x and y, and for the matches in one place: 21, with two of seven events before
the last.  Scalar numbers add up matches over all places, and are searched for 3 events only."""

ONE_RUN = (
    "an engine that follows one run at a time and forgets it when it is killed (established "
    "engines follow independent runs; no younger window is first there in up to 7 events)"
)
"""For which engine a counterexample speaks in which a younger window is first."""


def small(value: int) -> Any:
    return z3.BitVecVal(value, BITS)


def count(conditions: Iterable[Any]) -> Any:
    """How many of the conditions hold."""
    return total(If(condition, small(1), small(0)) for condition in conditions)


def total(numbers: Iterable[Any]) -> Any:
    return sum(numbers, small(0))


def either(conditions: Iterable[Any]) -> Any:
    return Or(BoolVal(False), *conditions)  # SMT-LIB has no disjunction of nothing


def first_of(options: Iterable[tuple[Any, Any]]) -> Any:
    """The value of the first condition that holds; zero if none does."""
    value = small(0)
    for condition, option in reversed(tuple(options)):
        value = If(condition, option, value)
    return value


# --- windows, one acknowledgement, and what it keeps -----------------------------------------
class WindowPlace(NamedTuple):
    """A window, by the event that opens it, and one of its events; both counted from 0."""

    opener: int
    event: int


class CountedWindows:
    """Count windows over n events.  completed: how many matches an engine begun with the opener of
    a place completes with its event.  theta: the newest match acknowledged, by its place."""

    def __init__(self, events: int, completed: Callable[[WindowPlace], Any]) -> None:
        self.events = events
        self.size, self.slide = BitVec("window size", BITS), BitVec("window slide", BITS)
        self.theta_opener = BitVec("window of theta", BITS)
        self.theta_event = BitVec("event of theta", BITS)
        # In the order in which a run visits them: event by event, oldest window first.
        self.places = [WindowPlace(o, event) for event in range(events) for o in range(event + 1)]
        self._completed = {place: completed(place) for place in self.places}
        self._matched = {p: And(self.holds(p), n != 0) for p, n in self._completed.items()}
        needed = [Or(self.theta_opener == o, self.unclosed(o)) for o in range(events)]
        self._kept = [And(self.opens(o), either(needed[: o + 1])) for o in range(events)]

    @property
    def bounds(self) -> tuple[Any, ...]:
        """A size beyond n never closes, a slide beyond n never opens a second window."""
        return (
            UGE(self.size, 1),
            ULE(self.size, self.events + 1),
            UGE(self.slide, 1),
            ULE(self.slide, self.events),
        )

    def read_theta(self, model: Any) -> WindowPlace:
        return WindowPlace(value(model, self.theta_opener), value(model, self.theta_event))

    @property
    def acknowledged(self) -> Any:
        """Some match is acknowledged, and with it all before."""
        return either(And(self.theta(place), self.matched(place)) for place in self.places)

    def theta(self, place: WindowPlace) -> Any:
        return And(self.theta_opener == place.opener, self.theta_event == place.event)

    def opens(self, event: int) -> Any:
        if event == 0:
            return BoolVal(True)
        return either(self.slide == d for d in range(1, event + 1) if event % d == 0)

    def holds(self, place: WindowPlace) -> Any:
        """The window is one, and the event is in it."""
        return And(self.opens(place.opener), ULT(small(place.event - place.opener), self.size))

    def completed(self, place: WindowPlace) -> Any:
        return If(self.holds(place), self._completed[place], small(0))

    def matched(self, place: WindowPlace) -> Any:
        return self._matched[place]

    def unclosed(self, opener: int) -> Any:
        """The window was open after the event of theta: not even that event closed it."""
        still = (
            And(self.theta_event == event, ULT(small(event - opener + 1), self.size))
            for event in range(opener, self.events)
        )
        return And(self.opens(opener), either(still))

    def kept(self, opener: int) -> Any:
        """III-B2: all windows from the first not closed on, or from that of theta, if older."""
        return self._kept[opener]

    def first_kept(self, value: Callable[[int], Any]) -> Any:
        """A value of the first window kept."""
        return first_of((self.kept(opener), value(opener)) for opener in range(self.events))

    def first_match(self, value: Callable[[WindowPlace], Any]) -> Any:
        """A value of the first match of the windows kept."""
        matched = ((And(self.kept(p.opener), self.matched(p)), value(p)) for p in self.places)
        return first_of(matched)


# --- drawing ---------------------------------------------------------------------------------
def columns(word: str) -> tuple[str, ...]:
    """An event each."""
    return tuple(f"{letter}{number}" for number, letter in enumerate(word, 1))


def heading(label: str, events: int) -> GridRow:
    return GridRow(label, (Cell(),) * events, heading=True)


def window_row(
    label: str, opener: int, events: int, cell: Callable[[WindowPlace], Cell]
) -> GridRow:
    """The events of a window, from its opener on."""
    places = [WindowPlace(opener, event) for event in range(opener, events)]
    return GridRow(label, ((Cell(),) * opener) + tuple(map(cell, places)))


# --- patterns --------------------------------------------------------------------------------
STEPS = 3


class FoundStream(NamedTuple):
    """A counterexample, as the operator of the model takes it.  pattern: its steps as
    model.cep.patterns.steps_of has them.  theta: the newest match acknowledged, by its place."""

    word: str
    pattern: tuple[str, ...]
    strategy: Strategy
    size: int
    slide: int
    theta: WindowPlace


class SymbolicScenario:
    """n events of two types, a pattern of one to three steps, a strategy; all symbolic.

    negation: may there be a negated step between two others?
    """

    def __init__(self, events: int, negation: bool = False) -> None:
        self.events, self.negation = events, negation
        # By how many steps precede it: whether there is one, and of which type.
        self.negated = [z3.Bool(f"negated_step_after_{done}") for done in range(STEPS)]
        self.negates_a = [z3.Bool(f"negated_step_after_{done}_is_a") for done in range(STEPS)]
        self.types = [z3.Bool(f"event_{i + 1}_is_a") for i in range(events)]
        self.steps = [z3.Bool(f"step_{done + 1}_is_a") for done in range(STEPS)]
        self.length, self.strategy = BitVec("pattern length", BITS), BitVec("strategy", BITS)
        self._single = [[*self._one(opener)] for opener in range(events)]
        self._counted = [[*self._all(opener)] for opener in range(events)]
        self.windows = CountedWindows(events, self._completed)

    @property
    def claims(self) -> tuple[Any, ...]:
        """What every scenario satisfies: all is within bounds, and something is acknowledged."""
        return (*self.bounds, *self.windows.bounds, self.windows.acknowledged)

    @property
    def bounds(self) -> tuple[Any, ...]:
        """The bounds of the pattern.  It begins with a: exchanging the two types changes nothing
        else.  It does not end with a negated step, which completes matches when windows close."""
        between = (
            Implies(self.negated[done], UGT(self.length, done) if self.negation else False)
            for done in range(1, STEPS)
        )
        known = ULT(self.strategy, len(Strategy))
        return (self.steps[0], UGE(self.length, 1), ULE(self.length, STEPS), known, *between)

    def uses(self, *strategies: Strategy) -> Any:
        return either(self.strategy == tuple(Strategy).index(strategy) for strategy in strategies)

    def read(self, model: Any) -> FoundStream:
        return FoundStream(
            letters(model, self.types),
            tuple(self._pattern(model)),
            tuple(Strategy)[value(model, self.strategy)],
            value(model, self.windows.size),
            value(model, self.windows.slide),
            self.windows.read_theta(model),
        )

    def _pattern(self, model: Any) -> Iterator[str]:
        steps, negated = letters(model, self.steps), letters(model, self.negates_a)
        for done in range(value(model, self.length)):
            if done and true(model, self.negated[done]):
                yield f"!{negated[done]}"
            yield steps[done]

    def one_run(self, place: WindowPlace) -> Any:
        """STRICT and NEXT: does the engine begun there complete a match with that event?"""
        return self._single[place.opener][place.event - place.opener]

    def any_run(self, place: WindowPlace) -> Any:
        """ANY: how many it completes."""
        return self._counted[place.opener][place.event - place.opener]

    def _completed(self, place: WindowPlace) -> Any:
        single = If(self.one_run(place), small(1), small(0))
        return If(self.uses(Strategy.ANY), self.any_run(place), single)

    def _takes(self, event: int) -> list[Any]:
        """By the steps done: does the event satisfy the next one?"""
        return [step == self.types[event] for step in self.steps]

    def _negates(self, event: int) -> list[Any]:
        """By the steps done: does a negated step kill a run?  None kills one that has not begun."""
        steps = zip(self.negated, self.negates_a, strict=True)
        kills = [And(negated, is_a == self.types[event]) for negated, is_a in steps]
        return [BoolVal(False), *kills[1:]]

    def _one(self, opener: int) -> Iterator[Any]:
        """STRICT and NEXT: does the one run complete, event by event?"""
        progress = [BoolVal(done == 0) for done in range(STEPS)]
        strict = self.uses(Strategy.STRICT)
        for event in range(opener, self.events):
            takes, negates = self._takes(event), self._negates(event)
            kills = [Or(n, And(strict, Not(t))) for n, t in zip(negates, takes, strict=True)]
            goes_on = [And(p, t, Not(n)) for p, t, n in zip(progress, takes, negates, strict=True)]
            # A killing event is tried as the beginning of a new run.
            killed = either(And(progress[done], kills[done]) for done in range(1, STEPS))
            match = either(And(goes_on[done], self.length == done + 1) for done in range(STEPS))
            yield match
            after = [Or(And(Or(progress[0], killed), Not(takes[0])), match)]
            for done in range(1, STEPS):
                reached = And(goes_on[done - 1], UGT(self.length, done))
                waits = And(progress[done], Not(takes[done]), Not(kills[done]))
                begun = And(killed, takes[0]) if done == 1 else BoolVal(False)
                after.append(Or(reached, waits, begun))
            progress = after

    def _all(self, opener: int) -> Iterator[Any]:
        """ANY: how many runs complete, event by event.  runs: by the steps done, how many."""
        runs = [small(1), *[small(0)] * (STEPS - 1)]  # always one that has not begun
        for event in range(opener, self.events):
            negates = self._negates(event)
            alive = [If(kills, small(0), n) for kills, n in zip(negates, runs, strict=True)]
            takes = zip(self._takes(event), alive, strict=True)
            more = [If(taken, n, small(0)) for taken, n in takes]
            yield first_of((self.length == done + 1, more[done]) for done in range(STEPS))
            reached = [If(UGT(self.length, d), more[d - 1], small(0)) for d in range(1, STEPS)]
            runs = [runs[0], *(n + new for n, new in zip(alive[1:], reached, strict=True))]


# --- models ----------------------------------------------------------------------------------
def value(model: Any, number: Any) -> int:
    found: int = model.eval(number, model_completion=True).as_long()
    return found


def letters(model: Any, booleans: Iterable[Any]) -> str:
    """The types of events or steps: a where the boolean holds, b elsewhere."""
    return "".join("a" if true(model, boolean) else "b" for boolean in booleans)
