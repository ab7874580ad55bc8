"""Saturation: is any shape new in the last event, or the last crash, of a check's largest scope?

Rule of this file: it has scopes explored once more, without the last event or crash; it decides
nothing.  Both searches are whole: a reduced one may miss the shapes that it is asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from model.evidence import Outcome
from model.protocol import Protocol
from model.results.attack import AttackResult
from model.results.reach import LastOne, Reach
from proofs.explore.random_attack import enlarge
from proofs.explore.reach.gather import LARGEST, MetInScope, largest_of, reach_of, without_last
from proofs.explore.tasks import Done, FewerDone, ScopeDone, Task, TaskKind, TaskResult


def measure_reach(
    protocol: Protocol,
    tasks: Sequence[Task],
    results: Sequence[TaskResult],
    perform: Callable[[Sequence[Task]], Sequence[TaskResult]],
) -> Reach | None:
    """The reach of a check of which these are the results; None without a scope, or if something
    was refuted.  perform: performs more tasks."""
    pairs = zip(tasks, results, strict=True)
    done = [(task, one) for task, one in pairs if isinstance(one, ScopeDone)]
    named = {one.name: one for one in protocol.evidence.scopes}
    pinned = [named[task.name] for task, _ in done]
    met = [
        MetInScope(named[task.name].scope, one.row.states, one.shapes, one.hit, one.row.reduced)
        for task, one in done
        if one.shapes is not None and one.row.outcome is not Outcome.REFUTED
    ]
    if not met or len(met) < len(done):
        return None
    largest, result = done[largest_of(met)]
    fewer = [
        largest._replace(kind=TaskKind.FEWER, last=last)
        for last in LastOne
        if result.row.complete and not result.row.reduced and result.row.states <= LARGEST
        if without_last(named[largest.name].scope, last) is not None
    ]
    less = [one for one in perform(fewer) if isinstance(one, FewerDone)] if fewer else []
    compared = [(one.last, one.met) for one in less if one.met is not None]
    attacks = (one.row for one in results if isinstance(one, Done))
    attacked = any(isinstance(row, AttackResult) and row.actions for row in attacks)
    return reach_of(protocol, pinned, met, compared, enlarge(protocol) if attacked else ())
