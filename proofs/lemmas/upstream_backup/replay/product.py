"""One operator twice: the original run and a replay, side by side over one merged input.

Rule of this file: two runs of an operator alone, for any deterministic engine, any splitter, any
length and any number of windows.  What is known of them is made of parts: windows and engines
(skipping), numbers (numbers, pairs).  What travels between nodes is in other folders.

The replay starts with the event that opens the first window kept by a savepoint; windows that
opened earlier have been dropped.  From there on both runs process an event, or the original run
alone if upstream has deleted it because it was skipped.  Only the last iteration is remembered: if
every iteration has the same outcome in both runs, all outcomes are the same.  Serial processing is
parallel processing with an engine that holds its matches back until the window closes.

The fragment.  States of the engine are a sort over which no quantifier ranges, so delta, from
states to states, makes no loop and the skipping lemma stays in EPR (openers go from windows to
positions).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import z3
from z3 import And, Const, DeclareSort, ForAll, Function, If, Implies, Not, Or

from proofs.prove.lemma import Given
from proofs.prove.orders import TotalOrder
from proofs.prove.symbols import AtTime, Axioms, Symbol
from proofs.prove.transition import Transition, TransitionSystem

POSITION, WINDOW = DeclareSort("position"), DeclareSort("window")
STATE, OUTPUT = DeclareSort("state"), DeclareSort("output")
BOOL = z3.BoolSort()

# --- what never changes ----------------------------------------------------------------------
positions = TotalOrder(POSITION)
le, before = positions.le, positions.less
opener = Function("opener", WINDOW, POSITION)
first = Const("first", WINDOW)

begin = Const("begin", STATE)
delta = Function("delta", STATE, POSITION, STATE)
gives = Function("gives", STATE, POSITION, OUTPUT)
closing = Function("closing", STATE, OUTPUT)
joined = Function("joined", OUTPUT, OUTPUT, OUTPUT)
none = Const("none", OUTPUT)

p, q = z3.Consts("p q", POSITION)
w, v = z3.Consts("w v", WINDOW)


def kept(window: Any) -> Any:
    return le(opener(first), opener(window))


# --- one run ---------------------------------------------------------------------------------
AGAIN = "_again"
"""The symbols of the replay end so."""


class RunMoment:
    """A state as one run has it: its symbols without the ending."""

    def __init__(self, moment: AtTime, ending: str) -> None:
        self._moment, self._ending = moment, ending

    def __getattr__(self, name: str) -> Any:
        return getattr(self._moment, name + self._ending)


class ProductRun:
    """One of the two runs: its symbols, and where its windows open and close."""

    def __init__(self, ending: str, opens: Callable[[Any, Any], Any]) -> None:
        self.ending, self.opens = ending, opens
        self.expires = Function(f"expires{ending}", POSITION, WINDOW, BOOL)
        self.completes = Function(f"completes{ending}", POSITION, WINDOW, BOOL)

    def at(self, moment: AtTime) -> RunMoment:
        return RunMoment(moment, self.ending)

    def holds(self, s: RunMoment, position: Any, window: Any) -> Any:
        """The event is in the window: open before and not expired, or opened by it."""
        stays = And(s.open(window), Not(self.expires(position, window)))
        return Or(stays, self.opens(position, window))

    def fed(self, s: RunMoment, position: Any, window: Any) -> Any:
        """The state in which the engine of the window is when it is fed."""
        return If(self.opens(position, window), begin, s.inner(window))


ORIGINAL = ProductRun("", lambda position, window: opener(window) == position)
REPLAY = ProductRun(AGAIN, Function("opens_again", POSITION, WINDOW, BOOL))


# --- two runs --------------------------------------------------------------------------------
RunStep: TypeAlias = Callable[[ProductRun, RunMoment, RunMoment, Any], Any]
ProductStep: TypeAlias = Callable[[AtTime, AtTime, Any], Any]
Guard: TypeAlias = Callable[[Given, AtTime, Any], Any]


def _nothing(*_: Any) -> Any:
    return z3.BoolVal(True)


@dataclass(frozen=True)
class ProductPart:
    """A part of the product: symbols, and how they change.

    both: symbols of each run.  begins: when it begins.  step: in an iteration.  idle: the replay,
    if an event is left out.  originally: more of the original run.  together: more of an iteration
    from the replay start on.
    """

    both: tuple[Symbol, ...] = ()
    original: tuple[Symbol, ...] = ()
    replay: tuple[Symbol, ...] = ()
    axioms: Axioms = field(default_factory=dict)
    begins: Callable[[RunMoment], Any] = _nothing
    step: RunStep = _nothing
    idle: Callable[[RunMoment, RunMoment], Any] = _nothing
    init: Callable[[AtTime], Any] = _nothing
    originally: ProductStep = _nothing
    together: ProductStep = _nothing
    restore: Callable[[AtTime, AtTime], Any] = _nothing
    invariants: Mapping[str, Callable[[AtTime], Any]] = field(default_factory=dict)


LEAVE_OUT = "leave out"


def two_runs(
    given: Given, name: str, parts: Sequence[ProductPart], may_skip: Guard
) -> TransitionSystem:
    """The system of two runs.  may_skip: when an event may be left out of the replay."""
    originals = [symbol for part in parts for symbol in (*part.both, *part.original)]
    again = [Symbol(f"{s.name}{AGAIN}", *s.domain, s.range) for part in parts for s in part.both]
    replays = [Symbol("replaying", BOOL), *again, *(s for part in parts for s in part.replay)]

    def taken(run: ProductRun, s: AtTime, t: AtTime, position: Any) -> Any:
        return And(*(part.step(run, run.at(s), run.at(t), position) for part in parts))

    def originally(s: AtTime, t: AtTime, position: Any) -> Any:
        in_turn = And(Not(s.done(position)), ForAll([q], Implies(before(q, position), s.done(q))))
        more = (part.originally(s, t, position) for part in parts)
        return And(in_turn, taken(ORIGINAL, s, t, position), *more)

    def together(s: AtTime, t: AtTime, position: Any) -> Any:
        return And(s.replaying, *(part.together(s, t, position) for part in parts))

    def process(s: AtTime, t: AtTime, position: Any) -> Any:
        both = And(originally(s, t, position), taken(REPLAY, s, t, position))
        return And(both, together(s, t, position))

    def leave_out(s: AtTime, t: AtTime, position: Any) -> Any:
        idle = And(*(part.idle(REPLAY.at(s), REPLAY.at(t)) for part in parts))
        alone = And(may_skip(given, s, position), originally(s, t, position), idle)
        return And(alone, together(s, t, position))

    def restore(s: AtTime, t: AtTime) -> Any:
        start = ForAll([q], s.done(q) == before(q, opener(first)))
        return And(
            Not(s.replaying),
            t.replaying,
            given("the replay starts with the event that opens the first window kept", start),
            *(And(part.begins(REPLAY.at(t)), part.restore(s, t)) for part in parts),
        )

    def alone(s: AtTime, t: AtTime, position: Any) -> Any:
        return And(Not(s.replaying), originally(s, t, position))

    def init(s: AtTime) -> Any:
        begun = (And(part.begins(ORIGINAL.at(s)), part.init(s)) for part in parts)
        return And(Not(s.replaying), *begun)

    one = (("p", POSITION),)
    mine = tuple(symbol.name for symbol in originals)
    others = tuple(symbol.name for symbol in replays if symbol.name != "replaying")
    return TransitionSystem(
        name=name,
        state=(*originals, *replays),
        axioms={what: axiom for part in parts for what, axiom in part.axioms.items()},
        init=init,
        transitions=(
            Transition("process", one, (*mine, *others), process),
            Transition(LEAVE_OUT, one, (*mine, *others), leave_out),
            Transition("restore", (), ("replaying", *others), restore),
            Transition("before the replay start", one, mine, alone),
        ),
        invariants={what: inv for part in parts for what, inv in part.invariants.items()},
    )
