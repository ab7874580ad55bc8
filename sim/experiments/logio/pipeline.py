"""A pipeline in simulated time: operators, connections and failures, under LOG.io, ABS or nothing.

Rule of this file: no number of the paper.  Operators are counters: the contents of events do not
matter here, since the families log_io and abs of the model have shown that outputs are right.
LOG.io, Sections 3, 4 and 9.1.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, NamedTuple

import simpy

from sim.experiments.logio.inbox import TaskInbox
from sim.experiments.logio.study import (
    SOURCE,
    Failure,
    PipelineOutcome,
    PipelineRecovery,
    PipelineStudy,
    PipelineTask,
    StudiedPipeline,
)

Waiting = Generator[simpy.Event, Any, None]


@dataclass(slots=True)
class _State:
    """The counters of an operator: inputs taken, those in the set under way, outputs made and
    held."""

    taken: int = 0
    have: dict[str, int] = field(default_factory=dict)
    made: int = 0
    held: int = 0

    def copy(self) -> _State:
        return _State(self.taken, {**self.have}, self.made, self.held)


class _Marker(NamedTuple):
    epoch: int


_EVENT = "event"


def run(case: PipelineStudy) -> PipelineOutcome:
    """Run the pipeline until its last operator has all inputs."""
    clock, epoch = 0.0, 0
    saved: dict[int, dict[str, _State]] = {0: _nothing(case.pipeline)}
    pending = list(case.failures)
    lost: list[float] = []
    made: list[tuple[int, int]] = []
    transactions = snapshots = 0
    while True:
        part = _Part(case, saved[epoch], epoch, clock, pending)
        part.env.run(until=part.over)
        transactions += part.transactions
        snapshots += part.snapshots
        made += part.made
        if part.failed is None:
            return PipelineOutcome(
                part.env.now, (*lost, *part.lost), transactions, snapshots, (*made,)
            )
        pending.remove(part.failed)
        saved |= part.saved
        epoch = max(at for at, states in saved.items() if len(states) == len(part.states))
        saved = {epoch: saved[epoch]}
        lost.append(_lost(case.pipeline, part.states, saved[epoch]))
        clock = part.env.now + case.costs.restart_s


def _nothing(pipeline: StudiedPipeline) -> dict[str, _State]:
    return {name: _State() for name in (SOURCE, *(task.name for task in pipeline.tasks))}


def _lost(
    pipeline: StudiedPipeline, now: Mapping[str, _State], then: Mapping[str, _State]
) -> float:
    return max((now[one.name].made - then[one.name].made) * one.work_s for one in pipeline.tasks)


class _Part:
    """A run up to a restart of the whole pipeline, or to the end."""

    def __init__(
        self,
        case: PipelineStudy,
        states: Mapping[str, _State],
        epoch: int,
        clock: float,
        failures: Sequence[Failure],
    ) -> None:
        self.case, self.costs = case, case.costs
        self.env = simpy.Environment(clock)
        self.over = self.env.event()
        self.failed: Failure | None = None
        self.states = {name: state.copy() for name, state in states.items()}
        self.epoch = epoch
        self.saved: dict[int, dict[str, _State]] = {}
        self.lost: list[float] = []
        self.made: list[tuple[int, int]] = []
        self.transactions = self.snapshots = 0
        self.failures = failures
        tasks = case.pipeline.tasks
        names = (SOURCE, *(task.name for task in tasks))
        self.next = {name: [t.name for t in tasks if name in t.inputs] for name in names}
        room = inf if case.costs.room is None else case.costs.room
        self.inboxes = {t.name: TaskInbox(self.env, room * len(t.inputs)) for t in tasks}
        self.bytes = _sizes(case)
        self.env.process(self.source())
        for task in tasks:
            self.env.process(self.task(task, self.failures_of(task.name)))
        if case.recovery is PipelineRecovery.SNAPSHOTS:
            for failure in failures:
                if failure.after is None and failure.at_s >= clock:
                    self.env.process(self.fail_at(failure))

    def failures_of(self, name: str) -> deque[Failure]:
        return deque(one for one in self.failures if one.task == name)

    # --- the source ----------------------------------------------------------------------------
    def source(self) -> Waiting:
        env, pipeline, state = self.env, self.case.pipeline, self.states[SOURCE]
        logs = self.case.recovery is PipelineRecovery.LOG
        each = self._logged(SOURCE) if logs else 0.0
        marker_at = env.now + self.case.interval_s
        while state.made < pipeline.events:
            yield env.timeout(max(pipeline.period_s, each))
            self.transactions += logs
            while env.now > marker_at + pipeline.period_s / 2:  # a marker is between two events
                yield from self.mark(SOURCE, state)
                marker_at += self.case.interval_s
            state.made += 1
            yield from self.send(SOURCE, _EVENT, state.made)
        while self.case.interval_s < inf:
            yield env.timeout(max(0.0, marker_at - env.now))
            yield from self.mark(SOURCE, state)
            marker_at += self.case.interval_s

    def mark(self, name: str, state: _State) -> Waiting:
        """Begin an epoch."""
        self.epoch += 1
        self.save(name, self.epoch, state)
        yield from self.send(name, _Marker(self.epoch), 0)

    def send(self, name: str, what: Any, turn: int, *, deals: bool = False) -> Waiting:
        """Put it into the connections; wait for room, if they are bounded."""
        to = self.next[name]
        for one in [to[turn % len(to)]] if deals else to:
            put = self.inboxes[one].put((name, what))
            if put is not None:
                yield put

    # --- the other operators -------------------------------------------------------------------
    def task(self, task: PipelineTask, failures: deque[Failure]) -> Waiting:
        env, inbox, state = self.env, self.inboxes[task.name], self.states[task.name]
        logs = self.case.recovery is PipelineRecovery.LOG
        last = task is self.case.pipeline.tasks[-1]
        each = self._logged(task.name)
        work_s = task.work_s * (1 + self._share())
        marked: set[str] = set()
        waiting: deque[tuple[str, Any]] = deque()
        while True:
            if not inbox.items:
                yield inbox.filled()
            port, what = inbox.take()
            if port in marked:  # aligned: it waits for the other markers
                waiting.append((port, what))
                continue
            if isinstance(what, _Marker):
                marked.add(port)
                if len(marked) < len(task.inputs):
                    continue
                marked.clear()
                yield from self.snapshot(task, state, what)
                inbox.items.extendleft(reversed(waiting))
                waiting.clear()
                continue
            state.taken += 1
            state.have[port] = state.have.get(port, 0) + 1
            if failures and failures[0].after == state.taken:
                yield from self.fail_after(failures.popleft(), state)
            makes = _complete(task, state) and not last
            begun = env.now
            spent = 0.0
            if logs:
                updates = 1 + (makes and task.writes)
                self.transactions += updates + makes
                spent = self.costs.assign_s * updates + each * makes
            spent += work_s * makes
            if spent:
                yield env.timeout(spent)
            if logs:
                yield from self.fail_by_now(failures, begun)
            if last and state.taken == self.case.pipeline.ends:
                self.over.succeed()
                return
            if makes:
                state.made += 1
                if task.writes and self.case.recovery is PipelineRecovery.SNAPSHOTS:
                    state.held += 1
                else:
                    yield from self.send(task.name, _EVENT, state.made, deals=task.deals)

    def snapshot(self, task: PipelineTask, state: _State, marker: _Marker) -> Waiting:
        """Save the state, and hand the marker on; a writer first hands on the outputs of the
        epoch."""
        if self.costs.snapshot_s:
            yield self.env.timeout(self.costs.snapshot_s)
        held, state.held = state.held, 0
        self.save(task.name, marker.epoch, state)
        for _ in range(held):
            yield from self.send(task.name, _EVENT, 0)
        yield from self.send(task.name, marker, 0)

    def save(self, name: str, epoch: int, state: _State) -> None:
        self.saved.setdefault(epoch, {})[name] = state.copy()
        self.snapshots += name != SOURCE

    # --- failures ------------------------------------------------------------------------------
    def fail_after(self, failure: Failure, state: _State) -> Waiting:
        """Restart the operator, which reads the inputs of its set again, or stop the pipeline."""
        self.made.append((self.states[SOURCE].made, state.made))
        if self.case.recovery is PipelineRecovery.SNAPSHOTS:
            self._stop(failure)
            yield self.env.event()  # never
        self.lost.append(0.0)
        undone = sum(state.have.values()) * self.costs.assign_s
        yield self.env.timeout(self.costs.restart_s + undone)

    def fail_by_now(self, failures: deque[Failure], begun: float) -> Waiting:
        """Restart the operator for failures at times that have passed; the work that was under way
        is begun again."""
        while failures and failures[0].at_s <= self.env.now:
            at_s = failures.popleft().at_s
            self.lost.append(max(0.0, at_s - begun))
            yield self.env.timeout(max(0.0, self.costs.restart_s + at_s - begun))

    def fail_at(self, failure: Failure) -> Waiting:
        yield self.env.timeout(failure.at_s - self.env.now)
        self._stop(failure)

    def _stop(self, failure: Failure) -> None:
        if not self.over.triggered:
            self.failed = failure
            self.over.succeed()

    # --- costs ---------------------------------------------------------------------------------
    def _logged(self, name: str) -> float:
        costs = self.costs
        return costs.generate_s + costs.lineage_s + costs.byte_s * self.bytes[name]

    def _share(self) -> float:
        return self.costs.share if self.case.recovery is PipelineRecovery.SNAPSHOTS else 0.0


def _complete(task: PipelineTask, state: _State) -> bool:
    """Is an Input Set complete?  If so, it is used up."""
    needs, have = task.gathers, state.have
    if isinstance(needs, int):
        if sum(have.values()) < needs:
            return False
        have.clear()
        return True
    if any(have.get(port, 0) < count for port, count in needs.items()):
        return False
    for port, count in needs.items():
        have[port] -= count
    return True


def _sizes(case: PipelineStudy) -> dict[str, float]:
    """The bytes of an output of each operator, beyond those that costs were measured with."""
    sizes = {SOURCE: case.event_bytes}
    for task in case.pipeline.tasks:
        sizes[task.name] = max(sizes[one] for one in task.inputs) * task.grows
    return sizes
