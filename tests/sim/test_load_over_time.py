"""The load of random sources over time, by hand: rates, pauses, rounds; bunches and ticks."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.errors import Invalid
from sim.scenarios.sources import draw
from sim.scenarios.tables import RandomStream
from sim.timed.load import JobArrivals
from tests.sim.test_scenario_aggregates import GOOD
from tests.sim.test_scenarios import written


def times(unit_s: float, seed: int = 1, **keys: Any) -> list[int]:
    stream = RandomStream.model_validate({"types": {"a": 1.0}, **keys})
    return list(accumulate(one.gap for one in draw("source", stream, seed, unit_s)))


def test_constant_events_follow_the_rates() -> None:
    """2/s for 3 s are events 0 to 5; 1/s for 2 s two more; a pause of 1 s; 4/s from 6 s on."""
    rates = [[0, 2], [3, 1], [5, 0], [6, 4]]
    found = times(0.25, seconds=7.0, rates=rates, arrivals="constant")
    assert [at * 0.25 for at in found] == [0, 0.5, 1, 1.5, 2, 2.5, 3, 4, 6, 6.25, 6.5, 6.75]


def test_rates_begin_again() -> None:
    """A burst of two events in the first second of every three."""
    burst: dict[str, Any] = {"rates": [[0, 2], [1, 0]], "repeats_s": 3.0, "arrivals": "constant"}
    assert times(0.5, seconds=7.0, **burst) == [0, 1, 6, 7, 12, 13]
    assert times(0.5, events=4, **burst) == [0, 1, 6, 7]


def test_random_events_follow_the_rates() -> None:
    """500/s for 10 s, a pause of 10 s, 2,000/s for 10 s: 5,000, 0 and 20,000, and by chance some
    more or less, of which four standard deviations are 283 and 566."""
    found = times(0.0001, seconds=30.0, rates=[[0, 500], [10, 0], [20, 2000]])
    counts = [sum(first <= at < first + 100_000 for at in found) for first in (0, 100_000, 200_000)]
    assert counts[0] == pytest.approx(5000, abs=283)
    assert counts[1] == 0
    assert counts[2] == pytest.approx(20_000, abs=566)


@given(st.integers(0, 9), st.sampled_from(["poisson", "constant"]), st.integers(1, 200))
def test_one_rate_is_a_rate(seed: int, arrivals: str, rate: int) -> None:
    """The same draws, also if the one rate begins again: the rest of an exponential gap is
    drawn anew, so only the constant ones are the same then."""
    alone = times(0.001, seed, events=50, rate_per_s=float(rate), arrivals=arrivals)
    assert times(0.001, seed, events=50, rates=[[0, rate]], arrivals=arrivals) == alone
    if arrivals == "constant":
        again: dict[str, Any] = {"rates": [[0, rate]], "repeats_s": 1.0}
        assert times(0.001, seed, events=50, arrivals=arrivals, **again) == alone


@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(0, 20)), min_size=1, max_size=5),
    st.booleans(),
)
def test_constant_events_are_as_many_as_the_load(
    steps: list[tuple[int, int]], repeats: bool
) -> None:
    """Before every second there are as many events as the load until then, rounded up."""
    starts = [0, *accumulate(length for length, _ in steps)]
    rates = [[start, rate] for start, (_, rate) in zip(starts, steps, strict=False)]
    if not any(rate for _, rate in steps):
        return
    more: dict[str, Any] = {"repeats_s": float(starts[-1])} if repeats else {}
    found = times(1 / 64, seconds=50.0, rates=rates, arrivals="constant", **more)
    load = 0
    for second in range(50):
        assert load <= sum(at < second * 64 for at in found) <= load + 1
        now = second % starts[-1] if repeats else second
        load += next(rate for start, rate in reversed(rates) if start <= now)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"rate_per_s": 1.0, "rates": [[0, 1]]}, "say how often: give one of rate_per_s and rates"),
        ({}, "say how often: give one of rate_per_s and rates"),
        ({"rate_per_s": 1.0, "repeats_s": 9.0}, "repeats_s is a property of rates"),
        ({"rates": [[1, 1]]}, "the first of the rates is from second 0, the others in order"),
        ({"rates": [[0, 1], [5, 2], [5, 3]]}, "the first of the rates is from second 0"),
        ({"rates": [[0, 0], [5, 0]]}, "all rates are 0; give one that is more"),
        ({"rates": [[0, 1], [5, 2]], "repeats_s": 5.0}, "repeats_s = 5: the last of the rates"),
        ({"rates": [[0, 1], [5, 0]], "events": 99}, "of 99 events come, since the last rate is 0"),
        ({"rates": [[0, 1], [5, 2000]], "arrivals": "constant"}, "rates = 2000: constant arrivals"),
    ],
)
def test_wrong_rates(keys: dict[str, Any], message: str) -> None:
    length: dict[str, Any] = {} if "events" in keys else {"seconds": 9.0}
    with pytest.raises((Invalid, ValueError), match=message.replace("[", r"\[")):
        times(0.001, **keys, **length)


# --- bunches -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("load", "words"),
    [
        ("rate_per_s = 1000.0", "200 random events"),
        (
            "rate_per_s = 5000.0",
            "200 random events, in bunches of about 5 at once (unit_s = 0.001; at most 0.0002 "
            "parts them)",
        ),
        (
            "rates = [[0, 100], [1, 20000]]",
            "200 random events, in bunches of up to about 20 at once (unit_s = 0.001; at most "
            "5e-05 parts them)",
        ),
    ],
)
def test_events_that_come_in_bunches_are_named(tmp_path: Path, load: str, words: str) -> None:
    text = GOOD.replace("rate_per_s = 100.0", load).replace("window = 100", "window = 10")
    assert written(tmp_path, text).workload.name == words


# --- ticks -------------------------------------------------------------------------------------
TICKED = (
    GOOD.replace('windows = "count"\n', "")
    .replace("window = 4\nslide = 2", 'window = 100\nslide = 50\ncloses = "timer"')
    .replace("rate_per_s", "tick_s = 0.25\nrate_per_s")
    .replace("aligned = false", 'closes = "timer"')
    .replace('"cec"', '"crb"')
)


def test_ticks_come_until_the_last_event_or_the_end(tmp_path: Path) -> None:
    events = written(tmp_path, TICKED).workload.events["source"]
    at = [(time, one) for time, one in zip(accumulate(e.gap for e in events), events, strict=True)]
    ticks = [time for time, one in at if one.type == "tick"]
    last = max(time for time, one in at if one.type != "tick")
    assert ticks == [*range(250, last + 250, 250)]
    for_a_second = TICKED.replace("events = 200", "seconds = 1").replace(
        "at_event = 100", "at_s = 0.5"
    )
    workload = written(tmp_path, for_a_second).workload
    assert sum(one.type == "tick" for one in workload.events["source"]) == 4
    assert workload.name == f"{workload.size - 4} random events; 4 ticks"


def test_events_are_the_same_with_ticks_and_without(tmp_path: Path) -> None:
    def alone(text: str) -> list[tuple[int, Any]]:
        events = written(tmp_path, text).workload.events["source"]
        found = zip(accumulate(one.gap for one in events), events, strict=True)
        return [(at, one._replace(gap=0)) for at, one in found if one.type != "tick"]

    assert alone(TICKED) == alone(
        TICKED.replace("tick_s = 0.25\n", "").replace('"timer"', '"watermark"')
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("tick_s = 0.25\n", "", 'clicks: closes = "timer" waits for the ticks of one input; give'),
        ('closes = "timer"\n\n[[op', "\n[[op", "clicks: ticks come here and would count as events"),
        (
            "tick_s = 0.25",
            "tick_s = 0.0002",
            "tick_s = 0.0002: ticks come at whole units, ",
        ),
        ("{ a =", "{ tick =", "tick_s: an event has the type 'tick', too; give it another type"),
        (
            "window = 100\n",
            'window = 100\nwindows = "count"\n',
            'operators[1]: closes = "timer" is for windows of time; leave it out, or give windows',
        ),
    ],
)
def test_wrong_ticks(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in TICKED
    with pytest.raises(Invalid) as error:
        written(tmp_path, TICKED.replace(old, new, 1))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_no_event_comes_before_the_start() -> None:
    """Four events in the first ten units: two in the first five, whenever one begins to count; a
    node that was restored sooner than its usual age asks for a time before 0."""
    arrivals = JobArrivals([4, 6], 10)
    assert arrivals.between(-7, 5) == arrivals.between(0, 5) == 2
    assert arrivals.between(-7, -3) == 0
    assert arrivals.between(5, 15) == 5
