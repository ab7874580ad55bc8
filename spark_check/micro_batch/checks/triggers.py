"""When a query with a trigger plans its batches on real Spark, beside the simulator's timers.

Rule of this file: runs are made and timed here.  Each batch is predicted from what was seen of the
one before it, by the rule of a scenario's [costs.timers].

One batch is held up beyond its trigger.  Then the query is killed and started again with a trigger
so long that the check would fail if the query waited for it.
"""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from engine_check.check import Check, CheckSetting, engine_case
from engine_check.victim import start
from model.results.engine import EngineCase, EngineOutage
from sim.predictions.micro_batch import predict_plan
from spark_check.micro_batch.calibration import arm, read_times
from spark_check.micro_batch.crashes import JOB
from spark_check.micro_batch.external_store import ExternalStore
from spark_check.micro_batch.job import JobSettings
from spark_check.micro_batch.stream import JobPoint, breakpoint_at
from spark_check.runtime.crash_kinds import CrashKind

PERIOD_S, LONG_S = 4.0, 3_600.0
"""The trigger of the query, and of the query that is started again."""
LATE_S = 1.0
"""A batch is planned later than its trigger by less than this: Spark has to call latestOffset."""
STEP_S = 0.01
"""The clock of files moves in steps of less than this, and so may be late."""
BATCHES = {"quick": 5, "full": 12}
HELD = 1
"""The batch that is held up."""
EVENTS = 10
"""In a batch."""
ON_THE_CLOCK, AT_ONCE = "on the clock", "at once"


class PlannedBatch(NamedTuple):
    """Seconds since the epoch.  before: when the batch before this one was planned.  free: when
    that was in the commit log.  planned: when this one was planned."""

    before: float
    free: float
    planned: float

    @property
    def due(self) -> float:
        """When the simulator plans it."""
        return predict_plan(PERIOD_S, self.free, self.before + STEP_S)

    @property
    def predicted(self) -> str:
        return ON_THE_CLOCK if self.due % PERIOD_S == 0 else AT_ONCE

    @property
    def seen(self) -> str:
        late = self.planned - self.due
        on_time = -STEP_S <= late < LATE_S
        return self.predicted if on_time else f"{late:+.1f} s from {self.predicted}"


class RestartedQuery(NamedTuple):
    """Seconds since the epoch: when it was started again, and when it planned its first batch."""

    started: float
    planned: float

    @property
    def predicted(self) -> str:
        due = predict_plan(LONG_S, self.started, None)
        return AT_ONCE if due - self.started < STEP_S else ON_THE_CLOCK

    @property
    def seen(self) -> str:
        return AT_ONCE if self.started // LONG_S == self.planned // LONG_S else ON_THE_CLOCK


def _run(setting: CheckSetting) -> tuple[EngineCase, ...]:
    batches, query = run_query(setting)
    cases = [
        engine_case(
            f"batch {number}",
            {"planned": batch.predicted},
            {"planned": batch.seen},
            details={"late_s": round(batch.planned - batch.due, 3)},
        )
        for number, batch in enumerate(batches, 2)
    ]
    crash = EngineOutage(CrashKind.TREE.value, JobPoint.PLAN.value)
    again = {"planned": query.predicted}, {"planned": query.seen}
    return (*cases, engine_case("after a restart", *again, crashed=(crash,)))


def run_query(setting: CheckSetting) -> tuple[list[PlannedBatch], RestartedQuery]:
    """Hold up a batch of the query, kill it as it plans the last one, and start it again."""
    count = BATCHES[setting.profile]
    starts = [number * EVENTS for number in range(count)]
    store = ExternalStore(str(setting.work / "run"))
    work = Path(store.work)
    work.mkdir(parents=True)
    store.arrive("a" * count * EVENTS)
    settings = JobSettings(store.work, [first + EVENTS for first in starts], trigger_s=PERIOD_S)
    plans = [breakpoint_at(JobPoint.PLAN, first) for first in starts]
    held, last = breakpoint_at(JobPoint.WRITTEN, starts[HELD]), plans[-1]

    setting.report("batches", 0, count)
    with start(JOB, work, settings._asdict(), stop_at={**arm(starts), held: 0, last: 0}) as job:
        job.stopped(held)
        setting.report("batches", HELD + 1, count)
        tick = (read_times(work / "run-0")[plans[HELD]] // PERIOD_S + 1) * PERIOD_S
        time.sleep(max(0.0, tick + PERIOD_S / 2 - time.time()))
        job.go(held)
        job.stopped(last)
        job.kill()
    times = read_times(work / "run-0")
    commits = store.checkpoint / "commits"
    batches = [
        PlannedBatch(times[before], (commits / str(number)).stat().st_mtime, times[plan])
        for number, (before, plan) in enumerate(pairwise(plans))
    ]

    setting.report("batches", count - 1, count)
    again = settings._replace(trigger_s=LONG_S)
    started = time.time()
    with start(JOB, work, again._asdict(), stop_at={last: 0}) as job:
        job.stopped(last)
    return batches, RestartedQuery(started, read_times(work / "run-1")[last])


CHECK = Check(
    "triggers",
    "When a query with a trigger plans its batches",
    _run,
    notes=(
        f"The trigger is {PERIOD_S:g} s.  Batch {HELD + 1} is held up until {PERIOD_S / 2:g} s "
        "after the next one; the query is killed as it plans the last batch, and started again "
        "with a trigger of an hour.",
        "Predicted by the rule of the simulator's timers from when the batch before was planned "
        "and committed; the clock is that of the epoch.",
    ),
    campaign="full",
)
