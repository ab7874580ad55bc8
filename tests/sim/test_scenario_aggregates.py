"""Aggregates in scenario files: their tables, keys of random streams, and a case done by hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from model.boxes.aggregate import Aggregate
from model.errors import Invalid
from model.events import Body
from model.oracle import oracle
from sim.scenarios.run import simulate
from sim.scenarios.scenario import Scenario
from tests.sim.test_scenarios import written

GOOD = """\
protocol = "cec"

[stream]
events = 200
rate_per_s = 100.0
types = { a = 1.0, b = 3.0 }
keys = 5
skew = 1.0

[[operators]]
name = "clicks"
aggregate = "count"
group = "key"
windows = "count"
window = 4
slide = 2

[[operators]]
name = "most"
aggregate = "max"
of = "value"
group = "key"
window = 100
slide = 50
aligned = false

[[failures]]
nodes = ["clicks"]
at_event = 100
"""


def test_a_chain_is_one_query_in_micro_batches(tmp_path: Path) -> None:
    """Both aggregates run in the query `clicks`, whose crash costs the batch under way; the output
    is that of a run without failures."""
    result = simulate(written(tmp_path, GOOD.replace('"cec"', '"micro-batch"')))
    assert result.same
    assert [one.node for one in result.failures] == ["clicks"]
    free = simulate(written(tmp_path, GOOD.split("[[failures]]")[0]))
    assert result.metrics.outputs == free.metrics.outputs > 0


def test_the_tables_are_aggregates(tmp_path: Path) -> None:
    scenario = written(tmp_path, GOOD)
    specs = scenario.workload.graph.specs
    assert specs["clicks"] == Aggregate("count", 4, 2, group="key", emits="clicks")
    assert specs["most"] == Aggregate(
        "max", 100, 50, by="time", of="value", group="key", aligned=False, emits="most"
    )
    assert scenario.workload.pattern == "clicks: count by key; most: max of value by key"


def test_without_a_group_all_events_are_one(tmp_path: Path) -> None:
    specs = written(tmp_path, GOOD.replace('group = "key"\n', "")).workload.graph.specs
    assert specs["clicks"].group is None
    assert specs["most"].group is None


@pytest.mark.parametrize("fold", ["count", "sum", "max", "min", "mean", "list"])
def test_every_fold_runs_with_a_crash_as_if_nothing_had_failed(tmp_path: Path, fold: str) -> None:
    text = GOOD.replace('aggregate = "count"', f'aggregate = "{fold}"\nof = "time"')
    text = text.replace('"max"\nof = "value"', '"list"\nof = "value"')
    result = simulate(written(tmp_path, text))
    assert result.same
    assert result.expected_outputs > 0
    assert result.metrics.events_replayed > 0


def test_a_pattern_and_an_aggregate_are_in_one_graph(tmp_path: Path) -> None:
    pattern = 'pattern = "clicks, clicks"\nwindows = "count"\nwindow = 2\nslide = 2\n'
    head, _, tail = GOOD.partition('aggregate = "max"')
    result = simulate(written(tmp_path, head + pattern + tail[tail.index("\n[[failures]]") :]))
    assert result.same
    assert result.expected_outputs > 0


# --- keys ------------------------------------------------------------------------------------
def test_keys_change_neither_types_nor_times(tmp_path: Path) -> None:
    keyed = written(tmp_path, GOOD).workload.events["source"]
    plain = GOOD.replace("keys = 5\nskew = 1.0\n", "").replace('"key"', '"type"')
    assert [one._replace(data=()) for one in keyed] == [
        *written(tmp_path, plain).workload.events["source"]
    ]


@pytest.mark.parametrize(
    ("skew", "shares"),
    [("", [1 / 4] * 4), ("skew = 1.0", [12 / 25, 6 / 25, 4 / 25, 3 / 25])],
)
def test_keys_are_uniform_or_as_zipf_says(tmp_path: Path, skew: str, shares: list[float]) -> None:
    text = GOOD.replace("events = 200", "events = 20000").replace("keys = 5", "keys = 4")
    events = written(tmp_path, text.replace("skew = 1.0", skew)).workload.events["source"]
    drawn = Counter(dict(one.data)["key"] for one in events)
    assert [drawn[key] / 20_000 for key in (1, 2, 3, 4)] == pytest.approx(shares, abs=0.02)


# --- by hand ---------------------------------------------------------------------------------
BY_HAND = """\
protocol = "cec"
unit_s = 1.0

[file]
path = "ten.csv"

[[operators]]
name = "threes"
aggregate = "count"
group = "type"
windows = "count"
window = 3
slide = 3

[costs]
timer_s = 100.0

[[failures]]
nodes = ["threes"]
at_event = 7
"""
TEN = "abaabababb"
"""The windows of a: tuples 1, 3, 4 | 6, 8.  The windows of b: tuples 2, 5, 7 | 9, 10."""


def by_hand(folder: Path, timer_s: float = 100.0, at_event: int = 7) -> Scenario:
    rows = "".join(f"{type_},{time}\n" for time, type_ in enumerate(TEN))
    (folder / "ten.csv").write_text(f"type,time\n{rows}", encoding="utf-8")
    text = BY_HAND.replace("100.0", str(timer_s)).replace("at_event = 7", f"at_event = {at_event}")
    return written(folder, text)


def test_the_results_are_those_that_are_counted_by_hand(tmp_path: Path) -> None:
    """A window closes with its third tuple, and has the time of this tuple: 3 and 6."""
    workload = by_hand(tmp_path).workload
    (outs,) = oracle(workload.graph, workload.events)["sink"]
    assert outs == (
        Body(3, "threes", (("type", "a"), ("value", 3))),
        Body(6, "threes", (("type", "b"), ("value", 3))),
    )


@pytest.mark.parametrize(
    ("timer_s", "at_event", "replayed"),
    [
        (100.0, 3, 2),  # a is open since tuple 1, b since 2: tuples 2 and 3
        (100.0, 5, 3),  # a is closed, b is open since tuple 2: tuples 3 to 5
        (100.0, 7, 5),  # b is open since tuple 2, a since 6: tuples 3 to 7
        (0.01, 7, 1),  # the background path has written b again after tuple 6: tuple 7
    ],
)
def test_a_restart_replays_what_is_after_the_oldest_footprint(
    tmp_path: Path, timer_s: float, at_event: int, replayed: int
) -> None:
    """The crash comes when the tuple `at_event` is on its way; no other tuple comes until the
    restart."""
    result = simulate(by_hand(tmp_path, timer_s, at_event))
    assert result.same
    assert result.expected_outputs == 2
    assert result.metrics.crashes == 1
    assert result.metrics.events_replayed == replayed


def test_a_file_has_the_attributes_that_aggregates_name(tmp_path: Path) -> None:
    (tmp_path / "ten.csv").write_text("type,time,who,n\nx,0,u,1\nx,1,v,\nx,2,u,3\n")
    text = BY_HAND.replace('group = "type"', 'group = "who"').replace(
        "at_event = 7", "at_event = 2"
    )
    events = written(tmp_path, text).workload.events["source"]
    assert [one.data for one in events] == [(("who", name),) for name in "uvu"]
    with pytest.raises(Invalid, match="sum folds numbers, and 'n' is not a number in every event"):
        written(tmp_path, text.replace('"count"\ngroup', '"sum"\nof = "n"\ngroup'))
    with pytest.raises(Invalid, match="no column 'wo'; did you mean 'who'"):
        written(tmp_path, text.replace('"who"', '"wo"'))


# --- what is wrong ---------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("keys = 5", "keys = 0", "7: stream.keys = 0: it should be greater than or equal to 1"),
        ("keys = 5\n", "", "3: stream: skew is a property of keys; give keys, too"),
        ("skew = 1.0", "skew = -1.0", "8: stream.skew = -1.0: it should be greater than or equal"),
        (
            'aggregate = "count"',
            'aggregate = "median"',
            "12: operators[1].aggregate = 'median': it should be 'count', 'sum', 'max', 'min', "
            "'mean' or 'list'",
        ),
        (
            'aggregate = "count"',
            'aggregate = "count"\npattern = "a"',
            "10: operators[1]: give one of pattern, aggregate, selectivity, gathers, where, union, "
            "join; here is pattern and aggregate",
        ),
        (
            'aggregate = "count"\n',
            "",
            "10: operators[1]: give one of pattern, aggregate, selectivity, gathers, where, union, "
            "join; here is none",
        ),
        (
            "window = 4",
            "widow = 4",
            "15: operators[1].widow: unknown key; did you mean 'window' or 'windows'?",
        ),
        ("window = 4\n", "", "10: operators[1].window is missing; give it a value"),
        (
            "window = 4",
            'window = 4\nstrategy = "any"',
            "16: operators[1].strategy: unknown key; there are 'aggregate', 'aligned', ",
        ),
        (
            'windows = "count"',
            'windows = "count"\naligned = false',
            "10: operators[1]: aligned = false is for windows of time; leave it out, or give "
            'windows = "time"',
        ),
        (
            'group = "key"',
            'group = "kee"',
            "13: clicks: group: no event has the attribute 'kee'; did you mean 'key'?",
        ),
        (
            'of = "value"',
            'of = "volume"',
            "21: most: of: no event has the attribute 'volume'; did you mean 'value'?",
        ),
        (
            'of = "value"',
            'of = "type"',
            "21: most: max folds numbers, and 'type' is not a number in every event; give of = "
            "'key' or 'time' or 'value'",
        ),
        (
            'aggregate = "count"',
            'aggregate = "list"',
            "21: most: max folds numbers, and 'value' is not a number in every event; give of = "
            "'key' or 'time'",
        ),
        (
            'of = "value"',
            'of = "value"\ninputs = ["clicks", "source"]',
            "21: most: max folds numbers, and 'value' is not a number in every event; give of = "
            "'key' or 'time'",
        ),
        (
            "window = 4",
            "window = 201",
            "15: clicks: window = 201 is longer than the run, which has 200 events",
        ),
        (
            '"cec"',
            '"upstream-backup"',
            "1: upstream-backup: clicks is of type Aggregate, and savepoints are of windows; "
            "give a CEP operator",
        ),
    ],
)
def test_what_is_wrong_is_reported_with_its_line(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert GOOD.count(old) >= 1
    with pytest.raises(Invalid) as error:
        written(tmp_path, GOOD.replace(old, new, 1))
    found = str(error.value)
    assert found.startswith(f"{tmp_path / 'bad.toml'}:{message}")
    assert "\n" not in found


# --- windows that close by time ----------------------------------------------------------------
IN_TIME = BY_HAND.replace('windows = "count"\n', 'closes = "group"\n')
SIX = """\
[[operators]]
name = "six"
aggregate = "count"
window = 6
slide = 6
closes = "timer"

"""


def results(folder: Path, text: str) -> list[tuple[Any, ...]]:
    """(time, group, start, value) of each result, which all come although the operator crashes."""
    rows = "".join(f"{type_},{time}\n" for time, type_ in enumerate(TEN))
    (folder / "ten.csv").write_text(f"type,time\n{rows}", encoding="utf-8")
    scenario = written(folder, text)
    assert simulate(scenario).same
    (outs,) = oracle(scenario.workload.graph, scenario.workload.events)["sink"]
    return [(out.time, *dict(out.data).values()) for out in outs]


@pytest.mark.parametrize("protocol", ["cec", "crb", "abs", "unaligned-checkpoints"])
def test_what_closes_the_windows_of_three(tmp_path: Path, protocol: str) -> None:
    """Tuples a0 b1 a2, a3 b4 a5, b6 a7 b8, b9.  Of seven windows five close with their group's next
    tuple: no a comes after 7.  Any tuple closes six, the last of them at 9."""
    text = IN_TIME.replace('"cec"', f'"{protocol}"')
    assert results(tmp_path, text) == [
        *((3, "a", 0, 2), (4, "b", 0, 1), (6, "b", 3, 1), (7, "a", 3, 2), (9, "b", 6, 2)),
    ]
    assert results(tmp_path, text.replace('"group"', '"watermark"')) == [
        *((3, "a", 0, 2), (3, "b", 0, 1), (6, "a", 3, 2), (6, "b", 3, 1)),
        *((9, "a", 6, 1), (9, "b", 6, 2)),
    ]
    ticks = text.replace('"group"', '"timer"').replace("[file]", "[file]\ntick_s = 4")
    assert results(tmp_path, ticks) == [  # at 4, 8, and 12, the first one behind the last tuple
        *((4, "a", 0, 2), (4, "b", 0, 1), (8, "a", 3, 2), (8, "b", 3, 1)),
        *((12, "a", 6, 1), (12, "b", 6, 2), (12, "b", 9, 1)),
    ]


def test_ticks_go_on_to_who_waits_for_them(tmp_path: Path) -> None:
    """Windows of six over the seven results above: two at 4 close at 8, two at 8 close at 12, and
    those of 12 stay open.  A share of all lets the ticks pass, and so does one of no tuple."""
    ticks = IN_TIME.replace('"group"', '"timer"').replace("[file]", "[file]\ntick_s = 4")
    text = ticks.replace("[costs]", f"{SIX}[costs]").replace('"cec"', '"crb"')
    assert results(tmp_path, text) == [(8, 0, 2), (12, 6, 2)]
    share = '[[operators]]\nname = "some"\nselectivity = 1e-9\n\n[[operators]]\nname = "threes"'
    none = text.replace('[[operators]]\nname = "threes"', share)
    assert results(tmp_path, none) == []
    assert results(tmp_path, none.replace("1e-9", "1.0")) == [(8, 0, 2), (12, 6, 2)]
    where = none.replace("selectivity = 1e-9", "where = \"type == 'b'\"")
    assert results(tmp_path, where) == [(8, 0, 1), (12, 6, 1)]  # of b alone: one, one and two
    with pytest.raises(Invalid, match="cec: an aggregate hands ticks on, which are results of no"):
        results(tmp_path, text.replace('"crb"', '"cec"'))


def test_windows_of_many_groups_close_without_another_event(tmp_path: Path) -> None:
    """200 keys in tumbling windows of 0.1 s, ten of them: by group, those of which no key comes
    again stay open; by ticks, all that have ended are there."""
    text = GOOD[: GOOD.index('[[operators]]\nname = "most"')]
    text = text.replace("keys = 5\nskew = 1.0", "keys = 200").replace('windows = "count"\n', "")
    text = text.replace("window = 4\nslide = 2", 'window = 100\nslide = 100\ncloses = "group"')
    text = text.replace("events = 200", "seconds = 1").replace("100.0", "1000.0\ntick_s = 0.1")
    workload = written(tmp_path, text.replace('"group"\n\n', '"timer"\n\n')).workload
    now, windows = 0, set()
    for arrival in workload.events["source"]:
        now += arrival.gap
        windows |= {(now // 100, arrival.data)} if arrival.data else set()
    (outs,) = oracle(workload.graph, workload.events)["sink"]
    assert len(outs) == len(windows)
    by_group = written(tmp_path, text.replace("\ntick_s = 0.1", "")).workload
    (fewer,) = oracle(by_group.graph, by_group.events)["sink"]
    assert len(outs) - len(fewer) == len({key for _, key in windows})
