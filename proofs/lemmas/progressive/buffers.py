"""Adaptive buffers: the items that a partition needs if it fails again are kept, or can be made
again.

Rule of this file: one progressive recovery, from its punctuation to its end; no order of items.

Items are the tuples after the punctuation, on channels between sources and partitions; the sources'
are there from the beginning.  The coordinator knows of a failure later than it happens: until then,
it may end the recovery, and will roll everything back.  From then on, the partition is to rejoin.
Su and Zhou, Progressive Recovery, 2016, Section 4 ("Adaptive Buffering", "Progressive Recovery").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import z3
from z3 import And, Const, DeclareSort, Exists, ForAll, Function, Implies, Not, Or

from model.evidence import Outcome
from model.protocols.progressive.design import Buffering, Ends, ProgressiveDesign
from model.results.answers import QueryKind
from proofs.lemmas.readings import refuted
from proofs.prove.lemma import Given, Lemma, all_given
from proofs.prove.orders import TotalOrder
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime, Symbol
from proofs.prove.transition import Transition, TransitionSystem, inductive, reaches

PAPER = "Su and Zhou, 4"
NODE, ITEM, BOOL = DeclareSort("node"), DeclareSort("item"), z3.BoolSort()
items = TotalOrder(ITEM, "le#item")
source = Function("source", NODE, BOOL)
by, to = Function("by", ITEM, NODE), Function("to", ITEM, NODE)
of = Function("of", ITEM, ITEM, BOOL)
"""Is the first item made of the second one, or of a state that has it?"""
contained = Function("contained", ITEM, BOOL)
"""Is the item in the global checkpoint that may end the recovery?"""
v, i, j = Const("v", NODE), Const("i", ITEM), Const("j", ITEM)

BUFFERS = "partitions keep what they send while the recovery is under way"
DURABLE = "sources lose nothing"
CANCELS = "a failure cancels what its partition has acknowledged"
NOTICED = "the notice of a failure comes after all acknowledgements from before it"
ALL_STORED = "all partitions have acknowledged when the recovery ends"
TRIMS = "sources let go of nothing but what the new checkpoint contains"
ACYCLIC = "the graph has no cycle"


@dataclass(frozen=True)
class RecoverySteps:
    """The steps of a progressive recovery, if these hypotheses hold."""

    given: Given
    design: ProgressiveDesign

    def make(self, s: AtTime, t: AtTime, one: Any) -> Any:
        kept = ForAll([i], Implies(i != one, t.kept(i) == s.kept(i)))
        buffers = self.design.buffering is not Buffering.SOURCE
        rule = self.given(BUFFERS, Or(s.ended, t.kept(one))) if buffers else Not(t.kept(one))
        made = ForAll([i], t.made(i) == Or(s.made(i), i == one))
        return And(Not(source(by(one))), Not(s.made(one)), made, kept, rule)

    def fail(self, s: AtTime, t: AtTime, who: Any) -> Any:
        left = And(
            t.made(i) == And(s.made(i), by(i) != who), t.kept(i) == And(s.kept(i), by(i) != who)
        )
        return And(self.given(DURABLE, Not(source(who))), ForAll([i], left))

    def notice(self, s: AtTime, t: AtTime, who: Any) -> Any:
        cancels = self.design.ends is Ends.ALL_BACK
        stays = And(s.stored(v), v != who) if cancels else s.stored(v)
        cancelled = ForAll([v], t.stored(v) == stays)
        down = ForAll([v], t.down(v) == Or(s.down(v), v == who))
        return And(Not(s.ended), Not(source(who)), down, self.given(CANCELS, cancelled))

    def rejoin(self, s: AtTime, t: AtTime, who: Any) -> Any:
        return ForAll([v], t.down(v) == And(s.down(v), v != who))

    def acknowledge(self, s: AtTime, t: AtTime, who: Any) -> Any:
        stored = ForAll([v], t.stored(v) == Or(s.stored(v), v == who))
        return And(Not(source(who)), self.given(NOTICED, Not(s.down(who))), stored)

    def end(self, s: AtTime, t: AtTime) -> Any:
        everyone = self.given(ALL_STORED, ForAll([v], Or(source(v), s.stored(v))))
        off = ForAll([i], Implies(t.kept(i), s.kept(i)))
        trimmed = Implies(And(s.kept(i), source(by(i)), Not(contained(i))), t.kept(i))
        return And(Not(s.ended), t.ended, everyone, off, self.given(TRIMS, ForAll([i], trimmed)))

    def init(self, s: AtTime) -> Any:
        begins = And(s.made(i) == source(by(i)), s.kept(i) == s.made(i))
        nodes = And(Implies(s.down(v), Not(source(v))), Not(s.stored(v)))
        return And(Not(s.ended), ForAll([i], begins), ForAll([v], nodes))


def system(given: Given, design: ProgressiveDesign) -> TransitionSystem:
    steps = RecoverySteps(given, design)

    one, who = (("item", ITEM),), (("node", NODE),)
    return TransitionSystem(
        name="a progressive recovery",
        state=(
            *(Symbol(name, ITEM, BOOL) for name in ("made", "kept")),
            *(Symbol(name, NODE, BOOL) for name in ("down", "stored")),
            Symbol("ended", BOOL),
        ),
        axioms={
            "items are in a total order": items.axiom,
            "no partition reads itself": ForAll([i], by(i) != to(i)),
        },
        init=steps.init,
        transitions=(
            Transition("make", one, ("made", "kept"), steps.make),
            Transition("fail", who, ("made", "kept"), steps.fail),
            Transition("notice", who, ("down", "stored"), steps.notice),
            Transition("rejoin", who, ("down",), steps.rejoin),
            Transition("acknowledge", who, ("stored",), steps.acknowledge),
            Transition("end", (), ("ended", "kept"), steps.end),
        ),
        invariants=INVARIANTS,
    )


# --- invariants ------------------------------------------------------------------------------
def _is_within_reach(s: AtTime) -> Any:
    needed = Or(Not(s.ended), And(s.down(to(i)), Not(contained(i))))
    return ForAll([i], Implies(And(needed, s.made(i)), s.kept(i)))


WITHIN_REACH = "what who is down will ask for is kept, or is not made yet"
KEPT_BY = "sources keep what no checkpoint contains"
INVARIANTS: dict[str, Callable[[AtTime], Any]] = {
    WITHIN_REACH: _is_within_reach,
    KEPT_BY: lambda s: ForAll(
        [i], Implies(And(source(by(i)), Not(And(s.ended, contained(i)))), And(s.made(i), s.kept(i)))
    ),
    "who is down has acknowledged nothing": lambda s: ForAll(
        [v], Implies(s.down(v), Not(Or(source(v), s.stored(v))))
    ),
    "when the recovery has ended, everyone has acknowledged": lambda s: Implies(
        s.ended, ForAll([v], Or(source(v), s.stored(v)))
    ),
}


# --- lemmas ----------------------------------------------------------------------------------
def had(s: AtTime, can: Any, one: Any) -> Any:
    """The set has the item if it is kept, or if it is not made yet and is made of such items."""
    made_again = And(Not(s.made(one)), ForAll([j], Implies(of(one, j), can(j))))
    return Implies(Or(s.kept(one), made_again), can(one))


def prove(given: Given) -> Iterator[SolverQuery]:
    proved = system(given, ProgressiveDesign())
    yield from inductive(proved)
    s, can, least = proved.moment(0), Function("can", ITEM, BOOL), Const("least", ITEM)
    under_way = And(Not(s.ended), *(holds(s) for holds in proved.invariants.values()))
    acyclic = given(ACYCLIC, ForAll([i, j], Implies(of(i, j), items.less(j, i))))
    # By induction along the graph: the first item that nobody can have would be this one.
    first = And(Not(can(least)), ForAll([j], Implies(items.less(j, least), can(j))))
    claims = (*proved.axioms.values(), acyclic, under_way, had(s, can, least), first)
    yield SolverQuery(
        "an item can be had neither from a buffer nor made again", QueryKind.CLAIM, claims
    )

    def behind(s: AtTime) -> Any:
        return Exists([i], And(s.down(to(i)), s.kept(i), Not(source(by(i))), s.stored(by(i))))

    what = "a partition is down, and another one keeps an item for it"
    yield reaches(proved, what, behind, 3, {NODE: 2, ITEM: 1})


ADAPTIVE = (
    "For any acyclic graph and any further failures in a progressive recovery: each tuple after "
    "the punctuation is at a source, at a partition that is up, or can be made again; and when "
    "the recovery ends, every partition that is known to have failed is back."
)
ANY_CHECKPOINT = (
    "A global checkpoint ends the recovery, even if a partition that stored its part failed."
)
SOURCES_ONLY = "If only sources keep outputs, a partition alone can rejoin."
CLAIM = "A new global checkpoint indicates the correlated failure is completely recovered."
SMALL = {NODE: 2, ITEM: 1}
LEMMAS = (
    Lemma("buffers-adaptive", ADAPTIVE, PAPER, Outcome.HOLDS, prove),
    refuted(
        PAPER,
        "buffers-end-at-checkpoint",
        ANY_CHECKPOINT,
        system(all_given, replace(ProgressiveDesign(), ends=Ends.CHECKPOINT)),
        (WITHIN_REACH, 5, SMALL),
        (CLAIM, CANCELS),
    ),
    refuted(
        PAPER,
        "buffers-at-sources",
        SOURCES_ONLY,
        system(all_given, replace(ProgressiveDesign(), buffering=Buffering.SOURCE)),
        (WITHIN_REACH, 1, SMALL),
    ),
)
