"""docs/reference/json.md names every command that writes JSON, and every key of its results."""

from __future__ import annotations

import re
import typing
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.core import TyperGroup

from asif import cli
from asif.duties.check import DutyResult
from model.results.calibration import Calibration
from model.results.choice import WorkloadChoice
from model.results.classes import BoxResult
from model.results.engine import EngineCheck
from model.results.experiment import Reproduction
from model.results.explanation import ExplainedTable
from model.results.explored import ReplayedRun
from model.results.lineage import LineageResult, LogVerification, PortsResult
from model.results.listing import ListedProtocol
from model.results.plans import PlanResult
from model.results.proofs import ProofResult
from model.results.report import ReportResults
from model.results.run import RealRun
from model.results.simulation import Simulation, TracedStep
from model.results.study import Study
from model.results.sweep import SweepResult
from model.results.trace import TraceComparison
from model.results.verdict import ScopeVerdict, Verdict, WitnessResult

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "json.md"
WRITTEN: dict[str, tuple[type, ...]] = {
    "calibrate": (Calibration,),
    "check": (Verdict, ScopeVerdict, DutyResult, ReplayedRun),
    "choose": (WorkloadChoice,),
    "classify": (BoxResult,),
    "lineage": (PortsResult, LineageResult, LogVerification),
    "list": (ListedProtocol,),
    "plan": (PlanResult,),
    "prove": (ProofResult,),
    "report": (ReportResults,),
    "reproduce": (Reproduction,),
    "run": (RealRun,),
    "simulate": (Simulation, Study, ExplainedTable),
    "flink": (EngineCheck,),
    "spark": (EngineCheck,),
    "sweep": (SweepResult,),
    "verify-trace": (TraceComparison,),
    "witness": (WitnessResult,),
}
"""The values that each command writes, alone or as a list."""
NEVER = {TracedStep}
"""`asif simulate --trace` writes them in another format."""


def named(text: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", text))


def parts(kind: Any, seen: set[type]) -> Iterator[type]:
    """The type and all types of its fields that have keys in JSON."""
    if isinstance(kind, type) and (is_dataclass(kind) or hasattr(kind, "_fields")):
        if kind in seen or kind in NEVER:
            return
        seen.add(kind)
        yield kind
        for field in typing.get_type_hints(kind).values():
            yield from parts(field, seen)
    for inner in typing.get_args(kind):
        yield from parts(inner, seen)


def keys(kind: Any) -> list[str]:
    """The keys of a value in JSON, as model.results.plain has them."""
    if is_dataclass(kind):
        return [one.metadata.get("key") or one.name for one in fields(kind)]
    return list(kind._fields)


def lacking(kinds: Sequence[type], words: set[str]) -> list[str]:
    return [f"{kind.__name__}.{key}" for kind in kinds for key in keys(kind) if key not in words]


def test_the_page_knows_every_command_that_writes_json() -> None:
    group = typer.main.get_command(cli.application())
    assert isinstance(group, TyperGroup)
    writing = {
        name
        for name, command in group.commands.items()
        if any("--json" in option.opts for option in command.params)
    }
    assert writing == set(WRITTEN)
    text = PAGE.read_text("utf-8")
    assert not [name for name in writing if f"`asif {name}" not in text]


@pytest.mark.parametrize("command", WRITTEN)
def test_the_page_names_every_key(command: str) -> None:
    seen = set[type]()
    kinds = [part for kind in WRITTEN[command] for part in parts(kind, seen)]
    assert lacking(kinds, named(PAGE.read_text("utf-8"))) == []


def test_a_key_that_the_page_lacks_is_noticed() -> None:
    words = named(PAGE.read_text("utf-8")) - {"quiescent"}
    assert lacking([*parts(Verdict, set())], words) == ["ScopeResult.quiescent"]
