"""`asif verify-trace` on large logs, compared with Spark's own `exceptAll`, which only counts.

Rule of this file: no call within this process; commands run as users run them.  The ratio of
processor times counts, and that memory does not grow with the logs.  The logs are made once, in
build/bench/trace.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import psutil
from pyspark.sql import DataFrame, SparkSession

from benchmarks.stages import each
from model.machine.folders import emptied
from model.progress import Progress
from spark_check.runtime.session import session
from spark_check.traces import columns

FOLDER = Path("build/bench/trace")
ERRORS = FOLDER / "errors.txt"
KEYS = 1000
COLUMNS = (
    f"concat('user-', id % {KEYS}) as user",
    f"id div {KEYS} as seq",
    "pmod(xxhash64(id), 10000) / 100 as amount",
    "timestamp_micros(1700000000000000 + id * 1000) as at",
    "concat('order ', id, ' of a customer') as text",
)
"""About 60 bytes a row as text: a key, a number that counts up in it, a value, a time, a text."""
WATCH_S = 0.1
PLAIN = "exceptAll both ways, and count"


class Way(NamedTuple):
    """A way to compare the logs: the actual log, and the options."""

    name: str
    actual: str
    options: tuple[str, ...]


WAYS = (
    Way("--key --order, repeating", "repeating", ("--key", "user", "--order", "seq")),
    Way("--key --order, gap", "gap", ("--key", "user", "--order", "seq")),
    Way("--key, repeating", "repeating", ("--key", "user")),
    Way("--key, gap", "gap", ("--key", "user")),
    Way("one stream, repeating", "repeating", ()),
    Way("one stream, gap", "gap", ()),
)


class Took(NamedTuple):
    """The costs of a command: seconds of the clock and of processors, and the peak memory of all
    its processes together, in MB."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def logs(spark: SparkSession, rows: int) -> Iterator[tuple[str, DataFrame]]:
    """The logs: a reference; a log that repeats the last hundredth of its first half; and a log
    that lost a hundredth and has a wrong amount in every key."""

    def part(start: int, end: int) -> DataFrame:
        return spark.range(start, end, 1, 4).selectExpr(*COLUMNS)

    half, some = rows // 2, rows // 100
    yield "reference", part(0, rows)
    yield "repeating", part(0, half).unionAll(part(half - some, rows))
    lossy = part(0, half).unionAll(part(half + some, rows))
    wrong = {"amount": "if(seq = 17, 0, amount)"}
    yield "gap", lossy.selectExpr(*(f"{wrong.get(c, c)} as {c}" for c in lossy.columns))


def make_logs(rows: int) -> Path:
    """Make the logs, if they are missing, and return their folder."""
    folder = FOLDER / str(rows)
    if not folder.exists():
        part = folder.with_suffix(".part")
        emptied(part)
        with session(FOLDER / "spark") as spark:
            for name, log in logs(spark, rows):
                log.write.parquet(str(part / name))
        part.rename(folder)
    return folder


def plain(folder: Path) -> None:
    """Compare the logs as a user of Spark would at first."""
    with session(FOLDER / "spark", conf=columns.READING) as spark:
        spark.conf.set("spark.sql.shuffle.partitions", "32")
        one, other = (spark.read.parquet(str(folder / name)) for name in ("reference", "gap"))
        print(one.exceptAll(other).count(), other.exceptAll(one).count())


def watch(command: Sequence[str]) -> Took:
    """Run the command and measure all its processes, from beginning to end."""
    started = time.monotonic()
    cpu: dict[int, float] = {}
    peak = 0
    with ERRORS.open("w") as errors:  # not here, where the progress of the benchmarks is shown
        process = psutil.Popen([sys.executable, *command], stdout=subprocess.DEVNULL, stderr=errors)
    while process.poll() is None:
        resident = 0
        for one in (process, *process.children(recursive=True)):
            try:
                resident += one.memory_full_info().pss  # shared memory counts once
                cpu[one.pid] = sum(one.cpu_times()[:2])
            except psutil.Error:
                continue  # the process has just ended
        peak = max(peak, resident)
        time.sleep(WATCH_S)
    if process.returncode not in (0, 1):
        raise RuntimeError(f"{command} failed: {ERRORS.read_text()}")
    return Took(time.monotonic() - started, sum(cpu.values()), peak / 1e6)


def tables(progress: Progress, rows: int) -> Iterator[str]:
    """Each line as soon as it is known: with many rows, a line takes minutes."""
    folder = make_logs(rows)
    module = "import sys; from pathlib import Path; from benchmarks import trace as t; "
    floor = watch(["-c", f"{module}t.plain(Path(sys.argv[1]))", str(folder)])
    head = f"{rows:,} rows against as many"
    yield f"{head:<32} {'s':>7} {'CPU s':>7} {'of plain':>8} {'peak MB':>7}"
    yield _row(PLAIN, floor, floor)
    for way in each(progress, "trace", WAYS, lambda way: way.name):
        paths = [str(folder / name) for name in ("reference", way.actual)]
        command = ["-c", "from asif.cli import main; main()", "verify-trace", *paths, *way.options]
        yield _row(way.name, watch(command), floor)


def _row(name: str, took: Took, floor: Took) -> str:
    ratio = took.cpu_s / floor.cpu_s
    numbers = f"{took.wall_s:>7.1f} {took.cpu_s:>7.1f} {ratio:>8.2f} {took.peak_mb:>7,.0f}"
    return f"{name:<32} {numbers}"
