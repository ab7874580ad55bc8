"""An aggregate that recovers from its own log, killed at every point that differs from the others.

Rule of this file: the cases.  The model is run to find the expected results.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from random import Random

from engine_check.check import Check, CheckSetting
from model.boxes.aggregate import Aggregate
from model.protocols.cec.design import MENDED, Bound, CecDesign, Closed, Empty
from model.results.engine import EngineCase
from sim.predictions.crashes import BatchCrash
from spark_check.cec.crashes import CecCase, run_cases
from spark_check.cec.keyed_node import InputRow, KeyedQuery
from spark_check.cec.recovery import measure_sizes
from spark_check.cec.stops import CecPoint
from spark_check.cec.world import CecWorld

SIZES, SHORT = (20, 8, 12, 10), (20, 12, 8)
"""Tuples of the batches."""
PATIENCE = 15
KEYS = "abcdefghijkl"

PAIRS = Aggregate("list", 2, 2, of="time", group="type")
SLIDING = Aggregate("list", 3, 1, of="time", group="type")
SINGLE = Aggregate("list", 1, 1, of="time", group="type")
GAPS = Aggregate("list", 1, 3, of="time", group="type")
SPANS = Aggregate("count", 8, 4, by="time", group="type")


def case(
    title: str,
    box: Aggregate,
    *crashes: BatchCrash[CecPoint],
    design: CecDesign = MENDED,
    in_place: bool = False,
    sizes: tuple[int, ...] = SIZES,
) -> CecCase:
    """A case of a stream in which times are shared and some keys are much slower than others."""
    random = Random(title)
    ends = (*accumulate(sizes),)
    times = accumulate(random.choice((0, 0, 1, 2)) for _ in range(ends[-1]))
    keys = (KEYS[min(int(random.expovariate(0.4)), len(KEYS) - 1)] for _ in range(ends[-1]))
    rows = (InputRow(n, *one) for n, one in enumerate(zip(times, keys, strict=True), 1))
    world = CecWorld("", KeyedQuery(box, PATIENCE, design), (*rows,), ends, in_place)
    return CecCase(title, world, crashes)


STORED, HALF = BatchCrash(CecPoint.STORED, 2), BatchCrash(CecPoint.HALF, 2)
QUICK = (
    case(
        "count windows, in place",
        PAIRS,
        BatchCrash(CecPoint.HALF, 1),
        in_place=True,
        sizes=SHORT,
    ),
    case("sliding windows", SLIDING, BatchCrash(CecPoint.STORED, 1), sizes=SHORT),
)
MORE = (
    case("count windows", PAIRS, BatchCrash(CecPoint.MADE, 2)),
    case("count windows, renamed", PAIRS, HALF),
    case("count windows", PAIRS, BatchCrash(CecPoint.SENT, 2)),
    case("gaps between windows", GAPS, STORED),
    case("windows by time", SPANS, STORED),
)
TWICE = (
    case("count windows", PAIRS, STORED, BatchCrash(CecPoint.SCANNED)),
    case("sliding windows", SLIDING, STORED, BatchCrash(CecPoint.LOAD)),
    case("gaps between windows", GAPS, BatchCrash(CecPoint.PROCESS), BatchCrash(CecPoint.SENT, 1)),
    case("count windows, in place", PAIRS, HALF, BatchCrash(CecPoint.HALF, 1), in_place=True),
    case("windows by time", SPANS, STORED, BatchCrash(CecPoint.PROCESS)),
)
REFUTED = (
    case("closed keys forgotten", PAIRS, STORED, design=replace(MENDED, closed=Closed.FORGOTTEN)),
    case("t < t_i ignored", PAIRS, STORED, design=replace(MENDED, ignore=Bound.WITHOUT)),
    case("N = 0: from the start", SINGLE, STORED, design=replace(MENDED, empty=Empty.START)),
)
"""Readings of the paper that lose or repeat results in the model; they must do so here, too."""


def run(setting: CheckSetting) -> tuple[EngineCase, ...]:
    if setting.profile == "quick":
        return run_cases(setting, QUICK)
    crashed = (
        found
        for number, cases in enumerate((QUICK, MORE, TWICE, REFUTED))
        for found in run_cases(setting._replace(work=setting.work / f"group-{number}"), cases)
    )
    measured = measure_sizes(setting._replace(work=setting.work / "sizes"))
    return (*crashed, *measured)


CHECK = Check(
    "cec",
    "Recovery from the operator's own log, crashed at every point that differs from the others",
    run,
    notes=(
        "Predicted by the model's node, run and crashed in the same batches.  Restarts: N, T, the "
        "newest record's place, the extent, torn files, tuples replayed, and tuples ignored.",
        "The full profile also measures recovery from this log and from Spark's own checkpoint "
        "(CRB).  Nothing is killed for that: both queries fail in the same batch of one session.  "
        "checkpoint_s is of Spark's two logs and of the state, which Spark writes in both; log_s "
        "is of our log.",
    ),
)
