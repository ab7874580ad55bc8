"""The page "Which recovery does my pipeline need?": each number is that of arithmetic.

Rule of this file: the numbers of the page are made here from the numbers of the engineer.
"""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import NamedTuple

import pytest

from model.results.simulation import Simulation
from reports.results import choose as words
from sim.choose import workload
from sim.choose.candidates import candidates
from sim.choose.choose import terms_alone
from sim.closed_form import RecoveryTerms
from sim.scenarios.overrides import overrides
from sim.scenarios.run import simulate
from sim.scenarios.scenario import draft, read
from sim.scenarios.which import which
from tests.known import known

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "how-to" / "which-recovery.md").read_text(encoding="utf-8")
SCENARIO = DOCS / "scenarios" / "pipeline.toml"
RATE = 50.0
READ_S = 200 / 20
RESTART_S = 4.0


class SimulatedCrash(NamedTuple):
    """A row of the table of crashes.  misses: always 5."""

    protocol: str
    every_s: float
    busy: float
    detection_s: float
    at_s: float
    age_s: float

    @property
    def expected_s(self) -> float:
        restored = self.protocol == "abs"
        restart_s, read_s = (RESTART_S, READ_S) if restored else (0.0, 0.0)
        terms = RecoveryTerms(self.detection_s, restart_s, read_s, self.age_s, self.busy)
        return terms.recovery_s


CRASHES = (
    SimulatedCrash("passive-standby", 10, 0.5, 10, 24, 24 - 20),
    SimulatedCrash("passive-standby", 8, 0.5, 5, 23, 23 - 16),
    SimulatedCrash("passive-standby", 10, 0.85, 10, 14, 14 - 10),
    SimulatedCrash("passive-standby", 2, 0.85, 1, 25.8, 25.8 - 24),
    SimulatedCrash("abs", 15, 0.5, 10, 46, 46 - 30),
)


def simulated(crash: SimulatedCrash) -> Simulation:
    timer = "epoch" if crash.protocol == "abs" else "checkpoint"
    lasts = ceil(crash.at_s + crash.expected_s) + 2  # of 120 s: all that the recovery needs
    changes = (
        f"protocol={crash.protocol}",
        f"protocols.{crash.protocol}.timers.{timer}.every_s={crash.every_s}",
        f"costs.work.count.event_s={crash.busy / RATE}",
        f"detector.keep_alive_s={crash.detection_s / 5}",
        f'failures=[{{nodes=["count"], at_s={crash.at_s}}}]',
        *(f"source.{number}.seconds={lasts}" for number in (1, 2, 3)),
    )
    return simulate(read(SCENARIO, overrides(changes)))


@pytest.mark.parametrize("crash", CRASHES, ids=lambda one: f"{one.protocol}-{one.at_s}")
def test_a_crash_costs_as_much_as_the_formula_says(crash: SimulatedCrash) -> None:
    found = simulated(crash)
    assert found.same
    recovery = known(found.metrics.recovery_s)
    assert recovery == pytest.approx(crash.expected_s, rel=0.005)
    assert known(found.metrics.detection_s) == pytest.approx(crash.detection_s, abs=0.01)
    line = (
        f"| `{crash.protocol}`, every {crash.every_s:g} s | {crash.busy:.0%} "
        f"| {crash.detection_s:g} s | {crash.at_s:g} s | {crash.age_s:.2g} s "
        f"| {recovery:.1f} s | {crash.expected_s:.1f} s |"
    ).replace("%", " %")
    assert f"\n{line}\n" in PAGE


@pytest.mark.parametrize(
    ("busy", "detection_s", "every_s"),
    [(0.5, 10, 10), (0.5, 5, 8), (0.85, 10, 10), (0.85, 1, 2)],
)
def test_the_longest_recovery_is_that_of_the_formula(
    busy: float, detection_s: float, every_s: float
) -> None:
    """By pencil (D + rho age) / (1 - rho)."""
    longest = RecoveryTerms(detection_s, 0, 0, every_s, busy).recovery_s
    assert longest == pytest.approx((detection_s + busy * every_s) / (1 - busy))
    line = f"| {busy:.0%} | {detection_s} s | {every_s} s | {longest:.1f} s |"
    assert f"\n{line.replace('%', ' %')}\n" in PAGE


def test_the_detection_alone_is_too_long() -> None:
    """With an interval of nothing, 10 s of detection are 20 s at 50 % and 66.7 s at 85 %."""
    assert RecoveryTerms(10, 0, 0, 0, 0.5).recovery_s == pytest.approx(20)
    alone = RecoveryTerms(10, 0, 0, 0, 0.85).recovery_s
    assert f"the detection alone takes {alone:.1f} s" in PAGE


def test_the_fixed_terms_are_sums() -> None:
    """10 s, and 10 + 4 + 200 / 20 = 24 s."""
    asked = workload.read(DOCS / "workloads" / "pipeline.toml")
    fixed = {one.name: one.known.fixed_s for one in candidates(asked).found}
    assert fixed == pytest.approx(
        {"abs": 10 + RESTART_S + READ_S, "passive-standby": 10, "active-standby": 10}
    )
    printed = [one for one in words.terms(terms_alone(asked)) if isinstance(one, str)]
    assert sum("impossible, whatever the interval" in one for one in printed) == 1
    assert "10 + 4 + 10 = 24 s" in PAGE


def test_the_families_that_run_it_are_counted() -> None:
    """The page says twelve, and names the three others."""
    found = which(draft(SCENARIO))
    refused = {one.protocol for one in found if not one.runs}
    assert refused == {"upstream-backup", "kafka-transactions", "two-phase-sink"}
    assert len(found) - len(refused) == 12


def test_the_products_of_a_year() -> None:
    days = 365.25
    workers, hosts = days * 24 / 12, days / 30
    crashes = workers + hosts
    behind, away = crashes * 18, crashes * 10
    share = behind / (days * 86_400)
    assert f"{workers} crashes of a worker and {hosts:.1f} of a host, {crashes:.1f} in all" in (
        " ".join(PAGE.split())
    )
    assert f"{behind:,.0f} s a year at most, {behind / 3600:.1f} hours: {share * 100:.3f} %" in (
        " ".join(PAGE.split())
    )
    assert f"{away:,.0f} s, {away / 3600:.1f} hours" in PAGE


def test_the_table_of_choices_is_the_formula() -> None:
    """D = 10; 2 x 10 + interval + 0.16 of shipping; 24 + (10 + 10 + 24) with an upload of 10 s."""
    asked = workload.read(DOCS / "workloads" / "pipeline.toml")
    by_name = {one.name: one for one in candidates(asked).found}
    shipping = 200e6 / 1.25e9
    wanted = {
        ("active-standby", None): (9.1, 10.0),
        ("passive-standby", 2): (19.1, 22 + shipping),
        ("passive-standby", 10): (23.1, 30 + shipping),
        ("abs", 2): (57.1, 24 + 44),
        ("abs", 10): (65.1, 24 + 44),
    }
    for (name, interval), (simulated, formula) in wanted.items():
        found = by_name[name].terms(interval, 0.5).recovery_s
        assert found == pytest.approx(formula, rel=0.001)
        assert simulated <= formula
        last = "best" if formula <= 20 else "misses 20 s"
        shown = "none" if interval is None else f"{interval} s"
        assert f"| `{name}` | {shown} | {simulated} s | {formula:.1f} s | {last} |" in PAGE
