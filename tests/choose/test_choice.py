"""asif choose: verified guarantees, the closed form, the search and its answer, by arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from math import log
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asif import cli
from model.core import Guarantee, OperatorClass
from model.errors import Invalid
from model.protocol import SourceNeed
from model.protocols.abs.design import AbsDesign, Sources, ends
from model.registry import protocols
from model.results.choice import TriedSetting, WorkloadChoice
from model.results.interval import Interval
from reports.results import choose as words
from reports.results import choose_plots
from sim.choose.candidates import candidates
from sim.choose.choose import choose, terms_alone
from sim.choose.trials import Trial, excesses, simulate_trial, trial
from sim.choose.verified import AskedEvidence, counterexamples, knob_variants, verified
from sim.choose.workload import ChoiceWorkload, TargetTable, read
from sim.scenarios.run import simulate
from sim.scenarios.scenario import check_draft

SCENARIO = Path("docs/scenarios/sums.toml").read_text(encoding="utf-8")
WORKLOAD = """\
scenario = "sums.toml"
protocols = ["passive-standby", "crb", "abs", "amnesia"]

[target]
recovery_s = 6.0

[search]
interval_s = { from = 0.5, to = 8.0 }
lengths = 3
refinements = 6
replications = 2
knobs = false
"""
BUSY = 0.5


def written(tmp_path: Path, text: str = WORKLOAD, scenario: str = SCENARIO) -> ChoiceWorkload:
    (tmp_path / "sums.toml").write_text(scenario, encoding="utf-8")
    path = tmp_path / "asked.toml"
    path.write_text(text, encoding="utf-8")
    return read(path)


# --- verified --------------------------------------------------------------------------------
DETERMINISTIC = OperatorClass.DETERMINISTIC


def found(name: str, operators: OperatorClass, together: bool) -> Guarantee | None:
    family = protocols()[name.partition(":")[0]]
    return verified(protocols()[name], family, AskedEvidence(operators, together)).guarantee


@pytest.mark.parametrize(
    ("name", "operators", "together", "guarantee"),
    [
        ("passive-standby", DETERMINISTIC, False, Guarantee.PRECISE),
        ("passive-standby", DETERMINISTIC, True, Guarantee.GAP),
        ("abs", OperatorClass.ARBITRARY, True, Guarantee.PRECISE),
        ("micro-batch", OperatorClass.ARBITRARY, False, None),
        ("amnesia", OperatorClass.REPEATABLE, False, Guarantee.GAP),
        ("upstream-backup-acks", DETERMINISTIC, False, None),
        ("upstream-backup-acks", OperatorClass.REPEATABLE, False, Guarantee.PRECISE),
    ],
)
def test_a_guarantee_is_that_of_the_pins(
    name: str, operators: OperatorClass, together: bool, guarantee: Guarantee | None
) -> None:
    assert found(name, operators, together) is guarantee


def test_a_promise_without_pins_is_not_believed() -> None:
    """The same claims, with pins that leave a gap."""
    honest = protocols()["crb"]
    scopes = tuple(replace(one, guarantee=Guarantee.GAP) for one in honest.evidence.scopes)
    boasts = honest.vary(scopes=scopes)
    assert boasts.promise == honest.promise
    assert verified(boasts, honest, AskedEvidence(DETERMINISTIC, False)).guarantee is Guarantee.GAP


def test_a_counterexample_is_a_pin_of_the_same_design() -> None:
    standby = protocols()["passive-standby"]
    shown = {one.where: one for one in counterexamples(standby, standby)}
    overlap = shown["when a failure comes during a recovery"]
    pins = {one.name: one.steps for one in protocols()[overlap.protocol].evidence.scopes}
    assert overlap.protocol == "passive-standby:any"
    assert overlap.steps == pins[overlap.scope]
    assert overlap.guarantee == "gap"
    amnesia = protocols()["amnesia"]
    assert counterexamples(amnesia, amnesia)[0].steps == 3


def test_knobs_are_tried_where_pins_judge_them() -> None:
    names = {one.name for family in protocols().values() for one in knob_variants(family)}
    assert "abs:idempotent" in names
    assert "crb:synchronous" in names
    assert "abs:at-once" not in names  # no value that users may set
    assert "upstream-backup:predecessors" not in names
    for name in names:
        assert protocols()[name].evidence.expected.value == "holds"


# --- the closed form -------------------------------------------------------------------------
def test_the_fixed_terms_have_names_and_keys(tmp_path: Path) -> None:
    """Detection 5 x 0.2 s; restart 1 s, unless a standby takes over."""
    known = {one.name: one.known for one in candidates(written(tmp_path)).found}
    terms = {name: [(t.name, t.seconds) for t in one.fixed] for name, one in known.items()}
    assert terms["crb"] == terms["abs"] == [("detection", 1.0), ("restart", 1.0)]
    assert terms["passive-standby"] == [("detection", 1.0)]
    assert known["crb"].fixed_s == 2.0


def test_reading_the_state_is_a_fixed_term(tmp_path: Path) -> None:
    """200 MB at 20 MB/s are 10 s, so detection 10 s + restart 4 s + reading 10 s are 24 s."""
    engineer = (
        SCENARIO.replace("keep_alive_s = 0.2", "keep_alive_s = 2.0")
        .replace("restart_s = 1.0", "restart_s = 4.0")
        .replace("keys = 5", "keys = 20_000")
    )
    engineer += (
        "\n[costs.state.sums]\nbytes = 100_000_000\nkey_bytes = 5_000\n"
        "[costs.storage]\nbandwidth_bytes_per_s = 20e6\n"
    )
    text = WORKLOAD.replace("recovery_s = 6.0", "recovery_s = 20.0")
    asked = written(tmp_path, text, engineer)
    known = {one.name: one.known for one in candidates(asked).found}
    assert known["abs"].fixed_s == known["crb"].fixed_s == pytest.approx(24.0)
    assert known["passive-standby"].fixed_s == 10.0
    said = "\n".join(one for one in words.terms(terms_alone(asked)) if isinstance(one, str))
    assert (
        "24 s before any event is processed again (detection 10 s, restart 4 s, reading the state "
        "back 10 s): impossible, whatever the interval\n  crb, abs" in said
    )


def test_a_local_state_is_read_from_the_disk_of_its_node(tmp_path: Path) -> None:
    """200 MB: 10 s from a store of 20 MB/s, 1 s from the node's own disk."""
    store = (
        "\n[costs.state.sums]\nbytes = 200_000_000\n{local}"
        "[protocols.abs.stores.coordinator]\ntransaction_s = 0.001\nbandwidth_bytes_per_s = 20e6\n"
        "[costs.storage]\nbandwidth_bytes_per_s = 200e6\n"
    )
    for local, wanted in (("", 1 + 1 + 10), ("local = true\n", 1 + 1 + 1)):
        asked = written(tmp_path, scenario=SCENARIO + store.format(local=local))
        known = {one.name: one.known for one in candidates(asked).found}
        assert known["abs"].fixed_s == pytest.approx(wanted)


def test_the_closed_form_says_what_is_impossible(tmp_path: Path) -> None:
    text = WORKLOAD.replace("recovery_s = 6.0", "recovery_s = 1.5")
    printed = words.terms(terms_alone(written(tmp_path, text)))
    lines = [one for one in printed if isinstance(one, str)]
    said = [one for one in lines if "impossible" in one]
    assert len(said) == 1
    assert said[0].startswith(
        "2 s before any event is processed again (detection 1 s, restart 1 s)"
    )
    assert "passive-standby" not in lines[lines.index(said[0]) + 1]


# --- the search, with runs that are the formula ----------------------------------------------
def by_formula(
    workload: ChoiceWorkload, seen: list[Trial] | None = None, ends_after: int = 10**9
) -> Any:
    """An Execute whose recoveries are those of the closed form, and whose overhead is 1 / interval.
    It is interrupted after `ends_after` trials."""
    known = {one.name: one for one in candidates(workload).found}
    calls = [] if seen is None else seen

    def execute(_call: Callable[..., Any], trials: Sequence[Trial]) -> Generator[Any, None, None]:
        for number, one in enumerate(trials):
            if len(calls) >= ends_after:
                raise KeyboardInterrupt
            calls.append(one)
            terms = known[one.candidate].terms(one.interval_s, BUSY)
            cost = {
                "recovery_s": terms.recovery_s,
                "overdue_s": terms.recovery_s,
                "surplus_outputs": 1.0,
                "missing_outputs": 0.0,
            }
            row = {
                "error": None,
                "failed": False,
                "busy": BUSY,
                "extra_busy": 0.1 / (one.interval_s or 0.5),
                "extra_bytes": 0.01,
                "latency_p99_s": 0.01,
                "failures": [[cost], [cost]],
            }
            yield [(number, row, "")]

    return execute


def test_the_search_finds_the_interval_of_the_formula(tmp_path: Path) -> None:
    """R = 2 + (2 + age) at half load: 6 s at an age of 2 s.  Passive standby: 1 + (1 + age)."""
    asked = written(tmp_path)
    result = choose(asked, tmp_path / "out", by_formula(asked))
    best = {one.name: one.best for one in result.protocols}
    for name, wanted in (("crb", 2.0), ("abs", 2.0), ("passive-standby", 4.0)):
        setting = best[name]
        assert setting is not None
        assert setting.interval_s is not None
        assert not setting.misses
        assert wanted * 0.94 <= setting.interval_s <= wanted
        assert result.named(name).longest_interval_s == pytest.approx(wanted)
        assert setting.longest_s == pytest.approx(setting.formula_s)
    assert result.best[0] == "passive-standby"  # the longest interval costs least
    assert result.named("amnesia").crossed_out.startswith("verified as gap")
    assert "amnesia" not in result.best


def test_a_lucky_phase_meets_no_target() -> None:
    """A simulated recovery of 5 s meets 6 s, and the one at the worst phase, 9 s, does not."""
    setting = TriedSetting(
        interval_s=5.0,
        recovery=Interval(2, 5.0, None, None),
        longest_s=5.0,
        formula_s=9.0,
        busy=0.5,
        overhead=0.1,
        extra_busy=0.1,
        extra_bytes=0.1,
        latency_p99_s=0.01,
        availability=None,
        duplicates_per_year=None,
        missing_per_year=None,
        misses=(),
    )
    assert excesses(setting, TargetTable(recovery_s=6.0))["recovery_s"] == pytest.approx(log(1.5))
    assert excesses(setting, TargetTable(recovery_s=9.5))["recovery_s"] < 0
    slower = replace(setting, formula_s=4.0)
    assert excesses(slower, TargetTable(recovery_s=4.5))["recovery_s"] == pytest.approx(
        log(5 / 4.5)
    )


def test_costs_a_year_are_rates_by_costs(tmp_path: Path) -> None:
    """A failure each 43,200 s is 730.5 a year, each with one surplus output."""
    asked = written(tmp_path)
    result = choose(asked, tmp_path / "out", by_formula(asked))
    setting = result.named("crb").settings[0]
    assert setting.duplicates_per_year == pytest.approx(730.5)
    assert setting.missing_per_year == 0
    assert setting.longest_s is not None
    assert setting.availability == pytest.approx(1 - setting.longest_s / 43_200)
    strict = WORKLOAD.replace("recovery_s = 6.0", "duplicates_per_year = 730.0")
    none = choose(written(tmp_path, strict), tmp_path / "out", by_formula(asked))
    assert none.best == ()
    assert none.runs == none.resumed  # other targets need no other runs


def test_an_interrupted_search_goes_on_from_there(tmp_path: Path) -> None:
    asked = written(tmp_path)
    whole = choose(asked, tmp_path / "whole", by_formula(asked))
    first: list[Trial] = []
    with pytest.raises(KeyboardInterrupt):
        choose(asked, tmp_path / "out", by_formula(asked, first, 5))
    second: list[Trial] = []
    again = choose(asked, tmp_path / "out", by_formula(asked, second))
    assert len(first) == 5
    assert not {*map(str, first)} & {*map(str, second)}
    assert again == replace(whole, resumed=again.resumed)
    assert again.resumed == 5
    assert len(second) == again.runs - 5


def test_bytes_for_protection_are_those_sent_and_stored_for_each_of_the_stream(
    tmp_path: Path,
) -> None:
    """As `asif simulate` prints them: crb stores its state, and sends next to nothing for it."""
    asked = written(tmp_path, scenario=SCENARIO.replace("seconds = 60", "seconds = 12"))
    crb = next(one for one in candidates(asked).found if one.name == "crb")
    row = simulate_trial(asked.base, trial(crb, 1.0, replications=1))
    free = replace(check_draft(asked.base.override(crb.setting(1.0))), planned=())
    overhead = simulate(free).overhead
    assert row["extra_bytes"] == overhead.protection_stream_bytes
    assert row["extra_bytes"] > (overhead.protection_link_bytes or 0.0)


def test_a_trial_is_another_one_in_another_scenario(tmp_path: Path) -> None:
    asked = written(tmp_path)
    choose(asked, tmp_path / "out", by_formula(asked))
    same = written(tmp_path, scenario=f"# a comment\n{SCENARIO}")
    assert choose(same, tmp_path / "out", by_formula(same)).resumed > 10
    slower = written(tmp_path, scenario=SCENARIO.replace("restart_s = 1.0", "restart_s = 2.0"))
    assert choose(slower, tmp_path / "out", by_formula(slower)).resumed == 0


def test_ends_that_can_do_less_cross_protocols_out(tmp_path: Path) -> None:
    """A source of abs keeps the events of open epochs in its memory; micro-batch reads a log."""
    more = WORKLOAD.replace('"crb", "abs"', '"crb", "abs", "micro-batch"')
    text = f'{more}\n[ends]\nsources = "keeps"\nsinks = ["remembers"]\n'
    known = {one.name: one.known for one in candidates(written(tmp_path, text)).found}
    assert known["micro-batch"].crossed_out == "its sources have to go back to a position in a log"
    assert known["abs"].crossed_out == "its sinks have to take part in transactions"
    assert known["abs"].needs[0] == "its sources have to keep events until they are acknowledged"
    assert known["crb"].crossed_out == known["passive-standby"].crossed_out == ""


def test_a_design_of_abs_needs_the_sources_that_it_names() -> None:
    """SourceNeed: KEEPS sends again from memory, SEEKS goes back to a position in a log."""
    assert ends(AbsDesign(sources=Sources.REPLAYABLE)).source is SourceNeed.KEEPS
    assert ends(AbsDesign(sources=Sources.SEEKING)).source is SourceNeed.SEEKS
    assert ends(AbsDesign(sources=Sources.ONCE)).source is SourceNeed.NOTHING


def test_failures_that_overlap_cross_out_who_is_verified_for_single_ones(tmp_path: Path) -> None:
    twice = f"{SCENARIO}again_after_s = 0.1\n"
    known = {one.name: one.known for one in candidates(written(tmp_path, scenario=twice)).found}
    assert "passive-standby:any" in known["passive-standby"].crossed_out
    assert known["crb"].crossed_out == ""


@given(
    st.floats(0.01, 100),
    st.floats(0.01, 100),
)
def test_a_target_is_missed_if_and_only_if_it_is_passed(longest: float, wanted: float) -> None:
    setting = example_setting(longest)
    over = excesses(setting, TargetTable(recovery_s=wanted))["recovery_s"]
    assert (over > 0) == (longest > wanted)
    unended = replace(setting, longest_s=None)
    assert excesses(unended, TargetTable(recovery_s=wanted))["recovery_s"] > 0


def example_setting(longest: float) -> TriedSetting:
    return TriedSetting(
        interval_s=1.0,
        recovery=Interval(1, longest, None, None),
        longest_s=longest,
        formula_s=longest,
        busy=BUSY,
        overhead=0.1,
        extra_busy=0.1,
        extra_bytes=0.1,
        latency_p99_s=0.1,
        availability=0.9,
        duplicates_per_year=0.0,
        missing_per_year=0.0,
        misses=(),
    )


def test_the_frontier_has_what_nothing_beats(tmp_path: Path) -> None:
    asked = written(tmp_path)
    result = choose(asked, tmp_path / "out", by_formula(asked))
    settings = [
        setting for one in result.protocols if not one.crossed_out for setting in one.settings
    ]
    for one in settings:
        beaten = any(
            (other.overhead, other.longest_s) != (one.overhead, one.longest_s)
            and other.overhead <= one.overhead
            and (other.longest_s or 0) <= (one.longest_s or 0)
            for other in settings
        )
        assert one.on_frontier is not beaten
    assert not any(one.on_frontier for one in result.named("amnesia").settings)


# --- the answer ------------------------------------------------------------------------------
def formula_choice(tmp_path: Path) -> WorkloadChoice:
    asked = written(tmp_path)
    return choose(asked, tmp_path / "out", by_formula(asked))


def test_the_best_have_a_paragraph_with_their_counterexamples(tmp_path: Path) -> None:
    result = formula_choice(tmp_path)
    lines = list(words.best_in_words(result))
    assert len(lines) == len(result.best) == 3
    assert lines[0].startswith("The first: passive-standby with checkpoint every ")
    assert "passive-standby:any, scope 'a relay, two crashes'" in lines[0]
    assert "(asif witness passive-standby:any)" in lines[0]


def test_a_choice_is_drawn(tmp_path: Path) -> None:
    picture = choose_plots.picture(formula_choice(tmp_path))
    assert "longest recovery" in picture.svg


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("recovery_s = 6.0", "recovery_s = -6.0", "asked.toml:5: target.recovery_s = -6.0"),
        ("recovery_s = 6.0", "recover_s = 6.0", "asked.toml:5: target.recover_s: unknown key"),
        ('"crb"', '"crp"', "asked.toml:2: protocols: no protocol 'crp'"),
        ("sums.toml", "sum.toml", "asked.toml:1: scenario: "),
        ("to = 8.0", "to = 0.1", "asked.toml:8: search.interval_s: to = 0.1 is not above"),
    ],
)
def test_a_wrong_workload_is_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert WORKLOAD.count(old) == 1
    with pytest.raises(Invalid) as error:
        written(tmp_path, WORKLOAD.replace(old, new))
    assert str(error.value).startswith(f"{tmp_path}/{message}")
    assert "\n" not in str(error.value)


def test_failures_have_rates(tmp_path: Path) -> None:
    once = SCENARIO.replace("mean_between_s = 43_200", "at_s = 3.0")
    with pytest.raises(Invalid, match=r"failures\[1\] has no mean_between_s"):
        candidates(written(tmp_path, scenario=once))


def test_protocols_that_cannot_run_it_are_named_with_their_reason(tmp_path: Path) -> None:
    text = WORKLOAD.replace('"crb"', '"crb", "upstream-backup"')
    refused = candidates(written(tmp_path, text)).refused
    assert refused["upstream-backup"].startswith("upstream-backup: sums is of type Aggregate")


@pytest.mark.exhaustive  # `.ci/run` has the search find the interval of the formula
def test_simulated_recoveries_are_those_of_the_formula(tmp_path: Path) -> None:
    """The longest of two phases is within the formula's bounds: no age, and the whole interval."""
    few = WORKLOAD.replace('["passive-standby", "crb", "abs", "amnesia"]', '["crb", "abs"]')
    asked = written(tmp_path, few.replace("lengths = 3", "lengths = 2"))
    result = choose(asked, tmp_path / "out")
    assert set(result.best) == {"crb", "abs"}
    for one in result.protocols:
        for setting in one.settings:
            assert setting.busy == pytest.approx(0.5, abs=0.03)
            shortest = candidates(asked).found[0].terms(None, setting.busy).recovery_s
            assert setting.longest_s is not None
            assert shortest - 0.6 < setting.longest_s < setting.formula_s + 0.1


def test_the_command_prints_terms_and_refuses_what_they_do_not_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path)
    monkeypatch.setattr("sys.argv", ["asif", "choose", str(tmp_path / "asked.toml"), "--terms"])
    cli.application(["choose"])(standalone_mode=False)
    said = capsys.readouterr().out
    assert "2 s before any event is processed again (detection 1 s, restart 1 s)" in said
    monkeypatch.setattr("sys.argv", ["asif", "choose", "x.toml", "--terms", "--plot", "x.png"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert "--terms simulates nothing" in capsys.readouterr().err


STATE = """
[costs.state.sums]
bytes = 200_000_000

[costs.storage]
bandwidth_bytes_per_s = 20e6
latency_s = 0
"""


@pytest.mark.parametrize(
    ("changed", "protocol", "wanted"),
    [
        # D = 1, rs = 1, rd = 10; age = 16 and the 10 s of the write: 12 + (26 + 12).
        ("", "crb", 50.0),
        ("", "abs", 50.0),
        # Later checkpoints write no fixed part: 12 + (16 + 12).
        ("incremental = true\n", "crb", 40.0),
        # Shipped by the link of 125 MB/s in 1.6 s: 1 + (17.6 + 1).
        ("", "passive-standby", 19.6),
    ],
)
def test_the_writing_of_a_checkpoint_makes_the_last_one_older(
    tmp_path: Path, changed: str, protocol: str, wanted: float
) -> None:
    text = STATE.replace("200_000_000\n", f"200_000_000\n{changed}")
    asked = written(tmp_path, scenario=SCENARIO + text)
    found = {one.name: one for one in candidates(asked).found}[protocol]
    assert found.terms(16.0, BUSY).recovery_s == pytest.approx(wanted)
    assert found.longest_interval_s(wanted, BUSY) == pytest.approx(16.0)


def test_a_checkpoint_begins_when_the_one_before_is_written(tmp_path: Path) -> None:
    """An interval of 2 s beside a write of 10 s is one of 10 s: 12 + (10 + 10 + 12)."""
    asked = written(tmp_path, scenario=SCENARIO + STATE)
    found = {one.name: one for one in candidates(asked).found}["abs"]
    assert found.terms(2.0, BUSY).recovery_s == pytest.approx(44.0)
    assert found.longest_interval_s(43.9, BUSY) is None
