"""One port: events that a sender logs and sends, and a receiver assigns once, whoever restarts.

Rule of this file: one sender, one connection, one receiver, and their rows of the log.

A transition is the part of a run between two crash points.  A restart is one transition: a node
that is down does nothing.  LOG.io, Algorithms 2, 3, 7 and 9; Section 3.6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import z3
from z3 import And, Const, DeclareSort, ForAll, Implies, Not, Or

from model.evidence import Outcome
from proofs.lemmas.readings import refuted
from proofs.prove.lemma import Given, Lemma, all_given
from proofs.prove.orders import TotalOrder
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Symbol
from proofs.prove.transition import Transition, TransitionSystem, inductive, reaches

PAPER = "LOG.io, Algorithms 2, 7, 9"
EVENT, BOOL = DeclareSort("event"), z3.BoolSort()
events = TotalOrder(EVENT)
nothing, p, q = (Const(name, EVENT) for name in ("nothing", "p", "q"))
"""Nothing stands before all events: the number of a port that has accepted none."""
ORDERED = And(events.axiom, ForAll([p], events.le(nothing, p)))

LOGGED_FIRST = "an event is sent if it is logged"
IN_TURN = "a sender sends its events in their order"
FIFO = "a connection delivers events in their order"
FILTER = "an event with a number up to the greatest one is obsolete"
KEPT = "a connection keeps an event until it is assigned"
RESENT = "a restarted sender owes its unassigned events"
STORED = "a generation stores the greatest number"
RESTORED = "a restarted receiver knows the greatest number, stored or assigned since"


class PortReading(NamedTuple):
    """A reading of the paper: the mended one by default.

    smaller: an event with the greatest number is not obsolete.  forgets: a restarted receiver knows
    the numbers of undone rows alone.  lossy: a connection loses events when its receiver crashes.
    reads_log: a restarted receiver reads its unassigned events from the log.
    """

    smaller: bool = False
    forgets: bool = False
    lossy: bool = False
    reads_log: bool = False


@dataclass(frozen=True)
class PortSteps:
    """The steps of the two ends of a port, if these hypotheses hold."""

    given: Given
    design: PortReading

    def log(self, s: AtTime, t: AtTime, one: Any) -> Any:
        first = ForAll([q], Implies(events.less(q, one), s.logged(q)))
        grown = And(t.logged(p) == Or(s.logged(p), p == one), t.owed(p) == Or(s.owed(p), p == one))
        return And(Not(s.logged(one)), first, ForAll([p], grown))

    def send(self, s: AtTime, t: AtTime, one: Any) -> Any:
        first = ForAll([q], Implies(events.less(q, one), Not(s.owed(q))))
        moved = And(
            t.carried(p) == Or(s.carried(p), p == one), t.owed(p) == And(s.owed(p), p != one)
        )
        known = self.given(LOGGED_FIRST, s.owed(one))
        return And(known, one != nothing, self.given(IN_TURN, first), ForAll([p], moved))

    def accept(self, s: AtTime, t: AtTime, one: Any, *, crash: bool) -> Any:
        new = events.le(s.last, one) if self.design.smaller else events.less(s.last, one)
        ahead = ForAll([q], Not(And(s.carried(q), events.less(s.last, q), events.less(q, one))))
        taken = And(t.fed(p) == Or(s.fed(p), p == one), t.kept(p) == Or(s.kept(p), p == one))
        left = ForAll([p], t.carried(p) == And(s.carried(p), Or(crash, p != one)))
        twice = t.twice == Or(s.twice, s.fed(one))
        guards = And(s.carried(one), self.given(FILTER, new), self.given(FIFO, ahead))
        return And(guards, ForAll([p], taken), left, twice, t.last == one)

    def discard(self, s: AtTime, t: AtTime, one: Any) -> Any:
        left = ForAll([p], t.carried(p) == And(s.carried(p), p != one))
        return And(self.given(KEPT, s.fed(one)), left)

    def generate(self, s: AtTime, t: AtTime) -> Any:
        done = ForAll([p], Implies(t.kept(p), s.kept(p)))
        return And(done, self.given(STORED, t.stored == s.last))

    def restart_sender(self, s: AtTime, t: AtTime) -> Any:
        owed = And(s.logged(p), Not(s.fed(p)))
        return self.given(RESENT, ForAll([p], t.owed(p) == owed))

    def restart_receiver(self, s: AtTime, t: AtTime) -> Any:
        begin = nothing if self.design.forgets else s.stored
        greatest = ForAll([p], Implies(s.kept(p), events.le(p, t.last)))
        one = Or(t.last == begin, s.kept(t.last))
        known = self.given(RESTORED, And(one, events.le(begin, t.last), greatest))
        held = And(s.carried(p), Not(self.design.lossy))
        if self.design.reads_log:
            held = Or(held, And(s.logged(p), Not(s.fed(p))))
        return And(known, ForAll([p], t.carried(p) == held))

    def init(self, s: AtTime) -> Any:
        sets = And(s.logged(p) == (p == nothing), s.fed(p) == (p == nothing))
        none = Not(Or(s.owed(p), s.carried(p), s.kept(p)))
        return And(
            ForAll([p], And(sets, none)), s.last == nothing, s.stored == nothing, Not(s.twice)
        )


def port(given: Given, design: PortReading) -> TransitionSystem:
    """kept: assigned and undone rows.  fed: the events that the receiver has taken into an input
    set."""
    steps = PortSteps(given, design)

    one = (("event", EVENT),)
    taken = ("carried", "fed", "kept", "twice", "last")
    return TransitionSystem(
        name="a port of LOG.io",
        state=(
            *(Symbol(x, EVENT, BOOL) for x in ("logged", "owed", "carried", "kept", "fed")),
            *(Symbol(x, EVENT) for x in ("last", "stored")),
            Symbol("twice", BOOL),
        ),
        axioms={"events are in a total order": ORDERED},
        init=steps.init,
        transitions=(
            Transition("log", one, ("logged", "owed"), steps.log),
            Transition("send", one, ("carried", "owed"), steps.send),
            Transition("accept", one, taken, partial(steps.accept, crash=False)),
            Transition("accept, then crash", one, taken, partial(steps.accept, crash=True)),
            Transition("discard", one, ("carried",), steps.discard),
            Transition("generate", (), ("kept", "stored"), steps.generate),
            Transition("restart the sender", (), ("owed",), steps.restart_sender),
            Transition("restart the receiver", (), ("carried", "last"), steps.restart_receiver),
        ),
        invariants=INVARIANTS,
    )


# --- invariants ------------------------------------------------------------------------------
ONCE = "no event feeds input sets twice"
PRESENT = "an event that is logged and not assigned is in the connection, or owed"
INCREASING = "what was accepted has no greater number than the last one"
INVARIANTS: dict[str, Callable[[AtTime], Any]] = {
    ONCE: lambda s: Not(s.twice),
    PRESENT: lambda s: ForAll(
        [p], Implies(And(s.logged(p), Not(s.fed(p))), Or(s.carried(p), s.owed(p)))
    ),
    INCREASING: lambda s: ForAll([p], Implies(s.fed(p), events.le(p, s.last))),
    "no number is skipped": lambda s: ForAll(
        [p], Implies(And(s.logged(p), events.le(p, s.last)), s.fed(p))
    ),
    "what is on its way, owed or accepted is logged": lambda s: And(
        ForAll([p], Implies(Or(s.carried(p), s.owed(p), s.fed(p)), s.logged(p))),
        s.fed(s.last),
        ForAll([p], Implies(s.kept(p), s.fed(p))),
    ),
    "numbers are logged without gaps": lambda s: ForAll(
        [p, q], Implies(And(s.logged(p), events.less(q, p)), s.logged(q))
    ),
    "a connection has no gaps beyond the last number": lambda s: ForAll(
        [p, q],
        Implies(
            And(s.carried(p), s.logged(q), events.less(q, p), events.less(s.last, q)), s.carried(q)
        ),
    ),
    "the last number is stored, or that of an undone row": lambda s: And(
        Or(s.last == s.stored, s.kept(s.last)), events.le(s.stored, s.last)
    ),
}


# --- lemmas ----------------------------------------------------------------------------------
def once(design: PortReading, given: Given) -> Iterator[SolverQuery]:
    proved = port(given, design)
    yield from inductive(proved)

    def again(s: AtTime) -> Any:
        return And(s.last != nothing, s.stored == s.last, s.carried(s.last))

    yield reaches(proved, "an assigned event is still in the connection", again, 4, {EVENT: 2})


def reading(
    name: str, what: str, design: PortReading, broken: tuple[str, int], *errata: Any
) -> Lemma:
    """broken: an invariant, and after how many steps."""
    return refuted(PAPER, name, what, port(all_given, design), (*broken, {EVENT: 2}), *errata)


LOSSY = PortReading(lossy=True)
FROM_LOG = PortReading(lossy=True, reads_log=True)
LEMMAS = (
    Lemma(
        "port-once",
        "For any port and any restarts: numbers that are accepted increase, an event that is "
        "logged and not assigned is in the connection or owed, and no event feeds input sets "
        "twice.",
        PAPER,
        Outcome.HOLDS,
        partial(once, PortReading()),
    ),
    Lemma(
        "port-once-lossy",
        "So it is with a lossy connection, if a restarted receiver reads its unassigned events "
        "from the log.",
        PAPER,
        Outcome.HOLDS,
        partial(once, FROM_LOG),
    ),
    reading(
        "obsolete-smaller",
        "An event with the greatest number is not obsolete.",
        PortReading(smaller=True),
        (ONCE, 4),
        ("An event is obsolete if its number is smaller than the greatest.", "or equal"),
    ),
    reading(
        "greatest-from-log",
        "The greatest number that is still logged is the greatest accepted.",
        PortReading(forgets=True),
        (ONCE, 6),
        ("Done events may be removed from EVENT_LOG at once.", "if the context has the number"),
    ),
    reading(
        "lossy-connection",
        "A connection may lose what its receiver has not assigned.",
        LOSSY,
        (PRESENT, 3),
    ),
)
