"""The properties of recovery lines: what the published claims about checkpoints say.

Rule of this file: a look at the manager, the operators and the orders to go back; no step.
"""

from __future__ import annotations

from model.core import Observation, Property, Scope, When
from model.protocols.uncoordinated.deployment import MANAGER, bonds, operators
from model.protocols.uncoordinated.lines import go_back, has_orphans
from model.protocols.uncoordinated.messages import LineManager, LoggingTask, ReturnToLine


def _is_consistent(scope: Scope, seen: Observation) -> bool:
    """The oldest checkpoints are the line."""
    manager = dict(seen.states)[MANAGER]
    assert isinstance(manager, LineManager)
    return not has_orphans(bonds(scope.graph), [own[0] for own in manager.stored])


def _undone(scope: Scope, seen: Observation) -> int:
    """How many checkpoints of every operator a restart at the beginning undoes; 0: there is none.

    The manager orders all operators at once; an order shows how far back it goes.
    """
    undone = [
        0 if any(message.checkpoint.received) else message.undone
        for (sender, _), messages in seen.messages
        for message in messages[-1:]
        if sender == MANAGER
        and isinstance(message, ReturnToLine)
        and message.checkpoint is not None
    ]
    return min(undone) if len(undone) == len(operators(scope.graph)) else 0


def _is_useful(scope: Scope, seen: Observation) -> bool:
    """Each checkpoint is in a consistent line with checkpoints or present states of the others;
    asked where all operators are up and in one run."""
    states = dict(seen.states)
    manager = states[MANAGER]
    names, joined = operators(scope.graph), bonds(scope.graph)
    now = [states.get(name) for name in names]
    tasks = [one for one in now if isinstance(one, LoggingTask) and one.run == manager.run]
    if len(tasks) < len(names):
        return True
    chains = [(*own, task.part) for own, task in zip(manager.stored, tasks, strict=True)]
    present = [len(chain) - 1 for chain in chains]
    return all(
        go_back(joined, chains, [*present[:at], place, *present[at + 1 :]])[at] == place
        for at, chain in enumerate(chains)
        for place in range(len(chain))
    )


CONSISTENT = Property(
    "the recovery line has no orphans", When.ALWAYS, _is_consistent, nodes=True, outputs=False
)
NO_DOMINO = Property(
    "no restart undoes all checkpoints of all operators",
    When.ALWAYS,
    lambda scope, seen: _undone(scope, seen) == 0,
    messages=True,
    outputs=False,
)
NO_LONG_DOMINO = Property(
    "no restart undoes two checkpoints of every operator, and all others",
    When.ALWAYS,
    lambda scope, seen: _undone(scope, seen) < 2,
    messages=True,
)
USEFUL = Property(
    "every checkpoint belongs to a consistent line", When.ALWAYS, _is_useful, nodes=True
)
