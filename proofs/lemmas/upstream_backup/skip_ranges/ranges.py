"""Skip ranges and SN_trim: one of each an input edge is right; one for all if the merge follows the
numbers.

Rule of this file: it knows numbers, ranges and acknowledgements, and not why an event is skipped;
that a replay needs none of the events skipped is another file's (replay).  The model, seen as this
system, is in abstraction; the failures of one range for all edges, in counterexamples.

An event is needed as long as some window kept needs it in a replay, or as long as nobody knows
whether one does because it has not been processed: no such event may ever be deleted.  An array
of ranges is seen as the numbers that it covers: those of its complete ranges (made) and of the run
that may still grow (from lo to hi).  The events that an acknowledgement trims count as a range,
too.  Upstream may delete the events that an acknowledgement covers at any later time, whether or
not they have been emitted by then: the lemma holds whenever events are emitted.

The needed events after a crash are a hypothesis here: replays skip the events that the original run
has skipped (replay), and a savepoint is lost only with the ranges that travel with it (savepoints,
acks).

Everything is in EPR: functions go from events to edges to arrays to numbers and never back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import z3
from z3 import And, Const, DeclareSort, Exists, ForAll, Function, If, Implies, Not, Or

from model.evidence import Outcome
from proofs.prove.lemma import Given, Lemma
from proofs.prove.orders import TotalOrder
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Axioms, Symbol
from proofs.prove.transition import Transition, TransitionSystem, inductive, reaches

EVENT, EDGE, ARRAY = DeclareSort("event"), DeclareSort("edge"), DeclareSort("array")
NUMBER = DeclareSort("number")
BOOL = z3.BoolSort()

# --- what never changes ----------------------------------------------------------------------
edge = Function("edge", EVENT, EDGE)
array = Function("array", EDGE, ARRAY)
sn = Function("sn", EVENT, NUMBER)
numbers = TotalOrder(NUMBER)
le, before = numbers.le, numbers.less
nothing = Const("nothing", NUMBER)

e, f, q = z3.Consts("e f q", EVENT)
g, h = z3.Consts("g h", EDGE)
a = Const("a", ARRAY)
n = Const("n", NUMBER)


NUMBERS = {
    "numbers are in a total order": numbers.axiom,
    "nothing comes before all events": ForAll([e], before(nothing, sn(e))),
}

SYMBOLS = (
    Symbol("needed", EVENT, BOOL),
    Symbol("passed", EVENT, BOOL),  # by this incarnation of the operator: processed or left out
    Symbol("running", ARRAY, BOOL),
    Symbol("lo", ARRAY, NUMBER),
    Symbol("hi", ARRAY, NUMBER),
    Symbol("made", ARRAY, NUMBER, BOOL),
    Symbol("trim", EDGE, NUMBER),
    Symbol("sent", EDGE, NUMBER, BOOL),  # covered by acknowledgements on their way
    Symbol("deleted", EVENT, BOOL),  # upstream
)
RUN = ("running", "lo", "hi")


def in_run(s: AtTime, which: Any, number: Any) -> Any:
    return And(s.running(which), le(s.lo(which), number), le(number, s.hi(which)))


def began(s: AtTime) -> Any:
    untouched = ForAll([e], And(Not(s.passed(e)), Not(s.deleted(e))))
    empty = And(ForAll([a], Not(s.running(a))), ForAll([a, n], Not(s.made(a, n))))
    return And(untouched, empty, ForAll([g, n], Not(s.sent(g, n))))


def same_run(s: AtTime, t: AtTime) -> Any:
    return And(s.running(a), t.lo(a) == s.lo(a), t.hi(a) == s.hi(a))


def forgotten(s: AtTime, t: AtTime) -> Any:
    """Ranges, or some of them; no array has others."""
    made = ForAll([a, n], Implies(t.made(a, n), s.made(a, n)))
    return And(made, ForAll([a], Implies(t.running(a), same_run(s, t))))


def ends_run(s: AtTime, event: Any) -> Any:
    """A run that is out of order does not cover its own ends."""
    number, which = sn(event), array(edge(event))
    return And(s.running(which), Or(number == s.lo(which), number == s.hi(which)))


def covered(s: AtTime, event: Any) -> Any:
    """A range covers the event, wherever the range is, or the event is deleted."""
    number, which = sn(event), array(edge(event))
    ranges = (s.made(which, number), in_run(s, which, number), s.sent(edge(event), number))
    return Or(s.deleted(event), ends_run(s, event), *ranges)


def fewer(s: AtTime, t: AtTime) -> Any:
    return ForAll([f], Implies(t.needed(f), s.needed(f)))


# --- transitions -----------------------------------------------------------------------------
SKIPPED = "only events that no window kept needs are skipped"
ENDS = "a kept event ends the run"
OWN = "a range is applied to the edge of its events"
TRIM = "no window kept needs a processed event up to SN_trim"
TRIMS = "every edge has an SN_trim of its own, up to which all its events have been processed"
START = "a replay starts at one place of the merge, and nothing before it is needed"
NEVER = "windows kept are only dropped, so that no more is needed"
TOGETHER = "after a crash nothing is needed again that is deleted or covered by a range"
ORDER = "an edge's events are processed in the order of their numbers, deleted ones left out"
MERGED = "the merge processes all edges' events in the order of their numbers"
ARRAYS = "every edge has an array of its own"
UNIQUE = "no two events of an edge have one number"
DISTINCT = "no two events of any edges have one number"


def of_one_edge(one: Any, other: Any) -> Any:
    return edge(one) == edge(other)


def of_any_edge(_one: Any, _other: Any) -> Any:
    return z3.BoolVal(True)


Same: TypeAlias = Callable[[Any, Any], Any]


class EdgeTurn(NamedTuple):
    """When an event may be processed: in order among the events that are the `same`."""

    name: str
    same: Same

    def comes(self, s: AtTime, event: Any) -> Any:
        """Events with a smaller number are processed or gone, and no other events are."""
        others = And(
            Implies(before(sn(f), sn(event)), Or(s.passed(f), s.deleted(f))),
            Implies(before(sn(event), sn(f)), Not(s.passed(f))),
        )
        return And(Not(s.passed(event)), ForAll([f], Implies(self.same(f, event), others)))

    def passes(self, given: Given, s: AtTime, t: AtTime, event: Any) -> Any:
        done = And(edge(f) == edge(event), le(sn(f), sn(event)))
        return And(
            given(self.name, self.comes(s, event)),
            ForAll([f], t.passed(f) == Or(s.passed(f), done)),
        )


Trims: TypeAlias = Callable[[AtTime, AtTime], Any]


def trims_per_edge(given: Given, s: AtTime, t: AtTime) -> Any:
    up_to = le(sn(f), t.trim(edge(f)))
    return given(TRIMS, ForAll([f], Implies(up_to, s.passed(f))))


def one_trim(s: AtTime, t: AtTime) -> Any:
    """SN_trim as published: the number of the event before the replay start, of any edge."""
    processed = And(s.passed(q), ForAll([g], t.trim(g) == sn(q)))
    return Or(Exists([q], processed), ForAll([g], t.trim(g) == nothing))


def in_order(s: AtTime) -> Any:
    """No event that is needed and to come is before one that has been passed, on any edge."""
    earlier = And(s.passed(f), before(sn(e), sn(f)))
    return ForAll([e, f], Implies(earlier, Or(s.passed(e), Not(s.needed(e)))))


@dataclass(frozen=True)
class ArraySteps:
    """The steps of an operator with arrays of ranges, if these hypotheses hold."""

    given: Given
    turn: EdgeTurn
    trims: Trims
    starts: Callable[[AtTime], Any]

    def skip(self, s: AtTime, t: AtTime, event: Any) -> Any:
        here = array(edge(event))
        return And(
            self.turn.passes(self.given, s, t, event),
            self.given(SKIPPED, Not(t.needed(event))),
            ForAll([f], Implies(f != event, t.needed(f) == s.needed(f))),
            ForAll([a], t.running(a) == Or(s.running(a), a == here)),
            ForAll([a], t.lo(a) == If(And(a == here, Not(s.running(a))), sn(event), s.lo(a))),
            ForAll([a], t.hi(a) == If(a == here, sn(event), s.hi(a))),
        )

    def keep(self, s: AtTime, t: AtTime, event: Any) -> Any:
        here = array(edge(event))
        return And(
            self.turn.passes(self.given, s, t, event),
            ForAll([a, n], t.made(a, n) == Or(s.made(a, n), And(a == here, in_run(s, a, n)))),
            self.given(ENDS, Not(t.running(here))),
            ForAll([a], Implies(t.running(a), same_run(s, t))),
            ForAll([a], Implies(And(s.running(a), a != here), t.running(a))),
        )

    def save(self, s: AtTime, t: AtTime) -> Any:
        """Windows may be dropped, and the covered events are reported to all edges of the array; a
        reported range may be forgotten."""
        up_to, trimmed = le(sn(f), t.trim(edge(f))), le(n, t.trim(g))
        covered_ = Or(s.made(array(g), n), in_run(s, array(g), n))
        return And(
            self.given(NEVER, fewer(s, t)),
            self.trims(s, t),
            self.given(TRIM, ForAll([f], Implies(And(s.passed(f), up_to), Not(t.needed(f))))),
            ForAll([g, n], Implies(t.sent(g, n), Or(s.sent(g, n), trimmed, covered_))),
            forgotten(s, t),
        )

    def receive(self, s: AtTime, t: AtTime, via: Any) -> Any:
        """Upstream of an edge deletes the covered events, or some of them; or the message is
        lost."""
        reported = And(self.given(OWN, edge(f) == via), s.sent(via, sn(f)))
        return And(
            ForAll([g, n], Implies(t.sent(g, n), s.sent(g, n))),
            ForAll([f], Implies(s.deleted(f), t.deleted(f))),
            ForAll([f], Implies(t.deleted(f), Or(s.deleted(f), reported))),
        )

    def crash(self, s: AtTime, t: AtTime) -> Any:
        """The operator is restored: it forgets its ranges and processes the passed events again.
        Or an operator upstream is: it emits the deleted events again.  Messages may be lost."""
        again = Or(s.needed(f), Not(covered(t, f)))
        return And(
            self.given(TOGETHER, ForAll([f], Implies(t.needed(f), again))),
            ForAll([f], Implies(t.passed(f), s.passed(f))),
            self.starts(t),
            ForAll([f], Implies(t.deleted(f), s.deleted(f))),
            ForAll([g, n], Implies(t.sent(g, n), s.sent(g, n))),
            forgotten(s, t),
        )


def arrays(
    given: Given,
    name: str,
    turn: EdgeTurn,
    trims: Trims,
    axioms: Axioms,
    starts: Callable[[AtTime], Any] = lambda _: z3.BoolVal(True),
) -> TransitionSystem:
    """Arrays of ranges, each of one or more edges.

    turn: when events are processed.  trims: the numbers that an SN_trim may be.  starts: where
    replays start.
    """
    steps = ArraySteps(given, turn, trims, starts)

    one = (("e", EVENT),)
    return TransitionSystem(
        name=name,
        state=SYMBOLS,
        axioms={**NUMBERS, **axioms},
        init=began,
        transitions=(
            Transition("skip", one, ("passed", "needed", *RUN), steps.skip),
            Transition("keep", one, ("passed", "made", *RUN), steps.keep),
            Transition("save", (), ("needed", "trim", "made", "sent", *RUN), steps.save),
            Transition("receive", (("edge", EDGE),), ("sent", "deleted"), steps.receive),
            Transition("crash", (), tuple(symbol.name for symbol in SYMBOLS), steps.crash),
        ),
        invariants=INVARIANTS,
    )


IN_TURN = EdgeTurn(ORDER, of_one_edge)


# --- invariants ------------------------------------------------------------------------------
LAST = "the run ends with the event processed last"
DELETED = "no event that is needed, or not yet processed, is deleted"
number, its = sn(e), array(edge(e))


def _not_needed(s: AtTime, which: Any) -> Any:
    return ForAll([e], Implies(which, Not(s.needed(e))))


INVARIANTS: dict[str, Callable[[AtTime], Any]] = {
    DELETED: lambda s: _not_needed(s, s.deleted(e)),
    "no range on its way covers an event that is needed": lambda s: _not_needed(
        s, s.sent(edge(e), number)
    ),
    "no complete range covers an event that is needed": lambda s: _not_needed(
        s, s.made(its, number)
    ),
    "the run covers no event that is needed": lambda s: _not_needed(s, in_run(s, its, number)),
    LAST: lambda s: ForAll([e], Implies(And(s.running(its), s.passed(e)), le(number, s.hi(its)))),
}


# --- proofs ----------------------------------------------------------------------------------
def same_number(same: Same) -> Any:
    return ForAll([e, f], Implies(And(same(e, f), sn(e) == sn(f)), e == f))


def per_edge(given: Given) -> TransitionSystem:
    own = ForAll([g, h], Implies(array(g) == array(h), g == h))
    axioms = {ARRAYS: given(ARRAYS, own), UNIQUE: given(UNIQUE, same_number(of_one_edge))}
    trims = partial(trims_per_edge, given)
    return arrays(given, "an array of skip ranges an edge", IN_TURN, trims, axioms)


def coalesced_in_order(given: Given) -> TransitionSystem:
    axioms = {DISTINCT: given(DISTINCT, same_number(of_any_edge))}
    merged = EdgeTurn(MERGED, of_any_edge)

    def starts(s: AtTime) -> Any:
        return given(START, in_order(s))

    system = arrays(given, "one array, one order", merged, one_trim, axioms, starts)
    return replace(system, invariants={**system.invariants, "all comes in order": in_order})


def prove(
    system: Callable[[Given], TransitionSystem], edges: int, given: Given
) -> Iterable[SolverQuery]:
    """edges: of the three events of which the one in the middle can be deleted."""
    proved = system(given)
    yield from inductive(proved)
    x, y, z = z3.Consts("x y z", EVENT)
    apart = And(edge(x) == edge(z), (edge(y) == edge(x)) == (edges == 1))
    among = And(before(sn(x), sn(y)), before(sn(y), sn(z)), apart)

    def goal(s: AtTime) -> Any:
        return And(s.needed(x), s.deleted(y), s.needed(z), s.passed(x), among)

    sizes = {EVENT: 3, EDGE: 2, ARRAY: 2, NUMBER: 4}
    yield reaches(proved, "an event is deleted between two that are needed", goal, 4, sizes)


# --- lemmas ----------------------------------------------------------------------------------
LEMMAS = (
    Lemma(
        "ranges-per-edge",
        "For any number of input edges and events, any order of numbers and any delays of "
        "acknowledgements: if every edge has skip ranges and an SN_trim of its own, no event that "
        "is needed or not yet processed is deleted upstream, also when operators crash.",
        "Lima et al., III-A",
        Outcome.HOLDS,
        partial(prove, per_edge, 1),
    ),
    Lemma(
        "ranges-coalesced-ordered",
        "For any number of input edges and events: one array of skip ranges and one SN_trim are "
        "right if no two events have one number and the merge processes all edges' events in the "
        "order of their numbers, so that no event with a smaller number comes later.",
        "Lima et al., III-A",
        Outcome.HOLDS,
        partial(prove, coalesced_in_order, 2),
    ),
)
