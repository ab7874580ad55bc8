"""Published experiments run again: the paper's figure in its own layout, and numbers side by side.

Rule of this file: it draws a value of model.results.experiment, and computes none of it again.
FIGURES has the figures with a layout of their own, by experiment; others describe their panels
(reports.results.panels), or have only numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.table import Table
from rich.text import Text

from model.results.experiment import OTHER_READING, ComparedNumber, Reproduction
from model.results.table import Row
from reports import palette
from reports.diagrams.broken import break_axis
from reports.diagrams.canvas import plot
from reports.diagrams.picture import Picture
from reports.results import panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIGNS = {"within 10 %": "✓", "within 25 %": "≈", "outside": "✗"}
STYLES = {"✓": "green", "≈": "yellow", "✗": "red"}


# --- Lima et al., Figure 9 -----------------------------------------------------------------------
class Bars(NamedTuple):
    """The bars of one mode: as in the paper, white without skipping, crossed with it."""

    mode: str
    label: str
    colour: str
    hatch: str
    filled: bool


BARS = (
    Bars("off", "skip off", palette.FG, "", False),
    Bars("on", "skip on", palette.VERMILION, "xxxx", False),
    Bars("notices", "skip notices of their own", palette.BLUE, "", True),
    Bars("corrected", "skip on, corrected numbers", palette.ORANGE, "////", False),
)


class BarsPanel(NamedTuple):
    """A panel.  low, high: the ends of the whiskers; None: one standard deviation."""

    title: str
    unit: str
    value: str
    scale: float = 1.0
    deviation: str | None = None
    low: str | None = None
    high: str | None = None


PANELS = (
    BarsPanel("recovery time", "µs", "recovery_s", 1e6, None, "recovery_s_low", "recovery_s_high"),
    BarsPanel("time in savepoints", "% of total", "save_share", 100),
    BarsPanel("events replayed", "events", "replayed_mean", 1, "replayed_std"),
    BarsPanel("upstream backup at its peak", "events", "peak_mean", 1, "peak_std"),
)


def lima_fig9(result: Reproduction) -> Picture:
    """Eight panels, the slides of the windows side by side."""
    return plot(
        partial(_panels, result),
        9.6,
        12.0,
        name="fig9",
        about=_about(result),
        style={"hatch.linewidth": 0.6},
    )


def _panels(result: Reproduction, figure: Figure) -> None:
    slides = sorted({cell["slide"] for cell in result.cells})
    grid = figure.subplots(len(PANELS), len(slides), squeeze=False)
    for row, panel in enumerate(PANELS):
        for column, slide in enumerate(slides):
            letter = "abcdefgh"[row * len(slides) + column]
            axes = grid[row][column]
            _panel(axes, panel, [c for c in result.cells if c["slide"] == slide])
            axes.set_title(f"({letter}) {panel.title}, slide {slide}", fontsize=10, loc="left")
    panels.heading(figure, result)
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(BARS))


def _panel(axes: Axes, panel: BarsPanel, cells: Sequence[Row]) -> None:
    intervals = sorted({cell["interval"] for cell in cells})
    width = 0.8 / len(BARS)
    for at, bars in enumerate(BARS):
        mine = {cell["interval"]: cell for cell in cells if cell["mode"] == bars.mode}
        kept = [mine[interval] for interval in intervals]
        colour = bars.colour
        heights = [panel.scale * cell[panel.value] for cell in kept]
        axes.bar(
            [x + (at - (len(BARS) - 1) / 2) * width for x in range(len(intervals))],
            heights,
            width * 0.9,
            yerr=_whiskers(panel, kept),
            error_kw={"elinewidth": 0.8, "ecolor": palette.FG, "alpha": 0.7},
            facecolor=colour if bars.filled else "none",
            edgecolor=colour,
            linewidth=0.9,
            hatch=bars.hatch,
            label=bars.label,
        )
    axes.set_xticks(range(len(intervals)), [str(interval) for interval in intervals])
    axes.set_xlabel("save interval")
    axes.set_ylabel(panel.unit)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    break_axis(axes)


def _whiskers(panel: BarsPanel, cells: Sequence[Row]) -> Any:
    if panel.deviation:
        return [panel.scale * cell[panel.deviation] for cell in cells]
    if panel.low and panel.high:
        down = [panel.scale * (cell[panel.value] - cell[panel.low]) for cell in cells]
        up = [panel.scale * (cell[panel.high] - cell[panel.value]) for cell in cells]
        return [down, up]
    return None


def _about(result: Reproduction) -> str:
    """The picture in words."""
    return (
        f"Figure 9 of Lima et al. run again: {result.runs:,} cycles of "
        f"{result.events:,} events, {result.seeds} seeds."
    )


FIGURES = {"lima-fig9": lima_fig9}


def figure(result: Reproduction) -> str | None:
    """The figure of an experiment as an <svg> element, for a page; None if it has none."""
    return found.svg if (found := picture(result)) is not None else None


def picture(result: Reproduction) -> Picture | None:
    """The figure of an experiment; None if it has none."""
    if (drawn := FIGURES.get(result.experiment)) is not None:
        return drawn(result)
    return None if result.panels is None else panels.picture(result)


# --- numbers -------------------------------------------------------------------------------------
def table(result: Reproduction) -> Table:
    """For a terminal: published and ours.  A number that is not scored has no sign, and a mark."""
    rows = Table("", "published", "ours", "off by", "how", "what", "section")
    for number in result.numbers:
        rows.add_row(
            Text(sign(number), style=STYLES.get(sign(number), "")),
            shown(number, number.published),
            beside(number),
            off_by(number),
            number.way,
            " ".join([number.what, *(f"({why})" for why in _whys(number))]),
            number.section,
        )
    return rows


def _whys(number: ComparedNumber) -> Iterator[str]:
    """Why our value differs, and why it is not scored."""
    yield from filter(None, (number.reason, marked(number)))


def sign(number: ComparedNumber) -> str:
    """The sign of the verdict; none for a number that is not scored."""
    return SIGNS[number.verdict] if number.scored else ""


def marked(number: ComparedNumber) -> str:
    """Why the number is not scored; nothing if it is, or is another reading."""
    if number.scored or number.mark == OTHER_READING:
        return ""
    return f"{number.mark}: {number.because}"


def off_by(number: ComparedNumber) -> str:
    """The relative error of the part that is no parameter; only values have one."""
    return f"{number.error:+,.0%}" if number.kind == "value" else ""


def beside(number: ComparedNumber) -> str:
    """Our value, with its 95 % confidence interval if there is one."""
    if number.low is None or number.high is None or number.high == number.low:
        return shown(number, number.ours)
    return f"{shown(number, number.ours)} ± {float(f'{(number.high - number.low) / 2:.2g}'):g}"


def shown(number: ComparedNumber, value: float) -> str:
    """The value with its unit, in three digits."""
    if number.kind == "trend":
        return "yes" if value == 1 else "no"
    if number.unit == "share":
        text = f"{value:.1%}"
    else:
        text = f"{float(f'{value:.3g}'):,.10g} {number.unit}"
    bound = "≤ " if number.kind == "at most" and value == number.published else ""
    return f"{bound}{text}"


def score(results: Sequence[Reproduction]) -> str:
    """One line over all experiments: the numbers that could have failed, and how many could not."""
    count = {verdict: sum(r.score[verdict] for r in results) for verdict in SIGNS}
    total = sum(count.values())
    scored = {n.id for r in results for n in r.numbers if n.scored}
    marks = Counter(mark for r in results for mark in dict(_marks(r, scored)).values())
    behind = ", ".join(f"{n} {mark}" for mark, n in sorted(marks.items()))
    line = f"{total} published numbers: " + ", ".join(f"{n} {v}" for v, n in count.items())
    return f"{line}; not scored: {behind}" if behind else line


def _marks(result: Reproduction, scored: AbstractSet[str]) -> Iterator[tuple[str, str]]:
    """The mark of each number that no way of finding it scores."""
    for number in result.numbers:
        if number.id not in scored and number.mark != OTHER_READING:
            yield number.id, number.mark
