"""The command line: exit codes, one clear line for bad input, nothing half-written."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from asif.cli import main
from model.registry import modules

MAIN = "from asif.cli import main; main()"


def asif(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", MAIN, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


class Refused(NamedTuple):
    returncode: object
    stdout: str
    stderr: str


@pytest.fixture
def refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Refused]:
    """As `asif`, but here: what is refused does nothing, and starts no process."""

    def call(*arguments: str) -> Refused:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["asif", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return Refused(ended.value.code, *capsys.readouterr())

    return call


EVENTS = "time,type\n1,a\n2,b\n3,a\n5,b\n6,a\n7,b\n9,a\n9,b\n10,a\n11,b\n"

BAD_FILES = {
    "empty.py": ("", "has no PROTOCOL"),
    "raises.py": ("1 / 0", "importing it raises ZeroDivisionError: division by zero"),
    "wrong.py": ("PROTOCOL = 3", "PROTOCOL is a int"),
    "slide.py": ("from model.cep.windows import *\nCountWindows(3, 0)", "window slide 0"),
    "size.py": ("from model.cep.windows import *\nTimeWindows(0, 1)", "window size 0"),
    "pattern.py": ("from model.cep.patterns import *\nsequence()", "pattern: empty"),
    "cycle.py": (
        "from model.graph import *\n"
        "Graph((('s', SOURCE), ('A', 1), ('B', 2), ('t', SINK)),"
        " (('s', 'A'), ('A', 'B'), ('B', 'A'), ('B', 't')))",
        "cycle A -> B -> A",
    ),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_one_line(name: str, refused: Callable[..., Refused], tmp_path: Path) -> None:
    text, expected = BAD_FILES[name]
    (tmp_path / name).write_text(text)
    ran = refused("check", name)
    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1
    assert expected in ran.stderr


BAD_CALLS = {
    "unknown name": (["check", "upstream-bakup"], "did you mean upstream-backup"),
    "no such file": (["check", "nowhere.py"], "asif: nowhere.py: no such file"),
    "nothing to check": (["check"], "check: give either a protocol or --all"),
    "one and all": (["check", "micro-batch", "--all"], "check: give either a protocol or --all"),
    "Spark's settings alone": (["check", "micro-batch", "--conf", "a=b"], "give --master, too"),
    "workers on Spark": (
        ["check", "micro-batch", "--master", "local[2]", "--workers", "2"],
        "leave it out with --master",
    ),
    "unknown scope": (["check", "micro-batch", "--scope", "no crsh"], "did you mean no crash"),
    "a scope of all": (["check", "--all", "--scope", "x"], "--all is not for one scope"),
    "a scope of nothing": (["check", "--scope", "x"], "--scope is for one protocol"),
    "mutants of a scope": (
        ["check", "micro-batch", "--scope", "no crash", "--mutants"],
        "--mutants is not for one scope: leave it out with --scope",
    ),
    "no walks of a scope": (
        ["check", "micro-batch", "--scope", "no crash", "--walks", "0"],
        "--walks is not for one scope",
    ),
    "the profile of a scope": (
        ["check", "micro-batch", "--scope", "no crash", "--profile", "full"],
        "--profile full is not for one scope",
    ),
    "memory of many processes": (
        ["check", "micro-batch", "--scope", "x", "--memory", "1GiB", "--master", "local[2]"],
        "--memory is for one process: leave it out with --master",
    ),
    "Spark's settings for a scope here": (
        ["check", "micro-batch", "--scope", "no crash", "--conf", "a=b"],
        "--conf is for Spark: give --master, too",
    ),
    "missing events": (["run", "--events", "none.csv", "--pattern", "a"], "none.csv"),
    "missing column": (["run", "--events", "e.csv", "--type", "typ", "--pattern", "a, b"], "typ"),
    "a protocol for a scenario": (
        ["simulate", "log-io:smaller-numbers"],
        "log-io:smaller-numbers is a protocol; give a scenario",
    ),
    "a file for a scenario": (["simulate", "bare.py:lazy"], "--set protocol=bare.py:lazy"),
    "a protocol for a check": (
        ["spark", "log-io:smaller-numbers"],
        "log-io:smaller-numbers is a protocol, and no check; give one of abs",
    ),
    "unknown check": (["spark", "trigers"], "did you mean triggers"),
    "unknown lemma": (["prove", "skiping"], "did you mean skipping"),
    "nothing to prove": (["prove", "bare.py"], "bare.py: no LEMMAS"),
    "nowhere to export": (["prove", "skipping", "--smtlib", "e.csv"], "e.csv"),
    "unknown experiment": (["reproduce", "lima-fig8"], "did you mean lima-fig9"),
    "no experiment": (["reproduce"], "give an experiment or --all; there are hwang-fig6"),
    "empty pattern": (["run", "--events", "e.csv"], "pattern: empty"),
    "unknown type": (["run", "--events", "e.csv", "--pattern", "a, z"], "'z'"),
    "slide 0": (
        ["run", "--events", "e.csv", "--pattern", "a, b", "--window-slide", "0"],
        "window slide 0",
    ),
    "backwards": (["run", "--events", "back.csv", "--pattern", "a, b"], "back"),
    "empty file": (["run", "--events", "empty.csv", "--pattern", "a, b"], "empty.csv"),
    "unknown node": (
        ["run", "--events", "e.csv", "--pattern", "a, b", "--crash", "mach@3"],
        "match",
    ),
    "no such event": (
        ["run", "--events", "e.csv", "--pattern", "a, b", "--crash", "match@99"],
        "99",
    ),
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_a_bad_call_is_one_line(
    name: str,
    refused: Callable[..., Refused],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Else Python itself keeps what it compiled beside a file that a call imports.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "e.csv").write_text(EVENTS)
    (tmp_path / "back.csv").write_text("time,type\n2,a\n1,b\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "bare.py").write_text("from docs.examples.mindful import PROTOCOL")
    before = sorted(tmp_path.iterdir())
    arguments, expected = BAD_CALLS[name]
    ran = refused(*arguments, "--json", "out.json")
    assert ran.returncode == 2, ran.stdout
    assert ran.stderr.count("\n") == 1, ran.stderr
    assert expected in ran.stderr
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("arguments", [["frobnicate"], ["check"], ["run", "--limit", "0"]])
def test_bad_usage_exits_with_2(arguments: list[str], refused: Callable[..., Refused]) -> None:
    ran = refused(*arguments)
    assert ran.returncode == 2
    assert "Traceback" not in ran.stderr


@pytest.mark.slow
def test_a_refuted_variant_exits_with_1_and_leaves_diagram_and_replay(tmp_path: Path) -> None:
    ran = asif("check", "micro-batch:commit-first", "--json", "v.json", cwd=tmp_path)
    assert ran.returncode == 1, ran.stderr
    assert "micro-batch:commit-first: refuted" in ran.stdout
    verdict = json.loads((tmp_path / "v.json").read_text())
    assert verdict["outcome"] == "refuted"
    assert verdict["expected"]
    assert (tmp_path / "build/check/micro-batch-commit-first.svg").read_text().startswith("<svg")
    assert (tmp_path / "build/check/test_micro_batch_commit_first.py").exists()


@pytest.mark.slow
def test_a_variant_that_holds_exits_with_0(tmp_path: Path) -> None:
    ran = asif("check", "upstream-backup:no-skips", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "upstream-backup:no-skips: holds" in ran.stdout


def test_any_file_of_events_runs_the_same_way(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text(EVENTS)
    ran = asif(
        *("run", "--events", "e.csv", "--pattern", "a, b", "--window-size", "4"),
        *("--window-slide", "2", "--json", "run.json"),
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    result = json.loads((tmp_path / "run.json").read_text())
    assert result["same"]
    assert result["crashes"]


def test_the_list_names_every_variant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the JSON; the screen has a row a family."""
    monkeypatch.setenv("COLUMNS", "100")
    ran = asif("list", "--json", "list.json", cwd=tmp_path)
    assert ran.returncode == 0
    rows = json.loads((tmp_path / "list.json").read_text())
    assert {"upstream-backup", "upstream-backup:pairs"} <= {row["protocol"] for row in rows}
    families = {row["protocol"].partition(":")[0] for row in rows}
    lines = ran.stdout.splitlines()[2:-1]  # the last one names the file
    assert {line.split()[0] for line in lines if line[0] != " "} == families
    assert len(ran.stdout.splitlines()) < 24
    assert "upstream-backup:" not in ran.stdout


@pytest.mark.parametrize("columns", ["70", "80", "100", "200"])
def test_the_list_wraps_titles_and_cuts_none(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From 80 columns on, every family has one line, with as many numbers as there is room for."""
    monkeypatch.setenv("COLUMNS", columns)
    ran = asif("list", cwd=Path.cwd())
    rows = ran.stdout.splitlines()[2:]
    (at,) = (line.index("Act") for line in rows if "active-standby" in line)
    titles = "".join(line[at:] for line in rows).replace(" ", "")
    assert "…" not in ran.stdout
    for family in modules().values():
        assert family.words.title.replace(" ", "") in titles
    if columns != "70":
        assert len(rows) == len(modules())
    numbers = {"variants", "scopes", "mutants", "lemmas"}
    shown = numbers & {*ran.stdout.splitlines()[0].split()}
    assert len(shown) == {"70": 0, "80": 0, "100": 2, "200": 4}[columns]


def test_the_list_of_a_family_cuts_no_word(tmp_path: Path) -> None:
    """At 80 columns, as where the output is no terminal."""
    ran = asif("list", "upstream-backup-acks", cwd=tmp_path)
    assert ran.returncode == 0
    assert "…" not in ran.stdout


def test_the_list_of_one_protocol_has_its_variants_and_quantities(tmp_path: Path) -> None:
    ran = asif("list", "amnesia", "--json", "list.json", cwd=tmp_path)
    assert ran.returncode == 0
    assert "states reset" in ran.stdout
    rows = json.loads((tmp_path / "list.json").read_text())
    assert [row["protocol"] for row in rows] == ["amnesia"]
    assert rows[0]["quantities"][0]["name"] == "states reset"
    ran = asif("list", "amnesi", cwd=tmp_path)
    assert ran.returncode == 2
    assert "did you mean amnesia" in ran.stderr


@pytest.mark.slow
def test_a_lemma_is_proved_exported_and_written(tmp_path: Path) -> None:
    ran = asif("prove", "skipping-opener", "--smtlib", "smt", "--json", "out.json", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "skipping-opener: refuted" in ran.stdout
    assert "✗ match lost" in ran.stdout  # the stream is drawn, as it runs and in the replay
    assert "(…) does not count" in ran.stdout
    (entry,) = json.loads((tmp_path / "out.json").read_text())
    (lemma,) = entry["lemmas"]
    exported = sorted((tmp_path / "smt").rglob("*.smt2"))
    assert len(exported) == len(lemma["queries"])
    assert "(check-sat)" in exported[0].read_text()


@pytest.mark.slow
def test_an_experiment_is_run_again(tmp_path: Path) -> None:
    command = ["reproduce", "lima-fig9", "--seeds", "1", "--events", "1000", "--json", "out.json"]
    ran = asif(*command, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "84 runs of 1,000 events, 1 seeds" in ran.stdout
    assert (tmp_path / "build" / "reproduce" / "lima-fig9.svg").exists()
    (result,) = json.loads((tmp_path / "out.json").read_text())
    assert result["numbers"]
    assert "1 of them done before" in asif(*command, cwd=tmp_path).stdout


@pytest.mark.slow
def test_a_scenario_is_simulated_drawn_and_traced(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(SCENARIO)
    options = ["--plot", "mine.png", "--trace", "mine.trace", "--json", "out.json"]
    ran = asif("simulate", "mine.toml", *options, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "outputs, as if nothing had failed" in ran.stdout
    assert (tmp_path / "mine.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "mine.trace").read_text())["traceEvents"]
    assert json.loads((tmp_path / "out.json").read_text())["metrics"]["recovery_s"] > 0


@pytest.mark.slow
def test_a_run_whose_output_is_wrong_fails_however_fast(tmp_path: Path) -> None:
    wrong = SCENARIO.replace("upstream-backup", "upstream-backup:counted-windows")
    wrong = wrong.replace("window = 40\nslide = 20", 'windows = "count"\nwindow = 5\nslide = 3')
    (tmp_path / "wrong.toml").write_text(wrong)
    ran = asif("simulate", "wrong.toml", cwd=tmp_path)
    assert ran.returncode == 1, ran.stdout
    assert "NOT as if nothing had failed" in ran.stdout


SCENARIO = """
protocol = "upstream-backup"
unit_s = 0.001
[stream]
events = 900
rate_per_s = 500.0
types = { a = 1.0, b = 1.0, c = 2.0 }
[[operators]]
name = "match"
pattern = "a, b"
window = 40
slide = 20
[[failures]]
nodes = ["match"]
at_event = 300
"""

BAD_SCENARIOS = {
    "unknown key": ("events = 900", "evnts = 900", "mine.toml:5: ", "events"),
    "negative time": ("unit_s = 0.001", "unit_s = -1.0", "mine.toml:3: ", "greater than 0"),
    "no such node": ('nodes = ["match"]', 'nodes = ["mach"]', "mine.toml:14: ", "match"),
    "rate of zero": ("500.0", "0.0", "mine.toml:6: ", "greater than 0"),
    "window longer than the run": ("window = 40", "window = 40000", "mine.toml:11: ", "window"),
}


@pytest.mark.parametrize("name", BAD_SCENARIOS)
def test_a_bad_scenario_is_one_line(
    name: str, refused: Callable[..., Refused], tmp_path: Path
) -> None:
    old, new, where, said = BAD_SCENARIOS[name]
    assert old in SCENARIO
    (tmp_path / "mine.toml").write_text(SCENARIO.replace(old, new))
    ran = refused("simulate", "mine.toml", "--json", "out.json")
    assert ran.returncode == 2, ran.stdout
    assert ran.stderr.count("\n") == 1, ran.stderr
    assert where in ran.stderr
    assert said in ran.stderr
    assert not (tmp_path / "out.json").exists()


PROOFS = {
    "once": ("", 0, "1 of 1 hypotheses needed, no drift"),
    "the wrong protocol": (
        "from docs.examples.forgetful import PROTOCOL",
        1,
        "the invariant does not hold: no event is passed on twice",
    ),
    "a wrong expectation": (
        "from dataclasses import replace\n"
        "from model.evidence import Outcome\n"
        "LEMMAS = (replace(LEMMAS[0], expect=Outcome.REFUTED),)",
        1,
        "once: proved - NOT AS EXPECTED",
    ),
    "no hypothesis": (
        "from dataclasses import replace\n"
        "def build(given):\n"
        "    given('the moon is full', True)\n"
        "    return LEMMAS_[0].build(given)\n"
        "LEMMAS_ = LEMMAS\n"
        "LEMMAS = (replace(LEMMAS[0], build=build),)",
        1,
        "NOT NEEDED: the moon is full",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROOFS)
def test_a_proof_of_ones_own_is_judged(name: str, tmp_path: Path) -> None:
    changed, code, said = PROOFS[name]
    (tmp_path / "mine.py").write_text(
        f"from docs.examples.once import ABSTRACTIONS, LEMMAS, PROTOCOL\n{changed}\n"
    )
    ran = asif("prove", "mine.py", "--mutants", "--drift", cwd=tmp_path)
    assert ran.returncode == code, ran.stderr + ran.stdout
    assert said in " ".join(ran.stdout.split())


def test_a_command_imports_no_library_that_it_may_do_without() -> None:
    """pandas and matplotlib take longer to load than most commands to run."""
    code = "import asif.cli, sys; asif.cli.application(); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"pandas", "matplotlib", "pyspark"}.isdisjoint(ran.stdout.split())


def test_a_command_imports_no_other_command_and_no_other_family(tmp_path: Path) -> None:
    code = "import atexit, sys; atexit.register(lambda: print(*sys.modules)); sys.argv[1:] = %r"
    command = [sys.executable, "-c", f"{code % ['list', 'cec:published']}; {MAIN}"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    *_, loaded = ran.stdout.splitlines()
    names = set(loaded.split())
    assert "model.protocols.cec.protocol" in names
    assert {"asif.commands.check", "model.protocols.crb"}.isdisjoint(names)


@pytest.mark.parametrize(
    ("module", "without"),
    [
        ("asif", {"model", "typer", "rich", "dataclasses"}),
        (
            "asif.protocol",
            {
                "typer",
                "rich",
                "z3",
                "pyspark",
                "proofs",
                "sim",
                "engine_check",
                "flink_check",
                "spark_check",
            },
        ),
        ("asif.log_io", {"typer", "rich", "z3", "pyspark", "model", "proofs", "sim", "reports"}),
    ],
)
def test_the_public_doors_are_light(module: str, without: set[str]) -> None:
    code = f"import {module}, sys; print(*sys.modules)"
    command = [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert without.isdisjoint(ran.stdout.split())
