"""Does the first match of the windows kept lie in the first of them, as III-B4 takes for granted?

Rule of this file: it says for which engines it does (any number of events and windows, any windows
that open in order, any engine that a relation simulates).  Which engines these are is the business
of overtaking.

The transition system is in EPR: one function, from windows to engine states; an engine's steps are
a relation.

What a window's end alone completes (a negated last step) is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import z3

from model.evidence import Outcome
from proofs.prove.lemma import Given, Lemma
from proofs.prove.orders import TotalOrder
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Axioms, Symbol
from proofs.prove.transition import Transition, TransitionSystem, inductive, reaches

# --- the transition system: all windows, one engine ------------------------------------------
WINDOW = z3.DeclareSort("window")
STATE = z3.DeclareSort("engine state")
EVENT = z3.DeclareSort("event")
BOOL = z3.BoolSort()

windows = TotalOrder(WINDOW)
older = windows.less
begin = z3.Const("begin", STATE)
goes = z3.Function("goes", STATE, EVENT, STATE, BOOL)
matches = z3.Function("matches", STATE, EVENT, BOOL)
waiting = z3.Function("waiting", STATE, BOOL)
above = z3.Function("above", STATE, STATE, BOOL)

v, w = z3.Consts("v w", WINDOW)
o, o_, y, y_ = z3.Consts("o o_next y y_next", STATE)
e = z3.Const("e", EVENT)

START = "a window that waits is at least as far as one that begins"
KEPT = "an event that completes nothing keeps the order"
TOO = "who is at least as far completes a match too"


def axioms(given: Given) -> Axioms:
    """waiting: reachable before any match; above: at least as far."""
    return {
        "windows are in a total order": windows.axiom,
        "waiting: at the beginning": waiting(begin),
        "waiting: until a match": z3.ForAll(
            [o, e, o_],
            z3.Implies(z3.And(waiting(o), goes(o, e, o_), z3.Not(matches(o, e))), waiting(o_)),
        ),
        START: given(START, z3.ForAll([o], z3.Implies(waiting(o), above(o, begin)))),
        KEPT: given(
            KEPT,
            z3.ForAll(
                [o, y, e, o_, y_],
                z3.Implies(
                    z3.And(above(o, y), goes(o, e, o_), goes(y, e, y_), z3.Not(matches(o, e))),
                    above(o_, y_),
                ),
            ),
        ),
        TOO: given(
            TOO,
            z3.ForAll([o, y, e], z3.Implies(z3.And(above(o, y), matches(y, e)), matches(o, e))),
        ),
    }


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


def is_open(s: AtTime, window: Any) -> Any:
    return z3.And(s.opened(window), z3.Not(s.closed(window)))


def started(s: AtTime) -> Any:
    return z3.And(
        z3.Not(s.produced),
        z3.ForAll([v], z3.And(*(z3.Not(p(v)) for p in (s.opened, s.closed, s.matched)))),
        z3.ForAll([v, w], z3.Not(s.ahead(v, w))),
    )


class EventIteration:
    """The processing of one event: it may open a window, goes to all that are open, and may close
    some."""

    def __init__(self, s: AtTime, event: Any, opens: Any, newest: Any) -> None:
        self.s, self.event, self.opens, self.newest = s, event, opens, newest

    def new(self, window: Any) -> Any:
        return z3.And(self.opens, window == self.newest)

    def here(self, window: Any) -> Any:
        return z3.Or(is_open(self.s, window), self.new(window))

    def inner(self, window: Any) -> Any:
        return z3.If(self.new(window), begin, self.s.inner(window))

    def now(self, window: Any) -> Any:
        """It completes a match with this event."""
        return z3.And(self.here(window), matches(self.inner(window), self.event))

    def leads_to(self, t: AtTime, given: Given) -> Any:
        s = self.s
        in_order = z3.And(
            z3.Not(s.opened(self.newest)),
            z3.ForAll([w], z3.Implies(s.opened(w), older(w, self.newest))),
        )
        return z3.And(
            t.latest == self.event,
            z3.ForAll([w], t.opened(w) == z3.Or(s.opened(w), self.new(w))),
            z3.Implies(self.opens, given("windows open in order", in_order)),
            z3.ForAll([w], t.matched(w) == z3.Or(s.matched(w), self.now(w))),
            z3.ForAll([w], z3.Implies(z3.Not(self.here(w)), t.inner(w) == s.inner(w))),
            given(
                "an event goes to all open windows",
                z3.ForAll(
                    [w], z3.Implies(self.here(w), goes(self.inner(w), self.event, t.inner(w)))
                ),
            ),
            closing(s, t),
            z3.ForAll(
                [v, w],
                t.ahead(v, w)
                == z3.If(
                    s.matched(w),
                    s.ahead(v, w),
                    z3.And(
                        self.now(w),
                        # Within an iteration matches come oldest window first.
                        z3.Or(s.matched(v), z3.And(self.now(v), older(v, w))),
                    ),
                ),
            ),
        )


def closing(s: AtTime, t: AtTime) -> Any:
    """Windows stay closed, and only what was opened closes."""
    return z3.ForAll(
        [w],
        z3.And(z3.Implies(s.closed(w), t.closed(w)), z3.Implies(t.closed(w), t.opened(w))),
    )


CHANGED = ("opened", "closed", "inner", "matched", "ahead", "latest")


def windows_kept(given: Given) -> TransitionSystem:
    """The windows of one operator, up to and beyond a match that is acknowledged."""

    def event(s: AtTime, t: AtTime, what: Any, opens: Any, newest: Any) -> Any:
        return EventIteration(s, what, opens, newest).leads_to(t, given)

    def theta(s: AtTime, t: AtTime, what: Any, opens: Any, newest: Any, theta: Any) -> Any:
        """The replay is to start with theta's window, or with an older one that this event has
        not closed (III-B2: the oldest of them)."""
        iteration = EventIteration(s, what, opens, newest)
        of_theta = t.first == theta
        unclosed = z3.And(
            is_open(t, t.first),
            given("no window younger than theta's comes first", older(t.first, theta)),
        )
        return z3.And(
            iteration.leads_to(t, given),
            z3.Not(s.produced),
            iteration.now(theta),
            t.produced,
            z3.Or(of_theta, unclosed),
        )

    params = (("event", EVENT), ("opens", BOOL), ("newest", WINDOW))
    return TransitionSystem(
        name="the windows kept",
        state=SYMBOLS,
        axioms=axioms(given),
        init=started,
        transitions=(
            Transition("windows expire", (), ("closed",), closing),
            Transition("an event", params, CHANGED, event),
            Transition(
                "an event and theta",
                (*params, ("theta", WINDOW)),
                (*CHANGED, "produced", "first"),
                theta,
            ),
        ),
        invariants=INVARIANTS,
    )


def _pairs_of(formula: Callable[[AtTime], Any]) -> Callable[[AtTime], Any]:
    return lambda s: z3.ForAll([v, w], formula(s))


FIRST = "the first match of the windows kept is in the first of them"
INVARIANTS: dict[str, Callable[[AtTime], Any]] = {
    "only opened windows close or match": lambda s: z3.ForAll(
        [v], z3.Implies(z3.Or(s.closed(v), s.matched(v)), s.opened(v))
    ),
    "an open window without a match waits": lambda s: z3.ForAll(
        [v], z3.Implies(z3.And(is_open(s, v), z3.Not(s.matched(v))), waiting(s.inner(v)))
    ),
    "while an older window waits, it is at least as far": _pairs_of(
        lambda s: z3.Implies(
            z3.And(older(v, w), is_open(s, v), is_open(s, w), z3.Not(s.matched(v))),
            above(s.inner(v), s.inner(w)),
        )
    ),
    "while a window is open, no younger one matches first": _pairs_of(
        lambda s: z3.Implies(
            z3.And(older(v, w), is_open(s, v), s.matched(w)), z3.And(s.matched(v), s.ahead(v, w))
        )
    ),
    FIRST: lambda s: z3.Implies(
        s.produced,
        z3.And(
            s.matched(s.first),
            z3.ForAll(
                [w],
                z3.Implies(z3.And(older(s.first, w), s.matched(w)), s.ahead(s.first, w)),
            ),
        ),
    ),
}


def prove_order(given: Given) -> Iterable[SolverQuery]:
    system = windows_kept(given)
    yield from inductive(system)
    yield reaches(
        system,
        "a younger window than the first one kept matches, too",
        lambda s: z3.Exists([w], z3.And(s.produced, older(s.first, w), s.matched(w))),
        2,
    )


# --- lemmas ----------------------------------------------------------------------------------
LEMMAS = (
    Lemma(
        name="first-window-kept",
        statement=(
            "For all engines with an order in which a window that waits for its first match is "
            "at least as far as any younger one: when a match is acknowledged, the first match "
            "of the windows kept is in the first of them, so that its y numbers that window."
        ),
        section="Lima et al., III-B4",
        expect=Outcome.HOLDS,
        build=prove_order,
    ),
)
