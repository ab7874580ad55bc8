"""`asif simulate --explain`: every key has a meaning, and what is printed is what is read."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from asif.cli import application
from model.registry import modules, protocols
from model.results.explanation import ExplainedTable
from sim.scenarios.explain import explain_knobs, explain_tables
from sim.scenarios.tables import KINDS, ScenarioFile

TABLES = explain_tables()
EVERYTHING = Path(__file__).parents[2] / "docs" / "scenarios" / "everything.toml"


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_table_and_key_has_a_meaning(table: ExplainedTable) -> None:
    assert table.meaning.endswith(".")
    for key in table.keys:
        assert key.meaning.endswith("."), key
        assert key.values != "value" or key.key == "knobs"
        if key.key.endswith("_s") or key.key.endswith("_bytes"):
            assert key.unit


def test_a_table_stands_as_users_write_it() -> None:
    names = [table.name for table in TABLES]
    assert names[0] == "top"
    for name in ("[stream]", "[[source]]", "[costs.link]", "[costs.work.NAME]", "[[failures]]"):
        assert name in names
    assert names.count("[[operators]]") == len(KINDS) == 7


def test_all_keys_of_a_whole_file_are_explained() -> None:
    """The file that shows every table has no key that is not explained."""
    known = {(table.name.strip("[]"), key.key) for table in TABLES for key in table.keys}
    by_name = {table.name for table in TABLES}
    content = tomllib.loads(EVERYTHING.read_text(encoding="utf-8"))
    for name, value in content.items():
        for table in value if isinstance(value, list) else [value]:
            for key in table if isinstance(table, dict) else ():
                inner = table[key]
                if isinstance(inner, dict) and f"[{name}.{key}.NAME]" in by_name:
                    each = {(f"{name}.{key}.NAME", one) for own in inner.values() for one in own}
                    assert each <= known
                elif isinstance(inner, dict) and (name, key) not in known:
                    assert {(f"{name}.{key}", one) for one in inner} <= known
                else:
                    assert (name, key) in known
            if not isinstance(table, dict):
                assert ("top", name) in known


def test_defaults_are_those_of_an_empty_table() -> None:
    """Read back from the explanation, as TOML, defaults are those of the models."""
    link = next(table for table in TABLES if table.name == "[costs.link]")
    text = "\n".join(f"{key.key} = {key.default}" for key in link.keys)
    costs = ScenarioFile(protocol="crb").costs
    assert tomllib.loads(text) == costs.link.model_dump()


@pytest.mark.parametrize("name", [protocol.name for protocol in modules().values()])
def test_a_protocol_is_explained_on_the_command_line(name: str, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    ran = CliRunner().invoke(application(), ["simulate", "--explain", name, "--json", str(out)])
    assert ran.exit_code == 0, ran.output
    protocol = next(one for one in modules().values() if one.name == name)
    found = {table["name"]: table for table in json.loads(out.read_text())}
    assert [key["key"] for key in found["[knobs]"]["keys"]] == [
        k.name for k in protocol.behaviour.knobs
    ]
    printed = re.sub(r"\s+", "", ran.output)
    assert all(knob.name in printed for knob in protocol.behaviour.knobs)
    assert explain_knobs(protocol)[1].name == "timers"


def test_every_key_is_printed_whole_and_a_knob_that_is_off_says_so() -> None:
    printed = CliRunner().invoke(application(), ["simulate", "--explain", "micro-batch"]).output
    assert "costs.timers.trigger" in printed
    (knobs, _) = explain_knobs(protocols()["upstream-backup"])
    assert {key.key: key.default for key in knobs.keys}["notice_every"] == '"off"'


def test_a_scenario_is_no_protocol() -> None:
    ran = CliRunner().invoke(application(), ["simulate", "--explain", str(EVERYTHING)])
    assert "give the name of a protocol" in str(ran.exception)


def test_explain_simulates_nothing() -> None:
    ran = CliRunner().invoke(application(), ["simulate", "--explain", "--set", "seed=1"])
    assert ran.exit_code != 0
    assert CliRunner().invoke(application(), ["simulate"]).exit_code != 0
    assert CliRunner().invoke(application(), ["simulate", "--explain"]).exit_code == 0


@pytest.mark.parametrize("option", ["--until-caught-up", "--allow-cut-off"])
@pytest.mark.parametrize("words", [["--explain"], ["--study", str(EVERYTHING)]])
def test_options_of_one_run_are_refused_elsewhere(words: list[str], option: str) -> None:
    ran = CliRunner().invoke(application(), ["simulate", *words, option])
    assert "give it with" in str(ran.exception)
