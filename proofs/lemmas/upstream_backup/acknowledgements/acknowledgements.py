"""Acknowledgements over a graph: nothing is trimmed that some savepoint still needs.

Rule of this file: it knows which node holds whose savepoints and what has been acknowledged, and
nothing of what operators compute.  Of a savepoint b of node v it knows trim(b, u), up to where v
needs no event of u any more, and theta(b), up to where v, restored from b, will not give its own
events again.  That both mean what they say is the business of the other files here. Lima et al.,
Sections II-B and II-C; model.protocols.upstream_backup.nodes and
model.protocols.upstream_backup.buffers.

The encoding stays in EPR: functions go from messages and nodes to savepoints and from savepoints to
positions, never back.  Messages are a set: any that was sent may be lost, may be received again,
and in any order, which is more than the channels of the model do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, NamedTuple

from z3 import (
    And,
    BoolSort,
    BoolVal,
    Const,
    DeclareSort,
    Exists,
    ForAll,
    Function,
    If,
    Implies,
    Not,
    Or,
    is_true,
)

from model.core import Outcome
from proofs.prove.grid import Grid, Mark, lane
from proofs.prove.grounding import element
from proofs.prove.kinds import Kind
from proofs.prove.lemma import Given, Lemma, all_given, dropped
from proofs.prove.orders import Order
from proofs.prove.query import Query
from proofs.prove.transition import (
    Moment,
    Symbol,
    Transition,
    TransitionSystem,
    bounded,
    inductive,
    reaches,
    taking,
    transitions_taken,
)

NODE, SAVE, POSITION, MESSAGE = map(DeclareSort, ("node", "savepoint", "position", "message"))
BOOL = BoolSort()

# --- what never changes ----------------------------------------------------------------------
feeds = Function("feeds", NODE, NODE, BOOL)
below = Function("below", NODE, NODE, BOOL)  # below(n, m): m is reached from n
operator = Function("operator", NODE, BOOL)  # may crash; sources and sinks may not
positions = Order(POSITION)
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

h, n, u, v, w, x = (Const(name, NODE) for name in "hnuvwx")
p = Const("p", POSITION)
a = Const("a", SAVE)
m, k = Const("m", MESSAGE), Const("k", MESSAGE)


def axioms() -> dict[str, Any]:
    return {
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


# --- messages --------------------------------------------------------------------------------
Holds = Callable[[Any, Any], Any]
"""holds(w, c): c is the sender's replica of w's savepoint."""


class Rules(NamedTuple):
    """alone: savepoints are kept in immediate predecessors only, not in all ancestors (II-C)."""

    given: Given
    alone: bool = False


def tells(rules: Rules, k: Any, u: Any, holds: Holds) -> Any:
    """k is a message of u: upstream an acknowledgement, with its own savepoint and those of the
    nodes below; downstream the savepoints of the receiver and of the nodes below that."""
    given, to = rules.given, receiver(k)
    bounded_ = given(
        "an acknowledgement goes no further than the savepoint it comes with",
        le(acks(k), trim(carries(k, u), to)),
    )
    upstream = And(feeds(to, u), Implies(operator(u), bounded_), tells_of(rules, k, u, holds))
    downstream = And(feeds(u, to), acks(k) == nothing, tells_of(rules, k, to, holds))
    return And(sender(k) == u, Or(upstream, downstream))


def tells_of(rules: Rules, k: Any, whom: Any, holds: Holds) -> Any:
    """The message is about `whom` and the nodes below."""
    silent, told = carries(k, w) == origin, holds(w, carries(k, w))
    others = And(w != whom, Not(below(whom, w)))
    return And(
        holds(whom, carries(k, whom)),
        ForAll([w], Implies(w != whom, silent if rules.alone else Or(silent, told))),
        BoolVal(True)
        if rules.alone
        else rules.given(ALL_BELOW, ForAll([w], Implies(below(whom, w), told))),
        rules.given(NO_OTHERS, ForAll([w], Implies(others, silent))),
    )


ALL_BELOW = "a message tells of all nodes below the one it is about"
NO_OTHERS = "a message tells of no other nodes"


def sends(rules: Rules, s: Moment, t: Moment, u: Any, holds: Holds) -> Any:
    """Whatever is in flight afterwards was so before, or u has sent it; any may be lost."""
    return ForAll([k], Implies(t.sent(k), Or(s.sent(k), tells(rules, k, u, holds))))


ALLOWED = "what is not acknowledged by all successors can be given again"


# --- transitions -----------------------------------------------------------------------------
def taken(s: Moment, u: Any, m: Any) -> Any:
    return And(
        s.up(u),
        s.sent(m),
        receiver(m) == u,
        Or(feeds(u, sender(m)), feeds(sender(m), u)),
    )


def acked_then(s: Moment, u: Any, m: Any, v: Any) -> Any:
    """How far u has trimmed for v once it has received m."""
    return If(v == sender(m), positions.later(s.acked(u, v), acks(m)), s.acked(u, v))


def receive(rules: Rules) -> Callable[..., Any]:
    def relation(s: Moment, t: Moment, u: Any, m: Any) -> Any:
        """Trim, keep the savepoints; perhaps save, if all successors allow it; perhaps answer."""
        allowed = ForAll([v], Implies(feeds(u, v), le(theta(t.held(u, u)), t.acked(u, v))))
        saves = rules.given(ALLOWED, allowed)
        return And(
            taken(s, u, m),
            ForAll(
                [n, v],
                t.acked(n, v) == If(n == u, acked_then(s, u, m, v), s.acked(n, v)),
            ),
            ForAll([n, w], Implies(n != u, t.held(n, w) == s.held(n, w))),
            ForAll([w], Implies(w != u, join(t.held(u, w), s.held(u, w), carries(m, w)))),
            at_least(t.held(u, u), s.held(u, u)),
            at_least(t.held(u, u), carries(m, u)),
            Or(t.held(u, u) == s.held(u, u), t.held(u, u) == carries(m, u), saves),
            sends(rules, s, t, u, lambda w, c: c == t.held(u, w)),
        )

    return relation


def act(rules: Rules) -> Callable[..., Any]:
    def relation(s: Moment, t: Moment, u: Any) -> Any:
        """Answer a hello, send a skip notice, acknowledge what a sink has consumed."""
        return And(s.up(u), sends(rules, s, t, u, lambda w, c: c == s.held(u, w)))

    return relation


def forgets(s: Moment, t: Moment, u: Any) -> Any:
    return And(
        operator(u),
        s.up(u),
        ForAll([n], t.up(n) == And(n != u, s.up(n))),
        ForAll([n, w], t.held(n, w) == If(n == u, origin, s.held(n, w))),
        ForAll([n, v], t.acked(n, v) == If(n == u, nothing, s.acked(n, v))),
    )


def crash(rules: Rules) -> Callable[..., Any]:
    def relation(s: Moment, t: Moment, u: Any) -> Any:
        """Between two steps, or after some of the messages of one."""
        return And(forgets(s, t, u), sends(rules, s, t, u, lambda w, c: c == s.held(u, w)))

    return relation


def crash_receiving(rules: Rules) -> Callable[..., Any]:
    def relation(s: Moment, t: Moment, u: Any, m: Any) -> Any:
        """After some of the messages that it sends when it receives m."""

        def holds(w: Any, c: Any) -> Any:
            allowed = ForAll([v], Implies(feeds(u, v), le(theta(c), acked_then(s, u, m, v))))
            saves = rules.given(ALLOWED, allowed)
            return And(
                at_least(c, s.held(u, w)),
                at_least(c, carries(m, w)),
                Or(c == s.held(u, w), c == carries(m, w), And(w == u, saves)),
            )

        return And(taken(s, u, m), forgets(s, t, u), sends(rules, s, t, u, holds))

    return relation


def restart(s: Moment, t: Moment, u: Any) -> Any:
    return And(operator(u), Not(s.up(u)), ForAll([n], t.up(n) == Or(n == u, s.up(n))))


# --- invariants ------------------------------------------------------------------------------
def between(u: Any, v: Any) -> Any:
    """Both ends of the edge can need something: a sink never asks again."""
    return And(feeds(u, v), operator(v))


def held_fit(s: Moment) -> Any:
    return ForAll([h, u, v], Implies(between(u, v), fits(s.held(h, u), u, s.held(h, v))))


def trimmed_covered(s: Moment) -> Any:
    covered = le(s.acked(u, v), trim(s.held(u, v), u))
    return ForAll([u, v], Implies(between(u, v), covered))


def messages_fit(s: Moment) -> Any:
    sent = And(s.sent(m), between(u, v))
    return ForAll([m, u, v], Implies(sent, fits(carries(m, u), u, carries(m, v))))


def acks_covered(s: Moment) -> Any:
    sent = And(s.sent(m), between(receiver(m), sender(m)))
    return ForAll([m], Implies(sent, le(acks(m), trim(carries(m, sender(m)), receiver(m)))))


def nothing_lost(s: Moment) -> Any:
    """No operator v is down whose predecessor u is up and can neither give what v's savepoint
    needs nor hear of a later one: not from v's messages, not from another node that is up."""
    better = And(feeds(n, v), s.up(n), fits(s.held(u, u), u, s.held(n, v)))
    hope = Or(Exists([m], s.sent(m)), Exists([n], better))
    lost = And(between(u, v), operator(u), s.up(u), Not(s.up(v)), Not(hope))
    return Not(Exists([u, v], lost))


FIT = "savepoints held together fit: what one gives, the next one needs no earlier"
COVERED = "no event is trimmed that a successor's savepoint needs"
LOST = "no event is lost"


def initial(s: Moment) -> Any:
    return And(
        ForAll([n], s.up(n)),
        ForAll([n, w], s.held(n, w) == origin),
        ForAll([n, w], s.acked(n, w) == nothing),
        ForAll([m], Not(s.sent(m))),
    )


def system(given: Given, alone: bool = False) -> TransitionSystem:
    rules = Rules(given, alone)
    node = (("u", NODE),)
    both = (*node, ("m", MESSAGE))
    lost = ("up", "held", "acked", "sent")
    return TransitionSystem(
        name="acknowledgements",
        state=STATE,
        axioms=axioms(),
        init=initial,
        transitions=(
            Transition("receive", both, ("held", "acked", "sent"), receive(rules)),
            Transition("act", node, ("sent",), act(rules)),
            Transition("crash", node, lost, crash(rules)),
            Transition("crash receiving", both, lost, crash_receiving(rules)),
            Transition("restart", node, ("up",), restart),
        ),
        invariants={
            FIT: held_fit,
            COVERED: trimmed_covered,
            "savepoints told together fit": messages_fit,
            "an acknowledgement is covered by the savepoint it comes with": acks_covered,
        },
    )


# --- lemmas ----------------------------------------------------------------------------------
def _ancestors(given: Given) -> Iterator[Query]:
    whole = system(given)
    yield from inductive(whole)
    yield reaches(
        whole,
        "an operator is down, and another node holds its savepoint",
        lambda s: Exists([u, v], And(Not(s.up(v)), feeds(u, v), s.held(u, v) != origin)),
        depth=3,
        sizes={NODE: 3, SAVE: 2, POSITION: 2, MESSAGE: 2},
    )


def _alone(_: Given) -> Iterator[Query]:
    """Three nodes are too few for any run as long as the shortest one with four."""
    alone = replace(system(all_given, alone=True), invariants={LOST: nothing_lost})
    yield _lost(alone, 3, 6, Kind.CLAIM, lambda i, j: i < j)
    yield _lost(alone, 4, 5, Kind.CLAIM, lambda i, j: i < j)
    yield _lost(alone, 4, 6, Kind.COUNTEREXAMPLE, lambda i, j: i + 1 == j)


def _relayed(_: Given) -> Iterator[Query]:
    """One run, step by step, because all runs of so many steps are too many to search.

    B saves, then A, who reaches only Q of its two predecessors.  Q tells B, which restarts, of A as
    well; B tells C, and C the source P: P now has A's savepoint without B's.
    """
    told = system(dropped(NO_OTHERS))
    names = ("O", "P", "Q", "A", "B", "C", "sink")
    at = {label: element(NODE, i) for i, label in enumerate(names)}
    edges = {"OQ", "QA", "PA", "QB", "AB", "BC", "PC", "Csink"}
    graph = [feeds(at[i], at[j]) == BoolVal(i + j in edges) for i in at for j in at]
    graph += [operator(at[label]) == BoolVal(label in "QABC") for label in at]
    script = [
        ("act", "sink"),
        ("crash receiving", "C"),
        ("crash receiving", "B"),
        ("crash receiving", "A"),
        ("receive", "Q"),
        ("restart", "B"),
        ("crash receiving", "B"),
        ("restart", "C"),
        ("crash receiving", "C"),
        ("receive", "P"),
        ("crash", "Q"),
        ("restart", "A"),
        ("receive", "A"),
    ]
    for time, (transition, where) in enumerate(script):
        graph += taking(told, time, transition, {0: at[where]})
    sizes = {NODE: len(names), SAVE: 4, POSITION: 2, MESSAGE: 8}
    lossy = replace(told, invariants={LOST: nothing_lost})
    query = bounded(lossy, LOST, len(script), Kind.COUNTEREXAMPLE, sizes, graph)
    yield replace(query, show=partial(_drawn, lossy, names, len(script)))


def _lost(
    alone: TransitionSystem,
    nodes: int,
    depth: int,
    kind: Kind,
    may_feed: Callable[[int, int], bool],
) -> Query:
    """Nodes are numbered along the edges; an operator has an input and an output."""
    all_ = [element(NODE, i) for i in range(nodes)]
    pairs = product(range(nodes), repeat=2)
    graph = [Not(feeds(all_[i], all_[j])) for i, j in pairs if not may_feed(i, j)]
    graph += [
        Implies(
            operator(o), And(Or(*(feeds(i, o) for i in all_)), Or(*(feeds(o, i) for i in all_)))
        )
        for o in all_
    ]
    graph += [nothing == element(POSITION, 0), origin == element(SAVE, 0)]
    sizes = {NODE: nodes, SAVE: 3, POSITION: 2, MESSAGE: 4}
    query = bounded(alone, LOST, depth, kind, sizes, graph)
    names = ("source", "A", "B", "sink")
    return replace(query, show=partial(_drawn, alone, names, depth))


def _drawn(system: TransitionSystem, names: Sequence[str], depth: int, model: Any) -> Grid:
    """Nodes as lanes: up or down, who holds their savepoints; who has trimmed for whom."""

    def yes(formula: Any) -> bool:
        return bool(is_true(model.eval(formula, model_completion=True)))

    nodes = {model.eval(element(NODE, i)): name for i, name in enumerate(names)}
    moments = [system.moment(time) for time in range(depth + 1)]
    rows = []
    for o, name in nodes.items():
        if not yes(operator(o)):
            continue
        up = [yes(s.up(o)) for s in moments]
        marks = [Mark.PLAIN if b else Mark.BAD for b in up]
        rows.append(lane(name, ["up" if b else "down" for b in up], marks))
        for i, holder in nodes.items():
            held = [yes(s.held(i, o) != origin) for s in moments]
            rows.append(lane(f"{holder} holds {name}'s", ["savepoint" if b else "" for b in held]))
    edges = [(i, o) for i in nodes for o in nodes if yes(feeds(i, o))]
    for i, o in edges:
        trimmed = [yes(s.acked(i, o) != nothing) for s in moments]
        label = f"{nodes[i]} for {nodes[o]}"
        rows.append(lane(label, ["trimmed" if b else "" for b in trimmed]))
    steps = (
        f"{nodes[step.params[0]]}: {_WORDS[step.name]}"
        for step in transitions_taken(system, model, depth)
    )
    path = ", ".join(f"{nodes[i]} → {nodes[o]}" for i, o in edges)
    told = tuple(row for row in rows if any(cell.text for cell in row.cells))
    return Grid(f"{path}: in the end an event is lost", ("at first", *steps), told)


_WORDS = {
    "act": "sends",
    "receive": "receives",
    "restart": "restarts",
    "crash": "crashes",
    "crash receiving": "receives, crashes",
}


LEMMAS = (
    Lemma(
        name="acknowledgements",
        statement="In any graph, after any crashes and at any moment, no event is trimmed that a "
        "successor's savepoint still needs, and whoever survives holds savepoints that fit: what "
        "a node restored from its savepoint gives, the next one needs no earlier.  So any set of "
        "operators may crash at once and be restored from the nodes that are left.",
        section="Lima et al., II-C",
        expect=Outcome.HOLDS,
        build=_ancestors,
    ),
    Lemma(
        name="predecessors-alone",
        statement="With savepoints in immediate predecessors alone, two adjacent operators that "
        "are down at once lose events; source, two operators and a sink are the smallest graph.",
        section="Lima et al., II-C",
        expect=Outcome.REFUTED,
        build=_alone,
        scope="runs of up to 6 steps, graphs of up to 4 nodes",
        fragment="finite",
    ),
    Lemma(
        name="relayed-savepoints",
        statement="If a restarted node is told of all savepoints that its predecessor holds, and "
        "not only of its own and those of the nodes below it, it may pass on one without the one "
        "that has to fit it, and events are lost.",
        section="Lima et al., II-C",
        expect=Outcome.REFUTED,
        build=_relayed,
        scope="one run of 13 steps in a graph of 7 nodes",
        fragment="finite",
    ),
)
