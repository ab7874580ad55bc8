"""What a savepoint lets upstream forget: SN_trim never takes an event that a window kept needs.

Rule of this file: one operator from one start (deployment, or a restart from any savepoint) on: its
windows, its matches, what it trims when one of them is acknowledged (III-B2).  Whether windows
open and close again where they did is the business of layouts.

The fragment is EPR: orders are relations, functions go from matches to windows to events to
times.  Counting is not needed here: of a count window nothing matters but its last event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import z3
from z3 import And, Const, DeclareSort, Exists, ForAll, Function, If, Implies, Not, Or

from model.evidence import Outcome
from proofs.prove.lemma import Given, Lemma
from proofs.prove.orders import TotalOrder
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Axioms, Symbol
from proofs.prove.transition import Transition, TransitionSystem, inductive, reaches

EVENT, WINDOW, MATCH = DeclareSort("event"), DeclareSort("window"), DeclareSort("complex event")
TIME = DeclareSort("time")
BOOL = z3.BoolSort()

# --- what never changes ----------------------------------------------------------------------
events, matches, times = (
    TotalOrder(EVENT),
    TotalOrder(MATCH, "match_le"),
    TotalOrder(TIME, "time_le"),
)
le, before = events.le, events.less
opener = Function("opener", WINDOW, EVENT)
restart = Const("restart", WINDOW)
"""The first window of this incarnation of the operator."""
of = Function("of", MATCH, WINDOW)
trigger = Function("trigger", MATCH, EVENT)

time = Function("time", EVENT, TIME)
start, end = Function("start", WINDOW, TIME), Function("end", WINDOW, TIME)
last = Function("last", WINDOW, EVENT)

e, f = z3.Consts("e f", EVENT)
w, v = z3.Consts("w v", WINDOW)
m, n = z3.Consts("m n", MATCH)


def older(window: Any, other: Any) -> Any:
    return before(opener(window), opener(other))


def not_younger(window: Any, other: Any) -> Any:
    return le(opener(window), opener(other))


# --- kinds of windows ------------------------------------------------------------------------
@dataclass(frozen=True)
class WindowKind:
    """belongs(window, event): the event is one of the window, by what the window is.

    ends(event, window): the event is the first with which an open window is closed, or a later
    one.  axioms: what is known of such windows.
    """

    name: str
    belongs: Callable[[Any, Any], Any]
    ends: Callable[[Any, Any], Any]
    axioms: Callable[[Given], Axioms]


def _time_axioms(given: Given) -> Axioms:
    ends = Implies(older(w, v), times.le(end(w), end(v)))
    first = Implies(times.le(start(w), time(e)), le(opener(w), e))
    return {
        "times are in order": times.axiom,
        "ends": given("windows end in the order in which they opened", ForAll([w, v], ends)),
        "starts": given(
            "a window opens with the first event at or after its start", ForAll([w, e], first)
        ),
    }


FILLED = "windows are filled in the order in which they opened"


def _count_axioms(given: Given) -> Axioms:
    filled = Implies(older(w, v), le(last(w), last(v)))
    return {"ends": given(FILLED, ForAll([w, v], filled))}


TIMED = WindowKind(
    "time",
    lambda window, event: And(
        times.le(start(window), time(event)), Not(times.le(end(window), time(event)))
    ),
    lambda event, window: And(before(opener(window), event), times.le(end(window), time(event))),
    _time_axioms,
)
COUNTED = WindowKind(
    "count",
    lambda window, event: And(le(opener(window), event), le(event, last(window))),
    lambda event, window: le(last(window), event),
    _count_axioms,
)


# --- the transition system -------------------------------------------------------------------
SYMBOLS = (
    Symbol("done", EVENT, BOOL),
    Symbol("closed", WINDOW, BOOL),
    Symbol("made", MATCH, BOOL),
    Symbol("acked", MATCH, BOOL),
    Symbol("retained", MATCH, WINDOW),  # where a replay begins if this match is acknowledged
    Symbol("dropped", WINDOW, BOOL),
    Symbol("trimmed", EVENT, BOOL),  # at or below SN_trim
)


def opened(s: AtTime, window: Any) -> Any:
    return s.done(opener(window))


def waits(s: AtTime, match: Any) -> Any:
    """For its acknowledgement."""
    return And(s.made(match), Not(s.acked(match)))


def axioms(given: Given, kind: WindowKind) -> Axioms:
    in_order = And(trigger(m) == trigger(n), older(of(m), of(n)))
    return {
        "events are in order": events.axiom,
        "an event opens one window at most": ForAll(
            [w, v], Implies(opener(w) == opener(v), w == v)
        ),
        "matches are in order": matches.axiom,
        "later iterations produce later matches": ForAll(
            [m, n], Implies(before(trigger(m), trigger(n)), matches.le(m, n))
        ),
        "production": given(
            "an iteration produces the matches of older windows first",
            ForAll([m, n], Implies(in_order, matches.le(m, n))),
        ),
        **kind.axioms(given),
    }


def restored(s: AtTime) -> Any:
    """The operator is deployed, or restored from a savepoint that says where to begin."""
    return And(
        ForAll([e, f], Implies(And(s.done(f), le(e, f)), s.done(e))),
        ForAll([e], Implies(Or(s.done(e), s.trimmed(e)), before(e, opener(restart)))),
        ForAll([w], And(s.closed(w) == older(w, restart), s.dropped(w) == older(w, restart))),
        ForAll([m], And(Not(s.made(m)), Not(s.acked(m)))),
    )


@dataclass(frozen=True)
class TrimSteps:
    """What an operator does that trims, if these hypotheses hold."""

    given: Given
    kind: WindowKind

    def event(
        self, s: AtTime, t: AtTime, event_: Any, closes: Any, latest: Any, reached: Any
    ) -> Any:
        new = And(trigger(m) == event_, opened(t, of(m)), Not(s.closed(of(m))))
        first = And(
            Or(t.retained(m) == of(m), t.retained(m) == reached),
            not_younger(t.retained(m), reached),
            self.given(
                "no window younger than that of the match comes first",
                not_younger(t.retained(m), of(m)),
            ),
        )
        after_latest = And(
            t.closed(latest),
            older(latest, reached),
            ForAll([v], Implies(t.closed(v), not_younger(v, latest))),
            ForAll([v], Or(not_younger(v, latest), not_younger(reached, v))),
        )
        oldest = ForAll([v], And(Not(t.closed(v)), not_younger(reached, v)))
        return And(
            Not(s.done(event_)),
            ForAll([f], Implies(before(f, event_), s.done(f))),
            ForAll([f], t.done(f) == Or(s.done(f), f == event_)),
            ForAll(
                [w],
                t.closed(w) == Or(s.closed(w), And(opened(t, w), self.kind.ends(event_, w))),
            ),
            ForAll([m], t.made(m) == Or(s.made(m), new)),
            If(closes, after_latest, oldest),
            ForAll([m], If(new, first, t.retained(m) == s.retained(m))),
        )

    def acknowledgement(self, s: AtTime, t: AtTime, theta: Any) -> Any:
        replay_start = s.retained(theta)
        return And(
            waits(s, theta),
            ForAll([m], t.acked(m) == Or(s.acked(m), And(s.made(m), matches.le(m, theta)))),
            ForAll([w], t.dropped(w) == Or(s.dropped(w), older(w, replay_start))),
            self.given(
                "SN_trim is below the replay start",
                ForAll([e], Implies(t.trimmed(e), before(e, opener(replay_start)))),
            ),
        )


def trimming(given: Given, kind: WindowKind) -> TransitionSystem:
    """closes: has any window been closed?  latest: the last of those.  reached: the first after."""
    steps = TrimSteps(given, kind)

    return TransitionSystem(
        name=f"what is trimmed, {kind.name} windows",
        state=SYMBOLS,
        axioms=axioms(given, kind),
        init=restored,
        transitions=(
            Transition(
                "an event",
                (("event", EVENT), ("closes", BOOL), ("latest", WINDOW), ("reached", WINDOW)),
                ("done", "closed", "made", "retained"),
                steps.event,
            ),
            Transition(
                "an acknowledgement",
                (("theta", MATCH),),
                ("acked", "dropped", "trimmed"),
                steps.acknowledgement,
            ),
        ),
        invariants=invariants(kind),
    )


def invariants(kind: WindowKind) -> dict[str, Callable[[AtTime], Any]]:
    return {
        "no event trimmed is in a window kept, or in one that opens later": lambda s: ForAll(
            [w, e], Implies(And(s.trimmed(e), kind.belongs(w, e)), s.dropped(w))
        ),
        "no match that waits is in a window dropped": lambda s: ForAll(
            [m], Implies(waits(s, m), Not(s.dropped(of(m))))
        ),
        "windows dropped are closed": lambda s: ForAll([w], Implies(s.dropped(w), s.closed(w))),
        "what is trimmed comes before all windows kept": lambda s: ForAll(
            [w, e], Implies(And(s.trimmed(e), Not(s.dropped(w))), before(e, opener(w)))
        ),
        "what is done is a prefix": lambda s: ForAll(
            [e, f], Implies(And(s.done(f), le(e, f)), s.done(e))
        ),
        "windows close in order": lambda s: ForAll(
            [w, v], Implies(And(older(w, v), s.closed(v)), s.closed(w))
        ),
        "what is made was triggered": lambda s: ForAll([m], Implies(s.made(m), s.done(trigger(m)))),
        "a replay begins no later than the window of the match": lambda s: ForAll(
            [m], Implies(waits(s, m), not_younger(s.retained(m), of(m)))
        ),
        "a replay begins with no window dropped": lambda s: ForAll(
            [m], Implies(waits(s, m), Not(s.dropped(s.retained(m))))
        ),
        "windows before the replay start are closed": lambda s: ForAll(
            [m, w], Implies(And(waits(s, m), older(w, s.retained(m))), s.closed(w))
        ),
        "later matches have no earlier replay start": lambda s: ForAll(
            [m, n],
            Implies(
                And(waits(s, m), waits(s, n), matches.le(m, n)),
                not_younger(s.retained(m), s.retained(n)),
            ),
        ),
    }


def _trims(s: AtTime) -> Any:
    """An event is trimmed and another is not, a match waits, and its window is closed."""
    waiting = Exists([m], And(waits(s, m), s.closed(of(m))))
    return And(Exists([e], s.trimmed(e)), Exists([e], And(s.done(e), Not(s.trimmed(e)))), waiting)


def prove_trim(kind: WindowKind, given: Given) -> Iterable[SolverQuery]:
    system = trimming(given, kind)
    yield from inductive(system)
    yield reaches(
        system,
        "events are trimmed while a match of a closed window waits",
        _trims,
        4,
        {EVENT: 4, WINDOW: 3, MATCH: 2, TIME: 4},
    )


NEEDED = (
    "The replay start is the opener of the first window after the last one that was closed when "
    "the match acknowledged was produced, or of the window of the match if that is older.  If "
    "SN_trim is below it, no event at or below SN_trim is in a window that is kept or that opens "
    "later, and every match that waits for its acknowledgement is in a window kept: in every "
    "incarnation of an operator, for any engine"
)

LEMMAS = (
    Lemma(
        name="trim-time",
        statement=f"{NEEDED}, and time windows, anchored or on a grid.",
        section="Lima et al., III-B2",
        expect=Outcome.HOLDS,
        build=partial(prove_trim, TIMED),
    ),
    Lemma(
        name="trim-count",
        statement=f"{NEEDED}, and windows that are filled in the order in which they opened, "
        "count windows among them.",
        section="Lima et al., III-B2",
        expect=Outcome.HOLDS,
        build=partial(prove_trim, COUNTED),
    ),
)
