"""Plots of a timed run: the phases of recoveries; latency, upstream backup and queues over time.

Rule of this file: no computation of results; the file draws a value of
model.results.simulation.  The same data gives the same bytes, as inline SVG for the page or as PNG
for a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from model.results.simulation import (
    CrashCourse,
    LatencySeries,
    Metrics,
    Simulation,
    SimulationSeries,
)
from reports import palette
from reports.diagrams.canvas import plot
from reports.diagrams.picture import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class RecoveryPhase(NamedTuple):
    """A phase of a recovery.  length: its key in the result."""

    name: str
    length: str
    colour: str


GIVEN = (
    RecoveryPhase("detection", "detection_s", palette.VERMILION),
    RecoveryPhase("restart", "restart_s", palette.GREY),
)
"""The phases that the scenario's detector gives, whatever the protocol."""
OWN = (
    RecoveryPhase("redirection", "redirection_s", palette.ORANGE),
    RecoveryPhase("replay", "replay_s", palette.PURPLE),
    RecoveryPhase("catch-up", "catch_up_s", palette.GREEN),
)
"""The phases that depend on the protocol."""
PHASES = (*GIVEN, *OWN)
BARS = 12
"""The number of crashes that have a bar."""
WIDTH, PANELS, BAR, COSTS = 8.6, 7.6, 0.28, 1.4
"""Inches: of the picture, of the panels over time, of a bar, of the panels of costs."""
SHADE = 0.35
"""The density of phases behind a line; bars have the full colour."""
PEAK = 50.0
"""The peak by the median from which an axis of counts is logarithmic."""
TITLE: Any = {"loc": "left", "fontsize": 10}
PERCENTILES = (("p50_s", "median"), ("p95_s", "95 %"), ("p99_s", "99 %"))


def over_time(result: Simulation) -> str:
    """The plot of a run as an <svg> element, for a page."""
    return picture(result).svg


def picture(result: Simulation) -> Picture:
    """The plot of a run: a bar for each crash, its cost beside the runs without failures and
    without protection, and three panels over time with the phases of recoveries shaded."""
    return plot(partial(_panels, result), WIDTH, _height(result), name="costs", about=about(result))


def about(result: Simulation) -> str:
    """The picture in words."""
    found = result.metrics
    crashes = ", ".join(f"{f.node} at {f.crashed_s:.3g} s" for f in result.failures)
    longest = found.recovery_s
    slow = "one node never caught up" if longest is None else f"recovery {_seconds(longest)}"
    return (
        f"Latency, upstream backup and input queues over {found.ended_s:.3g} s: "
        f"median latency {_seconds(found.latency_p50_s)}, 99 % within "
        f"{_seconds(found.latency_p99_s)}; at most {found.peak_backup_events:,} events in "
        f"upstream backup.  Crashes: {f'{crashes}; {slow}' if crashes else 'none'}."
    )


def _bars_height(result: Simulation) -> float:
    shown = min(len(result.failures), BARS)
    return 1.0 + BAR * shown if shown else 0.0


def _height(result: Simulation) -> float:
    return PANELS + COSTS + _bars_height(result)


def _panels(result: Simulation, figure: Figure) -> None:
    figure.suptitle(f"{result.scenario}: {result.protocol}", fontsize=11)
    over = [["latency"] * 2, ["backup"] * 2, ["queues"] * 2]
    failures = result.failures
    bars = [["whole", "own"]] if failures else []
    heights = [*([_bars_height(result)] if failures else []), COSTS, *[PANELS / 3] * 3]
    rows: Any = [*bars, ["sent", "busy"], *over]
    axes = figure.subplot_mosaic(rows, height_ratios=heights)
    if failures:
        _bars(axes["whole"], failures, PHASES)
        _bars(axes["own"], failures, OWN)
        count = f" (the first {BARS} of {len(failures)})" if len(failures) > BARS else ""
        axes["whole"].set_title(f"Recovery, from the crash on{count}", **TITLE)
        axes["own"].set_title("Without detection and restart", **TITLE)
        axes["own"].set_yticklabels([])
    _costs(axes["sent"], result, SENT, _bytes)
    axes["sent"].set_title("Sent over links; hatched: all but events", **TITLE)
    _costs(axes["busy"], result, BUSY, _seconds)
    axes["busy"].set_title("Processing of all nodes together", **TITLE)
    axes["busy"].set_yticklabels([])
    colour = palette.looks([result.protocol])(result.protocol).colour
    _latency(axes["latency"], result.series.latency, colour)
    _backup(axes["backup"], result.series, colour)
    _queues(axes["queues"], result.series)
    for name in ("latency", "backup", "queues"):
        one = axes[name]
        _shade(one, failures)
        one.set_xlim(0, result.metrics.ended_s or 1)
        one.grid(visible=True, axis="y")
    for name in ("latency", "backup"):
        axes[name].tick_params(labelbottom=False)
    axes["queues"].set_xlabel("seconds since the start")
    handles, labels = _once(axes["latency"])
    figure.legend(handles, labels, loc="outside lower center", ncols=5, columnspacing=1.2)


# --- costs -----------------------------------------------------------------------------------
RUNS = {"unprotected": "unprotected", "without_failures": "no failures", "metrics": "this run"}
SENT = (("link_event_bytes",), ("link_control_bytes", "keep_alive_bytes"))
BUSY = (("busy_s",), ())
"""Keys of metrics that are added up: work for events, and work of protection alone."""


def _costs(
    axes: Axes,
    result: Simulation,
    keys: tuple[tuple[str, ...], tuple[str, ...]],
    show: Callable[[float], str],
) -> None:
    """A bar for each run.  show: the text for a value."""
    longest = 0.0
    own = palette.looks([result.protocol])(result.protocol).colour
    for at, (name, words) in enumerate(RUNS.items()):
        plain, hatched = (sum(_metric(result, name, key) for key in some) for some in keys)
        whole = plain + hatched
        colour = palette.GREY if name == "unprotected" else own
        axes.barh(at, plain, height=0.62, color=colour, label=f"_{words}")
        if hatched:
            look: Any = {"facecolor": "none", "edgecolor": colour, "hatch": "////"}
            label = f"_{words}, all but events"
            axes.barh(at, hatched, left=plain, height=0.62, label=label, **look)
        _beside(axes, whole, at, show(whole))
        longest = max(longest, whole)
    axes.set_xlim(0, 1.25 * longest or 1)
    axes.set_yticks(range(len(RUNS)), RUNS.values())
    axes.invert_yaxis()
    axes.locator_params(axis="x", nbins=5)
    axes.xaxis.set_major_formatter(lambda value, _: show(value) if value else "0")


def _beside(axes: Axes, x: float, y: float, words: str, gap: float = 4) -> None:
    """Write words right of the end of a bar.  gap: in points."""
    offset: Any = {"textcoords": "offset points", "xytext": (gap, 0)}
    axes.annotate(words, (x, y), va="center", fontsize=8.5, **offset)


def _metric(result: Simulation, run: str, name: str) -> float:
    metrics: Metrics = getattr(result, run)
    return metrics.number(name) or 0.0


# --- over time -------------------------------------------------------------------------------
def _latency(axes: Axes, latency: LatencySeries, colour: str) -> None:
    from matplotlib.ticker import NullLocator

    for (key, label), dashes in zip(PERCENTILES, palette.DASHES, strict=False):
        times, values = _broken(latency, key)
        axes.plot(
            *(times, values),
            linestyle=(0, dashes or None),
            marker=".",
            markersize=2.5,
            linewidth=1.2,
            color=colour,
            label=label,
        )
    if latency.time_s:
        axes.set_yscale("log")
        axes.set_yticks(_ticks(latency))
        axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(lambda value, _: _seconds(value))
    axes.set_title("Latency of outputs; a gap where there are none", **TITLE)


def _percentile(latency: LatencySeries, key: str) -> tuple[float, ...]:
    found: tuple[float, ...] = getattr(latency, key)
    return found


def _broken(latency: LatencySeries, key: str) -> tuple[list[float], list[float]]:
    """The line as (times, values), with a gap where there was no output."""
    times: list[float] = []
    values: list[float] = []
    for time, value, gap in zip(
        latency.time_s, _percentile(latency, key), latency.broken, strict=True
    ):
        if gap:
            times.append(time)
            values.append(float("nan"))
        times.append(time)
        values.append(value)
    return times, values


def _ticks(latency: LatencySeries) -> list[float]:
    """One, two, five times a power of ten, as many as a person can read: from below the smallest
    latency to above the largest."""
    found = [v for key, _ in PERCENTILES for v in _percentile(latency, key) if v > 0] or [1.0]
    steps = [float(f"{digit}e{power}") for power in range(-9, 6) for digit in (1, 2, 5)]
    low = max((step for step in steps if step <= min(found)), default=steps[0])
    high = min((step for step in steps if step >= max(found)), default=steps[-1])
    kept = [step for step in steps if low <= step <= high]
    powers = [step for step in kept if f"{step:e}".startswith("1.0")]
    return kept if len(kept) <= 6 else powers if len(powers) > 1 else kept[::2]


def _backup(axes: Axes, series: SimulationSeries, colour: str) -> None:
    label = "_upstream backup"
    axes.plot(series.time_s, series.backup_events, color=colour, linewidth=1.2, label=label)
    axes.set_title("Events kept in upstream backup, all nodes together", **TITLE)
    _count(axes)


def _queues(axes: Axes, series: SimulationSeries) -> None:
    for at, (name, values) in enumerate(series.queue_messages.items()):
        look = palette.look_of(at)
        axes.plot(
            *(series.time_s, values),
            linestyle=look.line,
            color=look.colour,
            linewidth=1.2,
            label=name,
        )
    axes.set_title("Messages in the input queue of each node", **TITLE)
    _count(axes)
    lines = axes.lines[:8]
    if lines:
        names = [str(line.get_label()) for line in lines]
        above: Any = {"loc": "lower right", "bbox_to_anchor": (1.0, 0.97), "borderaxespad": 0.0}
        axes.legend(lines, names, ncols=4, fontsize=8.5, **above)


def _count(axes: Axes) -> None:
    """An axis of counts; from 0 to 1, and logarithmic from there on, if a peak hides the rest."""
    lines: list[Any] = [line.get_ydata() for line in axes.lines]
    found = sorted(float(value) for values in lines for value in values)
    if found and found[-1] >= PEAK * max(1.0, found[len(found) // 2]):
        axes.set_yscale("symlog", linthresh=1.0, linscale=0.3)
        axes.minorticks_off()
        axes.set_ylim(0, 2 * found[-1])
    else:
        axes.set_ylim(0, max(1, axes.get_ylim()[1]))
        axes.locator_params(axis="y", nbins=5, integer=True)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


def _shade(axes: Axes, failures: Sequence[CrashCourse]) -> None:
    for phase in PHASES:
        stretches = (_stretch(phase, failures, at) for at in range(len(failures)))
        # One that takes no time would have a place in the key alone.
        for start, end in _unite(one for one in stretches if one and one[0] < one[1]):
            axes.axvspan(
                *(start, end),
                facecolor=phase.colour,
                alpha=SHADE,
                linewidth=0,
                label=phase.name,
            )
    for failure in failures:
        axes.axvline(failure.crashed_s, color=palette.BAD, linewidth=1, label="crash")


# --- a bar for each crash --------------------------------------------------------------------
def _bars(axes: Axes, failures: Sequence[CrashCourse], phases: Sequence[RecoveryPhase]) -> None:
    """A bar for each crash; one that the end of the input cut off ends with an arrow."""
    shown = failures[:BARS]
    for at in range(len(shown)):
        length = 0.0
        for phase in phases:
            start, end = _stretch(phase, failures, at) or (0.0, 0.0)
            axes.barh(
                at,
                end - start,
                left=length,
                height=0.62,
                color=phase.colour,
                label=f"_{phase.name}",
            )
            length += end - start
        if failures[at].cut_off:
            axes.plot(length, at, ">", markersize=7, color=palette.FG, clip_on=False)
        at_least, gap = ("≥ ", 9) if failures[at].cut_off else ("", 4)
        _beside(axes, length, at, f"{at_least}{_seconds(length)}{_outcome(failures, at)}", gap)
    names = [f"{f.node} at {f.crashed_s:.3g} s" for f in shown]
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.margins(x=0.35)
    axes.locator_params(axis="x", nbins=5)
    axes.xaxis.set_major_formatter(lambda value, _: _seconds(value) if value else "0")


def _stretch(
    phase: RecoveryPhase, failures: Sequence[CrashCourse], at: int
) -> tuple[float, float] | None:
    """The start and the end of the phase of that recovery, which follow each other; the next crash
    of the node ends it, too."""
    failure = failures[at]
    before = [failure.seconds(one.length) for one in PHASES[: PHASES.index(phase)]]
    passed = [length for length in before if length is not None]
    if len(passed) < len(before):
        return None
    start = failure.crashed_s + sum(passed)
    length = failure.seconds(phase.length)
    end = _next_crash(failures, at) if length is None else start + length
    return None if end is None else (start, end)


def _next_crash(failures: Sequence[CrashCourse], at: int) -> float | None:
    node = failures[at].node
    return next((f.crashed_s for f in failures[at + 1 :] if f.node == node), None)


def _outcome(failures: Sequence[CrashCourse], at: int) -> str:
    """The text of a bar beside its length; nothing if the node has caught up."""
    if failures[at].cut_off:
        return ", cut off by the end of the input"
    if failures[at].caught_up_s is not None:
        return ""
    return ", not caught up" if _next_crash(failures, at) is None else ", crashed again"


def _unite(stretches: Iterable[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """The stretches without overlaps, which would be drawn twice as dense."""
    united: list[tuple[float, float]] = []
    for start, end in sorted(stretches):
        if united and start <= united[-1][1]:
            united[-1] = united[-1][0], max(end, united[-1][1])
        else:
            united.append((start, end))
    yield from united


def _once(axes: Axes) -> tuple[list[Any], list[str]]:
    """The handles and labels of the legend, each label once."""
    handles, labels = axes.get_legend_handles_labels()
    kept = {label: handle for handle, label in reversed(list(zip(handles, labels, strict=True)))}
    order = dict.fromkeys(labels)
    return [kept[label] for label in order], list(order)


def _bytes(value: float) -> str:
    """The bytes in a unit that a person reads."""
    for size, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= 0.9995 * size:
            return f"{value / size:,.3g} {unit}"
    return f"{value:.3g} bytes"


def _seconds(value: float | None) -> str:
    """The time in a unit that a person reads."""
    if value is None:
        return "unknown"
    if abs(value) >= 999.5:
        return f"{value:,.0f} s"
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if abs(value) >= 0.9995 * size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g} s"
