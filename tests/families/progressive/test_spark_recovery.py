"""Recovery of a topology from lost workers: what is predicted, and that wrong outcomes are seen."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from engine_check.check import CheckSetting, run_check
from model.machine.children import kill_trees, wait_ended
from spark_check.engine import ENGINE
from spark_check.progressive.checks import recovery
from spark_check.progressive.checks.recovery import FULL, PLANS, POLICIES, QUICK, compare, predict
from spark_check.progressive.recovery import CORES, QueriesRecovery
from spark_check.progressive.topology import LATE, RunningTopology, TopologyRow, draw_rows
from spark_check.runtime.standalone import standalone

ROWS = draw_rows(0, QUICK.rows)


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_the_last_worker_has_cores_for_all_that_is_left(plan: recovery.PlannedRecovery) -> None:
    """So that blocking recovery waits for all workers, and progressive recovery for fewer."""
    assert len(plan.topology.parts) == plan.workers * CORES
    everything = sorted(plan.topology.priorities)
    progressive, blocking = (predict(plan, POLICIES[name]) for name in ("progressive", "blocking"))
    assert blocking == [[]] * (plan.workers - 1) + [everything]
    assert progressive[-1] == everything
    assert all(set(before) < set(after) for before, after in pairwise(progressive))
    assert progressive[0]


def test_the_plan_takes_what_is_worth_most_for_its_cores() -> None:
    assert predict(QUICK, POLICIES["progressive"]) == [["keys"], ["all", "keys", "large"]]
    assert predict(FULL, POLICIES["progressive"])[0] == ["keys"]


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_the_last_row_reaches_every_query_and_no_other_row_is_like_it(
    plan: recovery.PlannedRecovery,
) -> None:
    rows = draw_rows(0, plan.rows)
    for query in plan.topology.priorities:
        expected = plan.topology.expected(query, rows)
        assert [row.key for row in expected].count(LATE) == 1
        assert LATE not in {row.key for row in plan.topology.expected(query, rows[:-1])}


# --- what the check notices ------------------------------------------------------------------
def as_predicted(policy: str) -> QueriesRecovery:
    available = predict(QUICK, POLICIES[policy])
    output = {
        query: QUICK.topology.expected(query, ROWS)[::-1] for query in QUICK.topology.priorities
    }
    seconds = [float(number) for number in range(QUICK.workers)]
    return QueriesRecovery(seconds, seconds, available, {}, output, 0)


@pytest.mark.parametrize("policy", POLICIES)
def test_what_is_as_predicted_agrees_in_any_order_of_rows(policy: str) -> None:
    assert compare(QUICK, policy, ROWS, as_predicted(policy)).agrees


def without_first(rows: list[TopologyRow]) -> list[TopologyRow]:
    return rows[1:]


def first_twice(rows: list[TopologyRow]) -> list[TopologyRow]:
    return [rows[0], *rows]


def one_changed(rows: list[TopologyRow]) -> list[TopologyRow]:
    return [rows[0]._replace(key="other"), *rows[1:]]


@pytest.mark.parametrize("query", QUICK.topology.priorities)
@pytest.mark.parametrize("damage", [without_first, first_twice, one_changed])
def test_a_wrong_output_is_noticed(
    query: str, damage: Callable[[list[TopologyRow]], list[TopologyRow]]
) -> None:
    seen = as_predicted("progressive")
    seen.output[query] = damage(seen.output[query])
    case = compare(QUICK, "progressive", ROWS, seen)
    assert {name for name, found in case.seen["output"].items() if found != "precise"} == {query}


@pytest.mark.parametrize("policy", POLICIES)
def test_a_query_that_is_available_too_early_or_too_late_is_noticed(policy: str) -> None:
    other = next(name for name in POLICIES if name != policy)
    seen = as_predicted(policy)._replace(available=predict(QUICK, POLICIES[other]))
    assert not compare(QUICK, policy, ROWS, seen).agrees


def test_what_is_drawn_is_the_plan_at_each_return_and_each_query_as_it_is_available() -> None:
    seen = as_predicted("progressive")
    seen = seen._replace(available_s={"keys": 0.5, "large": 3.5, "all": 2.5})
    drawn = compare(QUICK, "progressive", ROWS, seen).over_time
    assert drawn == {"available queries": (((0.0, 1), (1.0, 3)), ((0.5, 1), (2.5, 2), (3.5, 3)))}


def test_files_of_the_source_are_numbered_on(tmp_path: Path) -> None:
    running = RunningTopology(QUICK.topology, tmp_path, {})
    running.arrive(ROWS[:-1], 3)
    running.arrive(ROWS[-1:], 1)
    files = sorted((tmp_path / "source").iterdir())
    assert [file.name for file in files] == [f"{number:05}.parquet" for number in range(4)]
    assert [file.stat().st_mtime for file in files] == [0, 1, 2, 3]


# --- on Spark --------------------------------------------------------------------------------
CLUSTER = """
import sys
from pathlib import Path
from spark_check.runtime.standalone import standalone
with standalone(Path(sys.argv[1])):
    print("started", flush=True)
    sys.stdin.read()
"""


@pytest.mark.spark
def test_a_cluster_ends_with_the_process_that_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", CLUSTER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"started\n"
        below = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        wait_ended(below)
    assert len(below) >= 4  # a guard and what it guards, for the master and for the worker


@pytest.mark.spark
def test_a_worker_that_ends_is_not_waited_for(tmp_path: Path) -> None:
    with standalone(tmp_path) as cluster:
        cluster.fail()
        wait_ended(kill_trees(cluster.workers).processes)
        with pytest.raises(RuntimeError, match="a worker of the cluster has ended"):
            cluster.fail()
    assert (tmp_path / "master.log").stat().st_size > 0


@pytest.mark.spark
@pytest.mark.exhaustive  # `.ci/run` runs the same check
def test_queries_come_back_as_planned(tmp_path: Path) -> None:
    result = run_check(ENGINE, recovery.CHECK, CheckSetting(tmp_path, "quick", lambda *_: None))
    assert result.holds
    assert [len(case.crashed) for case in result.cases] == [QUICK.workers] * len(QUICK.policies)
