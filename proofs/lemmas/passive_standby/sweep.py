"""A checkpoint along a sweep line is a consistent cut, queue by queue.

Rule of this file: one checkpoint, in any acyclic graph of boxes; no failure.

An item is in the queue between two boxes; the nodes around this one count as boxes, too.  When the
line goes over a box, its state and ends of queues are saved, as a difference or not.
Hwang et al., High-Availability Algorithms, 2005, Section 5.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import z3
from z3 import And, DeclareSort, ForAll, Function, If, Implies, Not, Or

from model.evidence import Outcome
from proofs.lemmas.readings import refuted
from proofs.prove.lemma import Given, Lemma, all_given, without
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Symbol
from proofs.prove.transition import Transition, TransitionSystem, inductive, reaches

PAPER = "Hwang et al., 5.1"
BOX, ITEM, BOOL = DeclareSort("operator"), DeclareSort("item"), z3.BoolSort()
by, to = Function("by", ITEM, BOX), Function("to", ITEM, BOX)
reads = Function("reads", BOX, BOX, BOOL)
i, u, v = z3.Const("i", ITEM), z3.Const("u", BOX), z3.Const("v", BOX)

ACROSS = "a box takes nothing that was sent after the line went over the sender"
LEFT = "the line goes over a box after all that it reads"
CUT = "an item is in one saved state or saved queue, or its sender will make it again"
ITEMS = ("sent", "taken", "made", "consumed", "entered", "left")


def system(given: Given, fills: Any = by, empties: Any = to) -> TransitionSystem:
    """fills, empties: with which box is that end of a queue saved?"""

    def send(s: AtTime, t: AtTime, one: Any) -> Any:
        return And(Not(s.sent(one)), ForAll([i], t.sent(i) == Or(s.sent(i), i == one)))

    def take(s: AtTime, t: AtTime, one: Any) -> Any:
        across = And(s.over(by(one)), Not(s.made(one)), Not(s.over(to(one))))
        new = And(s.sent(one), Not(s.taken(one)), given(ACROSS, Not(across)))
        return And(new, ForAll([i], t.taken(i) == Or(s.taken(i), i == one)))

    def save(s: AtTime, t: AtTime, one: Any) -> Any:
        def saved(name: str, box: Any, now: Any) -> Any:
            return getattr(t, name)(i) == If(box == one, now, getattr(s, name)(i))

        state = saved("made", by(i), s.sent(i)), saved("consumed", to(i), s.taken(i))
        queue = saved("entered", fills(i), s.sent(i)), saved("left", empties(i), s.taken(i))
        over = ForAll([v], t.over(v) == Or(s.over(v), v == one))
        after = given(LEFT, ForAll([u], Implies(reads(one, u), s.over(u))))
        return And(Not(s.over(one)), after, over, ForAll([i], And(*state, *queue)))

    def init(s: AtTime) -> Any:
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


def cut(s: AtTime) -> Any:
    queued = And(s.entered(i), Not(s.left(i))) == And(s.made(i), Not(s.consumed(i)))
    right = And(queued, Implies(s.consumed(i), s.made(i)))
    return ForAll([i], Implies(And(s.over(by(i)), s.over(to(i))), right))


def ends(s: AtTime) -> Any:
    queue = And(s.entered(i) == s.made(i), s.left(i) == s.consumed(i))
    over = And(Implies(s.made(i), s.over(by(i))), Implies(s.consumed(i), s.over(to(i))))
    return ForAll([i], And(queue, over, Implies(s.taken(i), s.sent(i))))


def late(s: AtTime) -> Any:
    return And(s.taken(i), s.over(by(i)), Not(s.made(i)))


INVARIANTS = {
    CUT: cut,
    "ends of queues are saved with the states": ends,
    "nothing is taken across the line": lambda s: ForAll([i], Implies(late(s), s.over(to(i)))),
    "senders come first": lambda s: ForAll([u, v], Implies(And(s.over(v), reads(v, u)), s.over(u))),
}


def prove(given: Given) -> Iterator[SolverQuery]:
    yield from inductive(system(given))
    yield reaches(system(given), "one is taken late", late, 4, PAIR)


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
