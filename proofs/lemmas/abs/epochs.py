"""Epochs: each committed transaction is in a complete epoch, and no restart goes back behind it.

Rule of this file: snapshots are stored or not; their contents do not occur.
LOG.io, Sections 1 and 8.1.1.
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
EPOCH, NODE, BOOL = DeclareSort("epoch"), DeclareSort("node"), z3.BoolSort()
epochs = TotalOrder(EPOCH)
start, e, f = (Const(name, EPOCH) for name in ("start", "e", "f"))
n = Const("n", NODE)
ORDERED = And(epochs.axiom, ForAll([e], epochs.le(start, e)))

ALL = "an epoch is complete when all operators have stored their snapshots"
AFTER = "a writer commits an epoch that is complete"
LAST = "a restart goes back to the last complete epoch"
NEW = "a restart drops snapshots of epochs that are not complete"


def history(given: Given) -> TransitionSystem:
    """fresh: stored in the present run.  base: the epoch from which it went on.  mixed: an epoch
    has snapshots of two runs.  repeated: a committed output is made again."""

    def store(s: AtTime, t: AtTime, node: Any, one: Any) -> Any:
        stored = ForAll([n, e], t.stored(n, e) == Or(s.stored(n, e), And(n == node, e == one)))
        fresh = ForAll([n, e], t.fresh(n, e) == Or(s.fresh(n, e), And(n == node, e == one)))
        return And(Not(s.complete(one)), one != start, stored, fresh)

    def end(s: AtTime, t: AtTime, one: Any) -> Any:
        there = ForAll([n], s.stored(n, one))
        complete = ForAll([e], t.complete(e) == Or(s.complete(e), e == one))
        old = z3.Exists([n], And(s.stored(n, one), Not(s.fresh(n, one))))
        mixed = t.mixed == Or(s.mixed, And(old, Not(s.complete(one))))
        return And(given(ALL, there), one != start, complete, mixed)

    def commit(s: AtTime, t: AtTime, one: Any) -> Any:
        known = given(AFTER, s.complete(one))
        return And(known, ForAll([e], t.committed(e) == Or(s.committed(e), e == one)))

    def restart(s: AtTime, t: AtTime, to: Any) -> Any:
        last = ForAll([e], Implies(s.complete(e), epochs.le(e, to)))
        behind = z3.Exists([e], And(s.committed(e), epochs.less(to, e)))
        kept = t.stored(n, e) == And(s.stored(n, e), given(NEW, s.complete(e)))
        none = Not(t.fresh(n, e))
        again = t.repeated == Or(s.repeated, behind)
        return And(
            s.complete(to), given(LAST, last), ForAll([n, e], And(kept, none)), again, t.base == to
        )

    def init(s: AtTime) -> Any:
        first = ForAll([n, e], And(s.stored(n, e) == (e == start), Not(s.fresh(n, e))))
        known = ForAll([e], And(s.complete(e) == (e == start), s.committed(e) == (e == start)))
        return And(first, known, s.base == start, Not(s.mixed), Not(s.repeated))

    one = (("epoch", EPOCH),)
    return TransitionSystem(
        name="epochs of ABS",
        state=(
            Symbol("stored", NODE, EPOCH, BOOL),
            Symbol("fresh", NODE, EPOCH, BOOL),
            Symbol("complete", EPOCH, BOOL),
            Symbol("committed", EPOCH, BOOL),
            Symbol("base", EPOCH),
            Symbol("mixed", BOOL),
            Symbol("repeated", BOOL),
        ),
        axioms={"epochs are in a total order": ORDERED},
        init=init,
        transitions=(
            Transition("store", (("node", NODE), *one), ("stored", "fresh"), store),
            Transition("end the epoch", one, ("complete", "mixed"), end),
            Transition("commit", one, ("committed",), commit),
            Transition("restart", one, ("stored", "fresh", "base", "repeated"), restart),
        ),
        invariants=INVARIANTS,
    )


COMPLETE = "what is committed is in all snapshots of its epoch"
ONCE = "no restart goes back behind a committed epoch"
ONE_RUN = "all snapshots of an epoch are of one run"
INVARIANTS: dict[str, Callable[[AtTime], Any]] = {
    COMPLETE: lambda s: ForAll([n, e], Implies(s.committed(e), s.stored(n, e))),
    ONCE: lambda s: Not(s.repeated),
    ONE_RUN: lambda s: Not(s.mixed),
    "what is committed is complete": lambda s: ForAll([e], Implies(s.committed(e), s.complete(e))),
    "a complete epoch has all snapshots": lambda s: ForAll(
        [n, e], Implies(s.complete(e), s.stored(n, e))
    ),
    "snapshots of an epoch that is not complete are of this run": lambda s: ForAll(
        [n, e], Implies(And(s.stored(n, e), Not(s.complete(e))), s.fresh(n, e))
    ),
}


def committed(given: Given) -> Iterator[SolverQuery]:
    proved = history(given)
    yield from inductive(proved)

    def gone_on(s: AtTime) -> Any:
        later = z3.Exists([e], And(s.committed(e), epochs.less(s.base, e)))
        return And(later, s.base != start)

    what = "after a restart from an epoch, a later one is committed"
    yield reaches(proved, what, gone_on, 6, {EPOCH: 3, NODE: 1})


def reading(name: str, what: str, dropped: str, broken: tuple[str, int], *sizes: int) -> Lemma:
    claim, steps = broken
    size = {EPOCH: sizes[0], NODE: sizes[1]}
    return refuted(PAPER, name, what, history(without(dropped)), (claim, steps, size))


LEMMAS = (
    Lemma(
        "committed-complete",
        "For any pipeline and any restarts: what is committed is in all snapshots of its epoch, "
        "all of one run, and no restart goes back behind it.",
        PAPER,
        Outcome.HOLDS,
        committed,
    ),
    reading(
        "complete-early",
        "An epoch may be complete before all operators have stored their snapshots.",
        ALL,
        (COMPLETE, 2),
        2,
        1,
    ),
    reading(
        "commit-early",
        "A writer may commit an epoch that is not complete.",
        AFTER,
        (COMPLETE, 1),
        2,
        1,
    ),
    reading(
        "any-epoch",
        "A restart may go back to any complete epoch.",
        LAST,
        (ONCE, 4),
        2,
        1,
    ),
    reading(
        "old-snapshots",
        "A restart may leave snapshots of an epoch that is not complete.",
        NEW,
        (ONE_RUN, 4),
        2,
        2,
    ),
)
