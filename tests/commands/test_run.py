"""`asif run` on a file of events: times, keys, outputs as CSV, protocols that lose."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from asif.cli import main
from asif.commands.run import run_and_compare
from model.progress import silent
from model.registry import modules
from sim.inputs.flights import flight_crashes, flight_workload

EVENTS = """\
type,time,user
a,2024-01-01T00:00:00.000,1
b,2024-01-01T00:00:00.250,2
b,2024-01-01T00:00:01.100,1
a,2024-01-01T00:00:02.000,2
b,2024-01-01T00:00:02.750,2
a,2024-01-01T00:00:03.000,1
b,2024-01-01T00:00:05.000,1
"""


FAMILIES = sorted(modules())
FIRST = pd.Timestamp("2024-01-01T00:00:00Z")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "events.csv").write_text(EVENTS)
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    words = ["run", "--events", "events.csv", "--pattern", "a, b", "--window-size", "2"]
    monkeypatch.setattr("sys.argv", ["asif", *words, "--window-slide", "1", *options])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def matches(path: Path) -> list[tuple[int, int]]:
    """The times of first and last event of each match, in milliseconds since the first event; a
    match has the time of its last event."""
    found = []
    rows = pd.read_csv(path)
    for time, content in zip(rows["time"], rows["content"], strict=True):
        ends = [pd.Timestamp(event[0]) for event in json.loads(content)]
        assert ends[-1] == pd.Timestamp(time)
        first, last = ((end - FIRST) // pd.Timedelta(milliseconds=1) for end in ends)
        found.append((first, last))
    return found


def test_windows_are_in_seconds_and_times_in_milliseconds(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By hand, windows of 2 s: the a at 0 s and the b at 0.25 s; 2 s and 2.75 s; no b comes within
    2 s of the a at 3 s."""
    assert run(monkeypatch, "--alone", "--crash", "match@4", "--out", "outs") == 0
    printed = capsys.readouterr().out
    assert "times are whole multiples of 1 ms" in printed
    assert "added behind" not in printed
    assert matches(folder / "outs" / "expected.csv") == [(0, 250), (2000, 2750)]
    names = [path.name for path in sorted((folder / "outs").iterdir())]
    assert names == ["expected.csv", "upstream-backup-no-skips.csv", "with-crashes.csv"]
    read = [path.read_text() for path in (folder / "outs").iterdir()]
    assert read[0] == read[1] == read[2]


def test_each_user_has_matches_of_its_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The b at 0.25 s is another user's, so the a at 0 s waits for the one at 1.1 s."""
    assert run(monkeypatch, "--alone", "--key", "user", "--crash", "match@4", "--out", "outs") == 0
    assert matches(folder / "outs" / "with-crashes.csv") == [(0, 1100), (2000, 2750)]


def test_operators_that_were_added_are_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch)
    line = "added behind your pattern: recurrence and summary; --alone leaves them out"
    assert line in capsys.readouterr().out


@pytest.mark.parametrize(
    ("loses", "said"),
    [
        ("micro-batch:commit-first", "1 outputs are missing, and 0 are too many"),
        ("micro-batch:foreach-batch", "0 outputs are missing, and 1 are too many"),
    ],
)
def test_a_protocol_that_loses_is_shown_beside_one_that_does_not(
    loses: str,
    said: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    crash = ("--alone", "--protocol", "micro-batch", "--crash", "match@2+5", "--compare", loses)
    assert run(monkeypatch, *crash, "--out", "outs") == 0
    assert f"{loses}: NOT THE SAME: {said}" in " ".join(capsys.readouterr().out.split())
    other = folder / "outs" / f"{loses.replace(':', '-')}.csv"
    assert matches(other) != matches(folder / "outs" / "expected.csv")
    assert run(monkeypatch, "--alone", "--protocol", loses, "--crash", "match@2+5") == 1
    assert f"NOT THE SAME: {said}" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("option", [("--alone",), ("--key", "user"), ("--pattern", "a, b")])
def test_options_of_a_file_of_events_need_one(
    option: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["asif", "run", "--limit", "10", *option])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "give --events, too" in capsys.readouterr().err


def test_a_protocol_that_assumes_single_failures_is_crashed_once_at_a_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The usual crashes come at one event; of these it is granted the first."""
    assert run(monkeypatch, "--protocol", "passive-standby") == 0
    assert "crashes: match at event 3\n" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_few_flights_have_crashes_that_each_family_survives(family: str) -> None:
    """Those of `asif run --limit 500`, which nobody has asked for."""
    flights = flight_workload(500)
    usual = flight_crashes(flights.size)
    found = run_and_compare(modules()[family], None, flights, None, usual, silent)
    assert found.crashes
    assert found.as_promised
