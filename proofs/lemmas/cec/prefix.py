"""A log that is cut anywhere, and the state in which the operator was when it had written it.

Rule of this file: tuples and the records that they make; no scan and no replay.
Sebepou and Magoutis, CEC, 2011, Section II.B.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import z3
from z3 import And, Const, DeclareSort, Exists, ForAll, Function, Implies, Not

from model.evidence import Outcome
from proofs.lemmas.cec.readings import PAPER, refuted
from proofs.prove.lemma import Given, Lemma, without
from proofs.prove.orders import TotalOrder
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Symbol
from proofs.prove.transition import Transition, TransitionSystem, inductive, reaches

TUPLE, RECORD, WINDOW = DeclareSort("input"), DeclareSort("record"), DeclareSort("window")
BOOL = z3.BoolSort()
tuples = TotalOrder(TUPLE, "le#tuple")
by = Function("by", RECORD, TUPLE)
opening, closing = (Function(name, WINDOW, RECORD) for name in ("opening", "closing"))
closes = Function("closes", WINDOW, BOOL)
r, w, p = Const("r", RECORD), Const("w", WINDOW), Const("p", TUPLE)

ORDER = "what tuples before it have made is written before what a tuple makes"
WHOLE = "all records of a tuple are written at once"


def system(given: Given) -> TransitionSystem:
    """The log on disk, write by write: after any of them a crash may come."""

    def write(s: AtTime, t: AtTime, one: Any) -> Any:
        earlier = Implies(tuples.less(by(r), one), s.kept(r))
        makes = Exists([r], And(by(r) == one, t.kept(r), Not(s.kept(r))))
        only = Implies(t.kept(r) != s.kept(r), And(by(r) == one, t.kept(r)))
        return And(
            makes,
            ForAll([r], only),
            t.newest == one,
            given(ORDER, And(tuples.le(s.newest, one), ForAll([r], earlier))),
            given(WHOLE, ForAll([r], Implies(by(r) == one, t.kept(r)))),
        )

    def empty(s: AtTime) -> Any:
        return ForAll([r], And(Not(s.kept(r)), tuples.less(s.newest, by(r))))

    return TransitionSystem(
        name="a log, write by write",
        state=(Symbol("kept", RECORD, BOOL), Symbol("newest", TUPLE)),
        axioms={
            "tuples are in a total order": tuples.axiom,
            "a window closes after it has opened": ForAll(
                [w], tuples.le(*map(by, (opening(w), closing(w))))
            ),
        },
        init=empty,
        transitions=(Transition("write", (("tuple", TUPLE),), ("kept", "newest"), write),),
        invariants=INVARIANTS,
    )


def was_open(made: Callable[[Any], Any]) -> Any:
    """Is window w open, where these records are made?"""
    return And(made(opening(w)), Not(And(closes(w), made(closing(w)))))


STATE = "the windows open in the log are those that were open after its newest tuple"
INVARIANTS: dict[str, Callable[[AtTime], Any]] = {
    "the log has what was made up to its newest tuple": lambda s: ForAll(
        [r], s.kept(r) == tuples.le(by(r), s.newest)
    ),
    STATE: lambda s: ForAll(
        [w],
        was_open(s.kept) == was_open(lambda record: tuples.le(by(record), s.newest)),
    ),
}


def prove(given: Given) -> Iterator[SolverQuery]:
    def some(s: AtTime) -> Any:
        return Exists([w, r], And(was_open(s.kept), closes(w), Not(s.kept(r))))

    yield from inductive(system(given))
    yield reaches(system(given), "a window is open, and its result is not written", some, 2)


LEMMAS = (
    Lemma(
        name="log-prefix",
        statement="For any operator and any log, cut between any two writes: its windows are "
        "those that were open after some tuple, if all records of a tuple are written at once.",
        section=PAPER,
        expect=Outcome.HOLDS,
        build=prove,
    ),
    refuted(
        "log-prefix-of-records",
        "If each record is written alone, a log says a state in which the operator was.",
        system(without(WHOLE)),
        (STATE, 1, {TUPLE: 2, RECORD: 2, WINDOW: 1}),
        ("An eventual checkpoint is a state that the operator went through.", WHOLE),
    ),
)
