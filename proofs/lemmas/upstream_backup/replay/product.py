"""One operator twice: the original run and a replay, side by side over one merged input.

Rule of this file: two runs of an operator alone, for any deterministic engine, any splitter, any
length and any number of windows.  What is known of them is made of parts: windows and engines
(skipping), numbers (numbers, pairs).  What travels between nodes is in other folders.

The replay starts with the event that opens the first window kept by a savepoint; windows that
opened earlier have been dropped and are not in it.  From there on an event is either processed by
both runs, or by the original run alone if upstream has deleted it because it was skipped.  Nothing
is remembered but the last iteration: if every iteration has the same outcome in both runs, all
outcomes are the same.  Serial processing is covered: it is parallel processing with an engine that
holds its matches back until the window closes.

The fragment.  States of the engine are a sort over which no quantifier ranges, so delta, from
states to states, makes no loop and the skipping lemma stays in EPR (openers go from windows to
positions).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

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
expires = Function("expires", POSITION, WINDOW, BOOL)
completes = Function("completes", POSITION, WINDOW, BOOL)
opens_again = Function("opens_again", POSITION, WINDOW, BOOL)
expires_again = Function("expires_again", POSITION, WINDOW, BOOL)
completes_again = Function("completes_again", POSITION, WINDOW, BOOL)
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


def opens(position: Any, window: Any) -> Any:
    return opener(window) == position


# --- one run ---------------------------------------------------------------------------------
class WindowRun(NamedTuple):
    """The windows of a run as functions of its state, and where they open and close."""

    open: str
    inner: str
    got: str
    opens: Callable[[Any, Any], Any]
    expires: Any
    completes: Any

    def holds(self, s: AtTime, position: Any, window: Any) -> Any:
        """The event is in the window: open before and not expired, or opened by it."""
        stays = And(getattr(s, self.open)(window), Not(self.expires(position, window)))
        return Or(stays, self.opens(position, window))

    def fed(self, s: AtTime, position: Any, window: Any) -> Any:
        """The state in which the engine of the window is when it is fed."""
        return If(self.opens(position, window), begin, getattr(s, self.inner)(window))

    def windows(self, s: AtTime, t: AtTime, position: Any) -> Any:
        here = And(self.holds(s, position, w), Not(self.completes(position, w)))
        return ForAll([w], getattr(t, self.open)(w) == here)

    def engines(self, s: AtTime, t: AtTime, position: Any) -> Any:
        """What the engines do; the state of a window that is not open does not matter."""
        fed = self.fed(s, position, w)
        after, found = delta(fed, position), gives(fed, position)
        expired = And(getattr(s, self.open)(w), self.expires(position, w))
        output = If(
            expired,
            closing(getattr(s, self.inner)(w)),
            If(
                Not(self.holds(s, position, w)),
                none,
                If(self.completes(position, w), joined(found, closing(after)), found),
            ),
        )
        states = Implies(getattr(t, self.open)(w), getattr(t, self.inner)(w) == after)
        return And(ForAll([w], states), ForAll([w], getattr(t, self.got)(w) == output))


ORIGINAL = WindowRun("open", "inner", "got", opens, expires, completes)
REPLAY = WindowRun("open_again", "again", "got_again", opens_again, expires_again, completes_again)


# --- two runs --------------------------------------------------------------------------------
Relation = Callable[[AtTime, AtTime, Any], Any]


def _nothing(*_: Any) -> Any:
    return z3.BoolVal(True)


@dataclass(frozen=True)
class ProductPart:
    """A part of the product: symbols and what happens to them.

    originally, again: what each run does in an iteration.  together: what else is known of an
    iteration from the replay start on.  left_out: the replay, without the event.
    """

    original: tuple[Symbol, ...]
    replay: tuple[Symbol, ...] = ()
    axioms: Axioms = field(default_factory=dict)
    init: Callable[[AtTime], Any] = _nothing
    originally: Relation = _nothing
    again: Relation = _nothing
    together: Relation = _nothing
    left_out: Relation = _nothing
    restore: Callable[[AtTime, AtTime], Any] = _nothing
    invariants: Mapping[str, Callable[[AtTime], Any]] = field(default_factory=dict)


Guard = Callable[[Given, AtTime, Any], Any]


def _next(s: AtTime, position: Any) -> Any:
    return And(Not(s.done(position)), ForAll([q], Implies(before(q, position), s.done(q))))


LEAVE_OUT = "leave out"


def two_runs(
    given: Given, name: str, parts: Sequence[ProductPart], may_skip: Guard
) -> TransitionSystem:
    """The system of two runs.  may_skip: when an event may be left out of the replay."""
    originals = tuple(symbol for part in parts for symbol in part.original)
    replays = tuple(symbol for part in parts for symbol in part.replay)

    def originally(s: AtTime, t: AtTime, position: Any) -> Any:
        return And(_next(s, position), *(part.originally(s, t, position) for part in parts))

    def alone(s: AtTime, t: AtTime, position: Any) -> Any:
        return And(Not(s.replaying), originally(s, t, position))

    def restore(s: AtTime, t: AtTime) -> Any:
        start = ForAll([q], s.done(q) == before(q, opener(first)))
        return And(
            Not(s.replaying),
            t.replaying,
            given("the replay starts with the event that opens the first window kept", start),
            *(part.restore(s, t) for part in parts),
        )

    def process(s: AtTime, t: AtTime, position: Any) -> Any:
        return And(
            s.replaying,
            originally(s, t, position),
            *(part.again(s, t, position) for part in parts),
            *(part.together(s, t, position) for part in parts),
        )

    def leave_out(s: AtTime, t: AtTime, position: Any) -> Any:
        return And(
            s.replaying,
            may_skip(given, s, position),
            originally(s, t, position),
            *(part.left_out(s, t, position) for part in parts),
            *(part.together(s, t, position) for part in parts),
        )

    one = (("p", POSITION),)
    mine, others = _names(originals), _names(replays)
    return TransitionSystem(
        name=name,
        state=(*originals, Symbol("replaying", BOOL), *replays),
        axioms={what: axiom for part in parts for what, axiom in part.axioms.items()},
        init=lambda s: And(Not(s.replaying), *(part.init(s) for part in parts)),
        transitions=(
            Transition("process", one, (*mine, *others), process),
            Transition(LEAVE_OUT, one, (*mine, *others), leave_out),
            Transition("restore", (), ("replaying", *others), restore),
            Transition("before the replay start", one, mine, alone),
        ),
        invariants={what: inv for part in parts for what, inv in part.invariants.items()},
    )


def _names(symbols: Iterable[Symbol]) -> tuple[str, ...]:
    return tuple(symbol.name for symbol in symbols)
