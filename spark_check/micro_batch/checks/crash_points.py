"""Spark's own recovery: crashed at every point that can be told from others, beside its model.

Rule of this file: where it is crashed, and what is compared.  What comes of a crash is found by
running the model (model.protocols.micro_batch.crashes); nothing that it says is written down here.
"""

from __future__ import annotations

from typing import NamedTuple

from model.protocols.micro_batch.crashes import CrashPoint as Modelled
from spark_check.check import Case, Check, Setting
from spark_check.micro_batch.crashes import (
    Load,
    begun,
    crashed,
    predicted,
    recovered,
    restarted,
    stored,
)
from spark_check.micro_batch.job import Settings
from spark_check.micro_batch.stream import Point
from spark_check.runtime.session import BRIEF, session
from spark_check.runtime.victim import Kind

WHERE = {
    Modelled.BEFORE_OFFSETS: (Point.PLAN, 0),
    Modelled.AFTER_OFFSETS: (Point.ACK, 0),
    Modelled.MID_BATCH: (Point.READ, 0),
    Modelled.AFTER_STATE: (Point.PROCESSED, 0),
    Modelled.AFTER_SINK: (Point.WRITTEN, 0),
    Modelled.AFTER_COMMIT: (Point.PLAN, 1),
}
"""Where Spark is at a point of the model: a breakpoint, of this batch or of the one after it."""


class Crash(NamedTuple):
    point: Modelled
    load: Load = Load()

    @property
    def name(self) -> str:
        sizes = " + ".join(map(str, self.load.sizes))
        return f"{self.point.value}: {sizes} events, then {self.load.late}"


QUICK = (Crash(Modelled.BEFORE_OFFSETS), Crash(Modelled.AFTER_SINK))
FULL = (
    *(Crash(point) for point in WHERE),
    Crash(Modelled.BEFORE_OFFSETS, Load((3,))),
    Crash(Modelled.MID_BATCH, Load((3,), late=0)),
    Crash(Modelled.AFTER_SINK, Load((5, 1), late=1)),
    Crash(Modelled.AFTER_COMMIT, Load((5,))),
)


def run(setting: Setting) -> tuple[Case, ...]:
    crashes = QUICK if setting.profile == "quick" else FULL
    worlds = []
    for number, crash in enumerate(crashes):
        setting.tell(f"crash {crash.name}", number, len(crashes))
        outside = begun(setting.work / f"crash-{number}", crash.load)
        point, later = WHERE[crash.point]
        ends = crash.load.ends
        crashed(Settings(outside.work, ends[1:]), Kind.TREE, point, ends[later - 2])
        worlds.append((crash, outside, stored(outside)))
    cases = []
    with session(setting.work / "restarts", conf=BRIEF) as spark:
        for number, (crash, outside, left) in enumerate(worlds):
            setting.tell(f"restart {crash.name}", number, len(crashes))
            died = restarted(spark, Settings(outside.work), crash.load)
            was, then = predicted(crash.point, crash.load)
            cases.append(
                Case(
                    name=crash.name,
                    predicted={**was, "the restart": "ends", **then},
                    seen={**left, "the restart": died or "ends", **recovered(outside)},
                    crashed=(f"{Kind.TREE}: {crash.point.value}",),
                )
            )
    return tuple(cases)


CHECK = Check(
    "micro-batch",
    "Micro-batch recovery, crashed at every point that can be told from others",
    run,
    notes=(
        "Predicted by crashing the model at the same point of the same batch.  Compared: what the "
        "crash left in the offset log, the state store, the commit log, the sink and the source; "
        "which batches ran after the restart, with which events; and what each sink made of them.",
        "Two sinks take every batch in one transaction: the idempotent one knows batch ids, the "
        "appending one does not.",
        "Between the sink's commit and the commit log nothing of a user's is called: the model's "
        "two points there are one on Spark.",
    ),
)
