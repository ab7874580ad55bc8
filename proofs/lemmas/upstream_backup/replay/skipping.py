"""Skipped events: a replay without them has the same windows, engine states and matches.

Rule of this file: which events may be left out, and the part of the product that follows windows
and engines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import z3
from z3 import And, Exists, ForAll, Implies, Not, Or

from model.evidence import Outcome
from proofs.lemmas.upstream_backup.replay import product
from proofs.prove.lemma import Given, Lemma
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Symbol
from proofs.prove.transition import TransitionSystem, inductive, reaches

p, q = z3.Consts("p q", product.POSITION)
w, v = z3.Consts("w v", product.WINDOW)


# --- which events may be left out ------------------------------------------------------------
OPENERS = "opening events are kept"
CLOSERS = "closing events are kept"


def _placed(given: Given, s: AtTime, position: Any) -> Any:
    ends = Or(product.expires(position, w), product.completes(position, w))
    concerned = And(product.kept(w), Or(s.open(w), product.opens(position, w)))
    return And(
        given(OPENERS, ForAll([w], Not(product.opens(position, w)))),
        given(CLOSERS, ForAll([w], Implies(concerned, Not(ends)))),
    )


def _holding(s: AtTime, position: Any, window: Any) -> Any:
    """The windows that count as open: those kept that hold the event, its own opener included."""
    return And(product.kept(window), product.ORIGINAL.holds(s, position, window))


def _unchanged(s: AtTime, position: Any, window: Any) -> Any:
    fed = product.ORIGINAL.fed(s, position, window)
    return product.delta(fed, position) == fed


def _unmatched(s: AtTime, position: Any, window: Any) -> Any:
    return product.gives(product.ORIGINAL.fed(s, position, window), position) == product.none


def every_window_skipped(given: Given, s: AtTime, position: Any) -> Any:
    held = _holding(s, position, w)
    return And(
        _placed(given, s, position),
        given(
            "the event changes the state of no open window",
            ForAll([w], Implies(held, _unchanged(s, position, w))),
        ),
        given(
            "the event completes a match in no open window",
            ForAll([w], Implies(held, _unmatched(s, position, w))),
        ),
    )


def one_window_skipped(given: Given, s: AtTime, position: Any) -> Any:
    skips = And(_holding(s, position, w), _unchanged(s, position, w), _unmatched(s, position, w))
    return And(_placed(given, s, position), Exists([w], skips))


# --- windows, states, matches ----------------------------------------------------------------
MATCHES = "an iteration completes the same matches in the windows kept"


@dataclass(frozen=True)
class WindowsAndEngines:
    """What both runs do with windows and engines."""

    given: Given

    def init(self, s: AtTime) -> Any:
        fresh = And(Not(s.open(w)), s.got(w) == product.none)
        return And(ForAll([p], Not(s.done(p))), ForAll([w], fresh))

    def originally(self, s: AtTime, t: AtTime, position: Any) -> Any:
        return And(
            ForAll([q], t.done(q) == Or(q == position, s.done(q))),
            product.ORIGINAL.windows(s, t, position),
            product.ORIGINAL.engines(s, t, position),
        )

    def again(self, s: AtTime, t: AtTime, position: Any) -> Any:
        engines = product.REPLAY.engines(s, t, position)
        return And(
            ForAll([q], t.done_again(q) == Or(q == position, s.done_again(q))),
            product.REPLAY.windows(s, t, position),
            self.given("the engine is a function of the events in its window", engines),
        )

    def left_out(self, s: AtTime, t: AtTime, _: Any) -> Any:
        state = Implies(s.open_again(w), t.again(w) == s.again(w))
        same = And(t.open_again(w) == s.open_again(w), state)
        gone = ForAll([q], t.done_again(q) == s.done_again(q))
        return And(gone, ForAll([w], And(same, t.got_again(w) == product.none)))

    def restore(self, _: AtTime, t: AtTime) -> Any:
        empty = ForAll([w], And(Not(t.open_again(w)), t.got_again(w) == product.none))
        return And(empty, ForAll([q], Not(t.done_again(q))))

    def ends_again(self, position: Any, window: Any) -> Any:
        return And(
            product.expires_again(position, window) == product.expires(position, window),
            product.completes_again(position, window) == product.completes(position, window),
        )


def runs(given: Given) -> product.ProductPart:
    part = WindowsAndEngines(given)

    return product.ProductPart(
        original=(
            Symbol("done", product.POSITION, product.BOOL),
            Symbol("open", product.WINDOW, product.BOOL),
            Symbol("inner", product.WINDOW, product.STATE),
            Symbol("got", product.WINDOW, product.OUTPUT),
        ),
        replay=(
            Symbol("done_again", product.POSITION, product.BOOL),
            Symbol("open_again", product.WINDOW, product.BOOL),
            Symbol("again", product.WINDOW, product.STATE),
            Symbol("got_again", product.WINDOW, product.OUTPUT),
        ),
        axioms={
            "positions are in order": product.positions.axiom,
            "an event opens one window at most": ForAll(
                [w, v], Implies(product.opener(w) == product.opener(v), w == v)
            ),
            "windows open where they did": given(
                "windows open again where they did",
                ForAll([p, w], product.opens_again(p, w) == product.opens(p, w)),
            ),
            "windows close where they did": given(
                "windows close again where they did", ForAll([p, w], part.ends_again(p, w))
            ),
        },
        init=part.init,
        originally=part.originally,
        again=part.again,
        left_out=part.left_out,
        restore=part.restore,
        invariants=INVARIANTS,
    )


def _in_both(s: AtTime) -> Any:
    return And(s.replaying, product.kept(w))


INVARIANTS: dict[str, Callable[[AtTime], Any]] = {
    "the same windows kept are open": lambda s: ForAll(
        [w], Implies(_in_both(s), s.open_again(w) == s.open(w))
    ),
    "engine states agree": lambda s: ForAll(
        [w], Implies(And(_in_both(s), s.open(w)), s.again(w) == s.inner(w))
    ),
    MATCHES: lambda s: ForAll([w], Implies(_in_both(s), s.got_again(w) == s.got(w))),
    "dropped windows are not in the replay": lambda s: ForAll(
        [w],
        Implies(
            And(s.replaying, Not(product.kept(w))),
            And(Not(s.open_again(w)), s.got_again(w) == product.none),
        ),
    ),
    "windows open with their openers": lambda s: ForAll(
        [w],
        Implies(Not(s.done(product.opener(w))), And(Not(s.open(w)), s.got(w) == product.none)),
    ),
    "the replay has begun at the replay start": lambda s: Implies(
        s.replaying,
        ForAll([q], Implies(product.before(q, product.opener(product.first)), s.done(q))),
    ),
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
    yield reaches(
        whole, "a window kept matches after an event was left out", _left_out_before, 5, SMALL
    )


SKIPPED = (
    "An event may be deleted upstream if all windows that hold it and are kept by the savepoint "
    "skipped it (delta leaves their states as they are, and completes nothing), and if it opens "
    "no window and closes none of them: a replay without it has the same windows, engine states "
    "and matches."
)
STATES = "EPR but for delta, from states to states; no quantifier ranges over states"

LEMMAS = (
    Lemma(
        name="skipping",
        statement=f"{SKIPPED}  So it is for every deterministic engine, every splitter that opens "
        "and closes windows where it did, any length and any number of windows.  Windows that "
        "are dropped do not matter, and neither do windows that the event closes without being "
        "in them, or that open later; the operator of the model asks all windows open at the "
        "time, which are more than it needs to ask.",
        section="Lima et al., III-A",
        expect=Outcome.HOLDS,
        build=prove,
        fragment=STATES,
    ),
)
