"""A real cluster: on 127.0.0.1 alone, crashed where a test wants it, gone with its parent."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from flink_check.environment import FlinkHome
from flink_check.job import (
    CountJob,
    await_restored,
    cancel,
    expected,
    host,
    on_disk,
    stop_with_savepoint,
    take_checkpoint,
)
from flink_check.runtime.cluster import FlinkCluster, cluster
from flink_check.runtime.compiler import compiled
from model.machine.children import wait_ended

pytestmark = pytest.mark.flink

ANNOUNCE = "org.apache.flink.runtime.checkpoint.CheckpointCoordinator#sendAcknowledgeMessages"


@pytest.fixture(scope="module")
def flink(home: FlinkHome, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlinkCluster]:
    work = tmp_path_factory.mktemp("cluster")
    with cluster(work, points={"announce": ANNOUNCE}) as running:
        yield running


def started(flink: FlinkCluster, job: CountJob) -> str:
    """The id of the job, which has a checkpoint of 20 events and has counted 30."""
    job.allow(20)
    id_ = job.submit(flink)
    job.await_rows(flink, 20)
    take_checkpoint(flink, id_)
    job.await_committed(flink, 20)
    job.allow(30)
    job.await_rows(flink, 30)
    return id_


def repeated(job: CountJob) -> Counter[int]:
    """How often rows stand in the appending sink -> of how many rows."""
    return Counter(Counter(one.row for one in job.appended()).values())


def test_every_port_is_of_this_machine(flink: FlinkCluster) -> None:
    listening = {
        name: {one.laddr.ip for one in process.net_connections() if one.status == "LISTEN"}
        for name, process in flink.processes().items()
    }
    assert listening == {name: {"127.0.0.1"} for name in ("job-manager", "tm0", "tm1")}


def test_a_killed_operator_counts_again_from_the_checkpoint(
    flink: FlinkCluster, tmp_path: Path
) -> None:
    job = CountJob(tmp_path)
    id_ = started(flink, job)
    victim = host(flink, id_, "count")
    killed = flink.kill_task_manager(victim)
    flink.start_task_manager(victim)
    assert await_restored(flink, id_, killed) == 1
    job.await_rows(flink, 40)
    stop_with_savepoint(flink, id_)
    assert job.committed() == expected(30)
    assert repeated(job) == {1: 20, 2: 10}


def test_a_method_of_flink_is_a_point(flink: FlinkCluster, tmp_path: Path) -> None:
    job = CountJob(tmp_path)
    id_ = started(flink, job)
    flink.gates.hold("announce")
    flink.rest.request_checkpoint(id_)
    assert flink.name_of(flink.gates.stopped("announce").pid) == "job-manager"
    assert [*on_disk(flink, id_)] == [1, 2]
    flink.gates.release("announce")
    job.await_committed(flink, 30)
    cancel(flink, id_)


def test_a_sink_without_its_state_loses_rows(flink: FlinkCluster, tmp_path: Path) -> None:
    """The judge sees a gap: the checkpoint is complete, and nobody commits its rows."""
    job = CountJob(tmp_path)
    id_ = started(flink, job)
    flink.gates.hold("before-commit")
    flink.rest.request_checkpoint(id_)
    flink.gates.stopped("before-commit")
    cancel(flink, id_)
    flink.gates.release("before-commit")
    again = CountJob(tmp_path, files_uid="others")
    id_ = again.submit(flink, on_disk(flink, id_)[2], may_drop=True)
    again.allow(40)
    again.await_rows(flink, 40)
    stop_with_savepoint(flink, id_)
    missing = {*expected(40)} - {*again.committed()}
    assert missing == {*expected(30)} - {*expected(20)}


def test_an_ended_process_ends_the_wait(home: FlinkHome, tmp_path: Path) -> None:
    with (
        pytest.raises(RuntimeError, match=r"tm0 has ended with exit code 1: .*'taskmanager\.cpu"),
        cluster(tmp_path, {"taskmanager.cpu.cores": "none"}, task_managers=1),
    ):
        pass


def test_the_cluster_ends_with_its_parent(home: FlinkHome, tmp_path: Path) -> None:
    text = (
        "import sys; from pathlib import Path; from flink_check.runtime.cluster import cluster\n"
        f"with cluster(Path({str(tmp_path)!r}), task_managers=1) as flink:\n"
        "    print(*(one.pid for one in flink.processes().values()), flush=True)\n"
        "    sys.stdin.read()"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    processes = [psutil.Process(int(pid)) for pid in parent.stdout.readline().split()]
    assert len(processes) == 2
    parent.send_signal(signal.SIGKILL)
    parent.communicate()
    wait_ended(processes)


def test_a_fault_in_the_sources_is_one_line(home: FlinkHome, tmp_path: Path) -> None:
    for name in ("gates", "counts"):
        (tmp_path / name).mkdir()
    build = Path("flink_check/java/Build.java").read_text()
    (tmp_path / "Build.java").write_text(build)
    (tmp_path / "gates" / "Wrong.java").write_text("package gates; class Wrong { int x = y; }")
    with pytest.raises(RuntimeError, match=r'does not compile: .*"y"') as caught:
        compiled(home, tmp_path)
    assert "\n" not in str(caught.value)
