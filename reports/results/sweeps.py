"""A sweep for a terminal and as a plot: its runs, and means over seeds with their intervals.

Rule of this file: it reads the values that sim.sweeps.results and sim.sweeps.summary make, and
computes none of them again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import cycle, product
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.box import SIMPLE
from rich.table import Table

from reports.diagrams import canvas
from reports.diagrams.canvas import Colours
from reports.results.simulations import format_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Result = Mapping[str, Any]


class Column(NamedTuple):
    label: str
    metric: str


COLUMNS = (
    Column("recovery", "recovery_s"),
    Column("latency, 99 %", "latency_p99_s"),
    Column("backup, peak", "peak_backup_events"),
    Column("events again", "events_again"),
)
STROKES = (("-", "o"), ("--", "s"), (":", "^"), ("-.", "D"))
"""Lines and marks, each in all colours before the next."""


# --- in a terminal ---------------------------------------------------------------------------
def summary_line(result: Result) -> str:
    """One line: the number of runs, and how many of them went wrong."""
    parts = [f"{result['runs']:,} runs in {result['seconds']:.0f} s"]
    if result["resumed"]:
        parts.append(f"{result['resumed']:,} of them done before")
    if result["others"]:
        parts.append(f"{result['others']:,} others (another scenario, value or version) left aside")
    parts.append(f"{result['same']:,} as if nothing had failed")
    if result["cut_off"]:
        parts.append(
            f"{result['cut_off']:,} CUT OFF by the end of the input, see the column cut_off"
        )
    if result["not_as_claimed"]:
        parts.append(f"{result['not_as_claimed']:,} WORSE THAN THE PROTOCOL CLAIMS")
    if result["failed"]:
        parts.append(f"{result['failed']:,} FAILED, see the columns error and replay")
    return f"{result['sweep']}: {', '.join(parts)}"


def table(summary: Result) -> Table:
    """A row for each group: the mean, and half its confidence interval below.  A narrow terminal
    folds names, and never numbers."""
    rows = Table(box=SIMPLE, pad_edge=False, collapse_padding=True)
    for name in _short(summary["by"]).values():
        rows.add_column(name, overflow="fold")
    for label in ("runs", *(column.label.replace(" ", "\n", 1) for column in COLUMNS)):
        rows.add_column(label, justify="right", no_wrap=True)
    for group in summary["groups"]:
        rows.add_row(
            *(_value(group["parameters"][name]).replace(":", ":\n") for name in summary["by"]),
            _runs(group),
            *(_interval(column.metric, group["metrics"][column.metric]) for column in COLUMNS),
        )
    return rows


def _runs(group: Result) -> str:
    """The number of runs, and how many of them are different, failed or cut off."""
    different = group["runs"] - group["failed"] - group["same"]
    cut_off = group["cut_off"]
    parts = ((different, "different"), (group["failed"], "failed"), (cut_off, "cut off"))
    return "\n".join([str(group["runs"]), *(f"{n} {what}" for n, what in parts if n)])


def _interval(name: str, found: Result) -> str:
    if found["mean"] is None:
        return "-"
    mean = format_value(name, found["mean"])
    return mean if found["low"] is None else f"{mean}\n± {format_value(name, _half(found))}"


def _short(names: Sequence[str]) -> dict[str, str]:
    """Each name without the names of its tables, where the rest is still unique."""
    last = [name.rpartition(".")[2] for name in names]
    return {
        name: end if last.count(end) == 1 else name for name, end in zip(names, last, strict=True)
    }


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


# --- as a plot -------------------------------------------------------------------------------
def png(summary: Result, dpi: int = 150) -> bytes:
    """A plot of means with their intervals: over the key with the most numbers, a line for each
    combination of the others; or, if no key has numbers, one above the other."""
    along = _along(summary)
    height = 6.4 if along else max(4.0, 1.6 + 0.5 * len(summary["groups"]))
    return canvas.png(partial(_panels, summary, along), 8.6, height, dpi=dpi)


def _panels(summary: Result, along: str | None, figure: Figure, colours: Colours) -> None:
    grid = figure.subplots(2, 2, sharey=along is None)
    for column, axes in zip(COLUMNS, grid.flat, strict=True):
        if along is None:
            _rows(axes, column, summary, colours)
        else:
            _lines(axes, column, summary, along, colours)
        axes.set_title(column.label, fontsize=10, loc="left")
    handles, labels = grid.flat[0].get_legend_handles_labels()
    if any(labels):
        columns = 1 if max(map(len, labels)) > 45 else 2 if len(labels) > 1 else 1
        figure.legend(handles, labels, loc="outside lower center", ncols=columns, fontsize=8.5)
    seeds = max(group["runs"] for group in summary["groups"])
    figure.suptitle(
        f"{summary['sweep']}: mean of {seeds} runs, "
        f"bars: {summary['confidence']:.0%} confidence interval of the mean",
        fontsize=10,
    )


def _along(summary: Result) -> str | None:
    """The key with the most values, of those whose values are numbers."""
    found = {
        name: {group["parameters"][name] for group in summary["groups"]} for name in summary["by"]
    }
    numbers = {
        name: len(values)
        for name, values in found.items()
        if all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
    }
    return max(numbers, key=numbers.__getitem__) if numbers else None


def _lines(axes: Axes, column: Column, summary: Result, along: str, colours: Colours) -> None:
    looks = cycle(product(STROKES, (*colours[1:], colours.ink)))
    lines: dict[str, list[Result]] = {}
    for group in summary["groups"]:
        lines.setdefault(_name(group, summary["by"], along), []).append(group)
    for (label, groups), ((dashes, marker), colour) in zip(lines.items(), looks, strict=False):
        kept = [g for g in groups if g["metrics"][column.metric]["mean"] is not None]
        found = [group["metrics"][column.metric] for group in kept]
        axes.errorbar(
            [group["parameters"][along] for group in kept],
            [one["mean"] for one in found],
            yerr=[_half(one) for one in found],
            color=colour,
            linestyle=dashes,
            marker=marker,
            markersize=3.5,
            linewidth=1.2,
            capsize=2.5,
            label=label,
        )
    axes.set_xlabel(_short(summary["by"])[along])
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(_formatter(column))
    axes.grid(visible=True, axis="y")


def _rows(axes: Axes, column: Column, summary: Result, colours: Colours) -> None:
    names = [_name(group, summary["by"], None) for group in summary["groups"]]
    found = [group["metrics"][column.metric] for group in summary["groups"]]
    kept = [(at, one) for at, one in enumerate(found) if one["mean"] is not None]
    axes.errorbar(
        [one["mean"] for _, one in kept],
        [at for at, _ in kept],
        xerr=[_half(one) for _, one in kept],
        color=colours.with_,
        linestyle="none",
        marker="o",
        markersize=4,
        capsize=3,
    )
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter(_formatter(column))
    axes.locator_params(axis="x", nbins=4)
    axes.grid(visible=True, axis="x")


def _name(group: Result, by: Sequence[str], along: str | None) -> str:
    """The values of a group, with their keys; texts explain themselves and need no key."""
    short = _short(by)
    parts = []
    for key in by:
        value = group["parameters"][key]
        if key != along:
            parts.append(value if isinstance(value, str) else f"{short[key]} = {_value(value)}")
    return ", ".join(parts)


def _half(found: Result) -> float:
    return 0.0 if found["low"] is None else float(found["mean"] - found["low"])


def _formatter(column: Column) -> Callable[[float, Any], str]:
    return lambda value, _: format_value(column.metric, value) if value else "0"
