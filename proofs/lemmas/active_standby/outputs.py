"""Outputs: which are duplicates by their high watermarks, and when one may leave the primary.

Rule of this file: no boxes; an output is the tuples that it is made of, and the choices before it.

By its watermarks, one for each stream, an output that downstream has got covers others, which then
are discarded.  A choice is a step that is not deterministic; its determinant goes to the secondary.
Hwang et al., High-Availability Algorithms, 2005, Sections 3.1, 5.3 and 6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import z3
from z3 import And, DeclareSort, Exists, ForAll, Function, Implies, Not, Or

from model.evidence import Outcome
from proofs.lemmas.readings import refuted
from proofs.prove.lemma import Given, Lemma, all_given, without
from proofs.prove.orders import TotalOrder
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Symbol
from proofs.prove.transition import Transition, TransitionSystem, inductive, reaches

PAPER, PRECISE = "Hwang et al., 5.3", "Hwang et al., 6"
OUTPUT, INPUT, CHOICE = DeclareSort("output"), DeclareSort("input"), DeclareSort("choice")
STREAM, PLACE, BOOL = DeclareSort("stream"), DeclareSort("place"), z3.BoolSort()
outputs, places, choices = (
    TotalOrder(OUTPUT, "le#o"),
    TotalOrder(PLACE, "le#p"),
    TotalOrder(CHOICE, "le#c"),
)
of, primary = Function("of", OUTPUT, INPUT, BOOL), Function("primary", OUTPUT, BOOL)
on, at = Function("on", INPUT, STREAM), Function("at", INPUT, PLACE)
low, high = (Function(name, OUTPUT, STREAM, PLACE) for name in ("low", "high"))
after, involves = (Function(name, OUTPUT, CHOICE, BOOL) for name in ("after", "involves"))
p, q, v, w = z3.Consts("p q v w", OUTPUT)
i, r = z3.Const("i", INPUT), z3.Const("r", STREAM)
c, d = z3.Consts("c d", CHOICE)

# --- duplicates ------------------------------------------------------------------------------
BELOW = ForAll([r], places.less(high(p, r), high(v, r)))
NOT_ABOVE = ForAll([r], places.le(high(p, r), high(v, r)))
BELOW_LOW = ForAll([r], places.less(high(p, r), low(v, r)))
FIRST = "downstream receives the outputs of the primary in their order"
TOGETHER = "outputs with the same high watermarks are received together"
RISES = "high watermarks never decrease"
HIGH = "an output is made of nothing above its high watermarks"
LOW = "no later output is made of what is below the low watermarks of an output"
PREFIX = "the first outputs of the primary are received"
LOST, TWICE = "what is covered was received", "what was received is covered"
SAFE = "what the primary makes of tuples of a covered output was received"
EFFECT = "a tuple of a covered output has affected what was received, or makes nothing"


def receiver(given: Given, covers: Any, alike: bool = True) -> TransitionSystem:
    """covers: v covers p.  alike: the outputs of the secondary are those of the primary."""
    grouped = covers is NOT_ABOVE

    def prefix(s: AtTime) -> Any:
        before = And(primary(p), s.got(q), outputs.le(p, q))
        return ForAll([p, q], Implies(before, s.got(p)))

    def receive(s: AtTime, t: AtTime, one: Any) -> Any:
        group = And(primary(p), ForAll([r], high(p, r) == high(one, r))) if grouped else p == one
        new = Implies(t.got(p) != s.got(p), And(t.got(p), group))
        together = ForAll([p], Implies(group, t.got(p)))
        received = And(primary(one), t.got(one), ForAll([p], new), given(FIRST, prefix(t)))
        return And(received, given(TOGETHER, together) if grouped else together)

    def shared(s: AtTime, then: Any) -> Any:
        """So it is if the secondary makes p, which is covered, and the primary makes q of its i."""
        both = And(s.got(v), Not(primary(p)), covers, of(p, i), primary(q), of(q, i))
        return ForAll([p, q, v, i], Implies(both, then))

    later = And(primary(p), primary(q), outputs.less(p, q))
    rises = ForAll([p, q, r], Implies(later, places.le(high(p, r), high(q, r))))
    above = ForAll([p, i], Implies(of(p, i), places.le(at(i), high(p, on(i)))))
    below = ForAll([p, q, i], Implies(And(later, of(q, i)), places.le(low(p, on(i)), at(i))))
    other = {} if alike else {HIGH: given(HIGH, above), LOW: given(LOW, below)}
    order = And(outputs.axiom, places.axiom, given(RISES, rises) if alike else rises)
    claims = {
        PREFIX: prefix,
        LOST: lambda s: ForAll([p, v], Implies(And(s.got(v), primary(p), covers), s.got(p))),
        TWICE: lambda s: ForAll([p], Implies(s.got(p), Exists([v], And(s.got(v), covers)))),
        SAFE: lambda s: shared(s, s.got(q)),
        EFFECT: lambda s: shared(s, Exists([w], And(s.got(w), of(w, i)))),
    }
    none, state = lambda s: ForAll([p], Not(s.got(p))), (Symbol("got", OUTPUT, BOOL),)
    steps = (Transition("receive", (("output", OUTPUT),), ("got",), receive),)
    return TransitionSystem("a receiver", state, {"orders": order, **other}, none, steps, claims)


def prove(covers: Any, alike: bool, claims: tuple[str, ...], given: Given) -> Iterator[SolverQuery]:
    system = receiver(given, covers, alike)
    proved = {claim: system.invariants[claim] for claim in (PREFIX, *claims)}
    yield from inductive(replace(system, invariants=proved))
    yield reaches(system, "all are received", lambda s: ForAll([p], s.got(p)), 2, PAIR)


# --- determinants ----------------------------------------------------------------------------
IN_ORDER = "log messages arrive in their order"
STORED = "the secondary acknowledges what has arrived"
ALL = "an output leaves when all choices before it are acknowledged"
KNOWN = "the secondary has the determinants of all choices before an output that has left"
BEFORE = "what precedes a choice that arrived, or is acknowledged, has arrived"


def log(given: Given, waits_for: Any = after) -> TransitionSystem:
    def arrive(s: AtTime, t: AtTime, one: Any) -> Any:
        before = given(IN_ORDER, ForAll([c], Implies(choices.less(c, one), s.arrived(c))))
        return And(before, ForAll([c], t.arrived(c) == Or(s.arrived(c), c == one)))

    def acknowledge(s: AtTime, t: AtTime, one: Any) -> Any:
        upto = t.acknowledged(c) == Or(s.acknowledged(c), choices.le(c, one))
        return And(given(STORED, s.arrived(one)), ForAll([c], upto))

    def leave(s: AtTime, t: AtTime, one: Any) -> Any:
        waits = ForAll([c], Implies(waits_for(one, c), s.acknowledged(c)))
        return And(given(ALL, waits), ForAll([p], t.left(p) == Or(s.left(p), p == one)))

    def init(s: AtTime) -> Any:
        return ForAll([c, p], Not(Or(s.arrived(c), s.acknowledged(c), s.left(p))))

    def before(s: AtTime) -> Any:
        later = And(choices.le(c, d), Or(s.arrived(d), s.acknowledged(d)))
        return ForAll([c, d], Implies(later, s.arrived(c)))

    def known(s: AtTime) -> Any:
        return ForAll([p, c], Implies(And(s.left(p), after(p, c)), s.arrived(c)))

    order = And(choices.axiom, ForAll([p, c], Implies(involves(p, c), after(p, c))))
    logged = (Symbol(name, CHOICE, BOOL) for name in ("arrived", "acknowledged"))
    steps = (
        Transition("arrive", (("choice", CHOICE),), ("arrived",), arrive),
        Transition("acknowledge", (("choice", CHOICE),), ("acknowledged",), acknowledge),
        Transition("leave", (("output", OUTPUT),), ("left",), leave),
    )
    state, claims = (*logged, Symbol("left", OUTPUT, BOOL)), {KNOWN: known, BEFORE: before}
    return TransitionSystem("a log", state, {"choices": order}, init, steps, claims)


def determinants(given: Given) -> Iterator[SolverQuery]:
    yield from inductive(log(given))
    yield reaches(log(given), "one has left", lambda s: And(s.left(p), after(p, c)), 3, ONE)


PAIR, TRIPLE = ({OUTPUT: n, INPUT: 1, STREAM: 2, PLACE: 2} for n in (2, 3))
ONE, TWO = ({OUTPUT: 1, CHOICE: n} for n in (1, 2))
SAME = "If both make the same outputs, and high watermarks never decrease, those"
LOWER = f"{SAME} below an output received are duplicates."
UPTO = f"{SAME} not above an output received are the duplicates if equal ones come together."
AFFECTED = "Outputs below an output received, by the newest tuples of each, are duplicates."
APART = "Outputs not above an output received are duplicates, also if equal ones come alone."
STRICT = "Outputs below an output received are all the duplicates."
ANY = "For any boxes and orders of inputs, outputs below the low watermarks are duplicates."
ORDERS = "For any boxes and orders of inputs, outputs below the high watermarks are duplicates."
LOGGED = "The secondary can make again all that has left after the choices before it were safe."
INVOLVED = "An output may leave when the determinants are safe that are involved in making it."
OVERTAKE = "An acknowledgement covers earlier choices, also if log messages overtake each other."
WAITS = "The secondary receives all determinants involved in generating a tuple before it leaves."
CLAIM = "A tuple at the secondary is duplicate if it has a lower-valued high watermark."
ALONE, AFFECTING = receiver(without(TOGETHER), NOT_ABOVE), receiver(without(RISES), BELOW)
PUBLISHED, OTHER = receiver(all_given, BELOW), receiver(all_given, BELOW, alike=False)
INVOLVING, UNORDERED = log(all_given, involves), log(without(IN_ORDER))
upto = partial(prove, NOT_ABOVE, True, (LOST, TWICE))
LEMMAS = (
    Lemma("standby-alike", LOWER, PAPER, Outcome.HOLDS, partial(prove, BELOW, True, (LOST,))),
    Lemma("standby-equal", UPTO, PAPER, Outcome.HOLDS, upto, fragment="first-order"),
    refuted(PAPER, "standby-affecting", AFFECTED, AFFECTING, (LOST, 1, PAIR), (CLAIM, RISES)),
    refuted(PAPER, "standby-apart", APART, ALONE, (LOST, 1, PAIR)),
    refuted(PAPER, "standby-strict", STRICT, PUBLISHED, (TWICE, 1, PAIR)),
    Lemma("standby-low", ANY, PAPER, Outcome.HOLDS, partial(prove, BELOW_LOW, False, (SAFE,))),
    refuted(PAPER, "standby-other-order", ORDERS, OTHER, (EFFECT, 1, TRIPLE), (CLAIM, LOW)),
    Lemma("determinants", LOGGED, PRECISE, Outcome.HOLDS, determinants),
    refuted(PRECISE, "determinants-involved", INVOLVED, INVOLVING, (KNOWN, 1, ONE), (WAITS, ALL)),
    refuted(PRECISE, "determinants-overtake", OVERTAKE, UNORDERED, (KNOWN, 3, TWO)),
)
