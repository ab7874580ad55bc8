"""LOG.io, Figures 5 to 9 and 11 to 13: overhead in normal operation, and with 1, 2 and 3 failures.

Rule of this file: which runs are made, and the numbers of the paper in terms of them.  An overhead
is in % of the same pipeline's time without a protocol; the paper's time of an execution includes
the start of the pipeline.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

from model.results.experiment import ExperimentPanel, Parameter, Series, Summary
from model.results.table import Row
from sim.experiments.experiment import Experiment
from sim.experiments.logio import exclusions
from sim.experiments.logio.paper import (
    BASELINE_S,
    CHOSEN,
    FAST,
    FAST_REPLICAS,
    INTERVALS_S,
    MIDDLE,
    READINGS,
    REPLICAS,
    SETTING,
    SLOW,
    SOURCE,
    START_S,
    FigureReading,
    costs,
    parallel,
    with_lineage,
)
from sim.experiments.logio.pipeline import run
from sim.experiments.logio.study import (
    Failure,
    PipelineCosts,
    PipelineRecovery,
    PipelineStudy,
    StudiedPipeline,
)
from sim.experiments.published import is_scored, numbers, points, value

LOG, ABS = PipelineRecovery.LOG, PipelineRecovery.SNAPSHOTS
KEYS = {LOG: "log", ABS: "abs"}
SHORT = {FigureReading.UNBOUNDED: "unbounded", FigureReading.SNAPSHOT: "by snapshot"}
MB = 1e6


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure.  pipelines: by the special property of each.  failures: by interval of ABS, after
    how many inputs of which operator; LOG.io has those of the first.  sizes: of events, for normal
    operation of LOG.io alone.  lineage: the id of the published overhead of lineage, if any."""

    key: str
    title: str
    pipelines: Mapping[str, StudiedPipeline]
    failures: Mapping[float, tuple[Failure, ...]]
    sizes: tuple[float, ...] = ()
    lineage: str = ""


# --- the runs --------------------------------------------------------------------------------
def rows(figure: Figure, _seed: int, events: int) -> Sequence[Row]:
    """All runs of a figure.  events: of the source; the last operator waits for its share."""
    found = []
    for label, published in figure.pipelines.items():
        pipeline = _resize(published, events)
        baseline_s = (
            run(PipelineStudy(pipeline, PipelineRecovery.NONE, PipelineCosts())).seconds + START_S
        )
        for name, case in _cases(figure, pipeline):
            ran = run(case)
            found.append(
                {
                    "pipeline": label,
                    **name,
                    "baseline_s": baseline_s,
                    "seconds": ran.seconds + START_S,
                    "overhead": 100 * ((ran.seconds + START_S) / baseline_s - 1),
                    "lost_s": ran.lost_s[-1] if ran.lost_s else 0.0,
                    "transactions": ran.transactions,
                    "snapshots": ran.snapshots,
                    "source": ran.made[-1][0] if ran.made else None,
                    "made": ran.made[-1][1] if ran.made else None,
                }
            )
    return found


def _resize(pipeline: StudiedPipeline, events: int) -> StudiedPipeline:
    ends = max(1, pipeline.ends * events // pipeline.events)
    return replace(pipeline, events=events, ends=ends)


def _cases(figure: Figure, pipeline: StudiedPipeline) -> Iterator[tuple[Row, PipelineStudy]]:
    first = next(iter(figure.failures.values()), ())
    for reading in READINGS[LOG]:
        one = costs(LOG, reading)
        for count in range(len(first) + 1):
            yield _name(LOG, reading, count), PipelineStudy(pipeline, LOG, one, first[:count])
    one = costs(LOG, CHOSEN)
    for size in figure.sizes:
        name = {**_name(LOG, CHOSEN, 0), "event_mb": size / MB}
        yield name, PipelineStudy(pipeline, LOG, one, event_bytes=size)
    if figure.lineage:
        name = {**_name(LOG, CHOSEN, 0), "lineage": True}
        yield name, PipelineStudy(pipeline, LOG, with_lineage(one))
    for reading in READINGS[ABS]:
        one = costs(ABS, reading)
        for interval_s, failures in figure.failures.items():
            for count in range(len(failures) + 1):
                name = {**_name(ABS, reading, count), "interval_s": interval_s}
                yield name, PipelineStudy(pipeline, ABS, one, failures[:count], interval_s)


def _name(recovery: PipelineRecovery, reading: FigureReading, failures: int) -> Row:
    return {
        "protocol": KEYS[recovery],
        "reading": reading.value,
        "failures": failures,
        "interval_s": None,
        "event_mb": None,
        "lineage": False,
    }


# --- the summary -----------------------------------------------------------------------------
def summary(figure: Figure, found: Sequence[Row]) -> Summary:
    """Values are named figure.protocol.failures, with interval, reading and pipeline behind."""
    values: dict[str, float] = {}
    for row in found:
        values |= _values(figure, row)
    normal = next(row for row in found if row["protocol"] == "log")
    if figure.failures:
        for row in found:
            if row["event_mb"]:
                values[f"{figure.key}.size"] = 100 * (row["seconds"] / normal["seconds"] - 1)
    if figure.failures:
        values[f"{figure.key}.log over abs"] = _log_over_abs(figure, found)
    if figure.lineage:
        traced = next(row for row in found if row["lineage"])
        values[figure.lineage] = 100 * (traced["seconds"] / normal["seconds"] - 1)
    return Summary(
        cells=[*found],
        values=values,
        notes=[*_notes(figure, found)],
        panels=[*_panels(figure, found)],
    )


def _values(figure: Figure, row: Row) -> dict[str, float]:
    name = ".".join((figure.key, row["protocol"], str(row["failures"])))
    behind = [row["reading"], *([row["pipeline"]] if row["pipeline"] else [])]
    if row["lineage"]:
        return {}
    if row["event_mb"]:
        return {f"{name}.{row['event_mb']:.0f} MB": row["overhead"]}
    if row["interval_s"]:
        name += f".{row['interval_s']:.0f} s"
    name = ".".join((name, *behind))
    values = {name: row["overhead"]}
    if row["failures"] and row["protocol"] == "abs":
        values[f"{name}.lost"] = row["lost_s"]
    if row["failures"] and row["protocol"] == "log":
        values |= {f"{name}.made": row["made"], f"{name}.source": row["source"]}
    if not row["failures"] and row["protocol"] == "log":
        values[f"{name}.as long as 9.1 says"] = float(300 <= row["baseline_s"] <= 360)
    return values


def _log_over_abs(figure: Figure, found: Sequence[Row]) -> float:
    """How much more LOG.io costs than ABS without a failure, in % of the baseline."""
    log, abs_ = (
        next(
            row["overhead"]
            for row in found
            if (row["protocol"], row["reading"], row["failures"]) == (key, CHOSEN.value, 0)
            and row["pipeline"] == _published_pipeline(figure)
        )
        for key in KEYS.values()
    )
    return float(log - abs_)


def _published_pipeline(figure: Figure) -> str:
    """The label of the pipeline that the text has numbers of: the last one."""
    return [*figure.pipelines][-1]


def _published(figure: Figure, protocol: str) -> list[float]:
    """The statements of the text, from normal operation to the last failure."""
    return [value(id_) for id_ in _ids(figure, protocol)]


def _ids(figure: Figure, protocol: str) -> list[str]:
    """The numbers of the text, from normal operation to the last failure."""
    known = {number.id for number in numbers()}
    wanted = [f"{figure.key}-{protocol}-{name}" for name in ("normal", "1", "2", "3")]
    return [id_ for id_ in wanted if id_ in known]


def _notes(figure: Figure, found: Sequence[Row]) -> Iterator[str]:
    one = next(row for row in found if row["protocol"] == "log")
    yield f"LOG.io makes {one['transactions']:,} transactions in normal operation"
    yield from exclusions.notes(figure.key)
    said = _published(figure, "abs")
    if len(said) < 2:
        return
    steps = [(after - before) / 100 * BASELINE_S for before, after in pairwise(said)]
    for reading in (CHOSEN, FigureReading.UNBOUNDED):
        lost = [
            row["lost_s"]
            for row in found
            if row["protocol"] == "abs"
            and row["failures"]
            and row["interval_s"] == next(iter(figure.failures))
            and row["reading"] == reading.value
            and row["pipeline"] == _published_pipeline(figure)
        ]
        parts = ", ".join(
            f"{step - again:.0f} and {again:.0f} s" for step, again in zip(steps, lost, strict=True)
        )
        yield (
            "the published failures under ABS, as a restart of the pipeline and the work that is "
            f"done again, {reading.value}: {parts}"
        )


def _panels(figure: Figure, found: Sequence[Row]) -> Iterator[ExperimentPanel]:
    sized = [row for row in found if row["event_mb"]]
    if sized and not figure.failures:
        x = [row["event_mb"] for row in sized]
        said = {size: f"{figure.key}-{size:.0f}mb" for size in x}
        yield ExperimentPanel(
            figure.title,
            "size of an event, MB",
            "overhead, %",
            [
                Series("LOG.io", x, [row["overhead"] for row in sized]),
                *points("LOG.io, published", said),
            ],
        )
        return
    for label in figure.pipelines:
        mine = [row for row in found if row["pipeline"] == label]
        behind = f", {label}" if label else ""
        first = next(iter(figure.failures))
        bars = [
            _bars("LOG.io, published", _published(figure, "log")),
            _bars("LOG.io", _ours(mine, "log", CHOSEN, None)),
            _bars(f"ABS, {first:.0f} s, published", _published(figure, "abs")),
            _bars(f"ABS, {first:.0f} s", _ours(mine, "abs", CHOSEN, first)),
            *_unscored(figure),
        ]
        names = ("none", "1", "2", "3")
        yield ExperimentPanel(
            f"{figure.title}{behind}", "failures", "overhead, %", bars, categories=names
        )
        others = [("LOG.io, unbounded", _ours(mine, "log", FigureReading.UNBOUNDED, None))]
        for reading, short in SHORT.items():
            others.append((f"ABS, {first:.0f} s, {short}", _ours(mine, "abs", reading, first)))
        for interval_s in [*figure.failures][1:]:
            others.append((f"ABS, {interval_s:.0f} s", _ours(mine, "abs", CHOSEN, interval_s)))
        lines = [Series(name, _at(ours), ours) for name, ours in others]
        yield ExperimentPanel(
            f"other readings and intervals{behind}",
            "failures",
            "overhead, %",
            lines,
            categories=names,
        )


def _unscored(figure: Figure) -> Iterator[Series]:
    """The statements of the text that are not scored, at their number of failures."""
    for protocol, name in (("log", "LOG.io"), ("abs", "ABS")):
        said = {
            float(at): id_ for at, id_ in enumerate(_ids(figure, protocol)) if not is_scored(id_)
        }
        yield from points(f"{name}, published", said)


def _ours(
    found: Sequence[Row], protocol: str, reading: FigureReading, interval_s: float | None
) -> list[float]:
    """Our overheads, from normal operation to the last failure."""
    wanted = protocol, reading.value, interval_s
    return [
        row["overhead"]
        for row in found
        if (row["protocol"], row["reading"], row["interval_s"]) == wanted
        and not row["event_mb"]
        and not row["lineage"]
    ]


def _bars(name: str, values: Sequence[float]) -> Series:
    return Series(name, _at(values), values, "bars")


def _at(values: Sequence[float]) -> list[float]:
    return [float(at) for at in range(len(values))]


# --- the figures -----------------------------------------------------------------------------
def _after(*points: tuple[str, int]) -> tuple[Failure, ...]:
    return tuple(Failure(task, after) for task, after in points)


def _each(intervals: Sequence[float], *points: tuple[str, int]) -> dict[float, tuple[Failure, ...]]:
    return dict.fromkeys(intervals, _after(*points))


FIGURES = (
    Figure(
        "fig5",
        "OP3 of 5 s, OP4 fails",
        {"": SLOW},
        _each(INTERVALS_S, ("OP4", 1), ("OP4", 23), ("OP4", 45)),
    ),
    Figure("fig6", "OP3 of 5 s, large events", {"": SLOW}, {}, (1 * MB, 5 * MB, 10 * MB)),
    Figure(
        "fig7",
        "OP3 of 500 ms, OP4 fails",
        {"": MIDDLE},
        _each(INTERVALS_S[:2], ("OP4", 10), ("OP4", 148), ("OP4", 375)),
        lineage="lineage-1000",
    ),
    Figure(
        "fig8",
        "OP3 of 500 ms, OP3 fails",
        {"": MIDDLE},
        _each((30.0,), ("OP3", 10), ("OP3", 295), ("OP3", 745)),
    ),
    Figure(
        "fig9",
        "OP3 of 100 ms, OP4 fails",
        {"": FAST},
        _each(INTERVALS_S[:2], ("OP4", 10), ("OP4", 495), ("OP4", 1750)),
        (5 * MB,),
        "lineage-5000",
    ),
    Figure(
        "fig11",
        "parallel paths, OP2 fails",
        {name: parallel(synchronised=name == "synchronised") for name in ("apart", "synchronised")},
        {
            15.0: _after(("OP2", 147), ("OP2", 457), ("OP2", 825)),
            30.0: _after(("OP2", 295), ("OP2", 605), ("OP2", 750)),
        },
    ),
    Figure(
        "fig12",
        "replicas of 500 ms fail in turn",
        {"": REPLICAS},
        _each((15.0,), ("OP3.1", 20), ("OP3.2", 220), ("OP3.1", 330)),
    ),
    Figure(
        "fig13",
        "replicas of 100 ms fail in turn",
        {"": FAST_REPLICAS},
        _each((15.0,), ("OP3.1", 10), ("OP3.2", 495), ("OP3.1", 1620)),
    ),
)


def _experiment(figure: Figure) -> Experiment:
    pipeline = next(iter(figure.pipelines.values()))
    return Experiment(
        name=f"logio-{figure.key}",
        title=f"LOG.io and ABS: {figure.title} (Fig. {figure.key.removeprefix('fig')})",
        source=SOURCE,
        parameters=(
            Parameter("events", pipeline.events, "9.3.2 to 9.3.4"),
            Parameter("rate", f"an event every {1000 * pipeline.period_s:.0f} ms", "as above"),
            *SETTING,
        ),
        seeds=1,
        events=pipeline.events,
        rows=partial(rows, figure),
        summary=partial(summary, figure),
    )


EXPERIMENTS = tuple(map(_experiment, FIGURES))
