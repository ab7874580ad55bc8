"""The tuples that a restart needs from upstream, failure after failure, in any graph of nodes.

Rule of this file: the tuples behind each output are known; no indicators.  Downstream receives at
once; one failure is over before the next one.  Hwang et al., High-Availability Algorithms, 2005,
Section 5.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import z3
from z3 import And, DeclareSort, ForAll, Function, Implies, Not, Or

from model.evidence import Outcome
from proofs.lemmas.readings import refuted
from proofs.prove.lemma import Given, Lemma, without
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Symbol
from proofs.prove.transition import Transition, TransitionSystem, inductive, reaches

PAPER = "Hwang et al., 5.2"
NODE, TUPLE, BOOL = DeclareSort("node"), DeclareSort("item"), z3.BoolSort()
by, to = Function("by", TUPLE, NODE), Function("to", TUPLE, NODE)
source, of = Function("source", NODE, BOOL), Function("of", TUPLE, TUPLE, BOOL)
"""of: to make the one tuple, a node that restarts with nothing needs the other."""
p, q = z3.Consts("p q", TUPLE)

FOLLOWS = "level-1 acknowledgements follow those of level 1 from downstream"
AGAIN = "a restarted node makes again all for which upstream has what it needs"
SAFE = "the node that made a tuple has it, until it is acknowledged at level 1"
WORLD = {NODE: 3, TUPLE: 2}


def system(given: Given) -> TransitionSystem:
    """Without FOLLOWS, level 1 follows level 0, as published."""

    def make(s: AtTime, t: AtTime, one: Any) -> Any:
        made = And(t.made(p) == Or(s.made(p), p == one), t.kept(p) == Or(s.kept(p), p == one))
        inputs = ForAll([p], Implies(of(one, p), s.made(p)))
        return And(Not(source(by(one))), Not(s.made(one)), inputs, ForAll([p], made))

    def acknowledge(s: AtTime, t: AtTime, one: Any) -> Any:
        received = ForAll([p], Implies(of(p, one), s.made(p)))
        follows = given(FOLLOWS, ForAll([p], Implies(of(p, one), s.done(p))))
        trimmed = And(t.done(p) == Or(s.done(p), p == one), t.kept(p) == And(s.kept(p), p != one))
        return And(s.made(one), received, follows, ForAll([p], trimmed))

    def fail(s: AtTime, t: AtTime, who: Any) -> Any:
        possible = And(by(p) == who, s.made(p), ForAll([q], Implies(of(p, q), s.kept(q))))
        again = given(AGAIN, ForAll([p], Implies(possible, t.kept(p))))
        others = ForAll([p], Or(possible, t.kept(p) == And(s.kept(p), by(p) != who)))
        return And(Not(source(who)), again, others)

    def init(s: AtTime) -> Any:
        return ForAll([p], And(s.made(p) == source(by(p)), s.kept(p) == s.made(p), Not(s.done(p))))

    inner = Implies(of(p, q), And(by(p) == to(q), Not(source(by(p)))))
    axioms = {"graph": And(ForAll([p, q], inner), ForAll([p], by(p) != to(p)))}
    state = tuple(Symbol(name, TUPLE, BOOL) for name in ("made", "kept", "done"))
    steps = (
        Transition("make", (("tuple", TUPLE),), ("made", "kept"), make),
        Transition("acknowledge", (("tuple", TUPLE),), ("done", "kept"), acknowledge),
        Transition("fail", (("node", NODE),), ("kept",), fail),
    )
    return TransitionSystem("nodes and their queues", state, axioms, init, steps, INVARIANTS)


INVARIANTS = {
    SAFE: lambda s: ForAll([p], Implies(And(s.made(p), Not(s.done(p))), s.kept(p))),
    "inputs are made first": lambda s: ForAll([p, q], Implies(And(of(p, q), s.made(p)), s.made(q))),
    "and acknowledged last": lambda s: ForAll([p, q], Implies(And(of(p, q), s.done(q)), s.done(p))),
}


def prove(given: Given) -> Iterator[SolverQuery]:
    yield from inductive(system(given))
    yield reaches(system(given), "trimmed", lambda s: And(of(p, q), Not(s.kept(q))), 3, WORLD)


ALWAYS = "For any graph, failures in turn: upstream has what a restart needs if level 1 follows 1."
NEXT = "Upstream has what each restart needs if level 1 follows level 0, as published."
CLAIM = "The system is then able to tolerate a new failure without further delay.", FOLLOWS
LEMMAS = (
    Lemma("next-failure", ALWAYS, PAPER, Outcome.HOLDS, prove, fragment="first-order"),
    refuted(PAPER, "next-at-level-0", NEXT, system(without(FOLLOWS)), (SAFE, 3, WORLD), CLAIM),
)
