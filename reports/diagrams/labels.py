"""Labels of points that lie on no point, line, bar or other label, as far as there is room.

Rule of this file: it draws labels alone, after all points are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.path import Path
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

AROUND = (
    *((1, 1), (1, -1), (-1, 1), (-1, -1)),
    *((0, 1), (0, -1), (1, 0), (-1, 0)),
)
"""The places of a label around its point: the side to which it begins, and goes up."""
NEAR, STEP, RINGS = 7.0, 9.0, 6
"""In points: from a point to the nearest place, from one ring of places to the next, and the number
of rings."""
SIDES = {1: "left", 0: "center", -1: "right"}
ENDS = {1: "bottom", 0: "center", -1: "top"}


class PointLabel(NamedTuple):
    """A text for a point, in the units of the axes."""

    text: str
    at: tuple[float, float]
    colour: str


def place_labels(
    axes: Axes,
    labels: Sequence[PointLabel],
    points: Sequence[tuple[float, float]],
    *,
    size: float = 8,
    marker: float = 6,
    halo: str | None = None,
) -> None:
    """Write each label beside its point, where it covers no point, line, bar or label so far;
    farther ones have a thin line to their point.  A label without such a place gets the one with
    least cover.

    size: of letters; marker: the width of a point, both in points of print.  halo: the colour
    around letters, on lines below them.
    """
    from matplotlib.patheffects import withStroke
    from matplotlib.transforms import Bbox

    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    scale = figure.dpi / 72
    half = (marker / 2 + 1) * scale
    marks = axes.transData.transform([*points]) if points else ()
    taken = [Bbox.from_extents(x - half, y - half, x + half, y + half) for x, y in marks]
    taken += [one.get_window_extent() for one in axes.patches]
    inside, lines = axes.get_window_extent(), _lines(axes)
    for label in labels:
        best: tuple[float, Bbox] | None = None
        for offset in _offsets():
            note = _annotate(axes, label, offset, size, line=False)
            box = note.get_window_extent()
            note.remove()
            cover = _cover(box, taken) + _outside(box, inside) + _crossed(box, lines)
            if best is None or cover < best[0]:
                best, chosen = (cover, box), offset
            if not cover:
                break
        assert best is not None
        note = _annotate(axes, label, chosen, size, line=chosen[2] > NEAR + STEP)
        if halo is not None:
            note.set_path_effects([withStroke(linewidth=2, foreground=halo)])
        taken.append(best[1])


def _offsets() -> Iterator[tuple[int, int, float]]:
    """(side, up, distance in points), from the nearest places outwards."""
    for ring in range(RINGS):
        for side, up in AROUND:
            yield side, up, NEAR + ring * STEP


def _annotate(
    axes: Axes, label: PointLabel, offset: tuple[int, int, float], size: float, *, line: bool
) -> Annotation:
    side, up, distance = offset
    arrow = {"arrowstyle": "-", "linewidth": 0.5, "color": label.colour} if line else None
    note = axes.annotate(
        label.text,
        label.at,
        (side * distance, up * distance),
        textcoords="offset points",
        ha=SIDES[side],
        va=ENDS[up],
        size=size,
        color=label.colour,
        arrowprops=arrow,
        annotation_clip=False,
    )
    note.set_in_layout(False)
    return note


def _cover(box: Bbox, taken: Sequence[Bbox]) -> float:
    """The area of the box that is taken, in pixels."""
    return sum(_overlap(box, other) for other in taken)


def _lines(axes: Axes) -> list[Path]:
    """The lines of the axes, in pixels."""
    drawn = [one for one in axes.get_lines() if one.get_linestyle() != "None"]
    return [one.get_path().transformed(one.get_transform()) for one in drawn]


def _crossed(box: Bbox, lines: Sequence[Path]) -> float:
    """The area of the box, for each line that crosses it."""
    return box.width * box.height * sum(one.intersects_bbox(box, filled=False) for one in lines)


def _overlap(one: Bbox, other: Bbox) -> float:
    wide = min(one.x1, other.x1) - max(one.x0, other.x0)
    high = min(one.y1, other.y1) - max(one.y0, other.y0)
    return wide * high if wide > 0 and high > 0 else 0.0


def _outside(box: Bbox, inside: Bbox) -> float:
    """The area of the box outside the axes."""
    return box.width * box.height - _overlap(box, inside)
