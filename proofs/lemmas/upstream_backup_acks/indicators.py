"""Low watermarks: the tuples that upstream may trim by them, and whether they identify outputs.

Rule of this file: one node, until it fails; the trimmed tuples of one of its inputs.

A box makes outputs of the tuples in its state; the last one of a stream counts as in the state
while there is no other.  An output is `made_of` the place of the oldest tuple that affected it.
Hwang et al., High-Availability Algorithms, 2005, Section 5.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import z3
from z3 import And, DeclareSort, Exists, ForAll, Function, If, Implies, Not, Or

from model.evidence import Outcome
from proofs.lemmas.readings import refuted
from proofs.prove.lemma import Given, Lemma, all_given, without
from proofs.prove.orders import TotalOrder
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Symbol
from proofs.prove.transition import Transition, TransitionSystem, inductive, reaches

PAPER = "Hwang et al., 5.2"
TUPLE, STREAM, PLACE = DeclareSort("item"), DeclareSort("stream"), DeclareSort("place")
tuples, places = TotalOrder(TUPLE, "le#item"), TotalOrder(PLACE, "le#place")
BOOL, on = z3.BoolSort(), Function("on", TUPLE, STREAM)
mark, made_of = (Function(name, TUPLE, PLACE) for name in ("mark", "made of"))
reads, behind = (Function(name, STREAM, STREAM, BOOL) for name in ("reads", "behind"))
"""reads: the box that fills the one stream reads the other; behind: through any boxes."""
enters, leaves = (Function(name, STREAM, BOOL) for name in ("enters", "leaves"))
p, q = z3.Consts("p q", TUPLE)
r, u, v = z3.Consts("r u v", STREAM)
zero, place = z3.Consts("zero place", PLACE)

ARRIVES = "tuples of the input arrive in their order"
QUEUES = "a box takes the tuples of a stream in their order"
ONCE = "what has left the state does not come back"
LOWEST = "an indicator is at most that of the oldest tuple in the state, on every path"
ATTAINED = "an indicator is that of the oldest tuple in the state, on some path"
EVERY = "upstream trims what the level-1 acknowledgements of all outputs permit"
RISE = "indicators on a stream never decrease"
KEPT = "what has yet to affect what downstream receives is made of nothing that is trimmed"


@dataclass(frozen=True)
class IndicatorSteps:
    """The steps of a node, if these hypotheses hold."""

    given: Given
    affecting: bool

    def state(self, s: AtTime, t: AtTime, at: Any) -> Any:
        """Only the state of this stream changes; omega is the indicator of its oldest tuple."""
        kept = And(t.held(p), on(p) == at)
        least = ForAll([p], Implies(kept, places.le(t.omega(at), mark(p))))
        others = ForAll([r], Implies(r != at, t.omega(r) == s.omega(r)))
        return And(Exists([p], And(kept, t.omega(at) == mark(p))), least, others)

    def take(self, s: AtTime, t: AtTime, one: Any) -> Any:
        earlier = And(s.sent(p), on(p) == on(one), tuples.less(p, one))
        in_order = self.given(QUEUES, ForAll([p], Implies(earlier, s.taken(p))))
        taken = And(t.taken(p) == Or(s.taken(p), p == one), t.held(p) == Or(s.held(p), p == one))
        new = And(s.sent(one), Not(s.taken(one)), in_order)
        return And(new, ForAll([p], taken), self.state(s, t, on(one)))

    def forget(self, s: AtTime, t: AtTime, at: Any) -> Any:
        back = self.given(ONCE, Implies(t.held(p), s.held(p)))
        only = Implies(t.held(p) != s.held(p), And(on(p) == at, s.taken(p)))
        return And(ForAll([p], And(back, only)), self.state(s, t, at))

    def make(self, s: AtTime, t: AtTime, one: Any, of: Any) -> Any:
        later = ForAll([p], Implies(And(s.sent(p), on(p) == on(one)), tuples.less(p, one)))
        made = And(later, reads(on(one), on(of)), s.held(of), made_of(one) == made_of(of))
        below = ForAll([r], Implies(reads(on(one), r), places.le(mark(one), s.omega(r))))
        some = Exists([r], And(reads(on(one), r), mark(one) == s.omega(r)))
        omega = (
            True if self.affecting else And(self.given(LOWEST, below), self.given(ATTAINED, some))
        )
        rule = mark(one) == mark(of) if self.affecting else omega
        return And(Not(s.sent(one)), made, rule, ForAll([p], t.sent(p) == Or(s.sent(p), p == one)))

    def acknowledge(self, s: AtTime, t: AtTime, one: Any) -> Any:
        upto = And(on(p) == on(one), tuples.le(p, one))
        received = ForAll([p], t.received(p) == Or(s.received(p), upto))
        level_1 = ForAll([r], t.upto(r) == If(r == on(one), mark(one), s.upto(r)))
        every = ForAll([r], Implies(leaves(r), places.le(t.trimmed, t.upto(r))))
        new = And(s.sent(one), leaves(on(one)), Not(s.received(one)))
        return And(new, received, level_1, self.given(EVERY, every))

    def init(self, s: AtTime) -> Any:
        waits = And(s.sent(p) == enters(on(p)), Not(Or(s.taken(p), s.held(p), s.received(p))))
        begins = ForAll([r], And(s.omega(r) == zero, s.upto(r) == zero))
        return And(ForAll([p], waits), begins, s.trimmed == zero)


def system(given: Given, affecting: bool = False) -> TransitionSystem:
    """affecting: an indicator is of the oldest tuple that affected the output."""
    steps = IndicatorSteps(given, affecting)

    in_order = And(enters(on(p)), on(p) == on(q), tuples.le(p, q))
    paths = behind(r, u) == Or(reads(r, u), Exists([v], And(reads(r, v), behind(v, u))))
    own = And(Implies(enters(on(p)), made_of(p) == mark(p)), Implies(enters(r), Not(reads(r, u))))
    axioms = {
        "orders": And(tuples.axiom, places.axiom, ForAll([place], places.le(zero, place))),
        "streams": And(ForAll([r, u], paths), ForAll([r], Not(behind(r, r)))),
        "inputs": ForAll([p, r, u], own),
        ARRIVES: given(ARRIVES, ForAll([p, q], Implies(in_order, places.le(mark(p), mark(q))))),
    }
    of_tuples = [Symbol(name, TUPLE, BOOL) for name in ("sent", "taken", "held", "received")]
    of_streams = [Symbol(name, STREAM, PLACE) for name in ("omega", "upto")]
    state_ = (*of_tuples, *of_streams, Symbol("trimmed", PLACE))
    transitions = (
        Transition("take", (("tuple", TUPLE),), ("taken", "held", "omega"), steps.take),
        Transition("forget", (("stream", STREAM),), ("held", "omega"), steps.forget),
        Transition("make", (("tuple", TUPLE), ("of", TUPLE)), ("sent",), steps.make),
        Transition(
            "acknowledge", (("tuple", TUPLE),), ("received", "upto", "trimmed"), steps.acknowledge
        ),
    )
    return TransitionSystem("a node", state_, axioms, steps.init, transitions, INVARIANTS)


def _waits(s: AtTime) -> Any:
    return And(s.sent(p), Or(Not(s.taken(p)), s.held(p)))


def _leaves(s: AtTime) -> Any:
    return And(leaves(on(p)), s.sent(p), Not(s.received(p)))


def _in_order(s: AtTime) -> Any:
    known = And(Implies(s.held(p), s.taken(p)), Implies(s.taken(p), s.sent(p)))
    both = And(s.taken(p), s.sent(q), on(p) == on(q), tuples.le(q, p))
    return And(ForAll([p], known), ForAll([p, q], Implies(both, s.taken(q))))


def _below(what: Any, one: Any, other: Any, *variables: Any) -> Any:
    return ForAll([*variables], Implies(what, places.le(one, other)))


INVARIANTS = {
    RISE: lambda s: _below(
        And(s.sent(p), s.sent(q), on(p) == on(q), tuples.le(p, q)), mark(p), mark(q), p, q
    ),
    KEPT: lambda s: _below(
        Or(_leaves(s), And(leaves(r), behind(r, on(p)), _waits(s))), s.trimmed, made_of(p), p, r
    ),
    "tuples are sent, then taken in order, then in the state": _in_order,
    "no omega is below what was made of it": lambda s: _below(
        And(s.sent(p), behind(on(p), r)), mark(p), s.omega(r), p, r
    ),
    "omega rises along paths": lambda s: _below(behind(r, u), s.omega(r), s.omega(u), r, u),
    "no omega is above what waits": lambda s: _below(_waits(s), s.omega(on(p)), mark(p), p),
    "no indicator is above the oldest tuple": lambda s: _below(s.sent(p), mark(p), made_of(p), p),
    "no more is trimmed than outputs permit": lambda s: _below(leaves(r), s.trimmed, s.upto(r), r),
    "no output permits to trim what waits": lambda s: _below(
        And(leaves(r), behind(r, u)), s.upto(r), s.omega(u), r, u
    ),
    "nor what downstream has not received": lambda s: _below(_leaves(s), s.upto(on(p)), mark(p), p),
}


def prove(given: Given) -> Iterator[SolverQuery]:
    yield from inductive(system(given))
    yield reaches(system(given), "a tuple is trimmed", lambda s: s.trimmed != zero, 3, SMALL)


# --- do they identify outputs? ---------------------------------------------------------------
EXACT = "low watermarks are of the tuples of an output, not of the oldest ones in the state"
ONE = "outputs made of the same tuples are equal"
LOST, TWICE = "what is discarded equals an output passed on", "no two outputs passed on are equal"
part, low = (Function(name, TUPLE, STREAM, PLACE) for name in ("part", "low"))
equal = Function("equal", TUPLE, TUPLE, BOOL)


def receiver(given: Given) -> TransitionSystem:
    """part: the tuple of an output in that stream.  An output that is made again is another
    element."""

    def receive(s: AtTime, t: AtTime, one: Any) -> Any:
        known = Exists([q], And(s.passed(q), ForAll([r], low(q, r) == low(one, r))))
        passed = t.passed(p) == Or(s.passed(p), And(p == one, Not(known)))
        return ForAll([p], And(passed, t.gone(p) == Or(s.gone(p), And(p == one, known))))

    def lost(s: AtTime) -> Any:
        return ForAll([p], Implies(s.gone(p), Exists([q], And(s.passed(q), equal(p, q)))))

    def twice(s: AtTime) -> Any:
        return ForAll([p, q], Implies(And(s.passed(p), s.passed(q), equal(p, q)), p == q))

    def init(s: AtTime) -> Any:
        return ForAll([p], Not(Or(s.passed(p), s.gone(p))))

    same = ForAll([r], part(p, r) == part(q, r))
    axioms = {
        "orders": And(places.axiom, ForAll([p, r], places.le(low(p, r), part(p, r)))),
        "equal outputs": ForAll([p, q], And(equal(p, p), Implies(equal(p, q), same))),
        ONE: given(ONE, ForAll([p, q], Implies(same, equal(p, q)))),
        EXACT: given(EXACT, ForAll([p, r], low(p, r) == part(p, r))),
    }
    steps = (Transition("receive", (("output", TUPLE),), ("passed", "gone"), receive),)
    state = Symbol("passed", TUPLE, BOOL), Symbol("gone", TUPLE, BOOL)
    claims = {LOST: lost, TWICE: twice}
    return TransitionSystem("a receiver", state, axioms, init, steps, claims)


def identify(given: Given) -> Iterator[SolverQuery]:
    yield from inductive(receiver(given))
    yield reaches(receiver(given), "one is discarded", lambda s: Exists([p], s.gone(p)), 2, SMALL)


SMALL = {TUPLE: 2, STREAM: 2, PLACE: 2}
KEEPS = "For any acyclic network: indicators never decrease, and upstream has what affects outputs."
AFFECTED = "Indicators of the oldest tuples that affected each output never decrease."
TRIMS = "Upstream may trim what is older than all that affected an acknowledged output."
CAUSE = "cause((O, v), I) is the earliest tuple that affected the value of O[v].", LOWEST
AFFECTING = system(all_given, affecting=True)
FALL, LOSS = (RISE, 4, {**SMALL, TUPLE: 4}), (KEPT, 4, {**SMALL, TUPLE: 3})
UNIQUE = "Low watermarks identify an output if they are its tuples, and it is the only one of them."
JOIN = "Low watermarks of a join, which are the oldest tuples in its state, identify outputs."
AGAIN = "Low watermarks of a join are the same when its outputs are made again."
PATHS = "Low watermarks identify the outputs of two paths that are made of one tuple."
CLAIM, PRECISE = "Input-tuple indicators uniquely identify tuples.", "Hwang et al., 6"
OLDEST, BOTH = receiver(without(EXACT)), receiver(without(ONE))
LEMMAS = (
    Lemma("input-preservation", KEEPS, PAPER, Outcome.HOLDS, prove, fragment="first-order"),
    refuted(PAPER, "indicators-affecting", AFFECTED, AFFECTING, FALL, CAUSE),
    refuted(PAPER, "input-affecting", TRIMS, AFFECTING, LOSS, CAUSE),
    Lemma("indicators-unique", UNIQUE, PRECISE, Outcome.HOLDS, identify, fragment="first-order"),
    refuted(PRECISE, "indicators-join", JOIN, OLDEST, (LOST, 2, SMALL), (CLAIM, EXACT)),
    refuted(PRECISE, "indicators-again", AGAIN, OLDEST, (TWICE, 2, SMALL), (CLAIM, EXACT)),
    refuted(PRECISE, "indicators-paths", PATHS, BOTH, (LOST, 2, SMALL), (CLAIM, ONE)),
)
