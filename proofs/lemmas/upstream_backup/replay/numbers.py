"""The numbers of matches in a replay: proved to come back, for the corrected scheme.

Rule of this file: parts of the product that count windows, remember matches and number them.
Whether the published pairs come back is in pairs.

The numbers of windows are integers, which leaves EPR; indices are elements of an order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import z3
from z3 import And, DeclareSort, Exists, ForAll, Function, If, Implies, Int, Not, Or

from model.evidence import Outcome
from proofs.lemmas.upstream_backup.replay import product, skipping
from proofs.prove.lemma import Given, Lemma
from proofs.prove.orders import TotalOrder, lexical
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Symbol
from proofs.prove.transition import TransitionSystem, inductive, reaches

INDEX = DeclareSort("index")
INT = z3.IntSort()
p, q = z3.Consts("p q", product.POSITION)
w, v = z3.Consts("w v", product.WINDOW)
i, j = z3.Consts("i j", INDEX)

seed = Int("seed")
"""The number of the first window of the replay."""
named = Int("named")
"""The number that the first window kept has in the original run."""
time, edge, sn = (Function(name, product.POSITION, INT) for name in ("time", "edge", "sn"))
time_again, sn_again = (
    Function(name, product.POSITION, INT) for name in ("time_again", "sn_again")
)
has = Function("has", product.OUTPUT, INDEX, product.BOOL)
indices = TotalOrder(INDEX, "index_le")


def count(condition: Any) -> Any:
    return If(condition, 1, 0)


def _counts_windows(s: AtTime, t: AtTime, position: Any) -> Any:
    return And(
        t.opened == s.opened + count(Exists([w], product.opens(position, w))),
        ForAll([w], t.label(w) == If(product.opens(position, w), t.opened, s.label(w))),
    )


def _counts_again(s: AtTime, t: AtTime, position: Any) -> Any:
    named_ = If(product.opens_again(position, w), t.opened_again, s.label_again(w))
    return And(
        t.opened_again == s.opened_again + count(Exists([w], product.opens_again(position, w))),
        ForAll([w], t.label_again(w) == named_),
    )


def _counts_nothing(s: AtTime, t: AtTime, _: Any) -> Any:
    same = ForAll([w], t.label_again(w) == s.label_again(w))
    return And(t.opened_again == s.opened_again, same)


def window_numbers(seeded: Any) -> product.ProductPart:
    """Windows are counted as they open.  seeded: what is known of the seed."""

    return product.ProductPart(
        original=(Symbol("opened", INT), Symbol("label", product.WINDOW, INT)),
        replay=(Symbol("opened_again", INT), Symbol("label_again", product.WINDOW, INT)),
        axioms={"the seed": seeded},
        init=lambda s: s.opened == 0,
        originally=_counts_windows,
        again=_counts_again,
        left_out=_counts_nothing,
        restore=lambda s, t: And(t.opened_again == seed - 1, named == s.opened + 1),
        invariants={
            "what is done is a prefix": lambda s: ForAll(
                [p, q], Implies(And(s.done(q), product.before(p, q)), s.done(p))
            ),
            "windows are counted alike": lambda s: Implies(
                s.replaying, s.opened_again - s.opened == seed - named
            ),
            "a window has its number again, up to the seed": lambda s: ForAll(
                [w],
                Implies(
                    And(s.replaying, product.kept(w), s.done(product.opener(w))),
                    s.label_again(w) - s.label(w) == seed - named,
                ),
            ),
            "the first window kept has the number that the savepoint says": lambda s: Implies(
                s.replaying,
                If(
                    s.done(product.opener(product.first)),
                    s.label(product.first) == named,
                    named == s.opened + 1,
                ),
            ),
            "windows have been counted": lambda s: ForAll(
                [w], Implies(s.done(product.opener(w)), s.label(w) <= s.opened)
            ),
            "younger windows have greater numbers": lambda s: ForAll(
                [w, v],
                Implies(
                    And(
                        s.done(product.opener(v)),
                        product.before(product.opener(w), product.opener(v)),
                    ),
                    s.label(w) < s.label(v),
                ),
            ),
        },
    )


def rank(position: Any, window: Any) -> Any:
    """In an iteration: windows that end without the event, with it, and those that stay open."""
    expired = And(product.expires(position, window), Not(product.opens(position, window)))
    return If(expired, 0, If(product.completes(position, window), 1, 2))


def history() -> product.ProductPart:
    """All matches so far: the i-th of a window in an iteration."""

    def originally(s: AtTime, t: AtTime, position: Any) -> Any:
        fresh = And(q == position, has(t.got(w), i))
        return And(
            t.now == position,
            ForAll([q, w, i], t.made(q, w, i) == Or(s.made(q, w, i), fresh)),
        )

    return product.ProductPart(
        original=(
            Symbol("now", product.POSITION),
            Symbol("made", product.POSITION, product.WINDOW, INDEX, product.BOOL),
        ),
        replay=(Symbol("now_again", product.POSITION),),
        axioms={
            "indices are in order": indices.axiom,
            "an empty output has no match": ForAll([i], Not(has(product.none, i))),
        },
        init=lambda s: ForAll([p, w, i], Not(s.made(p, w, i))),
        originally=originally,
        again=lambda _, t, position: t.now_again == position,
        left_out=lambda s, t, _: t.now_again == s.now_again,
        invariants={
            "matches are made in iterations done, in windows opened": lambda s: ForAll(
                [p, w, i], Implies(s.made(p, w, i), And(s.done(p), s.done(product.opener(w))))
            ),
        },
    )


def two_made(s: AtTime, claim: Any) -> Any:
    """The claim holds of any two matches so far: i of w in iteration p, j of v in iteration q."""
    second = ForAll([q, v, j], Implies(s.made(q, v, j), claim))
    return ForAll([p, w, i], Implies(s.made(p, w, i), second))


class MatchNumber(NamedTuple):
    """In the order of comparison; the index is an element of its own order."""

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


def trigger_again(position: Any) -> tuple[Any, ...]:
    return time_again(position), edge(position), sn_again(position)


ANEW = "every match replayed has its number"
DISTINCT = "no two matches have one number"
INCREASING = "numbers increase in the order of production"


def triggered(given: Given) -> product.ProductPart:
    """The number is the input event that triggered the iteration, the window, the index."""
    ordered = lexical(trigger(p), trigger(q), z3.BoolVal(False))
    again = And(time_again(p) == time(p), sn_again(p) == sn(p))

    def originally(s: AtTime, _: AtTime, position: Any) -> Any:
        both = And(
            *(Or(s.open(window), product.opens(position, window)) for window in (w, v)),
            product.before(product.opener(w), product.opener(v)),
        )
        in_order = ForAll([w, v], Implies(both, rank(position, w) <= rank(position, v)))
        return given("windows close in the order in which they opened", in_order)

    def anew(s: AtTime) -> Any:
        number = MatchNumber(trigger(s.now), s.label(w), i)
        number_again = MatchNumber(trigger_again(s.now_again), s.label_again(w), i)
        match = And(s.replaying, product.kept(w), has(s.got_again(w), i))
        return ForAll([w, i], Implies(match, And(has(s.got(w), i), number_again.same(number))))

    def two(s: AtTime, claim: Callable[[MatchNumber, MatchNumber], Any]) -> Any:
        return two_made(
            s, claim(MatchNumber(trigger(p), s.label(w), i), MatchNumber(trigger(q), s.label(v), j))
        )

    in_window = And(w == v, indices.less(i, j))
    by_age = And(rank(p, w) == rank(p, v), product.before(product.opener(w), product.opener(v)))
    within = Or(rank(p, w) < rank(p, v), by_age, in_window)
    produced_before = Or(product.before(p, q), And(p == q, within))
    return product.ProductPart(
        original=(),
        originally=originally,
        axioms={
            "the merge": given(
                "input events are merged by time, edge and number",
                ForAll([p, q], Implies(product.before(p, q), ordered)),
            ),
            "headers": given(
                "input events are replayed with their times and numbers", ForAll([p], again)
            ),
        },
        invariants={
            "in an iteration older windows end before younger ones": lambda s: two_made(
                s,
                Implies(
                    And(p == q, product.before(product.opener(w), product.opener(v))),
                    rank(p, w) <= rank(p, v),
                ),
            ),
            "both runs are in one iteration if the replay has matches": lambda s: ForAll(
                [w], Implies(And(s.replaying, s.got_again(w) != product.none), s.now_again == s.now)
            ),
            ANEW: anew,
            DISTINCT: lambda s: two(
                s, lambda a, b: Implies(a.same(b), And(p == q, w == v, i == j))
            ),
            INCREASING: lambda s: two(s, lambda a, b: Implies(produced_before, a.less(b))),
        },
    )


def numbering(given: Given) -> TransitionSystem:
    seeded = given("the seed is the number of the first window kept", seed == named)
    parts = (skipping.runs(given), window_numbers(seeded), history(), triggered(given))
    return product.two_runs(
        given, "original run and replay, with numbers", parts, skipping.every_window_skipped
    )


# --- lemmas ----------------------------------------------------------------------------------
NUMBERED = {**skipping.SMALL, INDEX: 1}


def prove(given: Given) -> Iterator[SolverQuery]:
    system = numbering(given)
    yield from inductive(system)
    yield reaches(system, "a match is replayed, and is not the first", _second, 4, NUMBERED)


def _second(s: AtTime) -> Any:
    earlier = And(s.made(q, w, i), product.before(q, s.now))
    return And(skipping.matches_again(s), Exists([q, w, i], earlier))


NUMBERS = f"{skipping.STATES}; with integers"


LEMMAS = (
    Lemma(
        name="numbering",
        statement="If the number of a match is its trigger (time, input edge, number of the "
        "input event), its window, and its index within the two, every match replayed from any "
        "savepoint has the number that it had, also if skipped events are left out; no two "
        "matches have one number; and numbers increase in the order of production.",
        section="Lima et al., III-B4",
        expect=Outcome.HOLDS,
        build=prove,
        fragment=NUMBERS,
    ),
)
