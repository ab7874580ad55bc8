"""The recovery time and the total time of a query in micro-batches, given the costs of its parts.

Rule of this file: it translates.  The protocol is model.protocols.micro_batch.protocol, the driver
is sim.timed.simulator.  Costs that were measured elsewhere become costs of the driver, and the
moments of the run become seconds.

All input is there from the start, and each batch ends with a given event: nothing waits, so every
second is work.  The model's query takes all announced events into a batch; an engine with admission
control takes fewer, and so does the query here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import partial
from itertools import pairwise
from math import gcd
from typing import Any, NamedTuple

from model.actions import Deliver, Restart
from model.core import Answer, Arrival, Effect, Input, Inputs, Received, Scope, Send, Site
from model.errors import Invalid
from model.events import Body
from model.graph import chain
from model.oracle import oracle
from model.protocol import Protocol
from model.protocols.micro_batch.messages import (
    AGAIN,
    Ask,
    BatchSource,
    Latest,
    Write,
    Written,
)
from model.protocols.micro_batch.protocol import PROTOCOL
from model.protocols.micro_batch.scopes import counting_operator
from model.system import System
from sim.timed import failures
from sim.timed.costs import PS, Costs, LinkCosts, Service, Storage, Timer, picoseconds
from sim.timed.detector import Detector
from sim.timed.record import LogEntry, TimedResult
from sim.timed.simulator import run_timed

SOURCE, QUERY, SINK = "source", "query", "sink"
AT_ONCE = 1e-12
"""Seconds; where the driver asks for more than none."""


class BatchCosts(NamedTuple):
    """Seconds.  start_s: from the start of the job until its first trigger is set, and the extra
    time of its first batch.  trigger_s: from the end of a batch until the next is planned.  save_s:
    to write an entry of a log or a version of the state.  batch_s, event_s: to run a batch, and in
    addition for each event.  stop_s: from the end of the last batch to the end of the job."""

    start_s: float
    trigger_s: float
    save_s: float
    batch_s: float
    event_s: float
    stop_s: float


class BatchPhase(StrEnum):
    """The phases of a batch, in order."""

    PLANNING = "planning"
    """From the choice of its range until that is in the offset log."""
    RUNNING = "running"
    """From then on until the sink has taken the batch."""
    COMMITTING = "committing"
    """From then on until the batch is in the commit log."""


class PhaseCrash(NamedTuple):
    """A crash to come, in batch 0, 1, ..., when this share (0 to 1) of the phase is over.  away_s:
    seconds from the crash until the job is started again."""

    batch: int
    phase: BatchPhase
    share: float
    away_s: float = 0.0


class JobPrediction(NamedTuple):
    """same: is the output that of a run without failures?  again: does a batch that was in the
    offset log run again?  recovery_s: seconds from the crash until the batch that crashed is out,
    or was given to the sink again; None if there was no crash.  total_s: seconds from the start of
    the job to its end."""

    same: bool
    again: bool
    recovery_s: float | None
    total_s: float


def predict(
    ends: Sequence[int], costs: BatchCosts, crash: PhaseCrash | None = None
) -> JobPrediction:
    """The prediction for a stream whose batches end with the events of these numbers.

    Raises Invalid if the batches do not end one after the other, or the crash is in none of them.
    """
    if any(end <= before for before, end in pairwise((0, *ends))) or not ends:
        raise Invalid(
            f"batches end with events {list(ends)}: give at least one, each after the last"
        )
    run = TimedBatches(tuple(ends), costs)
    if crash is None:
        played, _, same = run.play()
        return JobPrediction(same, False, None, run.total(played))
    if crash.batch not in range(len(ends)):
        raise Invalid(f"a crash in batch {crash.batch}: there are 0 to {len(ends) - 1}")
    _, log, _ = run.play()
    began, ended = _phases(log, crash.batch)[crash.phase]
    at = began + round(crash.share * (ended - began))
    played, log, same = run.play(failures.TimedCrash(at, (QUERY,)), crash.away_s)
    back = next(entry.done_ps for entry in log if isinstance(entry.action, Restart))
    out = next(e.done_ps for e in log if e.done_ps > back and _batch_of(e, SINK, Write) is not None)
    again = played.notes.get(AGAIN.name, 0) > 0
    return JobPrediction(same, again, (out - at) / PS, run.total(played))


def predict_plan(every_s: float, free_s: float, planned_s: float | None) -> float:
    """When the next batch is planned, for a trigger on the clock, in seconds since the epoch.

    free_s: when the query is free for it.  planned_s: when the batch before was planned; None after
    a start.
    """
    used = None if planned_s is None else picoseconds(planned_s)
    return Timer(every_s=every_s).due_ps(picoseconds(free_s), used, overdue=True) / PS


class TimedBatches(NamedTuple):
    """A stream to be run in batches, and the costs of its parts."""

    ends: tuple[int, ...]
    costs: BatchCosts

    def play(
        self, planned: failures.TimedCrash | None = None, away_s: float = 0.0
    ) -> tuple[TimedResult, list[LogEntry], bool]:
        """The run, its steps in order, and whether the output is as if nothing had failed."""
        # Costs are linear in events, so it is exact to count them in blocks.
        block = gcd(*self.ends)
        ends = [end // block for end in self.ends]
        events = (Arrival(1, "event"),) * ends[-1]
        graph = chain((QUERY, counting_operator(len(events))), source=SOURCE, sink=SINK)
        scope = Scope(graph, ((SOURCE, Inputs((), 0)),))
        each = self.costs
        begins = picoseconds(each.start_s)
        log: list[LogEntry] = []
        outputs: list[Body] = []
        played = run_timed(
            System(admitting(PROTOCOL, ends), scope),
            ((begins, SOURCE, event) for event in events),
            driver_costs(each, block),
            lambda _sink, _at, output: outputs.append(output[1]),
            ends_ps=begins,
            detector=Detector(keep_alive_s=AT_ONCE, misses=1, restart_s=away_s + each.start_s),
            planned=[planned] if planned else [],
            log=log,
        )
        ((want,),) = oracle(graph, {SOURCE: events}).values()
        log.sort(key=lambda entry: entry[:3])
        return played, log, tuple(outputs) == want

    def total(self, played: TimedResult) -> float:
        return played.ended_ps / PS + self.costs.stop_s


def admitting(protocol: Protocol, ends: Sequence[int]) -> Protocol:
    """The protocol with a source that admits events up to the next of the ends only."""

    def step(site: Site, state: Any, input_: Input) -> Answer:
        after, effects = protocol.behaviour.step(site, state, input_)
        if not isinstance(state, BatchSource):
            return after, effects
        message = input_.message if isinstance(input_, Received) else None
        limited = partial(_limit, ends, message.after if isinstance(message, Ask) else state.asked)
        return after, tuple(map(limited, effects))

    return protocol.vary(step=step)


def _limit(ends: Sequence[int], asked: int | None, effect: Effect) -> Effect:
    """The effect; a report of new events goes up to the next of the ends only."""
    if not (isinstance(effect, Send) and isinstance(effect.message, Latest)):
        return effect
    assert asked is not None
    limit = min(end for end in ends if end > asked)
    return Send(effect.to, Latest(min(effect.message.end, limit)))


def driver_costs(costs: BatchCosts, block: int) -> Costs:
    """The costs as the driver has them.  block: this many events are one event of the driver."""
    return Costs(
        service=Service(event_s=block * costs.event_s, control_s=0.0, item_s=costs.batch_s),
        link=LinkCosts(delay_s=0.0, bandwidth_bytes_per_s=None),
        storage=Storage(latency_s=costs.save_s, bandwidth_bytes_per_s=None),
        timer_s=max(costs.trigger_s, AT_ONCE),
    )


def _phases(log: Sequence[LogEntry], batch: int) -> Mapping[BatchPhase, tuple[int, int]]:
    """When the phases of a batch began and ended, in picoseconds, in a run without failures."""
    planned = [entry for entry in log if isinstance(_taken(entry, QUERY), Latest)][batch]
    out = next(e.done_ps for e in log if _batch_of(e, SINK, Write) == batch)
    committed = next(e.done_ps for e in log if _batch_of(e, QUERY, Written) == batch)
    return {
        BatchPhase.PLANNING: (planned.began_ps, planned.done_ps),
        BatchPhase.RUNNING: (planned.done_ps, out),
        BatchPhase.COMMITTING: (out, committed),
    }


def _taken(entry: LogEntry, node: str) -> Any:
    """The message that the node takes; None if the entry is something else."""
    action = entry.action
    return entry.what[1] if isinstance(action, Deliver) and action.node == node else None


def _batch_of(entry: LogEntry, node: str, what: type[Write | Written]) -> int | None:
    """The batch, if the entry is the step in which the node takes such a message."""
    message = _taken(entry, node)
    return message.batch.id if isinstance(message, what) else None
