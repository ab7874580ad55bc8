"""Savepoints that are kept or passed on otherwise: the smallest runs that lose an event.

Rule of this file: the system of replicas with savepoints in immediate predecessors alone, or with
messages about other nodes, in graphs of a few nodes; and how such a run is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

from z3 import And, BoolVal, Const, Exists, Implies, Not, Or, is_true

from model.evidence import Outcome
from proofs.lemmas.upstream_backup.acknowledgements import replicas
from proofs.prove.grid import CellMark, Grid, lane
from proofs.prove.grounding import element
from proofs.prove.kinds import QueryKind
from proofs.prove.lemma import Given, Lemma, all_given, without
from proofs.prove.query import Query
from proofs.prove.transition import Moment, TransitionSystem, bounded, step_is, transitions_taken

m = Const("m", replicas.MESSAGE)
n, u, v = (Const(name, replicas.NODE) for name in "nuv")

LOST = "no event is lost"


def nothing_lost(s: Moment) -> Any:
    """No operator v is down whose predecessor u is up and can neither give what v's savepoint
    needs nor hear of a later one: not from v's messages, not from another node that is up."""
    better = And(replicas.feeds(n, v), s.up(n), replicas.fits(s.held(u, u), u, s.held(n, v)))
    hope = Or(Exists([m], s.sent(m)), Exists([n], better))
    lost = And(replicas.between(u, v), replicas.operator(u), s.up(u), Not(s.up(v)), Not(hope))
    return Not(Exists([u, v], lost))


# --- searches --------------------------------------------------------------------------------
def refute_alone(_: Given) -> Iterator[Query]:
    """Three nodes are too few for any run as long as the shortest one with four."""
    alone = replace(replicas.system(all_given, alone=True), invariants={LOST: nothing_lost})
    yield question(alone, 3, 6, QueryKind.CLAIM, lambda i, j: i < j)
    yield question(alone, 4, 5, QueryKind.CLAIM, lambda i, j: i < j)
    yield question(alone, 4, 6, QueryKind.COUNTEREXAMPLE, lambda i, j: i + 1 == j)


def refute_relayed(_: Given) -> Iterator[Query]:
    """One run, step by step, because all runs of so many steps are too many to search.

    B saves, then A, who reaches only Q of its two predecessors.  Q sends B, which restarts,
    A's savepoint as well; B sends it to C, and C to the source P: P has A's savepoint without B's.
    """
    talkative = replicas.system(without(replicas.NO_OTHERS))
    names = ("O", "P", "Q", "A", "B", "C", "sink")
    at = {label: element(replicas.NODE, i) for i, label in enumerate(names)}
    edges = {"OQ", "QA", "PA", "QB", "AB", "BC", "PC", "Csink"}
    graph = [replicas.feeds(at[i], at[j]) == BoolVal(i + j in edges) for i in at for j in at]
    graph += [replicas.operator(at[label]) == BoolVal(label in "QABC") for label in at]
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
        graph += step_is(talkative, time, transition, {0: at[where]})
    sizes = {replicas.NODE: len(names), replicas.SAVE: 4, replicas.POSITION: 2, replicas.MESSAGE: 8}
    lossy = replace(talkative, invariants={LOST: nothing_lost})
    query = bounded(lossy, LOST, len(script), QueryKind.COUNTEREXAMPLE, sizes, graph)
    yield replace(query, show=partial(draw, lossy, names, len(script)))


def question(
    alone: TransitionSystem,
    nodes: int,
    depth: int,
    kind: QueryKind,
    may_feed: Callable[[int, int], bool],
) -> Query:
    """Nodes are numbered along the edges; an operator has an input and an output."""
    all_ = [element(replicas.NODE, i) for i in range(nodes)]
    pairs = product(range(nodes), repeat=2)
    graph = [Not(replicas.feeds(all_[i], all_[j])) for i, j in pairs if not may_feed(i, j)]
    graph += [
        Implies(
            replicas.operator(o),
            And(
                Or(*(replicas.feeds(i, o) for i in all_)),
                Or(*(replicas.feeds(o, i) for i in all_)),
            ),
        )
        for o in all_
    ]
    graph += [
        replicas.nothing == element(replicas.POSITION, 0),
        replicas.origin == element(replicas.SAVE, 0),
    ]
    sizes = {replicas.NODE: nodes, replicas.SAVE: 3, replicas.POSITION: 2, replicas.MESSAGE: 4}
    query = bounded(alone, LOST, depth, kind, sizes, graph)
    names = ("source", "A", "B", "sink")
    return replace(query, show=partial(draw, alone, names, depth))


def draw(system: TransitionSystem, names: Sequence[str], depth: int, model: Any) -> Grid:
    """Nodes as lanes: up or down, who holds their savepoints; who has trimmed for whom."""

    def yes(formula: Any) -> bool:
        return bool(is_true(model.eval(formula, model_completion=True)))

    nodes = {model.eval(element(replicas.NODE, i)): name for i, name in enumerate(names)}
    moments = [system.moment(time) for time in range(depth + 1)]
    rows = []
    for o, name in nodes.items():
        if not yes(replicas.operator(o)):
            continue
        up = [yes(s.up(o)) for s in moments]
        marks = [CellMark.PLAIN if b else CellMark.BAD for b in up]
        rows.append(lane(name, ["up" if b else "down" for b in up], marks))
        for i, holder in nodes.items():
            held = [yes(s.held(i, o) != replicas.origin) for s in moments]
            rows.append(lane(f"{holder} holds {name}'s", ["savepoint" if b else "" for b in held]))
    edges = [(i, o) for i in nodes for o in nodes if yes(replicas.feeds(i, o))]
    for i, o in edges:
        trimmed = [yes(s.acked(i, o) != replicas.nothing) for s in moments]
        label = f"{nodes[i]} for {nodes[o]}"
        rows.append(lane(label, ["trimmed" if b else "" for b in trimmed]))
    steps = (
        f"{nodes[step.params[0]]}: {VERBS[step.name]}"
        for step in transitions_taken(system, model, depth)
    )
    path = ", ".join(f"{nodes[i]} → {nodes[o]}" for i, o in edges)
    filled = tuple(row for row in rows if any(cell.text for cell in row.cells))
    return Grid(f"{path}: in the end an event is lost", ("at first", *steps), filled)


VERBS = {
    "act": "sends",
    "receive": "receives",
    "restart": "restarts",
    "crash": "crashes",
    "crash receiving": "receives, crashes",
}


LEMMAS = (
    Lemma(
        name="predecessors-alone",
        statement="With savepoints in immediate predecessors alone, two adjacent operators that "
        "are down at once lose events; source, two operators and a sink are the smallest graph.",
        section="Lima et al., II-C",
        expect=Outcome.REFUTED,
        build=refute_alone,
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
        build=refute_relayed,
        scope="one run of 13 steps in a graph of 7 nodes",
        fragment="finite",
    ),
)
