"""The model, as one edge sees it: every edge of the graph, one at a time.

Rule of this file: it chooses which end of an edge does a step, and looks at each step once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from model.actions import Action, Crash, Deliver, Disturb, Inject, Suspect
from model.system import System
from model.world import World, response
from proofs.lemmas.upstream_backup.duplicates import edge
from proofs.lemmas.upstream_backup.duplicates.ends import EdgeEnds, EdgeView
from proofs.lemmas.upstream_backup.duplicates.steps import AbstractSteps, EdgeRun, EdgeState
from proofs.lemmas.upstream_backup.observer import Observer
from proofs.lemmas.upstream_backup.reference import Arrivals
from proofs.prove.conformance import Abstraction, Path
from proofs.prove.structure import StateTable


class EdgeStep(NamedTuple):
    """All that a path depends on."""

    action: Action
    arrivals: Arrivals
    before: EdgeEnds
    after: EdgeEnds
    whole: Any
    initial: bool


class EdgeObserver(Observer):
    """All edges of a world system."""

    def __init__(self, system: System) -> None:
        super().__init__(system)
        sites = system.sites
        self._edges = [EdgeView(self, sites[u], sites[v]) for u, v in system.scope.graph.edges]

    def paths(self, before: World, action: Action, after: World) -> Iterator[Path]:
        initial = not any(before.arrivals) and before.crashes == self.system.scope.crashes
        for view in self._edges:
            if action.node not in (view.u.name, view.v.name):
                continue
            ends = view.ends(before), view.ends(after)
            whole = self.whole(view, before, action, ends[1])
            step = EdgeStep(action, after.arrivals, *ends, whole, initial)
            if self.is_new(view, step):
                run = run_of(view, step)
                if self.is_new(view, run):
                    yield path_of(view, run)

    def whole(self, view: EdgeView, before: World, action: Action, other: EdgeEnds) -> Any:
        """The producer's state after its whole step, of which a crash may leave out the last
        effects; None if it does none."""
        if action.node != view.u.name or isinstance(action, Crash | Suspect | Disturb):
            return None
        crashes = not isinstance(action, Inject) and action.crash_after is not None
        return response(self.system, before, action).state if crashes else other.producer


def run_of(view: EdgeView, step: EdgeStep) -> EdgeRun:
    """The abstract steps that the step of the model takes."""
    steps = AbstractSteps(view, step.arrivals, step.before, step.after)
    action = step.action
    if action.node == view.u.name:
        steps.of_producer(step.whole)
    else:
        heard = isinstance(action, Deliver) and action.sender == view.u.name
        steps.of_successor(step.before.down[0] if heard else None)
    return steps.run(step.initial)


def path_of(view: EdgeView, run: EdgeRun) -> Path:
    """The run as the formulas have it."""
    places = {place for s in run.states for place in (s.base, s.cursor, s.heard, s.farthest)}
    structure = view.structure(run.arrivals, run.unneeded, run.messages, frozenset(places))
    events = structure.sorts["event"]
    return Path(structure, tuple(_tables(s, events) for s in run.states), run.initial)


def _tables(state: EdgeState, events: Iterable[int]) -> StateTable:
    sets = {
        name: {i: i in getattr(state, name) for i in events} for name in ("done", "ever", "doubled")
    }
    return {**state._asdict(), **sets}


ABSTRACTIONS = (
    Abstraction(
        "every event has its effect once", edge.system, lambda system: EdgeObserver(system).paths
    ),
)
