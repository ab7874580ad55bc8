"""The published numbers x:y in a replay: exactly when they come back.

Rule of this file: a part of the product that numbers as Lima et al., III-B4, do, and the condition
under which that is right.  Smallest streams on which it is wrong are in the folder numbering.

x and y are integers, which leaves EPR.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import z3
from z3 import And, Const, Exists, ForAll, If, Implies, Int, Not, Or

from model.evidence import Outcome
from proofs.lemmas.upstream_backup.replay import numbers, product, skipping
from proofs.prove.lemma import Given, Lemma
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Symbol
from proofs.prove.transition import TransitionSystem, inductive, reaches

p, q = z3.Consts("p q", product.POSITION)
w, v = z3.Consts("w v", product.WINDOW)
i, j = z3.Consts("i j", numbers.INDEX)

seed_x = Int("seed_x")
source = Const("source", product.WINDOW)
"""The window of the first match of the windows kept."""
sourced = Int("sourced")
"""Its number."""
mended = z3.Bool("mended")
"""The seed's y is the number of the first window kept, not of that of the first match."""


def _condition(s: AtTime) -> Any:
    return And(s.missed == 0, Or(mended, source == product.first))


@dataclass(frozen=True)
class PairSteps:
    """How both runs number with x:y."""

    given: Given

    def originally(self, s: AtTime, t: AtTime, position: Any) -> Any:
        alone = And(numbers.has(t.got(w), i), numbers.has(t.got(w), j))
        single = ForAll([w, i, j], Implies(alone, i == j))
        return And(
            t.x == s.x + numbers.count(Exists([w], t.got(w) != product.none)),
            ForAll([q], t.x_of(q) == If(q == position, t.x, s.x_of(q))),
            self.given("no window completes two matches in one iteration", single),
        )

    def again(self, s: AtTime, t: AtTime, _: Any) -> Any:
        return t.x_again == s.x_again + numbers.count(Exists([w], t.got_again(w) != product.none))

    def together(self, s: AtTime, t: AtTime, _: Any) -> Any:
        matched = Exists([w], t.got(w) != product.none)
        kept_matched = Exists([w], And(product.kept(w), t.got(w) != product.none))
        oldest = ForAll(
            [w],
            Implies(
                And(product.kept(w), t.got(w) != product.none),
                product.le(product.opener(source), product.opener(w)),
            ),
        )
        its = And(
            product.kept(source), t.got(source) != product.none, oldest, sourced == t.label(source)
        )
        seeds = And(
            its,
            self.given(
                "the seed's x is that of the first match of the windows kept", seed_x == t.x
            ),
        )
        return And(
            t.begun == Or(s.begun, kept_matched),
            t.missed == s.missed + numbers.count(And(s.begun, matched, Not(kept_matched))),
            Implies(And(Not(s.begun), kept_matched), seeds),
        )

    def compared(self, s: AtTime, claim: Callable[[Any], Any]) -> Any:
        same = And(s.x_again == s.x, s.label_again(w) == s.label(w))
        match = And(s.replaying, product.kept(w), s.got_again(w) != product.none)
        return ForAll([w], Implies(match, claim(same)))

    def distinct(self, s: AtTime) -> Any:
        same = And(s.x_of(p) == s.x_of(q), s.label(w) == s.label(v))
        return numbers.two_made(s, Implies(same, And(p == q, w == v, i == j)))


def pairs(given: Given) -> product.ProductPart:
    """x counts iterations that produced an event; y is the window.  missed: iterations since the
    first match of the windows kept in which only dropped windows matched."""
    part = PairSteps(given)

    return product.ProductPart(
        original=(Symbol("x", numbers.INT), Symbol("x_of", product.POSITION, numbers.INT)),
        replay=(
            Symbol("x_again", numbers.INT),
            Symbol("begun", product.BOOL),
            Symbol("missed", numbers.INT),
        ),
        init=lambda s: s.x == 0,
        originally=part.originally,
        again=part.again,
        together=part.together,
        left_out=lambda s, t, _: t.x_again == s.x_again,
        restore=lambda _, t: And(t.x_again == seed_x - 1, Not(t.begun), t.missed == 0),
        invariants={
            "before the first match of the windows kept": lambda s: Implies(
                And(s.replaying, Not(s.begun)),
                And(
                    s.x_again == seed_x - 1,
                    s.missed == 0,
                    ForAll([w], Implies(product.kept(w), s.got(w) == product.none)),
                ),
            ),
            "x is behind by the iterations missed": lambda s: Implies(
                And(s.replaying, s.begun), And(s.x == s.x_again + s.missed, s.missed >= 0)
            ),
            "the window of the first match has its number": lambda s: Implies(
                And(s.replaying, s.begun),
                And(
                    product.kept(source), s.done(product.opener(source)), s.label(source) == sourced
                ),
            ),
            "if the condition holds, a match replayed has its x:y": lambda s: part.compared(
                s, lambda same: Implies(_condition(s), same)
            ),
            "if it does not hold, a match replayed has another x:y": lambda s: part.compared(
                s, lambda same: Implies(Not(_condition(s)), Not(same))
            ),
            "x has grown with every iteration that matched": lambda s: numbers.two_made(
                s, And(s.x_of(q) <= s.x, Implies(product.before(p, q), s.x_of(p) < s.x_of(q)))
            ),
            "no two matches have one x:y": part.distinct,
        },
    )


def published(given: Given) -> TransitionSystem:
    seeded = given(
        "the seed's y is that of the first match, or of the first window kept",
        numbers.seed == If(mended, numbers.named, sourced),
    )
    parts = (skipping.runs(given), numbers.window_numbers(seeded), numbers.history(), pairs(given))
    return product.two_runs(
        given, "original run and replay, with x:y", parts, skipping.every_window_skipped
    )


# --- lemmas ----------------------------------------------------------------------------------
def prove(given: Given) -> Iterator[SolverQuery]:
    system = published(given)
    yield from inductive(system)
    yield reaches(
        system,
        "a dropped window alone has matched before the replay start, and x:y comes back",
        lambda s: And(skipping.matches_again(s), s.missed == 0, s.x_again > 1),
        4,
        numbers.NUMBERED,
    )
    yield reaches(
        system,
        "a dropped window alone has matched since, and x:y does not come back",
        lambda s: And(skipping.matches_again(s), s.missed == 1),
        5,
        numbers.NUMBERED,
    )
    yield reaches(
        system,
        "the first match is not in the first window kept",
        lambda s: And(s.replaying, s.begun, source != product.first, Not(mended)),
        3,
        numbers.NUMBERED,
    )


LEMMAS = (
    Lemma(
        name="pairs-condition",
        statement="A match of a window kept gets its x:y again if and only if (a) the first match "
        "of the windows kept lies in the first of them, or the seed's y is mended, and (b) "
        "no iteration since that first match, up to this one, had matches in dropped windows "
        "alone: x falls short by the number of those.  (c) If no window completes two matches "
        "in one iteration, no two matches have one x:y.",
        section="Lima et al., III-B4",
        expect=Outcome.HOLDS,
        build=prove,
        fragment=numbers.NUMBERS,
    ),
)
