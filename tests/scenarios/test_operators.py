"""Operators with work and selectivity of their own: busy times and outputs, by arithmetic."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.cep.engines import Engine
from model.cep.one_run import one_run
from model.cep.patterns import AfterMatch, Strategy, sequence
from model.errors import Invalid
from model.events import Body
from model.predicates import Hashed
from sim.scenarios.overrides import overrides
from sim.scenarios.run import simulate
from sim.scenarios.scenario import read
from sim.timed.costs import Costs
from tests.sim.test_scenarios import written

SHARE = """\
protocol = "progressive"
seed = 1

[stream]
seconds = 20
rate_per_s = 100.0
arrivals = "constant"
types = { a = 1.0 }

[[operators]]
name = "some"
selectivity = 0.25

[[operators]]
name = "half"
selectivity = 0.5

[costs]
timer_s = 30

[costs.service]
control_s = 0
item_s = 0
savepoint_s = 0

[costs.storage]
blocking = false

[costs.work.some]
event_s = 1e-3
output_s = 2e-3

[costs.work.half]
output_s = 4e-3
"""
CRASH = '[[failures]]\nnodes = ["some"]\nat_s = 10.003\n'


@pytest.mark.parametrize("protocol", ["cec", "crb", "progressive"])
def test_busy_times_are_those_of_events_and_outputs(tmp_path: Path, protocol: str) -> None:
    """Without a crash nothing is sent twice.  "some" has 2,000 events of 1 ms and sends n of 2 ms;
    "half" has n of the common 10 us and sends m of 4 ms."""
    text = SHARE.replace("progressive", protocol)
    result = simulate(written(tmp_path, text))
    assert result.same
    n = sum(Hashed(0.25, "some").holds(Body(10 * at, "a")) for at in range(2_000))
    m = result.expected_outputs
    assert n == pytest.approx(500, abs=6 * (2_000 * 0.25 * 0.75) ** 0.5)
    assert m == pytest.approx(n / 2, abs=6 * (n / 4) ** 0.5)
    busy = result.metrics.node_busy_s
    assert busy["some"] == pytest.approx(2_000 * 1e-3 + n * 2e-3)
    assert busy["half"] == pytest.approx(n * 10e-6 + m * 4e-3)


@pytest.mark.parametrize("protocol", ["cec", "crb", "progressive"])
def test_a_replay_lets_the_same_events_pass(tmp_path: Path, protocol: str) -> None:
    """After a crash the output is the oracle's; the operator works more than before."""
    text = SHARE.replace("progressive", protocol).replace("timer_s = 30", "timer_s = 1")
    result = simulate(written(tmp_path, text + CRASH))
    assert result.same
    assert result.metrics.crashes == 1
    more, less = (run.node_busy_s["some"] for run in (result.metrics, result.without_failures))
    assert more > less


def test_a_slow_operator_is_slow_with_outputs_too(tmp_path: Path) -> None:
    fast = simulate(written(tmp_path, SHARE))
    slow = simulate(
        written(tmp_path, SHARE.replace("timer_s = 30", "timer_s = 30\nslow.some = 3.0"))
    )
    busy = [result.metrics.node_busy_s["some"] for result in (fast, slow)]
    assert busy[1] == pytest.approx(3 * busy[0])


def test_a_pattern_has_work_of_its_own(tmp_path: Path) -> None:
    text = SHARE.replace("progressive", "upstream-backup").replace("selectivity = 0.25", "PATTERN")
    text = text.replace("PATTERN", 'pattern = "a, a"\nwindow = 20\nslide = 20')
    head, _, tail = text.partition('[[operators]]\nname = "half"')
    text = head + tail[tail.index("\n[costs]") :].partition("[costs.work.half]")[0]
    result = simulate(written(tmp_path, text))
    outputs = result.expected_outputs
    assert outputs > 0
    busy = result.metrics.node_busy_s["some"]
    assert busy == pytest.approx(2_000 * 1e-3 + outputs * 2e-3)


@pytest.mark.parametrize(
    ("keys", "engine"),
    [
        ("", one_run("a", "a")),
        ('runs = "independent"', sequence("a", "a")),
        (
            'runs = "independent"\nskip = "past-last"\nconsumes = true',
            sequence("a", "a", after_match=AfterMatch.PAST_LAST_EVENT, consumes=True),
        ),
        (
            'strategy = "any"\nconsumes = true',
            sequence("a", "a", strategy=Strategy.ANY, consumes=True),
        ),
    ],
)
def test_a_pattern_names_its_runs(tmp_path: Path, keys: str, engine: Engine) -> None:
    text = SHARE.replace("progressive", "upstream-backup").replace("selectivity = 0.25", "PATTERN")
    text = text.replace("PATTERN", f'pattern = "a, a"\nwindow = 20\nslide = 20\n{keys}')
    head, _, tail = text.partition('[[operators]]\nname = "half"')
    text = head + tail[tail.index("\n[costs]") :].partition("[costs.work.half]")[0]
    assert written(tmp_path, text).workload.graph.specs["some"].engine == engine


@given(st.floats(0.01, 1), st.integers(0, 10**9), st.text(max_size=3))
def test_a_larger_share_has_all_events_of_a_smaller_one(share: float, time: int, salt: str) -> None:
    event = Body(time, "a", (("key", 1),))
    assert Hashed(1.0, salt).holds(event)
    if Hashed(share / 2, salt).holds(event):
        assert Hashed(share, salt).holds(event)


def test_work_left_out_is_the_common_one() -> None:
    assert Costs().output_ps("any") == 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0.25", "0", "12: operators[1].selectivity = 0: it should be greater than 0"),
        ("0.25", "1.5", "12: operators[1].selectivity = 1.5: it should be less than or equal to 1"),
        ("0.25", "0.25\nwindow = 5", "13: operators[1].window: unknown key"),
        (
            "0.25",
            '0.25\npattern = "a"',
            "10: operators[1]: give one of pattern, aggregate, selectivity, gathers, where, union, "
            "join; here is pattern and selectivity",
        ),
        (
            "selectivity = 0.5",
            'union = true\ninputs = ["some"]',
            "17: half: a union has two inputs or more; here is one",
        ),
        (
            "[costs.work.some]",
            "[costs.work.sme]",
            "29: work: no operator 'sme'; did you mean 'some'",
        ),
        ("event_s = 1e-3", "event_s = -1", "30: costs.work.some.event_s = -1: it should be gr"),
        ("event_s = 1e-3", "evnt_s = 1", "30: costs.work.some.evnt_s: unknown key; did you mean"),
        (
            '"progressive"',
            '"kafka-transactions"',
            "1: kafka-transactions: source some half sink; give one operator between",
        ),
    ],
)
def test_what_is_wrong_is_reported_with_its_line(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert SHARE.count(old) >= 1
    with pytest.raises(Invalid) as error:
        written(tmp_path, SHARE.replace(old, new, 1))
    found = str(error.value)
    assert found.startswith(f"{tmp_path / 'bad.toml'}:{message}")
    assert "\n" not in found


@pytest.mark.parametrize(
    "setting",
    [
        "costs.work={matches={event_s=1.0}}",
        "costs.slow={matches=2.0}",
        'failures=[{nodes=["matches"],at_s=1.0}]',
    ],
)
def test_an_operator_within_a_query_has_no_work_and_no_crash_of_its_own(setting: str) -> None:
    """A query of micro-batches runs both operators, and has the name of the first."""
    with pytest.raises(Invalid, match="runs 'matches' within another node; name 'match'"):
        read("docs/scenarios/micro-batch.toml", overrides([setting]))
    read("docs/scenarios/micro-batch.toml", overrides([setting.replace("matches", "match")]))
