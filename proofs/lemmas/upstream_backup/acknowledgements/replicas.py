"""Acknowledgements over a graph: nothing is trimmed that some savepoint still needs.

Rule of this file: it knows the savepoints of each holder and the acknowledged events, and nothing
of the operators' results.  Of a savepoint b of node v it knows trim(b, u), up to where v needs no
event of u any more, and theta(b), up to where v, restored from b, will not give its own events
again.  That both have this meaning is proved in the other folders.  Lima et al., Sections II-B and
II-C; model.protocols.upstream_backup.nodes and model.protocols.upstream_backup.buffers.

The encoding stays in EPR: functions go from messages and nodes to savepoints and from savepoints to
positions, never back.  Messages are a set: any that was sent may be lost, may be received again,
and in any order, which is more than the channels of the model do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import z3
from z3 import (
    And,
    BoolVal,
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
from proofs.prove.orders import TotalOrder
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Axioms, Symbol
from proofs.prove.transition import Transition, TransitionSystem, inductive, reaches

NODE, SAVE, POSITION, MESSAGE = map(DeclareSort, ("node", "savepoint", "position", "message"))
BOOL = z3.BoolSort()

# --- what never changes ----------------------------------------------------------------------
feeds = Function("feeds", NODE, NODE, BOOL)
below = Function("below", NODE, NODE, BOOL)  # below(n, m): m is reached from n
operator = Function("operator", NODE, BOOL)  # may crash; sources and sinks may not
positions = TotalOrder(POSITION)
le = positions.le
nothing = Const("nothing", POSITION)
origin = Const("origin", SAVE)  # the savepoint of an operator that has done nothing
theta = Function("theta", SAVE, POSITION)
trim = Function("trim", SAVE, NODE, POSITION)
sender = Function("sender", MESSAGE, NODE)
receiver = Function("receiver", MESSAGE, NODE)
acks = Function("acks", MESSAGE, POSITION)
carries = Function("carries", MESSAGE, NODE, SAVE)

STATE = (
    Symbol("up", NODE, BOOL),
    Symbol("held", NODE, NODE, SAVE),  # held(h, n): h's replica of n's savepoint; h = n: its own
    Symbol("acked", NODE, NODE, POSITION),  # acked(u, v): how far u has trimmed its queue for v
    Symbol("sent", MESSAGE, BOOL),
)

h, n, u, v, w, x = Consts("h n u v w x", NODE)
m, k = Consts("m k", MESSAGE)
p = Const("p", POSITION)


AXIOMS: Axioms = {
    "positions are in a total order": positions.axiom,
    "nothing is the least position": ForAll([p], le(nothing, p)),
    "the origin needs everything and gives everything": And(
        theta(origin) == nothing, ForAll([u], trim(origin, u) == nothing)
    ),
    "below is what edges lead to": And(
        ForAll([u, v], Implies(feeds(u, v), below(u, v))),
        ForAll([h, u, v], Implies(And(below(h, u), feeds(u, v)), below(h, v))),
    ),
    "the graph has no cycle": ForAll([u], Not(below(u, u))),
}


# --- savepoints ------------------------------------------------------------------------------
def fits(b: Any, u: Any, c: Any) -> Any:
    """u, restored from b, gives all that a successor restored from c needs of it."""
    return le(theta(b), trim(c, u))


def at_least(c: Any, b: Any) -> Any:
    return And(le(theta(b), theta(c)), ForAll([x], le(trim(b, x), trim(c, x))))


def join(c: Any, b: Any, d: Any) -> Any:
    """c is the later one of b and d.  That savepoints of one operator can be compared at all is
    not assumed: if they could not, some edge of the explorer would have no transition here."""
    return And(Or(c == b, c == d), at_least(c, b), at_least(c, d))


# --- what nodes do ---------------------------------------------------------------------------
Holds: TypeAlias = Callable[[Any, Any], Any]
"""holds(w, c): c is the sender's replica of w's savepoint."""

ACKED = "an acknowledgement goes no further than the savepoint it comes with"
ALL_BELOW = "a message tells of all nodes below the one it is about"
NO_OTHERS = "a message tells of no other nodes"
ALLOWED = "what is not acknowledged by all successors can be given again"


def arrives(s: AtTime, u: Any, m: Any) -> Any:
    neighbours = Or(feeds(u, sender(m)), feeds(sender(m), u))
    return And(s.up(u), s.sent(m), receiver(m) == u, neighbours)


def acked_after(s: AtTime, u: Any, m: Any, v: Any) -> Any:
    """How far u has trimmed for v once it has received m."""
    return If(v == sender(m), positions.later(s.acked(u, v), acks(m)), s.acked(u, v))


def forgets(s: AtTime, t: AtTime, u: Any) -> Any:
    return And(
        operator(u),
        s.up(u),
        ForAll([n], t.up(n) == And(n != u, s.up(n))),
        ForAll([n, w], t.held(n, w) == If(n == u, origin, s.held(n, w))),
        ForAll([n, v], t.acked(n, v) == If(n == u, nothing, s.acked(n, v))),
    )


def restart(s: AtTime, t: AtTime, u: Any) -> Any:
    return And(operator(u), Not(s.up(u)), ForAll([n], t.up(n) == Or(n == u, s.up(n))))


class HoldingSteps(NamedTuple):
    """alone: savepoints are kept in immediate predecessors only, not in all ancestors (II-C)."""

    given: Given
    alone: bool = False

    # messages
    def is_about(self, k: Any, whom: Any, holds: Holds) -> Any:
        """The message is about `whom` and the nodes below."""
        silent, honest = carries(k, w) == origin, holds(w, carries(k, w))
        others = And(w != whom, Not(below(whom, w)))
        all_below = ForAll([w], Implies(below(whom, w), honest))
        return And(
            holds(whom, carries(k, whom)),
            ForAll([w], Implies(w != whom, silent if self.alone else Or(silent, honest))),
            BoolVal(True) if self.alone else self.given(ALL_BELOW, all_below),
            self.given(NO_OTHERS, ForAll([w], Implies(others, silent))),
        )

    def sends(self, s: AtTime, t: AtTime, u: Any, holds: Holds) -> Any:
        """A message in flight afterwards was so before, or u has sent it; any may be lost.

        Upstream u sends an acknowledgement, with its own savepoint and those of the nodes below;
        downstream the savepoints of the receiver and of the nodes below that."""
        to = receiver(k)
        covered = self.given(ACKED, le(acks(k), trim(carries(k, u), to)))
        upstream = And(feeds(to, u), Implies(operator(u), covered), self.is_about(k, u, holds))
        downstream = And(feeds(u, to), acks(k) == nothing, self.is_about(k, to, holds))
        may_send = And(sender(k) == u, Or(upstream, downstream))
        return ForAll([k], Implies(t.sent(k), Or(s.sent(k), may_send)))

    # transitions
    def receive(self, s: AtTime, t: AtTime, u: Any, m: Any) -> Any:
        """u trims and keeps the savepoints; it may save, if all successors allow it, and answer."""
        allowed = ForAll([v], Implies(feeds(u, v), le(theta(t.held(u, u)), t.acked(u, v))))
        acked = If(n == u, acked_after(s, u, m, v), s.acked(n, v))
        mine, was = t.held(u, u), s.held(u, u)
        return And(
            arrives(s, u, m),
            ForAll([n, v], t.acked(n, v) == acked),
            ForAll([n, w], Implies(n != u, t.held(n, w) == s.held(n, w))),
            ForAll([w], Implies(w != u, join(t.held(u, w), s.held(u, w), carries(m, w)))),
            at_least(mine, was),
            at_least(mine, carries(m, u)),
            Or(mine == was, mine == carries(m, u), self.given(ALLOWED, allowed)),
            self.sends(s, t, u, lambda w, c: c == t.held(u, w)),
        )

    def act(self, s: AtTime, t: AtTime, u: Any) -> Any:
        """u answers a hello, sends a skip notice, acknowledges what a sink has consumed."""
        return And(s.up(u), self.sends(s, t, u, lambda w, c: c == s.held(u, w)))

    def crash(self, s: AtTime, t: AtTime, u: Any) -> Any:
        """u crashes between two steps, or after some of the messages of one."""
        return And(forgets(s, t, u), self.sends(s, t, u, lambda w, c: c == s.held(u, w)))

    def crash_receiving(self, s: AtTime, t: AtTime, u: Any, m: Any) -> Any:
        """u crashes after some of the messages that it sends when it receives m."""

        def holds(w: Any, c: Any) -> Any:
            allowed = ForAll([v], Implies(feeds(u, v), le(theta(c), acked_after(s, u, m, v))))
            saves = And(w == u, self.given(ALLOWED, allowed))
            return And(
                at_least(c, s.held(u, w)),
                at_least(c, carries(m, w)),
                Or(c == s.held(u, w), c == carries(m, w), saves),
            )

        return And(arrives(s, u, m), forgets(s, t, u), self.sends(s, t, u, holds))


# --- invariants ------------------------------------------------------------------------------
def between(u: Any, v: Any) -> Any:
    """Both ends of the edge can need something: a sink never asks again."""
    return And(feeds(u, v), operator(v))


FIT = "savepoints held together fit: what one gives, the next one needs no earlier"
COVERED = "no event is trimmed that a successor's savepoint needs"
INVARIANTS: dict[str, Callable[[AtTime], Any]] = {
    FIT: lambda s: ForAll([h, u, v], Implies(between(u, v), fits(s.held(h, u), u, s.held(h, v)))),
    COVERED: lambda s: ForAll(
        [u, v], Implies(between(u, v), le(s.acked(u, v), trim(s.held(u, v), u)))
    ),
    "savepoints told together fit": lambda s: ForAll(
        [m, u, v], Implies(And(s.sent(m), between(u, v)), fits(carries(m, u), u, carries(m, v)))
    ),
    "an acknowledgement is covered by the savepoint it comes with": lambda s: ForAll(
        [m],
        Implies(
            And(s.sent(m), between(receiver(m), sender(m))),
            le(acks(m), trim(carries(m, sender(m)), receiver(m))),
        ),
    ),
}


# --- the system ------------------------------------------------------------------------------
def initial(s: AtTime) -> Any:
    return And(
        ForAll([n], s.up(n)),
        ForAll([n, w], s.held(n, w) == origin),
        ForAll([n, w], s.acked(n, w) == nothing),
        ForAll([m], Not(s.sent(m))),
    )


def system(given: Given, alone: bool = False) -> TransitionSystem:
    steps = HoldingSteps(given, alone)
    node = (("u", NODE),)
    both = (*node, ("m", MESSAGE))
    lost = ("up", "held", "acked", "sent")
    return TransitionSystem(
        name="acknowledgements",
        state=STATE,
        axioms=AXIOMS,
        init=initial,
        transitions=(
            Transition("receive", both, ("held", "acked", "sent"), steps.receive),
            Transition("act", node, ("sent",), steps.act),
            Transition("crash", node, lost, steps.crash),
            Transition("crash receiving", both, lost, steps.crash_receiving),
            Transition("restart", node, ("up",), restart),
        ),
        invariants=INVARIANTS,
    )


# --- lemmas ----------------------------------------------------------------------------------
def prove(given: Given) -> Iterator[SolverQuery]:
    whole = system(given)
    yield from inductive(whole)

    def replicated(s: AtTime) -> Any:
        return Exists([u, v], And(Not(s.up(v)), feeds(u, v), s.held(u, v) != origin))

    what = "an operator is down, and another node holds its savepoint"
    yield reaches(whole, what, replicated, 3, {NODE: 3, SAVE: 2, POSITION: 2, MESSAGE: 2})


LEMMAS = (
    Lemma(
        "acknowledgements",
        "In any graph, after any crashes and at any moment, no event is trimmed that a "
        "successor's savepoint still needs, and whoever survives holds savepoints that fit: what "
        "a node restored from its savepoint gives, the next one needs no earlier.  So any set of "
        "operators may crash at once and be restored from the nodes that are left.",
        "Lima et al., II-C",
        Outcome.HOLDS,
        prove,
    ),
)
