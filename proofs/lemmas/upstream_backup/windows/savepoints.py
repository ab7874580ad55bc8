"""What a savepoint lets upstream forget: SN_trim never takes an event that a window kept needs.

Rule of this file: one operator, from its deployment or a restart on.  Whether windows open and
close again where they did is in layouts.

Of a count window only the last event matters, so that nothing is counted: the fragment is EPR.
Lima et al., III-B2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import z3
from z3 import And, Const, DeclareSort, Exists, ForAll, Function, If, Implies, Not, Or

from model.evidence import Outcome
from proofs.prove.lemma import Given, Lemma
from proofs.prove.orders import TotalOrder
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Axioms, Symbol
from proofs.prove.transition import Transition, TransitionSystem, inductive, reaches

PAPER = "Lima et al., III-B2"
EVENT, WINDOW, MATCH = DeclareSort("event"), DeclareSort("window"), DeclareSort("complex event")
TIME, BOOL = DeclareSort("time"), z3.BoolSort()

events, matches = TotalOrder(EVENT), TotalOrder(MATCH, "match_le")
times = TotalOrder(TIME, "time_le")
le, before = events.le, events.less
opener, restart = Function("opener", WINDOW, EVENT), Const("restart", WINDOW)
"""restart: the first window of this incarnation of the operator."""
of, trigger = Function("of", MATCH, WINDOW), Function("trigger", MATCH, EVENT)
time, last = Function("time", EVENT, TIME), Function("last", WINDOW, EVENT)
start, end = Function("start", WINDOW, TIME), Function("end", WINDOW, TIME)
e = Const("e", EVENT)
w, v = z3.Consts("w v", WINDOW)
m, n = z3.Consts("m n", MATCH)

PRODUCTION = "an iteration produces the matches of older windows first"
ENDS = "windows end in the order in which they opened"
STARTS = "a window opens with the first event at or after its start"
FILLED = "windows are filled in the order in which they opened"
NOT_YOUNGER = "no window younger than that of the match comes first"
BELOW = "SN_trim is below the replay start"

STATE = (
    Symbol("done", EVENT, BOOL),
    Symbol("closed", WINDOW, BOOL),
    Symbol("made", MATCH, BOOL),
    Symbol("acked", MATCH, BOOL),
    Symbol("retained", MATCH, WINDOW),  # where a replay begins if this match is acknowledged
    Symbol("dropped", WINDOW, BOOL),
    Symbol("trimmed", EVENT, BOOL),  # at or below SN_trim
)


def older(window: Any, other: Any) -> Any:
    return before(opener(window), opener(other))


def not_younger(window: Any, other: Any) -> Any:
    return le(opener(window), opener(other))


def waits(s: AtTime, match: Any) -> Any:
    """The match is made and not acknowledged."""
    return And(s.made(match), Not(s.acked(match)))


# --- kinds of windows ------------------------------------------------------------------------
class WindowKind(NamedTuple):
    """belongs(window, event): is the event one of the window?  ends(event, window): is an open
    window closed with the event, or an earlier one?  order: of what else there is in the world.
    hypotheses: about such windows."""

    name: str
    belongs: Callable[[Any, Any], Any]
    ends: Callable[[Any, Any], Any]
    order: Axioms
    hypotheses: Axioms


TIMED = WindowKind(
    "time",
    lambda w, e: And(times.le(start(w), time(e)), Not(times.le(end(w), time(e)))),
    lambda e, w: And(before(opener(w), e), times.le(end(w), time(e))),
    {"times are in order": times.axiom},
    {
        ENDS: ForAll([w, v], Implies(older(w, v), times.le(end(w), end(v)))),
        STARTS: ForAll([w, e], Implies(times.le(start(w), time(e)), le(opener(w), e))),
    },
)
COUNTED = WindowKind(
    "count",
    lambda w, e: And(le(opener(w), e), le(e, last(w))),
    lambda e, w: le(last(w), e),
    {},
    {FILLED: ForAll([w, v], Implies(older(w, v), le(last(w), last(v))))},
)


# --- the transition system -------------------------------------------------------------------
@dataclass(frozen=True)
class TrimSteps:
    """What an operator does that trims, if these hypotheses hold."""

    given: Given
    kind: WindowKind

    def axioms(self) -> Axioms:
        one_window = Implies(opener(w) == opener(v), w == v)
        later = Implies(before(trigger(m), trigger(n)), matches.le(m, n))
        in_order = Implies(And(trigger(m) == trigger(n), older(of(m), of(n))), matches.le(m, n))
        return {
            "events are in order": events.axiom,
            "an event opens one window at most": ForAll([w, v], one_window),
            "matches are in order": matches.axiom,
            "later iterations produce later matches": ForAll([m, n], later),
            PRODUCTION: self.given(PRODUCTION, ForAll([m, n], in_order)),
            **self.kind.order,
            **{name: self.given(name, formula) for name, formula in self.kind.hypotheses.items()},
        }

    def restored(self, s: AtTime) -> Any:
        """The operator is deployed, or restored from a savepoint that says where to begin."""
        behind = Implies(Or(s.done(e), s.trimmed(e)), before(e, opener(restart)))
        return And(
            events.prefix(s.done),
            ForAll([e], behind),
            ForAll([w], And(s.closed(w) == older(w, restart), s.dropped(w) == older(w, restart))),
            ForAll([m], And(Not(s.made(m)), Not(s.acked(m)))),
        )

    def event(
        self, s: AtTime, t: AtTime, event_: Any, closes: Any, latest: Any, reached: Any
    ) -> Any:
        """closes: has any window been closed?  latest: the last of those.  reached: the first
        window after it."""
        opened = t.done(opener(w))
        new = And(trigger(m) == event_, t.done(opener(of(m))), Not(s.closed(of(m))))
        first = And(
            Or(t.retained(m) == of(m), t.retained(m) == reached),
            not_younger(t.retained(m), reached),
            self.given(NOT_YOUNGER, not_younger(t.retained(m), of(m))),
        )
        after_latest = And(
            t.closed(latest),
            older(latest, reached),
            ForAll([v], Implies(t.closed(v), not_younger(v, latest))),
            ForAll([v], Or(not_younger(v, latest), not_younger(reached, v))),
        )
        oldest = ForAll([v], And(Not(t.closed(v)), not_younger(reached, v)))
        closed = Or(s.closed(w), And(opened, self.kind.ends(event_, w)))
        return And(
            events.follows(event_, s.done, t.done),
            ForAll([w], t.closed(w) == closed),
            ForAll([m], t.made(m) == Or(s.made(m), new)),
            If(closes, after_latest, oldest),
            ForAll([m], If(new, first, t.retained(m) == s.retained(m))),
        )

    def acknowledgement(self, s: AtTime, t: AtTime, theta: Any) -> Any:
        replay_start = s.retained(theta)
        below = ForAll([e], Implies(t.trimmed(e), before(e, opener(replay_start))))
        return And(
            waits(s, theta),
            ForAll([m], t.acked(m) == Or(s.acked(m), And(s.made(m), matches.le(m, theta)))),
            ForAll([w], t.dropped(w) == Or(s.dropped(w), older(w, replay_start))),
            self.given(BELOW, below),
        )


def trimming(kind: WindowKind, given: Given) -> TransitionSystem:
    steps = TrimSteps(given, kind)
    iteration = (("event", EVENT), ("closes", BOOL), ("latest", WINDOW), ("reached", WINDOW))
    produced = ("done", "closed", "made", "retained")
    answered = ("acked", "dropped", "trimmed")
    return TransitionSystem(
        name=f"what is trimmed, {kind.name} windows",
        state=STATE,
        axioms=steps.axioms(),
        init=steps.restored,
        transitions=(
            Transition("an event", iteration, produced, steps.event),
            Transition("an acknowledgement", (("theta", MATCH),), answered, steps.acknowledgement),
        ),
        invariants={NEEDED_KEPT: partial(_needed_kept, kind), **INVARIANTS},
    )


# --- invariants ------------------------------------------------------------------------------
NEEDED_KEPT = "no event trimmed is in a window kept, or in one that opens later"


def _needed_kept(kind: WindowKind, s: AtTime) -> Any:
    return ForAll([w, e], Implies(And(s.trimmed(e), kind.belongs(w, e)), s.dropped(w)))


def _waiting(s: AtTime, claim: Any) -> Any:
    return ForAll([m], Implies(waits(s, m), claim))


def _in_order(s: AtTime) -> Any:
    both = And(waits(s, m), waits(s, n), matches.le(m, n))
    return ForAll([m, n], Implies(both, not_younger(s.retained(m), s.retained(n))))


INVARIANTS: dict[str, Callable[[AtTime], Any]] = {
    "no match that waits is in a window dropped": lambda s: _waiting(s, Not(s.dropped(of(m)))),
    "windows dropped are closed": lambda s: ForAll([w], Implies(s.dropped(w), s.closed(w))),
    "what is trimmed comes before all windows kept": lambda s: ForAll(
        [w, e], Implies(And(s.trimmed(e), Not(s.dropped(w))), before(e, opener(w)))
    ),
    "what is done is a prefix": lambda s: events.prefix(s.done),
    "windows close in order": lambda s: ForAll(
        [w, v], Implies(And(older(w, v), s.closed(v)), s.closed(w))
    ),
    "what is made was triggered": lambda s: ForAll([m], Implies(s.made(m), s.done(trigger(m)))),
    "a replay begins no later than the window of the match": lambda s: _waiting(
        s, not_younger(s.retained(m), of(m))
    ),
    "a replay begins with no window dropped": lambda s: _waiting(s, Not(s.dropped(s.retained(m)))),
    "windows before the replay start are closed": lambda s: ForAll(
        [m, w], Implies(And(waits(s, m), older(w, s.retained(m))), s.closed(w))
    ),
    "later matches have no earlier replay start": _in_order,
}


# --- lemmas ----------------------------------------------------------------------------------
def _trims(s: AtTime) -> Any:
    """An event is trimmed and another is not, a match waits, and its window is closed."""
    waiting = Exists([m], And(waits(s, m), s.closed(of(m))))
    return And(Exists([e], s.trimmed(e)), Exists([e], And(s.done(e), Not(s.trimmed(e)))), waiting)


def prove_trim(kind: WindowKind, given: Given) -> Iterable[SolverQuery]:
    system = trimming(kind, given)
    yield from inductive(system)
    what = "events are trimmed while a match of a closed window waits"
    yield reaches(system, what, _trims, 4, {EVENT: 4, WINDOW: 3, MATCH: 2, TIME: 4})


NEEDED = (
    "The replay start is the opener of the first window after the last one that was closed when "
    "the match acknowledged was produced, or of the window of the match if that is older.  If "
    "SN_trim is below it, no event at or below SN_trim is in a window that is kept or that opens "
    "later, and every match that waits for its acknowledgement is in a window kept: in every "
    "incarnation of an operator, for any engine"
)
ON_TIME = f"{NEEDED}, and time windows, anchored or on a grid."
ON_COUNT = (
    f"{NEEDED}, and windows that are filled in the order in which they opened, count windows among "
    "them."
)
LEMMAS = (
    Lemma("trim-time", ON_TIME, PAPER, Outcome.HOLDS, partial(prove_trim, TIMED)),
    Lemma("trim-count", ON_COUNT, PAPER, Outcome.HOLDS, partial(prove_trim, COUNTED)),
)
