"""Equal local sequence number, equal tuple: a partition that is restarted at any moment.

Rule of this file: one partition.  That equal numbers in its inputs are equal tuples is the
induction along the graph, which begins at the sources: they keep the items that they sent.

Items come after some checkpoint, from which all runs begin.  Their fixed order has whole
batches, and in a batch each input in turn.  A state of the operator includes the tuple that it made
last; an operator that makes several of an item makes them of as many items.
Su and Zhou, Progressive Recovery, 2016, Section 4 ("Progressive Recovery").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import z3
from z3 import And, Const, DeclareSort, Exists, ForAll, Function, If, Implies, Not, Or

from model.evidence import Outcome
from model.protocols.progressive.design import Order as Rule
from proofs.lemmas.readings import refuted
from proofs.prove.lemma import Given, Lemma, all_given
from proofs.prove.orders import TotalOrder
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Axioms, Symbol
from proofs.prove.transition import Transition, TransitionSystem, inductive, reaches

PAPER = "Su and Zhou, 4"
ITEM, INPUT, TUPLE = DeclareSort("item"), DeclareSort("input"), DeclareSort("value")
STATE, NUMBER, BOOL = DeclareSort("state"), DeclareSort("number"), z3.BoolSort()
items, numbers = TotalOrder(ITEM, "le#item"), TotalOrder(NUMBER, "le#number")
edge, content = Function("edge", ITEM, INPUT), Function("content", ITEM, TUPLE)
adjacent = Function("adjacent", ITEM, ITEM, BOOL)
succeeds = Function("succeeds", NUMBER, NUMBER, BOOL)
feeds = Function("feeds", STATE, TUPLE, STATE, BOOL)
makes, made = Function("makes", STATE, BOOL), Function("made", STATE, TUPLE)
reached, upto = Function("reached", ITEM, STATE), Function("upto", ITEM, NUMBER)
named = Function("named", NUMBER, TUPLE)
"""The run without failures: the state and the number after an item, the tuple of a number."""

origin, p, q = (Const(name, ITEM) for name in ("origin", "p", "q"))
"""The origin stands before all items, for the checkpoint."""
m, n = z3.Consts("m n", NUMBER)
x, y = z3.Consts("x y", TUPLE)
a, b, c = (Const(f"state {name}", STATE) for name in "abc")

ORDER = "an item waits for all that precede it in the fixed order"
IN_ORDER = "an item waits for all that precede it in its input"
ONE_INPUT = "there is one input"
INPUTS = "equal numbers in an input are equal tuples"
DETERMINISTIC = "the operator is deterministic"
LOADED = "a restart loads the state of the last checkpoint, and the places in the inputs"
NUMBERED = "it loads the number of the last tuple that the checkpoint contains"


def direct(order: TotalOrder, relation: Any, one: Any, other: Any, any_: Any) -> Any:
    """The relation holds only if the other comes after the one, and nothing comes between."""
    between = And(order.less(one, any_), order.less(any_, other))
    return ForAll(
        [one, other, any_], Implies(relation(one, other), And(order.less(one, other), Not(between)))
    )


def axioms(given: Given, single: bool) -> Axioms:
    counts = And(succeeds(upto(p), upto(q)), named(upto(q)) == made(reached(q)))
    counted = If(makes(reached(q)), counts, upto(p) == upto(q))
    follows = And(feeds(reached(p), content(q), reached(q)), counted)
    one_result = Implies(And(feeds(a, x, b), feeds(a, x, c)), b == c)
    every = {
        "items and numbers are in total orders": And(
            items.axiom,
            numbers.axiom,
            ForAll([p], items.le(origin, p)),
            direct(items, adjacent, p, q, Const("r", ITEM)),
            direct(numbers, succeeds, m, n, Const("o", NUMBER)),
        ),
        "the run without failures takes items in the fixed order": ForAll(
            [p, q], Implies(adjacent(p, q), follows)
        ),
        DETERMINISTIC: given(DETERMINISTIC, ForAll([a, b, c, x], one_result)),
    }
    if single:
        every[ONE_INPUT] = given(ONE_INPUT, ForAll([p, q], edge(p) == edge(q)))
    return every


@dataclass(frozen=True)
class PartitionSteps:
    """The steps of a partition, if these hypotheses hold."""

    given: Given
    rule: Rule

    def waits(self, s: AtTime, one: Any) -> Any:
        def done(before: Any) -> Any:
            return ForAll([q], Implies(And(before, items.less(q, one)), s.done(q)))

        match self.rule:
            case Rule.ALWAYS:
                return self.given(ORDER, done(True))
            case Rule.RECOVERY:
                return And(
                    self.given(IN_ORDER, done(edge(q) == edge(one))),
                    Implies(s.recovering, done(True)),
                )
            case Rule.NEVER:
                return self.given(IN_ORDER, done(edge(q) == edge(one)))

    def take(self, s: AtTime, t: AtTime, one: Any, after: Any, value: Any) -> Any:
        new = And(makes(t.box), n == t.number, x == made(t.box))
        number = If(makes(t.box), succeeds(s.number, t.number), t.number == s.number)
        return And(
            And(Not(s.done(one)), adjacent(after, one), self.waits(s, one), t.at == one),
            self.given(INPUTS, value == content(one)),
            And(feeds(s.box, value, t.box), number),
            ForAll([q], t.done(q) == Or(s.done(q), q == one)),
            ForAll([n, x], t.sent(n, x) == Or(s.sent(n, x), new)),
        )

    def store(self, s: AtTime, t: AtTime) -> Any:
        copied = And(t.stored == s.box, t.stored_at == s.at, t.stored_number == s.number)
        return And(copied, ForAll([q], t.stored_done(q) == s.done(q)))

    def restart(self, s: AtTime, t: AtTime) -> Any:
        places = And(ForAll([q], t.done(q) == s.stored_done(q)), t.at == s.stored_at)
        loaded = self.given(LOADED, And(t.box == s.stored, places))
        return And(loaded, self.given(NUMBERED, t.number == s.stored_number), t.recovering)

    def init(self, s: AtTime) -> Any:
        at = And(s.at == origin, s.box == reached(origin), s.number == upto(origin))
        stored = And(s.stored_at == s.at, s.stored == s.box, s.stored_number == s.number)
        first = ForAll([q], And(s.done(q) == (q == origin), s.stored_done(q) == s.done(q)))
        return And(at, stored, first, ForAll([n, x], Not(s.sent(n, x))), Not(s.recovering))


def system(given: Given, rule: Rule, single: bool = False) -> TransitionSystem:
    """rule: when the fixed order is on.  single: there is one input."""
    steps = PartitionSteps(given, rule)

    checkpoint = ("stored", "stored_at", "stored_done", "stored_number")
    taken = (("item", ITEM), ("after", ITEM), ("tuple", TUPLE))
    loads = ("box", "at", "done", "number", "recovering")
    return TransitionSystem(
        name="a partition and its numbers",
        state=(
            *(Symbol(name, STATE) for name in ("box", "stored")),
            *(Symbol(name, ITEM) for name in ("at", "stored_at")),
            *(Symbol(name, ITEM, BOOL) for name in ("done", "stored_done")),
            *(Symbol(name, NUMBER) for name in ("number", "stored_number")),
            Symbol("sent", NUMBER, TUPLE, BOOL),
            Symbol("recovering", BOOL),
        ),
        axioms=axioms(given, single),
        init=steps.init,
        transitions=(
            Transition("take", taken, ("box", "at", "done", "number", "sent"), steps.take),
            Transition("store", (), checkpoint, steps.store),
            Transition("restart", (), loads, steps.restart),
        ),
        invariants=INVARIANTS,
    )


# --- invariants ------------------------------------------------------------------------------
def _as_without_failures(done: Any, at: Any, box: Any, number: Any) -> Any:
    prefix = ForAll([q], done(q) == items.le(q, at))
    return And(prefix, box == reached(at), number == upto(at))


EQUAL = "equal numbers are equal tuples"
INVARIANTS: dict[str, Callable[[AtTime], Any]] = {
    EQUAL: lambda s: ForAll([n, x, y], Implies(And(s.sent(n, x), s.sent(n, y)), x == y)),
    "a number names a tuple of the run without failures": lambda s: ForAll(
        [n, x], Implies(s.sent(n, x), x == named(n))
    ),
    "the partition is as it was without failures": lambda s: _as_without_failures(
        s.done, s.at, s.box, s.number
    ),
    "so is its checkpoint": lambda s: _as_without_failures(
        s.stored_done, s.stored_at, s.stored, s.stored_number
    ),
}


# --- lemmas ----------------------------------------------------------------------------------
WORLD = {ITEM: 3, INPUT: 2, TUPLE: 2, STATE: 3, NUMBER: 2}


def prove(rule: Rule, single: bool, given: Given) -> Iterator[SolverQuery]:
    def again(s: AtTime) -> Any:
        return And(s.recovering, s.at != origin, Exists([n, x], s.sent(n, x)))

    yield from inductive(system(given, rule, single))
    what = "a restarted partition has sent a tuple"
    yield reaches(system(given, rule, single), what, again, 3, {**WORLD, INPUT: 1})


ALWAYS = (
    "For any deterministic operator, from any checkpoint on, for any stream and any crashes: if a "
    "partition takes whole batches, in a batch each input in turn, equal numbers are equal tuples."
)
SINGLE = "So they are without such an order, if the partition has one input."
ARRIVAL = "In the order of arrival, equal numbers of a partition with two inputs are equal tuples."
TURNED_ON = (
    "If the order is turned on when the recovery begins, a number from before is that of an equal "
    "tuple."
)
CLAIM = "Order-preserved processing is turned on in the beginning of the recovery."
LEMMAS = (
    Lemma("numbers-ordered", ALWAYS, PAPER, Outcome.HOLDS, partial(prove, Rule.ALWAYS, False)),
    Lemma("numbers-one-input", SINGLE, PAPER, Outcome.HOLDS, partial(prove, Rule.NEVER, True)),
    refuted(PAPER, "numbers-by-arrival", ARRIVAL, system(all_given, Rule.NEVER), (EQUAL, 3, WORLD)),
    refuted(
        PAPER,
        "numbers-order-in-recovery",
        TURNED_ON,
        system(all_given, Rule.RECOVERY),
        (EQUAL, 3, WORLD),
        (CLAIM, "one order always, if an application knows results by their numbers"),
    ),
)
