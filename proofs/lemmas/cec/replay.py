"""An operator twice: as it ran, and as it is loaded from its footprints and replayed.

Rule of this file: tuples and the states of windows; which records a scan finds is in scan.py.

Both runs go over one stream, side by side.  A window, and the turn of a key (when its next window
opens), are deterministic functions of the tuples of the key, of any states.  A loaded state is one
of the original run: a window's after its footprint, a turn's after the newest record of the key.
So they are as in the original run only if each tuple is applied to each of them once.  Keys are
functions of tuples, and tuples of keys, which leaves EPR.  Sebepou and Magoutis, CEC, 2011, Section
II.B ("Continuous eventual checkpoints"); III.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import z3
from z3 import And, Const, DeclareSort, Exists, ForAll, Function, If, Implies, Not, Or

from model.evidence import Outcome
from model.protocols.cec.design import MENDED, Bound, CecDesign, Checked, Closed
from model.queues import Stamp
from proofs.lemmas.cec.readings import PAPER, refuted
from proofs.prove.lemma import Given, Lemma, all_given
from proofs.prove.orders import TotalOrder
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Symbol
from proofs.prove.transition import Transition, TransitionSystem, inductive, reaches

TUPLE, WINDOW, KEY = DeclareSort("input"), DeclareSort("window"), DeclareSort("key")
STATE, TIME = DeclareSort("state"), DeclareSort("time")
BOOL = z3.BoolSort()

# --- the rigid part --------------------------------------------------------------------------
tuples, times = TotalOrder(TUPLE, "le#tuple"), TotalOrder(TIME, "le#time")
le, before = tuples.le, tuples.less
time, key = Function("time", TUPLE, TIME), Function("key", TUPLE, KEY)
group, opener = Function("group", WINDOW, KEY), Function("opener", WINDOW, TUPLE)
begin, fresh = z3.Consts("begin fresh", STATE)
adds, turns = (Function(name, STATE, TUPLE, STATE) for name in ("adds#", "turns#"))
full = Function("full#", STATE, TUPLE, BOOL)
opens = Function("opens#", STATE, TUPLE, WINDOW, BOOL)

# The log at the crash: the tuples of its newest record and of T; the loaded state of each window,
# and the tuple of its footprint; the keys of which the scan has read a record, the loaded state of
# each, and the tuple of its newest record.
end, start = z3.Consts("end start", TUPLE)
loaded, stored = Function("loaded", WINDOW, BOOL), Function("stored", WINDOW, STATE)
known, resumes = Function("known", KEY, BOOL), Function("resumes", KEY, STATE)
foot, floor = Function("foot", WINDOW, TUPLE), Function("floor", KEY, TUPLE)

p, q = z3.Consts("p q", TUPLE)
w = Const("w", WINDOW)
k = Const("k", KEY)

ORIGINAL, AGAIN = ("open", "inner", "turn"), ("open_again", "again", "turn_again")
SYMBOLS = (
    Symbol("done", TUPLE, BOOL),
    *(
        Symbol(name, *sorts)
        for names in (ORIGINAL, AGAIN)
        for name, sorts in zip(names, ((WINDOW, BOOL), (WINDOW, STATE), (KEY, STATE)), strict=True)
    ),
)

EXACTLY = "what is loaded are the windows that are open at the newest record"
STATE_OF = "a footprint has the state of an open window after its tuple"
TURN_OF = "the newest record of a key has its turn"
NOTED = "a tuple that opens a window leaves a record"
STAYS = "a tuple that leaves no record is in a window that stays open"
READ = "of every key with a record after T, or at T if this is read, too, one is read"
ANEW = "a key of which no record is read begins anew"
OLDEST = "T is not after a footprint, nor after the newest record"
PLACED = "no record is after the newest"


def earlier(design: CecDesign, one: Any, other: Any, bound: Bound) -> Any:
    """Is the stamp of `one` before that of `other`, or, WITH it, the same?"""
    order, at = (tuples, lambda x: x) if design.stamp is Stamp.PLACE else (times, time)
    return (order.le if bound is Bound.WITH else order.less)(at(one), at(other))


def feed(s: AtTime, t: AtTime, names: tuple[str, ...], one: Any, wakes: Any, deaf: Any) -> Any:
    """A run takes a tuple.  wakes: may it open a window?  deaf: does window w ignore it?"""
    (open_, inner, turn), here = (getattr(s, name) for name in names), key(one)
    open_then, inner_then, turn_then = (getattr(t, name) for name in names)
    new = And(wakes, opener(w) == one, opens(turn(here), one, w))
    takes = And(group(w) == here, Or(new, And(open_(w), Not(deaf))))
    fed = If(new, begin, inner(w))
    moves = And(k == here, wakes)
    return And(
        ForAll([w], open_then(w) == If(takes, Not(full(fed, one)), open_(w))),
        ForAll([w], inner_then(w) == If(takes, adds(fed, one), inner(w))),
        ForAll([k], turn_then(k) == If(moves, turns(turn(k), one), turn(k))),
    )


@dataclass(frozen=True)
class ReplaySteps:
    """The steps of the original run and of the replay with a tuple."""

    given: Given
    design: CecDesign

    def ignored(self, one: Any, floor_: Any) -> Any:
        return earlier(self.design, one, floor_, self.design.ignore)

    def again(self, s: AtTime, t: AtTime, one: Any) -> Any:
        after = earlier(self.design, one, start, Bound.WITH)
        if self.design.replay is Bound.WITH:
            after = earlier(self.design, one, start, Bound.WITHOUT)
        floors = self.design.closed is Closed.FLOORS
        below = And(floors, known(key(one)), self.ignored(one, floor(key(one))))
        deaf = Or(after, And(loaded(w), self.ignored(one, foot(w))))
        return feed(s, t, AGAIN, one, Not(Or(after, below)), deaf)

    def logged(self, s: AtTime, t: AtTime, one: Any) -> Any:
        """The contents of the log about the tuple."""
        entering = And(self.design.checked is Checked.ENTERING, foot(w) != opener(w))
        state = stored(w) == If(entering, s.inner(w), t.inner(w))
        closed = And(Or(s.open(w), opener(w) == one), Not(t.open(w)))
        opened = And(opener(w) == one, opens(s.turn(key(one)), one, w))
        exactly = And(Implies(closed, Not(loaded(w))), Implies(one == end, loaded(w) == t.open(w)))
        at_floor = Implies(And(known(k), floor(k) == one), resumes(k) == t.turn(k))
        anew = Implies(And(one == end, Not(known(k))), t.turn(k) == fresh)
        return And(
            self.given(EXACTLY, ForAll([w], Implies(le(one, end), exactly))),
            self.given(
                STATE_OF,
                ForAll([w], Implies(And(loaded(w), foot(w) == one), And(t.open(w), state))),
            ),
            self.given(TURN_OF, ForAll([k], at_floor)),
            self.given(
                NOTED,
                ForAll([w], Implies(And(le(one, end), opened), le(one, floor(key(one))))),
            ),
            self.given(ANEW, ForAll([k], anew)),
        )

    def process(self, s: AtTime, t: AtTime, one: Any) -> Any:
        return And(
            Not(s.done(one)),
            ForAll([q], Implies(before(q, one), s.done(q))),
            ForAll([q], t.done(q) == Or(s.done(q), q == one)),
            feed(s, t, ORIGINAL, one, True, False),
            self.again(s, t, one),
            self.logged(s, t, one),
        )

    def init(self, s: AtTime) -> Any:
        resumed = If(known(k), resumes(k), fresh)
        return And(
            ForAll([q], Not(s.done(q))),
            ForAll([w], And(Not(s.open(w)), s.open_again(w) == loaded(w))),
            ForAll([w], Implies(loaded(w), s.again(w) == stored(w))),
            ForAll([k], And(s.turn(k) == fresh, s.turn_again(k) == resumed)),
        )


def system(
    given: Given, design: CecDesign = MENDED, reads: Bound = Bound.WITHOUT
) -> TransitionSystem:
    """design: its stamps, its bounds, and whether floors of keys are kept.  reads: does the scan
    read all records that are stamped T?"""
    steps = ReplaySteps(given, design)

    at = le if reads is Bound.WITH else before
    at_or_after = And(le(start, end), ForAll([w], Implies(loaded(w), le(start, foot(w)))))
    taken = Exists([w], And(loaded(w), group(w) == key(p), before(foot(w), p)))
    stays = Implies(And(le(p, end), before(floor(key(p)), p)), taken)
    placed = And(
        ForAll([w], Implies(loaded(w), And(known(group(w)), le(foot(w), end)))),
        ForAll([k], le(floor(k), end)),
    )
    ties = ForAll([p, q], Implies(le(p, q), times.le(time(p), time(q))))
    return TransitionSystem(
        name="the original run and the replay",
        state=SYMBOLS,
        axioms={
            "tuples are in a total order": tuples.axiom,
            "times are in a total order, and grow": And(times.axiom, ties),
            PLACED: given(PLACED, placed),
            OLDEST: given(OLDEST, at_or_after),
            READ: given(READ, ForAll([k], Implies(at(start, floor(k)), known(k)))),
            STAYS: given(STAYS, ForAll([p], stays)),
        },
        init=steps.init,
        transitions=(
            Transition("take", (("tuple", TUPLE),), (*(x.name for x in SYMBOLS),), steps.process),
        ),
        invariants=INVARIANTS,
    )


# --- invariants ------------------------------------------------------------------------------
def same(s: AtTime) -> Any:
    return And(s.open_again(w) == s.open(w), Implies(s.open(w), s.again(w) == s.inner(w)))


PRECISE = "a window is as in the original run, from its footprint on or from the newest record on"
TURNS = "a turn is as in the original run, from the newest record of the key on"
INVARIANTS: dict[str, Callable[[AtTime], Any]] = {
    "what is done is a prefix": lambda s: tuples.prefix(s.done),
    "a window that is open was opened": lambda s: ForAll(
        [w],
        And(
            Implies(s.open(w), s.done(opener(w))),
            Implies(And(s.open_again(w), Not(loaded(w))), s.done(opener(w))),
        ),
    ),
    "a loaded window waits for its footprint": lambda s: ForAll(
        [w],
        Implies(
            And(loaded(w), Not(s.done(foot(w)))), And(s.open_again(w), s.again(w) == stored(w))
        ),
    ),
    "a loaded window is open up to the newest record": lambda s: ForAll(
        [w], Implies(And(loaded(w), s.done(foot(w)), Not(s.done(end))), s.open(w))
    ),
    "no window opens again": lambda s: ForAll(
        [w], Implies(And(Not(loaded(w)), Not(s.done(end))), Not(s.open_again(w)))
    ),
    PRECISE: lambda s: ForAll([w], Implies(s.done(If(loaded(w), foot(w), end)), same(s))),
    "a turn waits for the newest record": lambda s: ForAll(
        [k],
        Implies(
            Not(s.done(If(known(k), floor(k), end))),
            s.turn_again(k) == If(known(k), resumes(k), fresh),
        ),
    ),
    TURNS: lambda s: ForAll(
        [k], Implies(s.done(If(known(k), floor(k), end)), s.turn_again(k) == s.turn(k))
    ),
}


# --- lemmas ----------------------------------------------------------------------------------
def worlds(count: int) -> dict[Any, int]:
    """Small worlds with this number of tuples."""
    return {TUPLE: count, WINDOW: 2, KEY: min(2, count), STATE: 3, TIME: min(2, count)}


def prove(design: CecDesign, reads: Bound, given: Given) -> Iterator[SolverQuery]:
    def ignores(s: AtTime) -> Any:
        other = And(before(start, p), le(p, end), key(p) != group(w), known(key(p)))
        return Exists([w, p], And(loaded(w), s.done(end), Not(s.open_again(w)), other))

    proved = system(given, design, reads)
    yield from inductive(proved)
    what = "a loaded window closes in the replay, after a tuple of a key that ignores it"
    yield reaches(proved, what, ignores, 3, worlds(3))


def combination(design: CecDesign) -> Lemma:
    """The lemma that other bounds and stamps than the mended ones are right, too."""
    replay, ignore = (bound is Bound.WITH for bound in (design.replay, design.ignore))
    checked, stamp = design.checked.name.lower(), design.stamp.name.lower()
    count = 1 if replay and not ignore else 2
    return refuted(
        f"replay-{'ge' if replay else 'gt'}-{'le' if ignore else 'lt'}-{checked}-{stamp}",
        f"A replay of t {'>=' if replay else '>'} T is right, where windows ignore "
        f"t {'<=' if ignore else '<'} t_i, G_checks are stamped with the tuple {checked}, and "
        f"stamps are {stamp}s.",
        system(all_given, design),
        (PRECISE, count, worlds(count)),
        (CLAIM, MEND) if (replay, ignore) == (False, False) else None,
    )


CLAIM = "The state before the failure is reached by a replay of t > T, if windows ignore t < t_i."
MEND = "windows ignore t <= t_i, stamps are places, and those of G_checks of tuples in the state"
COMBINATIONS = tuple(
    replace(MENDED, replay=replay, ignore=ignore, checked=checked, stamp=stamp)
    for replay, ignore, checked, stamp in product(Bound, Bound, Checked, Stamp)
)
LEMMAS = (
    Lemma(
        name="replay-once",
        statement="For any stream, any keyed operator and any footprints: a replay of t > T "
        "applies each tuple to each window exactly once, if stamps are places, those of G_checks "
        "are of the tuple in the state, windows ignore t <= t_i, and keys keep floors.",
        section=PAPER,
        expect=Outcome.HOLDS,
        build=partial(prove, MENDED, Bound.WITHOUT),
        fragment="a function each way between tuples and keys",
    ),
    Lemma(
        name="replay-from-t",
        statement="A replay of t >= T is right, too, if the scan reads all records stamped T.",
        section=PAPER,
        expect=Outcome.HOLDS,
        build=partial(prove, replace(MENDED, replay=Bound.WITH), Bound.WITH),
        fragment="a function each way between tuples and keys",
    ),
    *(combination(design) for design in COMBINATIONS if design != MENDED),
    refuted(
        "replay-floors-forgotten",
        "It is enough that the windows that are loaded ignore tuples.",
        system(all_given, replace(MENDED, closed=Closed.FORGOTTEN)),
        (PRECISE, 2, worlds(2)),
        (
            "The state before the failure is reached if open windows ignore what they have seen.",
            "a key ignores all tuples up to its newest record, also if that is a result",
        ),
    ),
)
