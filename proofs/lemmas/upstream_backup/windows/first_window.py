"""Does the first match of the windows kept lie in the first of them, as III-B4 takes for granted?

Rule of this file: any number of events and windows, any windows that open in order, any engine that
a relation simulates.  Which engines these are is in overtaking.

The fragment is EPR: one function, from windows to engine states; an engine's steps are a relation.
What a window's end alone completes (a negated last step) is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import z3
from z3 import And, Const, DeclareSort, Exists, ForAll, Function, If, Implies, Not, Or

from model.evidence import Outcome
from proofs.prove.lemma import Given, Lemma
from proofs.prove.orders import TotalOrder
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Axioms, Symbol
from proofs.prove.transition import Transition, TransitionSystem, inductive, reaches

WINDOW, STATE, EVENT = (DeclareSort(name) for name in ("window", "engine state", "event"))
BOOL = z3.BoolSort()

windows = TotalOrder(WINDOW)
older = windows.less
begin, waiting = Const("begin", STATE), Function("waiting", STATE, BOOL)
"""waiting: reachable before any match."""
goes = Function("goes", STATE, EVENT, STATE, BOOL)
matches = Function("matches", STATE, EVENT, BOOL)
above = Function("above", STATE, STATE, BOOL)
"""above: at least as far."""
v, w = z3.Consts("v w", WINDOW)
o, o_, y, y_ = z3.Consts("o o_next y y_next", STATE)
e = Const("e", EVENT)

START = "a window that waits is at least as far as one that begins"
KEPT = "an event that completes nothing keeps the order"
TOO = "who is at least as far completes a match too"
IN_ORDER = "windows open in order"
ALL_OPEN = "an event goes to all open windows"
NOT_YOUNGER = "no window younger than theta's comes first"

SYMBOLS = (
    Symbol("opened", WINDOW, BOOL),
    Symbol("closed", WINDOW, BOOL),
    Symbol("inner", WINDOW, STATE),
    Symbol("matched", WINDOW, BOOL),
    Symbol("ahead", WINDOW, WINDOW, BOOL),  # the first match of v came before that of w
    Symbol("produced", BOOL),  # theta, the newest match acknowledged
    Symbol("first", WINDOW),  # the first window kept
    Symbol("latest", EVENT),
)


def axioms(given: Given) -> Axioms:
    goes_on = And(goes(o, e, o_), Not(matches(o, e)))
    both = And(above(o, y), goes(o, e, o_), goes(y, e, y_), Not(matches(o, e)))
    start = ForAll([o], Implies(waiting(o), above(o, begin)))
    kept = ForAll([o, y, e, o_, y_], Implies(both, above(o_, y_)))
    too = ForAll([o, y, e], Implies(And(above(o, y), matches(y, e)), matches(o, e)))
    return {
        "windows are in a total order": windows.axiom,
        "waiting: at the beginning": waiting(begin),
        "waiting: until a match": ForAll(
            [o, e, o_], Implies(And(waiting(o), goes_on), waiting(o_))
        ),
        START: given(START, start),
        KEPT: given(KEPT, kept),
        TOO: given(TOO, too),
    }


def is_open(s: AtTime, window: Any) -> Any:
    return And(s.opened(window), Not(s.closed(window)))


# --- the transition system: all windows, one engine ------------------------------------------
class EventIteration(NamedTuple):
    """An event may open a window, goes to all windows that are open, and may close some."""

    s: AtTime
    event: Any
    opens: Any
    newest: Any

    def new(self, window: Any) -> Any:
        return And(self.opens, window == self.newest)

    def here(self, window: Any) -> Any:
        return Or(is_open(self.s, window), self.new(window))

    def inner(self, window: Any) -> Any:
        return If(self.new(window), begin, self.s.inner(window))

    def now(self, window: Any) -> Any:
        """The window completes a match with this event."""
        return And(self.here(window), matches(self.inner(window), self.event))

    def leads_to(self, t: AtTime, given: Given) -> Any:
        s = self.s
        youngest = ForAll([w], Implies(s.opened(w), older(w, self.newest)))
        in_order = given(IN_ORDER, And(Not(s.opened(self.newest)), youngest))
        goes_on = ForAll([w], Implies(self.here(w), goes(self.inner(w), self.event, t.inner(w))))
        # Within an iteration matches come oldest window first.
        first = And(self.now(w), Or(s.matched(v), And(self.now(v), older(v, w))))
        return And(
            t.latest == self.event,
            ForAll([w], t.opened(w) == Or(s.opened(w), self.new(w))),
            Implies(self.opens, in_order),
            ForAll([w], t.matched(w) == Or(s.matched(w), self.now(w))),
            ForAll([w], Implies(Not(self.here(w)), t.inner(w) == s.inner(w))),
            given(ALL_OPEN, goes_on),
            expire(s, t),
            ForAll([v, w], t.ahead(v, w) == If(s.matched(w), s.ahead(v, w), first)),
        )


def expire(s: AtTime, t: AtTime) -> Any:
    """Windows stay closed, and only what was opened closes."""
    closed = And(Implies(s.closed(w), t.closed(w)), Implies(t.closed(w), t.opened(w)))
    return ForAll([w], closed)


def started(s: AtTime) -> Any:
    nowhere = And(*(Not(holds(v)) for holds in (s.opened, s.closed, s.matched)))
    return And(Not(s.produced), ForAll([v], nowhere), ForAll([v, w], Not(s.ahead(v, w))))


def windows_kept(given: Given) -> TransitionSystem:
    """The windows of one operator, up to and beyond a match that is acknowledged."""

    def event(s: AtTime, t: AtTime, what: Any, opens: Any, newest: Any) -> Any:
        return EventIteration(s, what, opens, newest).leads_to(t, given)

    def theta(s: AtTime, t: AtTime, what: Any, opens: Any, newest: Any, theta: Any) -> Any:
        """The replay is to start with theta's window, or with an older one that this event has
        not closed (III-B2: the oldest of them)."""
        iteration = EventIteration(s, what, opens, newest)
        unclosed = And(is_open(t, t.first), given(NOT_YOUNGER, older(t.first, theta)))
        produces = And(Not(s.produced), iteration.now(theta), t.produced)
        return And(iteration.leads_to(t, given), produces, Or(t.first == theta, unclosed))

    params = (("event", EVENT), ("opens", BOOL), ("newest", WINDOW))
    changed = ("opened", "closed", "inner", "matched", "ahead", "latest")
    said, saying = (*params, ("theta", WINDOW)), (*changed, "produced", "first")
    return TransitionSystem(
        name="the windows kept",
        state=SYMBOLS,
        axioms=axioms(given),
        init=started,
        transitions=(
            Transition("windows expire", (), ("closed",), expire),
            Transition("an event", params, changed, event),
            Transition("an event and theta", said, saying, theta),
        ),
        invariants=INVARIANTS,
    )


# --- invariants ------------------------------------------------------------------------------
def _at_least_as_far(s: AtTime) -> Any:
    waits = And(older(v, w), is_open(s, v), is_open(s, w), Not(s.matched(v)))
    return ForAll([v, w], Implies(waits, above(s.inner(v), s.inner(w))))


def _not_overtaken(s: AtTime) -> Any:
    younger_matched = And(older(v, w), is_open(s, v), s.matched(w))
    return ForAll([v, w], Implies(younger_matched, And(s.matched(v), s.ahead(v, w))))


def _first(s: AtTime) -> Any:
    younger_matched = And(older(s.first, w), s.matched(w))
    ahead = ForAll([w], Implies(younger_matched, s.ahead(s.first, w)))
    return Implies(s.produced, And(s.matched(s.first), ahead))


INVARIANTS: dict[str, Callable[[AtTime], Any]] = {
    "only opened windows close or match": lambda s: ForAll(
        [v], Implies(Or(s.closed(v), s.matched(v)), s.opened(v))
    ),
    "an open window without a match waits": lambda s: ForAll(
        [v], Implies(And(is_open(s, v), Not(s.matched(v))), waiting(s.inner(v)))
    ),
    "while an older window waits, it is at least as far": _at_least_as_far,
    "while a window is open, no younger one matches first": _not_overtaken,
    "the first match of the windows kept is in the first of them": _first,
}


# --- lemmas ----------------------------------------------------------------------------------
def prove_order(given: Given) -> Iterable[SolverQuery]:
    system = windows_kept(given)
    yield from inductive(system)

    def younger(s: AtTime) -> Any:
        return Exists([w], And(s.produced, older(s.first, w), s.matched(w)))

    yield reaches(system, "a younger window than the first one kept matches, too", younger, 2)


FIRST = (
    "For all engines with an order in which a window that waits for its first match is at least as "
    "far as any younger one: when a match is acknowledged, the first match of the windows kept is "
    "in the first of them, so that its y numbers that window."
)
LEMMAS = (Lemma("first-window-kept", FIRST, "Lima et al., III-B4", Outcome.HOLDS, prove_order),)
