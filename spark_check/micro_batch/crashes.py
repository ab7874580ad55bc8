"""Crash the job of `pipeline`, start it again: what came of it, and what should have.

Rule of this file: what the checks that crash it have in common, and no judgement.

The first life of a query is a process of its own, which is killed; its second runs in a session
that many share, since a checkpoint knows nothing of the process that wrote it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate, cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from model.core import Protocol
from model.errors import Invalid
from model.protocols.micro_batch import crashes as batch_crashes
from model.protocols.micro_batch.crashes import replay_crash
from model.protocols.micro_batch.messages import NO_BATCH, Batch
from model.protocols.micro_batch.protocol import PROTOCOL
from spark_check.micro_batch.checkpoint import committed, logged, stores
from spark_check.micro_batch.external_store import Outside, Sink
from spark_check.micro_batch.job import Settings, drained
from spark_check.micro_batch.stream import Point, place
from spark_check.micro_batch.verdict import bodies, expected, judged
from spark_check.runtime.victim import Kind, start

JOB = "spark_check.micro_batch.job:run"
SINKS = {Sink.BY_BATCH: PROTOCOL, Sink.APPEND: PROTOCOL.variant("micro-batch:foreach-batch")}
"""What the model calls a query with this sink."""
TYPES = "aababbb"
"""Event after event, over and over.  Spark hashes the two types to two partitions."""

BUSY = "Python worker failed to connect back"
"""What Spark says if a process of a data source takes more than 10 s to start, before any batch is
run: that is about the machine, and not about the query or its checkpoint."""
ATTEMPTS = 3


class Load(NamedTuple):
    """Batches of so many events, the last of them crashed; more arrive before the restart."""

    sizes: Sequence[int] = (4, 4, 2)
    late: int = 3

    @property
    def ends(self) -> tuple[int, ...]:
        """The event with which each batch ends, after the 0 with which the first begins."""
        return tuple(accumulate(self.sizes, initial=0))

    @property
    def total(self) -> int:
        return sum(self.sizes) + self.late

    def types(self) -> str:
        return "".join(islice(cycle(TYPES), self.total))


# --- what is done --------------------------------------------------------------------------------
def begun(work: Path, load: Load) -> Outside:
    """A world in which all but the late events have arrived, and nothing has run."""
    work.mkdir(parents=True)
    outside = Outside(str(work))
    outside.arrive(load.types()[: load.ends[-1]])
    return outside


def crashed(settings: Settings, kind: Kind, point: Point, after: int) -> int | None:
    """Kill it at the point of the batch that begins after event `after`: the job's exit code.

    None if all of it was killed.  Otherwise the rest goes on, and the job ends by itself.
    """
    where = place(point, after)
    with start(JOB, Path(settings.work), settings._asdict(), stop_at={where: 0}) as victim:
        victim.kill(kind, victim.stopped(where))
        if kind is Kind.TREE:
            return None
        victim.go(where)
        return victim.join()


def restarted(spark: SparkSession, settings: Settings, load: Load) -> str:
    """Run it to the end once the late events have arrived: what it died of, if it did.

    Raises Invalid if the machine is too busy to tell.
    """
    outside = Outside(settings.work)
    outside.arrive(load.types()[load.ends[-1] :])
    for _ in range(ATTEMPTS):
        try:
            drained(spark, settings)
        except (PySparkException, Py4JJavaError) as error:  # some stay untranslated
            if BUSY not in str(error):
                return str(error)
        else:
            return ""
    raise Invalid(f"Spark gave up {ATTEMPTS} times ({BUSY}): this machine is too busy to check it")


# --- what is seen --------------------------------------------------------------------------------
def ranges(outside: Outside) -> tuple[Batch, ...]:
    """The batches in the offset log."""
    ends = {id_: offsets[0]["end"] for id_, offsets in logged(outside.checkpoint).items()}
    return tuple(Batch(id_, ends.get(id_ - 1, 0), end) for id_, end in ends.items())


def ran(outside: Outside) -> tuple[Batch, ...]:
    """The batches that were given to the sinks since the query was last started, in order."""
    lines = outside.told(Point.PROCESSED, lately=True)
    return tuple(Batch(line["batch"], line["start"], line["end"]) for line in lines)


def stored(outside: Outside) -> dict[str, Any]:
    """What is durable, in the model's words."""
    batches = ranges(outside)
    newest = {max(versions, default=0) - 1 for versions in stores(outside.checkpoint).values()}
    return {
        "offset log": list(batches[-1] if batches else NO_BATCH),
        "state of batch": sorted(newest or {NO_BATCH.id}),
        "commit log": max(committed(outside.checkpoint), default=NO_BATCH.id),
        "sink has": list(outside.taken()),
        "acknowledged": outside.acked(),
    }


def recovered(outside: Outside) -> dict[str, Any]:
    """What the restart did, and what the sinks have."""
    want = Counter(expected(outside.events()))
    got = {sink: Counter(bodies(outside.output(sink))) for sink in Sink}
    return {
        "ran after the restart": [list(batch) for batch in ran(outside)],
        "offsets in the end": [list(batch) for batch in ranges(outside)],
        **{f"{sink} sink": judged(outside, sink).name.lower() for sink in Sink},
        **{f"{sink} sink, rows too many": (got[sink] - want).total() for sink in Sink},
        **{f"{sink} sink, rows missing": (want - got[sink]).total() for sink in Sink},
    }


# --- what is predicted ---------------------------------------------------------------------------
def predicted(
    point: batch_crashes.CrashPoint, load: Load, sinks: Mapping[Sink, Protocol] = SINKS
) -> tuple[dict[str, Any], dict[str, Any]]:
    """`stored` and `recovered`, by the model: a run for each sink, which differ in nothing else."""
    runs = {
        sink: replay_crash(protocol, point, load.sizes, load.late)
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
