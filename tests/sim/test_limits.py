"""Limits: more than one is refused before any work, with the limit and an estimate."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from model.errors import Invalid
from model.limits import Ceiling
from sim.choose import workload
from sim.plans import read as plans
from sim.scenarios.limits import EVENTS
from sim.scenarios.overrides import overrides
from sim.scenarios.scenario import check_draft, draft
from sim.sweeps import grid

DOCS = Path(__file__).parents[2] / "docs"
QUICK = DOCS / "scenarios" / "quickstart.toml"

BEYOND = {
    "stream.events=1000000000000000000": "at most 50,000,000, and this needs about 9,500,000 years",
    "stream.keys=1000000000000": "at most 10,000,000",
    "stream.tick_s=1e-12": "ticks: at most 10,000,000",
    "detector.keep_alive_s=1e-12": "periods of the input: at most 1,000,000,000",
    "study.half_width=1e-300": "at least 0.0001",
    "study.replications=1000000000": "at most 1,000,000",
}


@pytest.mark.parametrize("text", BEYOND)
def test_a_scenario_beyond_a_limit_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match=BEYOND[text]) as raised:
        check_draft(draft(QUICK).override(overrides([text])))
    said = str(raised.value)
    assert said.startswith(f"--set {text}: ")
    assert len(said) < 300


def test_the_limits_are_about_the_file_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "many.toml"
    text = QUICK.read_text()
    path.write_text(
        text + '\n[[failures]]\nnodes = ["match"]\nat_s = 1\nevery_s = 1\ntimes = 1_000_000_000\n'
    )
    line = path.read_text().count("\n")
    with pytest.raises(Invalid, match=rf"many.toml:{line}: times = 1000000000: at most 100,000"):
        check_draft(draft(path))


def test_a_study_of_failures_at_every_moment(tmp_path: Path) -> None:
    path = tmp_path / "often.toml"
    path.write_text(QUICK.read_text().replace("at_event = 2_000", "mean_between_s = 1e-300"))
    with pytest.raises(Invalid, match=r"mean_between_s = 1e-300 is .* crashes: at most 100,000"):
        check_draft(draft(path))


def _with_rates(folder: Path, rest: str) -> Path:
    path = folder / "rates.toml"
    stream = tomllib.loads(QUICK.read_text())["stream"]
    lines = [line for line in QUICK.read_text().splitlines() if not line.startswith(tuple(stream))]
    at = lines.index("[stream]") + 1
    types = f"types = {{ {', '.join(f'{one} = 1.0' for one in stream['types'])} }}"
    path.write_text("\n".join([*lines[:at], types, rest, *lines[at:]]))
    return path


def test_rates_that_the_input_does_not_reach_are_not_counted(tmp_path: Path) -> None:
    rates = "rates = [[0.0, 100.0], [3600.0, 1e6]]"
    check_draft(draft(_with_rates(tmp_path, f"{rates}\nseconds = 600")))
    check_draft(draft(_with_rates(tmp_path, f"{rates}\nseconds = 600\nrepeats_s = 7200")))
    for rest in ("seconds = 7200", "seconds = 72000\nrepeats_s = 7200"):
        with pytest.raises(Invalid, match=r"events: at most 50,000,000"):
            check_draft(draft(_with_rates(tmp_path, f"{rates}\n{rest}")))


def test_every_scenario_of_the_documents_is_within_the_limits() -> None:
    for path in (DOCS / "scenarios").glob("*.toml"):
        if draft(path).content.get("protocol"):
            check_draft(draft(path))


def test_a_sweep_of_too_many_runs(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(f'scenario = "{QUICK}"\n[grid]\nseed = {{ from = 1, to = 1000000000 }}\n')
    with pytest.raises(Invalid, match=r"s.toml:3: seed: from 1 to 1000000000.*at most 100,000"):
        grid.read(path)
    many = "{ from = 1, to = 100000 }"
    path.write_text(f'scenario = "{QUICK}"\n[grid]\nseed = {many}\n"stream.events" = {many}\n')
    with pytest.raises(Invalid, match=r"a sweep of 10,000,000,000 runs: at most 1,000,000"):
        grid.read(path)


def test_a_plan_of_sixty_queries(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    tables = [
        f'[[operators]]\nname = "O{n}"\ncosts = [1]\n'
        f'[[queries]]\nname = "Q{n}"\noperators = ["O{n}"]'
        for n in range(60)
    ]
    path.write_text("\n".join([*tables, "[[hosts]]\nat_min = 1\ncapacity = 5\n"]))
    with pytest.raises(Invalid, match="60 failed queries: at most 30, and this needs about 37,000"):
        plans.read(path)
    path.write_text(path.read_text() + "count = 1_000_000_000\n")
    with pytest.raises(Invalid, match="1000000000 hosts: at most 2,000"):
        plans.read(path)


def test_a_search_of_too_many_lengths(tmp_path: Path) -> None:
    path = tmp_path / "w.toml"
    path.write_text(f'scenario = "{QUICK}"\n[search]\nlengths = 1_000_000_000\n')
    with pytest.raises(Invalid, match=r"w.toml:3: lengths = 1000000000: at most 1,000"):
        workload.read(path)


def test_a_limit_takes_what_it_names() -> None:
    EVENTS.refuse("events", EVENTS.most)
    with pytest.raises(Invalid):
        EVENTS.refuse("events", EVENTS.most + 1)
    text = Ceiling(10, 60, 1e9, "give fewer").complaint("n = 100", 100)
    assert text == (
        "n = 100: at most 10, and this needs about 1.7 hours and 100 GB of memory; give fewer"
    )


@pytest.mark.parametrize("asked", [10**18, 10**400, float("inf")])
def test_any_number_beyond_a_limit_is_one_line(asked: float) -> None:
    with pytest.raises(Invalid, match=r"^x: at most 10, and this needs about .* years and .* PB"):
        Ceiling(10, 1.0, 1.0).refuse("x", asked)
