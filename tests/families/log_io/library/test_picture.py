"""The picture of a lineage shows each event and each use, and no more boxes than fit."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import networkx

from docs.examples.log_io import pipeline
from reports.diagrams.lineage import ROWS, picture
from spark_check.log_io.library import Log
from spark_check.log_io.library.lineage import graph
from tests.families.log_io.library.children import do_nothing


def test_a_picture_of_a_line_of_the_book(tmp_path: Path) -> None:
    with Log(str(tmp_path / "log.db"), pipeline.captured(), synchronous="OFF") as log:
        pipeline.run(log, tmp_path, do_nothing)
        found = graph(log, ("ledger", "", "book", 1))
    asked = ("ledger", "", "book", 1)
    drawn = picture(found, asked).svg
    assert drawn == picture(found, asked).svg
    for text in ("shop.sales#1", "shop.sales#3", "sums.totals#1", "ledger.book#1"):
        assert text in drawn
    assert "4 events, 3 uses" in drawn


def draw(edges: Sequence[tuple[str, str]], asked: str, body: bytes = b"") -> str:
    """The picture of events on these ports, all with one body."""
    found = networkx.DiGraph()
    for one in dict.fromkeys(name for edge in edges for name in edge):
        found.add_node((one,), name=f"{one}#1", body=body, is_source=False)
    found.add_edges_from([((one,), (other,)) for one, other in edges])
    return picture(found, (asked,)).svg


def places(drawn: str) -> dict[str, tuple[float, float]]:
    """Where the boxes of a picture stand, by the first line of their titles, in points."""
    groups = re.findall(r"<g id=\"lineage-box.*?</g>", drawn, re.DOTALL)
    found = {}
    for group in groups:
        (name,) = re.findall(r"<title>(.*)", group)
        x, y = re.findall(r"translate\(([\d.]+) ([\d.]+)\)", group)[0]
        found[name.removesuffix("</title>")] = float(x), float(y)
    return found


def size(drawn: str) -> tuple[float, float]:
    """Width and height in points."""
    found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', drawn)
    assert found is not None
    return float(found[1]), float(found[2])


def test_what_does_not_fit_is_one_box() -> None:
    drawn = draw([(f"source.{at}", "op.out") for at in range(100)], "op.out", b"x" * 99)
    assert f"and {101 - ROWS} more" in drawn
    assert "101 events, 100 uses" in drawn


def test_an_event_stands_in_the_middle_of_its_inputs() -> None:
    drawn = draw([(f"source.{at:02}", "op.out") for at in range(24)], "op.out")
    inputs = [y for name, (_, y) in places(drawn).items() if name.startswith("source")]
    _, middle = places(drawn)["op.out#1"]
    assert abs(middle - (min(inputs) + max(inputs)) / 2) < 2
    assert drawn == draw([(f"source.{at:02}", "op.out") for at in range(24)], "op.out")


def test_an_edge_that_passes_a_column_has_a_place_in_it() -> None:
    """The direct edge does not cross the box of the long way."""
    with_edge = draw([("a.o", "b.o"), ("b.o", "c.o"), ("a.o", "c.o")], "c.o")
    heights = {name: y for name, (_, y) in places(with_edge).items()}
    assert abs(heights["b.o#1"] - heights["a.o#1"]) > 10


def test_a_long_chain_goes_downward() -> None:
    width, height = size(draw([(f"n{at}.o", f"n{at + 1}.o") for at in range(12)], "n12.o"))
    assert width < 300 < height < 900


def test_a_box_holds_its_name_and_the_lines_of_its_body() -> None:
    name = "an_operator_with_a_long_name.and_a_port"
    drawn = draw([(name, "b$x$.o")], "b$x$.o", b"$\\frac{1}$\r\nline 2\x00\x1b[31m<" + b"x" * 99)
    root = ElementTree.fromstring(drawn)
    texts = [one.text or "" for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert [one for one in texts if one.startswith("an_op")] == ["an_operator_with_a_long_nam…#1"]
    assert "b$x$.o#1" in texts
    body = texts.index("$\\frac{1}$ line")
    assert texts[body + 1].startswith("2��[31m<x")
    assert texts[body + 1].endswith("x…")
    titles = [one.text or "" for one in root.iter("{http://www.w3.org/2000/svg}title")]
    assert any(one.startswith(f"{name}#1\n$") and one.endswith("x" * 99) for one in titles)


def test_letters_that_the_font_has_not_are_drawn_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "倉庫.出力#1" in draw([("倉庫.出力", "b.o")], "b.o")
