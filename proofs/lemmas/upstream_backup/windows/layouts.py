"""Windows twice: in the original run, and in a replay without the events that were skipped.

Rule of this file: splitters alone, for any size, slide and stream.  replay takes it as given that
windows open and close again where they did; here it is proved, and of what it depends.

Both runs go side by side from the replay start on.  The layout of a savepoint is what the original
run *will* have done up to the frontier: it never changes, and the original run is bound to do it.
The fragment: relations over one order of events, constants, and functions from events to integers,
over which nothing is quantified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import z3
from z3 import And, BoolVal, Const, Exists, ForAll, Function, If, Implies, Int, Not, Or

from model.evidence import Outcome
from proofs.lemmas.upstream_backup.windows import splits
from proofs.lemmas.upstream_backup.windows.splits import AGAIN, ORIGINAL, SplitIteration
from proofs.prove.lemma import Given, Lemma
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Symbol
from proofs.prove.transition import Transition, TransitionSystem, inductive, reaches

EVENT, BOOL, INT = splits.EVENT, splits.BOOL, splits.INT
le, before = splits.le, splits.before
e, f, w, v = splits.e, splits.f, splits.w, splits.v

first, frontier = Const("first", EVENT), Const("frontier", EVENT)
"""first: the opener of the first window kept, which is the replay start."""
layout = z3.Bool("layout")
"""Does it travel with the savepoint?  Else the replay asks the splitter from its start on."""
listed, drawn = Function("listed", EVENT, BOOL), Function("drawn", EVENT, INT)
drawn_since = Int("drawn_since")

START = "the replay starts with the opener of the first window kept"
FUNCTION = "the splitter is a function of the events"
OPENERS, CLOSERS = "opening events are kept", "closing events are kept"
UNCOUNTED = "the splitter counts no events"
FRESH = "an event that opens a window also opens one if it is the first"
UNEXPIRED = "no window expires because of its count"
OPENED = "the layout says which events opened windows"
FILLED = "the layout says which events filled windows"
HELD = "the layout says how many events each window held"
SINCE = "the layout says how many events have passed since the newest window opened"
BEYOND = "no event beyond the frontier is left out"


def kept(window: Any) -> Any:
    return le(first, window)


def _nothing(run: Any) -> Any:
    return And(Not(run.begun), ForAll([w], And(Not(run.opened(w)), Not(run.open(w)))))


def _function(again: SplitIteration) -> Any:
    """The splitter says the same of an event in both runs, as it is asked in the replay."""
    newest = again.was.newest
    asked = zip(again.answers(ORIGINAL, newest), again.answers(AGAIN, newest), strict=True)
    opens, *ends = (one == other for one, other in asked)
    same = ORIGINAL.fresh(again.event) == AGAIN.fresh(again.event)
    return And(same, opens, ForAll([w], And(*ends)))


@dataclass(frozen=True)
class WindowsTwice:
    """with_layout: is there one?  None: there may be or not; hypotheses are asked accordingly."""

    given: Given
    with_layout: bool | None = None

    def _if(self, there_is_one: bool, hypothesis: str, formula: Any) -> Any:
        """A hypothesis for the case that there is a layout, or that there is none."""
        if self.with_layout is not None and self.with_layout is not there_is_one:
            return BoolVal(True)
        return Implies(layout == there_is_one, self.given(hypothesis, formula))

    # --- an event in either run --------------------------------------------------------------
    def _original(self, s: AtTime, t: AtTime, event: Any) -> tuple[SplitIteration, Any]:
        """The iteration of the original run, and that the layout will have described it."""
        iteration = SplitIteration(s, ORIGINAL, event)
        fills = ForAll([w], Implies(kept(w), splits.closer(event, w) == iteration.filled(w)))
        says_so = And(
            self._if(True, OPENED, listed(event) == iteration.opens),
            self._if(True, FILLED, fills),
        )
        follows = And(
            splits.events.follows(event, s.done, t.done),
            Implies(event == first, iteration.opens),
            iteration.leads_to(t),
            Implies(And(kept(event), le(event, frontier)), says_so),
        )
        return iteration, follows

    def _replayed(self, s: AtTime, event: Any) -> SplitIteration:
        """While there is a script it says what opens, in order, and what is filled."""
        older = And(listed(v), kept(v), before(v, event))
        is_next = And(listed(event), ForAll([v], Implies(older, s.opened_again(v))))
        return SplitIteration(s, AGAIN, event, (s.scripted, is_next))

    def _counts(self, one: SplitIteration, again: SplitIteration) -> Any:
        """The splitter may not depend on counts, which differ in the replay."""
        newest = one.was.newest
        counted, recounted = one.answers(ORIGINAL, newest), again.answers(ORIGINAL, newest)
        opens, expires, fills = (x == y for x, y in zip(counted, recounted, strict=True))
        uncounted = And(ForAll([w], expires), ForAll([w], fills), opens)
        return And(
            self._if(True, UNEXPIRED, ForAll([w], expires)),
            self._if(False, UNCOUNTED, uncounted),
            self._if(False, FRESH, Implies(counted[0], ORIGINAL.fresh(one.event))),
        )

    # --- transitions -------------------------------------------------------------------------
    def alone(self, s: AtTime, t: AtTime, event: Any) -> Any:
        """The original run processes an event before the replay start."""
        _, original = self._original(s, t, event)
        return And(Not(s.replaying), original)

    def restore(self, s: AtTime, t: AtTime) -> Any:
        return And(
            Not(s.replaying),
            t.replaying,
            self.given(START, ForAll([f], s.done(f) == before(f, first))),
            _nothing(AGAIN.state(t)),
            Implies(layout, le(first, frontier)),
            t.scripted == layout,
        )

    def process(self, s: AtTime, t: AtTime, event: Any) -> Any:
        """Both runs process the event."""
        iteration, original = self._original(s, t, event)
        again = self._replayed(s, event)
        return And(
            s.replaying,
            Implies(s.scripted, le(event, frontier)),
            original,
            again.leads_to(t),
            self.given(FUNCTION, _function(again)),
            self._counts(iteration, again),
        )

    def leave_out(self, s: AtTime, t: AtTime, event: Any) -> Any:
        """The original run alone processes the event: upstream has deleted it since."""
        iteration, original = self._original(s, t, event)
        ends = Or(iteration.expired(w), iteration.filled(w))
        return And(
            s.replaying,
            original,
            self.given(OPENERS, Not(iteration.opens)),
            self.given(CLOSERS, ForAll([w], Implies(kept(w), Not(ends)))),
            self._if(True, BEYOND, le(event, frontier)),
        )

    def leave_script(self, s: AtTime, t: AtTime) -> Any:
        """The next event is beyond the frontier: the splitter counts again, from the layout on."""
        counts = ForAll([w], Implies(And(kept(w), s.open(w)), drawn(w) == s.held(w)))
        return And(
            s.scripted,
            s.done(frontier),
            self._if(True, HELD, counts),
            self._if(True, SINCE, drawn_since == s.since),
            ForAll([w], Implies(s.open_again(w), t.held_again(w) == drawn(w))),
            t.since_again == drawn_since,
            Not(t.scripted),
        )

    def init(self, s: AtTime) -> Any:
        none_done = ForAll([f], Not(s.done(f)))
        return And(Not(s.replaying), Not(s.scripted), none_done, _nothing(ORIGINAL.state(s)))

    def system(self) -> TransitionSystem:
        one, counts = (("event", EVENT),), ("held_again", "since_again", "scripted")
        mine, others = ("done", *ORIGINAL.names), AGAIN.names
        cases = {None: {}, True: {"layout": layout}, False: {"no layout": Not(layout)}}
        restored = ("replaying", "scripted", *others)
        return TransitionSystem(
            name="windows twice",
            state=(
                Symbol("done", EVENT, BOOL),
                *ORIGINAL.symbols,
                Symbol("replaying", BOOL),
                Symbol("scripted", BOOL),
                *AGAIN.symbols,
            ),
            axioms={"events are in order": splits.events.axiom} | cases[self.with_layout],
            init=self.init,
            transitions=(
                Transition("process", one, (*mine, *others), self.process),
                Transition("leave out", one, mine, self.leave_out),
                Transition("restore", (), restored, self.restore),
                Transition("before the replay start", one, mine, self.alone),
                Transition("leave the layout", (), counts, self.leave_script),
            ),
            invariants=INVARIANTS,
        )


# --- invariants ------------------------------------------------------------------------------
def _in_both(s: AtTime, claim: Any) -> Any:
    return ForAll([w], Implies(And(s.replaying, kept(w)), claim))


def _no_other(s: AtTime) -> Any:
    nowhere = And(Not(s.opened_again(w)), Not(s.open_again(w)))
    return ForAll([w], Implies(And(s.replaying, Not(kept(w))), nowhere))


def _same_newest(s: AtTime) -> Any:
    same = Implies(s.begun_again, And(s.begun, s.newest_again == s.newest))
    return Implies(s.replaying, And(s.begun_again == s.done(first), same))


def _lists(s: AtTime) -> Any:
    scripted = And(s.scripted, kept(w), s.done(w))
    lists = ForAll([w], Implies(scripted, listed(w) == s.opened(w)))
    return Implies(And(layout, s.replaying), lists)


def _followed(s: AtTime) -> Any:
    behind = ForAll([e], Implies(s.done(e), le(e, frontier)))
    followed = And(le(first, frontier), If(s.scripted, behind, s.done(frontier)))
    return Implies(And(layout, s.replaying), followed)


def _counts_agree(s: AtTime) -> Any:
    held = ForAll([w], Implies(And(kept(w), s.open(w)), s.held_again(w) == s.held(w)))
    agree = Or(s.scripted, And(s.since_again == s.since, held))
    return Implies(And(layout, s.replaying), agree)


INVARIANTS: dict[str, Callable[[AtTime], Any]] = {
    "windows open again where they did": lambda s: _in_both(s, s.opened_again(w) == s.opened(w)),
    "windows close again where they did": lambda s: _in_both(s, s.open_again(w) == s.open(w)),
    "no other window is in the replay": _no_other,
    "what is done is a prefix": lambda s: splits.events.prefix(s.done),
    "windows open with their openers": lambda s: ForAll(
        [w], And(Implies(s.open(w), s.opened(w)), Implies(s.opened(w), s.done(w)))
    ),
    "the replay has begun at the replay start": lambda s: Implies(
        s.replaying, ForAll([e], Implies(before(e, first), s.done(e)))
    ),
    "the newest window is the same": _same_newest,
    "there is a script only if there is a layout": lambda s: Implies(
        s.scripted, And(layout, s.replaying)
    ),
    "the layout lists what opened": _lists,
    "the layout is followed up to the frontier": _followed,
    "beyond the frontier counts agree": _counts_agree,
}


# --- lemmas ----------------------------------------------------------------------------------
def _left_out(s: AtTime) -> Any:
    """Since the newest window opened, the original run has seen more than the replay."""
    return And(s.replaying, s.begun_again, s.since_again < s.since)


def _later(s: AtTime) -> Any:
    """Without script, another window than the first opens, and one has closed."""
    closed = Exists([w], And(kept(w), s.opened(w), Not(s.open(w))))
    opens = And(s.newest != first, s.since_again == 1)
    return And(s.replaying, Not(s.scripted), opens, closed)


def prove_layout(with_layout: bool, given: Given) -> Iterable[SolverQuery]:
    system = WindowsTwice(given, with_layout).system()
    yield from inductive(system)
    yield reaches(system, "an event is left out", _left_out, 3, {EVENT: 2})
    later = "after a restart a window opens by the splitter, and another has closed"
    yield reaches(system, later, _later, 4 + with_layout, {EVENT: 3})


SAME = (
    "A replay that starts with the opener of the first window kept, without events that were "
    "skipped and neither opened nor closed a window, opens and closes windows at the same events "
    "as the original run (which the lemmas skipping and numbering take as given)"
)
WITHOUT = (
    f"{SAME}, without any layout in the savepoint, for all splitters that count no events: time "
    "windows, anchored or on a grid, and windows that open with events that satisfy a predicate "
    "and close by time or by another predicate."
)
WITH = (
    f"{SAME}, for all splitters, those that count too, if the savepoint says which events up to "
    "its frontier (the last event consumed) opened and filled windows and what the counts were at "
    "the frontier, and no event beyond it is left out."
)


def proved(name: str, statement: str, section: str, with_layout: bool) -> Lemma:
    build = partial(prove_layout, with_layout)
    logic = "EPR with integers"
    return Lemma(name, statement, section, Outcome.HOLDS, build, fragment=logic)


LEMMAS = (
    proved("layout-time", WITHOUT, "Lima et al., II-B and III-A", False),
    proved("layout-count", WITH, "Lima et al., III-B5", True),
)
