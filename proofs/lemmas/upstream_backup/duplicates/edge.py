"""Discarding duplicates: each event has its effect once, whatever crashes and is replayed.

Rule of this file: it knows one edge, a producer, a channel and a successor, and of events nothing
but their numbers.  That an event has the same number each time, that a savepoint covers all trimmed
events, and which events the successor has no use for, are the business of the other files here;
each assumption from them is a hypothesis by name.  Lima et al., III-B2 and III-B4.

An effect is undone when the successor crashes, unless it is in the savepoint from which it starts
again; a sink never crashes, and its outputs stay.  Order needs no symbol of its own:
at every moment the effects are those of all events up to a number, and a message adds one at most.

The encoding stays in EPR: functions go from messages to events and from both to numbers.  The
channel is an interval of one order of all messages ever sent, so that "none is lost" is universal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import z3
from z3 import And, Const, Consts, DeclareSort, Exists, ForAll, Function, If, Implies, Not, Or

from model.evidence import Outcome
from proofs.prove.lemma import Given, Lemma
from proofs.prove.orders import TotalOrder
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Axioms, Symbol
from proofs.prove.transition import Transition, TransitionSystem, inductive, reaches

EVENT, NUMBER, MESSAGE = map(DeclareSort, ("event", "number", "message"))
BOOL = z3.BoolSort()

# --- what never changes ----------------------------------------------------------------------
numbers, messages = TotalOrder(NUMBER), TotalOrder(MESSAGE, "message_le")
le, less, later = numbers.le, numbers.less, numbers.later
before = messages.less
nothing = Const("nothing", NUMBER)
number = Function("number", EVENT, NUMBER)  # as in the run without failures
unneeded = Function("unneeded", EVENT, BOOL)  # skipped by the successor: may be deleted
event = Function("event", MESSAGE, EVENT)
stamp = Function("stamp", MESSAGE, NUMBER)
then = Function("then", MESSAGE, MESSAGE, BOOL)  # with no message between

STATE = (
    Symbol("running", BOOL),  # the producer; false from its crash until it is restored
    Symbol("base", NUMBER),  # it does not owe what is at or below: acknowledged, or not given again
    Symbol("cursor", NUMBER),  # it has given, or need not give, all up to here
    Symbol("gone", MESSAGE),  # the last message that has left the channel
    Symbol("sent", MESSAGE),  # the last message that has entered it
    Symbol("listening", BOOL),  # the successor; false from its crash until the answer to its hello
    Symbol("heard", NUMBER),
    Symbol("farthest", NUMBER),  # the highest number ever heard
    Symbol("done", EVENT, BOOL),  # it has an effect in the history that survives
    Symbol("ever", EVENT, BOOL),  # it has had one in some history
    Symbol("doubled", EVENT, BOOL),  # it has had one more although it had one
)

e, f = Consts("e f", EVENT)
p = Const("p", NUMBER)
m, k, x = Consts("m k x", MESSAGE)

ONE_EACH = "no two events have one number"
SAME = "an event has the same number each time"
FIFO = "the channel is FIFO and loses nothing"
DISCARD = "what is not above the last number heard is discarded"
NO_MORE = "nothing else is discarded"
IN_ORDER = "no event that is needed is left out"
RESTORED = "a producer gives again all that its successor has not heard"
REPLAYED = "a replay begins no later than the first event that the savepoint lacks"
STALE = "what was sent before the answer is not taken"
REAL = "no savepoint is of events that were never heard"
ACKED = "no acknowledgement is of events that were not heard"


def axioms(given: Given) -> Axioms:
    least = And(ForAll([p], le(nothing, p)), ForAll([e], number(e) != nothing))
    between = And(then(m, k), before(m, x))
    return {
        "numbers are in a total order": numbers.axiom,
        "nothing is less than any event's number": least,
        ONE_EACH: given(ONE_EACH, ForAll([e, f], Implies(number(e) == number(f), e == f))),
        "messages are in a total order": messages.axiom,
        "then is before, with none between": And(
            ForAll([m, k], Implies(then(m, k), before(m, k))),
            ForAll([m, k, x], Implies(between, Not(before(x, k)))),
        ),
    }


def in_flight(s: AtTime, message: Any) -> Any:
    return And(before(s.gone, message), Not(before(s.sent, message)))


def heard_of(s: AtTime, p: Any) -> Any:
    """Up to p the successor has heard all; if it is down, it once had."""
    return le(p, If(s.listening, s.heard, s.farthest))


# --- crashes ---------------------------------------------------------------------------------
def producer_crash(s: AtTime, t: AtTime) -> Any:
    """The messages that it has sent still arrive."""
    return And(s.running, Not(t.running))


def mute_crash(s: AtTime, t: AtTime) -> Any:
    """The messages that it has sent are lost with its connections.  It may crash while it is being
    restored."""
    return And(Not(t.running), t.gone == s.sent)


def answer_lost(s: AtTime, t: AtTime) -> Any:
    """So is its answer to a hello: the successor still waits for one."""
    return And(mute_crash(s, t), s.listening, forgotten(t))


def forgotten(t: AtTime) -> Any:
    return And(Not(t.listening), t.heard == nothing, ForAll([e], Not(t.done(e))))


def successor_crash(s: AtTime, t: AtTime) -> Any:
    return And(s.listening, forgotten(t), t.gone == s.sent)


# --- the system ------------------------------------------------------------------------------
class EdgeSteps:
    """The steps of the two ends, by name of the transition, if these hypotheses hold."""

    def __init__(self, given: Given) -> None:
        self.given = given

    def passed(self, t: AtTime, place: Any) -> Any:
        """The cursor comes to `place`, and over the events that are left out behind it."""
        left_out = Or(unneeded(e), le(number(e), place), less(t.cursor, number(e)))
        return And(le(place, t.cursor), self.given(IN_ORDER, ForAll([e], left_out)))

    # the producer
    def give(self, s: AtTime, t: AtTime, m: Any) -> Any:
        """The next event; or, at the beginning of a replay, one that nobody is owed (III-B2)."""
        true = number(event(m))
        between = And(less(s.cursor, number(e)), less(number(e), true))
        return And(
            s.running,
            Or(less(s.cursor, true), And(s.cursor == s.base, le(true, s.base))),
            self.given(IN_ORDER, ForAll([e], Or(unneeded(e), Not(between)))),
            self.given(SAME, stamp(m) == true),
            then(s.sent, m),
            t.sent == m,
            self.passed(t, later(s.cursor, true)),
        )

    def acknowledge(self, s: AtTime, t: AtTime, p: Any) -> Any:
        """The successor will not ask for anything up to p again."""
        heard = And(s.running, le(s.base, p), self.given(ACKED, heard_of(s, p)))
        return And(heard, t.base == p, t.cursor == later(s.cursor, p))

    def producer_restored(self, s: AtTime, t: AtTime, p: Any) -> Any:
        """From a savepoint with which it gives all above p again.  If the successor is down as
        well, its own savepoint will have to fit (REPLAYED)."""
        fits = self.given(RESTORED, heard_of(s, p))
        return And(Not(s.running), fits, t.running, t.base == p, t.cursor == p)

    def replay(self, s: AtTime, t: AtTime) -> Any:
        """A hello that has been answered is answered once more: the whole backup again."""
        return And(s.running, self.passed(t, s.base))

    # the successor
    def take(self, s: AtTime, t: AtTime, m: Any) -> Any:
        has = And(e == event(m), Not(unneeded(e)))
        return And(
            s.listening,
            in_flight(s, m),
            self.given(FIFO, then(s.gone, m)),
            self.given(DISCARD, less(s.heard, stamp(m))),
            t.gone == m,
            t.heard == later(s.heard, stamp(m)),
            t.farthest == later(s.farthest, stamp(m)),
            ForAll([e], t.done(e) == Or(s.done(e), has)),
            ForAll([e], t.ever(e) == Or(s.ever(e), has)),
            ForAll([e], t.doubled(e) == Or(s.doubled(e), And(has, s.done(e)))),
        )

    def discard(self, s: AtTime, t: AtTime, m: Any) -> Any:
        old = self.given(NO_MORE, le(stamp(m), s.heard))
        return And(s.listening, in_flight(s, m), then(s.gone, m), old, t.gone == m)

    def answer(self, s: AtTime, t: AtTime, p: Any) -> Any:
        """The successor will start from a savepoint with the effects up to p.  The producer's
        answer brings it, and the whole backup; or another predecessor's brings a later one."""
        first = And(
            s.running,
            Not(s.listening),
            self.given(REPLAYED, le(s.base, p)),
            self.given(STALE, t.gone == s.sent),
            self.passed(t, s.base),
        )
        another = And(s.listening, less(s.heard, p), t.gone == s.gone, t.cursor == s.cursor)
        saved = And(s.ever(e), le(number(e), p))
        done = ForAll([e], t.done(e) == Or(And(s.listening, s.done(e)), saved))
        real = self.given(REAL, le(p, s.farthest))
        return And(Or(first, another), real, t.listening, t.heard == p, done)


def initial(s: AtTime) -> Any:
    places = (place == nothing for place in (s.base, s.cursor, s.heard, s.farthest))
    nowhere = ForAll([e], Not(Or(s.done(e), s.ever(e), s.doubled(e))))
    return And(s.running, s.listening, s.gone == s.sent, *places, nowhere)


def system(given: Given) -> TransitionSystem:
    a_message, a_number = (("m", MESSAGE),), (("p", NUMBER),)
    taking = ("gone", "heard", "farthest", "done", "ever", "doubled")
    restored = ("running", "base", "cursor")
    forgets = ("listening", "heard", "done", "gone")
    steps = EdgeSteps(given)
    return TransitionSystem(
        name="one edge",
        state=STATE,
        axioms=axioms(given),
        init=initial,
        transitions=(
            Transition("give", a_message, ("sent", "cursor"), steps.give),
            Transition("take", a_message, taking, steps.take),
            Transition("discard", a_message, ("gone",), steps.discard),
            Transition("acknowledge", a_number, ("base", "cursor"), steps.acknowledge),
            Transition("producer crashes", (), ("running",), producer_crash),
            Transition("producer crashes, mute", (), ("running", "gone"), mute_crash),
            Transition("answer is lost", (), ("running", *forgets), answer_lost),
            Transition("producer is restored", a_number, restored, steps.producer_restored),
            Transition("successor crashes", (), forgets, successor_crash),
            Transition("answer", a_number, (*forgets, "cursor"), steps.answer),
            Transition("replay", (), ("cursor",), steps.replay),
        ),
        invariants=INVARIANTS,
    )


# --- invariants ------------------------------------------------------------------------------
def due(s: AtTime, e: Any) -> Any:
    return And(s.listening, Not(unneeded(e)))


def no_jump(s: AtTime) -> Any:
    ahead = And(then(s.gone, m), in_flight(s, m), less(number(e), stamp(m)))
    return ForAll([m, e], Implies(And(ahead, due(s, e)), le(number(e), s.heard)))


def no_gap(s: AtTime) -> Any:
    pair = And(in_flight(s, k), then(k, m), in_flight(s, m), less(number(e), stamp(m)))
    known = Or(le(number(e), stamp(k)), le(number(e), s.heard))
    return ForAll([k, m, e], Implies(And(pair, due(s, e)), known))


def passed_on(s: AtTime) -> Any:
    given = And(s.running, due(s, e), le(number(e), s.cursor))
    coming = And(s.gone != s.sent, le(number(e), stamp(s.sent)))
    return ForAll([e], Implies(given, Or(le(number(e), s.heard), coming)))


def true_numbers(s: AtTime) -> Any:
    return ForAll([m], Implies(And(s.listening, in_flight(s, m)), stamp(m) == number(event(m))))


ONCE = "no event has its effect twice"
ALL = "of what was heard, nothing is missing"
INVARIANTS: dict[str, Callable[[AtTime], Any]] = {
    ONCE: lambda s: ForAll([e], Not(s.doubled(e))),
    ALL: lambda s: ForAll([e], Implies(And(due(s, e), le(number(e), s.heard)), s.done(e))),
    "nothing has an effect that was not heard": lambda s: ForAll(
        [e], Implies(s.done(e), le(number(e), s.heard))
    ),
    "nothing was missing in any history": lambda s: ForAll(
        [e], Implies(And(Not(unneeded(e)), le(number(e), s.farthest)), s.ever(e))
    ),
    "nothing was heard beyond the farthest": lambda s: le(s.heard, s.farthest),
    "messages bear the numbers of their events": true_numbers,
    "the next message leaves nothing out": no_jump,
    "every message goes on where the one before it ends": no_gap,
    "what has been given is heard or on its way": passed_on,
    "what need not be given was heard": lambda s: Implies(
        And(s.running, s.listening), le(s.base, s.heard)
    ),
    "what need not be given is passed": lambda s: Implies(s.running, le(s.base, s.cursor)),
    "the channel is an interval": lambda s: Not(before(s.sent, s.gone)),
}


# --- lemmas ----------------------------------------------------------------------------------
def only(whole: TransitionSystem, *left_out: str) -> TransitionSystem:
    """The system without some transitions, so that a run shows the meaning.  The edge alone
    cannot say when replays happen and answers are lost: other nodes crash."""
    spurious = ("replay", "answer is lost", *left_out)
    steps = tuple(step for step in whole.transitions if step.name not in spurious)
    return replace(whole, transitions=steps)


def once(given: Given) -> Iterator[SolverQuery]:
    whole = system(given)
    yield from inductive(whole)

    def again(s: AtTime) -> Any:
        return Exists([m, e], And(in_flight(s, m), e == event(m), s.done(e)))

    what, sizes = "an event that has had its effect comes again", {EVENT: 1, NUMBER: 2, MESSAGE: 3}
    yield reaches(only(whole, "acknowledge"), f"{what} after a crash", again, 5, sizes)


PAPER = "Lima et al., III-B2"
EXACTLY_ONCE = (
    "For all sequences of events, all crashes of the producer and of its successor and all "
    "replays: a successor that discards what is not above the last number it has heard takes "
    "every event that it has a use for exactly once, in order and without a gap, as far as it has "
    "heard."
)
LEMMAS = (Lemma("duplicates", EXACTLY_ONCE, PAPER, Outcome.HOLDS, once),)
