"""Scenario files: a right one is read, a mistake is reported in one line that names the line."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.cep.windows import CountWindows, TimeWindows
from model.errors import Invalid
from model.oracle import assign_times
from sim.scenarios.scenario import Scenario, read
from sim.scenarios.toml_lines import line_of, places
from sim.timed.costs import PS, Costs
from sim.timed.failures import FailureTable, TimedCrash, plan_crashes

GOOD = """\
protocol = "upstream-backup"
seed = 3

[stream]
events = 200
rate_per_s = 100.0
types = { a = 1.0, b = 3.0 }

[[operators]]
name = "match"
pattern = "a, b"
window = 100
slide = 50

[[operators]]
name = "pair"
pattern = "match, match"
windows = "count"
window = 2
slide = 1

[costs.service]
event_s = 1e-3

[[failures]]
nodes = ["match"]
at_s = 0.5

[[failures]]
nodes = ["match", "pair"]
at_event = 100
times = 2
every_s = 0.25
again_after_s = 0.125
"""


def written(folder: Path, text: str) -> Scenario:
    path = folder / "bad.toml"
    path.write_text(text, encoding="utf-8")
    return read(path)


def test_a_scenario_is_read(tmp_path: Path) -> None:
    scenario = written(tmp_path, GOOD)
    assert scenario.name == "bad"
    assert scenario.protocol.name == "upstream-backup"
    assert scenario.unit_ps == PS // 1000
    assert [name for name, _ in scenario.workload.graph.nodes] == [
        *("source", "match", "pair", "sink")
    ]
    specs = scenario.workload.graph.specs
    assert specs["match"].splitter == TimeWindows(100, 50)
    assert specs["pair"].splitter == CountWindows(2, 1)
    assert scenario.costs.service.event_s == 1e-3
    assert scenario.costs.link == Costs().link
    moments = list(scenario.feed())
    assert len(moments) == 200
    assert scenario.ends_ps == moments[-1][0]
    hundredth = moments[99][0]
    eighth = PS // 8
    assert scenario.planned == tuple(
        sorted(
            [
                TimedCrash(PS // 2, ("match",)),
                TimedCrash(hundredth, ("match", "pair"), eighth),
                TimedCrash(hundredth + PS // 4, ("match", "pair"), eighth),
            ]
        )
    )


def test_an_event_is_handed_out_at_its_model_time(tmp_path: Path) -> None:
    scenario = written(tmp_path, GOOD)
    bodies = assign_times(scenario.workload.events["source"])
    assert [at for at, _, _ in scenario.feed()] == [b.time * scenario.unit_ps for b in bodies]


def test_a_seed_is_a_stream(tmp_path: Path) -> None:
    first, again = written(tmp_path, GOOD), written(tmp_path, GOOD)
    other = written(tmp_path, GOOD.replace("seed = 3", "seed = 4"))
    assert first.workload.events == again.workload.events
    assert first.planned == again.planned
    assert first.workload.events != other.workload.events


def test_rates_and_weights_are_met(tmp_path: Path) -> None:
    many = GOOD.replace("events = 200", "events = 20000")
    scenario = written(tmp_path, many)
    events = scenario.workload.events["source"]
    assert scenario.ends_ps / PS == pytest.approx(200, rel=0.05)
    assert sum(a.type == "b" for a in events) / len(events) == pytest.approx(0.75, abs=0.02)


def test_constant_arrivals(tmp_path: Path) -> None:
    constant = GOOD.replace("rate_per_s = 100.0", 'rate_per_s = 250.0\narrivals = "constant"')
    moments = [at for at, _, _ in written(tmp_path, constant).feed()]
    assert moments[:4] == [0, 4 * PS // 1000, 8 * PS // 1000, 12 * PS // 1000]


def test_an_events_file(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("kind,at\na,0\nb,3\nb,7\n", encoding="utf-8")
    head, _, tail = GOOD.partition("[stream]")
    operators = tail[tail.index("[[operators]]") : tail.index("[[failures]]")]
    file = '[file]\npath = "log.csv"\ntype = "kind"\ntime = "at"\nunit_s = 0.001\n'
    small = operators.replace("window = 100", "window = 5").replace("slide = 50", "slide = 5")
    scenario = written(tmp_path, head + file + small)
    assert [arrival.gap for arrival in scenario.workload.events["source"]] == [0, 3, 4]


STAMPS = "00:00:00.5", "00:00:02", "00:01:02.25"
TIMES_OF_A_FILE = {
    "timestamps": ("", STAMPS, "0.001", [0, 1.5, 60.25]),
    "numbers in units": ("", ("1", "3", "7"), "0.01", [0, 0.02, 0.04]),
    "numbers in minutes": ("unit_s = 60.0", ("1", "3", "7.5"), "0.5", [0, 120, 270]),
}


@pytest.mark.parametrize("case", TIMES_OF_A_FILE)
def test_a_file_is_played_as_fast_as_it_was(case: str, tmp_path: Path) -> None:
    """Each event comes so many seconds after the one before as its time says."""
    table, times, unit_s, gaps = TIMES_OF_A_FILE[case]
    stamped = [f"2024-01-01T{time}" if ":" in time else time for time in times]
    rows = "".join(f"a,{time}\n" for time in stamped)
    (tmp_path / "log.csv").write_text(f"type,time\n{rows}", encoding="utf-8")
    scenario = written(
        tmp_path,
        f'protocol = "upstream-backup"\nunit_s = {unit_s}\n[file]\npath = "log.csv"\n{table}\n'
        '[[operators]]\nname = "m"\npattern = "a"\nwindow = 1\nslide = 1\n',
    )
    moments = [at / PS for at, _, _ in scenario.feed()]
    assert [b - a for a, b in pairwise([0.0, *moments])] == pytest.approx(gaps)


@pytest.mark.parametrize(
    ("head", "table", "time", "message"),
    [
        ("", "", "1", "2: file: 'time' has numbers; give unit_s, the seconds that 1 lasts"),
        ("unit_s = 1.0\n", "", "0.5", "3: unit_s = 1: times of log.csv are multiples of 0.1 of"),
        (
            "unit_s = 1.0\n",
            "",
            "2024-01-01T00:00:00.5",
            "3: unit_s = 1: times of log.csv are multiples of 1 ms; give the scenario a unit_s of",
        ),
        (
            "",
            "unit_s = 1.0",
            "2024-01-01",
            "2: unit_s: 'time' has timestamps; leave unit_s out",
        ),
    ],
)
def test_times_that_do_not_fit_are_refused(
    head: str, table: str, time: str, message: str, tmp_path: Path
) -> None:
    zero = "2024-01-01" if "-" in time else "0"
    (tmp_path / "log.csv").write_text(f"type,time\na,{zero}\na,{time}\n", encoding="utf-8")
    with pytest.raises(Invalid) as error:
        written(
            tmp_path,
            f'protocol = "upstream-backup"\n{head}[file]\npath = "log.csv"\n{table}\n'
            '[[operators]]\nname = "m"\npattern = "a"\nwindow = 1\nslide = 1\n',
        )
    assert str(error.value).startswith(f"{tmp_path / 'bad.toml'}:{message}")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed = 3", "sed = 3", "2: sed: unknown key; did you mean 'seed'?"),
        (
            "rate_per_s = 100.0",
            "rate = 100.0",
            "6: stream.rate: unknown key; did you mean 'rates'?",
        ),
        (
            "rate_per_s = 100.0",
            "rate_per_s = 0",
            "6: stream.rate_per_s = 0: it should be greater than 0",
        ),
        (
            "rate_per_s = 100.0",
            'rate_per_s = "fast"',
            "6: stream.rate_per_s = 'fast': it should be a valid number",
        ),
        (
            "rate_per_s = 100.0",
            "rate_per_s = inf",
            "6: stream.rate_per_s = inf: it should be a finite number",
        ),
        ("rate_per_s = 100.0\n", "", "4: stream: say how often: give one of rate_per_s and rates"),
        (
            "rate_per_s = 100.0",
            'rate_per_s = 5000.0\narrivals = "constant"',
            "6: rate_per_s = 5000: constant arrivals need a time unit each, and unit_s is 0.001; "
            "give a unit_s of at most 0.0002",
        ),
        ("b = 3.0", "b = 0", "7: stream.types.b = 0: it should be greater than 0"),
        (
            'protocol = "upstream-backup"',
            'protocol = "upstream-bakcup"',
            "1: no protocol 'upstream-bakcup'; did you mean 'upstream-backup', ",
        ),
        ("seed = 3", "unit_s = 1e-15", "2: unit_s = 1e-15: give at least 1e-12"),
        (
            'pattern = "a, b"',
            'pattern = "a, d"',
            "11: match: pattern: no event has the type 'd'; there are 'a', 'b'",
        ),
        (
            "window = 100",
            "window = 1_000_000",
            "12: match: window = 1000000 is longer than the run, which has ",
        ),
        (
            "window = 2\n",
            "window = 201\n",
            "19: pair: window = 201 is longer than the run, which has 200 events",
        ),
        ("slide = 50", "slide = 0", "13: operators[1].slide = 0: it should be greater than"),
        (
            'windows = "count"',
            'windows = "session"',
            "18: operators[2].windows = 'session': it should be 'time' or 'count'",
        ),
        ('name = "pair"', 'name = "match"', "16: name 'match' is taken; choose another"),
        (
            'name = "pair"',
            'name = "pair"\ninputs = ["mtch"]',
            "17: pair: no input 'mtch'; did you mean 'match'?",
        ),
        (
            'name = "pair"',
            'name = "pair"\ninputs = ["match", "match"]',
            "17: pair: an input is named twice",
        ),
        ("event_s = 1e-3", "event_s = -1.0", "23: costs.service.event_s = -1.0: it should be gr"),
        (
            "[costs.service]",
            "[costs]\nslow = { mach = 2.0 }\n[costs.service]",
            "23: slow: no operator 'mach'; did you mean 'match'?",
        ),
        ("at_s = 0.5", "at_s = -0.5", "27: failures[1].at_s = -0.5: it should be greater than"),
        ("at_s = 0.5", "at_s = 99.0", "27: at_s = 99: the last input event comes at "),
        ("at_s = 0.5", "", "25: failures[1]: say when: give one of at_s, at_event, random"),
        (
            "at_event = 100",
            "at_event = 201",
            "31: at_event = 201: there is no such event; there are 1 to 200",
        ),
        (
            "at_s = 0.5",
            "at_s = 0.5\nrestart_s = [1.0, 2.0]",
            "25: failures[1]: restart_s: give one time for each of the nodes",
        ),
        ("times = 2", "times = 1", "29: failures[2]: times above 1 and every_s go together"),
        (
            'nodes = ["match"]',
            'nodes = ["macth"]',
            "26: nodes: no operator 'macth'; did you mean 'match'?",
        ),
        (
            'nodes = ["match"]',
            'nodes = ["sink"]',
            "26: nodes: sources and sinks do not fail; there are 'match', 'pair'",
        ),
        ('nodes = ["match"]', "nodes = []", "26: failures[1].nodes = []: it "),
        (
            "[stream]",
            "[flights]\n[stream]",
            "4: input: give one of [stream], [[source]], [flights], [file]; here is [stream] and "
            "[flights]",
        ),
        ("seed = 3", "seed = ", " not TOML: "),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert GOOD.count(old) >= 1
    with pytest.raises(Invalid) as error:
        written(tmp_path, GOOD.replace(old, new, 1))
    told = str(error.value)
    assert told.startswith(f"{tmp_path / 'bad.toml'}:{message}")
    assert "\n" not in told


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: protocol is missing; give it a value"),
        (
            'protocol = "upstream-backup"\n',
            "1: input: give one of [stream], [[source]], [flights], [file]; here is none",
        ),
        (
            'protocol = "upstream-backup"\n[flights]\ndepartures = 5\n[[operators]]\nname = "x"\n'
            'pattern = "a"\nwindow = 1\nslide = 1\n',
            "4: [flights] has its own operators; leave out [[operators]]",
        ),
        (
            'protocol = "upstream-backup"\n[file]\npath = "none.csv"\n',
            "2: ",
        ),
        (
            'protocol = "upstream-backup"\n[stream]\nevents = 1\nrate_per_s = 1\n'
            "types = { a = 1 }\n",
            "1: no [[operators]]; give at least one",
        ),
    ],
)
def test_what_is_missing(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(Invalid) as error:
        written(tmp_path, text)
    assert str(error.value).startswith(f"{tmp_path / 'bad.toml'}:{message}")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="cannot be read: No such file"):
        read(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b"\xe9")
    with pytest.raises(Invalid, match="not UTF-8"):
        read(tmp_path / "latin.toml")


def test_places_in_a_file() -> None:
    found = places(
        'a = 1\n[b]\n"c d".e = 2\n[[f]]\ng = 1\n[f.h]\ni = 1\n[[f]]\n# g = 0\ng = { j = 2 }\n'
    )
    assert found[("a",)] == 1
    assert found[("b",)] == 2
    assert found[("b", "c d", "e")] == 3
    assert (found[("f", 0)], found[("f", 0, "g")], found[("f", 0, "h", "i")]) == (4, 5, 7)
    assert found[("f", 1, "g")] == 10
    assert line_of(found, ("f", 1, "g", "j")) == 10
    assert line_of(found, ("f", 1, "k")) == 8
    assert line_of(found, ("z",)) == 1


# --- failures --------------------------------------------------------------------------------
@given(st.integers(0, 99), st.lists(st.integers(0, 10**15), min_size=1, max_size=20))
def test_random_points_are_of_the_seed_and_in_the_run(seed: int, times: list[int]) -> None:
    times.sort()
    failures = [FailureTable(nodes=("A",), random=True), FailureTable(nodes=("B",), random=True)]
    plan = plan_crashes(failures, times, seed)
    assert plan == plan_crashes(failures, times, seed)
    assert all(times[0] <= entry.at_ps <= times[-1] for entry in plan)
    assert len({entry.nodes for entry in plan}) == 2
