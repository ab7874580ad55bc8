"""Gates as files, and waits with a limit."""

from __future__ import annotations

from pathlib import Path

import pytest

from flink_check.runtime.cluster import last_error
from flink_check.runtime.gates import Gates, GateStop
from flink_check.runtime.waiting import Unanswered, wait_for


def arrive(folder: Path, text: str) -> None:
    """As java/gates/Gate.java does at a held point."""
    with (folder / "at-ack").open("a") as file:
        file.write(text)


def test_a_held_point_names_who_came(tmp_path: Path) -> None:
    gates = Gates(tmp_path)
    gates.hold("ack")
    assert (tmp_path / "hold-ack").exists()
    assert gates.stops("ack") == ()
    arrive(tmp_path, "1500 12 checkpoint 3\n2500 13 /a file/of state\n")
    first = GateStop(1.5, 12, "checkpoint 3")
    assert gates.stopped("ack") == first
    assert gates.stops("ack") == (first, GateStop(2.5, 13, "/a file/of state"))


def test_half_a_line_is_not_read(tmp_path: Path) -> None:
    gates = Gates(tmp_path)
    arrive(tmp_path, "1500 1")
    assert gates.stops("ack") == ()
    arrive(tmp_path, "2 x\n")
    assert gates.stops("ack") == (GateStop(1.5, 12, "x"),)


def test_holding_again_forgets_earlier_stops(tmp_path: Path) -> None:
    gates = Gates(tmp_path)
    arrive(tmp_path, "1500 12 x\n")
    gates.hold("ack")
    assert gates.stops("ack") == ()


def test_released_points_are_open(tmp_path: Path) -> None:
    gates = Gates(tmp_path)
    for point in ("a", "b", "c"):
        gates.hold(point)
    gates.release("a")
    assert {path.name for path in tmp_path.glob("hold-*")} == {"hold-b", "hold-c"}
    gates.release_all()
    gates.release("a")
    assert not [*tmp_path.glob("hold-*")]


def test_nobody_comes(tmp_path: Path) -> None:
    with pytest.raises(TimeoutError, match=r"nobody comes to 'ack': not in 0 s"):
        Gates(tmp_path).stopped("ack", timeout_s=0)


# --- waits ---------------------------------------------------------------------------------------
def test_an_unanswered_question_is_asked_again() -> None:
    answers = iter([None, 0, 7, 8])

    def read() -> int:
        found = next(answers)
        if found is None:
            raise Unanswered("refused")
        return found

    assert wait_for(read, "a number") == 7


def test_the_time_limit_names_the_last_answer() -> None:
    def read() -> None:
        raise Unanswered("GET /jobs: 404")

    with pytest.raises(TimeoutError, match=r"^a job: not in 0 s; GET /jobs: 404$"):
        wait_for(read, "a job", timeout_s=0)


def test_another_error_ends_the_wait() -> None:
    with pytest.raises(ZeroDivisionError):
        wait_for(lambda: 1 // 0, "a number")


def test_the_watch_ends_a_vain_wait() -> None:
    def watch() -> None:
        raise RuntimeError("tm0 has ended")

    with pytest.raises(RuntimeError, match="tm0 has ended"):
        wait_for(lambda: True, "a number", watch=watch)


# --- why a process ended ------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("x INFO a\nx ERROR b no port\n\tat c\n", "x ERROR b no port"),
        ("x ERROR end\n\tat c\nCaused by: d\n\tat e\nCaused by: f\n", "Caused by: d"),
        ("x ERROR a\nCaused by: d\nx ERROR end\n", "x ERROR end"),
        ("x ERROR a\nx ERROR b\nx INFO c\n", "x ERROR b"),
        ("Error: Could not find or load main class\n", "Error: Could not find or load main class"),
        ("x INFO a\n\n", "x INFO a"),
        ("", "its log is empty"),
    ],
)
def test_the_reason_of_an_end(log: str, reason: str) -> None:
    assert last_error(log) == reason
