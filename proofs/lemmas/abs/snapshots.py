"""A snapshot: the effect of exactly the records before its marker, on every input.

Rule of this file: one operator and one epoch; its inputs are any number.
LOG.io, Sections 1, 8.1.1 and 9.1: "it blocks the channel from where the new marker has been
received until the same marker is received from all its input channels".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import z3
from z3 import And, Const, DeclareSort, ForAll, Function, Implies, Not, Or

from model.evidence import Outcome
from model.protocols.abs.design import Alignment
from proofs.lemmas.readings import refuted
from proofs.prove.lemma import Given, Lemma, all_given
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Symbol
from proofs.prove.transition import Transition, TransitionSystem, inductive, reaches

PAPER = "LOG.io, Section 8.1.1"
RECORD, INPUT, BOOL = DeclareSort("record"), DeclareSort("input"), z3.BoolSort()
r, i = Const("r", RECORD), Const("i", INPUT)
input_of = Function("input", RECORD, INPUT)
before = Function("before", RECORD, BOOL)  # the record precedes the marker on its input

YES, NO = z3.BoolVal(True), z3.BoolVal(False)

FIFO = "a channel delivers records and markers in their order"
BLOCKED = "an input whose marker has come is blocked until the snapshot"
ALL = "the snapshot is made when all markers have come"
RECORDED = "records that come before a later marker belong to the snapshot"


def snapshots(given: Given, alignment: Alignment) -> TransitionSystem:
    """taken: has changed the state.  inside: the record's effect is in the snapshot.  whole: the
    snapshot is complete."""
    unaligned = alignment is Alignment.UNALIGNED
    at_first = alignment in (Alignment.FIRST, Alignment.UNALIGNED)

    def take(s: AtTime, t: AtTime, one: Any) -> Any:
        marked = s.marked(input_of(one))
        turn = given(FIFO, marked == Not(before(one)))
        free = Or(s.saved, Not(marked))
        if alignment is Alignment.STRICT:
            turn = And(turn, given(BLOCKED, free))
        late = And(s.saved, given(RECORDED, Not(marked)), r == one) if unaligned else NO
        taken = ForAll([r], t.taken(r) == Or(s.taken(r), r == one))
        inside = ForAll([r], t.inside(r) == Or(s.inside(r), late))
        return And(Not(s.taken(one)), turn, taken, inside)

    def mark(s: AtTime, t: AtTime, one: Any) -> Any:
        earlier = ForAll([r], Implies(And(input_of(r) == one, before(r)), s.taken(r)))
        marked = ForAll([i], t.marked(i) == Or(s.marked(i), i == one))
        made = s.saved if at_first else YES
        return And(Not(s.marked(one)), made, given(FIFO, earlier), marked)

    def save(s: AtTime, t: AtTime) -> Any:
        first = z3.Exists([i], ForAll([r], Implies(And(input_of(r) == i, before(r)), s.taken(r))))
        ready = first if at_first else given(ALL, ForAll([i], s.marked(i)))
        inside = ForAll([r], t.inside(r) == s.taken(r))
        return And(Not(s.saved), ready, inside, t.saved)

    def complete(s: AtTime, t: AtTime) -> Any:
        come = ForAll([i], s.marked(i))
        ready = given(ALL, come) if unaligned else YES
        return And(s.saved, ready, t.whole)

    def init(s: AtTime) -> Any:
        nothing = And(ForAll([r], Not(Or(s.taken(r), s.inside(r)))), ForAll([i], Not(s.marked(i))))
        return And(nothing, Not(s.saved), Not(s.whole))

    record, input_ = (("record", RECORD),), (("input", INPUT),)
    return TransitionSystem(
        name="a snapshot of ABS",
        state=(
            Symbol("taken", RECORD, BOOL),
            Symbol("inside", RECORD, BOOL),
            Symbol("marked", INPUT, BOOL),
            Symbol("saved", BOOL),
            Symbol("whole", BOOL),
        ),
        axioms={},
        init=init,
        transitions=(
            Transition("take", record, ("taken", "inside"), take),
            Transition("mark", input_, ("marked",), mark),
            Transition("save", (), ("inside", "saved"), save),
            Transition("complete", (), ("whole",), complete),
        ),
        invariants=_invariants(unaligned=unaligned),
    )


EXACT = "a snapshot has the effects of exactly the records before the markers"


def _invariants(*, unaligned: bool) -> dict[str, Callable[[AtTime], Any]]:
    def early(s: AtTime) -> Any:
        only = ForAll([r], Implies(s.taken(r), Or(before(r), s.marked(input_of(r)))))
        return And(only, ForAll([r], Implies(And(s.taken(r), Not(s.saved)), before(r))))

    shared: dict[str, Callable[[AtTime], Any]] = {
        EXACT: lambda s: Implies(s.whole, ForAll([r], s.inside(r) == before(r))),
        "what came before a marker is taken": lambda s: ForAll(
            [r], Implies(And(s.marked(input_of(r)), before(r)), s.taken(r))
        ),
        "nothing is in a snapshot that is not made": lambda s: And(
            ForAll([r], Implies(Not(s.saved), Not(s.inside(r)))), Implies(s.whole, s.saved)
        ),
        "until the snapshot, only records before markers are taken": early,
    }
    if unaligned:
        return {
            **shared,
            "a snapshot under way has what is taken and precedes a marker": lambda s: Implies(
                s.saved, ForAll([r], s.inside(r) == And(s.taken(r), before(r)))
            ),
            "without a snapshot, no marker has come": lambda s: ForAll(
                [i], Implies(s.marked(i), s.saved)
            ),
            "a snapshot is complete when all markers have come": lambda s: Implies(
                s.whole, ForAll([i], s.marked(i))
            ),
        }
    return {
        **shared,
        "a snapshot has what precedes the markers": lambda s: Implies(
            s.saved, ForAll([r], s.inside(r) == before(r))
        ),
        "a snapshot is made when all markers have come": lambda s: Implies(
            s.saved, ForAll([i], s.marked(i))
        ),
    }


# --- lemmas ----------------------------------------------------------------------------------
def exact(alignment: Alignment, given: Given) -> Iterator[SolverQuery]:
    proved = snapshots(given, alignment)
    yield from inductive(proved)

    def beyond(s: AtTime) -> Any:
        later = z3.Exists([r], And(s.taken(r), Not(before(r))))
        return And(s.whole, later, z3.Exists([r], s.inside(r)))

    what = "a record behind a marker is taken after a snapshot of one before it"
    yield reaches(proved, what, beyond, 5, {RECORD: 2, INPUT: 1})


def reading(name: str, what: str, alignment: Alignment, steps: int) -> Lemma:
    system = snapshots(all_given, alignment)
    return refuted(PAPER, name, what, system, (EXACT, steps, {RECORD: 1, INPUT: 2}))


LEMMAS = (
    Lemma(
        "aligned-snapshot",
        "For any inputs and records: with blocked inputs, a snapshot has the effects of exactly "
        "the records before the markers.",
        PAPER,
        Outcome.HOLDS,
        partial(exact, Alignment.STRICT),
    ),
    Lemma(
        "unaligned-snapshot",
        "So it is without blocked inputs, if records that come before a later marker belong to the "
        "snapshot.",
        "LOG.io, Section 9.1",
        Outcome.HOLDS,
        partial(exact, Alignment.UNALIGNED),
    ),
    reading(
        "open-inputs",
        "An operator waits for all markers, and goes on with inputs whose marker has come.",
        Alignment.OPEN,
        5,
    ),
    reading(
        "first-marker",
        "A snapshot may be made at the first marker.",
        Alignment.FIRST,
        2,
    ),
)
