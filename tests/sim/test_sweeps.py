"""Sweeps: the runs and their identities, the journal, and the table."""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import re
import shlex
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asif import cli
from model.calls import Execute, one_by_one
from model.errors import Invalid
from model.machine.journals import Resumption, RunJournal
from model.machine.locks import LOCK, held
from model.registry import protocols
from model.results.interval import Interval
from model.results.plain import plain
from model.results.sweep import SweepGroup, SweepResult, SweepSummary
from model.results.table import Row
from reports.results import sweep_plots
from reports.results import sweeps as sweep_results
from sim.scenarios.overrides import Override, overrides
from sim.scenarios.run import simulate
from sim.scenarios.scenario import check_draft, draft, read
from sim.sweeps import results as swept
from sim.sweeps.grid import Sweep, SweepRun, ValueRange, check
from sim.sweeps.grid import read as read_sweep
from sim.sweeps.results import JOURNAL, METRICS, TABLE, as_claimed, carry_out, simulate_run
from sim.sweeps.summary import T_95, _t_95, interval, summarize
from tests.known import known

SCENARIO = """\
protocol = "upstream-backup"
[stream]
events = 60
rate_per_s = 500.0
types = { a = 1.0, b = 1.0 }
[[operators]]
name = "match"
pattern = "a, b"
window = 20
slide = 10
[[failures]]
nodes = ["match"]
at_event = 30
"""
SWEEP = """\
scenario = "base.toml"
[grid]
protocol = ["upstream-backup", "upstream-backup:no-skips"]
operators.match.window = [20, 40]
seed = { from = 1, to = 3 }
"""


def written(folder: Path, text: str = SWEEP, base: str = SCENARIO) -> Sweep:
    (folder / "base.toml").write_text(base)
    (folder / "grid.toml").write_text(text)
    return read_sweep(folder / "grid.toml")


def grid(folder: Path, lines: str) -> Sweep:
    return written(folder, f'scenario = "base.toml"\n[grid]\n{lines}\n')


Outcomes = Generator[list[tuple[int, Row | None, str]], None, None]


def fake(run: SweepRun) -> Row:
    """An outcome in no time, where what it is does not matter."""
    number = int(run.id, 16)
    return {
        "run": run.id,
        "error": None,
        "same": number % 2 == 0,
        "recovery_s": number / 7,
        "seconds": 1.0,
    }


def faked(_: Any, runs: Sequence[SweepRun]) -> Outcomes:
    yield from one_by_one(fake, runs)


def swept_table(
    sweep: Sweep, folder: Path, execute: Execute[SweepRun, Row] = one_by_one
) -> pd.DataFrame:
    carry_out(sweep, folder, execute)
    return pd.read_parquet(folder).drop(columns="seconds")


# --- values that are set ---------------------------------------------------------------------
SIMPLE = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.sampled_from(["7", "true", "1e3", "nan", "[]", '"a"', " a", "", "a # b", "1\nb = 2"]),
)
VALUES = st.recursive(
    SIMPLE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab. ", min_size=1), inner),
    max_leaves=4,
)
KEYS = st.lists(st.text("abz_-019. é", min_size=1), min_size=1, max_size=3).map(tuple)


@given(KEYS, VALUES)
def test_what_is_set_reads_back_as_it_was(key: tuple[str, ...], value: Any) -> None:
    (found,) = overrides([str(Override(key, value))])
    assert (found.key, found.value) == (key, value)
    assert type(found.value) is type(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("seed=7", 7),
        ("seed=07", "07"),
        ("unit_s=1e-3", 0.001),
        ("protocol=upstream-backup:notices", "upstream-backup:notices"),
        ('protocol="7"', "7"),
        ("failures=[]", []),
        ("stream.types={a = 1.0}", {"a": 1.0}),
        ("seed=1\nother=2", "1\nother=2"),
        ("seed=", ""),
    ],
)
def test_values_are_toml_and_else_text(text: str, value: Any) -> None:
    (found,) = overrides([text])
    assert found.value == value


def test_a_scenario_with_values_set_is_the_scenario_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(SCENARIO)
    texts = ["operators.match.window=40", "costs.link.delay_s=0.25", "failures.1.at_event=9"]
    (tmp_path / "said.toml").write_text(
        SCENARIO.replace("window = 20", "window = 40").replace("at_event = 30", "at_event = 9")
        + "[costs.link]\ndelay_s = 0.25\n"
    )
    one = read(tmp_path / "base.toml", overrides(texts))
    other = read(tmp_path / "said.toml")
    assert simulate(one) == replace(simulate(other), scenario="base")
    by_number = read(tmp_path / "base.toml", overrides(["operators.1.window=40", *texts[1:]]))
    assert by_number == one


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["seed"], "--set seed: write KEY=VALUE, as in seed=7"),
        (["=7"], "--set =7: write KEY=VALUE"),
        (["a..b=7"], "--set a..b=7: write KEY=VALUE"),
        (["a.=7"], "--set a.=7: write KEY=VALUE"),
        (["sed=7"], "--set sed=7: sed: unknown key; did you mean 'seed'?"),
        (["seed=x"], "--set seed=x: seed = 'x': it should be a valid integer"),
        (["protocol=upstream-bakup"], "--set protocol=upstream-bakup: no protocol"),
        (["seed=1", "seed=2"], "--set seed=2: seed is set already; set it once"),
        (["operators.1.slide=5", "operators.match.slide=5"], "operators.1.slide is set already"),
        (["operators.mach.slide=5"], "operators: there is no 'mach'; did you mean 'match'?"),
        (["failures.0.at_event=5"], "failures.0: there is no such one; there are 1 to 1"),
        (["failures.2.at_event=5"], "failures.2: there is no such one; there are 1 to 1"),
        (["failures.x.at_event=5"], "failures.x: there is no such one; there are 1 to 1"),
        (["failures=[]", "failures.1.at_event=5"], "failures.1: there is no such one; there are n"),
        (["seed.x=5"], "--set seed.x=5: seed = 3 has nothing in it; set seed itself"),
        (["operators.match.window=9999"], "--set operators.match.window=9999: match: window"),
        (["stream.events=9"], "base.toml:14 with stream.events=9: at_event = 30: there is no such"),
        (["failures.1.at_s=0.1"], "base.toml:12 with failures.1.at_s=0.1: failures[1]: say when"),
    ],
)
def test_what_cannot_be_set_is_reported(texts: list[str], said: str, tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text("seed = 3\n" + SCENARIO)
    with pytest.raises(Invalid) as error:
        read(tmp_path / "base.toml", overrides(texts))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


# --- which runs ------------------------------------------------------------------------------
GRIDS = st.fixed_dictionaries(
    {},
    optional={
        "seed": st.lists(st.integers(0, 99), min_size=1, max_size=4, unique=True),
        "protocol": st.lists(st.sampled_from(sorted(protocols())), min_size=1, unique=True),
        "operators.match.slide": st.lists(st.integers(1, 9), min_size=1, max_size=3, unique=True),
        "costs.link.delay_s": st.lists(st.floats(0, 1), min_size=1, max_size=3, unique=True),
        "failures.1.at_event": st.lists(st.integers(1, 60), min_size=1, max_size=3, unique=True),
    },
).filter(bool)


@given(GRIDS)
@settings(max_examples=50)
def test_the_runs_are_all_combinations_each_once(
    tmp_path_factory: pytest.TempPathFactory, wanted: Mapping[str, list[Any]]
) -> None:
    lines = "\n".join(f"{key} = {json.dumps(values)}" for key, values in wanted.items())
    sweep = grid(tmp_path_factory.mktemp("grid"), lines)
    runs = sweep.runs()
    assert [tuple(o.value for o in run.overrides) for run in runs] == [*product(*wanted.values())]
    contents = [sweep.base.override(run.overrides).content for run in runs]
    assert len({run.id for run in runs}) == len(runs) == len(list(map(str, contents)))
    assert sweep.runs() == runs
    for run, content in zip(runs, contents, strict=True):
        command, what, path, *options = shlex.split(sweep.replay(run))
        assert (command, what, Path(path)) == ("asif", "simulate", sweep.base.path)
        assert {*options[::2]} == {"--set"}
        assert draft(path).override(overrides(options[1::2])).content == content


def test_a_run_is_known_by_what_it_is_not_by_how_it_was_asked_for(tmp_path: Path) -> None:
    def ids(lines: str) -> set[str]:
        return {run.id for run in grid(tmp_path, lines).runs()}

    asked = ids("seed = [1, 2]\noperators.match.window = [20, 40]")
    assert asked == ids("operators.1.window = [40, 20]\nseed = [2, 1]")
    assert ids("seed = [1]\noperators.match.window = [20]") < asked
    assert asked.isdisjoint(ids("seed = [3, 4]"))


def test_a_run_is_another_one_in_another_scenario_version_or_on_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {run.id for run in written(tmp_path).runs()}
    assert before == {run.id for run in written(tmp_path, base="# new\n" + SCENARIO).runs()}
    changed = SCENARIO.replace("slide = 10", "slide = 5")
    assert before.isdisjoint(run.id for run in written(tmp_path, base=changed).runs())
    on_file = SCENARIO.replace(
        SCENARIO[SCENARIO.index("[stream]") : SCENARIO.index("[[op")],
        '[file]\npath = "e.csv"\nunit_s = 1.0\n',
    )
    (tmp_path / "e.csv").write_text("time,type\n1,a\n2,b\n")
    of_file = {run.id for run in written(tmp_path, base=on_file).runs()}
    assert of_file == {run.id for run in written(tmp_path, base=on_file).runs()}
    (tmp_path / "e.csv").write_text("time,type\n1,a\n3,b\n")
    assert of_file.isdisjoint(run.id for run in written(tmp_path, base=on_file).runs())
    monkeypatch.setattr("sim.sweeps.grid.version", lambda: "0.2.0")
    assert before.isdisjoint(run.id for run in written(tmp_path).runs())


@given(
    st.integers(-20, 20) | st.decimals(-9, 9, places=2).map(float),
    st.integers(0, 50),
    st.integers(1, 9) | st.decimals("0.01", 9, places=2).map(float),
)
def test_a_range_has_each_step_and_its_end(start: float, steps: int, step: float) -> None:
    end = Decimal(str(start)) + steps * Decimal(str(step))
    values = ValueRange.model_validate({"from": start, "to": float(end), "step": step}).values()
    assert len(values) == steps + 1
    assert values[0] == start
    assert values[-1] == float(end)
    assert isinstance(values[0], int) == (isinstance(start, int) and isinstance(step, int))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            SWEEP.replace("protocol", "protocl"),
            "3: protocl: unknown key; did you mean 'protocol' or 'protocols'?",
        ),
        (SWEEP.replace("[20, 40]", "[20, 4000]"), "4: match: window = 4000 is longer than the run"),
        (SWEEP.replace("[20, 40]", "[]"), "4: operators.match.window has no values"),
        (SWEEP.replace("[20, 40]", "20"), "4: operators.match.window has one value; write a list"),
        (SWEEP.replace("[20, 40]", "[20, 20]"), "4: operators.match.window=20 is there twice"),
        (SWEEP.replace("match", "mach"), "4: operators: there is no 'mach'; did you mean 'match'?"),
        (SWEEP.replace("no-skips", "no-skip"), "3: no protocol 'upstream-backup:no-skip'"),
        (SWEEP.replace("from = 1", "from = 9"), "5: seed: to = 3 is below from = 9"),
        (SWEEP.replace("from = 1", "fro = 1"), "5: seed.fro: unknown key; did you mean 'from'?"),
        (SWEEP.replace("from = 1, to = 3", "to = 3"), "5: seed.from is missing; give it a value"),
        (SWEEP.replace("to = 3", "to = 3, step = 0"), "5: seed.step = 0: it should be greater"),
        (SWEEP.replace("[grid]", "[gird]"), "2: gird: unknown key; did you mean 'grid'?"),
        ('scenario = "base.toml"\n[grid]\n', "2: grid: no keys; write at least one"),
        ('scenario = "none.toml"\n[grid]\nseed = [1]', "1: scenario: "),
        ("[grid]\nseed = [1]", "1: scenario is missing; give it a value"),
        ("scenario = ", " not TOML: "),
    ],
)
def test_what_is_wrong_with_a_sweep_is_reported_with_its_line(
    text: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(Invalid) as error:
        check(written(tmp_path, text), ())
    assert str(error.value).startswith(f"{tmp_path / 'grid.toml'}:{said}")
    assert "\n" not in str(error.value)


def test_what_is_known_to_be_right_is_not_tried_again(tmp_path: Path) -> None:
    sweep = grid(tmp_path, "seed = [1, 2]\noperators.match.window = [20, 4000]")
    with pytest.raises(Invalid, match="longer than the run"):
        check(sweep, ())
    check(sweep, [run.id for run in sweep.runs()])


# --- outcomes and the table ------------------------------------------------------------------
def test_columns_are_all_numbers_that_a_simulation_has(tmp_path: Path) -> None:
    sweep = written(tmp_path)
    result = simulate(check_draft(sweep.base))
    flat = {name for name, found in plain(result.metrics).items() if not isinstance(found, dict)}
    assert set(METRICS) == flat
    assert set(swept.OVERHEAD) == {name for name in plain(result.overhead) if "extra" not in name}
    columns = set(swept.schema(sweep).names)
    for run in sweep.runs():
        entry = simulate_run(sweep.base, run)
        assert entry["error"] is None
        assert entry.keys() < columns
        assert json.loads(json.dumps(entry)) == entry


@pytest.mark.slow
def test_a_row_says_what_was_run_and_what_came_out(tmp_path: Path) -> None:
    sweep = written(tmp_path)
    found = swept_table(sweep, tmp_path / "out")
    assert list(found["protocol"]) == ["upstream-backup"] * 6 + ["upstream-backup:no-skips"] * 6
    assert list(found["operators.match.window"]) == [20, 20, 20, 40, 40, 40] * 2
    assert list(found["seed"]) == [1, 2, 3] * 4
    for row in found.to_dict("records"):
        path, *options = shlex.split(row["replay"])[2:]
        replayed = simulate(read(path, overrides(options[1::2])))
        assert row["sha256"] == replayed.sha256
        assert row["recovery_s"] == replayed.metrics.recovery_s
        assert row["same"]
        assert row["recovery_type"] == "precise"


def test_columns_and_their_types_do_not_depend_on_what_came_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: Any) -> Any:
        raise ZeroDivisionError

    sweep = grid(tmp_path, 'failures = [[], [{ nodes = ["match"], at_s = 0.01 }]]\nunit_s = [1, 2]')
    good = swept.table(
        sweep, sweep.runs(), {r.id: simulate_run(sweep.base, r) for r in sweep.runs()}
    )
    monkeypatch.setattr(swept, "simulate", fails)
    bad = swept.table(
        sweep, sweep.runs(), {r.id: simulate_run(sweep.base, r) for r in sweep.runs()}
    )
    assert good.schema == bad.schema == swept.table(sweep, sweep.runs(), {}).schema
    assert [json.loads(v) for v in good["failures"].to_pylist()[::2]] == [
        [],
        [{"nodes": ["match"], "at_s": 0.01}],
    ]
    assert bad["error"].null_count == bad["sha256"].null_count - 4 == 0


def test_a_run_that_fails_is_a_row_with_its_error_and_its_replay(tmp_path: Path) -> None:
    sweep = grid(tmp_path, "operators.match.window = [20, 200]\nstream.events = [200, 40]")
    result = carry_out(sweep, tmp_path / "out")
    found = pd.read_parquet(tmp_path / "out" / TABLE)
    assert result.failed == 1
    assert list(found["error"].notna()) == [False, False, False, True]
    assert "match: window = 200 is longer than the run" in found["error"][3]
    assert pd.isna(found["same"][3])
    _, _, path, *options = shlex.split(found["replay"][3])
    with pytest.raises(Invalid, match="longer than the run"):
        read(path, overrides(options[1::2]))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ZeroDivisionError("division\nby zero"), r"ZeroDivisionError: division by zero \(test_sw"),
        (RecursionError(), r"RecursionError \(test_sweeps\.py:\d+\)"),
        (SystemExit(3), r"SystemExit: 3 \(test_sweeps\.py:\d+\)"),
    ],
)
def test_whatever_a_protocol_raises_is_an_outcome(
    error: BaseException, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: Any) -> Any:
        raise error

    sweep = written(tmp_path)
    monkeypatch.setattr(swept, "simulate", fails)
    found = swept_table(sweep, tmp_path / "out")
    assert len(found) == 12
    assert found["error"].str.match(said).all()


@pytest.mark.slow
def test_a_wrong_output_has_its_recovery_type(tmp_path: Path) -> None:
    base = SCENARIO.replace("window = 20\nslide = 10", 'windows = "count"\nwindow = 5\nslide = 3')
    text = 'scenario = "base.toml"\n[grid]\nprotocol = ["upstream-backup:counted-windows"]\n'
    sweep = written(tmp_path, text + "seed = {from = 0, to = 20}", base)
    found = swept_table(sweep, tmp_path / "out")
    assert set(found["same"] == (found["recovery_type"] == "precise")) == {True}
    wrong = found[~found["same"]]
    assert len(wrong) > 0
    assert set((wrong["recovery_type"] == "gap") == (wrong["missing_outputs"] > 0)) == {True}
    assert found["as_claimed"].all()  # it is known to be wrong


def test_what_is_worse_than_claimed_counts_where_the_claim_is_believed() -> None:
    known = protocols()
    assert as_claimed(known["upstream-backup"], "precise")
    assert not as_claimed(known["upstream-backup"], "repeating")
    assert as_claimed(known["upstream-backup:counted-windows"], "gap")


# --- interrupted and resumed -----------------------------------------------------------------
def stopping(after: int, order: Sequence[int] = ()) -> Execute[SweepRun, Row]:
    """Ctrl-C comes after so many outcomes, which come in this order."""

    def execute(_: Any, runs: Sequence[SweepRun]) -> Outcomes:
        numbers = [n for n in order if n < len(runs)] or range(len(runs))
        for done, number in enumerate(numbers):
            if done == after:
                raise KeyboardInterrupt
            yield [(number, fake(runs[number]), "")]

    return execute


@given(
    st.lists(
        st.integers() | st.floats() | st.booleans() | st.text(max_size=3) | st.just([1]),
        min_size=1,
    )
)
def test_any_values_make_a_column(values: list[Any]) -> None:
    type_ = swept._type(values)
    column = pa.array([swept.cell(value, type_) for value in values], type_)
    assert column.null_count == 0
    if {*map(type, values)} in ({int}, {float}, {str}, {bool}) and type_ != swept.TEXT:
        assert repr(column.to_pylist()) == repr(values)


@pytest.mark.slow
@given(st.lists(st.integers(0, 5), max_size=4), st.permutations(range(12)))
@settings(max_examples=15, deadline=None)
def test_the_table_is_the_same_however_often_a_sweep_is_interrupted(
    tmp_path_factory: pytest.TempPathFactory, stops: list[int], order: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("sweep")
    sweep = written(folder)
    whole = swept_table(sweep, folder / "whole", faked)
    done = 0
    for after in stops:
        left = 12 - done
        try:
            carry_out(sweep, folder / "parts", stopping(after, order))
            done = 12
        except KeyboardInterrupt:
            assert after < left
            done += after
        assert len(pd.read_parquet(folder / "parts")) == done
    pd.testing.assert_frame_equal(swept_table(sweep, folder / "parts", faked), whole)


@pytest.mark.slow
@given(st.data())
@settings(max_examples=15, deadline=None)
def test_a_journal_cut_anywhere_is_resumed(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("sweep")
    sweep = written(folder)
    whole = swept_table(sweep, folder / "out", faked)
    path = folder / "out" / JOURNAL
    content = path.read_bytes()
    cut = int(data.draw(st.floats(0, 1, exclude_max=True)) * len(content))
    path.write_bytes(content[:cut])
    (folder / "out" / TABLE).unlink()
    (folder / "out" / f"_{TABLE}.part").write_bytes(b"PAR1")
    result = carry_out(sweep, folder / "out", faked)
    whole_lines = content[:cut].count(b"\n") - 1  # the first is about the file
    assert result.resumed in (max(0, whole_lines), whole_lines + 1)  # a cut may spare a line's text
    again = pd.read_parquet(folder / "out").drop(columns="seconds")
    pd.testing.assert_frame_equal(again, whole)
    assert carry_out(sweep, folder / "out", faked).resumed == 12


def test_what_is_done_is_not_done_again_unless_asked_for(tmp_path: Path) -> None:
    sweep = written(tmp_path)
    asked: list[int] = []

    def counting(_: Any, runs: Sequence[SweepRun]) -> Outcomes:
        asked.append(len(runs))
        yield from one_by_one(fake, runs)

    for fresh in (False, False, True):
        carry_out(sweep, tmp_path / "out", counting, Resumption(fresh))
    more = written(tmp_path, SWEEP.replace("to = 3", "to = 4"))
    carry_out(more, tmp_path / "out", counting)
    result = carry_out(sweep, tmp_path / "out", counting)
    assert asked == [12, 0, 12, 4, 0]
    assert result.others == 4
    assert len(pd.read_parquet(tmp_path / "out")) == 12


@pytest.mark.slow
def test_rows_of_another_version_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = written(tmp_path)
    before = swept_table(sweep, tmp_path / "out")
    for module in ("sim.sweeps.grid.version", "sim.sweeps.results.version"):
        monkeypatch.setattr(module, lambda: "0.2.0")
    result = carry_out(sweep, tmp_path / "out")
    after = pd.read_parquet(tmp_path / "out")
    assert (result.resumed, result.others) == (0, 12)
    assert set(after["version"]) == {"0.2.0"}
    assert set(after["run"]).isdisjoint(before["run"])


@pytest.mark.slow
def test_a_run_whose_process_died_has_a_row_and_is_tried_again(tmp_path: Path) -> None:
    def dying(call: Callable[[SweepRun], Row], runs: Sequence[SweepRun]) -> Outcomes:
        for number, run in enumerate(runs):
            yield [(number, None, "crashed") if number == 2 else (number, call(run), "")]

    sweep = written(tmp_path)
    found = swept_table(sweep, tmp_path / "out", dying)
    assert found["error"].dropna().to_dict() == {2: "its process died: crashed"}
    whole = swept_table(sweep, tmp_path / "whole")
    pd.testing.assert_frame_equal(swept_table(sweep, tmp_path / "out"), whole)


def test_ctrl_c_leaves_a_table_of_all_that_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it comes as soon as an outcome is on disk."""

    class Interrupted(RunJournal):
        def add(self, entries: Iterable[Row]) -> None:
            super().add(entries)
            raise KeyboardInterrupt

    monkeypatch.setattr("model.machine.journals.RunJournal", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        carry_out(written(tmp_path), tmp_path / "out")
    kept = (tmp_path / "out" / JOURNAL).read_text().splitlines()
    assert len(pd.read_parquet(tmp_path / "out")) == len(kept) - 1 > 0  # without the first line


def test_the_table_can_be_read_while_it_grows(tmp_path: Path) -> None:
    sweep = written(tmp_path)
    seen = []

    def progress(stage: str, done: int, total: int, _: str = "") -> None:
        if stage != "checking" and done > 1:  # before that, there is none
            seen.append((done, len(pd.read_parquet(tmp_path / "out"))))

    carry_out(sweep, tmp_path / "out", faked, progress=progress)
    assert [done for done, _ in seen] == [*range(2, 13)]
    assert all(done <= 1 + swept.REWRITE_FACTOR * rows for done, rows in seen)


def test_two_at_a_time_in_one_folder_are_refused(tmp_path: Path) -> None:
    sweep = written(tmp_path)
    with held(tmp_path / "out" / LOCK, "out"):
        context = multiprocessing.get_context("spawn")
        with context.Pool(1) as pool:
            said = pool.apply(_refused, (sweep, tmp_path / "out"))
    assert f"another process ({os.getpid()}) works there" in said


def _refused(sweep: Sweep, folder: Path) -> str:
    try:
        carry_out(sweep, folder)
    except Invalid as error:
        return str(error)
    return "not refused"


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Invalid, match="cannot be written"):
        carry_out(written(tmp_path), tmp_path / "file" / "out")


# --- the summary -----------------------------------------------------------------------------
def test_a_summary_is_over_the_seeds(tmp_path: Path) -> None:
    sweep = written(tmp_path)
    found = swept_table(sweep, tmp_path / "out")
    result = summarize(sweep, tmp_path / "out" / TABLE)
    assert result.by == ("protocol", "operators.match.window")
    assert [g.parameters["operators.match.window"] for g in result.groups] == [20, 40, 20, 40]
    assert [(g.runs, g.failed, g.same) for g in result.groups] == [(3, 0, 3)] * 4
    first = result.groups[0].metrics["peak_backup_events"]
    assert first.mean == pytest.approx(found["peak_backup_events"][:3].mean())
    assert known(first.low) < known(first.mean) < known(first.high)
    assert json.loads(json.dumps(plain(result))) == plain(result)


def test_a_value_has_its_key_unless_it_is_a_protocol() -> None:
    values = {"protocol": "crb", "knobs.notice_every": "10", "costs.timer_s": 0.5}
    group, by = SweepGroup(values, False, 1, 0, 0, 1, {}), [*values]
    assert sweep_results.name_of(group, by, None) == "crb, notice_every = 10, timer_s = 0.5"
    assert sweep_results.name_of(group, by, "protocol") == "notice_every = 10, timer_s = 0.5"


@pytest.mark.parametrize(("knob", "own"), [("", "off"), ("[knobs]\nnotice_every = 7\n", "7")])
def test_the_setting_of_the_scenario_is_marked(tmp_path: Path, knob: str, own: str) -> None:
    """Also where the scenario's file leaves a key out, and where a key has words and numbers."""
    lines = 'knobs.notice_every = ["off", 7]\ncosts.timer_s = [0.02, 0.01]'
    text = f'scenario = "base.toml"\n[grid]\n{lines}\n'
    sweep = written(tmp_path, text, SCENARIO + knob)
    swept_table(sweep, tmp_path / "out", faked)
    groups = summarize(sweep, tmp_path / "out" / TABLE).groups
    marked = [group.parameters for group in groups if group.chosen]
    assert marked == [{"knobs.notice_every": own, "costs.timer_s": 0.01}]


def test_an_interval_holds_the_mean_as_often_as_it_says() -> None:
    """Of all samples of 4 throws of a die, weighted alike."""
    throws = [interval(values) for values in product(range(1, 7), repeat=4)]
    covered = sum(known(one.low) <= 3.5 <= known(one.high) for one in throws) / len(throws)
    assert 0.90 < covered < 0.98
    assert interval([]) == Interval(0, None, None, None)
    assert interval([7.0]) == Interval(1, 7.0, None, None)


@pytest.mark.parametrize("freedom", [*range(1, 31), 31, 60, 500])
def test_the_quantiles_are_students(freedom: int) -> None:
    """By the area under its density, summed up."""
    t = T_95[freedom - 1] if freedom <= len(T_95) else _t_95(freedom)
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))
    scale /= math.sqrt(freedom * math.pi)
    steps = 4000
    xs = (t * (at + 0.5) / steps for at in range(steps))
    area = 2 * sum((1 + x * x / freedom) ** (-(freedom + 1) / 2) for x in xs) * scale * t / steps
    assert area == pytest.approx(0.95, abs=5e-5)


def _summary(**parameters: list[Any]) -> SweepSummary:
    """The first group has failed; the others take longer and longer, for less and less."""
    metrics = {*sweep_plots.OVER_A_KEY, *(column.metric for column in sweep_results.COLUMNS)}

    def groups() -> Iterator[SweepGroup]:
        for number, values in enumerate(product(*parameters.values())):
            found = interval([number + 1.0, number + 2.0] if number else [])
            less = interval([1 / (number + 1), 1 / (number + 2)] if number else [])
            yield SweepGroup(
                parameters=dict(zip(parameters, values, strict=True)),
                chosen=number == 1,
                runs=2,
                failed=0 if number else 2,
                same=2 if number else 0,
                cut_off=0,
                metrics={**dict.fromkeys(metrics, found), sweep_plots.OVERHEAD: less},
            )

    return SweepSummary("mine", "mine.toml", tuple(parameters), 0.95, tuple(groups()))


@pytest.mark.parametrize(
    ("parameters", "along"),
    [
        ({"protocol": ["a", "b"], "window": [1, 2, 3], "delay_s": [0.5, 1.5]}, "window"),
        ({"protocol": ["a", "b"], "blocking": [True, False]}, None),
        ({"window": [1]}, "window"),
        ({}, None),
    ],
)
def test_a_summary_is_drawn_over_its_numbers(
    parameters: dict[str, list[Any]], along: str | None
) -> None:
    found = _summary(**parameters)
    assert sweep_plots.along_key(found) == along
    assert sweep_plots.picture(found).svg.startswith("<svg")
    assert sweep_results.table(found).row_count == len(found.groups)


def test_panels_are_drawn_as_asked() -> None:
    found = _summary(protocol=["a", "b"], window=[1, 2])
    asked = sweep_plots.charts(
        ["x=window, y=latency_p99_s", "x=recovery_s,y=recovery_s,colour=window"]
    )
    assert asked[0] == ("window", "latency_p99_s", None)
    assert asked[1].colour == "window"
    assert sweep_plots.picture(found, asked).svg.startswith("<svg")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x=window", "write x=KEY or METRIC, y=METRIC"),
        ("x=window,y=recovery_s,size=3", "write x=KEY or METRIC, y=METRIC"),
        ("x=windov,y=recovery_s", "x=windov: there is none; did you mean 'window'"),
        ("x=window,y=recovery", "y=recovery: there is none; did you mean 'recovery_s'"),
        ("x=window,y=recovery_s,colour=protocl", "did you mean 'protocol'"),
    ],
)
def test_a_panel_that_cannot_be_drawn_is_one_line(text: str, said: str) -> None:
    found = _summary(protocol=["a", "b"], window=[1, 2])
    with pytest.raises(Invalid, match=re.escape(said)):
        sweep_plots.picture(found, sweep_plots.charts([text]))


POINTS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12)


@given(POINTS)
def test_the_frontier_is_what_nothing_beats(points: list[tuple[float, float]]) -> None:
    def beaten(one: tuple[float, float]) -> bool:
        return any(x <= one[0] and y <= one[1] and (x, y) != one for x, y in points)

    assert sweep_plots.frontier(points) == sorted({one for one in points if not beaten(one)})


def test_a_table_shows_means_and_what_failed() -> None:
    rows = sweep_results.table(_summary(protocol=["a", "b"]))
    cells = {str(column.header): list(column.cells) for column in rows.columns}
    assert sweep_results.short_names(["a.b", "c.d", "e.d"]) == {
        "a.b": "b",
        "c.d": "c.d",
        "e.d": "e.d",
    }
    assert cells["runs"] == ["2\n2 failed", "2"]
    assert cells["backup,\npeak"] == ["-", "2\n± 6"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "mine: 12 runs in 3 s, 12 as if nothing had failed"),
        ({"resumed": 4}, "4 of them done before"),
        ({"others": 3}, "3 others (another scenario, value or version) left aside"),
        ({"failed": 2}, "2 FAILED, see the columns error and replay"),
        ({"not_as_claimed": 1}, "1 WORSE THAN THE PROTOCOL CLAIMS"),
        ({"cut_off": 2}, "2 CUT OFF by the end of the input, see the column cut_off"),
    ],
)
def test_a_line_says_how_a_sweep_went(changed: dict[str, Any], said: str) -> None:
    result = SweepResult("mine", "v", "runs.parquet", 12, 0, 0, 0, 12, 0, 0, 3.0)
    assert said in sweep_results.summary_line(replace(result, **changed))


# --- the command -----------------------------------------------------------------------------
class Called(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Called]:
    """The command line in this process, which saves its start."""
    monkeypatch.chdir(tmp_path)

    def call(*words: str) -> Called:
        monkeypatch.setattr("sys.argv", ["asif", *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert isinstance(ended.value.code, int)
        return Called(ended.value.code, *capsys.readouterr())

    return call


def test_a_scenario_is_simulated_with_values_set(
    tmp_path: Path, called: Callable[..., Called]
) -> None:
    written(tmp_path)
    options = ["--set", "seed=5", "--set", "failures=[]", "--json", "out.json"]
    assert called("simulate", "base.toml", *options).code == 0
    result = json.loads((tmp_path / "out.json").read_text())
    assert result["seed"] == 5
    assert result["failures"] == []


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["simulate", "base.toml", "--set", "sed=7"], "did you mean 'seed'?"),
        (["sweep", "none.toml"], "none.toml: cannot be read"),
        (["sweep", "base.toml"], "base.toml:1: protocol: unknown key; did you mean 'protocols'"),
        (["sweep", "bad.toml"], "bad.toml:3: match: window = 9999 is longer than the run"),
        (["sweep", "grid.toml", "--conf", "x"], "--conf x: write KEY=VALUE, as in spark.driver"),
    ],
)
def test_a_bad_call_is_one_line_and_leaves_nothing(
    command: list[str], said: str, tmp_path: Path, called: Callable[..., Called]
) -> None:
    written(tmp_path)
    bad = 'scenario = "base.toml"\n[grid]\noperators.match.window = [20, 9999]\n'
    (tmp_path / "bad.toml").write_text(bad)
    before = sorted(tmp_path.iterdir())
    code, _, err = called(*command, "--json", "out.json")
    assert code == 2
    assert err.count("\n") == 1, err
    assert said in err
    assert sorted(tmp_path.iterdir()) == before


def test_an_unreachable_master_is_reported(tmp_path: Path, called: Callable[..., Called]) -> None:
    written(tmp_path)
    code, _, err = called("sweep", "grid.toml", "--master", "spark://127.0.0.1:9")
    assert code == 2
    assert err == "asif: --master spark://127.0.0.1:9: nobody answers there (Connection refused)\n"
