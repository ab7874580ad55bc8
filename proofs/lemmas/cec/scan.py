"""A log and the backward scan of it: the newest footprint of exactly the open windows.

Rule of this file: records and windows; no tuple, and so no replay (replay.py).

The log is stored record by record: a crash may come after any of them, so each of its
prefixes is covered.  A window is known by its opening.  A window is left while it is open and the
scan has not found it.  Numbers of windows are integers, which leaves EPR.
Sebepou and Magoutis, CEC, 2011, Section II.B ("Constructing an EC", "Extent of an EC").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import z3
from z3 import And, Const, DeclareSort, Exists, ForAll, Function, If, Implies, Not, Or

from model.evidence import Outcome
from model.protocols.cec.design import LogTrim, WindowCount
from proofs.lemmas.cec.readings import PAPER, refuted
from proofs.prove.lemma import Given, Lemma, all_given, without
from proofs.prove.orders import TotalOrder
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Symbol
from proofs.prove.transition import Transition, TransitionSystem, inductive, reaches

RECORD, WINDOW = DeclareSort("record"), DeclareSort("window")
NAME, STAMP = DeclareSort("name"), DeclareSort("stamp")
BOOL, INT = z3.BoolSort(), z3.IntSort()

records, stamps = TotalOrder(RECORD, "le#record"), TotalOrder(STAMP, "le#stamp")
le, before = records.le, records.less
of, closes = Function("of", RECORD, WINDOW), Function("closes", RECORD, BOOL)
stamp, named = Function("stamp", RECORD, STAMP), Function("named", WINDOW, NAME)
origin = Const("origin", RECORD)
"""Before all records: the newest one of an empty log."""
r, q = z3.Consts("r q", RECORD)
v, w = z3.Consts("v w", WINDOW)

NAMED = "a record names the opening of its window"
EVERY = "every record has N, as of after it"
NUMBER = "the number of windows left is 0 if and only if none is"
IN_ORDER = "records are stamped in the order of the log"
EXTENT = "what a log lets go of is before the newest record and all footprints of open windows"
OLDEST = "a log lets go of its oldest records first"
RECEIVED = "a log lets go of no result after the newest one that downstream has acknowledged"
STORED = "what is acknowledged upstream is not after T, as of the records that are stored"

STATE = (
    Symbol("kept", RECORD, BOOL),
    Symbol("written", RECORD, BOOL),
    Symbol("last", RECORD),
    Symbol("newest", WINDOW, RECORD),
    Symbol("acknowledged", RECORD),
    Symbol("released", STAMP),  # upstream lets go of tuples up to it
    Symbol("wanted", INT),  # N in the newest record that has one
    Symbol("left", WINDOW, BOOL),
    Symbol("size", INT),  # how many windows are left
    # --- the scan ---
    Symbol("scanning", BOOL),
    Symbol("read", RECORD, BOOL),
    Symbol("found", WINDOW, BOOL),
    Symbol("foot", WINDOW, RECORD),
    Symbol("count", INT),
)


def is_open(s: AtTime, window: Any) -> Any:
    return Or(s.left(window), s.found(window))


def is_done(s: AtTime) -> Any:
    """The scan stops: it knows N, and has found as many footprints."""
    return And(s.scanning, s.count == s.wanted, Or(s.read(s.last), s.last == origin))


def until(s: AtTime, what: Any) -> Any:
    """Is the stamp at most T?"""
    newest = ForAll([w], Implies(is_open(s, w), stamps.le(what, stamp(s.newest(w)))))
    return And(stamps.le(what, stamp(s.last)), newest)


def also(s: AtTime, t: AtTime, name: str, element: Any) -> Any:
    """The relation also holds of the element."""
    x = Const("x", element.sort())
    return ForAll([x], getattr(t, name)(x) == Or(getattr(s, name)(x), x == element))


@dataclass(frozen=True)
class LoggedSteps:
    """The steps of a log and of its scan, if these hypotheses hold."""

    given: Given
    count: WindowCount
    trims: LogTrim

    def append(self, s: AtTime, t: AtTime, record: Any, window: Any) -> Any:
        has_n = self.count is WindowCount.EVERY or Not(closes(record))
        return And(
            And(Not(s.scanning), of(record) == window, before(s.last, record), t.last == record),
            self.given(IN_ORDER, stamps.le(stamp(s.last), stamp(record))),
            And(also(s, t, "kept", record), also(s, t, "written", record)),
            ForAll([w], t.newest(w) == If(w == window, record, s.newest(w))),
            self.given(EVERY, t.wanted == If(has_n, t.size, s.wanted)),
            self.given(NUMBER, (t.size == 0) == ForAll([w], Not(t.left(w)))),
        )

    def leaves(self, s: AtTime, t: AtTime, window: Any) -> Any:
        others = ForAll([w], t.left(w) == And(s.left(w), w != window))
        counted = self.given(NUMBER, (t.size == 0) == ForAll([w], Not(t.left(w))))
        return And(s.left(window), others, t.size == s.size - 1, counted)

    def open_(self, s: AtTime, t: AtTime, record: Any, window: Any) -> Any:
        first = ForAll([r], Implies(s.written(r), of(r) != window))
        more = And(Not(closes(record)), also(s, t, "left", window), t.size == s.size + 1)
        return And(self.append(s, t, record, window), first, more)

    def check(self, s: AtTime, t: AtTime, record: Any, window: Any) -> Any:
        same = And(t.size == s.size, ForAll([w], t.left(w) == s.left(w)))
        return And(self.append(s, t, record, window), Not(closes(record)), s.left(window), same)

    def close(self, s: AtTime, t: AtTime, record: Any, window: Any) -> Any:
        return And(self.append(s, t, record, window), closes(record), self.leaves(s, t, window))

    def acknowledge(self, s: AtTime, t: AtTime, record: Any) -> Any:
        later = before(s.acknowledged, record)
        return And(s.kept(record), closes(record), later, t.acknowledged == record)

    def let_go(self, s: AtTime, t: AtTime) -> Any:
        alone = self.trims is LogTrim.ACKNOWLEDGED
        gone = And(s.kept(r), Not(t.kept(r)))
        received = Implies(Or(closes(r), alone), le(r, s.acknowledged))
        needless = And(before(r, s.last), ForAll([w], Implies(s.left(w), before(r, s.newest(w)))))
        prefix = Implies(And(t.kept(q), s.kept(r), le(q, r)), t.kept(r))
        return And(
            And(Not(s.scanning), ForAll([r], Implies(t.kept(r), s.kept(r)))),
            self.given(EXTENT, ForAll([r], Implies(gone, Or(needless, alone)))),
            self.given(OLDEST, ForAll([r, q], prefix)),
            self.given(RECEIVED, ForAll([r], Implies(gone, received))),
        )

    def release(self, s: AtTime, t: AtTime) -> Any:
        return And(Not(s.scanning), self.given(STORED, until(s, t.released)))

    def restart(self, s: AtTime, t: AtTime) -> Any:
        return And(Not(s.scanning), t.scanning)

    def read(self, s: AtTime, t: AtTime, record: Any) -> Any:
        later = ForAll([q], Implies(And(s.kept(q), before(record, q)), s.read(q)))
        unread = And(s.kept(record), Not(s.read(record)), later)
        return And(s.scanning, Not(is_done(s)), unread, also(s, t, "read", record))

    def seen(self, s: AtTime, record: Any) -> Any:
        return Exists([q], And(s.read(q), named(of(q)) == named(of(record))))

    def find(self, s: AtTime, t: AtTime, record: Any) -> Any:
        first = And(Not(closes(record)), Not(self.seen(s, record)), t.count == s.count + 1)
        foot = ForAll([w], t.foot(w) == If(w == of(record), record, s.foot(w)))
        found = And(self.leaves(s, t, of(record)), also(s, t, "found", of(record)), foot)
        return And(self.read(s, t, record), first, found)

    def pass_(self, s: AtTime, t: AtTime, record: Any) -> Any:
        counts = And(self.count is WindowCount.FOOTPRINTS, Not(self.seen(s, record)))
        skips = Or(closes(record), self.seen(s, record))
        return And(self.read(s, t, record), skips, t.count == s.count + If(counts, 1, 0))

    def start(self, s: AtTime) -> Any:
        zero = And(s.size == 0, s.wanted == 0, s.count == 0, Not(s.scanning))
        first = And(s.last == origin, s.acknowledged == origin, s.released == stamp(origin))
        empty = ForAll([r], Not(Or(s.kept(r), s.written(r), s.read(r))))
        return And(zero, first, empty, ForAll([w], Not(is_open(s, w))))


def system(
    given: Given, count: WindowCount = WindowCount.EVERY, trims: LogTrim = LogTrim.EXTENT
) -> TransitionSystem:
    """A log, and a scan of it.  count: the records that have N.  trims: the records that are let
    go."""
    steps = LoggedSteps(given, count, trims)

    one, two = (("record", RECORD),), (("record", RECORD), ("window", WINDOW))
    logged = ("kept", "written", "last", "newest", "wanted", "left", "size")
    return TransitionSystem(
        name="a log, scanned from its end",
        state=STATE,
        axioms={
            "records and stamps are in total orders": And(records.axiom, stamps.axiom),
            "the origin is before all records": ForAll([r], le(origin, r)),
            NAMED: given(NAMED, ForAll([v, w], Implies(named(v) == named(w), v == w))),
        },
        init=steps.start,
        transitions=(
            Transition("open", two, logged, steps.open_),
            Transition("check", two, logged, steps.check),
            Transition("close", two, logged, steps.close),
            Transition("acknowledge", one, ("acknowledged",), steps.acknowledge),
            Transition("let go", (), ("kept",), steps.let_go),
            Transition("release", (), ("released",), steps.release),
            Transition("restart", (), ("scanning",), steps.restart),
            Transition("find", one, ("read", "count", "left", "size", "found", "foot"), steps.find),
            Transition("pass", one, ("read", "count"), steps.pass_),
        ),
        invariants={name: _each(claim) for name, claim in INVARIANTS.items()},
    )


# --- invariants ------------------------------------------------------------------------------
def _each(claim: Callable[[AtTime], Any]) -> Callable[[AtTime], Any]:
    """The claim, of all records r and q and each window w."""
    return lambda s: ForAll([r, q, w], claim(s))


def _newest_of(s: AtTime) -> Any:
    newest = s.newest(of(r))
    known = And(of(newest) == of(r), s.written(newest), closes(newest) == Not(is_open(s, of(r))))
    return Implies(s.written(r), And(le(r, s.last), le(r, newest), known))


HELD = "an open window has a footprint in the log"
STOPS, EXACT = "the scan stops in the log", "where the scan stops, no open window is left"
NEWEST, WITHIN = "what is found is the newest footprint", "no result after T is left unread"
RESULTS = "what downstream may ask for again is in the log"
INPUTS = "what a replay asks for is upstream"
INVARIANTS: dict[str, Callable[[AtTime], Any]] = {
    "N is the number of windows found and left": lambda s: And(
        s.wanted == s.size + s.count, (s.size == 0) == ForAll([w], Not(s.left(w)))
    ),
    "without a scan nothing is found": lambda s: Or(s.scanning, And(s.count == 0, Not(s.found(w)))),
    "no record is newer than the newest of its window": _newest_of,
    HELD: lambda s: Implies(is_open(s, w), And(s.kept(s.newest(w)), of(s.newest(w)) == w)),
    "what is kept was written": lambda s: And(
        Or(s.last == origin, s.kept(s.last)), Implies(s.kept(r), s.written(r))
    ),
    "the log has no holes": lambda s: Implies(And(s.kept(r), s.written(q), le(r, q)), s.kept(q)),
    "stamps grow with the log": lambda s: Implies(
        And(s.written(r), s.written(q), le(r, q)), stamps.le(stamp(r), stamp(q))
    ),
    "the scan reads from the end": lambda s: Implies(
        s.read(r),
        And(
            s.scanning, s.kept(r), Not(s.left(of(r))), Implies(And(s.kept(q), le(r, q)), s.read(q))
        ),
    ),
    NEWEST: lambda s: Implies(
        s.found(w), And(s.foot(w) == s.newest(w), s.read(s.newest(w)), Not(s.left(w)))
    ),
    EXACT: lambda s: Implies(is_done(s), Not(s.left(w))),
    STOPS: lambda s: Implies(
        And(s.scanning, ForAll([r], Implies(s.kept(r), s.read(r)))), is_done(s)
    ),
    WITHIN: lambda s: Implies(
        And(is_done(s), s.kept(r), closes(r), Not(s.read(r))), until(s, stamp(r))
    ),
    RESULTS: lambda s: Implies(And(s.written(r), closes(r), before(s.acknowledged, r)), s.kept(r)),
    INPUTS: lambda s: until(s, s.released),
}


def worlds(windows: int, records_: int, stamps_: int = 1) -> dict[Any, int]:
    """Small worlds with these numbers of windows, and of records beside the origin."""
    return {RECORD: records_ + 1, WINDOW: windows, NAME: windows, STAMP: stamps_}


def prove(given: Given) -> Iterator[SolverQuery]:
    def early(s: AtTime) -> Any:
        unread, gone = And(s.kept(r), Not(s.read(r))), And(s.written(q), Not(s.kept(q)))
        return And(is_done(s), Exists([w], s.found(w)), Exists([r, q], And(unread, gone)))

    yield from inductive(system(given))
    what = "a scan stops early, in a log that has let go"
    yield reaches(system(given), what, early, 7, worlds(2, 3))


N_CLAIM = "N in a checkpoint is the number of footprints to look for."
LEMMAS = (
    Lemma(
        name="scan-newest",
        statement="For a log of any length, cut after any record, that let go of what is before "
        "the extent and acknowledged: a scan from its end up to N footprints stops within the log, "
        "finds the newest footprint of exactly the open windows, and reads all results after T; "
        "and upstream has all tuples after T.",
        section=PAPER,
        expect=Outcome.HOLDS,
        build=prove,
        fragment="linear integers",
    ),
    refuted(
        "scan-n-of-checkpoints",
        "If checkpoints alone have N, a scan stops in the log.",
        system(all_given, WindowCount.CHECKPOINTS),
        (STOPS, 5, worlds(1, 2)),
        (N_CLAIM, EVERY),
    ),
    refuted(
        "scan-results-as-footprints",
        "If checkpoints alone have N, and results are footprints, a scan finds all open windows.",
        system(all_given, WindowCount.FOOTPRINTS),
        (EXACT, 7, worlds(3, 4)),
        (N_CLAIM, EVERY),
    ),
    refuted(
        "scan-by-key",
        "If a record has the key of its window alone, a scan finds all windows that overlap.",
        system(without(NAMED)),
        (STOPS, 5, worlds(2, 2)),
        ("Windows that overlap are no additional challenge.", NAMED),
    ),
    refuted(
        "scan-out-of-order",
        "If a G_check may be stamped below the newest record, a scan reads all results after T.",
        system(without(IN_ORDER)),
        (WITHIN, 5, worlds(2, 3, 2)),
        ("When windows are checkpointed does not affect correctness.", IN_ORDER),
    ),
    refuted(
        "trim-log-acknowledged",
        "A log may let go of all that downstream has acknowledged.",
        system(all_given, trims=LogTrim.ACKNOWLEDGED),
        (HELD, 5, worlds(2, 3)),
        ("Results are preserved until all nodes downstream have acknowledged them.", EXTENT),
    ),
    refuted(
        "trim-input-processed",
        "An operator may acknowledge what it has processed.",
        system(without(STORED)),
        (INPUTS, 1, worlds(1, 1, 2)),
    ),
)
