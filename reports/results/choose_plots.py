"""The plot of a choice: the longest recovery of each setting over its overhead.

Rule of this file: it draws a value of model.results.choice, and computes none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from model.results.choice import ChoiceProtocol, TriedSetting, WorkloadChoice
from reports import palette
from reports.diagrams import canvas
from reports.diagrams.picture import Picture
from reports.palette import PlotLook
from reports.results.simulations import format_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OUT = palette.GREY
"""Of crossed-out protocols: no family has this grey."""
LEAST = 1e-4
"""An overhead below this is drawn here: the axis is logarithmic."""


class ChoiceSpot(NamedTuple):
    """A setting in the plot."""

    at: tuple[float, float]
    setting: TriedSetting


def picture(result: WorkloadChoice) -> Picture:
    """The longest recovery over the overhead, a colour and a mark for each family."""
    about = f"Longest recovery over overhead, {result.workload} ({result.scenario})."
    return canvas.plot(partial(_draw, result), 9.0, 6.4, name="choose", about=about)


def _draw(result: WorkloadChoice, figure: Figure) -> None:
    axes = figure.subplots()
    spots = {one.name: list(_spots(one)) for one in result.protocols}
    looks = palette.looks([one.name for one in result.protocols])
    for one in result.protocols:
        _draw_protocol(axes, one, spots[one.name], looks(one.name))
    _draw_frontier(axes, spots)
    _draw_unended(axes, result, looks)
    target = result.targets.get("recovery_s")
    if isinstance(target, float):
        axes.axhline(target, color=palette.BAD, linewidth=1.0, label=f"wanted: {target:g} s")
    for rank, name in enumerate(result.best, 1):
        best = result.named(name).best
        found = [one for one in spots[name] if one.setting == best]
        for spot in found:
            axes.annotate(
                f"{rank}",
                spot.at,
                (0, -15),
                textcoords="offset points",
                ha="center",
                size=9,
                weight="bold",
                zorder=10,
                bbox={"facecolor": palette.BG, "edgecolor": "none", "pad": 0.5, "alpha": 0.8},
            )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    axes.yaxis.set_major_formatter(lambda value, _: format_value("recovery_s", value))
    axes.xaxis.set_minor_formatter(lambda value, _: f"{100 * value:g} %" if _leads(value) else "")
    axes.tick_params(axis="x", which="minor", labelsize=7)
    axes.yaxis.set_minor_formatter(lambda value, _: format_value("recovery_s", value))
    axes.tick_params(axis="y", which="minor", labelsize=7)
    axes.set_xlabel(
        "overhead: processing, or bytes sent and stored, as a share of the stream's, the larger one"
    )
    axes.set_title(
        "longest recovery; bars down to the mean; - : the formula", loc="left", fontsize=10
    )
    axes.grid(visible=True, which="major")
    figure.suptitle(f"{result.workload} ({result.scenario})", fontsize=10)
    figure.legend(loc="outside lower center", ncols=3, fontsize=8)


def _draw_unended(axes: Axes, result: WorkloadChoice, looks: Callable[[str], PlotLook]) -> None:
    """Settings of which a recovery did not end: above all others."""
    ended = [s.longest_s for one in result.protocols for s in one.settings if s.longest_s]
    top = 1.4 * max(ended, default=1.0)
    label: str | None = "a recovery did not end within the input"
    for one in result.protocols:
        for setting in one.settings:
            if setting.longest_s is None:
                at = max(setting.overhead, LEAST)
                colour = _colour(one, looks(one.name))
                axes.plot([at], [top], "^", color=colour, markerfacecolor="none", label=label)
                label = None


def _leads(value: float) -> bool:
    """Is the first digit 2 or 5?  More labels would lie on each other."""
    return f"{value:e}"[0] in "25"


def _spots(one: ChoiceProtocol) -> Iterator[ChoiceSpot]:
    """The settings whose recoveries ended, in the order of their intervals."""
    for setting in one.settings:
        if setting.longest_s is not None:
            yield ChoiceSpot((max(setting.overhead, LEAST), setting.longest_s), setting)


def _colour(one: ChoiceProtocol, look: PlotLook) -> str:
    return OUT if one.crossed_out else look.colour


def _draw_protocol(
    axes: Axes, one: ChoiceProtocol, spots: Sequence[ChoiceSpot], look: PlotLook
) -> None:
    if not spots:
        return
    colour = _colour(one, look)
    xs, ys = [spot.at[0] for spot in spots], [spot.at[1] for spot in spots]
    down = [max(0.0, spot.at[1] - (spot.setting.recovery.mean or spot.at[1])) for spot in spots]
    variant = one.name.partition(":")[2]
    axes.errorbar(
        xs,
        ys,
        yerr=[down, [0.0] * len(spots)],
        color=colour,
        marker=look.mark,
        markersize=6,
        markerfacecolor="none" if variant else colour,
        linestyle=look.line,
        linewidth=0.7,
        capsize=2,
        label=f"{one.name}{' (crossed out)' if one.crossed_out else ''}",
    )
    axes.plot(
        xs,
        [spot.setting.formula_s for spot in spots],
        "_",
        color=colour,
        markersize=11,
        label=f"_{one.name}: the formula",
    )
    if one.crossed_out:
        axes.plot(xs, ys, "x", color=OUT, markersize=11, label=None)


def _draw_frontier(
    axes: Axes,
    spots: Mapping[str, Sequence[ChoiceSpot]],
) -> None:
    front = sorted(spot.at for some in spots.values() for spot in some if spot.setting.on_frontier)
    if front:
        xs, ys = zip(*front, strict=True)
        label = "frontier: no setting is better in both"
        axes.step(xs, ys, where="post", color=palette.FG, linewidth=0.9, linestyle=":", label=label)
