"""The rows of both sinks as files, and the arguments of the job."""

from __future__ import annotations

from pathlib import Path

import pytest

from flink_check.job import AppendedRow, ClockPace, CountJob, expected
from sim.predictions.count_rows import CountRow


@pytest.fixture
def job(tmp_path: Path) -> CountJob:
    return CountJob(tmp_path)


def test_a_run_without_failures() -> None:
    assert expected(4, keys=3) == (
        *((0, 0, 0, 1), (0, 1, 1, 1), (0, 2, 2, 1)),
        (0, 3, 0, 2),
    )
    assert expected(1, source=1) == (CountRow(source=1, number=0, key=0, nth=1),)


def test_appended_rows_keep_their_order_and_their_repetitions(job: CountJob) -> None:
    assert job.appended() == ()
    text = "0,1,1,1,2500\n0,0,0,1,1500\n0,1,1,1,3500\n0,2,2,"
    (job.folder / "append.csv").write_text(text)
    one = CountRow(0, 1, 1, 1)
    assert job.appended() == (
        *(AppendedRow(one, 2.5), AppendedRow(CountRow(0, 0, 0, 1), 1.5), AppendedRow(one, 3.5)),
    )


def test_hidden_files_are_not_committed(job: CountJob) -> None:
    assert job.committed() == job.hidden() == ()
    folder = job.folder / "files" / "2026-11-28--03"
    folder.mkdir(parents=True)
    (folder / "part-b-1").write_text("0,1,1,1\n")
    (folder / "part-a-0").write_text("0,2,2,1\n0,0,0,1\n")
    (folder / ".part-a-1.inprogress.x").write_text("0,3,3,1\n0,4,4")
    assert job.committed() == expected(3)
    assert job.hidden() == expected(4)[3:]


def test_an_allowance_replaces_the_one_before(job: CountJob) -> None:
    job.allow(20)
    job.allow(7)
    job.allow(5, source=1)
    assert {path.name: path.read_text() for path in job.folder.iterdir()} == {
        "allowed-0": "7\n",
        "allowed-1": "5\n",
    }


def test_the_arguments_are_those_of_the_main_class(tmp_path: Path) -> None:
    source = Path("flink_check/java/counts/CountJob.java").read_text()
    words = CountJob(tmp_path, ClockPace(1.5, 200.0), busy_s=0.003).words()
    named = dict(word.split("=", 1) for word in words)
    assert (named["start_ms"], named["rate"], named["busy_ns"]) == ("1500", "200.0", "3000000")
    assert named["files"] == f"gate://{tmp_path}/files"
    assert all(f'"{name}"' in source for name in named)
