"""The published numbers x:y in a replay: exactly when they come back.

Rule of this file: a part of the product that numbers as Lima et al., III-B4, do, and the condition
under which that is right.  Smallest streams on which it is wrong are in the folder numbering.

x and y are integers, which leaves EPR.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import z3
from z3 import And, Const, Exists, ForAll, If, Implies, Int, Not, Or

from model.evidence import Outcome
from proofs.lemmas.upstream_backup.replay import numbers, product, skipping
from proofs.lemmas.upstream_backup.replay.numbers import i, j
from proofs.lemmas.upstream_backup.replay.product import p, q, v, w
from proofs.prove.lemma import Given, Lemma
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Symbol
from proofs.prove.transition import TransitionSystem, inductive, reaches

seed_x = Int("seed_x")
source = Const("source", product.WINDOW)
"""The window of the first match of the windows kept."""
sourced = Int("sourced")
"""Its number."""
mended = z3.Bool("mended")
"""The seed's y is the number of the first window kept, not of that of the first match."""

SINGLE = "no window completes two matches in one iteration"
SEED_X = "the seed's x is that of the first match of the windows kept"
SEED_Y = "the seed's y is that of the first match, or of the first window kept"


# --- what happens ----------------------------------------------------------------------------
def _matched(s: Any) -> Any:
    return s.got(w) != product.none


def _counted(_run: Any, s: product.RunMoment, t: product.RunMoment, _: Any) -> Any:
    return t.x == s.x + numbers.count(Exists([w], _matched(t)))


def _remembered(given: Given, s: AtTime, t: AtTime, position: Any) -> Any:
    both = And(numbers.has(t.got(w), i), numbers.has(t.got(w), j))
    return And(
        ForAll([q], t.x_of(q) == If(q == position, t.x, s.x_of(q))),
        given(SINGLE, ForAll([w, i, j], Implies(both, i == j))),
    )


def _seeded(given: Given, s: AtTime, t: AtTime, _: Any) -> Any:
    """The first match of the windows kept is where the seed comes from; from there on, iterations
    are missed."""
    kept_match = And(product.kept(w), _matched(t))
    matched, kept_matched = Exists([w], _matched(t)), Exists([w], kept_match)
    oldest = product.le(product.opener(source), product.opener(w))
    seeds = And(
        product.kept(source),
        t.got(source) != product.none,
        ForAll([w], Implies(kept_match, oldest)),
        sourced == t.label(source),
        given(SEED_X, seed_x == t.x),
    )
    missed = numbers.count(And(s.begun, matched, Not(kept_matched)))
    return And(
        t.begun == Or(s.begun, kept_matched),
        t.missed == s.missed + missed,
        Implies(And(Not(s.begun), kept_matched), seeds),
    )


# --- invariants ------------------------------------------------------------------------------
def _not_begun(s: AtTime) -> Any:
    nothing = ForAll([w], Implies(product.kept(w), s.got(w) == product.none))
    first = And(s.x_again == seed_x - 1, s.missed == 0, nothing)
    return Implies(And(s.replaying, Not(s.begun)), first)


def _behind(s: AtTime) -> Any:
    return Implies(And(s.replaying, s.begun), And(s.x == s.x_again + s.missed, s.missed >= 0))


def _sourced(s: AtTime) -> Any:
    known = s.done(product.opener(source))
    its = And(product.kept(source), known, s.label(source) == sourced)
    return Implies(And(s.replaying, s.begun), its)


def _compared(holds: bool, s: AtTime) -> Any:
    """A match replayed has its x:y, if and only if the condition holds; one of the two ways."""
    condition = And(s.missed == 0, Or(mended, source == product.first))
    same = And(s.x_again == s.x, s.label_again(w) == s.label(w))
    claim = Implies(condition, same) if holds else Implies(Not(condition), Not(same))
    match = And(s.replaying, product.kept(w), s.got_again(w) != product.none)
    return ForAll([w], Implies(match, claim))


def _grown(s: AtTime) -> Any:
    later = Implies(product.before(p, q), s.x_of(p) < s.x_of(q))
    return numbers.two_made(s, And(s.x_of(q) <= s.x, later))


def _distinct(s: AtTime) -> Any:
    same = And(s.x_of(p) == s.x_of(q), s.label(w) == s.label(v))
    return numbers.two_made(s, Implies(same, And(p == q, w == v, i == j)))


def pairs(given: Given) -> product.ProductPart:
    """x counts iterations that produced an event; y is the window.  missed: iterations since the
    first match of the windows kept in which only dropped windows matched."""
    return product.ProductPart(
        both=(Symbol("x", numbers.INT),),
        original=(Symbol("x_of", product.POSITION, numbers.INT),),
        replay=(Symbol("begun", product.BOOL), Symbol("missed", numbers.INT)),
        step=_counted,
        idle=lambda s, t: t.x == s.x,
        init=lambda s: s.x == 0,
        originally=partial(_remembered, given),
        together=partial(_seeded, given),
        restore=lambda _, t: And(t.x_again == seed_x - 1, Not(t.begun), t.missed == 0),
        invariants={
            "before the first match of the windows kept": _not_begun,
            "x is behind by the iterations missed": _behind,
            "the window of the first match has its number": _sourced,
            "if the condition holds, a match replayed has its x:y": partial(_compared, True),
            "if it does not hold, a match replayed has another x:y": partial(_compared, False),
            "x has grown with every iteration that matched": _grown,
            "no two matches have one x:y": _distinct,
        },
    )


def published(given: Given) -> TransitionSystem:
    seeded = given(SEED_Y, numbers.seed == If(mended, numbers.named, sourced))
    parts = (skipping.runs(given), numbers.window_numbers(seeded), numbers.history(), pairs(given))
    name = "original run and replay, with x:y"
    return product.two_runs(given, name, parts, skipping.every_window_skipped)


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
        "pairs-condition",
        "A match of a window kept gets its x:y again if and only if (a) the first match of the "
        "windows kept lies in the first of them, or the seed's y is mended, and (b) no iteration "
        "since that first match, up to this one, had matches in dropped windows alone: x falls "
        "short by the number of those.  (c) If no window completes two matches in one iteration, "
        "no two matches have one x:y.",
        "Lima et al., III-B4",
        Outcome.HOLDS,
        prove,
        fragment=numbers.NUMBERS,
    ),
)
