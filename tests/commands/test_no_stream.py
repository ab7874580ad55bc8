"""Protocols without a stream: every command prints something true, or refuses in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from asif.cli import main
from asif.duties.check import check_duties
from model.core import Guarantee, OperatorClass, Scope
from model.errors import Invalid
from model.evidence import Case
from model.family import Family
from model.graph import SINK, SOURCE, Graph
from model.protocol import Behaviour
from tests.commands import lease

LEASE = Path(__file__).parent / "lease.py"
TWO_PHASE = Path("docs/how-to/engines/two_phase.py").resolve()
TAKES_NO_EVENTS = (
    "deploy gives no source and no sink; a protocol without a stream takes no events, and "
    "asif check explores it"
)
SCENARIO = """\
protocol = "{file}"
seed = 7
[stream]
events = 40
rate_per_s = 200.0
types = {{ a = 1.0, b = 1.0 }}
[[operators]]
name = "match"
pattern = "a, b"
window = 20
slide = 10
"""


@pytest.fixture(params=[LEASE, TWO_PHASE], ids=["lease", "two_phase"])
def file(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return str(request.param)


def asked(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr("sys.argv", ["asif", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


Printed = pytest.CaptureFixture[str]


def test_check_gives_no_guarantee(
    file: str, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    quick = ("--walks", "5", "--examples", "2", "--json", "found.json")
    assert asked(monkeypatch, "check", file, *quick) == 0
    printed = capsys.readouterr().out
    assert "no stream, so no guarantee: the properties alone are judged" in printed
    for untrue in ("exactly once", "precise", "repeatable", "not empty: \n", "claimed"):
        assert untrue not in printed
    found = json.loads(Path("found.json").read_text())
    assert found["claims"] == found["found"] == {}
    assert found["expected"]
    for key in ("operators", "derived", "guarantee", "expect_guarantee"):
        assert [row[key] for row in found["scopes"]] == [None]


def test_check_refutes_the_flawed_variant(
    file: str, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    flawed = "impatient" if file == str(LEASE) else "early"
    assert asked(monkeypatch, "check", f"{file}:{flawed}", "--walks", "5", "--examples", "2") == 1
    printed = capsys.readouterr().out
    assert "refuted" in printed
    assert "NOT AS EXPECTED" not in printed
    assert "exactly once" not in printed


def test_check_hunts_the_mutants(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    quick = ("--walks", "5", "--examples", "2", "--json", "found.json")
    assert asked(monkeypatch, "check", str(LEASE), "--mutants", *quick) == 0
    (mutant,) = json.loads(Path("found.json").read_text())["mutants"]
    assert mutant["by"] == "explorer"


def test_pin_writes_worlds_and_steps_and_no_guarantee(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pinned_lease.py").write_text(LEASE.read_text())
    quick = ("--walks", "5", "--examples", "2", "--pin", "--yes")
    assert asked(monkeypatch, "check", "pinned_lease.py", *quick) == 0
    assert "(CASE.holds(91),)" in Path("pinned_lease.py").read_text()


def test_duties_are_kept(file: str) -> None:
    assert not [one for one in check_duties(file) if one.faults]


def test_list_has_no_claims(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(monkeypatch, "list", file, "--json", "found.json") == 0
    rows = json.loads(Path("found.json").read_text())
    assert [row["claims"] for row in rows] == [{}, {}]
    assert [row["expected"] for row in rows] == ["holds", "refuted"]


def test_explain_names_the_timers(
    file: str, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    assert asked(monkeypatch, "simulate", "--explain", file) == 0
    assert "costs.timers." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("witness", "{file}"), "no scope has a stream, so none has a guarantee"),
        (("run", "--limit", "20", "--protocol", "{file}"), TAKES_NO_EVENTS),
        (("run", "--limit", "20", "--compare", "{file}"), TAKES_NO_EVENTS),
        (("simulate", "given.toml"), TAKES_NO_EVENTS),
        (("simulate", "given.toml", "--study"), TAKES_NO_EVENTS),
        (("classify", "{file}"), "has no BOX"),
        (("prove", "{file}"), "no LEMMAS"),
        (("plan", "{file}"), "is a protocol; give a scenario"),
        (("spark", "{file}"), "is a protocol, and no check"),
        (("lineage", "{file}"), "is no log of LOG.io"),
        (("reproduce", "{file}"), "unknown experiment"),
    ],
    ids=lambda given: " ".join(given[:3]) if isinstance(given, tuple) else "",
)
def test_other_commands_refuse_in_one_line(
    words: tuple[str, ...],
    line: str,
    file: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Printed,
) -> None:
    Path("given.toml").write_text(SCENARIO.format(file=file))
    assert asked(monkeypatch, *(word.format(file=file) for word in words)) == 2
    error = capsys.readouterr().err
    assert line in error
    assert error.count("\n") == 1


def test_a_sweep_refuses_before_its_first_run(
    file: str, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    Path("given.toml").write_text(SCENARIO.format(file=file))
    Path("sweep.toml").write_text('scenario = "given.toml"\n[grid]\nseed = [1, 2]\n')
    assert asked(monkeypatch, "sweep", "sweep.toml") == 2
    error = capsys.readouterr().err
    assert TAKES_NO_EVENTS in error
    assert error.count("\n") == 1


# --- the design --------------------------------------------------------------------------------
GRAPH = Graph((("source", SOURCE), ("sink", SINK)), (("source", "sink"),))


def test_operators_come_with_a_stream_and_only_with_one() -> None:
    with pytest.raises(Invalid, match="scope 'a stream': give the class of its operators"):
        Case("a stream", Scope(GRAPH)).holds()
    with pytest.raises(Invalid, match="scope 'none': without a stream it has no class"):
        Case("none", Scope(), OperatorClass.REPEATABLE).holds()
    assert Case("none", Scope()).fails(None, None).guarantee is None


def test_a_claim_that_a_family_lacks_is_named() -> None:
    family = Family("lacking", "", "", Behaviour(lease.deploy, lease.boot, lease.step), claims={})
    assert family.design(scopes=(lease.CASE.holds(),)).promise.claims == {}
    case = Case("a stream", Scope(GRAPH), OperatorClass.REPEATABLE)
    with pytest.raises(Invalid, match="lacking: no claim about REPEATABLE operators"):
        family.design(scopes=(case.holds(guarantee=Guarantee.GAP),))
