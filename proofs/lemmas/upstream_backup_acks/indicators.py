"""Low watermarks in any network of boxes, and what upstream may trim by them.

Rule of this file: one node until it fails, and one of its inputs; indicators are of one input.

The tuples of the input are there from the beginning.  Each box keeps some tuples in its state, and
makes outputs of what it keeps or has just taken.  An output is `made_of` a place in the input: that
of the oldest tuple that affected it.
Hwang et al., High-Availability Algorithms, 2005, Section 5.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import Enum, auto
from typing import Any

import z3
from z3 import And, Const, DeclareSort, Exists, ForAll, Function, Implies, Not, Or

from model.core import Outcome
from proofs.lemmas.readings import refuted
from proofs.prove.lemma import Given, Lemma, all_given
from proofs.prove.orders import Order
from proofs.prove.query import Query
from proofs.prove.transition import Moment, Symbol, Transition, TransitionSystem, inductive, reaches


class Indicator(Enum):
    """Which tuples an output's indicator is the oldest of: all in the state of its box, those that
    affected this output, or those in the state that came on the same stream as these."""

    STATE, AFFECTING, ONE_PATH = auto(), auto(), auto()


PAPER = "Hwang et al., 5.2"
TUPLE, STREAM, PLACE = DeclareSort("tuple"), DeclareSort("stream"), DeclareSort("place")
BOOL = z3.BoolSort()
tuples, places = Order(TUPLE, "le#tuple"), Order(PLACE, "le#place")
on, mark = Function("on", TUPLE, STREAM), Function("mark", TUPLE, PLACE)
made_of = Function("made of", TUPLE, PLACE)
reads, behind = (Function(name, STREAM, STREAM, BOOL) for name in ("reads", "behind"))
"""reads: the box that fills the one stream reads the other; behind: through any boxes."""
enters, leaves = (Function(name, STREAM, BOOL) for name in ("enters", "leaves"))
zero = Const("zero", PLACE)
p, q = z3.Consts("p q", TUPLE)
r, s1, s2 = z3.Consts("r s1 s2", STREAM)

ARRIVES = "tuples of the input arrive in their order"
QUEUES = "a box takes the tuples of a stream in their order"
ONCE = "what has left the state does not come back"
LOWEST = "an indicator is not above that of any tuple in the state of the box, on any path"
ATTAINED = "an indicator is that of the oldest tuple on some path"
EVERY = "upstream trims what the level-1 acknowledgements of all outputs permit"


def system(given: Given, indicator: Indicator = Indicator.STATE) -> TransitionSystem:
    def oldest(s: Moment, stream: Any) -> Any:
        """Is omega that of the oldest tuple in the state, or of the last one if there is none?"""
        kept = And(s.held(p), on(p) == stream)
        least = ForAll([p], Implies(kept, places.le(s.omega(stream), mark(p))))
        one = Exists([p], And(kept, s.omega(stream) == mark(p)))
        return Or(And(one, least), And(Not(Exists([p], kept)), s.omega(stream) == s.last(stream)))

    def changed(s: Moment, t: Moment, of: str, at: Any) -> Any:
        """Only the value of this stream changes."""
        return ForAll([r], Implies(r != at, getattr(t, of)(r) == getattr(s, of)(r)))

    def take(s: Moment, t: Moment, one: Any) -> Any:
        earlier = And(s.sent(p), on(p) == on(one), tuples.less(p, one))
        return And(
            And(s.sent(one), Not(s.taken(one)), t.last(on(one)) == mark(one)),
            given(QUEUES, ForAll([p], Implies(earlier, s.taken(p)))),
            ForAll([p], t.taken(p) == Or(s.taken(p), p == one)),
            ForAll([p], Implies(p != one, t.held(p) == s.held(p))),
            And(changed(s, t, "last", on(one)), changed(s, t, "omega", on(one))),
            oldest(t, on(one)),
        )

    def forget(s: Moment, t: Moment, one: Any) -> Any:
        left = ForAll([p], Implies(t.held(p), And(s.taken(p), given(ONCE, s.held(p)))))
        kept = ForAll([p], Implies(on(p) != on(one), t.held(p) == s.held(p)))
        return And(left, kept, changed(s, t, "omega", on(one)), oldest(t, on(one)))

    def make(s: Moment, t: Moment, one: Any, of: Any) -> Any:
        later = ForAll([p], Implies(And(s.sent(p), on(p) == on(one)), tuples.less(p, one)))
        known = And(s.taken(of), Or(s.held(of), mark(of) == s.last(on(of))))
        below = ForAll([r], Implies(reads(on(one), r), places.le(mark(one), s.omega(r))))
        some = Exists([r], And(reads(on(one), r), mark(one) == s.omega(r)))
        rule = {
            Indicator.STATE: And(given(LOWEST, below), given(ATTAINED, some)),
            Indicator.AFFECTING: mark(one) == mark(of),
            Indicator.ONE_PATH: mark(one) == s.omega(on(of)),
        }[indicator]
        new = And(Not(s.sent(one)), later, reads(on(one), on(of)), made_of(one) == made_of(of))
        return And(new, known, rule, ForAll([p], t.sent(p) == Or(s.sent(p), p == one)))

    def acknowledge(s: Moment, t: Moment, one: Any) -> Any:
        upto = And(on(p) == on(one), tuples.le(p, one))
        received = ForAll([p], t.received(p) == Or(s.received(p), upto))
        permits = ForAll([r], Implies(leaves(r), places.le(t.trimmed, t.upto(r))))
        only = And(s.sent(one), leaves(on(one)), Not(s.received(one)), t.upto(on(one)) == mark(one))
        return And(only, received, changed(s, t, "upto", on(one)), given(EVERY, permits))

    def init(s: Moment) -> Any:
        tuples_ = And(s.sent(p) == enters(on(p)), Not(Or(s.taken(p), s.held(p), s.received(p))))
        streams = And(s.omega(r) == zero, s.last(r) == zero, s.upto(r) == zero)
        return And(ForAll([p], tuples_), ForAll([r], streams), s.trimmed == zero)

    in_order = Implies(
        And(enters(on(p)), on(p) == on(q), tuples.le(p, q)), places.le(mark(p), mark(q))
    )
    step = Exists([s2], And(reads(r, s2), behind(s2, s1)))
    path = behind(r, s1) == Or(reads(r, s1), step)
    entering = Implies(enters(on(p)), made_of(p) == mark(p))
    one = (("tuple", TUPLE),)
    return TransitionSystem(
        name="a node and its indicators",
        state=(
            *(Symbol(name, TUPLE, BOOL) for name in ("sent", "taken", "held", "received")),
            *(Symbol(name, STREAM, PLACE) for name in ("omega", "last", "upto")),
            Symbol("trimmed", PLACE),
        ),
        axioms={
            "orders": And(
                tuples.axiom,
                places.axiom,
                ForAll([Const("x", PLACE)], places.le(zero, Const("x", PLACE))),
            ),
            "paths": And(ForAll([r, s1], path), ForAll([r], Not(behind(r, r)))),
            "inputs": And(
                ForAll([p], entering), ForAll([r, s1], Implies(enters(r), Not(reads(r, s1))))
            ),
            ARRIVES: given(ARRIVES, ForAll([p, q], in_order)),
        },
        init=init,
        transitions=(
            Transition("take", one, ("taken", "held", "last", "omega"), take),
            Transition("forget", one, ("held", "omega"), forget),
            Transition("make", (*one, ("of", TUPLE)), ("sent",), make),
            Transition("acknowledge", one, ("received", "upto", "trimmed"), acknowledge),
        ),
        invariants={**RISING, **KEEPING},
    )


# --- invariants ------------------------------------------------------------------------------
RISE = "indicators on a stream never decrease"
NEEDED = "no tuple in the node, or on its way, is made of a trimmed one"


def _waits(s: Moment) -> Any:
    return And(s.sent(p), Or(Not(s.taken(p)), s.held(p)))


def _needed(s: Moment) -> Any:
    inside = And(leaves(r), behind(r, on(p)), _waits(s))
    outside = And(leaves(on(p)), s.sent(p), Not(s.received(p)))
    return ForAll([p, r], Implies(Or(inside, outside), places.le(s.trimmed, made_of(p))))


RISING: dict[str, Callable[[Moment], Any]] = {
    RISE: lambda s: ForAll(
        [p, q],
        Implies(
            And(s.sent(p), s.sent(q), on(p) == on(q), tuples.le(p, q)), places.le(mark(p), mark(q))
        ),
    ),
    "no omega is below what was made of it": lambda s: ForAll(
        [p, r], Implies(And(s.sent(p), behind(on(p), r)), places.le(mark(p), s.omega(r)))
    ),
    "no omega is above one that is behind it": lambda s: ForAll(
        [r, s1], Implies(behind(r, s1), places.le(s.omega(r), s.omega(s1)))
    ),
    "no omega is above what is in the state or still to be taken": lambda s: ForAll(
        [p], Implies(_waits(s), places.le(s.omega(on(p)), mark(p)))
    ),
    "the last tuple taken is the newest one": lambda s: ForAll(
        [p], Implies(s.taken(p), And(s.sent(p), places.le(mark(p), s.last(on(p)))))
    ),
    "no omega is above the last tuple, which is not above what comes": lambda s: ForAll(
        [p, r, s1],
        And(
            places.le(s.omega(r), s.last(r)),
            Implies(behind(r, s1), places.le(s.last(r), s.omega(s1))),
            Implies(And(s.sent(p), Not(s.taken(p))), places.le(s.last(on(p)), mark(p))),
            Implies(s.held(p), s.taken(p)),
        ),
    ),
}
KEEPING: dict[str, Callable[[Moment], Any]] = {
    NEEDED: _needed,
    "no indicator is above what the tuple is made of": lambda s: ForAll(
        [p], Implies(s.sent(p), places.le(mark(p), made_of(p)))
    ),
    "level-1 acknowledgements are at or below all that is to come": lambda s: ForAll(
        [p, r, s1],
        And(
            Implies(leaves(r), places.le(s.trimmed, s.upto(r))),
            Implies(And(leaves(r), behind(r, s1)), places.le(s.upto(r), s.omega(s1))),
            Implies(
                And(leaves(on(p)), s.sent(p), Not(s.received(p))),
                places.le(s.upto(on(p)), mark(p)),
            ),
        ),
    ),
}


# --- lemmas ----------------------------------------------------------------------------------
def rise(given: Given) -> Iterator[Query]:
    def kept(s: Moment) -> Any:
        made = And(s.sent(q), reads(on(q), on(p)), mark(q) != zero)
        return Exists([p, q], And(s.held(p), made))

    proved = system(given)
    rising = replace(proved, invariants=RISING, transitions=proved.transitions[:3])
    yield from inductive(rising)
    what = "a box keeps a tuple and has sent another one"
    yield reaches(rising, what, kept, 2, {TUPLE: 2, STREAM: 2, PLACE: 2})


def preserve(given: Given) -> Iterator[Query]:
    yield from inductive(system(given))
    world = {TUPLE: 2, STREAM: 2, PLACE: 2}
    yield reaches(system(given), "a tuple is trimmed", lambda s: s.trimmed != zero, 3, world)


BY_STATE = "For any acyclic network of boxes and any state that they keep:"
RISES = f"{BY_STATE} indicators never decrease, if each is the minimum of omega over all paths."
KEEPS = (
    f"{BY_STATE} what the level-1 acknowledgements of all outputs trim affects neither a tuple in "
    "the node nor an output that downstream has not received."
)
AFFECTED = "Indicators never decrease if each is the oldest tuple that affected this output."
PATHS = "Indicators never decrease if each is that of the path on which its tuple came."
TRIMS = "Upstream may trim what is older than all tuples that affected an acknowledged output."
CAUSE = "cause((O, v), I) is the earliest tuple that affected the value of O[v].", LOWEST
AFFECTING, ONE_PATH = (system(all_given, x) for x in (Indicator.AFFECTING, Indicator.ONE_PATH))
TWO, JOINED = {TUPLE: 4, STREAM: 2, PLACE: 2}, {TUPLE: 4, STREAM: 3, PLACE: 2}
LEMMAS = (
    Lemma("indicators-rise", RISES, PAPER, Outcome.HOLDS, rise),
    refuted(PAPER, "indicators-affecting", AFFECTED, AFFECTING, (RISE, 4, TWO), CAUSE),
    refuted(PAPER, "indicators-one-path", PATHS, ONE_PATH, (RISE, 4, JOINED)),
    Lemma("input-preservation", KEEPS, PAPER, Outcome.HOLDS, preserve),
    refuted(
        PAPER,
        "input-preservation-affecting",
        TRIMS,
        AFFECTING,
        (NEEDED, 4, {**TWO, TUPLE: 3}),
        CAUSE,
    ),
)
