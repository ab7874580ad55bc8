"""Wrong forms of snapshotting, which must go wrong and do on a real Flink.

Rule of this file: the cases, run and compared; the model is run to find the expected rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import NamedTuple

from engine_check.check import Check, CheckSetting, engine_case
from flink_check.abs import refuted_runs as runs
from flink_check.runtime.cluster import FlinkCluster, cluster
from model.results.engine import EngineCase, Facts
from sim.predictions.abs import refuted as played
from sim.predictions.abs.points import spans
from sim.predictions.abs.refuted import EpochEnds, RefutedRows, recovery
from sim.predictions.count_rows import CountRow

KEYS, WRITTEN = 7, 180
ENDS, DROPPED, REORDERED = EpochEnds(100, 150, 200), EpochEnds(89, 239, 250), EpochEnds(2, 5, 5)


class WrongForm(NamedTuple):
    """A wrong form.  variants: of the family, which play it.  run: on Flink, in a new folder."""

    name: str
    variants: tuple[str, ...]
    predicted: Callable[[], RefutedRows]
    run: Callable[[FlinkCluster, Path], RefutedRows]
    ends: EpochEnds = ENDS
    keys: int = KEYS
    sources: int = 1


PLAIN = (
    WrongForm(
        "restored without the sink's state",
        ("abs:settle-by-dropping",),
        partial(played.dropped, DROPPED, KEYS),
        partial(runs.dropped, ends=DROPPED, keys=KEYS),
        DROPPED,
    ),
    WrongForm(
        "a source that cannot be read again",
        ("abs:unreplayable-source",),
        partial(played.unreplayable, ENDS, KEYS),
        partial(runs.unreplayable, ends=ENDS, keys=KEYS),
    ),
    WrongForm(
        "another order of two inputs",
        ("abs:at-once-any", "abs"),
        partial(played.reordered, REORDERED),
        partial(runs.reordered, ends=REORDERED),
        REORDERED,
        keys=1,
        sources=2,
    ),
    WrongForm(
        "tasks that write beside their successors",
        ("abs:orphans-at-once", "abs:orphans"),
        partial(played.orphaned, ENDS, WRITTEN, KEYS),
        partial(runs.orphaned, ends=ENDS, written=WRITTEN, keys=KEYS),
    ),
)
AVAILABLE = (
    WrongForm(
        "tasks that write on until they are fenced",
        ("abs:orphans-at-once", "abs:orphans"),
        partial(played.orphaned, ENDS, WRITTEN, KEYS),
        partial(runs.orphaned_and_found, ends=ENDS, written=WRITTEN, keys=KEYS),
    ),
    WrongForm(
        "a suspended TaskManager that wakes",
        ("abs:elsewhere-at-once", "abs:elsewhere"),
        partial(played.woken, ENDS, KEYS),
        partial(runs.woken, ends=ENDS, keys=KEYS),
    ),
)
LONG_LIVED = {"heartbeat.timeout": "120000"}
"""Tasks do not notice by themselves that their JobManager is gone."""
SLOWLY_FENCED = {"high-availability.zookeeper.client.session-timeout": "10000"}


def run(setting: CheckSetting) -> tuple[EngineCase, ...]:
    done = count()
    total = len((*PLAIN, *AVAILABLE))

    def judged(flink: FlinkCluster, form: WrongForm) -> EngineCase:
        number = next(done)
        setting.report(form.name, number, total)
        seen = form.run(flink, setting.work / f"run-{number}")
        return compare(form, form.predicted(), seen)

    with cluster(setting.work / "plain", LONG_LIVED) as flink:
        plain = tuple(judged(flink, form) for form in PLAIN)
    with cluster(
        setting.work / "available", SLOWLY_FENCED, task_managers=3, zookeeper=True
    ) as flink:
        return (*plain, *(judged(flink, form) for form in AVAILABLE))


# --- predicted and seen ---------------------------------------------------------------------------
def compare(form: WrongForm, predicted: RefutedRows, seen: RefutedRows) -> EngineCase:
    """The case: each sink's rows, also counted where they are the predicted ones."""
    return engine_case(
        form.name,
        predicted=_facts(form, predicted, predicted),
        seen=_facts(form, seen, predicted),
        details={"variants": " and ".join(form.variants)},
    )


def _facts(form: WrongForm, rows: RefutedRows, predicted: RefutedRows) -> Facts:
    return {
        name: words
        for name, own, wanted in zip(rows._fields, rows, predicted, strict=True)
        for words in [_row_words(form, own, wanted)]
    }


def _row_words(form: WrongForm, rows: Sequence[CountRow], wanted: Sequence[CountRow]) -> str:
    """The recovery type, the missing and repeated events, and how many rows are as predicted."""
    kind = recovery(rows, form.ends.last, form.keys, form.sources).name.lower()
    times = Counter((row.source, row.number) for row in rows)
    counts = Counter((row.source, row.number) for row in {*rows})
    events = [(one, n) for one in range(form.sources) for n in range(form.ends.last)]
    chosen = {
        "missing": [event for event in events if not times[event]],
        "again": [event for event in events if times[event] > 1],
        "with two counts": [event for event in events if counts[event] > 1],
    }
    same = (Counter(rows) & Counter(wanted)).total()
    parts = [f"{what} {_spans(some)}" for what, some in chosen.items() if some]
    return "; ".join((kind, f"{len(rows)} rows, {same} of them as predicted", *parts))


def _spans(events: Sequence[tuple[int, int]]) -> str:
    """The numbers of events in a few words; those of another source with its number before."""
    found = {source: [n for own, n in events if own == source] for source, _ in events}
    return ", ".join(f"{source}: " * bool(source) + spans(own) for source, own in found.items())


CHECK = Check(
    "refuted",
    "Wrong forms of snapshotting, each with the rows that it spoils",
    run,
    notes=(
        "Files are committed in two phases, the other sink appends each row at once.  Predicted by "
        "the model's nodes in the variants that `details` names, with the same events, checkpoints "
        "and failures; every row is compared, with its count.",
        "Restored without the sink's state: a checkpoint is complete and not committed, and the "
        "restored job gives the sink another uid.",
        "The source that cannot be read again is Flink's source of lines on a socket.",
        "Two sources of one key: after the crash the other source is faster.  Files have one count "
        "for each event, the appended rows two.",
        "Orphans: the JobManager is killed.  Without high availability nobody fences its tasks, "
        "and they write beside their successors; with it they write on until they are fenced.",
        "A TaskManager is suspended when no event is on its way to it, so that the rows are exact; "
        "the model also allows a woken task to write events that are on their way.",
    ),
)
