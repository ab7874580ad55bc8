"""Does the first match of the windows kept lie in the first of them, as III-B4 takes for granted?

Rule of this file: it says for which engines it does (any number of events and windows, any windows
that open in order, any engine that a relation simulates).  Which engines these are is the business
of overtaking.

The transition system is in EPR: one function, from windows to engine states; an engine's steps are
a relation.

What a window's end alone completes (a negated last step) is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from itertools import product
from operator import ge, le
from typing import Any

import z3

from model.cep.operator import Operator, OperatorState, Window
from model.cep.patterns import Pattern, Strategy
from model.core import Outcome
from model.events import Body
from model.protocols.upstream_backup.nodes import OperatorNode
from model.world import Action, Deliver, System, World
from proofs.lemmas.upstream_backup.reference import iterations
from proofs.prove.conformance import Abstraction, Path, Paths
from proofs.prove.lemma import Given, Lemma
from proofs.prove.orders import Order
from proofs.prove.query import Query
from proofs.prove.structure import Structure
from proofs.prove.transition import Moment, Symbol, Transition, TransitionSystem, inductive, reaches

# --- the transition system: all windows, one engine ------------------------------------------
WINDOW = z3.DeclareSort("window")
STATE = z3.DeclareSort("engine state")
EVENT = z3.DeclareSort("event")
BOOL = z3.BoolSort()

windows = Order(WINDOW)
older = windows.less
begin = z3.Const("begin", STATE)
goes = z3.Function("goes", STATE, EVENT, STATE, BOOL)
matches = z3.Function("matches", STATE, EVENT, BOOL)
waiting = z3.Function("waiting", STATE, BOOL)
above = z3.Function("above", STATE, STATE, BOOL)

v, w = z3.Consts("v w", WINDOW)
o, o_, y, y_ = z3.Consts("o o_next y y_next", STATE)
e = z3.Const("e", EVENT)

START = "a window that waits is at least as far as one that begins"
KEPT = "an event that completes nothing keeps the order"
TOO = "who is at least as far completes a match too"


def axioms(given: Given) -> dict[str, Any]:
    """waiting: reachable before any match; above: at least as far."""
    return {
        "windows are in a total order": windows.axiom,
        "waiting: at the beginning": waiting(begin),
        "waiting: until a match": z3.ForAll(
            [o, e, o_],
            z3.Implies(z3.And(waiting(o), goes(o, e, o_), z3.Not(matches(o, e))), waiting(o_)),
        ),
        START: given(START, z3.ForAll([o], z3.Implies(waiting(o), above(o, begin)))),
        KEPT: given(
            KEPT,
            z3.ForAll(
                [o, y, e, o_, y_],
                z3.Implies(
                    z3.And(above(o, y), goes(o, e, o_), goes(y, e, y_), z3.Not(matches(o, e))),
                    above(o_, y_),
                ),
            ),
        ),
        TOO: given(
            TOO,
            z3.ForAll([o, y, e], z3.Implies(z3.And(above(o, y), matches(y, e)), matches(o, e))),
        ),
    }


SYMBOLS = (
    Symbol("opened", WINDOW, BOOL),
    Symbol("closed", WINDOW, BOOL),
    Symbol("inner", WINDOW, STATE),
    Symbol("matched", WINDOW, BOOL),
    Symbol("ahead", WINDOW, WINDOW, BOOL),  # the first match of v came before that of w
    Symbol("produced", BOOL),  # theta, the newest match acknowledged
    Symbol("first", WINDOW),  # the first window kept
    Symbol("latest", EVENT),
)


def is_open(s: Moment, window: Any) -> Any:
    return z3.And(s.opened(window), z3.Not(s.closed(window)))


def started(s: Moment) -> Any:
    return z3.And(
        z3.Not(s.produced),
        z3.ForAll([v], z3.And(*(z3.Not(p(v)) for p in (s.opened, s.closed, s.matched)))),
        z3.ForAll([v, w], z3.Not(s.ahead(v, w))),
    )


class Iteration:
    """The processing of one event: it may open a window, goes to all that are open, and may close
    some."""

    def __init__(self, s: Moment, event: Any, opens: Any, newest: Any) -> None:
        self.s, self.event, self.opens, self.newest = s, event, opens, newest

    def new(self, window: Any) -> Any:
        return z3.And(self.opens, window == self.newest)

    def here(self, window: Any) -> Any:
        return z3.Or(is_open(self.s, window), self.new(window))

    def inner(self, window: Any) -> Any:
        return z3.If(self.new(window), begin, self.s.inner(window))

    def now(self, window: Any) -> Any:
        """It completes a match with this event."""
        return z3.And(self.here(window), matches(self.inner(window), self.event))

    def leads_to(self, t: Moment, given: Given) -> Any:
        s = self.s
        in_order = z3.And(
            z3.Not(s.opened(self.newest)),
            z3.ForAll([w], z3.Implies(s.opened(w), older(w, self.newest))),
        )
        return z3.And(
            t.latest == self.event,
            z3.ForAll([w], t.opened(w) == z3.Or(s.opened(w), self.new(w))),
            z3.Implies(self.opens, given("windows open in order", in_order)),
            z3.ForAll([w], t.matched(w) == z3.Or(s.matched(w), self.now(w))),
            z3.ForAll([w], z3.Implies(z3.Not(self.here(w)), t.inner(w) == s.inner(w))),
            given(
                "an event goes to all open windows",
                z3.ForAll(
                    [w], z3.Implies(self.here(w), goes(self.inner(w), self.event, t.inner(w)))
                ),
            ),
            closing(s, t),
            z3.ForAll(
                [v, w],
                t.ahead(v, w)
                == z3.If(
                    s.matched(w),
                    s.ahead(v, w),
                    z3.And(
                        self.now(w),
                        # Within an iteration matches come oldest window first.
                        z3.Or(s.matched(v), z3.And(self.now(v), older(v, w))),
                    ),
                ),
            ),
        )


def closing(s: Moment, t: Moment) -> Any:
    """Windows stay closed, and only what was opened closes."""
    return z3.ForAll(
        [w],
        z3.And(z3.Implies(s.closed(w), t.closed(w)), z3.Implies(t.closed(w), t.opened(w))),
    )


CHANGED = ("opened", "closed", "inner", "matched", "ahead", "latest")


def kept_windows(given: Given) -> TransitionSystem:
    """The windows of one operator, up to and beyond a match that is acknowledged."""

    def event(s: Moment, t: Moment, what: Any, opens: Any, newest: Any) -> Any:
        return Iteration(s, what, opens, newest).leads_to(t, given)

    def theta(s: Moment, t: Moment, what: Any, opens: Any, newest: Any, theta: Any) -> Any:
        """The replay is to start with theta's window, or with an older one that this event has
        not closed (III-B2: the oldest of them)."""
        iteration = Iteration(s, what, opens, newest)
        of_theta = t.first == theta
        unclosed = z3.And(
            is_open(t, t.first),
            given("no window younger than theta's comes first", older(t.first, theta)),
        )
        return z3.And(
            iteration.leads_to(t, given),
            z3.Not(s.produced),
            iteration.now(theta),
            t.produced,
            z3.Or(of_theta, unclosed),
        )

    params = (("event", EVENT), ("opens", BOOL), ("newest", WINDOW))
    return TransitionSystem(
        name="the windows kept",
        state=SYMBOLS,
        axioms=axioms(given),
        init=started,
        transitions=(
            Transition("windows expire", (), ("closed",), closing),
            Transition("an event", params, CHANGED, event),
            Transition(
                "an event and theta",
                (*params, ("theta", WINDOW)),
                (*CHANGED, "produced", "first"),
                theta,
            ),
        ),
        invariants=INVARIANTS,
    )


def _pairs_of(formula: Callable[[Moment], Any]) -> Callable[[Moment], Any]:
    return lambda s: z3.ForAll([v, w], formula(s))


FIRST = "the first match of the windows kept is in the first of them"
INVARIANTS: dict[str, Callable[[Moment], Any]] = {
    "only opened windows close or match": lambda s: z3.ForAll(
        [v], z3.Implies(z3.Or(s.closed(v), s.matched(v)), s.opened(v))
    ),
    "an open window without a match waits": lambda s: z3.ForAll(
        [v], z3.Implies(z3.And(is_open(s, v), z3.Not(s.matched(v))), waiting(s.inner(v)))
    ),
    "while an older window waits, it is at least as far": _pairs_of(
        lambda s: z3.Implies(
            z3.And(older(v, w), is_open(s, v), is_open(s, w), z3.Not(s.matched(v))),
            above(s.inner(v), s.inner(w)),
        )
    ),
    "while a window is open, no younger one matches first": _pairs_of(
        lambda s: z3.Implies(
            z3.And(older(v, w), is_open(s, v), s.matched(w)), z3.And(s.matched(v), s.ahead(v, w))
        )
    ),
    FIRST: lambda s: z3.Implies(
        s.produced,
        z3.And(
            s.matched(s.first),
            z3.ForAll(
                [w],
                z3.Implies(z3.And(older(s.first, w), s.matched(w)), s.ahead(s.first, w)),
            ),
        ),
    ),
}


def prove_order(given: Given) -> Iterable[Query]:
    system = kept_windows(given)
    yield from inductive(system)
    yield reaches(
        system,
        "a younger window than the first one kept matches, too",
        lambda s: z3.Exists([w], z3.And(s.produced, older(s.first, w), s.matched(w))),
        2,
    )


# --- what the operator does ------------------------------------------------------------------
@cache
def _rigid(steps: int, oldest: int, newest: int) -> Structure:
    """An engine that waits is in the state of its progress; an event is told by which steps it
    satisfies."""
    return Structure(
        {
            "window": range(oldest, newest + 1),
            "engine state": range(steps),
            "event": tuple(product((False, True), repeat=steps)),
        },
        {
            "le": le,
            "begin": 0,
            "goes": lambda state, event, to: to == (state + event[state]) % steps,
            "matches": lambda state, event: event[state] and state + 1 == steps,
            "waiting": lambda _state: True,
            "above": ge,
        },
    )


def _covered(spec: Any) -> bool:
    """Sequences under NEXT, whose state is the progress of one run.  Serial processing feeds a
    window when it closes, and what a negation at the end completes is left out."""
    return (
        isinstance(spec, Operator)
        and spec.parallel
        and isinstance(spec.engine, Pattern)
        and spec.engine.strategy is Strategy.NEXT
        and not any(step.negated for step in spec.engine.steps)
    )


def _paths(system: System) -> Paths:
    """The events that a covered operator takes, one by one; each push is looked at once."""
    sites = {name: site for name, site in system.sites.items() if _covered(site.spec)}
    seen: set[tuple[Any, ...]] = set()

    def paths(before: World, action: Action, _: World) -> Iterable[Path]:
        if not isinstance(action, Deliver) or action.node not in sites:
            return
        node = before.nodes[system.node_at[action.node]].state
        if not isinstance(node, OperatorNode):
            return
        message = before.channels[system.channel_at[action.sender, action.node]][0]
        for iteration in iterations(sites[action.node], node, action.sender, message):
            key = (action.node, iteration.before, iteration.edge, iteration.event)
            if key not in seen:
                seen.add(key)
                yield from _iteration(
                    iteration.site.spec, iteration.before, iteration.event.body, iteration.after
                )

    return paths


def _iteration(
    spec: Operator, before: OperatorState, body: Body, after: OperatorState
) -> Iterable[Path]:
    """One push: with what was acknowledged before it, and with each match that it produces."""
    windows = [*after.closed, *after.open]
    if not windows:
        return
    assert isinstance(spec.engine, Pattern)
    steps = spec.engine.positive
    rigid = _rigid(len(steps), windows[0].number, windows[-1].number)
    event = tuple(step.predicate.holds(body) for step in steps)
    expired = {w.number for w in before.open if spec.splitter.expires(w.extent, body)}
    pending = [produced.retained for produced in before.pending]
    new = [produced.retained for produced in after.pending][len(pending) :]
    for produced, first in {(False, windows[0].number), *((True, first) for first in pending)}:
        yield _path(rigid, (before, after), event, expired, (produced, first), (produced, first))
    for first in {*new}:
        unsaid = (False, windows[0].number)
        yield _path(rigid, (before, after), event, expired, unsaid, (True, first))


def _path(
    rigid: Structure,
    states: tuple[OperatorState, OperatorState],
    event: tuple[bool, ...],
    expired: set[int],
    said: tuple[bool, int],
    says: tuple[bool, int],
) -> Path:
    numbers = rigid.sorts["window"]
    idle = (False,) * len(event)
    before = _seen(states[0], numbers, idle, said)
    closed = {number: before["closed"][number] or number in expired for number in numbers}
    after = _seen(states[1], numbers, event, says)
    # An operator that has dropped all its windows looks like one that has begun.
    initial = not said[0] and not any(before["opened"].values())
    return Path(rigid, (before, {**before, "closed": closed}, after), initial)


def _seen(
    state: OperatorState, numbers: Iterable[int], event: tuple[bool, ...], said: tuple[bool, int]
) -> dict[str, Any]:
    """The windows as the symbols have them; what an operator has dropped is not looked at."""
    windows: dict[int, Window] = {window.number: window for window in (*state.closed, *state.open)}
    still = {window.number for window in state.open}
    first = {number: window.first for number, window in windows.items()}

    def ahead(one: int, other: int) -> bool:
        before, after = first.get(one), first.get(other)
        return before is not None and after is not None and before < after

    return {
        "opened": {number: number in windows for number in numbers},
        "closed": {number: number in windows and number not in still for number in numbers},
        "inner": {
            number: windows[number].state[0].done
            if number in windows and windows[number].state
            else 0
            for number in numbers
        },
        "matched": {number: first.get(number) is not None for number in numbers},
        "ahead": {(one, other): ahead(one, other) for one in numbers for other in numbers},
        "produced": said[0],
        "first": said[1],
        "latest": event,
    }


# --- lemmas ----------------------------------------------------------------------------------
LEMMAS = (
    Lemma(
        name="first-window-kept",
        statement=(
            "For all engines with an order in which a window that waits for its first match is "
            "at least as far as any younger one: when a match is acknowledged, the first match "
            "of the windows kept is in the first of them, so that its y numbers that window."
        ),
        section="Lima et al., III-B4",
        expect=Outcome.HOLDS,
        build=prove_order,
    ),
)

ABSTRACTIONS = (Abstraction("the windows kept, sequences under NEXT", kept_windows, _paths),)
