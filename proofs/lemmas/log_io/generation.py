"""Input sets: the assigned events, those that a generation uses and logs, and the lineage kept.

Rule of this file: one operator; its global state does not occur.
LOG.io, Algorithm 3, step 4, and Section 3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import z3
from z3 import And, Const, DeclareSort, Exists, ForAll, If, Implies, Not, Or

from model.evidence import Outcome
from proofs.lemmas.readings import refuted
from proofs.prove.lemma import Given, Lemma, without
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Symbol
from proofs.prove.transition import Transition, TransitionSystem, inductive, reaches

PAPER = "LOG.io, Algorithm 3"
INPUT, SET, BOOL = DeclareSort("input"), DeclareSort("set"), z3.BoolSort()
i = Const("i", INPUT)
x, y = (Const(name, SET) for name in ("x", "y"))

ONE_SET = "an input is assigned to one set"
FRESH = "the number of a set that is done is not used again"
ATOMIC = "outputs are logged in the transaction that sets the inputs to done"
KEPT = "garbage collection keeps the assignments of a set that is done"
REBUILT = "a restart takes the inputs that are assigned and undone"


def sets(given: Given) -> TransitionSystem:
    """memory: the input sets of the running operator.  used: by the set's output.  assigned: the
    rows that lineage names."""

    def assign(s: AtTime, t: AtTime, one: Any, to: Any) -> Any:
        free = ForAll([x], Not(s.assigned(one, x)))
        added = And(i == one, x == to)
        grown = And(
            t.assigned(i, x) == Or(s.assigned(i, x), added),
            t.memory(i, x) == Or(s.memory(i, x), added),
        )
        return And(given(ONE_SET, free), given(FRESH, Not(s.done(to))), ForAll([i, x], grown))

    def generate(s: AtTime, t: AtTime, one: Any) -> Any:
        used = t.used(i, x) == If(x == one, s.memory(i, x), s.used(i, x))
        left = t.memory(i, x) == And(s.memory(i, x), x != one)
        logged = ForAll([x], t.logged(x) == Or(s.logged(x), x == one))
        done = ForAll([x], t.done(x) == Or(s.done(x), x == one))
        return And(Not(s.done(one)), ForAll([i, x], And(used, left)), given(ATOMIC, logged), done)

    def restart(s: AtTime, t: AtTime) -> Any:
        again = t.memory(i, x) == And(s.assigned(i, x), Not(s.done(x)))
        return given(REBUILT, ForAll([i, x], again))

    def collect(s: AtTime, t: AtTime, one: Any) -> Any:
        fewer = Implies(t.assigned(i, x), s.assigned(i, x))
        others = Implies(x != one, t.assigned(i, x) == s.assigned(i, x))
        kept = ForAll([i, x], t.assigned(i, x) == s.assigned(i, x))
        return And(s.done(one), ForAll([i, x], And(fewer, others)), given(KEPT, kept))

    def init(s: AtTime) -> Any:
        none = Or(s.assigned(i, x), s.memory(i, x), s.used(i, x), s.done(x), s.logged(x))
        return ForAll([i, x], Not(none))

    return TransitionSystem(
        name="input sets of LOG.io",
        state=(
            *(Symbol(name, INPUT, SET, BOOL) for name in ("assigned", "memory", "used")),
            *(Symbol(name, SET, BOOL) for name in ("done", "logged")),
        ),
        axioms={},
        init=init,
        transitions=(
            Transition("assign", (("input", INPUT), ("to", SET)), ("assigned", "memory"), assign),
            Transition("generate", (("set", SET),), ("used", "memory", "done", "logged"), generate),
            Transition("restart", (), ("memory",), restart),
            Transition("collect", (("set", SET),), ("assigned",), collect),
        ),
        invariants=INVARIANTS,
    )


DONE = "if a set is done, its outputs are logged"
TRUE = "lineage of a set that is done names the inputs that were used"
SINGLE = "an input is in one set"
INVARIANTS: dict[str, Callable[[AtTime], Any]] = {
    DONE: lambda s: ForAll([x], Implies(s.done(x), s.logged(x))),
    TRUE: lambda s: ForAll([i, x], Implies(s.done(x), s.used(i, x) == s.assigned(i, x))),
    SINGLE: lambda s: ForAll([i, x, y], Implies(And(s.assigned(i, x), s.assigned(i, y)), x == y)),
    "memory has what is assigned and undone": lambda s: ForAll(
        [i, x], s.memory(i, x) == And(s.assigned(i, x), Not(s.done(x)))
    ),
}


def true(given: Given) -> Iterator[SolverQuery]:
    proved = sets(given)
    yield from inductive(proved)

    def made(s: AtTime) -> Any:
        return Exists([i, x], And(s.done(x), s.used(i, x)))

    yield reaches(proved, "an output was made of an input", made, 2, {INPUT: 2, SET: 2})


LEMMAS = (
    Lemma(
        "lineage-true",
        "For any input sets and any restarts: if a set is done, its outputs are logged, and its "
        "lineage names exactly the inputs that were used.",
        PAPER,
        Outcome.HOLDS,
        true,
    ),
    refuted(
        PAPER,
        "two-transactions",
        "Inputs may be set to done in a transaction before that of the outputs.",
        sets(without(ATOMIC)),
        (DONE, 1, {INPUT: 1, SET: 1}),
    ),
    refuted(
        PAPER,
        "sets-numbered-again",
        "The number of a set that is done may be given to the next one.",
        sets(without(FRESH)),
        (TRUE, 2, {INPUT: 1, SET: 1}),
    ),
    refuted(
        PAPER,
        "assignments-collected",
        "The rows of EVENT_LOG that are done may be deleted (Section 3.6).",
        sets(without(KEPT)),
        (TRUE, 3, {INPUT: 1, SET: 1}),
    ),
    refuted(
        PAPER,
        "two-sets",
        "An input may be assigned to two sets, and be in one.",
        sets(without(ONE_SET)),
        (SINGLE, 2, {INPUT: 1, SET: 2}),
    ),
)
