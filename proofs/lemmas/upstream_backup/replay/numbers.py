"""The numbers of matches in a replay: proved to come back, for the corrected scheme.

Rule of this file: parts of the product that count windows, remember matches and number them.
Whether the published pairs come back is in pairs.

The numbers of windows are integers, which leaves EPR; indices are elements of an order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import z3
from z3 import And, DeclareSort, Exists, ForAll, Function, If, Implies, Int, Not, Or

from model.evidence import Outcome
from proofs.lemmas.upstream_backup.replay import product, skipping
from proofs.lemmas.upstream_backup.replay.product import ORIGINAL, p, q, v, w
from proofs.prove.lemma import Given, Lemma
from proofs.prove.orders import TotalOrder, lexical
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Symbol
from proofs.prove.transition import TransitionSystem, inductive, reaches

INDEX, INT = DeclareSort("index"), z3.IntSort()
i, j = z3.Consts("i j", INDEX)
indices = TotalOrder(INDEX, "index_le")
has = Function("has", product.OUTPUT, INDEX, product.BOOL)

seed = Int("seed")
"""The number of the first window of the replay."""
named = Int("named")
"""The number that the first window kept has in the original run."""
time, edge, sn, time_again, sn_again = (
    Function(name, product.POSITION, INT)
    for name in ("time", "edge", "sn", "time_again", "sn_again")
)


def count(condition: Any) -> Any:
    return If(condition, 1, 0)


# --- windows are counted as they open --------------------------------------------------------
def _counted(
    run: product.ProductRun, s: product.RunMoment, t: product.RunMoment, position: Any
) -> Any:
    opens = run.opens(position, w)
    labels = ForAll([w], t.label(w) == If(opens, t.opened, s.label(w)))
    return And(t.opened == s.opened + count(Exists([w], opens)), labels)


def _not_counted(s: product.RunMoment, t: product.RunMoment) -> Any:
    return And(t.opened == s.opened, ForAll([w], t.label(w) == s.label(w)))


def _opened(s: AtTime, window: Any) -> Any:
    return s.done(product.opener(window))


def _labelled_again(s: AtTime) -> Any:
    known = And(s.replaying, product.kept(w), _opened(s, w))
    return ForAll([w], Implies(known, s.label_again(w) - s.label(w) == seed - named))


def _first_named(s: AtTime) -> Any:
    label = s.label(product.first) == named
    return Implies(s.replaying, If(_opened(s, product.first), label, named == s.opened + 1))


def _younger(s: AtTime) -> Any:
    older = product.before(product.opener(w), product.opener(v))
    return ForAll([w, v], Implies(And(_opened(s, v), older), s.label(w) < s.label(v)))


def window_numbers(seeded: Any) -> product.ProductPart:
    """seeded: what is known of the seed."""
    return product.ProductPart(
        both=(Symbol("opened", INT), Symbol("label", product.WINDOW, INT)),
        axioms={"the seed": seeded},
        step=_counted,
        idle=_not_counted,
        init=lambda s: s.opened == 0,
        restore=lambda s, t: And(t.opened_again == seed - 1, named == s.opened + 1),
        invariants={
            "what is done is a prefix": lambda s: ForAll(
                [p, q], Implies(And(s.done(q), product.before(p, q)), s.done(p))
            ),
            "windows are counted alike": lambda s: Implies(
                s.replaying, s.opened_again - s.opened == seed - named
            ),
            "a window has its number again, up to the seed": _labelled_again,
            "the first window kept has the number that the savepoint says": _first_named,
            "windows have been counted": lambda s: ForAll(
                [w], Implies(_opened(s, w), s.label(w) <= s.opened)
            ),
            "younger windows have greater numbers": _younger,
        },
    )


# --- matches are remembered ------------------------------------------------------------------
def _remembered(s: AtTime, t: AtTime, position: Any) -> Any:
    fresh = And(q == position, has(t.got(w), i))
    return ForAll([q, w, i], t.made(q, w, i) == Or(s.made(q, w, i), fresh))


def history() -> product.ProductPart:
    """All matches so far: the i-th of a window in an iteration."""
    return product.ProductPart(
        both=(Symbol("now", product.POSITION),),
        original=(Symbol("made", product.POSITION, product.WINDOW, INDEX, product.BOOL),),
        axioms={
            "indices are in order": indices.axiom,
            "an empty output has no match": ForAll([i], Not(has(product.none, i))),
        },
        step=lambda _run, _s, t, position: t.now == position,
        idle=lambda s, t: t.now == s.now,
        init=lambda s: ForAll([p, w, i], Not(s.made(p, w, i))),
        originally=_remembered,
        invariants={
            "matches are made in iterations done, in windows opened": lambda s: ForAll(
                [p, w, i], Implies(s.made(p, w, i), And(s.done(p), _opened(s, w)))
            ),
        },
    )


def two_made(s: AtTime, claim: Any) -> Any:
    """The claim holds of any two matches so far: i of w in iteration p, j of v in iteration q."""
    second = ForAll([q, v, j], Implies(s.made(q, v, j), claim))
    return ForAll([p, w, i], Implies(s.made(p, w, i), second))


# --- and numbered ----------------------------------------------------------------------------
class MatchNumber(NamedTuple):
    """In the order of comparison: time, edge and number of the event that triggered the iteration,
    the window, and the index, an element of its own order."""

    trigger: tuple[Any, ...]
    label: Any
    index: Any

    def less(self, other: MatchNumber) -> Any:
        smaller = indices.less(self.index, other.index)
        return lexical((*self.trigger, self.label), (*other.trigger, other.label), smaller)

    def same(self, other: MatchNumber) -> Any:
        triggers = zip(self.trigger, other.trigger, strict=True)
        equal = (mine == theirs for mine, theirs in triggers)
        return And(*equal, self.label == other.label, self.index == other.index)


def trigger(position: Any) -> tuple[Any, ...]:
    return time(position), edge(position), sn(position)


def rank(position: Any, window: Any) -> Any:
    """In an iteration: windows that end without the event, with it, and those that stay open."""
    opens = ORIGINAL.opens(position, window)
    expired = And(ORIGINAL.expires(position, window), Not(opens))
    return If(expired, 0, If(ORIGINAL.completes(position, window), 1, 2))


def _anew(s: AtTime) -> Any:
    number = MatchNumber(trigger(s.now), s.label(w), i)
    now = s.now_again
    again = MatchNumber((time_again(now), edge(now), sn_again(now)), s.label_again(w), i)
    match = And(s.replaying, product.kept(w), has(s.got_again(w), i))
    return ForAll([w, i], Implies(match, And(has(s.got(w), i), again.same(number))))


def _two_numbers(s: AtTime) -> tuple[MatchNumber, MatchNumber]:
    return MatchNumber(trigger(p), s.label(w), i), MatchNumber(trigger(q), s.label(v), j)


def _distinct(s: AtTime) -> Any:
    one, other = _two_numbers(s)
    return two_made(s, Implies(one.same(other), And(p == q, w == v, i == j)))


OLDER = product.before(product.opener(w), product.opener(v))


def _increasing(s: AtTime) -> Any:
    one, other = _two_numbers(s)
    by_age, in_window = And(rank(p, w) == rank(p, v), OLDER), And(w == v, indices.less(i, j))
    within = And(p == q, Or(rank(p, w) < rank(p, v), by_age, in_window))
    return two_made(s, Implies(Or(product.before(p, q), within), one.less(other)))


ANEW = "every match replayed has its number"
DISTINCT = "no two matches have one number"
INCREASING = "numbers increase in the order of production"


def triggered(given: Given) -> product.ProductPart:
    """The number is the input event that triggered the iteration, the window, the index."""
    merged = lexical(trigger(p), trigger(q), z3.BoolVal(False))
    headers = And(time_again(p) == time(p), sn_again(p) == sn(p))

    def originally(s: AtTime, _: AtTime, position: Any) -> Any:
        held = (Or(s.open(window), ORIGINAL.opens(position, window)) for window in (w, v))
        in_order = Implies(And(*held, OLDER), rank(position, w) <= rank(position, v))
        return given("windows close in the order in which they opened", ForAll([w, v], in_order))

    return product.ProductPart(
        originally=originally,
        axioms={
            "the merge": given(
                "input events are merged by time, edge and number",
                ForAll([p, q], Implies(product.before(p, q), merged)),
            ),
            "headers": given(
                "input events are replayed with their times and numbers", ForAll([p], headers)
            ),
        },
        invariants={
            "in an iteration older windows end before younger ones": lambda s: two_made(
                s, Implies(And(p == q, OLDER), rank(p, w) <= rank(p, v))
            ),
            "both runs are in one iteration if the replay has matches": lambda s: ForAll(
                [w], Implies(And(s.replaying, s.got_again(w) != product.none), s.now_again == s.now)
            ),
            ANEW: _anew,
            DISTINCT: _distinct,
            INCREASING: _increasing,
        },
    )


def numbering(given: Given) -> TransitionSystem:
    seeded = given("the seed is the number of the first window kept", seed == named)
    parts = (skipping.runs(given), window_numbers(seeded), history(), triggered(given))
    name = "original run and replay, with numbers"
    return product.two_runs(given, name, parts, skipping.every_window_skipped)


# --- lemmas ----------------------------------------------------------------------------------
NUMBERED = {**skipping.SMALL, INDEX: 1}
NUMBERS = f"{skipping.STATES}; with integers"


def _second(s: AtTime) -> Any:
    earlier = And(s.made(q, w, i), product.before(q, s.now))
    return And(skipping.matches_again(s), Exists([q, w, i], earlier))


def prove(given: Given) -> Iterator[SolverQuery]:
    system = numbering(given)
    yield from inductive(system)
    yield reaches(system, "a match is replayed, and is not the first", _second, 4, NUMBERED)


LEMMAS = (
    Lemma(
        "numbering",
        "If the number of a match is its trigger (time, input edge, number of the input event), "
        "its window, and its index within the two, every match replayed from any savepoint has "
        "the number that it had, also if skipped events are left out; no two matches have one "
        "number; and numbers increase in the order of production.",
        "Lima et al., III-B4",
        Outcome.HOLDS,
        prove,
        fragment=NUMBERS,
    ),
)
