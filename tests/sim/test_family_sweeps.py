"""Sweeps over families: each protocol has a grid of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.errors import Invalid
from reports.results.sweeps import name_of, table
from sim.sweeps.grid import Sweep, check, read
from sim.sweeps.results import TABLE, carry_out
from sim.sweeps.summary import summarize
from tests.scenarios.test_own_settings import MANY

FAMILIES = """\
scenario = "many.toml"

[grid]
seed = [1, 2]

[protocols.micro-batch]
costs.timers.trigger.every_s = [0.2, 0.4]

[protocols.cec]
costs.timers.check.after_s = [0.1, 0.2, 0.3]

[protocols.amnesia]
"""


def families(tmp_path: Path, text: str = FAMILIES) -> Sweep:
    (tmp_path / "many.toml").write_text(MANY, encoding="utf-8")
    path = tmp_path / "families.toml"
    path.write_text(text, encoding="utf-8")
    return read(path)


def test_each_protocol_has_the_runs_of_its_own_grid(tmp_path: Path) -> None:
    """2 seeds x (2 + 3 + 1) settings."""
    sweep = families(tmp_path)
    runs = [{one.name: one.value for one in run.overrides} for run in sweep.runs()]
    assert len(runs) == len({run.id for run in sweep.runs()}) == 12
    assert [run["protocol"] for run in runs] == ["micro-batch"] * 4 + ["cec"] * 6 + ["amnesia"] * 2
    assert {run["costs.timers.trigger.every_s"] for run in runs[:4]} == {0.2, 0.4}
    assert all("costs.timers.trigger.every_s" not in run for run in runs[4:])
    assert [axis.name for axis in sweep.axes] == [
        "protocol",
        "seed",
        "costs.timers.trigger.every_s",
        "costs.timers.check.after_s",
    ]
    check(sweep, ())


def test_settings_of_other_protocols_do_not_change_a_run(tmp_path: Path) -> None:
    before = [run.id for run in families(tmp_path).runs()]
    (tmp_path / "many.toml").write_text(MANY.replace("after_s = 0.25", "after_s = 0.5"))
    after = [run.id for run in read(tmp_path / "families.toml").runs()]
    assert after == before  # the sweep sets that timer itself
    (tmp_path / "many.toml").write_text(MANY.replace("notice_every = 5", "notice_every = 6"))
    assert [run.id for run in read(tmp_path / "families.toml").runs()] == before
    (tmp_path / "many.toml").write_text(MANY.replace("window = 100", "window = 200"))
    assert not {*before} & {run.id for run in read(tmp_path / "families.toml").runs()}


def test_the_summary_has_a_group_for_each_setting_of_each_protocol(tmp_path: Path) -> None:
    sweep = families(tmp_path)
    result = carry_out(sweep, tmp_path / "out")
    assert (result.runs, result.failed) == (12, 0)
    found = summarize(sweep, tmp_path / "out" / TABLE)
    assert [name_of(group, found.by, None) for group in found.groups] == [
        "micro-batch, every_s = 0.2",
        "micro-batch, every_s = 0.4",
        "cec, after_s = 0.1",
        "cec, after_s = 0.2",
        "cec, after_s = 0.3",
        "amnesia",
    ]
    assert [group.runs for group in found.groups] == [2] * 6
    assert found.groups[-1].parameters["costs.timers.check.after_s"] is None
    assert table(found).columns[0].header == "setting"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed = [1, 2]", 'protocol = ["cec"]', "4: protocol: .*leave it out"),
        ("[protocols.amnesia]", "[protocols.amnesia]\nseed = [3]", "13: seed is in .grid., too"),
        ("trigger", "triger", "timers: micro-batch sets no timer 'triger'"),
        ("[protocols.amnesia]", "[protocols.amnesi]", "no protocol 'amnesi'"),
    ],
)
def test_a_wrong_grid_of_a_protocol_is_one_line(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(Invalid, match=message):
        check(families(tmp_path, FAMILIES.replace(old, new)), ())
