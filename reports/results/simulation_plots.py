"""Plots of a timed run: latency, upstream backup and queues over time; the phases of recoveries.

Rule of this file: no computation of results; the file draws the value that sim.scenarios.run
returns.  The same data gives the same bytes, as inline SVG for the page or as PNG for a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING, Any, NamedTuple

from reports.diagrams.canvas import Colours, png, svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class RecoveryPhase(NamedTuple):
    """A phase of a recovery, from one moment to the next; its density, not its colour, marks it."""

    name: str
    start: str
    end: str
    density: float


PHASES = (
    RecoveryPhase("detection", "crashed_s", "detected_s", 0.42),
    RecoveryPhase("redirection", "detected_s", "restored_s", 0.24),
    RecoveryPhase("replay", "restored_s", "caught_up_s", 0.12),
)
SIZE = 8.6, 7.2
PERCENTILES = (("p50_s", "-", "median"), ("p95_s", "--", "95 %"), ("p99_s", ":", "99 %"))


def over_time(result: Mapping[str, Any]) -> str:
    """The plot of a run as an <svg> element: three panels above each other, with the phases of
    recoveries shaded."""
    return svg(partial(_panels, result), *SIZE, name="costs", about=about(result))


def over_time_png(result: Mapping[str, Any], dpi: int = 150) -> bytes:
    """The same picture as PNG on white."""
    return png(partial(_panels, result), *SIZE, dpi=dpi)


def recoveries(result: Mapping[str, Any]) -> str:
    """The plot with a bar for each crash and its phases; "" if there was no crash."""
    failures = result["failures"]
    if not failures:
        return ""
    longest = result["metrics"]["recovery_s"]
    slow = "one node never caught up" if longest is None else f"at most {longest:.3g} s"
    return svg(
        partial(_phases, failures),
        8.6,
        0.8 + 0.34 * len(failures),
        name="recoveries",
        about=f"Recoveries from {len(failures)} crashes: {slow}.",
    )


def about(result: Mapping[str, Any]) -> str:
    """The picture in words."""
    found = result["metrics"]
    crashes = ", ".join(f"{f['node']} at {f['crashed_s']:.3g} s" for f in result["failures"])
    return (
        f"Latency, upstream backup and input queues over {found['ended_s']:.3g} s: "
        f"median latency {_seconds(found['latency_p50_s'])}, 99 % within "
        f"{_seconds(found['latency_p99_s'])}; at most {found['peak_backup_events']:,} events in "
        f"upstream backup.  Crashes: {crashes or 'none'}."
    )


def _panels(result: Mapping[str, Any], figure: Figure, colours: Colours) -> None:
    series = result["series"]
    ink, with_, without, bad = colours
    found = figure.subplots(3, 1, sharex=True)
    latency_axes, backup_axes, queue_axes = found
    latency = series["latency"]
    for key, dashes, label in PERCENTILES:
        marker = "." if len(latency["time_s"]) < 3 else ""
        latency_axes.plot(
            latency["time_s"], latency[key], dashes, marker=marker, color=with_, label=label
        )
    if latency["time_s"]:
        latency_axes.set_yscale("log")
    latency_axes.yaxis.set_major_formatter(lambda value, _: _seconds(value))
    latency_axes.set_ylabel("latency")
    backup_axes.plot(
        series["time_s"], series["backup_events"], color=with_, label="upstream backup"
    )
    backup_axes.set_ylabel("events kept")
    styles = cycle(
        (colour, dashes) for dashes in ("-", "--", ":", "-.") for colour in (with_, without, ink)
    )
    for (name, values), (colour, dashes) in zip(
        series["queue_messages"].items(), styles, strict=False
    ):
        queue_axes.plot(series["time_s"], values, dashes, color=colour, label=name)
    queue_axes.set_ylabel("messages queued")
    queue_axes.set_xlabel("seconds")
    queue_axes.set_xlim(0, result["metrics"]["ended_s"] or 1)
    for axes in (backup_axes, queue_axes):
        axes.set_ylim(0, max(1, axes.get_ylim()[1]))
        axes.locator_params(axis="y", nbins=5, integer=True)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    lines = queue_axes.lines[:8]  # before crashes are drawn as lines
    for axes in found:
        _shade(axes, result["failures"], bad)
        axes.grid(visible=True, axis="y")
        for line in axes.lines:
            line.set_linewidth(1.2)
    handles, labels = _once(latency_axes)
    latency_axes.legend(
        handles,
        labels,
        loc="lower right",
        bbox_to_anchor=(1, 1.02),
        ncols=7,
        borderaxespad=0,
        columnspacing=1.2,
    )
    if lines:
        names = [str(line.get_label()) for line in lines]
        queue_axes.legend(lines, names, loc="upper left", ncols=4)


def _phases(failures: Sequence[Mapping[str, Any]], figure: Figure, colours: Colours) -> None:
    axes = figure.add_subplot()
    for at, failure in enumerate(failures):
        crashed = ended = failure["crashed_s"]
        for phase in PHASES:
            start, end = _stretch(phase, failures, at) or (ended, ended)
            axes.barh(
                at,
                end - start,
                left=start - crashed,
                height=0.62,
                facecolor=colours.bad,
                alpha=2 * phase.density,
                label=phase.name,
            )
            ended = end
        label = f"  {ended - crashed:.3g} s, {_outcome(failures, at)}"
        axes.text(ended - crashed, at, label, va="center", fontsize=8.5)
    names = [f"{f['node']} at {f['crashed_s']:.3g} s" for f in failures]
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.margins(x=0.25)
    axes.set_xlabel("seconds since the crash")
    handles, labels = _once(axes)
    axes.legend(handles, labels, loc="lower right", bbox_to_anchor=(1, 1), ncols=3, borderaxespad=0)


def _shade(axes: Axes, failures: Sequence[Mapping[str, Any]], colour: str) -> None:
    for phase in PHASES:
        stretches = (_stretch(phase, failures, at) for at in range(len(failures)))
        for start, end in _unite(filter(None, stretches)):
            axes.axvspan(
                start, end, facecolor=colour, alpha=phase.density, linewidth=0, label=phase.name
            )
    for failure in failures:
        axes.axvline(failure["crashed_s"], color=colour, linewidth=1, label="crash")


def _stretch(
    phase: RecoveryPhase, failures: Sequence[Mapping[str, Any]], at: int
) -> tuple[float, float] | None:
    """The start and the end of the phase of that recovery; the next crash of the node ends it,
    too."""
    start, end = failures[at][phase.start], failures[at][phase.end]
    if end is None:
        end = _next_crash(failures, at)
    return None if start is None or end is None else (start, end)


def _next_crash(failures: Sequence[Mapping[str, Any]], at: int) -> float | None:
    node = failures[at]["node"]
    return next((f["crashed_s"] for f in failures[at + 1 :] if f["node"] == node), None)


def _outcome(failures: Sequence[Mapping[str, Any]], at: int) -> str:
    if failures[at]["cut_off"]:
        return "cut off by the end of the input"
    if failures[at]["caught_up_s"] is not None:
        return "caught up"
    return "not caught up" if _next_crash(failures, at) is None else "crashed again"


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


def _seconds(value: float | None) -> str:
    """The time in a unit that a person reads."""
    if value is None:
        return "unknown"
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if abs(value) >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g} s"
