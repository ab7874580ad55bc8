"""A coordinator that crashes: no restart goes back behind what nodes know, and runs have numbers.

Rule of this file: nodes know only the epochs and runs that the coordinator has sent; they do not
crash, and the contents of snapshots do not occur.  LOG.io, Sections 1 and 8.1.1, which have no word
on a crash of the coordinator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import z3
from z3 import And, Const, DeclareSort, ForAll, Implies, Not, Or

from model.evidence import Outcome
from proofs.lemmas.readings import refuted
from proofs.prove.lemma import Given, Lemma, without
from proofs.prove.orders import TotalOrder
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Symbol
from proofs.prove.transition import Transition, TransitionSystem, inductive, reaches

PAPER = "LOG.io, Section 8.1.1"
EPOCH, RUN, BOOL = DeclareSort("epoch"), DeclareSort("run"), z3.BoolSort()
epochs, runs = TotalOrder(EPOCH), TotalOrder(RUN)
start, e = Const("start", EPOCH), Const("e", EPOCH)
first, r = Const("first", RUN), Const("r", RUN)
ORDERED = And(epochs.axiom, ForAll([e], epochs.le(start, e)))
NUMBERED = And(runs.axiom, ForAll([r], runs.le(first, r)))

DECIDED = "a complete epoch is durable before any node knows of it"
LAST = "a restarted coordinator has the last durable epoch"
SAVED = "the number of a run is durable before any node knows of it"
KEPT = "a restarted coordinator has the durable number of the run"


def history(given: Given) -> TransitionSystem:
    """stored: epochs that are durable as complete.  known: a node knows that the epoch is complete.
    durable, present: the number of the run, in the storage and in the coordinator.  used: a node
    knows the number.  behind: a restart went back behind a known epoch.  twice: two runs have one
    number."""

    def store(s: AtTime, t: AtTime, one: Any) -> Any:
        return ForAll([e], t.stored(e) == Or(s.stored(e), e == one))

    def announce(s: AtTime, t: AtTime, one: Any) -> Any:
        known = ForAll([e], t.known(e) == Or(s.known(e), e == one))
        return And(given(DECIDED, s.stored(one)), known)

    def begin(s: AtTime, t: AtTime, new: Any) -> Any:
        return And(runs.less(s.present, new), t.present == new, t.twice == Or(s.twice, s.used(new)))

    def save(s: AtTime, t: AtTime) -> Any:
        return t.durable == s.present

    def send(s: AtTime, t: AtTime) -> Any:
        used = ForAll([r], t.used(r) == Or(s.used(r), r == s.present))
        return And(given(SAVED, s.durable == s.present), used)

    def crash(s: AtTime, t: AtTime, to: Any) -> Any:
        last = ForAll([e], Implies(s.stored(e), epochs.le(e, to)))
        later = z3.Exists([e], And(s.known(e), epochs.less(to, e)))
        number = given(KEPT, t.present == s.durable)
        return And(s.stored(to), given(LAST, last), t.behind == Or(s.behind, later), number)

    def init(s: AtTime) -> Any:
        nothing = ForAll([e], And(s.stored(e) == (e == start), s.known(e) == (e == start)))
        numbers = And(
            s.durable == first, s.present == first, ForAll([r], s.used(r) == (r == first))
        )
        return And(nothing, numbers, Not(s.behind), Not(s.twice))

    one = (("epoch", EPOCH),)
    return TransitionSystem(
        name="the coordinator of ABS",
        state=(
            Symbol("stored", EPOCH, BOOL),
            Symbol("known", EPOCH, BOOL),
            Symbol("durable", RUN),
            Symbol("present", RUN),
            Symbol("used", RUN, BOOL),
            Symbol("behind", BOOL),
            Symbol("twice", BOOL),
        ),
        axioms={"epochs are in a total order": ORDERED, "runs are in a total order": NUMBERED},
        init=init,
        transitions=(
            Transition("store", one, ("stored",), store),
            Transition("announce", one, ("known",), announce),
            Transition("begin a run", (("run", RUN),), ("present", "twice"), begin),
            Transition("save its number", (), ("durable",), save),
            Transition("send its number", (), ("used",), send),
            Transition("crash and restart", one, ("behind", "present"), crash),
        ),
        invariants=INVARIANTS,
    )


FORWARD = "no restart goes back behind an epoch that a node knows to be complete"
OWN = "no two runs have one number"
INVARIANTS: dict[str, Callable[[AtTime], Any]] = {
    FORWARD: lambda s: Not(s.behind),
    OWN: lambda s: Not(s.twice),
    "what a node knows to be complete is durable": lambda s: ForAll(
        [e], Implies(s.known(e), s.stored(e))
    ),
    "no node knows a number after the durable one": lambda s: ForAll(
        [r], Implies(s.used(r), runs.le(r, s.durable))
    ),
    "the durable number is the present one or an earlier one": lambda s: runs.le(
        s.durable, s.present
    ),
}


def safe(given: Given) -> Iterator[SolverQuery]:
    proved = history(given)
    yield from inductive(proved)

    def gone_on(s: AtTime) -> Any:
        later = z3.Exists([e], And(s.known(e), epochs.less(start, e)))
        again = z3.Exists([r], And(s.used(r), runs.less(first, r), runs.less(r, s.present)))
        return And(later, again)

    what = "an epoch is known, and a run after a known run has begun"
    yield reaches(proved, what, gone_on, 6, {EPOCH: 2, RUN: 3})


def reading(name: str, what: str, dropped: str, claim: str, steps: int) -> Lemma:
    sizes = {EPOCH: 2, RUN: 2}
    return refuted(PAPER, name, what, history(without(dropped)), (claim, steps, sizes))


LEMMAS = (
    Lemma(
        "coordinator-restarts",
        "For any crashes of the coordinator: no restart goes back behind an epoch that a node "
        "knows to be complete, and no two runs have one number.",
        PAPER,
        Outcome.HOLDS,
        safe,
    ),
    reading(
        "announced-first",
        "Nodes may know of a complete epoch before it is durable.",
        DECIDED,
        FORWARD,
        2,
    ),
    reading(
        "older-epoch",
        "A restarted coordinator may have any durable epoch.",
        LAST,
        FORWARD,
        3,
    ),
    reading(
        "run-sent-first",
        "Nodes may know the number of a run before it is durable.",
        SAVED,
        OWN,
        4,
    ),
    reading(
        "run-forgotten",
        "A restarted coordinator may begin with any number.",
        KEPT,
        OWN,
        5,
    ),
)
