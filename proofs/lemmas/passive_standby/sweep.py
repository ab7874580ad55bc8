"""A checkpoint along a sweep line is a consistent cut, queue by queue.

Rule of this file: one checkpoint, in any acyclic graph of boxes; no failure.

An item is in the queue between two boxes; what is around the node counts as boxes, too.  The line
goes over a box after all that it reads; then its state and ends of queues are saved.  Differences
from the checkpoint before say the same in fewer bytes.
Hwang et al., High-Availability Algorithms, 2005, Section 5.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import z3
from z3 import And, DeclareSort, ForAll, Function, If, Implies, Not, Or

from model.core import Outcome
from proofs.lemmas.readings import refuted
from proofs.prove.lemma import Given, Lemma, all_given, without
from proofs.prove.query import Query
from proofs.prove.transition import Moment, Symbol, Transition, TransitionSystem, inductive, reaches

PAPER = "Hwang et al., 5.1"
BOX, ITEM, BOOL = DeclareSort("box"), DeclareSort("item"), z3.BoolSort()
by, to = Function("by", ITEM, BOX), Function("to", ITEM, BOX)
reads = Function("reads", BOX, BOX, BOOL)
i = z3.Const("i", ITEM)
u, v = z3.Consts("u v", BOX)

ACROSS = "a box takes nothing that was sent after the line went over the sender"
LEFT = "the line goes over a box after all that it reads"
ITEMS = ("sent", "taken", "made", "consumed", "entered", "left")


def system(given: Given, fills: Any = by, empties: Any = to) -> TransitionSystem:
    """fills, empties: with which box is that end of a queue saved?"""

    def send(s: Moment, t: Moment, one: Any) -> Any:
        return And(Not(s.sent(one)), ForAll([i], t.sent(i) == Or(s.sent(i), i == one)))

    def take(s: Moment, t: Moment, one: Any) -> Any:
        across = And(s.over(by(one)), Not(s.made(one)), Not(s.over(to(one))))
        new = And(s.sent(one), Not(s.taken(one)), given(ACROSS, Not(across)))
        return And(new, ForAll([i], t.taken(i) == Or(s.taken(i), i == one)))

    def save(s: Moment, t: Moment, one: Any) -> Any:
        state = And(
            t.made(i) == If(by(i) == one, s.sent(i), s.made(i)),
            t.consumed(i) == If(to(i) == one, s.taken(i), s.consumed(i)),
        )
        queue = And(
            t.entered(i) == If(fills(i) == one, s.sent(i), s.entered(i)),
            t.left(i) == If(empties(i) == one, s.taken(i), s.left(i)),
        )
        over = ForAll([v], t.over(v) == Or(s.over(v), v == one))
        after = given(LEFT, ForAll([u], Implies(reads(one, u), s.over(u))))
        return And(Not(s.over(one)), after, over, ForAll([i], And(state, queue)))

    def init(s: Moment) -> Any:
        none = ForAll([i], Not(Or(*(getattr(s, name)(i) for name in ITEMS))))
        return And(none, ForAll([v], Not(s.over(v))))

    graph = And(ForAll([i], reads(to(i), by(i))), ForAll([v], Not(reads(v, v))))
    state = (*(Symbol(name, ITEM, BOOL) for name in ITEMS), Symbol("over", BOX, BOOL))
    steps = (
        Transition("send", (("item", ITEM),), ("sent",), send),
        Transition("take", (("item", ITEM),), ("taken",), take),
        Transition("save", (("box", BOX),), (*ITEMS[2:], "over"), save),
    )
    return TransitionSystem("boxes and a line", state, {"graph": graph}, init, steps, INVARIANTS)


CUT = "an item is in one saved state or saved queue, or its sender will make it again"


def cut(s: Moment) -> Any:
    queued = And(s.entered(i), Not(s.left(i))) == And(s.made(i), Not(s.consumed(i)))
    right = And(queued, Implies(s.consumed(i), s.made(i)))
    return ForAll([i], Implies(And(s.over(by(i)), s.over(to(i))), right))


def saved(s: Moment) -> Any:
    ends = And(s.entered(i) == s.made(i), s.left(i) == s.consumed(i))
    over = And(Implies(s.made(i), s.over(by(i))), Implies(s.consumed(i), s.over(to(i))))
    return ForAll([i], And(ends, over, Implies(s.taken(i), s.sent(i))))


def late(s: Moment) -> Any:
    """Was the item sent after the line went over its sender?"""
    return And(s.sent(i), s.over(by(i)), Not(s.made(i)))


INVARIANTS = {
    CUT: cut,
    "ends of queues are saved with the states": saved,
    "nothing is taken across the line": lambda s: ForAll(
        [i], Implies(And(s.taken(i), late(s)), s.over(to(i)))
    ),
    "the line is over all that is read by boxes that it is over": lambda s: ForAll(
        [u, v], Implies(And(s.over(v), reads(v, u)), s.over(u))
    ),
}


def prove(given: Given) -> Iterator[Query]:
    yield from inductive(system(given))
    yield reaches(system(given), "one is taken late", lambda s: And(s.taken(i), late(s)), 4, PAIR)


PAIR = {BOX: 2, ITEM: 1}
SWEEP = "For any acyclic graph: a checkpoint is a consistent cut if nothing is taken over the line."
FREE = "A checkpoint is a consistent cut while all boxes run, on both sides of the line."
EARLY, LATE = "A queue may be saved with its sender.", "A queue may be saved with its receiver."
CLAIM = "Operators right of the sweep line are free to execute.", ACROSS
SENDER, RECEIVER = system(all_given, by, by), system(all_given, to, to)
LEMMAS = (
    Lemma("sweep-line", SWEEP, PAPER, Outcome.HOLDS, prove),
    refuted(PAPER, "sweep-line-free", FREE, system(without(ACROSS)), (CUT, 4, PAIR), CLAIM),
    refuted(PAPER, "sweep-queue-early", EARLY, SENDER, (CUT, 4, PAIR)),
    refuted(PAPER, "sweep-queue-late", LATE, RECEIVER, (CUT, 3, PAIR)),
)
