"""Replicas that come and go: each event is done once, and events of a key keep their order.

Rule of this file: one replica that goes away, all others being one, since they exclude each other;
or one key, which goes from replica to replica.
LOG.io, Algorithms 12 and 13, and Section 7.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import z3
from z3 import And, Const, Consts, DeclareSort, ForAll, Function, Implies, Not, Or

from model.evidence import Outcome
from proofs.lemmas.readings import refuted
from proofs.prove.lemma import Given, Lemma, without
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Symbol
from proofs.prove.transition import Transition, TransitionSystem, inductive, reaches

PAPER = "LOG.io, Algorithm 13"
EVENT, BOOL = DeclareSort("event"), z3.BoolSort()
e = Const("e", EVENT)

FAILS = "a generation fails if a row of its Input Set has moved"
REFUSED = "an assignment changes a row, and makes none"
STILL_UNDONE = "the move leaves out what has become done since it was chosen"
LAST = "the replica is deleted after the move of all its undone events"
DRAINED = "the replica is deleted when its outputs have been taken"
ELSEWHERE = "a dispatcher that prepares the deletion sends the replica no more events"


@dataclass(frozen=True)
class ScaleDownSteps:
    """The steps of a scale-down, if these hypotheses hold."""

    given: Given

    def send(self, s: AtTime, t: AtTime, one: Any) -> Any:
        known = And(Not(s.sent(one)), Not(s.deleted), self.given(ELSEWHERE, Not(s.preparing)))
        grown = And(t.sent(e) == Or(s.sent(e), e == one), t.row(e) == Or(s.row(e), e == one))
        return And(known, ForAll([e], grown))

    def assign(self, s: AtTime, t: AtTime, one: Any) -> Any:
        known = And(s.sent(one), Not(s.done(one)), Not(s.deleted))
        grown = And(t.fed(e) == Or(s.fed(e), e == one), t.row(e) == Or(s.row(e), e == one))
        return And(known, self.given(REFUSED, s.row(one)), ForAll([e], grown))

    def generate(self, s: AtTime, t: AtTime, one: Any) -> Any:
        known = And(s.fed(one), Not(s.deleted), self.given(FAILS, s.row(one)))
        used = ForAll([e], t.fed(e) == And(s.fed(e), e != one))
        out = ForAll([e], t.out(e) == Or(s.out(e), e == one))
        return And(known, used, out, _done(s, t, one))

    def generate_elsewhere(self, s: AtTime, t: AtTime, one: Any) -> Any:
        again = ForAll([e], t.again(e) == Or(s.again(e), e == one))
        return And(s.moved(one), Not(s.again(one)), _done(s, t, one), again)

    def merge(self, s: AtTime, t: AtTime, one: Any) -> Any:
        left = ForAll([e], t.out(e) == And(s.out(e), e != one))
        return And(s.out(one), Not(s.deleted), left)

    def prepare(self, s: AtTime, t: AtTime) -> Any:  # 1.a, and 1.b
        undone = ForAll([e], t.chosen(e) == And(s.row(e), Not(s.done(e))))
        return And(undone, t.preparing)

    def move(self, s: AtTime, t: AtTime) -> Any:  # 1.c
        changed = And(s.chosen(e), self.given(STILL_UNDONE, Not(s.done(e))))
        moved = And(t.moved(e) == Or(s.moved(e), changed), t.row(e) == And(s.row(e), Not(changed)))
        return And(s.preparing, ForAll([e], moved), t.prepared)

    def restart_dispatcher(self, s: AtTime, t: AtTime) -> Any:
        return And(ForAll([e], Not(t.chosen(e))), t.preparing == s.prepared)

    def restart_replica(self, s: AtTime, t: AtTime) -> Any:
        rows = ForAll([e], t.fed(e) == And(s.fed(e), s.row(e)))
        return And(Not(s.deleted), rows)

    def delete(self, s: AtTime, t: AtTime) -> Any:
        taken = ForAll([e], Not(s.out(e)))
        return And(self.given(LAST, s.prepared), self.given(DRAINED, taken), t.deleted)

    def init(self, s: AtTime) -> Any:
        none = Or(
            s.sent(e), s.row(e), s.fed(e), s.out(e), s.done(e), s.chosen(e), s.moved(e), s.again(e)
        )
        return And(ForAll([e], Not(none)), Not(Or(s.preparing, s.prepared, s.deleted, s.twice)))


def scaling(given: Given) -> TransitionSystem:
    """sent: to the replica.  row: its port has a row for the event.  moved: the row went to another
    replica's port.  fed: in an Input Set of the replica.  out: the replica has logged an output,
    which the merger has not taken.  again: done elsewhere.  twice: an event made outputs twice."""
    steps = ScaleDownSteps(given)

    one = (("event", EVENT),)
    return TransitionSystem(
        name="scale-down of LOG.io",
        state=(
            *(
                Symbol(x, EVENT, BOOL)
                for x in ("sent", "row", "fed", "out", "done", "chosen", "moved", "again")
            ),
            *(Symbol(x, BOOL) for x in ("preparing", "prepared", "deleted", "twice")),
        ),
        axioms={},
        init=steps.init,
        transitions=(
            Transition("send", one, ("sent", "row"), steps.send),
            Transition("assign", one, ("fed", "row"), steps.assign),
            Transition("generate", one, ("fed", "out", "done", "twice"), steps.generate),
            Transition(
                "generate elsewhere", one, ("done", "twice", "again"), steps.generate_elsewhere
            ),
            Transition("merge", one, ("out",), steps.merge),
            Transition("prepare", (), ("chosen", "preparing"), steps.prepare),
            Transition("move", (), ("moved", "row", "prepared"), steps.move),
            Transition(
                "restart the dispatcher", (), ("chosen", "preparing"), steps.restart_dispatcher
            ),
            Transition("restart the replica", (), ("fed",), steps.restart_replica),
            Transition("delete", (), ("deleted",), steps.delete),
        ),
        invariants=INVARIANTS,
    )


def _done(s: AtTime, t: AtTime, one: Any) -> Any:
    grown = ForAll([e], t.done(e) == Or(s.done(e), e == one))
    return And(grown, t.twice == Or(s.twice, s.done(one)))


ONCE = "no event makes outputs twice"
OWNED = "an undone event is at a replica that is there, or has moved"
TAKEN = "a deleted replica leaves no output that is not taken"
INVARIANTS: dict[str, Callable[[AtTime], Any]] = {
    ONCE: lambda s: Not(s.twice),
    OWNED: lambda s: ForAll([e], Implies(And(s.deleted, s.sent(e), Not(s.done(e))), s.moved(e))),
    TAKEN: lambda s: ForAll([e], Implies(s.deleted, Not(s.out(e)))),
    "an event that was sent has a row, or has moved": lambda s: ForAll(
        [e], s.row(e) == And(s.sent(e), Not(s.moved(e)))
    ),
    "what is done elsewhere has moved": lambda s: ForAll(
        [e], Implies(s.moved(e), s.done(e) == s.again(e))
    ),
    "an Input Set of the replica has sent events": lambda s: ForAll(
        [e], Implies(Or(s.fed(e), s.chosen(e), s.moved(e)), s.sent(e))
    ),
    "rows of an Input Set are undone, or have moved": lambda s: ForAll(
        [e], Implies(And(s.fed(e), s.done(e)), s.moved(e))
    ),
    "only what has moved is done elsewhere": lambda s: ForAll([e], Implies(s.again(e), s.moved(e))),
    "after 1.b, what is undone here is chosen": lambda s: ForAll(
        [e], Implies(And(s.preparing, s.row(e), Not(s.done(e))), s.chosen(e))
    ),
    "after 1.c, what is undone has moved": lambda s: ForAll(
        [e], Implies(And(s.prepared, s.sent(e), Not(s.done(e))), s.moved(e))
    ),
    "it is prepared before it is deleted": lambda s: And(
        Implies(s.deleted, s.prepared), Implies(s.prepared, s.preparing)
    ),
}


def once(given: Given) -> Iterator[SolverQuery]:
    proved = scaling(given)
    yield from inductive(proved)

    def moved(s: AtTime) -> Any:
        return z3.Exists([e], And(s.again(e), s.deleted))

    yield reaches(proved, "an event of a deleted replica is done elsewhere", moved, 5, {EVENT: 1})


# --- the order of a key: LOG.io, Algorithms 12 and 13 with a mend --------------------------------
BOTH = "LOG.io, Algorithms 12 and 13"
REPLICA = DeclareSort("replica")
f, (r, q) = Const("f", EVENT), Consts("r q", REPLICA)
before = Function("before", EVENT, EVENT, BOOL)
LINE = And(Or(e == f, before(e, f), before(f, e)), Not(And(before(e, f), before(f, e))))
TAKEN_FIRST = "the key goes when the outputs of its replica have been taken"
MOVES = "its undone events go with the key"


def keys(given: Given) -> TransitionSystem:
    """owner: the replica that gets the key.  at: an undone event of a replica.  out: its output is
    not taken yet.  taken: it is.  goes: with the key."""

    def send(s: AtTime, t: AtTime, one: Any) -> Any:
        sent = And(t.sent(e) == Or(s.sent(e), e == one), Implies(before(e, one), s.sent(e)))
        at = t.at(e, r) == Or(s.at(e, r), And(e == one, r == s.owner))
        return And(Not(s.sent(one)), ForAll([e, r], And(sent, at)))

    def passes(name: str, a: str, b: str) -> Transition:
        def step(s: AtTime, t: AtTime, one: Any, by: Any) -> Any:
            this = And(e == one, r == by)
            left = getattr(t, a)(e, r) == And(getattr(s, a)(e, r), Not(this))
            came = getattr(t, b)(e, r) == Or(getattr(s, b)(e, r), this)
            first = Implies(before(e, one), Not(getattr(s, a)(e, by)))
            return And(getattr(s, a)(one, by), ForAll([e, r], And(left, came, first)))

        return Transition(name, (("event", EVENT), ("replica", REPLICA)), (a, b), step)

    def hand(s: AtTime, t: AtTime, to: Any) -> Any:  # Algorithm 12, step 3; 13, step 1.c
        goes = And(s.at(e, s.owner), t.goes(e))
        at = t.at(e, r) == Or(And(goes, r == to), And(Not(goes), s.at(e, r)))
        free = given(TAKEN_FIRST, ForAll([e], Not(s.out(e, s.owner))))
        all_go = given(MOVES, ForAll([e], t.goes(e)))
        return And(free, all_go, t.owner == to, ForAll([e, r], at))

    places = (Symbol(x, EVENT, REPLICA, BOOL) for x in ("at", "out", "taken"))
    marks = (Symbol(x, EVENT, BOOL) for x in ("sent", "goes"))
    return TransitionSystem(
        "keys of LOG.io's replicas",
        (*places, *marks, Symbol("owner", REPLICA)),
        {"events of a key have an order": ForAll([e, f], LINE)},
        lambda s: ForAll([e, r], Not(Or(s.sent(e), s.taken(e, r), s.at(e, r), s.out(e, r)))),
        (
            Transition("send", (("event", EVENT),), ("sent", "at"), send),
            passes("generate", "at", "out"),
            passes("take", "out", "taken"),
            Transition("hand over", (("replica", REPLICA),), ("owner", "goes", "at"), hand),
        ),
        KEY_INVARIANTS,
    )


IN_ORDER = "nothing that is before a taken event waits to be taken"
KEY_INVARIANTS: dict[str, Callable[[AtTime], Any]] = {
    IN_ORDER: lambda s: ForAll(
        [e, f, r, q],
        Implies(And(before(e, f), s.taken(f, r)), Not(Or(s.at(e, q), s.out(e, q)))),
    ),
    "only the replica with the key has events of it": lambda s: ForAll(
        [e, r], Implies(Or(s.at(e, r), s.out(e, r)), And(r == s.owner, s.sent(e)))
    ),
    "events are sent and done in order": lambda s: ForAll(
        [e, f, r],
        And(
            Implies(And(before(e, f), s.sent(f)), s.sent(e)),
            Implies(And(before(e, f), s.out(f, r)), Not(s.at(e, r))),
            Implies(s.taken(e, r), s.sent(e)),
        ),
    ),
}
SIZES = {EVENT: 2, REPLICA: 2}


def in_order(given: Given) -> Iterator[SolverQuery]:
    yield from inductive(keys(given))

    def both(s: AtTime) -> Any:
        return z3.Exists([e, f, r], And(s.taken(e, r), s.at(f, s.owner), s.goes(f), r != s.owner))

    yield reaches(keys(given), "an event goes with the key after one was taken", both, 5, SIZES)


READINGS = (
    (
        "generation-moved",
        "A generation may use rows that have moved to another replica.",
        FAILS,
        ONCE,
    ),
    ("chosen-before", "What was undone when it was chosen may be moved.", STILL_UNDONE, ONCE),
    ("moved-assigned", "An assignment may make the row of an event that has moved.", REFUSED, ONCE),
    (
        "deleted-with-outputs",
        "A replica is deleted when its undone events have moved.",
        DRAINED,
        TAKEN,
    ),
)
KEY_READINGS = (
    ("key-goes-at-once", "A key may go while outputs are not taken.", TAKEN_FIRST, 6),
    ("events-stay", "Undone events may stay when their key goes.", MOVES, 5),
)
LEMMAS = (
    Lemma(
        "scaling-once",
        "For any events, and any restarts of the dispatcher and the replica: a replica that goes "
        "away leaves no undone event and no output behind, and no event makes outputs twice.",
        PAPER,
        Outcome.HOLDS,
        once,
    ),
    Lemma(
        "scaling-in-order",
        "For any events of a key, any replicas, and however often the key goes to another one: the "
        "merger takes outputs in the order of the events, and one replica has all that wait.",
        BOTH,
        Outcome.HOLDS,
        in_order,
    ),
    *(
        refuted(PAPER, name, reading, scaling(without(dropped)), (claim, 6, {EVENT: 1}))
        for name, reading, dropped, claim in READINGS
    ),
    *(
        refuted(BOTH, name, reading, keys(without(dropped)), (IN_ORDER, steps, SIZES))
        for name, reading, dropped, steps in KEY_READINGS
    ),
)
