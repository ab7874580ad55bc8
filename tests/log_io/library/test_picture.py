"""The picture of a lineage shows each event and each use, and no more boxes than fit."""

from __future__ import annotations

from pathlib import Path

import networkx

from docs.examples.log_io import pipeline
from reports.diagrams.lineage import ROWS, picture
from spark_check.log_io.library import Log
from spark_check.log_io.library.lineage import graph
from tests.log_io.library.children import do_nothing


def test_a_picture_of_a_line_of_the_book(tmp_path: Path) -> None:
    with Log(str(tmp_path / "log.db"), pipeline.captured(), synchronous="OFF") as log:
        pipeline.run(log, tmp_path, do_nothing)
        found = graph(log, ("ledger", "", "book", 1))
    drawn = picture(found)
    assert drawn == picture(found)
    for text in ("shop.sales 1", "shop.sales 3", "sums.totals 1", "ledger.book 1"):
        assert text in drawn
    assert "4 events, 3 uses" in drawn


def test_what_does_not_fit_is_one_box() -> None:
    found = networkx.DiGraph()
    made = ("op", "out", "in", 1)
    found.add_node(made, body=b"$1")
    for at in range(100):
        found.add_node(("source", "out", "in", at), body=b"x" * at)
        found.add_edge(("source", "out", "in", at), made, in_set=1)
    drawn = picture(found)
    assert f"and {101 - ROWS} more" in drawn
    assert "101 events, 100 uses" in drawn
