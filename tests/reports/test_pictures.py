"""Every kind of picture, drawn without a browser: colours, ground, formats, numbers and honesty.

Rule of this file: kinds come from the code (tests/reports/picture_kinds.py), so none is forgotten.
"""

from __future__ import annotations

import csv
import io
import math
import re
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import resvg_py
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import patches
from matplotlib.figure import Figure
from PIL import Image

from model.errors import Invalid
from model.machine.marks import is_ours, marked
from reports import palette
from reports.diagrams import broken, canvas, picture, shapes
from reports.diagrams.numbers import numbers
from reports.diagrams.picture import NUMBERS_HEADER, SUFFIXES, Picture
from reports.results import panels
from tests.reports import picture_kinds
from tests.reports.pdf_reader import read_page
from tests.reports.picture_kinds import EXAMPLES, example, reproduction
from tests.reports.test_palette import differ

DRAWINGS = {
    "asif.reduction_picture.picture",
    "reports.architecture.picture",
    "reports.diagrams.lineage.picture",
    "reports.diagrams.spacetime.picture",
}
"""Pictures without axes: they show no numbers."""


def pixels(png: bytes) -> np.ndarray:
    """Rows of pixels, each with red, green and blue."""
    with Image.open(io.BytesIO(png)) as image:
        return np.asarray(image.convert("RGB")).astype(int)


def coloured(found: np.ndarray) -> int:
    """The number of pixels that are no grey."""
    return int((found.max(axis=2) - found.min(axis=2) > 60).sum())


def share_of(found: np.ndarray, colour: str) -> float:
    """The share of the pixels that have this colour."""
    wanted = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return float((np.abs(found - wanted).max(axis=2) <= 2).mean())


def test_every_kind_of_picture_has_an_example() -> None:
    assert picture_kinds.kinds() == {*EXAMPLES}


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_picture_has_colours_on_its_ground_and_no_black_box(kind: str) -> None:
    found = pixels(picture.png(example(kind).svg, zoom=1))
    assert coloured(found) > 150
    assert share_of(found, palette.BG) > 0.4
    assert share_of(found, "#000000") < 0.001
    assert (found.max(axis=2) < 60).mean() < 0.15


def test_the_check_finds_the_black_boxes_of_sheets_with_variables() -> None:
    old = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><style>'
        ".box{fill:var(--bg,Canvas);stroke:currentColor}</style>"
        '<rect class="box" width="30" height="30"/></svg>'
    )
    found = pixels(picture.png(old, zoom=1))
    assert coloured(found) == 0
    assert share_of(found, "#000000") > 0.3


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_picture_has_no_sheet_no_variable_and_only_tones(kind: str) -> None:
    svg = example(kind).svg
    root = ElementTree.fromstring(svg)
    assert root.attrib["aria-label"]
    for never in ("<style", "style=", "var(", "currentColor", "Canvas"):
        assert never not in svg
    attributes = (value for element in root.iter() for value in element.attrib.values())
    colours = {found for value in attributes for found in re.findall("#[0-9a-f]{6}$", value)}
    assert colours <= {tone.light for tone in palette.TONES}


@pytest.mark.parametrize("kind", EXAMPLES)
def test_the_sheet_of_a_file_makes_it_dark(kind: str) -> None:
    (rules,) = re.findall(r"\{(.*)\}</style>", palette.file_sheet())
    drawn = resvg_py.svg_to_bytes(
        svg_string=example(kind).svg, style_sheet=rules, skip_system_fonts=True, dpi=96
    )
    found = pixels(drawn)
    assert share_of(found, "#14171b") > 0.4
    assert share_of(found, palette.BG) < 0.001


@pytest.mark.parametrize("kind", EXAMPLES)
def test_each_format_is_what_its_suffix_says_and_is_marked(kind: str, tmp_path: Path) -> None:
    starts = {".svg": b"<svg ", ".pdf": b"%PDF-", ".png": b"\x89PNG"}
    for suffix in SUFFIXES:
        content = example(kind).content(suffix)
        written = marked(Path(f"a{suffix}"), content)
        assert written.startswith(starts[suffix])
        (tmp_path / f"a{suffix}").write_bytes(written)
        assert is_ours(tmp_path / f"a{suffix}")
    assert b"made by" in (tmp_path / "a.pdf").read_bytes()


def words_of(svg: str) -> list[str]:
    """The words that a drawing shows."""
    texts = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return [word for one in texts for word in "".join(one.itertext()).split()]


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_pdf_shows_the_words_and_the_colours_of_the_drawing(kind: str) -> None:
    drawn = example(kind)
    content = drawn.content(".pdf")
    assert isinstance(content, bytes)
    page = read_page(content)
    assert not [word for word in words_of(drawn.svg) if word not in page.texts]
    assert (
        len(page.colours & {tone.light for tone in palette.TONES}) >= 3
    )  # ground, letters, a series
    assert page.paints >= 8


def test_a_blank_page_shows_nothing() -> None:
    page = read_page(picture.pdf(shapes.sheet([], 90, 90, about="nothing", mono=False)))
    assert page == ("", frozenset({palette.BG}), 1)


NASTY = (' style="font: x"', ' id="x" "y"', "a <b> & c", "url(#x) '", '<svg style="z">', "-->")


def test_names_with_quotes_and_tags_are_drawn_as_they_are() -> None:
    def draw(figure: Figure) -> None:
        for at, name in enumerate(NASTY):
            figure.text(0.5, at / 9, name)

    drawn = canvas.plot(draw, 3, 3, name="names", about=NASTY[0])
    root = ElementTree.fromstring(drawn.svg)
    texts = root.iter("{http://www.w3.org/2000/svg}text")
    assert [one.text for one in texts] == [*NASTY]
    assert not [one for one in root.iter() if "style" in one.attrib]
    assert root.attrib["aria-label"] == NASTY[0]
    parts = [shapes.text(0, 20 * at, name) for at, name in enumerate(NASTY)]
    by_hand = shapes.sheet(parts, 90, 90, about="names", mono=True)
    for text in (name.replace(" ", "") for name in NASTY):
        assert read_page(picture.pdf(by_hand)).texts.count(text) == 2  # once as its halo


def test_a_text_of_two_lines_stands_over_its_halo() -> None:
    svg = shapes.sheet([shapes.text(0, 20, "one\ntwo")], 90, 90, about="text", mono=False)
    page = read_page(picture.pdf(svg))
    assert page.texts == "onetwo" * 2
    assert page.colours == {palette.BG, palette.FG}


@pytest.mark.parametrize("kind", EXAMPLES)
def test_every_plot_has_its_numbers(kind: str, tmp_path: Path) -> None:
    numbers = example(kind).numbers
    if kind in DRAWINGS:
        assert numbers == ""
        return
    header, *rows = csv.reader(io.StringIO(numbers))
    assert tuple(header) == NUMBERS_HEADER
    assert rows
    assert all(row[3] and not re.match("_|container|child", row[3]) for row in rows)
    (tmp_path / "a.csv").write_text(numbers)
    assert is_ours(tmp_path / "a.csv")


def test_the_numbers_are_those_that_were_drawn() -> None:
    rows = [*csv.DictReader(io.StringIO(panels.picture(reproduction()).numbers))]
    bars = [row for row in rows if row["panel"] == "Bytes" and row["series"] == "upstream backup"]
    assert [(row["x"], row["y"]) for row in bars] == [
        ("all", "40"),
        ("some", "52"),
        ("none", "16400"),
    ]
    assert {row["y axis"] for row in bars} == {"bytes"}
    points = [row for row in rows if row["panel"] == "Recovery" and row["series"] == "published"]
    assert [(row["x"], row["y"]) for row in points][:2] == [("1", "1.2"), ("2", "2.2")]
    band = [row for row in rows if row["series"] == "upstream backup (band)"]
    assert [(row["x"], row["y low"], row["y high"]) for row in band][:2] == [
        ("1", "0.5", "1.5"),
        ("2", "1", "3"),
    ]


def test_a_bar_without_a_number_has_no_whisker_in_the_csv() -> None:
    figure = Figure()
    bars = figure.subplots().bar([0, 1], [2.0, math.nan], yerr=[0.5, math.nan], label="recovery")
    assert len(bars.patches) == 2
    rows = [*csv.DictReader(io.StringIO(numbers(figure)))]
    assert [[*row.values()][-5:] for row in rows] == [
        ["2", "", "", "1.5", "2.5"],
        ["", "", "", "", ""],
    ]


# --- files ---------------------------------------------------------------------------------------
def test_the_files_of_a_picture() -> None:
    drawn = Picture("<svg></svg>", numbers="a,b\n")
    assert [*picture.files(drawn, Path("p.svg"))] == [Path("p.svg"), Path("p.csv")]
    small = Picture('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>', "a\n")
    several = picture.files(small, Path("out/a.b"), (".svg", ".png"))
    assert [*map(str, several)] == ["out/a.b.svg", "out/a.b.png", "out/a.b.csv"]
    assert [*picture.files(Picture("<svg></svg>"), Path("p.svg"))] == [Path("p.svg")]


@pytest.mark.parametrize("text", ["gif", "svg,gif", "", "svg,", "SVG;PDF"])
def test_an_unknown_format_is_one_line(text: str) -> None:
    with pytest.raises(Invalid) as error:
        picture.suffixes(text)
    assert "svg, pdf or png" in str(error.value)
    assert "\n" not in str(error.value)


def test_formats_are_read_in_any_case_each_once() -> None:
    assert picture.suffixes("SVG, .pdf,svg") == (".svg", ".pdf")


# --- figures do not lie --------------------------------------------------------------------------
def drawn_figure(monkeypatch: Any, draw: Any) -> Figure:
    """The figure of matplotlib behind a picture."""
    found: list[Figure] = []

    def keep(figure: Figure) -> str:
        found.append(figure)
        return ""

    monkeypatch.setattr(canvas, "numbers", keep)
    draw()
    return found[-1]


def lines(figure: Figure) -> set[str]:
    """The labels of the series whose points a line joins."""
    return {
        str(line.get_label()).removeprefix("_")
        for axes in figure.axes
        for line in axes.lines
        if line.get_linestyle() != "None" and not str(line.get_label()).startswith("_child")
    }


def test_fewer_seeds_than_published_give_points_and_no_lines(monkeypatch: Any) -> None:
    figure = drawn_figure(monkeypatch, lambda: panels.picture(reproduction()))
    assert lines(figure) == {"formula"}
    assert "1 seed, " in figure.get_suptitle()
    figure = drawn_figure(monkeypatch, lambda: panels.picture(reproduction(as_published=True)))
    assert lines(figure) >= {"upstream backup", "passive standby", "mean"}
    assert "the paper has more" not in figure.get_suptitle()


@pytest.mark.parametrize(
    ("heights", "expected"),
    [
        ([40, 52, 16_400, 35, 49, 61], 61),
        ([1, 2, 3], None),
        ([1, 100], 1),
        ([1, 1, 90, 95], None),
        ([0, 0, 5], None),
        ([], None),
    ],
)
def test_an_outlier_is_far_above_all_others(heights: list[float], expected: float | None) -> None:
    assert broken.highest_of_others(heights) == expected


@given(st.lists(st.floats(0, 1e6), max_size=30))
def test_few_bars_are_outliers_and_far_from_the_others(heights: list[float]) -> None:
    others = broken.highest_of_others(heights)
    if others is not None:
        far = [height for height in heights if height > others]
        assert min(far) >= broken.FAR * others
        assert len(far) <= max(1, broken.FEW * len(heights))


@pytest.mark.parametrize(
    "kind", ["reports.results.panels.picture", "reports.results.experiments.lima_fig9"]
)
def test_a_broken_bar_has_its_value_and_the_others_have_room(kind: str, monkeypatch: Any) -> None:
    figure = drawn_figure(monkeypatch, EXAMPLES[kind])
    axes = [axes for axes in figure.axes if any("16,400" in one.get_text() for one in axes.texts)]
    values = [one.get_text() for one in axes[0].texts] if axes else []
    assert len(axes) == 1, [one.get_text() for ax in figure.axes for one in ax.texts]
    assert values[0].startswith("16,400")
    tallest = max(bar.get_height() for bar in axes[0].patches if isinstance(bar, patches.Rectangle))
    assert axes[0].get_ylim()[1] < tallest / 4


@pytest.mark.parametrize("kind", sorted({*EXAMPLES} - DRAWINGS))
def test_any_two_series_of_a_legend_differ_for_all_eyes(kind: str, monkeypatch: Any) -> None:
    figure = drawn_figure(monkeypatch, EXAMPLES[kind])
    legends = [*figure.legends, *filter(None, (axes.get_legend() for axes in figure.axes))]
    for legend in legends:
        for one, other in combinations(legend.legend_handles, 2):
            assert _shape(one) != _shape(other) or differ(_look(one), _look(other), "light")


def _look(handle: Any) -> palette.PlotLook:
    from matplotlib.colors import to_hex

    colour = handle.get_color() if hasattr(handle, "get_color") else handle.get_edgecolor()
    if isinstance(colour, np.ndarray) and colour.ndim > 1:
        colour = colour[0]
    if to_hex(colour) not in {tone.light for tone in palette.TONES}:
        colour = handle.get_facecolor()
    return palette.PlotLook(to_hex(colour), "", ())


def _shape(handle: Any) -> tuple[str, ...]:
    """What distinguishes two entries of a legend beside their colours."""
    names = ("get_marker", "get_linestyle", "get_hatch", "get_fillstyle", "get_markerfacecolor")
    return (
        type(handle).__name__,
        *(str(getattr(handle, one)()) for one in names if hasattr(handle, one)),
        str(getattr(handle, "_unscaled_dash_pattern", "")),  # its line style is "--" for any dashes
    )
