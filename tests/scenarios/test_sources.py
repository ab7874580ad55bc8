"""Several sources with rates of their own: lengths and the order of events, by arithmetic."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.errors import Invalid
from sim.scenarios.run import simulate
from sim.scenarios.sources import draw
from sim.scenarios.tables import RandomStream
from sim.timed.costs import PS
from tests.sim.test_scenarios import written

TWO = """\
protocol = "upstream-backup"
seed = 1

[[source]]
name = "fast"
seconds = 4
rate_per_s = 200.0
arrivals = "constant"
types = { a = 1.0 }

[[source]]
name = "slow"
events = 100
rate_per_s = 25
arrivals = "constant"
types = { c = 1.0 }

[[operators]]
name = "match"
pattern = "a, c"
window = 100
slide = 20
inputs = ["fast", "slow"]

[[failures]]
nodes = ["match"]
at_event = 450
"""


def test_each_source_has_its_own_rate_and_length(tmp_path: Path) -> None:
    """200 a second for 4 s are 800 events; 100 at 25 a second last until 99 / 25 s."""
    scenario = written(tmp_path, TWO)
    assert {name: len(events) for name, events in scenario.workload.events.items()} == {
        "fast": 800,
        "slow": 100,
    }
    feed = list(scenario.feed())
    assert [at for at, source, _ in feed if source == "slow"] == [n * PS // 25 for n in range(100)]
    assert [at for at, source, _ in feed if source == "fast"] == [n * PS // 200 for n in range(800)]
    assert all(one[0] <= next_[0] for one, next_ in pairwise(feed))
    assert scenario.ends_ps == 799 * PS // 200
    assert scenario.workload.name == "fast: 800 random events; slow: 100 random events"


def test_events_of_all_sources_are_counted_together(tmp_path: Path) -> None:
    """Eight of "fast" come with each of "slow": the 450th event is the 400th of "fast"."""
    scenario = written(tmp_path, TWO)
    assert [plan.at_ps for plan in scenario.planned] == [399 * PS // 200]


def test_two_sources_recover_as_if_nothing_had_failed(tmp_path: Path) -> None:
    result = simulate(written(tmp_path, TWO))
    assert result.same
    assert result.metrics.events == 900
    assert result.metrics.events_replayed > 0
    assert result.expected_outputs > 0


def test_a_stream_is_the_short_form_of_a_source(tmp_path: Path) -> None:
    table = "events = 300\nrate_per_s = 100\ntypes = { a = 1.0, c = 2.0 }\nkeys = 3\n"
    _, _, rest = TWO.partition("[[operators]]")
    rest = "[[operators]]" + rest.replace('inputs = ["fast", "slow"]\n', "")
    rest = rest.replace("at_event = 450", "at_event = 150")
    head = 'protocol = "upstream-backup"\n'
    short = written(tmp_path, f"{head}[stream]\n{table}{rest}")
    long = written(tmp_path, f'{head}[[source]]\nname = "source"\n{table}{rest}')
    assert short == long


def test_sources_of_one_seed_are_independent(tmp_path: Path) -> None:
    alike = TWO.replace("seconds = 4", "events = 100").replace("at_event = 450", "at_event = 50")
    random = alike.replace('arrivals = "constant"\n', "").replace("{ c = 1.0 }", "{ a = 1.0 }")
    random = random.replace("rate_per_s = 25", "rate_per_s = 200").replace('"a, c"', '"a, a"')
    events = written(tmp_path, random).workload.events
    assert events["fast"] != events["slow"]
    other = written(tmp_path, random.replace("200.0", "150.0")).workload.events
    assert other["slow"] == events["slow"]


def test_a_file_is_a_source(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("type,time\na,0\na,30\na,70\n", encoding="utf-8")
    head, _, rest = TWO.partition('[[source]]\nname = "fast"')
    _, _, rest = rest.partition("\n[[source]]")
    text = f'{head}[[source]]\nname = "fast"\npath = "log.csv"\nunit_s = 0.001\n\n[[source]]{rest}'
    events = written(tmp_path, text.replace("450", "50")).workload.events
    assert [arrival.gap for arrival in events["fast"]] == [0, 30, 40]
    assert len(events["slow"]) == 100


@given(st.floats(0.5, 20), st.floats(0.5, 50), st.integers(0, 99))
def test_a_run_in_seconds_has_all_events_before_its_end(
    seconds: float, rate: float, seed: int
) -> None:
    """The number of Poisson arrivals is the rate's, within six standard deviations."""
    table = RandomStream(seconds=seconds, rate_per_s=rate, types={"a": 1.0})
    try:
        found = tuple(draw("source", table, seed, 0.001))
    except Invalid:
        found = ()
    assert sum(arrival.gap for arrival in found) < seconds * 1000
    mean = seconds * rate
    assert abs(len(found) - mean) <= 6 * mean**0.5 + 6


@given(st.integers(1, 40), st.sampled_from([10, 20, 25, 40]))
def test_constant_arrivals_in_seconds(seconds: int, rate: int) -> None:
    table = RandomStream(seconds=seconds, rate_per_s=rate, arrivals="constant", types={"a": 1.0})
    assert len(draw("source", table, 0, 0.001)) == seconds * rate


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seconds = 4", "", "4: source[1]: say how long: give one of events and seconds"),
        ("seconds = 4", "seconds = 4\nevents = 5", "4: source[1]: say how long: give one of ev"),
        ("seconds = 4", "seconds = 0", "6: source[1].seconds = 0: it should be greater than 0"),
        ("rate_per_s = 200.0", "rates = 5", "7: source[1].rates = 5: it should be a list"),
        (
            "rate_per_s = 200.0",
            "rates = [[0, 1, 2]]",
            "7: source[1].rates[1] = [0, 1, 2]: it should have at most 2 items",
        ),
        (
            'arrivals = "constant"',
            'arrivals = "constnt"',
            "8: source[1].arrivals = 'constnt': it should be 'poisson' or 'constant'",
        ),
        (
            "rate_per_s = 200.0",
            "speed = 1",
            "7: source[1].speed: unknown key; there are 'arrivals', 'events', 'keys' and ",
        ),
        ("rate_per_s = 200.0", "rate = 1", "7: source[1].rate: unknown key; did you mean 'rates'?"),
        ("rate_per_s = 200.0", "rate_per_s = 2e3", "7: rate_per_s = 2000: constant arrivals"),
        (
            'rate_per_s = 200.0\narrivals = "constant"',
            "rate_per_s = 1e-9",
            "7: no event comes in 4 s at 1e-09 events/s; give more seconds or a higher rate",
        ),
        ('name = "slow"', 'name = "fast"', "12: name 'fast' is taken; choose another"),
        ('name = "slow"', 'name = "sink"', "12: name 'sink' is taken; choose another"),
        ('name = "match"', 'name = "slow"', "19: name 'slow' is taken; choose another"),
        (
            'inputs = ["fast", "slow"]',
            "",
            "18: match: there are several sources; say which with inputs = "
            '["fast", "slow"], or some of them',
        ),
        (
            'inputs = ["fast", "slow"]',
            'inputs = ["fast"]',
            "20: match: pattern: no event has the type 'c'",
        ),
        (
            'pattern = "a, c"\nwindow = 100\nslide = 20\ninputs = ["fast", "slow"]',
            'pattern = "a"\nwindow = 100\nslide = 20\ninputs = ["fast"]',
            "11: no operator has the input 'slow'; name it in one",
        ),
        ('nodes = ["match"]', 'nodes = ["slow"]', "26: nodes: sources and sinks do not fail"),
        ("at_event = 450", "at_event = 901", "27: at_event = 901: there is no such event; th"),
        (
            "[[source]]",
            "[stream]\nevents = 1\nrate_per_s = 1\ntypes = { a = 1 }\n[[source]]",
            "8: input: give one of [stream], [[source]], [flights], [file]; here is "
            "[stream] and [[source]]",
        ),
        (
            '"upstream-backup"',
            '"kafka-transactions"',
            "1: kafka-transactions: fast slow match sink; give one operator between",
        ),
        (
            '"upstream-backup"',
            '"two-phase-sink"',
            "1: two-phase-sink: match: a job is an operator between source and sink",
        ),
    ],
)
def test_what_is_wrong_is_reported_with_its_line(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert TWO.count(old) >= 1
    with pytest.raises(Invalid) as error:
        written(tmp_path, TWO.replace(old, new, 1))
    found = str(error.value)
    assert found.startswith(f"{tmp_path / 'bad.toml'}:{message}")
    assert "\n" not in found


@pytest.mark.parametrize("protocol", ["micro-batch", "crb", "cec", "progressive"])
def test_families_of_boxes_take_two_sources_in_the_order_of_time(
    tmp_path: Path, protocol: str
) -> None:
    """These refused a pattern over two sources; the output is that of upstream backup."""
    ours = simulate(written(tmp_path, TWO))
    other = simulate(written(tmp_path, TWO.replace('"upstream-backup"', f'"{protocol}"')))
    assert ours.same
    assert other.same
    assert other.sha256 == ours.sha256


def test_crb_refuses_a_sink_of_several_inputs(tmp_path: Path) -> None:
    """It has one place for all that it has received; it lost results of the second input."""
    _, _, rest = TWO.partition("[[failures]]")
    head, _, _ = TWO.partition("[[operators]]")
    window = "window = 50\nslide = 50\n"
    both = "".join(
        f'[[operators]]\nname = "of_{name}"\naggregate = "count"\ninputs = ["{name}"]\n{window}\n'
        for name in ("fast", "slow")
    )
    text = head.replace("upstream-backup", "crb") + both + "[[failures]]" + rest
    with pytest.raises(Invalid, match="1: crb: sink has 2 inputs; give the sink one"):
        written(tmp_path, text.replace('nodes = ["match"]', 'nodes = ["of_fast"]'))
