"""Plots of a sweep: the cost of recovery against that of protection, and any metric over a key.

Rule of this file: it draws a value of model.results.sweep, and computes no mean again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from model.errors import Invalid, nearest
from model.results.interval import Interval
from model.results.sweep import SweepGroup, SweepSummary
from reports import palette
from reports.diagrams import canvas
from reports.diagrams.labels import PointLabel, place_labels
from reports.diagrams.picture import Picture
from reports.palette import PlotLook
from reports.results.simulations import format_value
from reports.results.sweeps import name_of, name_value, short_names, show_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RECOVERY, OVERHEAD = "recovery_s", "overhead_protection_stream_bytes_share"
OVER_A_KEY = (RECOVERY, OVERHEAD, "latency_p99_s", "peak_backup_events")
"""The metrics of the panels over a key with numbers."""
NAMES = {
    RECOVERY: "recovery time",
    OVERHEAD: "bytes sent and stored for protection, of the stream",
    "overhead_protection_busy_share": "processing for protection, share of the unprotected",
    "latency_p99_s": "latency, 99 %",
    "peak_backup_events": "upstream backup, peak",
}
"""The names of metrics for people; others keep the name of their column."""
WIDE = 12.0
"""The largest value by the smallest one from which an axis is logarithmic."""
CUT_OFF = "hollow: cut off, at least this"


class Chart(NamedTuple):
    """A panel.  x: a key of the grid, or a metric; y: a metric.  colour: a key; None: the first one
    whose values are no numbers, or else the first."""

    x: str
    y: str
    colour: str | None = None


def charts(texts: Sequence[str]) -> tuple[Chart, ...]:
    """The panels of `--axes x=...,y=...,colour=...`.  Raises Invalid."""
    return tuple(map(_chart, texts))


def _chart(text: str) -> Chart:
    parts = dict(part.partition("=")[::2] for part in text.split(","))
    parts = {name.strip(): value.strip() for name, value in parts.items()}
    unknown = [name for name in parts if name not in Chart._fields]
    if unknown or not (parts.get("x") and parts.get("y")):
        raise Invalid(
            f"--axes {text}: write x=KEY or METRIC, y=METRIC and colour=KEY, as in "
            f"x={OVERHEAD},y={RECOVERY},colour=protocol"
        )
    return Chart(parts["x"], parts["y"], parts.get("colour") or None)


def picture(summary: SweepSummary, asked: Sequence[Chart] = ()) -> Picture:
    """The panels asked for; without any, recovery over the overhead of protection, and four panels
    over the key with the most numbers, if there is one.  Raises Invalid for an unknown name."""
    panels = asked or tuple(_usual(summary))
    metrics = [name for group in summary.groups[:1] for name in group.metrics]
    keys = {name: _numeric(summary, name) for name in summary.by}
    check_charts(panels, keys, metrics)
    columns = 1 if len(panels) == 1 else 2
    first_wide = not asked and len(panels) > 1
    rows = -(-(len(panels) + first_wide) // columns)
    height = 1.2 + (4.2 if columns == 1 else 3.2 * rows + (0.8 if first_wide else 0))
    draw = partial(_panels, summary, panels, first_wide)
    about = f"{summary.sweep} ({summary.scenario}): " + ", ".join(
        f"{_title(one.y)} over {_title(one.x)}" for one in panels
    )
    return canvas.plot(draw, 8.6, height, name="sweep", about=about)


def _usual(summary: SweepSummary) -> Iterator[Chart]:
    yield Chart(OVERHEAD, RECOVERY)
    along = along_key(summary)
    if along is not None:
        yield from (Chart(along, metric) for metric in OVER_A_KEY)


def along_key(summary: SweepSummary) -> str | None:
    """The key with the most values, of those whose values are numbers."""
    numbers = {name: len(_values(summary, name)) for name in summary.by if _numeric(summary, name)}
    return max(numbers, key=numbers.__getitem__) if numbers else None


def _values(summary: SweepSummary, key: str) -> list[Any]:
    return list(dict.fromkeys(group.parameters[key] for group in summary.groups))


def _numeric(summary: SweepSummary, key: str) -> bool:
    values = _values(summary, key)
    return all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)


def check_charts(charts: Iterable[Chart], keys: Mapping[str, bool], metrics: Sequence[str]) -> None:
    """Raise Invalid for a name that is none.  keys: that are varied; are their values numbers?"""
    numbers = [name for name, numeric in keys.items() if numeric]
    for chart in charts:
        for field, value, known in (
            ("x", chart.x, [*numbers, *metrics]),
            ("y", chart.y, metrics),
            ("colour", chart.colour, [*keys]),
        ):
            if value is not None and value not in known:
                raise Invalid(f"--axes: {field}={value}: there is none{nearest(value, known)}")


# --- drawing ---------------------------------------------------------------------------------
def _panels(
    summary: SweepSummary,
    panels: Sequence[Chart],
    first_wide: bool,
    figure: Figure,
) -> None:
    names = [f"{number}" for number in range(len(panels))]
    rest = names[1:] if first_wide else names
    rows: Any = [rest[at : at + 2] for at in range(0, len(rest), 2)] if len(names) > 1 else [names]
    rows = [row if len(row) == len(rows[0]) else [*row, "."] for row in rows]
    heights = [1.0] * len(rows)
    if first_wide:
        rows, heights = [["0", "0"], *rows], [1.3, *heights]
    axes = figure.subplot_mosaic(rows, height_ratios=heights)
    for name, chart in zip(names, panels, strict=True):
        _draw(axes[name], chart, summary)
    _explain_cut_off(axes["0"], summary)
    handles, labels = _once(list(axes.values()))
    if any(labels):
        wide = 1 if max(map(len, labels)) > 45 else 2 if max(map(len, labels)) > 22 else 3
        figure.legend(handles, labels, loc="outside lower center", ncols=wide, fontsize=8.5)
    runs = max(group.runs for group in summary.groups)
    bars = f"; bars: {summary.confidence:.0%} confidence of the mean" if runs > 1 else ""
    title = f"{summary.sweep} ({summary.scenario}): mean of {runs} runs a point{bars}"
    figure.suptitle(title, fontsize=10)
    for name, chart in zip(names, panels, strict=True):
        if chart.x not in summary.by:
            _name_frontier(axes[name], chart, summary)


def _draw(axes: Axes, chart: Chart, summary: SweepSummary) -> None:
    over_key = chart.x in summary.by
    if over_key:
        _lines(axes, chart, summary)
    else:
        _points(axes, chart, summary)
        _scale(axes, "x", chart.x, [g.metrics[chart.x] for g in summary.groups])
    axes.set_xlabel(short_names(summary.by)[chart.x] if over_key else _title(chart.x))
    axes.set_title(_title(chart.y), fontsize=10, loc="left")
    without = sum(group.metrics[chart.y].mean is None for group in summary.groups)
    if without:
        axes.set_title(f"{without} of {len(summary.groups)} have none", fontsize=8, loc="right")
    _scale(axes, "y", chart.y, [g.metrics[chart.y] for g in summary.groups])
    axes.grid(visible=True)


def _scale(axes: Axes, which: Literal["x", "y"], name: str, found: Sequence[Interval]) -> None:
    """A logarithmic axis if the values are far apart; otherwise one from zero to above the largest
    interval, and below zero only if a value is."""
    from matplotlib.ticker import LogLocator, NullLocator

    means = [one.mean for one in found if one.mean is not None]
    highs = [one.mean + one.half for one in found if one.mean is not None]
    axis = axes.xaxis if which == "x" else axes.yaxis
    set_limits = axes.set_xlim if which == "x" else axes.set_ylim
    axis.set_major_formatter(_formatter(name))
    if not means or max(highs) <= 0:
        return
    if is_wide(means):
        (axes.set_xscale if which == "x" else axes.set_yscale)("log")
        apart = max(means) / min(means)
        axis.set_major_locator(LogLocator(subs=(1.0,) if apart > 300 else (1.0, 3.0)))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(_formatter(name))
        set_limits(min(means) / 1.6, 1.6 * max(highs))
    else:
        set_limits(min(0.0, *means) if min(means) < 0 else 0.0, 1.12 * max(highs))


def is_wide(values: Sequence[float]) -> bool:
    """Are all values above 0, and so far apart that an axis from 0 hides the small ones?"""
    return min(values) > 0 and max(values) >= WIDE * min(values)


def _explain_cut_off(axes: Axes, summary: SweepSummary) -> None:
    if any(group.cut_off for group in summary.groups):
        axes.plot([], [], "o", color=palette.FG, markerfacecolor=palette.BG, label=CUT_OFF)


def _points(axes: Axes, chart: Chart, summary: SweepSummary) -> None:
    """A point for each setting, with the frontier of those that no other beats in both; thin lines
    join the settings of one look."""
    looks = _looks(summary, _colour_key(chart, summary))
    known = [*_spots(summary, chart)]
    front = frontier([one.at for one in known])
    xs, ys = [x for x, _ in front], [y for _, y in front]
    axes.step(xs, ys, where="post", color=palette.FG, linewidth=0.8, linestyle=":", zorder=1)
    axes.plot([], [], ":", color=palette.FG, linewidth=0.8, label="no setting is better in both")
    for group, at, half in known:
        (colour, mark, _), label = looks(group)
        axes.errorbar(
            *at,
            xerr=half[0],
            yerr=half[1],
            color=colour,
            marker=mark,
            markersize=5,
            markerfacecolor=palette.BG if group.cut_off else colour,
            capsize=2,
            linestyle="none",
            label=label,
        )
        if group.chosen:
            axes.plot(
                *(*at, "o"),
                markersize=12,
                markerfacecolor="none",
                markeredgecolor=palette.FG,
                label="as in the scenario",
            )
    ways: dict[PlotLook, list[tuple[float, float]]] = {}
    for one in known:
        ways.setdefault(looks(one.group)[0], []).append(one.at)
    for look, way in ways.items():
        axes.plot(*zip(*way, strict=True), color=look.colour, linewidth=0.6, alpha=0.5)


def _name_frontier(axes: Axes, chart: Chart, summary: SweepSummary) -> None:
    """Write the values of the settings on the frontier that the look does not show."""
    looks, key = _looks(summary, _colour_key(chart, summary)), _colour_key(chart, summary)
    known = [*_spots(summary, chart)]
    front = frontier([one.at for one in known])
    labels = [
        PointLabel(rest, one.at, looks(one.group)[0].text)
        for one in known
        if one.at in front and (rest := name_of(one.group, summary.by, key))
    ]
    place_labels(axes, labels, [one.at for one in known], halo=palette.BG)


class _Spot(NamedTuple):
    """A group in a panel of points.  at: the means of both metrics; half: of their intervals."""

    group: SweepGroup
    at: tuple[float, float]
    half: tuple[float, float]


def _spots(summary: SweepSummary, chart: Chart) -> Iterator[_Spot]:
    """The groups that have both means."""
    for group in summary.groups:
        x, y = group.metrics[chart.x], group.metrics[chart.y]
        if x.mean is not None and y.mean is not None:
            yield _Spot(group, (x.mean, y.mean), (x.half, y.half))


def frontier(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points that no other beats in both, from left to right."""
    kept: list[tuple[float, float]] = []
    for x, y in sorted(points):
        if not kept or y < kept[-1][1]:
            kept.append((x, y))
    return kept


def _lines(axes: Axes, chart: Chart, summary: SweepSummary) -> None:
    looks = _looks(summary, _colour_key(chart, summary))
    dashes = dict(zip(_others(chart, summary), cycle(palette.DASHES), strict=False))
    lines: dict[str, list[SweepGroup]] = {}
    for group in summary.groups:
        if group.metrics[chart.y].mean is not None:
            lines.setdefault(name_of(group, summary.by, chart.x), []).append(group)
    for groups in lines.values():
        (colour, mark, _), label = looks(groups[0])
        found = [group.metrics[chart.y] for group in groups]
        at = [group.parameters[chart.x] for group in groups]
        axes.errorbar(
            at,
            [one.mean or 0.0 for one in found],
            yerr=[one.half for one in found],
            color=colour,
            linestyle=(0, dashes[_rest(groups[0], chart, summary)] or None),
            marker=mark,
            markersize=3.5,
            linewidth=1.2,
            capsize=2.5,
            label=label,
        )
        hollow = [
            (x, one.mean) for x, one, group in zip(at, found, groups, strict=True) if group.cut_off
        ]
        if hollow:
            axes.plot(
                *zip(*hollow, strict=True),
                color=colour,
                linestyle="none",
                marker=mark,
                markersize=3.5,
                markerfacecolor=palette.BG,
                zorder=5,
            )
    values = _values(summary, chart.x)
    if is_wide(values):
        axes.set_xscale("log")
        axes.set_xticks(values, [show_value(value) for value in values])
        axes.minorticks_off()


def _colour_key(chart: Chart, summary: SweepSummary) -> str | None:
    if chart.colour is not None:
        return chart.colour
    texts = [name for name in summary.by if not _numeric(summary, name)]
    others = [name for name in summary.by if name != chart.x]
    return next(iter([*texts, *others]), None)


def _others(chart: Chart, summary: SweepSummary) -> list[str]:
    return list(dict.fromkeys(_rest(group, chart, summary) for group in summary.groups))


def _rest(group: SweepGroup, chart: Chart, summary: SweepSummary) -> str:
    """The values of a group that neither the place nor the colour shows."""
    shown = (chart.x, _colour_key(chart, summary))
    return ", ".join(str(group.parameters[key]) for key in summary.by if key not in shown)


def _looks(summary: SweepSummary, key: str | None) -> Callable[[SweepGroup], tuple[PlotLook, str]]:
    """A function that returns the look and the label of a group."""
    values = [str(value) for value in (_values(summary, key) if key else [None])]
    by_family = palette.looks(values) if key == "protocol" else None

    def look(group: SweepGroup) -> tuple[PlotLook, str]:
        value = group.parameters[key] if key else None
        found = (
            palette.look_of(values.index(str(value)))
            if by_family is None
            else by_family(str(value))
        )
        return found, name_value(summary.by, key, value) if key else ""

    return look


def _once(axes: Sequence[Axes]) -> tuple[list[Any], list[str]]:
    """The handles and labels of all panels, each label once."""
    found = dict[str, Any]()
    for one in axes:
        for handle, label in zip(*one.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    return list(found.values()), list(found)


# --- names -----------------------------------------------------------------------------------
def _title(metric: str) -> str:
    return NAMES.get(metric, metric)


def _formatter(name: str) -> Callable[[float, Any], str]:
    if name.endswith("_share"):
        return lambda value, _: f"{float(f'{100 * value:.3g}'):,.10g} %"
    return lambda value, _: format_value(name, value) if value else "0"
