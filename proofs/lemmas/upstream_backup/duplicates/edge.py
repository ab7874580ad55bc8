"""Discarding duplicates: each event has its effect once, whatever crashes and is replayed.

Rule of this file: it knows one edge, a producer, a channel and a successor, and of events nothing
but their numbers.  That an event has the same number each time, that what is trimmed is covered by
a savepoint, and which events the successor has no use for, are the business of the other files
here; what is taken from them is a hypothesis by name.  Lima et al., III-B2 and III-B4.

An effect is undone when the successor crashes, unless it is in the savepoint from which it starts
again; a sink never crashes, and what it has given out stays so.  Order needs no symbol of its own:
at every moment the effects are those of all events up to a number, and a message adds one at most.

The encoding stays in EPR: functions go from messages to events and from both to numbers.  The
channel is an interval of one order of all messages ever sent, so that "none is lost" is universal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from z3 import (
    And,
    BoolSort,
    Const,
    Consts,
    DeclareSort,
    Exists,
    ForAll,
    Function,
    If,
    Implies,
    Not,
    Or,
)

from model.evidence import Outcome
from proofs.prove.lemma import Given, Lemma
from proofs.prove.orders import Order
from proofs.prove.query import Query
from proofs.prove.transition import Moment, Symbol, Transition, TransitionSystem, inductive, reaches

EVENT, NUMBER, MESSAGE = map(DeclareSort, ("event", "number", "message"))
BOOL = BoolSort()

# --- what never changes ----------------------------------------------------------------------
numbers, messages = Order(NUMBER), Order(MESSAGE, "message_le")
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


def axioms(given: Given) -> dict[str, Any]:
    return {
        "numbers are in a total order": numbers.axiom,
        "nothing is less than any event's number": And(
            ForAll([p], le(nothing, p)), ForAll([e], number(e) != nothing)
        ),
        ONE_EACH: given(ONE_EACH, ForAll([e, f], Implies(number(e) == number(f), e == f))),
        "messages are in a total order": messages.axiom,
        "then is before, with none between": And(
            ForAll([m, k], Implies(then(m, k), before(m, k))),
            ForAll([m, k, x], Implies(And(then(m, k), before(m, x)), Not(before(x, k)))),
        ),
    }


def passed(given: Given, t: Moment, place: Any) -> Any:
    """The cursor comes to `place`, and over what is left out behind it."""
    left_out = Or(unneeded(e), le(number(e), place), less(t.cursor, number(e)))
    return And(le(place, t.cursor), given(IN_ORDER, ForAll([e], left_out)))


def in_flight(s: Moment, message: Any) -> Any:
    return And(before(s.gone, message), Not(before(s.sent, message)))


def heard_of(s: Moment, p: Any) -> Any:
    """Up to p the successor has heard all; if it is down, it once had."""
    return le(p, If(s.listening, s.heard, s.farthest))


# --- the producer ----------------------------------------------------------------------------
def give(given: Given) -> Callable[..., Any]:
    def relation(s: Moment, t: Moment, m: Any) -> Any:
        """The next event; or, at the beginning of a replay, one that nobody is owed (III-B2)."""
        true = number(event(m))
        between = And(less(s.cursor, number(e)), less(number(e), true))
        return And(
            s.running,
            Or(less(s.cursor, true), And(s.cursor == s.base, le(true, s.base))),
            given(IN_ORDER, ForAll([e], Or(unneeded(e), Not(between)))),
            given(SAME, stamp(m) == true),
            then(s.sent, m),
            t.sent == m,
            passed(given, t, later(s.cursor, true)),
        )

    return relation


def acknowledge(given: Given) -> Callable[..., Any]:
    def relation(s: Moment, t: Moment, p: Any) -> Any:
        """The successor will not ask for anything up to p again."""
        return And(
            s.running,
            le(s.base, p),
            given(ACKED, heard_of(s, p)),
            t.base == p,
            t.cursor == later(s.cursor, p),
        )

    return relation


def producer_crash(s: Moment, t: Moment) -> Any:
    """What it has sent still arrives."""
    return And(s.running, Not(t.running))


def mute_crash(s: Moment, t: Moment) -> Any:
    """What it has sent is lost with its connections.  It may crash while it is being restored."""
    return And(Not(t.running), t.gone == s.sent)


def answer_lost(s: Moment, t: Moment) -> Any:
    """So is its answer to a hello: the successor still waits for one."""
    return And(mute_crash(s, t), s.listening, forgotten(t))


def forgotten(t: Moment) -> Any:
    return And(Not(t.listening), t.heard == nothing, ForAll([e], Not(t.done(e))))


def producer_restored(given: Given) -> Callable[..., Any]:
    def relation(s: Moment, t: Moment, p: Any) -> Any:
        """From a savepoint with which it gives all above p again.  If the successor is down as
        well, its own savepoint will have to fit (REPLAYED)."""
        return And(
            Not(s.running),
            given(RESTORED, heard_of(s, p)),
            t.running,
            t.base == p,
            t.cursor == p,
        )

    return relation


def replay(given: Given) -> Callable[..., Any]:
    def relation(s: Moment, t: Moment) -> Any:
        """A hello that has been answered is answered once more: the whole backup again."""
        return And(s.running, passed(given, t, s.base))

    return relation


# --- the successor ---------------------------------------------------------------------------
def take(given: Given) -> Callable[..., Any]:
    def relation(s: Moment, t: Moment, m: Any) -> Any:
        has = And(e == event(m), Not(unneeded(e)))
        return And(
            s.listening,
            in_flight(s, m),
            given(FIFO, then(s.gone, m)),
            given(DISCARD, less(s.heard, stamp(m))),
            t.gone == m,
            t.heard == later(s.heard, stamp(m)),
            t.farthest == later(s.farthest, stamp(m)),
            ForAll([e], t.done(e) == Or(s.done(e), has)),
            ForAll([e], t.ever(e) == Or(s.ever(e), has)),
            ForAll([e], t.doubled(e) == Or(s.doubled(e), And(has, s.done(e)))),
        )

    return relation


def discard(given: Given) -> Callable[..., Any]:
    def relation(s: Moment, t: Moment, m: Any) -> Any:
        return And(
            s.listening,
            in_flight(s, m),
            then(s.gone, m),
            given(NO_MORE, le(stamp(m), s.heard)),
            t.gone == m,
        )

    return relation


def successor_crash(s: Moment, t: Moment) -> Any:
    return And(s.listening, forgotten(t), t.gone == s.sent)


def answer(given: Given) -> Callable[..., Any]:
    def relation(s: Moment, t: Moment, p: Any) -> Any:
        """The successor will start from a savepoint with the effects up to p.  The producer's
        answer brings it, and the whole backup; or another predecessor's brings a later one."""
        first = And(
            s.running,
            Not(s.listening),
            given(REPLAYED, le(s.base, p)),
            given(STALE, t.gone == s.sent),
            passed(given, t, s.base),
        )
        another = And(s.listening, less(s.heard, p), t.gone == s.gone, t.cursor == s.cursor)
        saved = And(s.ever(e), le(number(e), p))
        return And(
            Or(first, another),
            given(REAL, le(p, s.farthest)),
            t.listening,
            t.heard == p,
            ForAll([e], t.done(e) == Or(And(s.listening, s.done(e)), saved)),
        )

    return relation


# --- invariants ------------------------------------------------------------------------------
def due(s: Moment, e: Any) -> Any:
    return And(s.listening, Not(unneeded(e)))


def none_missing(s: Moment) -> Any:
    return ForAll([e], Implies(And(due(s, e), le(number(e), s.heard)), s.done(e)))


def no_jump(s: Moment) -> Any:
    ahead = And(then(s.gone, m), in_flight(s, m), less(number(e), stamp(m)))
    return ForAll([m, e], Implies(And(ahead, due(s, e)), le(number(e), s.heard)))


def no_gap(s: Moment) -> Any:
    pair = And(in_flight(s, k), then(k, m), in_flight(s, m), less(number(e), stamp(m)))
    known = Or(le(number(e), stamp(k)), le(number(e), s.heard))
    return ForAll([k, m, e], Implies(And(pair, due(s, e)), known))


def passed_on(s: Moment) -> Any:
    given = And(s.running, due(s, e), le(number(e), s.cursor))
    coming = And(s.gone != s.sent, le(number(e), stamp(s.sent)))
    return ForAll([e], Implies(given, Or(le(number(e), s.heard), coming)))


ONCE = "no event has its effect twice"
ALL = "of what was heard, nothing is missing"
INVARIANTS: dict[str, Callable[[Moment], Any]] = {
    ONCE: lambda s: ForAll([e], Not(s.doubled(e))),
    ALL: none_missing,
    "nothing has an effect that was not heard": lambda s: ForAll(
        [e], Implies(s.done(e), le(number(e), s.heard))
    ),
    "nothing was missing in any history": lambda s: ForAll(
        [e], Implies(And(Not(unneeded(e)), le(number(e), s.farthest)), s.ever(e))
    ),
    "nothing was heard beyond the farthest": lambda s: le(s.heard, s.farthest),
    "messages bear the numbers of their events": lambda s: ForAll(
        [m], Implies(And(s.listening, in_flight(s, m)), stamp(m) == number(event(m)))
    ),
    "the next message leaves nothing out": no_jump,
    "every message goes on where the one before it ends": no_gap,
    "what has been given is heard or on its way": passed_on,
    "what need not be given was heard": lambda s: Implies(
        And(s.running, s.listening), le(s.base, s.heard)
    ),
    "what need not be given is passed": lambda s: Implies(s.running, le(s.base, s.cursor)),
    "the channel is an interval": lambda s: Not(before(s.sent, s.gone)),
}


def initial(s: Moment) -> Any:
    return And(
        s.running,
        s.listening,
        s.gone == s.sent,
        *(place == nothing for place in (s.base, s.cursor, s.heard, s.farthest)),
        ForAll([e], Not(Or(s.done(e), s.ever(e), s.doubled(e)))),
    )


def system(given: Given) -> TransitionSystem:
    a_message, a_number = (("m", MESSAGE),), (("p", NUMBER),)
    taking = ("gone", "heard", "farthest", "done", "ever", "doubled")
    restored = ("running", "base", "cursor")
    forgets = ("listening", "heard", "done", "gone")
    return TransitionSystem(
        name="one edge",
        state=STATE,
        axioms=axioms(given),
        init=initial,
        transitions=(
            Transition("give", a_message, ("sent", "cursor"), give(given)),
            Transition("take", a_message, taking, take(given)),
            Transition("discard", a_message, ("gone",), discard(given)),
            Transition("acknowledge", a_number, ("base", "cursor"), acknowledge(given)),
            Transition("producer crashes", (), ("running",), producer_crash),
            Transition("producer crashes, mute", (), ("running", "gone"), mute_crash),
            Transition("answer is lost", (), ("running", *forgets), answer_lost),
            Transition("producer is restored", a_number, restored, producer_restored(given)),
            Transition("successor crashes", (), forgets, successor_crash),
            Transition("answer", a_number, (*forgets, "cursor"), answer(given)),
            Transition("replay", (), ("cursor",), replay(given)),
        ),
        invariants=INVARIANTS,
    )


# --- lemmas ----------------------------------------------------------------------------------
SPURIOUS = ("replay", "answer is lost")
"""The edge alone cannot say when these happen: other nodes crash."""


def only(whole: TransitionSystem, *left_out: str) -> TransitionSystem:
    """The system without some transitions, so that a run shows what is meant."""
    steps = tuple(step for step in whole.transitions if step.name not in left_out)
    return replace(whole, transitions=steps)


def _once(given: Given) -> Iterator[Query]:
    whole = system(given)
    yield from inductive(whole)
    yield reaches(
        only(whole, *SPURIOUS, "acknowledge"),
        "an event that has had its effect comes again after a crash",
        lambda s: Exists([m, e], And(in_flight(s, m), e == event(m), s.done(e))),
        depth=5,
        sizes={EVENT: 1, NUMBER: 2, MESSAGE: 3},
    )


LEMMAS = (
    Lemma(
        name="duplicates",
        statement="For all sequences of events, all crashes of the producer and of its successor "
        "and all replays: a successor that discards what is not above the last number it has "
        "heard takes every event that it has a use for exactly once, in order and without a gap, "
        "as far as it has heard.",
        section="Lima et al., III-B2",
        expect=Outcome.HOLDS,
        build=_once,
    ),
)
