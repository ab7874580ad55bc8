"""Plots of sweeps: looks of families, labels beside points, axes, and points that are cut off."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from model.results.interval import Interval
from model.results.sweep import SweepGroup, SweepSummary
from reports import palette
from reports.diagrams.labels import PointLabel, place_labels
from reports.results import sweep_plots
from reports.results.choose_plots import OUT
from reports.results.sweep_plots import OVERHEAD, RECOVERY, Chart, is_wide


# --- looks -------------------------------------------------------------------------------------
def test_no_family_looks_crossed_out() -> None:
    assert OUT not in palette.SERIES


# --- labels ------------------------------------------------------------------------------------
PLACES = st.lists(
    st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=1, max_size=6, unique=True
)


def covered(points: Sequence[tuple[float, float]], *, placed: bool = True) -> int:
    """The number of labels that cover a point or another label."""
    figure = Figure(figsize=(8, 6), layout="constrained")
    axes = figure.subplots()
    axes.plot(*zip(*points, strict=True), "o", markersize=5)
    axes.set_xlim(-2, 12)
    axes.set_ylim(-2, 12)
    labels = [PointLabel(f"timer_s = {at}", point, "k") for at, point in enumerate(points)]
    if placed:
        place_labels(axes, labels, points)
    else:
        for label in labels:
            axes.annotate(label.text, label.at, (0, 0), textcoords="offset points", size=8)
    figure.draw_without_rendering()
    boxes = [super(type(text), text).get_window_extent() for text in axes.texts]
    marks = axes.transData.transform(points)
    on_points = sum(any(box.contains(x, y) for x, y in marks) for box in boxes)
    return on_points + sum(one.overlaps(other) for one, other in combinations(boxes, 2))


@settings(max_examples=25, deadline=None)
@given(PLACES)
def test_labels_cover_no_point_and_no_label(points: list[tuple[float, float]]) -> None:
    assert covered(points) == 0


def test_the_check_finds_labels_on_points() -> None:
    assert covered([(1, 1), (2, 1), (2, 2)], placed=False) > 0


@settings(max_examples=15, deadline=None)
@given(st.floats(-0.3, 0.3), st.integers(0, 10))
def test_labels_cross_no_line_and_no_bar(slope: float, at: int) -> None:
    """There is room beside a line that passes the point, and beside a bar."""
    figure = Figure(figsize=(8, 6), layout="constrained")
    axes = figure.subplots()
    (line,) = axes.plot([-2, 12], [5 + slope * (x - at) for x in (-2, 12)])
    (bar,) = axes.bar([6], [2], bottom=-2, width=1)
    axes.set_xlim(-2, 12)
    axes.set_ylim(-2, 12)
    place_labels(axes, [PointLabel("timer_s = 1", (at, 5), "k")], [(at, 5)])
    figure.draw_without_rendering()
    (text,) = axes.texts
    box = super(type(text), text).get_window_extent()
    path = line.get_path().transformed(line.get_transform())
    assert not path.intersects_bbox(box, filled=False)
    assert not box.overlaps(bar.get_window_extent())


# --- axes and points ---------------------------------------------------------------------------
def one_panel(rows: Sequence[tuple[str, float, float, int]]) -> Any:
    """The axes of recovery over overhead.  rows: (protocol, overhead, recovery, cut off)."""
    groups = tuple(
        SweepGroup(
            parameters={"protocol": name},
            chosen=False,
            runs=1,
            failed=0,
            cut_off=cut_off,
            same=1,
            metrics={OVERHEAD: sharp(over), RECOVERY: sharp(recovery)},
        )
        for name, over, recovery, cut_off in rows
    )
    summary = SweepSummary("mine", "mine.toml", ("protocol",), 0.95, groups)
    figure = Figure(figsize=(8, 6), layout="constrained")
    sweep_plots._panels(summary, [Chart(OVERHEAD, RECOVERY)], False, figure)
    return figure.axes[0]


def sharp(value: float) -> Interval:
    return Interval(1, value, None, None)


def test_values_far_apart_have_logarithmic_axes() -> None:
    axes = one_panel([("crb", 0.05, 2.0, 0), ("abs", 80.0, 9.0, 0)])
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
    axes = one_panel([("crb", 0.0, 2.0, 0), ("abs", 80.0, 90.0, 0)])
    assert (axes.get_xscale(), axes.get_yscale()) == ("linear", "log")  # a 0 has no logarithm


def test_cut_off_points_are_hollow_and_the_legend_says_so() -> None:
    axes = one_panel([("crb", 0.05, 2.0, 0), ("abs", 0.1, 9.0, 1)])
    faces = {one.get_label(): one[0].get_markerfacecolor() for one in axes.containers}
    assert faces["abs"] == palette.BG
    assert faces["crb"] != palette.BG
    assert sweep_plots.CUT_OFF in axes.get_legend_handles_labels()[1]
    axes = one_panel([("crb", 0.05, 2.0, 0)])
    assert sweep_plots.CUT_OFF not in axes.get_legend_handles_labels()[1]


@pytest.mark.parametrize(
    ("values", "wide"), [([1, 11.9], False), ([1, 12], True), ([0, 100], False), ([-1, 50], False)]
)
def test_wide(values: list[float], wide: bool) -> None:
    assert is_wide(values) is wide
