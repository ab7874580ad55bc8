"""Crash the job and start it again: what is observed then, and what the model predicts.

Rule of this file: what the checks that crash the job have in common, and no judgement.

A query first runs in a process of its own, which is killed.  It is restarted in a session that many
queries share, since a checkpoint does not depend on the process that wrote it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, cycle, islice
from pathlib import Path
from typing import NamedTuple, TypeVar

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from engine_check.check import CheckSetting
from engine_check.victim import JobEnded, start
from model.errors import Invalid
from model.protocol import Protocol
from model.protocols.micro_batch import crashes as model_crashes
from model.protocols.micro_batch.messages import NO_BATCH, Batch
from model.protocols.micro_batch.protocol import PROTOCOL
from model.results.engine import Facts
from spark_check.micro_batch.checkpoint import committed_batches, offsets_by_batch, stores
from spark_check.micro_batch.external_store import ExternalStore, StoreSink
from spark_check.micro_batch.job import JobSettings, Writer, run_to_end
from spark_check.micro_batch.stream import JobPoint, breakpoint_at
from spark_check.micro_batch.verdict import bodies, expected_bodies, judge
from spark_check.runtime.crash_kinds import CrashKind, kill_kind
from spark_check.runtime.session import BRIEF, LOCAL, session

T = TypeVar("T")
JOB = "spark_check.micro_batch.job:run"
SINKS = {
    StoreSink.BY_BATCH: PROTOCOL,
    StoreSink.APPEND: PROTOCOL.named("micro-batch:foreach-batch"),
}
"""The model of a query with this sink."""
TYPES = "aababbb"
"""Event after event, over and over.  Spark hashes the two types to two partitions."""

BUSY = "Python worker failed to connect back"
"""Spark's message if a process of a data source takes more than 10 s to start, before any batch is
run: the cause is the machine, and neither the query nor its checkpoint."""
ATTEMPTS = 3
TOO_BUSY = f"Spark gave up {ATTEMPTS} times ({BUSY}): this machine is too busy for this check"


class JobLoad(NamedTuple):
    """Events to be processed.  sizes: of the batches that are planned before the crash.  late:
    events that arrive between the crash and the restart."""

    sizes: Sequence[int] = (4, 4, 2)
    late: int = 3

    @property
    def ends(self) -> tuple[int, ...]:
        """Batch n has the events from ends[n] + 1 to ends[n + 1]."""
        return tuple(accumulate(self.sizes, initial=0))

    @property
    def total(self) -> int:
        return sum(self.sizes) + self.late

    def types(self) -> str:
        return "".join(islice(cycle(TYPES), self.total))


class JobCrash(NamedTuple):
    """A crash to come: the processes that are killed, at which point of batch 0, 1, ..."""

    kind: CrashKind
    point: JobPoint
    batch: int


class CrashedJob(NamedTuple):
    """A job, and the crash that it is run into.  master, writer: until the crash; the restart has
    the same writer."""

    name: str
    plan: JobCrash
    load: JobLoad = JobLoad()
    master: str = LOCAL
    writer: Writer = Writer.FOREACH_BATCH


class RestartedJob(NamedTuple):
    """What was observed of a crashed job.  code: its exit code, None if all of it was killed.
    retried: did a task come to the crash point that had been tried before?  left: `observe_stores`
    before the restart.  error: of the restart, "" if it ended well."""

    code: int | None
    retried: bool
    left: Facts
    error: str
    store: ExternalStore


# --- what is done --------------------------------------------------------------------------------
def prepare(work: Path, load: JobLoad) -> ExternalStore:
    """Make a store in which all but the late events have arrived, and nothing has run."""
    work.mkdir(parents=True)
    store = ExternalStore(str(work))
    store.arrive(load.types()[: load.ends[-1]])
    return store


def crash(settings: JobSettings, plan: JobCrash, load: JobLoad) -> int | None:
    """Run the job and kill what the plan says, where it says: the job's exit code.

    None if all of it was killed.  Otherwise the rest goes on, and the job ends by itself.
    """
    where = breakpoint_at(plan.point, load.ends[plan.batch])
    with start(JOB, Path(settings.work), settings._asdict(), stop_at={where: 0}) as victim:
        kill_kind(victim, plan.kind, victim.stopped(where))
        if plan.kind is CrashKind.TREE:
            return None
        victim.go(where)
        return victim.join()


def crash_job(work: Path, job: CrashedJob) -> tuple[ExternalStore, int | None]:
    """Run the job with a new store and crash it: the store, and the job's exit code."""

    def attempt(folder: Path) -> tuple[ExternalStore, int | None]:
        store = prepare(folder, job.load)
        settings = JobSettings(store.work, job.load.ends[1:], writer=job.writer, master=job.master)
        return store, crash(settings, job.plan, job.load)

    return insist(work, attempt)


def insist(work: Path, attempt: Callable[[Path], T]) -> T:
    """What the attempt returns, which runs jobs in a new folder of its own.

    One whose job ends because this machine is too busy is made anew.  Raises Invalid if that goes
    on.
    """
    for number in range(ATTEMPTS):
        folder = work / f"attempt-{number}"
        try:
            return attempt(folder)
        except JobEnded:
            logs = [log.read_text(errors="replace") for log in folder.rglob("spark.log")]
            if not any(BUSY in log for log in logs):
                raise
    raise Invalid(TOO_BUSY)


def restart(spark: SparkSession, settings: JobSettings, load: JobLoad) -> str:
    """Let the late events arrive and run the job to its end: the error that ended it, or "".

    Raises Invalid if this machine is too busy to start Spark's processes in time.
    """
    store = ExternalStore(settings.work)
    store.arrive(load.types()[load.ends[-1] :])
    for _ in range(ATTEMPTS):
        try:
            run_to_end(spark, settings)
        except (PySparkException, Py4JJavaError) as error:  # some stay untranslated
            if BUSY not in str(error):
                return str(error)
        else:
            return ""
    raise Invalid(TOO_BUSY)


def recover_all(setting: CheckSetting, jobs: Sequence[CrashedJob]) -> tuple[RestartedJob, ...]:
    """Crash all jobs, one after the other; then restart them in one session: what was observed."""
    crashed = []
    for number, job in enumerate(jobs):
        setting.report(f"crash {job.name}", number, len(jobs))
        store, code = crash_job(setting.work / f"crash-{number}", job)
        retried = any(line.get("attempt") for line in store.notes(job.plan.point))
        crashed.append((job, store, RestartedJob(code, retried, observe_stores(store), "", store)))
    found = []
    with session(setting.work / "restarts", conf=BRIEF, jvm=setting.shared) as spark:
        for number, (job, store, recovery) in enumerate(crashed):
            setting.report(f"restart {job.name}", number, len(jobs))
            error = restart(spark, JobSettings(store.work, writer=job.writer), job.load)
            found.append(recovery._replace(error=error))
    return tuple(found)


# --- what is seen --------------------------------------------------------------------------------
def logged_batches(store: ExternalStore) -> tuple[Batch, ...]:
    """The batches in the offset log."""
    ends = {id_: offsets[0]["end"] for id_, offsets in offsets_by_batch(store.checkpoint).items()}
    return tuple(Batch(id_, ends.get(id_ - 1, 0), end) for id_, end in ends.items())


def restarted_batches(store: ExternalStore) -> tuple[Batch, ...]:
    """The batches that were given to the sinks since the query was last started, in order."""
    lines = store.notes(JobPoint.PROCESSED, lately=True)
    return tuple(Batch(line["batch"], line["start"], line["end"]) for line in lines)


def observe_stores(store: ExternalStore) -> Facts:
    """What is durable now, in the words of the model."""
    batches = logged_batches(store)
    newest = {max(versions, default=0) - 1 for versions in stores(store.checkpoint).values()}
    return {
        "offset log": list(batches[-1] if batches else NO_BATCH),
        "state of batch": sorted(newest or {NO_BATCH.id}),
        "commit log": max(committed_batches(store.checkpoint), default=NO_BATCH.id),
        "sink has": list(store.taken()),
        "acknowledged": store.acked(),
    }


def observe_recovery(store: ExternalStore) -> Facts:
    """What the restart did, and what the sinks have."""
    want = Counter(expected_bodies(store.events()))
    got = {sink: Counter(bodies(store.output(sink))) for sink in StoreSink}
    return {
        "ran after the restart": [list(batch) for batch in restarted_batches(store)],
        "offsets in the end": [list(batch) for batch in logged_batches(store)],
        **{
            f"{sink} sink": judge(store.events(), store.output(sink)).name.lower()
            for sink in StoreSink
        },
        **{f"{sink} sink, rows too many": (got[sink] - want).total() for sink in StoreSink},
        **{f"{sink} sink, rows missing": (want - got[sink]).total() for sink in StoreSink},
    }


# --- what is predicted ---------------------------------------------------------------------------
def predict(
    point: model_crashes.CrashPoint, load: JobLoad, sinks: Mapping[StoreSink, Protocol] = SINKS
) -> tuple[Facts, Facts]:
    """What the model predicts of `observe_stores` and `observe_recovery`.

    One run of the model for each sink; the runs differ in nothing else.
    """
    runs = {
        sink: model_crashes.replay_crash(protocol, point, load.sizes, load.late)
        for sink, protocol in sinks.items()
    }
    one, *others = runs.values()
    assert all((other.stores, other.ran) == (one.stores, one.ran) for other in others)
    ends = load.ends
    planned = [Batch(id_, ends[id_], ends[id_ + 1]) for id_ in range(one.stores.offsets.id + 1)]
    left = {
        "offset log": list(one.stores.offsets),
        "state of batch": [one.stores.state],
        "commit log": one.stores.commit,
        "sink has": list(one.stores.sink),
        "acknowledged": one.stores.acked,
    }
    later = {
        "ran after the restart": [list(batch) for batch in one.ran],
        "offsets in the end": [list(batch) for batch in sorted({*planned, *one.ran})],
        **{f"{sink} sink": run.guarantee.name.lower() for sink, run in runs.items()},
        **{f"{sink} sink, rows too many": run.surplus for sink, run in runs.items()},
        **{f"{sink} sink, rows missing": run.missing for sink, run in runs.items()},
    }
    return left, later
