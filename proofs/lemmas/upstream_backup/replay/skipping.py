"""Skipped events: a replay without them has the same windows, engine states and matches.

Rule of this file: which events may be left out, and the part of the product that follows windows
and engines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from z3 import And, Exists, ForAll, If, Implies, Not, Or

from model.evidence import Outcome
from proofs.lemmas.upstream_backup.replay import product
from proofs.lemmas.upstream_backup.replay.product import (
    ORIGINAL,
    REPLAY,
    ProductRun,
    RunMoment,
    p,
    q,
    v,
    w,
)
from proofs.prove.lemma import Given, Lemma
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Symbol
from proofs.prove.transition import TransitionSystem, inductive, reaches

# --- which events may be left out ------------------------------------------------------------
OPENERS = "opening events are kept"
CLOSERS = "closing events are kept"
FUNCTION = "the engine is a function of the events in its window"


def _placed(given: Given, s: AtTime, position: Any) -> Any:
    opens = ORIGINAL.opens(position, w)
    ends = Or(ORIGINAL.expires(position, w), ORIGINAL.completes(position, w))
    concerned = And(product.kept(w), Or(s.open(w), opens))
    return And(
        given(OPENERS, ForAll([w], Not(opens))),
        given(CLOSERS, ForAll([w], Implies(concerned, Not(ends)))),
    )


def _skips(s: AtTime, position: Any) -> tuple[Any, Any, Any]:
    """Of w: it is kept and holds the event, its own opener included; the event does not change the
    state of its engine; and it completes no match."""
    mine = ORIGINAL.at(s)
    fed = ORIGINAL.fed(mine, position, w)
    holding = And(product.kept(w), ORIGINAL.holds(mine, position, w))
    return (
        holding,
        product.delta(fed, position) == fed,
        product.gives(fed, position) == product.none,
    )


def every_window_skipped(given: Given, s: AtTime, position: Any) -> Any:
    held, unchanged, unmatched = _skips(s, position)
    all_unchanged = ForAll([w], Implies(held, unchanged))
    all_unmatched = ForAll([w], Implies(held, unmatched))
    return And(
        _placed(given, s, position),
        given("the event changes the state of no open window", all_unchanged),
        given("the event completes a match in no open window", all_unmatched),
    )


def one_window_skipped(given: Given, s: AtTime, position: Any) -> Any:
    return And(_placed(given, s, position), Exists([w], And(*_skips(s, position))))


# --- windows, states, matches ----------------------------------------------------------------
def _begins(s: RunMoment) -> Any:
    fresh = And(Not(s.open(w)), s.got(w) == product.none)
    return And(ForAll([p], Not(s.done(p))), ForAll([w], fresh))


def _iteration(given: Given, run: ProductRun, s: RunMoment, t: RunMoment, position: Any) -> Any:
    """The state of a window that is not open does not matter."""
    holds, completes = run.holds(s, position, w), run.completes(position, w)
    fed = run.fed(s, position, w)
    after, found = product.delta(fed, position), product.gives(fed, position)
    while_open = If(completes, product.joined(found, product.closing(after)), found)
    expired = And(s.open(w), run.expires(position, w))
    output = If(expired, product.closing(s.inner(w)), If(Not(holds), product.none, while_open))
    states = ForAll([w], Implies(t.open(w), t.inner(w) == after))
    engines = And(states, ForAll([w], t.got(w) == output))
    return And(
        ForAll([q], t.done(q) == Or(q == position, s.done(q))),
        ForAll([w], t.open(w) == And(holds, Not(completes))),
        given(FUNCTION, engines) if run is REPLAY else engines,
    )


def _idle(s: RunMoment, t: RunMoment) -> Any:
    state = Implies(s.open(w), t.inner(w) == s.inner(w))
    same = And(t.open(w) == s.open(w), state)
    gone = ForAll([q], t.done(q) == s.done(q))
    return And(gone, ForAll([w], And(same, t.got(w) == product.none)))


def runs(given: Given) -> product.ProductPart:
    one_each = Implies(product.opener(w) == product.opener(v), w == v)
    opens = REPLAY.opens(p, w) == ORIGINAL.opens(p, w)
    closes = And(
        REPLAY.expires(p, w) == ORIGINAL.expires(p, w),
        REPLAY.completes(p, w) == ORIGINAL.completes(p, w),
    )
    return product.ProductPart(
        both=(
            Symbol("done", product.POSITION, product.BOOL),
            Symbol("open", product.WINDOW, product.BOOL),
            Symbol("inner", product.WINDOW, product.STATE),
            Symbol("got", product.WINDOW, product.OUTPUT),
        ),
        axioms={
            "positions are in order": product.positions.axiom,
            "an event opens one window at most": ForAll([w, v], one_each),
            "windows open where they did": given(
                "windows open again where they did", ForAll([p, w], opens)
            ),
            "windows close where they did": given(
                "windows close again where they did", ForAll([p, w], closes)
            ),
        },
        begins=_begins,
        step=partial(_iteration, given),
        idle=_idle,
        invariants=INVARIANTS,
    )


MATCHES = "an iteration completes the same matches in the windows kept"


def _in_both(s: AtTime, claim: Any) -> Any:
    return ForAll([w], Implies(And(s.replaying, product.kept(w)), claim))


def _absent(s: AtTime) -> Any:
    nothing = And(Not(s.open_again(w)), s.got_again(w) == product.none)
    return ForAll([w], Implies(And(s.replaying, Not(product.kept(w))), nothing))


def _opened(s: AtTime) -> Any:
    nothing = And(Not(s.open(w)), s.got(w) == product.none)
    return ForAll([w], Implies(Not(s.done(product.opener(w))), nothing))


def _started(s: AtTime) -> Any:
    earlier = product.before(q, product.opener(product.first))
    return Implies(s.replaying, ForAll([q], Implies(earlier, s.done(q))))


INVARIANTS: dict[str, Callable[[AtTime], Any]] = {
    "the same windows kept are open": lambda s: _in_both(s, s.open_again(w) == s.open(w)),
    "engine states agree": lambda s: ForAll(
        [w],
        Implies(And(s.replaying, product.kept(w), s.open(w)), s.inner_again(w) == s.inner(w)),
    ),
    MATCHES: lambda s: _in_both(s, s.got_again(w) == s.got(w)),
    "dropped windows are not in the replay": _absent,
    "windows open with their openers": _opened,
    "the replay has begun at the replay start": _started,
}


def system(given: Given, may_skip: product.Guard = every_window_skipped) -> TransitionSystem:
    return product.two_runs(given, "original run and replay", (runs(given),), may_skip)


# --- lemmas ----------------------------------------------------------------------------------
SMALL = {product.POSITION: 4, product.WINDOW: 2, product.STATE: 2, product.OUTPUT: 2}
"""A small world, in which a run can be found."""


def matches_again(s: AtTime) -> Any:
    """A window kept matches again, while one that is dropped is open in the original run."""
    matches = And(product.kept(w), s.got_again(w) != product.none)
    return And(s.replaying, Exists([w], matches), Exists([w], And(Not(product.kept(w)), s.open(w))))


def _left_out_before(s: AtTime) -> Any:
    gone = And(product.before(product.opener(product.first), q), s.done(q), Not(s.done_again(q)))
    return And(matches_again(s), Exists([q], gone))


def prove(given: Given) -> Iterator[SolverQuery]:
    whole = system(given)
    yield from inductive(whole)
    what = "a window kept matches after an event was left out"
    yield reaches(whole, what, _left_out_before, 5, SMALL)


STATES = "EPR but for delta, from states to states; no quantifier ranges over states"
LEMMAS = (
    Lemma(
        "skipping",
        "An event may be deleted upstream if all windows that hold it and are kept by the "
        "savepoint skipped it (delta leaves their states as they are, and completes nothing), and "
        "if it opens no window and closes none of them: a replay without it has the same windows, "
        "engine states and matches.  So it is for every deterministic engine, every splitter that "
        "opens and closes windows where it did, any length and any number of windows.  Windows "
        "that are dropped do not matter, and neither do windows that the event closes without "
        "being in them, or that open later; the operator of the model asks all windows open at "
        "the time, which are more than it needs to ask.",
        "Lima et al., III-A",
        Outcome.HOLDS,
        prove,
        fragment=STATES,
    ),
)
