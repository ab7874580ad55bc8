"""The recovery type of an output log, compared with a reference: any engine, any size.

Rule of this file: it puts the parts in traces/ together and decides nothing about rows.

REFERENCE is the output of a run without failures, ACTUAL that of a run with failures.  The result
is a recovery type (Hwang et al., Section 3.1), as `model.recovery.classify` defines them.

*Streams.*  Rows with the same --key are a stream; without a key, a log is one stream.  Each stream
is judged by itself, in any order relative to others; the log has the weakest of their types.

*Order.*  Within a stream rows are in the order of the file (files of a folder by name, numbers in
names as numbers; what Spark's file sink wrote, by batch), or of the --order columns.
  If these are compared, as sequence numbers and event times are, rows that tie have no order.
  If they are ignored (--ignore), as times of output must be, they only sort the log, and rows that
  tie keep the order of the file.

*Rows.*  Two rows are the same if all columns agree but those of --ignore (`traces.columns` has the
details of null, NaN, floats and text).  --id names a result independently of its content; without
--id the --order columns name it, provided that they are compared.

Of a stream E in REFERENCE and O in ACTUAL, as multisets of rows:
  lacking     rows of E that O does not hold: E - O.
  foreign     rows of O that are not in E at all.
  duplicated  surplus copies in O of rows that are in E.
  different   foreign rows whose identity E holds; they stand for lacking rows of that identity.
  unexpected  the other foreign rows.
  missing     lacking rows for which no foreign one stands.
  out of order, if the stream is neither precise nor repeating: rows directly behind one that E has
              later.  Copies are paired in order, the first with the first.

The type, and the paper's words for it:
  gap         rows are missing ("the failure causes the loss of tuple t4").
  divergent   none is, but some lack and a different one came ("eliminating these duplicates does
              not produce an output that is achievable without failure").  Without identities,
              divergent cannot be distinguished from gap, and the type is gap.
  precise     O = E, row by row.
  repeating   O is E with rewinds: at times it goes on from an earlier row, and it reaches the end
              ("duplicate tuples are identical to those produced previously").
  convergent  all of E came, and O ends with the last row of E, so that from some point on it is
              the expected output ("different tuples t2', t3', but then produces t4 and following
              as would an execution without failure").
  divergent   all of E came, and O ends otherwise.
If the order is part of the content, O ends as E does if all foreign rows stand before the last
order value of E, and nothing is ever out of order.

*Sinks.*  A log is the output of a sink that keeps a sequence, and all of the above is about that.
The sink may be another one (`model.recovery.classify_content`): a bag, whose rows have no order; a
set, in which equal rows count once; a table by --id, of which the last row of each identity stands.
The rows that such a sink holds all tie, and nothing is convergent.

*Lineage.*  A stream that is not precise, and whose rows all name their inputs (--lineage), has the
type that `model.recovery.beside` gives it instead: it is a gap if an input of E went into no
row of O; a row of O that is not the next of E is a duplicate if all its inputs had gone into rows
of E by then, and a row that is neither makes the stream divergent.  Rows that tie, where the order
is part of the content, count in the order in which the type is strongest.  The counts of rows stay
as they are.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from model.comparison import Shape
from model.core import Guarantee
from model.errors import Invalid
from model.machine import temporary
from model.progress import Progress, silent
from model.results.trace import (
    AskedColumns,
    ComparedLog,
    RowCounts,
    RowFindings,
    SideCounts,
    TraceComparison,
    TraceReading,
)
from spark_check.runtime.cluster.demand import ROOMS, ClusterDemand, ignore
from spark_check.runtime.session import BRIEF, LOCAL, session
from spark_check.traces import columns, memory
from spark_check.traces.closeness import replace_close
from spark_check.traces.columns import ComparedLogs
from spark_check.traces.differences import find_differences
from spark_check.traces.early import check_early
from spark_check.traces.foreign import distinct, foreign_rows, hashed_columns
from spark_check.traces.logs import NO_ROWS, OutputLog, find_log
from spark_check.traces.plain import read_tables
from spark_check.traces.plain_tables import SMALL_BYTES
from spark_check.traces.readings import JudgedLogs, find_readings
from spark_check.traces.roles import ColumnRoles
from spark_check.traces.streams import COUNTS, Verdicts
from spark_check.traces.swollen import refuse_swollen
from spark_check.traces.unreadable import explain_errors

PARTITION_BYTES = 8_000_000
"""Of a log on disk, for each partition that Spark sorts or counts at once."""
WATCH_S = 0.3
SHOWN = 3


def verify(
    reference: Path,
    actual: Path,
    *,
    key: Sequence[str] = (),
    order: Sequence[str] = (),
    id: Sequence[str] = (),
    ignore: Sequence[str] = (),
    lineage: Sequence[str] = (),
    sink: Shape = Shape.SEQUENCE,
    close: float | None = None,
    expect: Guarantee = Guarantee.PRECISE,
    show: int = SHOWN,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    wait: float | None = None,
    say: Callable[[str], object] = ignore,
    progress: Progress = silent,
) -> TraceComparison:
    """Compare two logs, files or folders of Parquet, CSV or JSON lines.

    `close` is the tolerance for floats (`traces.closeness`), below 1; None: they are compared
    exactly.
    `wait` and `say` are those of a ClusterDemand.
    `show` is the number of differences of each kind that are reported in full.  Small logs of plain
    values are compared in this process; all others on Spark, as are those with a `master` or a
    `conf`.  Raises Invalid if a log cannot be read, a column is missing, or the two cannot be
    compared.
    """
    started = perf_counter()
    _check_asked(sink, id, lineage, close)
    roles = tuple(key), tuple(order), tuple(id), tuple(ignore), tuple(lineage)
    asked = ColumnRoles(*roles, sink.value)
    logs = (find_log("REFERENCE", reference), find_log("ACTUAL", actual))
    if master is None:
        refuse_swollen(logs)
    tables = None if master or conf else read_tables(logs)
    found = tables and memory.compare(logs, tables, asked, show, close)
    if found is None:
        check_early(logs, asked)
        demand = ClusterDemand(ROOMS["spark_check"], wait=wait, say=say)
        where = master or LOCAL, conf or {}, demand
        found = _on_spark(logs, asked, close, show, *where, progress)
    weakest = found.weakest
    return TraceComparison(
        _described(logs[0]),
        _described(logs[1]),
        AskedColumns(*asked),
        close,
        *found,
        notes=tuple(_notes(logs, asked)),
        guarantee=weakest.name.lower(),
        expect=expect.name.lower(),
        holds=weakest <= expect,
        seconds=perf_counter() - started,
    )


def _check_asked(
    sink: Shape, id_: Sequence[str], lineage: Sequence[str], close: float | None
) -> None:
    """Raise Invalid for what cannot be compared, whatever is in the logs."""
    if sink is Shape.TABLE and not id_:
        raise Invalid("--sink table: give the columns of its key with --id")
    if sink is not Shape.SEQUENCE and lineage:
        raise Invalid(f"--lineage: of a {sink.value} the values alone decide; leave it out")
    if close is not None and not 0 <= close < 1:
        raise Invalid(f"--close {close:g}: give a share below 1, as in 1e-9")


def _on_spark(
    logs: tuple[OutputLog, OutputLog],
    asked: ColumnRoles,
    close: float | None,
    show: int,
    master: str,
    conf: Mapping[str, str],
    demand: ClusterDemand,
    progress: Progress,
) -> RowFindings:
    size = sum(one.size for one in logs)
    settings = {
        "spark.sql.shuffle.partitions": str(max(2, size // PARTITION_BYTES)),
        **(BRIEF if size < SMALL_BYTES else {}),
        **conf,
        **columns.READING,
    }
    with (
        temporary.folder() as work,
        session(work, master=master, conf=settings, demand=demand) as spark,
    ):
        return compare(spark, logs, asked, show, progress, close)


def compare(
    spark: SparkSession,
    logs: tuple[OutputLog, OutputLog],
    asked: ColumnRoles,
    show: int,
    progress: Progress,
    close: float | None = None,
) -> RowFindings:
    """The part of `verify` that Spark does, in a session with `columns.READING`."""
    with explain_errors("the logs cannot be compared", *logs), _watch(spark, progress) as phase:
        judged = _judge(spark, logs, asked, close, phase)
        found = judged.findings
        if found.foreign or found.rows.out_of_order:
            phase("looking for columns to leave out")
            found = found._replace(readings=_readings(spark, logs, judged, close))
        phase("finding the first differences")
        left_out = found.readings[0].left_out if found.readings else ()
        first = find_differences(
            judged.verdicts,
            judged.sides,
            logs,
            asked,
            found.rows,
            show,
            hashed_columns(judged.both),
            frozenset(left_out),
        )
        judged.verdicts.close()
    return found._replace(differences=tuple(first))


class SparkComparison(NamedTuple):
    """Two logs, judged; the verdicts are kept until they are closed."""

    both: ComparedLogs
    sides: Sequence[DataFrame]
    verdicts: Verdicts
    findings: RowFindings


def _judge(
    spark: SparkSession,
    logs: tuple[OutputLog, OutputLog],
    asked: ColumnRoles,
    close: float | None,
    phase: Callable[[str], None],
) -> SparkComparison:
    phase("reading")
    both = columns.read_alike(spark, *logs, asked, as_numbers=close is not None)
    if close is not None:
        both = replace_close(both, close)
    rank = columns.rank(both)
    sides = [
        columns.content(columns.digest_rows(both, side, rank), logs[side], asked)
        for side in range(2)
    ]
    verdicts = Verdicts(_standing(sides, logs, asked), bool(asked.identity))
    phase("counting rows")
    verdicts.groups.count()
    phase("judging streams")
    found = _totals(logs, verdicts.streams(), asked)
    compared = tuple(name for name, _ in both.compared)
    return SparkComparison(both, sides, verdicts, found._replace(compared=compared))


def _readings(
    spark: SparkSession,
    logs: tuple[OutputLog, OutputLog],
    first: SparkComparison,
    close: float | None,
) -> tuple[TraceReading, ...]:
    def seen(one: SparkComparison) -> JudgedLogs:
        foreign = None
        if one.findings.foreign:
            foreign = foreign_rows(one.verdicts, one.sides, hashed_columns(one.both))
        return JudgedLogs(one.findings, foreign, partial(distinct, one.both))

    def again(asked: ColumnRoles) -> JudgedLogs:
        other = _judge(spark, logs, asked, close, lambda _: None)
        judged = seen(other)
        other.verdicts.close()
        return judged

    return tuple(find_readings(first.both.asked, seen(first), again))


def _standing(
    sides: Sequence[DataFrame], logs: Sequence[OutputLog], asked: ColumnRoles
) -> DataFrame:
    """Rows of both logs, with their position: o or place."""
    if asked.sorted_by_content:
        where, frames = "o", list(sides)
    else:
        where = "place"
        frames = [columns.add_places(*pair) for pair in zip(sides, logs, strict=True)]
        if asked.order:
            number = F.monotonically_increasing_id()  # grows along sorted rows
            frames = [one.orderBy("o", "place").withColumn("place", number) for one in frames]
    used = ["k", "i", "d1", "d2", "side", where, *(["of"] if asked.lineage else [])]
    one, other = (frame.select(used) for frame in frames)
    return one.unionAll(other)


def _totals(logs: Sequence[OutputLog], streams: DataFrame, asked: ColumnRoles) -> RowFindings:
    """The counts of rows and streams, without the differences."""
    sums = [F.sum(name).alias(name) for name in ("r", "a", *COUNTS, "lost")]
    rows = streams.groupBy("guarantee").agg(F.count("*").alias("streams"), *sums).collect()
    read = [sum(row[side] for row in rows) for side in "ra"]
    if not read[0]:
        raise logs[0].complain(NO_ROWS)
    types = {Guarantee(row["guarantee"]): row["streams"] for row in rows}
    return RowFindings(
        SideCounts(*read),
        {one.name.lower(): types[one] for one in sorted(types)},
        RowCounts(**{name: sum(row[name] for row in rows) for name in COUNTS}),
        sum(row["lost"] for row in rows) if asked.lineage else None,
    )


def _described(one: OutputLog) -> ComparedLog:
    return ComparedLog(str(one.root), one.format, len(one.files), one.size)


def _notes(logs: Sequence[OutputLog], asked: ColumnRoles) -> list[str]:
    notes = [f"{one.side}: {note}" for one in logs for note in one.notes]
    if not asked.order:
        notes += [
            f"{one.side}: {len(one.files):,} files, read in the order of their names"
            for one in logs
            if len(one.files) > 1 and not one.committed
        ]
    return notes


# --- while Spark works -----------------------------------------------------------------------
@contextmanager
def _watch(spark: SparkSession, progress: Progress) -> Iterator[Callable[[str], None]]:
    """`phase(name)` begins a phase; the progress of its tasks is reported while they run."""
    tracker = spark.sparkContext.statusTracker()
    now = [""]
    over = threading.Event()

    def watch() -> None:
        while not over.wait(WATCH_S):
            stages = map(tracker.getStageInfo, tracker.getActiveStageIds())
            running = [(stage.numCompletedTasks, stage.numTasks) for stage in stages if stage]
            if running:
                done, total = map(sum, zip(*running, strict=True))
                progress(now[0], done, total)

    def phase(name: str) -> None:
        if now[0]:
            progress(now[0], 1, 1)
        now[0] = name
        progress(name, 0, 1)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield phase
        progress(now[0], 1, 1)
    finally:
        over.set()
        thread.join()
