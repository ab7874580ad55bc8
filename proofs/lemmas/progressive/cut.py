"""The checkpoints at a punctuation are a consistent cut, channel by channel.

Rule of this file: one punctuation, and rollbacks to the one before; no failure within a rollback.

An item is a tuple on a channel.  A node stores its part and punctuates its outputs at once; a
source, which has no input, does so at any moment.  A message that is on its way at a rollback is
dropped, except acknowledgements, which a hypothesis drops.  Su and Zhou, Progressive Recovery,
2016, Section 4 ("Checkpointing").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import z3
from z3 import And, Const, DeclareSort, Exists, ForAll, Function, If, Implies, Not, Or

from model.evidence import Outcome
from proofs.lemmas.readings import refuted
from proofs.prove.lemma import Given, Lemma, without
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Symbol
from proofs.prove.transition import Transition, TransitionSystem, inductive, reaches

PAPER = "Su and Zhou, 4"
NODE, ITEM, BOOL = DeclareSort("node"), DeclareSort("item"), z3.BoolSort()
reads = Function("reads", NODE, NODE, BOOL)
by, to = Function("by", ITEM, NODE), Function("to", ITEM, NODE)
u, v, i = Const("u", NODE), Const("v", NODE), Const("i", ITEM)

IN_ORDER = "a punctuation overtakes no tuple of its channel"
ALL_INPUTS = "a partition stores its part when all its inputs are punctuated"
ALIGNED = "what comes after the punctuation waits until the part is stored"
EPOCH = "acknowledgements from before a rollback do not count"
ALL_PARTS = "a checkpoint is complete when all have acknowledged"


@dataclass(frozen=True)
class CutSteps:
    """The steps of nodes around a punctuation, if these hypotheses hold."""

    given: Given

    def send(self, s: AtTime, t: AtTime, one: Any) -> Any:
        sent = ForAll([i], t.sent(i) == Or(s.sent(i), i == one))
        late = ForAll([i], t.late(i) == If(i == one, s.stored(by(one)), s.late(i)))
        return And(Not(s.sent(one)), sent, late)

    def process(self, s: AtTime, t: AtTime, one: Any) -> Any:
        aligned = self.given(ALIGNED, Implies(s.late(one), s.stored(to(one))))
        taken = ForAll([i], t.taken(i) == Or(s.taken(i), i == one))
        return And(s.sent(one), Not(s.taken(one)), aligned, taken)

    def store(self, s: AtTime, t: AtTime, who: Any) -> Any:
        came = Implies(And(to(i) == who, s.sent(i), Not(s.late(i))), s.taken(i))
        out = t.saved_sent(i) == If(by(i) == who, s.sent(i), s.saved_sent(i))
        in_ = t.saved_taken(i) == If(to(i) == who, s.taken(i), s.saved_taken(i))
        nodes = And(
            t.stored(v) == Or(s.stored(v), v == who),
            t.acknowledged(v) == Or(s.acknowledged(v), v == who),
            t.fresh(v) == Or(s.fresh(v), v == who),
        )
        return And(
            Not(s.stored(who)),
            self.given(ALL_INPUTS, ForAll([u], Implies(reads(who, u), s.stored(u)))),
            self.given(IN_ORDER, ForAll([i], came)),
            And(ForAll([i], And(out, in_)), ForAll([v], nodes)),
        )

    def count(self, s: AtTime, t: AtTime, who: Any) -> Any:
        counted = ForAll([v], t.counted(v) == Or(s.counted(v), v == who))
        return And(s.acknowledged(who), self.given(EPOCH, s.fresh(who)), counted)

    def complete(self, s: AtTime, t: AtTime) -> Any:
        return And(self.given(ALL_PARTS, ForAll([v], s.counted(v))), t.complete)

    def roll_back(self, s: AtTime, t: AtTime) -> Any:
        on_items = [Not(of(i)) for of in (t.sent, t.late, t.taken)]
        on_nodes = [Not(of(v)) for of in (t.stored, t.fresh, t.counted)]
        return And(Not(s.complete), ForAll([i], And(*on_items)), ForAll([v], And(*on_nodes)))

    def init(self, s: AtTime) -> Any:
        on_items = [Not(of(i)) for of in (s.sent, s.late, s.taken)]
        on_nodes = [Not(of(v)) for of in (s.stored, s.fresh, s.counted, s.acknowledged)]
        return And(Not(s.complete), ForAll([i], And(*on_items)), ForAll([v], And(*on_nodes)))


def system(given: Given) -> TransitionSystem:
    steps = CutSteps(given)

    one, who = (("item", ITEM),), (("node", NODE),)
    of_items = ("sent", "late", "taken", "saved_sent", "saved_taken")
    of_nodes = ("stored", "acknowledged", "fresh", "counted")
    saved = ("saved_sent", "saved_taken", "stored", "acknowledged", "fresh")
    gone = ("sent", "late", "taken", "stored", "fresh", "counted")
    return TransitionSystem(
        name="a punctuation and its checkpoints",
        state=(
            *(Symbol(name, ITEM, BOOL) for name in of_items),
            *(Symbol(name, NODE, BOOL) for name in of_nodes),
            Symbol("complete", BOOL),
        ),
        axioms={"who gets an item reads its sender": ForAll([i], reads(to(i), by(i)))},
        init=steps.init,
        transitions=(
            Transition("send", one, ("sent", "late"), steps.send),
            Transition("process", one, ("taken",), steps.process),
            Transition("store", who, saved, steps.store),
            Transition("count", who, ("counted",), steps.count),
            Transition("complete", (), ("complete",), steps.complete),
            Transition("roll back", (), gone, steps.roll_back),
        ),
        invariants=INVARIANTS,
    )


# --- invariants ------------------------------------------------------------------------------
def _before(s: AtTime) -> Any:
    """Was the item sent before the punctuation?"""
    return And(s.sent(i), Not(s.late(i)))


CUT = "the part of a receiver has what that of the sender has sent, and nothing else"
GLOBAL = "all parts of a complete checkpoint are stored"
INVARIANTS: dict[str, Callable[[AtTime], Any]] = {
    CUT: lambda s: ForAll(
        [i],
        Implies(And(s.stored(by(i)), s.stored(to(i))), s.saved_sent(i) == s.saved_taken(i)),
    ),
    GLOBAL: lambda s: Implies(s.complete, ForAll([v], s.stored(v))),
    "an acknowledgement that counts is of a part": lambda s: ForAll(
        [v],
        And(
            Implies(Or(s.fresh(v), s.counted(v)), s.stored(v)),
            Implies(s.fresh(v), s.acknowledged(v)),
        ),
    ),
    "a complete checkpoint is acknowledged": lambda s: Implies(
        s.complete, ForAll([v], s.counted(v))
    ),
    "who has stored reads who has stored": lambda s: ForAll(
        [u, v], Implies(And(s.stored(v), reads(v, u)), s.stored(u))
    ),
    "what is taken was sent": lambda s: ForAll(
        [i],
        And(
            Implies(s.taken(i), s.sent(i)),
            Implies(s.late(i), And(s.sent(i), s.stored(by(i)))),
            Implies(And(s.taken(i), s.late(i)), s.stored(to(i))),
        ),
    ),
    "a part has what was sent before the punctuation": lambda s: ForAll(
        [i],
        And(
            Implies(s.stored(by(i)), s.saved_sent(i) == _before(s)),
            Implies(s.stored(to(i)), s.saved_taken(i) == _before(s)),
        ),
    ),
}


# --- lemmas ----------------------------------------------------------------------------------
def prove(given: Given) -> Iterator[SolverQuery]:
    def between(s: AtTime) -> Any:
        parts = And(ForAll([v], s.stored(v)), Exists([i], s.saved_taken(i)))
        return And(parts, Exists([i], And(s.sent(i), Not(s.saved_sent(i)))))

    proved = system(given)
    yield from inductive(proved)
    yield reaches(proved, "all parts are stored, between two items", between, 5, {NODE: 2, ITEM: 2})
    yield reaches(proved, "a checkpoint is complete", lambda s: s.complete, 5, {NODE: 2, ITEM: 1})


CONSISTENT = (
    "For any graph and any number of rollbacks: of each channel, the checkpoints at a punctuation "
    "have the same tuples sent and processed, and a complete checkpoint has a part of everyone."
)
AT_ONCE = "A partition may process what comes after a punctuation before its part is stored."
OLD = "Any acknowledgement of the punctuation counts."
UNSAID = "Acknowledgements on their way at a rollback need no care."
LEMMAS = (
    Lemma("cut-consistent", CONSISTENT, PAPER, Outcome.HOLDS, prove),
    refuted(
        PAPER, "cut-unaligned", AT_ONCE, system(without(ALIGNED)), (CUT, 4, {NODE: 2, ITEM: 1})
    ),
    refuted(
        PAPER,
        "cut-old-acknowledgements",
        OLD,
        system(without(EPOCH)),
        (GLOBAL, 6, {NODE: 2, ITEM: 1}),
        (UNSAID, EPOCH),
    ),
)
