"""`asif plan`: files, the comparison, the table, the picture, exit codes; and `su-plan`."""

from __future__ import annotations

import io
import json
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console
from typer.testing import CliRunner

from asif import cli
from model.errors import Invalid
from model.plans import mended as mending
from model.results.plain import plain
from model.results.plain import read as read_plain
from model.results.plans import PlanResult, PlanRow
from reports.results import plans
from sim.experiments.published import judge
from sim.experiments.su import plan as experiment
from sim.experiments.su.plan_summary import summary
from sim.plans import compare as comparing
from sim.plans.compare import compare
from sim.plans.read import read

EXAMPLES = Path(__file__).parents[2] / "docs" / "plans"
SMALL = """\
[[operators]]
name = "O1"
costs = [2, 1]
failed = [2]

[[queries]]
name = "Q1"
operators = ["O1"]

[[hosts]]
at_min = 0.1
capacity = 1
count = 2
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "instance.toml"
    path.write_text(text, encoding="utf-8")
    return path


# --- files -----------------------------------------------------------------------------------
def test_a_file_is_read_exactly(tmp_path: Path) -> None:
    name, instance, supply = read(written(tmp_path, SMALL))
    assert name == "instance"
    assert instance.prices == {"O1": 1}
    assert [host.at for host in supply.hosts] == [Fraction(1, 10)] * 2
    assert supply.until == Fraction(11, 10)
    assert [moment.resources for moment in supply.moments] == [2]


BAD = {
    'name = "O1"\ncosts': ('name = "O1"\ncost', ":3: operators[1].cost: unknown key"),
    "failed = [2]": ("failed = [3]", ":1: operator O1: no partition 3; it has 2"),
    "costs = [2, 1]": ("costs = []", ":1: operator O1 has no partitions"),
    'operators = ["O1"]': ('operators = ["02"]', ":6: query Q1: no operator '02'"),
    "at_min = 0.1": ("at_min = -1", ":11: hosts[1].at_min = -1: it should be"),
    "capacity = 1": ('capacity = "1"', ":12: hosts[1].capacity = '1': it should be"),
    "failed = [2]\n": ("failed = []\n", ":6: no query has failed"),
    "[[operators]]": ("until_min = 0.1\n[[operators]]", ":1: the end 0.1 is not after"),
    "[[hosts]]": ("[[host]]", ":1: host: unknown key; did you mean 'hosts'?"),
    SMALL[SMALL.index("[[hosts") :]: ("", ":1: hosts is missing; give it a value"),
    SMALL[SMALL.index("[[queries") : SMALL.index("[[hosts")]: (
        "[[queries]]\nname = 'Q1'\noperators = []\n",
        ":6: query Q1 has no operators",
    ),
    "[2, 1]": ("[2, 1", ": not TOML"),
}


@pytest.mark.parametrize("old", BAD)
def test_a_bad_file_is_one_line(old: str, tmp_path: Path) -> None:
    new, message = BAD[old]
    assert old in SMALL
    path = written(tmp_path, SMALL.replace(old, new))
    with pytest.raises(Invalid) as refused:
        read(path)
    assert str(refused.value).startswith(f"{path}{message}")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("operators = []\nqueries = []\nhosts = []", ":1: no host comes"),
        (
            f"queries = []\n{SMALL.partition('[[queries')[0]}[[hosts]]\nat_min = 1\ncapacity = 1",
            ":1: no query has failed",
        ),
        (
            SMALL + SMALL[SMALL.index("[[queries") : SMALL.index("[[hosts")],
            ":14: query 'Q1' is there twice",
        ),
    ],
)
def test_empty_lists_and_doubled_names_are_refused(text: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    with pytest.raises(Invalid) as refused:
        read(path)
    assert str(refused.value).startswith(f"{path}{message}")


# --- examples --------------------------------------------------------------------------------
def row(result: PlanResult, algorithm: str) -> PlanRow:
    found = result.row(algorithm)
    assert found is not None
    return found


def test_the_printed_formula_divides_by_zero_on_figure_1() -> None:
    result = compare(read(EXAMPLES / "figure1.toml"))
    assert row(result, "greedy, literal").served is None
    assert "no other failed query shares O2" in row(result, "greedy, literal").about
    assert row(result, "greedy").share == 1.0


def test_on_figure_4_topological_order_is_as_good_as_any() -> None:
    result = compare(read(EXAMPLES / "figure4.toml"))
    assert result.cost == 61
    assert len(result.failed_queries) == 15
    for algorithm in ("topological", "greedy", "optimum now", "optimum over time"):
        assert row(result, algorithm).served == 51.2
    assert row(result, "blocking").served == 15


def test_planning_for_each_moment_alone_delays_the_alarm() -> None:
    result = compare(read(EXAMPLES / "priorities.toml"))
    assert row(result, "optimum now").served == 85
    assert row(result, "optimum over time").served == 94
    assert not result.below_bound


def test_partitions_that_do_not_fit_are_reported(tmp_path: Path) -> None:
    text = SMALL.replace("costs = [2, 1]\nfailed = [2]", "costs = [2]")
    result = compare(read(written(tmp_path, text)))
    assert any("do not fit on single hosts" in line for line in plans.lines(result))
    result = compare(read(written(tmp_path, SMALL)))
    assert not any("do not fit" in line for line in plans.lines(result))


# --- what people see -------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize("name", ["figure1", "figure4", "priorities"])
def test_table_and_picture_show_every_query(name: str) -> None:
    result = compare(read(EXAMPLES / f"{name}.toml"))
    assert read_plain(PlanResult, json.loads(json.dumps(plain(result)))) == result
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(plans.table(result))
    text, drawn = console.export_text(), plans.picture(result).svg
    ElementTree.fromstring(drawn)
    for query in result.failed_queries:
        assert query in text
        assert query in drawn
    for one in result.algorithms:
        assert one.algorithm in text
    for line in plans.LINES:
        assert line in drawn


def run(*arguments: str) -> tuple[int, str]:
    ran = CliRunner().invoke(cli.application(), ["plan", *arguments])
    return ran.exit_code, ran.output


def test_the_command_writes_what_it_is_asked_for(tmp_path: Path) -> None:
    kept = tmp_path / "plan.json"
    code, output = run(
        str(EXAMPLES / "figure1.toml"), "--json", str(kept), "--out", str(tmp_path / "drawn")
    )
    assert code == 0, output
    assert "3.5 min: 6 of 7 used, Q2" in output
    assert json.loads(kept.read_text())["name"] == "figure1"
    assert (tmp_path / "drawn" / "figure1.svg").read_text().startswith("<svg")


def test_a_plan_below_its_bound_is_a_refutation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "bound", lambda sharing: 2 * mending.bound(sharing) + 1)
    code, output = run(str(EXAMPLES / "figure1.toml"))
    assert code == 1
    assert "at 5 min it is worth less" in output


# --- the experiment --------------------------------------------------------------------------
@pytest.mark.slow
def test_the_experiment_counts_every_instance() -> None:
    found = experiment.rows(1, 200)
    counted = {
        name: sum(
            row["undefined"] + sum(count for _, count in row["ratios"])
            for row in found
            if row["what"] == "plans" and row["algorithm"] == name
        )
        for name in experiment.PLANNERS
    }
    assert set(counted.values()) == {200}
    result = summary(found)
    assert json.loads(json.dumps(plain(result))) == plain(result)
    assert experiment.PLAN.ours
    assert not judge(result.values)
    cells = {cell["algorithm"]: cell for cell in result.cells}
    assert cells["optimum"]["worst"] == 1.0
    values = [value for cell in result.cells for value in cell.values()]
    assert all(value is None or isinstance(value, str | int | float) for value in values)
    assert cells["two seeds"]["mean"] >= cells["meant"]["mean"] > cells["topological"]["mean"]
    assert cells["literal"]["undefined"] > 0
    assert len(result.panels or ()) == 4


@pytest.mark.slow
def test_the_experiment_draws_the_same_again() -> None:
    first, second = (
        [row for row in experiment.rows(2, 100) if row["what"] != "times"] for _ in "ab"
    )
    assert first == second
