"""`asif verify-trace` on large logs, beside Spark's own `exceptAll`, which only counts.

Rule of this file: commands run as users run them, in processes of their own; what counts is the
ratio of processor times, and that memory does not grow with the logs.
`python -m benchmarks.trace [ROWS]`; logs are made once, in build/bench/trace.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import psutil
from pyspark.sql import DataFrame, SparkSession

from spark_check.runtime.session import session
from spark_check.traces import columns

FOLDER = Path("build/bench/trace")
ROWS = 1_000_000
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
    """How the logs are compared: which actual log, and the options."""

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
    """Seconds of the clock and of processors; the most memory of all processes at once, in MB."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def logs(spark: SparkSession, rows: int) -> Iterator[tuple[str, DataFrame]]:
    """A reference; one with the last hundredth of its first half said twice; one that lost a
    hundredth, with a wrong amount in every key.
    """

    def part(start: int, end: int) -> DataFrame:
        return spark.range(start, end, 1, 4).selectExpr(*COLUMNS)

    half, some = rows // 2, rows // 100
    yield "reference", part(0, rows)
    yield "repeating", part(0, half).unionAll(part(half - some, rows))
    lossy = part(0, half).unionAll(part(half + some, rows))
    wrong = {"amount": "if(seq = 17, 0, amount)"}
    yield "gap", lossy.selectExpr(*(f"{wrong.get(c, c)} as {c}" for c in lossy.columns))


def made(rows: int) -> Path:
    """The folder that holds the logs."""
    folder = FOLDER / str(rows)
    if not folder.exists():
        part = folder.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        with session(FOLDER / "spark") as spark:
            for name, log in logs(spark, rows):
                log.write.parquet(str(part / name))
        part.rename(folder)
    return folder


def plain(folder: Path) -> None:
    """What one would write first."""
    with session(FOLDER / "spark", conf=columns.READING) as spark:
        spark.conf.set("spark.sql.shuffle.partitions", "32")
        one, other = (spark.read.parquet(str(folder / name)) for name in ("reference", "gap"))
        print(one.exceptAll(other).count(), other.exceptAll(one).count())


def watched(command: Sequence[str]) -> Took:
    """All of its processes, from beginning to end."""
    started = time.monotonic()
    cpu: dict[int, float] = {}
    peak = 0
    process = psutil.Popen([sys.executable, *command], stdout=subprocess.DEVNULL)
    while process.poll() is None:
        resident = 0
        for one in (process, *process.children(recursive=True)):
            try:
                resident += one.memory_full_info().pss  # what is shared counts once
                cpu[one.pid] = sum(one.cpu_times()[:2])
            except psutil.Error:
                continue  # it has just ended
        peak = max(peak, resident)
        time.sleep(WATCH_S)
    if process.returncode not in (0, 1):
        raise RuntimeError(f"{command} failed")
    return Took(time.monotonic() - started, sum(cpu.values()), peak / 1e6)


def main(rows: int = ROWS) -> None:
    """A line as soon as it is known: with many rows, that takes minutes."""
    folder = made(rows)
    module = "import sys; from pathlib import Path; from benchmarks import trace as t; "
    floor = watched(["-c", f"{module}t.plain(Path(sys.argv[1]))", str(folder)])
    head = f"{rows:,} rows against as many"
    print(f"{head:<32} {'s':>7} {'CPU s':>7} {'of plain':>8} {'peak MB':>7}")
    _tell(PLAIN, floor, floor)
    for way in WAYS:
        paths = [str(folder / name) for name in ("reference", way.actual)]
        command = ["-c", "import asif; asif.main()", "verify-trace", *paths, *way.options]
        _tell(way.name, watched(command), floor)


def _tell(name: str, took: Took, floor: Took) -> None:
    ratio = took.cpu_s / floor.cpu_s
    numbers = f"{took.wall_s:>7.1f} {took.cpu_s:>7.1f} {ratio:>8.2f} {took.peak_mb:>7,.0f}"
    print(f"{name:<32} {numbers}", flush=True)


if __name__ == "__main__":
    main(*(int(text.replace("_", "")) for text in sys.argv[1:]))
