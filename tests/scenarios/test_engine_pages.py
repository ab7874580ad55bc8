"""The pages "My engine is ...": their keys are keys of scenarios, their labels are printed, and
their figures are those of arithmetic.

Rule of this file: a page is read as its readers see it; no key is written here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from asif.console import console
from flink_check.abs.checks import points
from model.errors import Invalid
from model.evidence import Outcome
from model.registry import protocols
from model.results.simulation import Simulation
from reports import commands
from sim.closed_form import RecoveryTerms
from sim.predictions.abs.points import predict
from sim.scenarios.overrides import overrides
from sim.scenarios.run import simulate
from sim.scenarios.scenario import check_draft, draft, read
from tests.known import known

DOCS = Path(__file__).parents[2] / "docs"
BASES = {"flink": "flink", "kafka-streams": "kafka-streams", "spark": "micro-batch"}
"""By page, the scenario that it begins with."""
ASSIGNMENT = re.compile(r"`([^`]+? = [^`]+)`")
LABEL = re.compile(r"`([^`]+)`")
NO_KEY = ("not modelled", "always so")


class PageRow(NamedTuple):
    """A row of a page: a setting or a metric of the engine, the words of asif, the remark."""

    theirs: str
    ours: str
    remark: str


def page(engine: str) -> str:
    return (DOCS / "how-to" / f"my-engine-is-{engine}.md").read_text(encoding="utf-8")


def rows(engine: str, heading: str) -> list[PageRow]:
    """The rows of the table below a heading."""
    part = page(engine).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("| ")]
    return [PageRow(*(cell.strip() for cell in line.strip("|").split("|"))) for line in lines[1:]]


def settings() -> Iterator[tuple[str, PageRow]]:
    return ((engine, row) for engine in BASES for row in rows(engine, "Settings"))


def scenario(engine: str) -> Path:
    return DOCS / "scenarios" / f"{BASES[engine]}.toml"


def checked(engine: str, row: PageRow) -> None:
    """Put the keys of the row into the engine's scenario, and check it."""
    found = [text.replace(" = ", "=", 1) for text in ASSIGNMENT.findall(row.ours)]
    assert found, row
    short = ("failures=[]", "stream.events=2000") if engine == "spark" else ("failures=[]",)
    check_draft(draft(scenario(engine)).override(overrides((*found, *short))))


def test_a_page_has_many_settings() -> None:
    assert {engine: len(rows(engine, "Settings")) > 12 for engine in BASES} == dict.fromkeys(
        BASES, True
    )


@pytest.mark.parametrize(("engine", "row"), [*settings()])
def test_each_key_is_a_key_of_scenarios(engine: str, row: PageRow) -> None:
    """Or the page says that a setting has none, and why."""
    if row.ours in NO_KEY:
        assert len(row.remark.split()) >= 5
    else:
        checked(engine, row)


@pytest.mark.parametrize(
    "ours", ["`costs.timers.epocs.every_s = 60.0`", "`knobs.pause = 3`", "`detector.delays = 1`"]
)
def test_a_key_that_is_none_is_found(ours: str) -> None:
    with pytest.raises(Invalid):
        checked("flink", PageRow("", ours, ""))


@cache
def simulated(engine: str) -> Simulation:
    return simulate(read(scenario(engine)))


def printed(engine: str) -> str:
    with console.capture() as capture:
        for part in commands.simulation(simulated(engine)):
            console.print(part, highlight=False, markup=False)
    return capture.get()


@pytest.mark.parametrize("engine", BASES)
def test_each_metric_is_printed(engine: str) -> None:
    output = printed(engine)
    wanted = [label for row in rows(engine, "Metrics") for label in LABEL.findall(row.ours)]
    assert len(wanted) >= 6
    assert [label for label in wanted if label not in output] == []


# --- figures ---------------------------------------------------------------------------------
class MeasuredSeries(NamedTuple):
    """Kills of a real Flink: the middle values of a series, in seconds.

    event_ms: busy with an event; 200 come a second.  outage_s: from the kill to the first output.
    caught_up_s: from the kill.  again: events that were processed twice.
    """

    name: str
    interval_s: int
    event_ms: int
    age_s: float
    outage_s: float
    caught_up_s: float
    again: int


MEASURED = (
    MeasuredSeries("every 2 s, 3 ms an event", 2, 3, 1.5, 3.4, 11.3, 303),
    MeasuredSeries("every 5 s, 3 ms", 5, 3, 1.2, 3.6, 11.1, 234),
    MeasuredSeries("every 10 s, 3 ms", 10, 3, 6.0, 3.7, 18.7, 1_206),
    MeasuredSeries("every 5 s, 4 ms, idle machine", 5, 4, 2.2, 2.5, 20.9, 443),
    MeasuredSeries("every 2 s, 3 ms, idle, a spare process", 2, 3, 1.4, 2.5, 8.4, 267),
    MeasuredSeries("every 2 s, 3 ms, restart delay 2 s", 2, 3, 1.2, 3.2, 10.2, 232),
)
HEAD = (
    "| series | age | outage | caught up, Flink | asif | off | again, Flink | asif |\n"
    "|---|---|---|---|---|---|---|---|"
)


def of_the_series(series: MeasuredSeries) -> Simulation:
    """The run with the series' age and outage; detection takes up to 10 ms."""
    every = f"{{every_s={series.interval_s}.0,phase_s={series.interval_s}.0}}"
    changes = (
        f"costs.timers.epoch={every}",
        f"costs.service.event_s={series.event_ms}e-3",
        f"detector.restart_s={series.outage_s - 0.01}",
        f"failures.1.at_s={20 + series.age_s}",
    )
    return simulate(read(DOCS / "scenarios" / "flink-measured.toml", overrides(changes)))


@pytest.mark.parametrize("series", MEASURED, ids=lambda one: one.name)
def test_the_measured_flink_is_predicted_within_five_percent(series: MeasuredSeries) -> None:
    found = of_the_series(series)
    assert found.same
    terms = RecoveryTerms(0, series.outage_s, 0, series.age_s, 0.2 * series.event_ms)
    recovery = known(found.metrics.recovery_s)
    assert recovery == pytest.approx(terms.recovery_s, rel=0.005)
    assert recovery == pytest.approx(series.caught_up_s, rel=0.05)
    assert found.metrics.events_again == pytest.approx(series.again, rel=0.06)
    line = (
        f"| {series.name} | {series.age_s} s | {series.outage_s} s | {series.caught_up_s} s "
        f"| {recovery:.1f} s | {recovery / series.caught_up_s - 1:+.1%} | {series.again:,} "
        f"| {found.metrics.events_again:,} |"
    )
    assert f"{HEAD}\n" in page("flink")
    assert f"\n{line}\n" in page("flink")


def test_the_flink_of_the_page_recovers_as_arithmetic_says() -> None:
    """A checkpoint of 200 MB at 20 MB/s takes 10 s, so that of 120 s is not complete at 125 s."""
    found = simulated("flink")
    assert found.same
    assert found.checkpoints is not None
    read_s = upload_s = 0.015 + 200e6 / 20e6
    assert found.checkpoints.ages_s == pytest.approx((65.0,), abs=0.1)
    terms = RecoveryTerms(known(found.metrics.detection_s), 4.0, read_s, 65.0, 0.6)
    assert found.metrics.recovery_s == pytest.approx(terms.recovery_s, rel=0.02)
    assert known(found.checkpoints.mean_s) >= upload_s


def test_the_kafka_streams_of_the_page_recovers_as_arithmetic_says() -> None:
    """The crash at 61.5 s is found at 105 s, the fifteenth heartbeat that is missing; a restore of
    200 MB takes 10 s, and a standby replica has nothing to restore."""
    standby = simulate(read(scenario("kafka-streams"), overrides(("costs.state={}",))))
    for found, read_s, printed_s in ((simulated("kafka-streams"), 10.0, 107), (standby, 0.0, 87)):
        assert found.same
        detected = known(found.metrics.detection_s)
        assert detected == pytest.approx(43.5, abs=0.01)
        terms = RecoveryTerms(detected, 0, read_s, 0.1, 0.5)
        assert found.metrics.recovery_s == pytest.approx(terms.recovery_s, rel=0.02)
        assert f" {printed_s} s" in page("kafka-streams")
        assert found.metrics.recovery_s == pytest.approx(printed_s, abs=1)


# --- points of a real Flink, and counterexamples ---------------------------------------------
POINTS = "Points, and their counterexamples"
WRONG_FORMS = "Wrong forms, and their counterexamples"
STEPS = re.compile(r"(.*)\| (\d+) steps \|")
CHECK = re.compile(r"`asif check ([\w:-]+)(?: --scope \"([^\"]+)\")?`")


class PinnedRow(NamedTuple):
    """A row of a table of designs that fail.  cells: those before the steps of the smallest run."""

    cells: tuple[str, ...]
    protocol: str
    scope: str
    steps: int


def pinned_rows(text: str, heading: str) -> list[PinnedRow]:
    part = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    found = [(CHECK.search(line), STEPS.search(line)) for line in part.splitlines()]
    return [
        PinnedRow(_cells(steps[1]), one[1], one[2] or "", int(steps[2]))
        for one, steps in found
        if one and steps
    ]


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip().strip("`") for cell in line.strip("|").split("|"))


def smallest(row: PinnedRow) -> int | None:
    """The pinned steps of the design's smallest run, in the scope that the row names, or in any."""
    pinned = protocols()[row.protocol].evidence.scopes
    steps = (one.steps for one in pinned if row.scope in ("", one.name))
    return min((one for one in steps if one is not None), default=None)


def not_as_pinned(text: str) -> list[PinnedRow]:
    rows = [*pinned_rows(text, POINTS), *pinned_rows(text, WRONG_FORMS)]
    return [row for row in rows if smallest(row) != row.steps]


def test_each_design_that_fails_has_its_pinned_steps() -> None:
    for heading, count in ((POINTS, len(points.POINTS)), (WRONG_FORMS, 5)):
        rows = pinned_rows(page("flink"), heading)
        assert len({row.protocol for row in rows}) == len(rows) == count
    assert not_as_pinned(page("flink")) == []


def test_each_point_kills_and_restores_as_the_model_predicts() -> None:
    newest = len(points.EVENTS.ends)
    for row, point in zip(pinned_rows(page("flink"), POINTS), points.POINTS, strict=True):
        name, _, killed, restored, _ = row.cells
        assert (name, killed) == (point.name, point.killed)
        predicted = predict(point.place, point.dies, points.EVENTS).restored
        assert restored.startswith("the newest") is (predicted == newest), row
        assert restored.startswith("the one before") is (predicted == newest - 1), row


def test_each_wrong_form_has_a_right_one_that_holds() -> None:
    for row in pinned_rows(page("flink"), WRONG_FORMS):
        right = re.findall(r"(abs[\w:-]*)", row.cells[2])
        assert right
        assert {protocols()[name].evidence.expected for name in right} == {Outcome.HOLDS}


@pytest.mark.parametrize(
    ("was", "wrong"),
    [
        ("| 12 steps |", "| 11 steps |"),
        ("abs:coordinator-announces-first", "abs"),
        (' --scope "coordinator of a relay"', ""),
    ],
    ids=["other steps", "a design that holds", "another scope"],
)
def test_a_row_that_is_not_as_pinned_is_found(was: str, wrong: str) -> None:
    assert not_as_pinned(page("flink").replace(was, wrong))
