"""Timers of a timed run: after a while, or on the clock; the triggers of micro-batches by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from model.actions import Deliver
from model.errors import Invalid
from model.protocols.micro_batch.messages import Read
from sim.scenarios.overrides import overrides
from sim.scenarios.run import run, simulate
from sim.scenarios.scenario import Scenario, read
from sim.timed.costs import PS, Timer
from sim.timed.network import TimedNode
from sim.timed.record import LogEntry

TIMES = st.integers(0, 50).map(lambda steps: steps * PS // 4)
PERIODS = st.sampled_from([0.5, 1.0, 5.0])


@given(TIMES, TIMES | st.none(), PERIODS, st.sampled_from([0.0, 0.25, 3.0]), st.booleans())
def test_a_timer_on_the_clock_runs_out_at_a_tick(
    now: int, used: int | None, every: float, phase: float, overdue: bool
) -> None:
    """At the first tick from now on that is not used, which is found by trying all; one that is
    overdue runs out now, if it is the first one or a tick has passed since the last."""
    used = None if used is None or used > now else used
    ticks = [round((phase + step * every) * PS) for step in range(200)]
    free = [tick for tick in ticks if used is None or tick > used]
    passed = [tick for tick in free if tick < now]
    due = Timer(every_s=every, phase_s=phase).due_ps(now, used, overdue=overdue)
    if overdue and (used is None or passed):
        assert due == now
    else:
        assert due == next(tick for tick in free if tick >= now)


def test_a_timer_after_a_while() -> None:
    assert Timer(after_s=0.5).due_ps(3 * PS, 2 * PS, overdue=True) == 3 * PS + PS // 2


@pytest.mark.parametrize(
    "values", [{}, {"after_s": 1.0, "every_s": 1.0}, {"after_s": 1.0, "phase_s": 1.0}]
)
def test_a_timer_has_one_kind(values: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        Timer(**values)


# --- micro-batches ---------------------------------------------------------------------------
BATCHES = """\
protocol = "micro-batch"
unit_s = 1.0

[stream]
events = 30
rate_per_s = 1.0
arrivals = "constant"
types = { a = 1.0 }

[[operators]]
name = "query"
pattern = "a"
window = 1
slide = 1

[costs.timers]
trigger = { every_s = 5.0, phase_s = 0.5 }

[costs.service]
event_s = 0.25
control_s = 0.0
item_s = 0.0

[costs.storage]
latency_s = 0.125
bandwidth_bytes_per_s = 1e15

[costs.link]
delay_s = 0.0
bandwidth_bytes_per_s = 1e18
"""
CRASH = """
[detector]
keep_alive_s = 1e-6
misses = 1
restart_s = 2.0

[[failures]]
nodes = ["query"]
at_s = 11.0
"""


def scenario(folder: Path, text: str) -> Scenario:
    (folder / "batches.toml").write_text(text)
    return read(folder / "batches.toml")


def batches(asked: Scenario) -> list[tuple[float, int, int]]:
    """Of each batch that is read: when, and its first and last event."""
    log: list[LogEntry] = []
    run(asked, asked.planned, log=log)
    found = []
    for entry in sorted(log, key=lambda entry: entry[:3]):
        message: Any = entry.what[1]
        if isinstance(entry.action, Deliver) and isinstance(message, Read):
            found.append((round(entry.done_ps / PS, 6), message.batch.start + 1, message.batch.end))
    return found


def test_batches_begin_on_the_clock(tmp_path: Path) -> None:
    """An event a second from 0 s on.  The tick at 0.5 s takes the first, that at 5.5 s those of 1
    to 5 s, and so on.  A read comes 0.125 s after its tick: the offsets are logged."""
    found = batches(scenario(tmp_path, BATCHES))
    assert found[0] == (0.625, 1, 1)
    assert found[1:] == [(5 * n + 0.625, 5 * n - 3, min(5 * n + 1, 30)) for n in range(1, 7)]


def test_a_batch_that_is_late_is_followed_at_once(tmp_path: Path) -> None:
    """With 2 s an event, five events take 10 s, and the next tick has passed: back to back."""
    found = batches(scenario(tmp_path, BATCHES.replace("event_s = 0.25", "event_s = 2.0")))
    # From 5.625 s on: 10 s for the events, the state, the commit log, the next offsets.
    assert found[:3] == [(0.625, 1, 1), (5.625, 2, 6), (5.625 + 10 + 3 * 0.125, 7, 16)]


def test_a_restarted_query_runs_at_once_and_then_on_the_clock(tmp_path: Path) -> None:
    """The batch of 10.5 s has five events, and would be done at 12 s; it crashes at 11 s, restarts
    at 13 s and runs again at once, for 1.25 s.  The next one is on the clock, at 15.5 s."""
    found = batches(scenario(tmp_path, BATCHES + CRASH))
    at = [round(moment, 3) for moment, _, _ in found]
    assert at[:3] == [0.625, 5.625, 10.625]
    assert at[3] == 13.0
    assert found[3][1:] == found[2][1:]
    assert at[4] == 15.625


def test_a_query_that_restarts_between_batches_plans_one_at_once(tmp_path: Path) -> None:
    """It crashes at 13 s, with nothing under way, and restarts at 15 s plus two: at 17 s it takes
    what has come since 10 s, and at 20 s what has come since."""
    text = (
        (BATCHES + CRASH)
        .replace("at_s = 11.0", "at_s = 13.0")
        .replace("restart_s = 2.0", "restart_s = 4.0")
    )
    found = batches(scenario(tmp_path, text))
    at = [round(moment, 3) for moment, _, _ in found]
    assert at[3:5] == [17.125, 20.625]
    assert found[3][1:] == (12, 18)


def test_control_messages_are_few(tmp_path: Path) -> None:
    """A question and an answer a batch, and not one message for each event."""
    asked = scenario(tmp_path, BATCHES)
    traffic = run(asked, ()).result.traffic
    count = len(batches(asked))
    assert (traffic["ask"].messages, traffic["latest"].messages) == (count, count)


def test_an_unknown_timer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="micro-batch sets no timer 'triger'; did you mean 'trigger'"):
        scenario(tmp_path, BATCHES.replace("trigger =", "triger ="))


@pytest.mark.slow
def test_costs_of_spark_by_arithmetic() -> None:
    """It crashes at 8.5 s, 3.5 s after a trigger, is detected at the third keep-alive, restarts and
    runs at once all that has come since 5 s: a batch, its events, two saves, and the links."""
    asked = read("docs/scenarios/micro-batch.toml")
    costs = asked.costs
    result = simulate(asked)
    (failure,) = result.failures
    back = 8.5 + 0.3 + asked.detector.restart_s
    late = sum(5 < at / PS < back for at, _, _ in asked.feed())
    takes = costs.service.item_s + late * costs.service.event_s + 2 * costs.storage.latency_s
    wire = late * costs.sizes.event_bytes / costs.link.bandwidth_bytes_per_s  # type: ignore[operator]
    assert result.same
    assert failure.recovery_s == pytest.approx(
        0.3 + asked.detector.restart_s + takes + wire, abs=0.02
    )
    batches_read = result.metrics.traffic["read"].messages
    each = 5 * costs.sizes.control_bytes  # ask, latest, read, written, commit
    assert result.metrics.link_control_bytes <= each * (batches_read + 1)


# --- a timer goes before the messages that wait ------------------------------------------------
BUSY = """\
protocol = "crb"
unit_s = 0.25

[stream]
seconds = 130
rate_per_s = 1.0
arrivals = "constant"
types = { a = 1.0 }

[[operators]]
name = "agg"
aggregate = "count"
window = 4
slide = 4

[costs.timers]
checkpoint = { every_s = 10.0 }

[costs.service]
event_s = 0.75
control_s = 0.0
item_s = 0.0
savepoint_s = 0.0

[costs.storage]
latency_s = 0.0
bandwidth_bytes_per_s = 1e15

[costs.link]
delay_s = 0.0
bandwidth_bytes_per_s = 1e18

[detector]
keep_alive_s = 2.0
misses = 5
restart_s = 4.0

[[failures]]
nodes = ["agg"]
at_s = 35.5
"""


def checkpoints(folder: Path, *settings: str) -> list[float]:
    """When the operator begins its checkpoints, rounded to a thousandth of a second."""
    (folder / "busy.toml").write_text(BUSY)
    asked = read(folder / "busy.toml", overrides(settings))
    log: list[LogEntry] = []
    run(asked, asked.planned, log=log)
    return [
        round(entry.began_ps / PS, 3)
        for entry in sorted(log, key=lambda entry: entry[:3])
        if entry.what == ("timer", "checkpoint")
    ]


def late(begun: list[float]) -> list[float]:
    """How long after its tick each checkpoint begins."""
    return [round(at % 10, 3) for at in begun]


@pytest.mark.parametrize("room", [(), ("costs.room=1000",)])
def test_a_checkpoint_waits_for_the_step_under_way_alone(
    tmp_path: Path, room: tuple[str, ...]
) -> None:
    """The operator is down from 35.5 s; the detector notices it at 44 s, and it is back at 48 s.
    Its backlog keeps it busy without a pause, with a step every 0.75 s from 48 s on.  The step
    under way at 50 s ends at 50.25 s, 13 steps later one ends at 60 s, then at 70.5 and 80.25 s.
    """
    begun = checkpoints(tmp_path, *room)
    assert begun[:3] == [10.0, 20.0, 30.0]
    assert begun[3:7] == [50.25, 60.0, 70.5, 80.25]


def test_the_check_finds_timers_that_wait_behind_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert max(late(checkpoints(tmp_path))) <= 0.75
    monkeypatch.setattr(TimedNode, "wait", lambda node, queued: node.inputs.append(queued))
    assert max(late(checkpoints(tmp_path))) > 0.75


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(1, 97),
    st.sampled_from([3.0, 7.0, 16.0]),
    st.sampled_from([(), ("costs.room=1000",)]),
)
def test_no_checkpoint_is_later_than_a_step(
    tmp_path: Path, percent: int, every: float, room: tuple[str, ...]
) -> None:
    """Whatever the load: a checkpoint at each tick while there is input, less than a step late."""
    service = percent / 100
    begun = checkpoints(
        tmp_path,
        f"costs.service.event_s={service}",
        f"costs.timers.checkpoint.every_s={every}",
        "failures=[]",
        *room,
    )
    assert [int(at // every) for at in begun] == list(range(1, len(begun) + 1))
    assert all(at % every <= service for at in begun)
    assert len(begun) >= int(129 // every)
