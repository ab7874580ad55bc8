"""An operator that stores checkpoints, and restarts from the last one at any moment.

Rule of this file: tuples, those in the windows and those still to come; no output queue.

The windows are the set of the tuples that were applied to them, which come in their order.  So each
is applied once if at any moment each is in the windows or still to come, and none is both.
Sebepou and Magoutis, CEC, 2011, Sections I and II.A.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import z3
from z3 import And, Const, DeclareSort, Exists, ForAll, Function, Implies, Not, Or

from model.evidence import Outcome
from model.protocols.crb.design import Acknowledges, CrbDesign, Instant, Replays
from model.queues import Stamp
from proofs.lemmas.readings import refuted
from proofs.prove.lemma import Given, Lemma, without
from proofs.prove.orders import TotalOrder
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Axioms, Symbol
from proofs.prove.transition import Transition, TransitionSystem, inductive, reaches

PAPER = "Sebepou and Magoutis, II.A"
TUPLE, TIME, BOOL = DeclareSort("input"), DeclareSort("time"), z3.BoolSort()
tuples, times = TotalOrder(TUPLE, "le#tuple"), TotalOrder(TIME, "le#time")
time = Function("time", TUPLE, TIME)
origin, p, q = (Const(name, TUPLE) for name in ("origin", "p", "q"))
"""The origin stands before all tuples; it is in all windows, and never comes."""

ORDERED = And(tuples.axiom, ForAll([p], tuples.le(origin, p)))

IN_ORDER = "upstream sends tuples in their order"
ONE_MOMENT = "windows and position are of one moment, that of the capture or that of the end"
LOADED = "a restart loads the windows that are stored"
AGAIN = "upstream sends what a restart asks for, as far as it has it, and nothing else"
STORED = "what is acknowledged is the place of a checkpoint that is stored"
FREED = "upstream lets go of nothing that is not acknowledged"
RISING = "times rise strictly"

EARLY = CrbDesign()
LATE = replace(EARLY, windows=Instant.COMPLETION, position=Instant.COMPLETION)


def asks(design: CrbDesign, place: Any, one: Any) -> Any:
    """Does a restart from the checkpoint at this place ask for that tuple?"""
    order, at = (tuples, lambda x: x) if design.stamp is Stamp.PLACE else (times, time)
    comes = order.less if design.replays is Replays.AFTER else order.le
    return And(one != origin, comes(at(place), at(one)))


def of_times(given: Given, design: CrbDesign) -> Axioms:
    """The axioms about times, where these are stamps."""
    if design.stamp is Stamp.PLACE:
        return {}
    grow = ForAll([p, q], Implies(tuples.le(p, q), times.le(time(p), time(q))))
    begin = ForAll([p], Implies(p != origin, times.less(time(origin), time(p))))
    rise = ForAll([p, q], Implies(tuples.less(p, q), times.less(time(p), time(q))))
    return {"times grow": And(times.axiom, grow, begin), RISING: given(RISING, rise)}


def system(given: Given, design: CrbDesign, *others: CrbDesign) -> TransitionSystem:
    """others: any checkpoint may be read as one of these reads it, too."""

    early = design.acknowledges is Acknowledges.CAPTURED

    def take(s: AtTime, t: AtTime, one: Any) -> Any:
        first = ForAll([q], Implies(tuples.less(q, one), Not(s.coming(q))))
        taken = And(t.held(p) == Or(s.held(p), p == one), t.coming(p) == And(s.coming(p), p != one))
        return And(s.coming(one), given(IN_ORDER, first), ForAll([p], taken), t.at == one)

    def capture(s: AtTime, t: AtTime) -> Any:
        copied = And(ForAll([p], t.copied(p) == s.held(p)), t.copied_at == s.at)
        acknowledges = t.acknowledged == (s.at if early else s.acknowledged)
        return And(Not(s.storing), t.storing, copied, acknowledges)

    def store(s: AtTime, t: AtTime) -> Any:
        def reads(of: CrbDesign) -> Any:
            windows = s.copied if of.windows is Instant.CAPTURE else s.held
            position = s.copied_at if of.position is Instant.CAPTURE else s.at
            return And(ForAll([p], t.stored(p) == windows(p)), t.place == position)

        one_moment = given(ONE_MOMENT, Or(*map(reads, (design, *others))))
        acknowledges = t.acknowledged == (s.acknowledged if early else t.place)
        return And(s.storing, Not(t.storing), one_moment, given(STORED, acknowledges))

    def let_go(s: AtTime, t: AtTime, upto: Any) -> Any:
        return And(given(FREED, tuples.le(upto, s.acknowledged)), t.released == upto)

    def restart(s: AtTime, t: AtTime) -> Any:
        sent = And(asks(design, s.place, p), tuples.less(s.released, p))
        loaded = given(LOADED, ForAll([p], t.held(p) == s.stored(p)))
        again = given(AGAIN, ForAll([p], t.coming(p) == sent))
        return And(loaded, again, t.at == s.place, Not(t.storing))

    def init(s: AtTime) -> Any:
        sets = And(s.held(p) == (p == origin), s.stored(p) == (p == origin))
        begins = [place == origin for place in (s.at, s.place, s.acknowledged, s.released)]
        return And(ForAll([p], And(sets, s.coming(p) == (p != origin))), *begins, Not(s.storing))

    return TransitionSystem(
        name="checkpoints and restarts",
        state=(
            *(Symbol(name, TUPLE, BOOL) for name in ("held", "coming", "copied", "stored")),
            *(Symbol(x, TUPLE) for x in ("at", "copied_at", "place", "acknowledged", "released")),
            Symbol("storing", BOOL),
        ),
        axioms={"tuples are in a total order": ORDERED, **of_times(given, design)},
        init=init,
        transitions=(
            Transition("take", (("tuple", TUPLE),), ("held", "coming", "at"), take),
            Transition("capture", (), ("copied", "copied_at", "storing", "acknowledged"), capture),
            Transition("store", (), ("stored", "place", "storing", "acknowledged"), store),
            Transition("let go", (("up to", TUPLE),), ("released",), let_go),
            Transition("restart", (), ("held", "coming", "at", "storing"), restart),
        ),
        invariants={**WINDOWS, **PLACES},
    )


# --- invariants ------------------------------------------------------------------------------
LOST = "a tuple is in the windows, or it is still to come"
TWICE = "no tuple in the windows is still to come"
HELD = "upstream has all that a restart asks for"
WINDOWS: dict[str, Callable[[AtTime], Any]] = {
    LOST: lambda s: ForAll([p], Or(s.held(p), s.coming(p))),
    TWICE: lambda s: ForAll([p], Not(And(s.held(p), s.coming(p)))),
    "windows have all up to the position": lambda s: ForAll([p], s.held(p) == tuples.le(p, s.at)),
    "so has their copy": lambda s: ForAll(
        [p], Implies(s.storing, s.copied(p) == tuples.le(p, s.copied_at))
    ),
    "so has the checkpoint": lambda s: ForAll([p], s.stored(p) == tuples.le(p, s.place)),
}
PLACES: dict[str, Callable[[AtTime], Any]] = {
    HELD: lambda s: tuples.le(s.released, s.place),
    "what is acknowledged is stored": lambda s: tuples.le(s.acknowledged, s.place),
    "the position is not before the checkpoint": lambda s: tuples.le(s.place, s.at),
    "that of the copy is between them": lambda s: Implies(
        s.storing, And(tuples.le(s.place, s.copied_at), tuples.le(s.copied_at, s.at))
    ),
    "what comes is after it": lambda s: ForAll([p], Implies(s.coming(p), tuples.less(s.at, p))),
}


# --- lemmas ----------------------------------------------------------------------------------
def once(designs: tuple[CrbDesign, ...], given: Given) -> Iterator[SolverQuery]:
    def beside(s: AtTime) -> Any:
        return Exists([p], And(s.held(p), tuples.less(s.place, p), s.place != origin))

    proved = system(given, *designs)
    yield from inductive(proved)
    yield reaches(proved, "a tuple was taken beside a checkpoint", beside, 4, {TUPLE: 3, TIME: 3})


def acknowledged(given: Given) -> Iterator[SolverQuery]:
    """Whatever the windows are."""
    proved = system(lambda x, f: z3.BoolVal(True) if x == LOADED else given(x, f), EARLY, LATE)
    yield from inductive(replace(proved, invariants=PLACES))
    yield reaches(proved, "it let go of one", lambda s: s.released != origin, 4, {TUPLE: 2})


def reading(
    name: str, what: str, design: CrbDesign, broken: tuple[str, int], *errata: Any
) -> Lemma:
    """broken: an invariant, and after how many steps."""
    sizes = {TUPLE: 3, TIME: 2} if design.stamp is Stamp.TIME else {TUPLE: 2}
    return refuted(PAPER, name, what, system(without(RISING), design), (*broken, sizes), *errata)


ONCE = "applies each tuple exactly once, if windows and position are of one moment."
POSTDATE = "A restart replays the events that postdate the checkpoint.", "after its place"
FORWARD = 'Upstream replays "from that point forward".', "after that point"
TAKES = "An operator that takes a checkpoint acknowledges it.", "once it is stored"
BY_TIME, FROM = replace(EARLY, stamp=Stamp.TIME), replace(EARLY, replays=Replays.FROM)
POSITION, WINDOW = replace(EARLY, position=LATE.position), replace(EARLY, windows=LATE.windows)
CAPTURED = replace(EARLY, acknowledges=Acknowledges.CAPTURED)
IF_AFTER = f"For any stream and any crashes: a replay after the place of the checkpoint {ONCE}"
IF_RISING = f"If times rise strictly, a replay after the time of the checkpoint {ONCE}"
IF_STORED = "Upstream that lets go of what is stored has all that any restart will ask for."
BY_TIMES = "A replay after the time of the checkpoint loses no tuple."
INCLUSIVE = "A replay from the place of the checkpoint applies no tuple twice."
LATER_POSITION = "The position may be read later than the windows."
LATER_WINDOWS = "The windows may be read later than the position."
TOLD = "A checkpoint may be acknowledged when it is captured."
LEMMAS = (
    Lemma("checkpoint-once", IF_AFTER, PAPER, Outcome.HOLDS, partial(once, (EARLY, LATE))),
    Lemma("checkpoint-once-by-time", IF_RISING, PAPER, Outcome.HOLDS, partial(once, (BY_TIME,))),
    Lemma("acknowledge-stored", IF_STORED, PAPER, Outcome.HOLDS, acknowledged),
    reading("checkpoint-by-time", BY_TIMES, BY_TIME, (LOST, 4), POSTDATE),
    reading("checkpoint-inclusive", INCLUSIVE, FROM, (TWICE, 4), FORWARD),
    reading("checkpoint-late-position", LATER_POSITION, POSITION, (LOST, 4)),
    reading("checkpoint-late-windows", LATER_WINDOWS, WINDOW, (TWICE, 4)),
    reading("acknowledge-captured", TOLD, CAPTURED, (HELD, 3), TAKES),
)
