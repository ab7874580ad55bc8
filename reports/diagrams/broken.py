"""An axis that ends below an outlier: its bar is broken, and its value stands beside it.

Rule of this file: bars alone; a logarithmic axis needs no break.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from reports import palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Rectangle

FAR = 4.0
"""An outlier is this many times as high as the highest of the others."""
FEW = 0.2
"""The largest share of outliers: of more, the others would be the outliers."""
ROOM = 1.45
"""The end of the axis by the highest of the others."""


def highest_of_others(heights: Sequence[float]) -> float | None:
    """The height of the highest bar that is no outlier; None if there are no outliers."""
    known = sorted(height for height in heights if height > 0)
    for place, (low, high) in enumerate(pairwise(known), 1):
        if high >= FAR * low and len(known) - place <= max(1, FEW * len(known)):
            return low
    return None


def break_axis(axes: Axes) -> None:
    """End the vertical axis below outliers, and write the value of each at its bar."""
    from matplotlib.container import BarContainer

    bars = [
        bar
        for container in axes.containers
        if isinstance(container, BarContainer)
        for bar in container.patches
    ]
    others = highest_of_others([bar.get_height() for bar in bars])
    if others is None or axes.get_yscale() != "linear":
        return
    top = ROOM * others
    axes.set_ylim(0, top)
    high = [bar for bar in bars if bar.get_height() > top]
    for row, bar in enumerate(sorted(high, key=lambda one: one.get_x())):
        _break(axes, bar, top, row)


def _break(axes: Axes, bar: Rectangle, top: float, row: int) -> None:
    left, right = bar.get_x(), bar.get_x() + bar.get_width()
    wide = right - left
    for at in (0.84, 0.88):
        axes.plot(
            [left - 0.3 * wide, right + 0.3 * wide],
            [(at - 0.02) * top, (at + 0.02) * top],
            color=palette.FG,
            linewidth=1,
            solid_capstyle="butt",
        )
    axes.fill(
        [left - 0.3 * wide, right + 0.3 * wide, right + 0.3 * wide, left - 0.3 * wide],
        [0.82 * top, 0.86 * top, 0.9 * top, 0.86 * top],
        color=palette.BG,
        zorder=1.9,
        linewidth=0,
    )
    ends = axes.get_xlim()
    first = (left + right) / 2 < sum(ends) / 2
    axes.annotate(
        f"{float(f'{bar.get_height():.3g}'):,.10g}",
        (right if first else left, (0.97 - 0.08 * (row % 2)) * top),
        (4 if first else -4, 0),
        textcoords="offset points",
        ha="left" if first else "right",
        va="center",
        fontsize=8,
        fontweight="bold",
    )
