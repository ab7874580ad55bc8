"""The shares of the parts of outages: in the terminal, in the report, on the page of an engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from model.results.engine import EngineCheck
from model.results.plain import plain, read
from reports import commands, engine_page
from reports.results import spark as engine
from tests.reports.test_spark_results import GOOD, RESULTS
from tests.reports.written import written

SHARES = {"detection": 0.0123, "start of the process": 0.9877}
SHARED = replace(GOOD, cases=(GOOD.cases[0], replace(GOOD.cases[1], shares=SHARES)))
ROWS = [("detection", "1%"), ("start of the process", "99%")]


def test_shares_are_rows_in_per_cent() -> None:
    assert engine.share_rows(SHARED) == ROWS
    assert engine.share_rows(GOOD) == []


def test_shares_are_shown_where_they_are() -> None:
    def tables(result: EngineCheck) -> int:
        return sum(not isinstance(part, str) for part in commands.engine_check(result))

    assert tables(SHARED) == tables(GOOD) + 1
    lines = [*engine_page.lines([SHARED], "Flink")]
    assert "| `kill-it` | quick | start of the process | 99% |" in lines
    assert not any("varies" in line for line in engine_page.lines([GOOD], "Flink"))


def test_the_report_has_them(tmp_path: Path) -> None:
    for text in written(replace(RESULTS, engine=(SHARED,)), tmp_path).both:
        assert "Share of the variance" in text
    for text in written(replace(RESULTS, engine=(GOOD,)), tmp_path).both:
        assert "Share of the variance" not in text


def test_results_without_shares_are_read_as_before() -> None:
    assert "shares" not in plain(GOOD)["cases"][0]
    assert read(EngineCheck, plain(GOOD)) == GOOD
    assert read(EngineCheck, plain(SHARED)) == SHARED
