"""One operator twice: the original run and a replay, side by side over one merged input.

Rule of this file: what holds of an operator alone, for any deterministic engine, any splitter, any
length and any number of windows.  What travels between nodes is another file's, and so are numbers
(replay_numbers.py, replay_pairs.py): they are parts of the same product.

The replay starts with the event that opens the first window kept by a savepoint; windows that
opened earlier have been dropped and are not in it.  From there on an event is either processed by
both runs, or by the original run alone if upstream has deleted it because it was skipped.  Nothing
is remembered but the last iteration: that its outcome is the same, in every iteration, is that all
outcomes are.  Serial processing is covered: it is parallel processing with an engine that holds
its matches back until the window closes.

The fragment.  States of the engine are a sort over which no quantifier ranges, so delta, from
states to states, makes no loop and the skipping lemma stays in EPR (openers go from windows to
positions).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import z3
from z3 import And, Const, DeclareSort, Exists, ForAll, Function, If, Implies, Not, Or

from model.core import Outcome
from proofs.prove.lemma import Given, Lemma
from proofs.prove.orders import Order
from proofs.prove.query import Query
from proofs.prove.transition import Moment, Symbol, Transition, TransitionSystem, inductive, reaches

POSITION, WINDOW = DeclareSort("position"), DeclareSort("window")
STATE, OUTPUT = DeclareSort("state"), DeclareSort("output")
BOOL = z3.BoolSort()

# --- what never changes ----------------------------------------------------------------------
positions = Order(POSITION)
le, before = positions.le, positions.less
opener = Function("opener", WINDOW, POSITION)
expires = Function("expires", POSITION, WINDOW, BOOL)
completes = Function("completes", POSITION, WINDOW, BOOL)
opens_again = Function("opens_again", POSITION, WINDOW, BOOL)
expires_again = Function("expires_again", POSITION, WINDOW, BOOL)
completes_again = Function("completes_again", POSITION, WINDOW, BOOL)
first = Const("first", WINDOW)

begin = Const("begin", STATE)
delta = Function("delta", STATE, POSITION, STATE)
gives = Function("gives", STATE, POSITION, OUTPUT)
closing = Function("closing", STATE, OUTPUT)
joined = Function("joined", OUTPUT, OUTPUT, OUTPUT)
none = Const("none", OUTPUT)

p, q = z3.Consts("p q", POSITION)
w, v = z3.Consts("w v", WINDOW)


def kept(window: Any) -> Any:
    return le(opener(first), opener(window))


def opens(position: Any, window: Any) -> Any:
    return opener(window) == position


# --- one run ---------------------------------------------------------------------------------
class Run(NamedTuple):
    """The windows of a run as functions of its state, and where they open and close."""

    open: str
    inner: str
    got: str
    opens: Callable[[Any, Any], Any]
    expires: Any
    completes: Any

    def holds(self, s: Moment, position: Any, window: Any) -> Any:
        """The event is in the window: open before and not expired, or opened by it."""
        stays = And(getattr(s, self.open)(window), Not(self.expires(position, window)))
        return Or(stays, self.opens(position, window))

    def fed(self, s: Moment, position: Any, window: Any) -> Any:
        """The state in which the engine of the window is when it is fed."""
        return If(self.opens(position, window), begin, getattr(s, self.inner)(window))

    def windows(self, s: Moment, t: Moment, position: Any) -> Any:
        here = And(self.holds(s, position, w), Not(self.completes(position, w)))
        return ForAll([w], getattr(t, self.open)(w) == here)

    def engines(self, s: Moment, t: Moment, position: Any) -> Any:
        """What the engines do; the state of a window that is not open does not matter."""
        fed = self.fed(s, position, w)
        after, found = delta(fed, position), gives(fed, position)
        expired = And(getattr(s, self.open)(w), self.expires(position, w))
        output = If(
            expired,
            closing(getattr(s, self.inner)(w)),
            If(
                Not(self.holds(s, position, w)),
                none,
                If(self.completes(position, w), joined(found, closing(after)), found),
            ),
        )
        states = Implies(getattr(t, self.open)(w), getattr(t, self.inner)(w) == after)
        return And(ForAll([w], states), ForAll([w], getattr(t, self.got)(w) == output))


ORIGINAL = Run("open", "inner", "got", opens, expires, completes)
REPLAY = Run("open_again", "again", "got_again", opens_again, expires_again, completes_again)


# --- two runs --------------------------------------------------------------------------------
Relation = Callable[[Moment, Moment, Any], Any]


def _nothing(*_: Any) -> Any:
    return z3.BoolVal(True)


@dataclass(frozen=True)
class Part:
    """A part of the product: symbols and what happens to them.

    originally, again: what each run does in an iteration.  together: what else is known of an
    iteration from the replay start on.  left_out: the replay, without the event.
    """

    original: tuple[Symbol, ...]
    replay: tuple[Symbol, ...] = ()
    axioms: Mapping[str, Any] = field(default_factory=dict)
    init: Callable[[Moment], Any] = _nothing
    originally: Relation = _nothing
    again: Relation = _nothing
    together: Relation = _nothing
    left_out: Relation = _nothing
    restore: Callable[[Moment, Moment], Any] = _nothing
    invariants: Mapping[str, Callable[[Moment], Any]] = field(default_factory=dict)


Guard = Callable[[Given, Moment, Any], Any]


def _next(s: Moment, position: Any) -> Any:
    return And(Not(s.done(position)), ForAll([q], Implies(before(q, position), s.done(q))))


def product(
    given: Given, name: str, parts: Sequence[Part], skipped: Guard | None = None
) -> TransitionSystem:
    """skipped: when an event may be left out, instead of `every_window_skipped`."""
    may_skip = skipped or every_window_skipped
    originals = tuple(symbol for part in parts for symbol in part.original)
    replays = tuple(symbol for part in parts for symbol in part.replay)

    def originally(s: Moment, t: Moment, position: Any) -> Any:
        return And(_next(s, position), *(part.originally(s, t, position) for part in parts))

    def alone(s: Moment, t: Moment, position: Any) -> Any:
        return And(Not(s.replaying), originally(s, t, position))

    def restore(s: Moment, t: Moment) -> Any:
        start = ForAll([q], s.done(q) == before(q, opener(first)))
        return And(
            Not(s.replaying),
            t.replaying,
            given("the replay starts with the event that opens the first window kept", start),
            *(part.restore(s, t) for part in parts),
        )

    def process(s: Moment, t: Moment, position: Any) -> Any:
        return And(
            s.replaying,
            originally(s, t, position),
            *(part.again(s, t, position) for part in parts),
            *(part.together(s, t, position) for part in parts),
        )

    def leave_out(s: Moment, t: Moment, position: Any) -> Any:
        return And(
            s.replaying,
            may_skip(given, s, position),
            originally(s, t, position),
            *(part.left_out(s, t, position) for part in parts),
            *(part.together(s, t, position) for part in parts),
        )

    one = (("p", POSITION),)
    mine, others = _names(originals), _names(replays)
    return TransitionSystem(
        name=name,
        state=(*originals, Symbol("replaying", BOOL), *replays),
        axioms={what: axiom for part in parts for what, axiom in part.axioms.items()},
        init=lambda s: And(Not(s.replaying), *(part.init(s) for part in parts)),
        transitions=(
            Transition("process", one, (*mine, *others), process),
            Transition("leave out", one, (*mine, *others), leave_out),
            Transition("restore", (), ("replaying", *others), restore),
            Transition("before the replay start", one, mine, alone),
        ),
        invariants={what: inv for part in parts for what, inv in part.invariants.items()},
    )


def _names(symbols: Iterable[Symbol]) -> tuple[str, ...]:
    return tuple(symbol.name for symbol in symbols)


# --- which events may be left out ------------------------------------------------------------
OPENERS = "opening events are kept"
CLOSERS = "closing events are kept"


def _placed(given: Given, s: Moment, position: Any) -> Any:
    ends = Or(expires(position, w), completes(position, w))
    concerned = And(kept(w), Or(s.open(w), opens(position, w)))
    return And(
        given(OPENERS, ForAll([w], Not(opens(position, w)))),
        given(CLOSERS, ForAll([w], Implies(concerned, Not(ends)))),
    )


def _holding(s: Moment, position: Any, window: Any) -> Any:
    """The windows that count as open: those kept that hold the event, its own opener included."""
    return And(kept(window), ORIGINAL.holds(s, position, window))


def _unchanged(s: Moment, position: Any, window: Any) -> Any:
    fed = ORIGINAL.fed(s, position, window)
    return delta(fed, position) == fed


def _unmatched(s: Moment, position: Any, window: Any) -> Any:
    return gives(ORIGINAL.fed(s, position, window), position) == none


def every_window_skipped(given: Given, s: Moment, position: Any) -> Any:
    held = _holding(s, position, w)
    return And(
        _placed(given, s, position),
        given(
            "the event changes the state of no open window",
            ForAll([w], Implies(held, _unchanged(s, position, w))),
        ),
        given(
            "the event completes a match in no open window",
            ForAll([w], Implies(held, _unmatched(s, position, w))),
        ),
    )


def one_window_skipped(given: Given, s: Moment, position: Any) -> Any:
    skips = And(_holding(s, position, w), _unchanged(s, position, w), _unmatched(s, position, w))
    return And(_placed(given, s, position), Exists([w], skips))


# --- windows, states, matches ----------------------------------------------------------------
MATCHES = "an iteration completes the same matches in the windows kept"


def runs(given: Given) -> Part:
    def init(s: Moment) -> Any:
        fresh = And(Not(s.open(w)), s.got(w) == none)
        return And(ForAll([p], Not(s.done(p))), ForAll([w], fresh))

    def originally(s: Moment, t: Moment, position: Any) -> Any:
        return And(
            ForAll([q], t.done(q) == Or(q == position, s.done(q))),
            ORIGINAL.windows(s, t, position),
            ORIGINAL.engines(s, t, position),
        )

    def again(s: Moment, t: Moment, position: Any) -> Any:
        engines = REPLAY.engines(s, t, position)
        return And(
            ForAll([q], t.done_again(q) == Or(q == position, s.done_again(q))),
            REPLAY.windows(s, t, position),
            given("the engine is a function of the events in its window", engines),
        )

    def left_out(s: Moment, t: Moment, _: Any) -> Any:
        state = Implies(s.open_again(w), t.again(w) == s.again(w))
        same = And(t.open_again(w) == s.open_again(w), state)
        gone = ForAll([q], t.done_again(q) == s.done_again(q))
        return And(gone, ForAll([w], And(same, t.got_again(w) == none)))

    def restore(_: Moment, t: Moment) -> Any:
        empty = ForAll([w], And(Not(t.open_again(w)), t.got_again(w) == none))
        return And(empty, ForAll([q], Not(t.done_again(q))))

    def ends_again(position: Any, window: Any) -> Any:
        return And(
            expires_again(position, window) == expires(position, window),
            completes_again(position, window) == completes(position, window),
        )

    def in_both(s: Moment) -> Any:
        return And(s.replaying, kept(w))

    return Part(
        original=(
            Symbol("done", POSITION, BOOL),
            Symbol("open", WINDOW, BOOL),
            Symbol("inner", WINDOW, STATE),
            Symbol("got", WINDOW, OUTPUT),
        ),
        replay=(
            Symbol("done_again", POSITION, BOOL),
            Symbol("open_again", WINDOW, BOOL),
            Symbol("again", WINDOW, STATE),
            Symbol("got_again", WINDOW, OUTPUT),
        ),
        axioms={
            "positions are in order": positions.axiom,
            "an event opens one window at most": ForAll(
                [w, v], Implies(opener(w) == opener(v), w == v)
            ),
            "windows open where they did": given(
                "windows open again where they did",
                ForAll([p, w], opens_again(p, w) == opens(p, w)),
            ),
            "windows close where they did": given(
                "windows close again where they did", ForAll([p, w], ends_again(p, w))
            ),
        },
        init=init,
        originally=originally,
        again=again,
        left_out=left_out,
        restore=restore,
        invariants={
            "the same windows kept are open": lambda s: ForAll(
                [w], Implies(in_both(s), s.open_again(w) == s.open(w))
            ),
            "engine states agree": lambda s: ForAll(
                [w], Implies(And(in_both(s), s.open(w)), s.again(w) == s.inner(w))
            ),
            MATCHES: lambda s: ForAll([w], Implies(in_both(s), s.got_again(w) == s.got(w))),
            "dropped windows are not in the replay": lambda s: ForAll(
                [w],
                Implies(
                    And(s.replaying, Not(kept(w))),
                    And(Not(s.open_again(w)), s.got_again(w) == none),
                ),
            ),
            "windows open with their openers": lambda s: ForAll(
                [w], Implies(Not(s.done(opener(w))), And(Not(s.open(w)), s.got(w) == none))
            ),
            "the replay has begun at the replay start": lambda s: Implies(
                s.replaying, ForAll([q], Implies(before(q, opener(first)), s.done(q)))
            ),
        },
    )


def skipping(given: Given, skipped: Guard | None = None) -> TransitionSystem:
    return product(given, "original run and replay", (runs(given),), skipped)


# --- lemmas ----------------------------------------------------------------------------------
SMALL = {POSITION: 4, WINDOW: 2, STATE: 2, OUTPUT: 2}
"""A small world, in which a run can be found."""


def matches_again(s: Moment) -> Any:
    """A window kept matches again, while one that is dropped is open in the original run."""
    matches = And(kept(w), s.got_again(w) != none)
    return And(s.replaying, Exists([w], matches), Exists([w], And(Not(kept(w)), s.open(w))))


def _left_out_before(s: Moment) -> Any:
    gone = And(before(opener(first), q), s.done(q), Not(s.done_again(q)))
    return And(matches_again(s), Exists([q], gone))


def _skipping(given: Given) -> Iterator[Query]:
    system = skipping(given)
    yield from inductive(system)
    yield reaches(
        system, "a window kept matches after an event was left out", _left_out_before, 5, SMALL
    )


SKIPPED = (
    "An event may be deleted upstream if all windows that hold it and are kept by the savepoint "
    "skipped it (delta leaves their states as they are, and completes nothing), and if it opens "
    "no window and closes none of them: a replay without it has the same windows, engine states "
    "and matches."
)
STATES = "EPR but for delta, from states to states; no quantifier ranges over states"

LEMMAS = (
    Lemma(
        name="skipping",
        statement=f"{SKIPPED}  So it is for every deterministic engine, every splitter that opens "
        "and closes windows where it did, any length and any number of windows.  Windows that "
        "are dropped do not matter, and neither do windows that the event closes without being "
        "in them, or that open later; the operator of the model asks all windows open at the "
        "time, which are more than it needs to ask.",
        section="Lima et al., III-A",
        expect=Outcome.HOLDS,
        build=_skipping,
        fragment=STATES,
    ),
)
