"""Two places for each operator: their names, and the deployment with both.

Rule of this file: no step of a node (moves.py).
The paper has no word on places; Apache Flink starts the tasks of a restart in any free slot.
"""

from __future__ import annotations

from model.core import Deployment, NodeName


def second_place(task: NodeName) -> NodeName:
    return f"{task}'"


def task_at(place: NodeName) -> NodeName:
    """The operator that a place runs; of a node with one place its own name."""
    return place.removesuffix("'")


def place_in(run: int, task: NodeName) -> NodeName:
    """The place of a task in a run: the first and the second one by turns."""
    return second_place(task) if run % 2 else task


def with_places(deployment: Deployment, tasks: tuple[NodeName, ...]) -> Deployment:
    """The deployment with a second place for each task: channels stay among places of one kind."""

    def places(name: NodeName) -> tuple[NodeName, NodeName]:
        return (name, second_place(name)) if name in tasks else (name, name)

    ends = (
        both
        for above, below in deployment.channels
        for both in zip(places(above), places(below), strict=True)
    )
    return deployment._replace(
        sites=tuple(
            site._replace(name=name)
            for site in deployment.sites
            for name in dict.fromkeys(places(site.name))
        ),
        channels=tuple(dict.fromkeys(ends)),
        crashable=frozenset(name for one in deployment.crashable for name in places(one)),
        watched=frozenset(
            (name, watcher) for one, watcher in deployment.watched for name in places(one)
        ),
        runs={second_place(name): (name,) for name in tasks},
    )
