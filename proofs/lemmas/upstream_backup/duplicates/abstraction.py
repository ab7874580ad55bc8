"""The model, as one edge sees it: every edge of the graph, one at a time.

Rule of this file: it chooses which end of an edge does a step, and looks at each step once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from model.actions import Action, Crash, Deliver, Disturb, Inject, Suspect
from model.system import System
from model.world import World, response
from proofs.lemmas.upstream_backup.duplicates import edge
from proofs.lemmas.upstream_backup.duplicates.ends import EdgeEnds, EdgeView
from proofs.lemmas.upstream_backup.duplicates.steps import AbstractSteps
from proofs.lemmas.upstream_backup.observer import Observer
from proofs.prove.conformance import Abstraction, Path


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
            if not self.is_new(view, action, after.arrivals, *ends, whole, initial):
                continue
            steps = AbstractSteps(view, after.arrivals, *ends)
            if action.node == view.u.name:
                steps.of_producer(whole)
            else:
                heard = isinstance(action, Deliver) and action.sender == view.u.name
                steps.of_successor(ends[0].down[0] if heard else None)
            yield steps.path(initial)

    def whole(self, view: EdgeView, before: World, action: Action, other: EdgeEnds) -> Any:
        """The producer's state after its whole step, of which a crash may leave out the last
        effects; None if it does none."""
        if action.node != view.u.name or isinstance(action, Crash | Suspect | Disturb):
            return None
        crashes = not isinstance(action, Inject) and action.crash_after is not None
        return response(self.system, before, action).state if crashes else other.producer


ABSTRACTIONS = (
    Abstraction(
        "every event has its effect once", edge.system, lambda system: EdgeObserver(system).paths
    ),
)
