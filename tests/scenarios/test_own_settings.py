"""One scenario for several protocols: own settings, failures by job, crashes at any phase."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.errors import Invalid
from sim.scenarios.overrides import overrides
from sim.scenarios.run import simulate
from sim.scenarios.scenario import Scenario, read
from sim.timed.costs import PS
from sim.timed.failures import FailureTable, plan_crashes

MANY = """\
seed = 1

[stream]
events = 400
rate_per_s = 200.0
types = { a = 1.0, b = 1.0 }

[[operators]]
name = "match"
pattern = "a, b"
window = 40
slide = 20

[[operators]]
name = "matches"
aggregate = "count"
window = 100
slide = 100

[protocols.micro-batch.timers]
trigger = { every_s = 0.5 }

[protocols.cec.timers]
check = { after_s = 0.25 }

[protocols.upstream-backup.knobs]
notice_every = 5

[protocols."upstream-backup:no-skips".knobs]
notice_every = 7

[[failures]]
nodes = ["matches"]
at_s = 1.0
"""


def many(tmp_path: Path, *texts: str, content: str = MANY) -> Scenario:
    path = tmp_path / "many.toml"
    path.write_text(content, encoding="utf-8")
    return read(path, overrides(texts))


def test_each_protocol_has_its_own_timers(tmp_path: Path) -> None:
    batches = many(tmp_path, "protocol=micro-batch").costs.timers
    assert {kind: timer.every_s for kind, timer in batches.items()} == {"trigger": 0.5}
    checks = many(tmp_path, "protocol=cec").costs.timers
    assert {kind: timer.after_s for kind, timer in checks.items()} == {"check": 0.25}
    assert many(tmp_path, "protocol=amnesia").costs.timers == {}


def test_a_variant_has_the_settings_of_its_family_and_then_its_own(tmp_path: Path) -> None:
    patterns = MANY[: MANY.index('[[operators]]\nname = "matches"')]
    patterns += MANY[MANY.index("[protocols.upstream") : MANY.index("[[failures]]")]
    asked = ("upstream-backup", "upstream-backup:notices", "upstream-backup:no-skips")
    found = [
        many(tmp_path, f"protocol={name}", content=patterns).protocol.design.notice_every
        for name in asked
    ]
    assert found == [5, 5, 7]


def test_an_override_of_the_common_key_wins(tmp_path: Path) -> None:
    asked = many(tmp_path, "protocol=cec", "costs.timers.check.after_s=2.0")
    assert asked.costs.timers["check"].after_s == 2.0
    own = many(tmp_path, "protocol=cec", "protocols.cec.timers.check.after_s=3.0")
    assert own.costs.timers["check"].after_s == 3.0


def test_work_of_its_own_replaces_the_work_of_operators_in_other_nodes(tmp_path: Path) -> None:
    both = f"{MANY}\n[costs.work]\nmatch = {{ event_s = 1e-3 }}\nmatches = {{ event_s = 2e-3 }}\n"
    with pytest.raises(Invalid, match="runs 'matches' within another node; name 'match'"):
        many(tmp_path, "protocol=micro-batch", content=both)
    own = f"{both}\n[protocols.micro-batch.work]\nmatch = {{ event_s = 3e-3 }}\n"
    found = many(tmp_path, "protocol=micro-batch", content=own).costs.work
    assert {name: work.event_s for name, work in found.items()} == {"match": 3e-3}
    assert len(many(tmp_path, "protocol=cec", content=own).costs.work) == 2


def test_a_failure_of_an_operator_is_one_of_the_node_that_runs_it(tmp_path: Path) -> None:
    """A query of micro-batches runs both operators, and has the name of the first."""
    assert many(tmp_path, "protocol=cec").failures[0].nodes == ("matches",)
    ran = many(tmp_path, "protocol=micro-batch")
    assert ran.failures[0].nodes == ("match",)
    assert [crash.node for crash in simulate(ran).failures] == ["match"]
    both = MANY.replace('["matches"]', '["matches", "match"]\nrestart_s = [2.0, 3.0]')
    failure = many(tmp_path, "protocol=micro-batch", content=both).failures[0]
    assert (failure.nodes, failure.restart_s) == (("match",), (2.0,))


def test_a_scenario_without_a_protocol_has_no_run_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"many\.toml:1: protocol is missing; give it a value, here"):
        many(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("protocols.cec.timers", "protocols.cek.timers", r"toml:23 .*no protocol 'cek'.*cec"),
        ("check = {", "chek = {", r"toml:24 .*timers: cec sets no timer 'chek'.*check"),
        ("notice_every = 5", "notice_evry = 5", r"toml:27 .*.*no knob 'notice_evry'"),
        ("protocols.cec.timers", "protocols.cec.timer", r"toml:23 .*.*unknown key.*timers"),
        ("after_s = 0.25", "after_s = -1", r"toml:24 .*.*greater than 0"),
    ],
)
def test_settings_of_any_protocol_are_checked(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    """Also of those that do not run."""
    assert MANY.count(old) == 1
    with pytest.raises(Invalid, match=message):
        many(tmp_path, "protocol=micro-batch", content=MANY.replace(old, new))


def test_a_crash_within_an_interval_comes_at_any_phase_of_it() -> None:
    failure = FailureTable(nodes=("x",), at_s=10.0, within_s=4.0, times=200, every_s=100.0)
    found = [crash.at_ps / PS for crash in plan_crashes([failure], [0], seed=3)]
    phases = sorted(at % 100.0 - 10.0 for at in found)
    assert len(found) == 200
    assert phases[0] >= 0
    assert phases[-1] < 4.0
    quarters = [sum(n <= phase < n + 1 for phase in phases) for n in range(4)]
    assert min(quarters) > 30, quarters
    assert found == [crash.at_ps / PS for crash in plan_crashes([failure], [0], seed=3)]
    with pytest.raises(ValueError, match="within_s goes with at_s or at_event"):
        FailureTable(nodes=("x",), random=True, within_s=4.0)


def test_quantities_of_one_protocol_have_prices_of_their_own(tmp_path: Path) -> None:
    priced = MANY.replace(
        "[[failures]]", '[protocols.cec.notes]\n"records scanned" = 1e-3\n\n[[failures]]'
    )
    assert many(tmp_path, "protocol=cec", content=priced).costs.notes == {"records scanned": 1e-3}
    assert many(tmp_path, "protocol=micro-batch", content=priced).costs.notes == {}
