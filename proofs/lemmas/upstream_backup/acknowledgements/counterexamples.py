"""Savepoints that are kept or passed on otherwise: the smallest runs that lose an event.

Rule of this file: the system of replicas with savepoints in immediate predecessors alone, or with
messages about other nodes, in graphs of a few nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

from z3 import And, BoolVal, Const, Exists, Implies, Not, Or

from model.evidence import Outcome
from model.results.answers import QueryKind
from model.results.grid import Cell, CellMark, Grid
from proofs.lemmas.upstream_backup.acknowledgements import replicas
from proofs.prove.drawing import stream, true
from proofs.prove.grounding import element
from proofs.prove.lemma import Given, Lemma, all_given, without
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime
from proofs.prove.transition import TransitionSystem, bounded, step_is, transitions_taken

m = Const("m", replicas.MESSAGE)
n, u, v = (Const(name, replicas.NODE) for name in "nuv")

LOST = "no event is lost"


def nothing_lost(s: AtTime) -> Any:
    """No operator v is down whose predecessor u is up and can neither give the events that v's
    savepoint needs nor hear of a later one: not from v's messages, not from another node that is
    up."""
    better = And(replicas.feeds(n, v), s.up(n), replicas.fits(s.held(u, u), u, s.held(n, v)))
    hope = Or(Exists([m], s.sent(m)), Exists([n], better))
    lost = And(replicas.between(u, v), replicas.operator(u), s.up(u), Not(s.up(v)), Not(hope))
    return Not(Exists([u, v], lost))


def draw(system: TransitionSystem, names: Sequence[str], depth: int, model: Any) -> Grid:
    """Lanes: which operators are up, who holds their savepoints, who has trimmed for whom."""
    nodes = {name: element(replicas.NODE, i) for i, name in enumerate(names)}
    states = [system.moment(time) for time in range(depth + 1)]
    up, down = Cell("up"), Cell("down", CellMark.BAD)
    lanes = [
        (name, [[(s.up(o), up), (Not(s.up(o)), down)] for s in states])
        for name, o in nodes.items()
        if true(model, replicas.operator(o))
    ]
    path = []
    for (holder, i), (name, o) in product(nodes.items(), repeat=2):
        held = [And(replicas.operator(o), s.held(i, o) != replicas.origin) for s in states]
        acked = [And(replicas.feeds(i, o), s.acked(i, o) != replicas.nothing) for s in states]
        if true(model, replicas.feeds(i, o)):
            path.append(f"{holder} → {name}")
        if true(model, Or(*held)):
            lanes.append((f"{holder} holds {name}'s", [[(so, Cell("savepoint"))] for so in held]))
        if true(model, Or(*acked)):
            lanes.append((f"{holder} for {name}", [[(so, Cell("trimmed"))] for so in acked]))
    known = {str(model.eval(o, model_completion=True)): name for name, o in nodes.items()}
    taken = transitions_taken(system, model, depth)
    steps = [f"{known[str(step.params[0])]}: {step.name}" for step in taken]
    caption = f"{', '.join(path)}: in the end an event is lost"
    return stream(model, caption, ("at first", *steps), lanes)


# --- savepoints in immediate predecessors alone ----------------------------------------------
def refute_alone(_: Given) -> Iterator[SolverQuery]:
    """Three nodes are too few for any run as long as the shortest one with four."""
    alone = replace(replicas.system(all_given, alone=True), invariants={LOST: nothing_lost})
    yield question(alone, 3, 6, QueryKind.CLAIM, lambda i, j: i < j)
    yield question(alone, 4, 5, QueryKind.CLAIM, lambda i, j: i < j)
    yield question(alone, 4, 6, QueryKind.COUNTEREXAMPLE, lambda i, j: i + 1 == j)


def question(
    alone: TransitionSystem,
    nodes: int,
    depth: int,
    kind: QueryKind,
    may_feed: Callable[[int, int], bool],
) -> SolverQuery:
    """Nodes are numbered along the edges; an operator has an input and an output."""
    all_ = [element(replicas.NODE, i) for i in range(nodes)]
    feeds, operator = replicas.feeds, replicas.operator
    pairs = product(range(nodes), repeat=2)
    graph = [Not(feeds(all_[i], all_[j])) for i, j in pairs if not may_feed(i, j)]
    for o in all_:
        ends = Or(*(feeds(i, o) for i in all_)), Or(*(feeds(o, i) for i in all_))
        graph.append(Implies(operator(o), And(*ends)))
    graph.append(replicas.nothing == element(replicas.POSITION, 0))
    graph.append(replicas.origin == element(replicas.SAVE, 0))
    sizes = {replicas.NODE: nodes, replicas.SAVE: 3, replicas.POSITION: 2, replicas.MESSAGE: 4}
    query = bounded(alone, LOST, depth, kind, sizes, graph)
    return replace(query, show=partial(draw, alone, ("source", "A", "B", "sink")[:nodes], depth))


# --- messages about other nodes --------------------------------------------------------------
NAMES = ("O", "P", "Q", "A", "B", "C", "sink")
EDGES = ("OQ", "QA", "PA", "QB", "AB", "BC", "PC", "Csink")
SCRIPT = (
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
)
"""B saves, then A, who reaches only Q of its two predecessors.  Q sends B, which restarts, A's
savepoint as well; B sends it to C, and C to the source P: P has A's savepoint without B's."""


def refute_relayed(_: Given) -> Iterator[SolverQuery]:
    """One run, step by step, because all runs of this length are too many to search."""
    talkative = replace(
        replicas.system(without(replicas.NO_OTHERS)), invariants={LOST: nothing_lost}
    )
    at = {label: element(replicas.NODE, i) for i, label in enumerate(NAMES)}
    graph = [replicas.feeds(at[i], at[j]) == BoolVal(i + j in EDGES) for i in at for j in at]
    graph += [replicas.operator(at[label]) == BoolVal(label in "QABC") for label in at]
    for time, (transition, where) in enumerate(SCRIPT):
        graph += step_is(talkative, time, transition, {0: at[where]})
    sizes = {replicas.NODE: 7, replicas.SAVE: 4, replicas.POSITION: 2, replicas.MESSAGE: 8}
    query = bounded(talkative, LOST, len(SCRIPT), QueryKind.COUNTEREXAMPLE, sizes, graph)
    yield replace(query, show=partial(draw, talkative, NAMES, len(SCRIPT)))


LEMMAS = (
    Lemma(
        "predecessors-alone",
        "With savepoints in immediate predecessors alone, two adjacent operators that are down at "
        "once lose events; source, two operators and a sink are the smallest graph.",
        "Lima et al., II-C",
        Outcome.REFUTED,
        refute_alone,
        "runs of up to 6 steps, graphs of up to 4 nodes",
        "finite",
    ),
    Lemma(
        "relayed-savepoints",
        "If a restarted node is told of all savepoints that its predecessor holds, and not only of "
        "its own and those of the nodes below it, it may pass on one without the one that has to "
        "fit it, and events are lost.",
        "Lima et al., II-C",
        Outcome.REFUTED,
        refute_relayed,
        "one run of 13 steps in a graph of 7 nodes",
        "finite",
    ),
)
