"""Results of checks on a real engine, in the terminal and on the page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import linear_regression, median
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from engine_check.check import engine_case
from model.results.engine import EngineCase, EngineCheck, EngineMachine, EngineOutage
from model.results.report import ReportResults
from reports import commands
from reports.results import facts
from reports.results import spark as engine
from tests.reports.written import blocks_of, written


def case(
    name: str,
    predicted: Any,
    seen: Any,
    crashed: Sequence[str] = (),
    seconds: Any = None,
    over_time: Any = None,
    events: Any = None,
) -> EngineCase:
    """crashed: the kind of each outage."""
    outages = [EngineOutage(kind, "idle") for kind in crashed]
    return engine_case(
        *(name, predicted, seen),
        crashed=outages,
        seconds=seconds or {},
        events=events or {},
        over_time=over_time or {},
    )


MACHINE = EngineMachine("2026-11-27", "Spark", "4.3.0", "25.0.2", "3.11.7", 2, 1.5)


def check(*cases: EngineCase) -> EngineCheck:
    return EngineCheck(
        check="kill-it",
        family="killers",
        title="Kill it",
        profile="quick",
        holds=all(one.agrees for one in cases),
        notes=("Not <for> the faint of heart.",),
        cases=cases,
        error=None,
        seconds=12.0,
        machine=MACHINE,
    )


GOOD = check(
    case("a", {"same": True, "replayed": 3}, {"same": True, "replayed": 3}, ["tree"]),
    case("b", {"same": True}, {"same": True}, ["tree", "worker"]),
)
BAD = check(case("a", {"same": True, "replayed": 3}, {"same": True, "replayed": 1234}, ["tree"]))
TIMED = check(
    *(
        case(f"{kind} {n}", {"same": True}, {"same": True}, [kind], {"recovery": (10.0, measured)})
        for kind, times in (("tree", (8.0, 10.0, 20.0)), ("worker", (10.0, 12.5)))
        for n, measured in enumerate(times)
    )
)
COUNTED = check(
    *(
        case(name, {}, {}, over_time={"queries": (((4.0, early), (9.0, 3)), seen)})
        for name, early, seen in (
            ("in order", 1, ((5.0, 1), (10.0, 2), (11.0, 3))),
            ("in order", 1, ((6.0, 1), (11.0, 3))),
            ("at once", 0, ((12.0, 3),)),
            ("never", 0, ()),
        )
    )
)

RESULTS = ReportResults(version="1.2", profile="quick", seconds=61.0)


def test_agreement_is_reported_with_the_number_of_crashes() -> None:
    assert (
        engine.summary_line(GOOD)
        == "kill-it: Spark did as predicted in all 2 cases, after 3 crashes"
    )
    alone = check(case("a", {"same": True}, {"same": True}, ["tree"]))
    line = "kill-it: Spark did as predicted in the one case, after 1 crash"
    assert engine.summary_line(alone) == line
    assert engine.crashes([GOOD]) == [
        ("tree", 2, (("kill-it", 2),), 2, 2),
        ("worker", 1, (("kill-it", 1),), 1, 1),
    ]
    (tree,) = engine.crashes([BAD])
    assert (tree.cases, tree.agreed) == (1, 0)


def test_a_difference_is_reported_and_shown() -> None:
    assert "NOT AS PREDICTED in 1 of 1 cases" in engine.summary_line(BAD)
    assert engine.row(BAD.cases[0]) == ("a", "same yes, replayed 3", "replayed 1,234", "✗")


def test_a_check_that_did_not_end_is_named_with_its_error(tmp_path: Path) -> None:
    error = "TimeoutError: waited 300 s (logs: here)"
    broken = replace(check(), holds=False, error=error)
    line = "kill-it: DID NOT END: TimeoutError: waited 300 s (logs: here)"
    assert engine.summary_line(broken) == line
    for text in written(replace(RESULTS, engine=(broken,)), tmp_path).both:
        assert line in text
        assert "Seen on Spark" not in text


def test_what_was_predicted_and_not_seen_at_all_is_shown() -> None:
    lacking = case("a", {"same": True, "replayed": 3}, {"same": True})
    assert engine.row(lacking) == ("a", "same yes, replayed 3", "replayed –", "✗")


def test_errors_are_relative_to_what_was_measured() -> None:
    tree, worker, all_ = engine.errors(TIMED)
    assert (tree.kind, tree.runs, tree.measured, tree.median) == ("tree", 3, 10.0, 0.25)
    assert (worker.kind, worker.runs, worker.median) == ("worker", 2, 0.1)
    assert (all_.kind, all_.runs, all_.measured, all_.median) == ("all", 5, 10.0, 0.2)
    assert all_.low <= all_.median <= all_.high
    # Each run by the mean of the others: 60.5 s are the sum of all five.
    apart = [abs((60.5 - mine) / 4 - mine) / mine for mine in (8.0, 10.0, 20.0, 10.0, 12.5)]
    assert tree.constant == pytest.approx(sorted(apart[:3])[1])
    assert all_.constant == pytest.approx(sorted(apart)[2])
    assert tree.line is None  # nobody says how many events there were
    assert engine.errors(GOOD) == []


@given(
    sizes=st.lists(st.integers(1, 50), min_size=4, max_size=8, unique=True),
    noise=st.lists(st.floats(0.5, 1.5), min_size=8, max_size=8),
)
def test_a_line_is_fitted_without_the_run_that_it_predicts(
    sizes: list[int], noise: list[float]
) -> None:
    seconds = [2 + size * part for size, part in zip(sizes, noise, strict=False)]
    cases = (
        case(str(size), {}, {}, ["tree"], {"total": (1.0, took)}, events={"total": size})
        for size, took in zip(sizes, seconds, strict=True)
    )
    *_, found = engine.errors(check(*cases))
    apart = []
    for at, (size, took) in enumerate(zip(sizes, seconds, strict=True)):
        others = [numbers[:at] + numbers[at + 1 :] for numbers in (sizes, seconds)]
        line = linear_regression(*others)
        apart.append(abs(line.intercept + line.slope * size - took) / took)
    assert found.line == pytest.approx(median(apart), rel=1e-6, abs=1e-6)


def test_predictions_are_drawn_once_the_same(tmp_path: Path) -> None:
    drawn = engine.predicted_picture(TIMED)
    assert drawn.svg == engine.predicted_picture(TIMED).svg
    assert "recovery: median error 20%" in drawn.svg
    assert "recovery median error" in drawn.numbers
    assert engine.shown(GOOD).plot == ""


def test_counts_are_drawn_over_time() -> None:
    figure = Figure()
    engine._count_panels(COUNTED, figure)
    (axes,) = figure.axes
    drawn = [
        (
            line.get_label(),
            np.asarray(line.get_xdata()).tolist()[:-1],
            np.asarray(line.get_ydata()).tolist(),
        )
        for line in axes.lines
    ]
    assert drawn[:2] == [
        ("in order, predicted", [0, 4, 9], [0, 1, 3, 3]),
        ("in order, seen", [0, 5, 10, 11], [0, 1, 2, 3, 3]),
    ]
    assert drawn[-1] == ("never, seen", [0], [0, 0])
    assert drawn[-3] == ("at once, seen", [0, 12], [0, 3, 3])
    assert {line.get_drawstyle() for line in axes.lines} == {"steps-post"}
    assert len({line.get_color() for line in axes.lines}) == 3
    assert len(figure.legends[0].get_texts()) == 6, "repeated cases have one entry"


def test_only_a_check_with_counts_has_their_picture() -> None:
    drawn = engine.over_time_picture(COUNTED)
    assert "queries over time" in drawn.svg
    assert drawn.svg == engine.over_time_picture(COUNTED).svg
    assert engine.shown(TIMED).over_time == ""


def test_the_page_shows_counts_over_time(tmp_path: Path) -> None:
    for checks, there in (((COUNTED,), True), ((TIMED,), False)):
        said = written(replace(RESULTS, engine=checks), tmp_path).said
        assert ("solid as seen on Spark" in said) is there


def test_the_terminal_gets_table_errors_and_verdict() -> None:
    parts = list(commands.engine_check(TIMED))
    assert parts[-1] == engine.summary_line(TIMED)
    assert len(parts) == 5
    assert len(list(commands.engine_check(GOOD))) == 4


@pytest.mark.parametrize(("checks", "fine"), [((GOOD,), True), ((BAD,), False)])
def test_the_page_says_what_happened_on_the_engine(
    checks: tuple[EngineCheck, ...], fine: bool, tmp_path: Path
) -> None:
    made = written(replace(RESULTS, engine=checks), tmp_path)
    assert "(#engine)" in made.markdown, "in the contents"
    assert "engine/spark-kill-it" in made.rooms["engine"]["panels"]
    assert "<for>" not in made.html + made.markdown
    for text in made.both:
        assert "On a real engine" in text
        assert "Kill it" in text
        assert ("NOT AS PREDICTED" in text) is not fine


# --- the facts of cases, each in a column ----------------------------------------------------
def killed_at(name: str, place: str, predicted: Any, seen: Any) -> EngineCase:
    return engine_case(name, predicted, seen, crashed=[EngineOutage("worker", place)])


def same(name: str, facts: Any) -> EngineCase:
    """A case that was seen as it was predicted."""
    return case(name, facts, facts)


POINTS = check(
    killed_at(
        "informed",
        "notify",
        {"restored_from": 3, "exact": True},
        {"restored_from": 3, "exact": True},
    ),
    killed_at(
        "marker",
        "snapshot | state",
        {"restored_from": 2, "exact": True},
        {"restored_from": 3, "exact": False},
    ),
    killed_at(
        "at the commit",
        "commit",
        {"restored_from": 1, "exact": True},
        {"restored_from": 1, "exact": True},
    ),
    case("none", {"restored_from": None, "exact": True}, {"restored_from": None, "exact": True}),
)


def test_cases_with_the_same_facts_make_a_table_with_a_column_for_each() -> None:
    assert facts.facts_table(POINTS) == (
        ("restored from", "exact"),
        (
            ("informed", "worker: notify", "✓", ("3", "yes")),
            ("marker", "worker: snapshot | state", "✗", ("3, predicted 2", "no, predicted yes")),
            ("at the commit", "worker", "✓", ("1", "yes")),
            ("none", "", "✓", ("–", "yes")),
        ),
    )


@pytest.mark.parametrize(
    "changed",
    [
        POINTS.cases[:2],
        (*POINTS.cases, case("more", {"exact": True}, {"exact": True})),
        (*POINTS.cases, case("less", {"restored_from": 3, "exact": True}, {"exact": True})),
        (*POINTS.cases, same("list", {"restored_from": [3], "exact": True})),
        (*POINTS.cases, same("text", {"restored_from": "a" * 41, "exact": True})),
    ],
    ids=["few cases", "other facts", "a fact that was not seen", "a list", "a long text"],
)
def test_other_cases_make_no_table_of_facts(changed: tuple[EngineCase, ...]) -> None:
    assert facts.facts_table(check(*changed)) is None


def test_the_page_has_the_table_of_facts(tmp_path: Path) -> None:
    made = written(replace(RESULTS, engine=(POINTS,)), tmp_path)
    (table,) = blocks_of([*made.rooms["engine"]["panels"].values()], "DataTable")
    names = [one["name"] for one in table["columns"]]
    assert names == ["Case", "Killed or damaged", "Restored from", "Exact", "As predicted?"]
    assert table["rows"][0]["cells"][1:4] == ["worker: notify", "3", "yes"]
    assert [one.get("off", False) for one in table["rows"]] == [False, True, False, False]
    assert "All 4 cases" in made.said
    assert "Seen on Spark" not in made.said
    line = r"| marker | worker: snapshot \| state | 3, predicted 2 | no, predicted yes | ✗ |"
    assert line in made.markdown


# --- two engines -----------------------------------------------------------------------------
ON_FLINK = replace(BAD, machine=MACHINE._replace(engine="Flink", version="2.3.0"))


def test_a_result_names_its_engine() -> None:
    good = replace(GOOD, machine=ON_FLINK.machine)
    line = "kill-it: Flink did as predicted in all 2 cases, after 3 crashes"
    assert engine.summary_line(good) == line
    counted = replace(COUNTED, machine=ON_FLINK.machine)
    assert "seen on Flink" in engine.over_time_picture(counted).svg


def test_pictures_of_two_engines_have_different_ids(tmp_path: Path) -> None:
    checks = TIMED, replace(TIMED, machine=ON_FLINK.machine)
    drawn = blocks_of(written(replace(RESULTS, engine=checks), tmp_path).rooms, "DrawnPicture")
    ids = re.findall(r'\bid="([^"]+)"', "".join(one["svg"] for one in drawn))
    assert len(ids) == len({*ids}) > 20


def test_a_page_of_two_engines_names_both_and_mixes_no_checks(tmp_path: Path) -> None:
    made = written(replace(RESULTS, engine=(GOOD, ON_FLINK)), tmp_path)
    for text in made.both:
        assert "Seen on Spark" in text
        assert "Seen on Flink" in text
    assert "The same protocols on Spark and Flink" in made.said
    assert "Spark and Flink, crashed for real, did as predicted in 2 of 3 cases" in made.said
    assert [*made.rooms["engine"]["panels"]] == ["engine/spark-kill-it", "engine/flink-kill-it"]


def test_the_page_names_each_engine_and_what_was_skipped(tmp_path: Path) -> None:
    """In the summary, and above the cases of each."""
    flink = replace(GOOD, check="other", machine=MACHINE._replace(engine="Flink"))
    assert engine.summary_line(flink).startswith("other: Flink did as predicted")
    shown = replace(RESULTS, engine=(GOOD, flink), skipped=("points: no environment",))
    made = written(shown, tmp_path)
    for text in made.both:
        assert "Skipped: points: no environment" in text
        assert text.count("Seen on Flink") == text.count("Seen on Spark") == 1
    assert "Spark and Flink, crashed for real" in made.said
