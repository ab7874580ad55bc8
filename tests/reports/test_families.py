"""What each family took: every measured second is counted once, for its family."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from docs.examples import relay
from model.results.attack import MutantResult
from model.results.engine import EngineCheck, EngineMachine
from model.results.proofs import ProofResult
from model.results.report import ReportResults
from model.results.run import DeployedGraph, OutputDigest, RealRun
from model.results.verdict import Verdict
from proofs.explore.verdict import assemble
from reports.results.families import seconds_by_family

NOTHING = assemble(relay.PROTOCOL, "quick", (), ())
DIGEST = OutputDigest(0, "")
RUN = RealRun(
    *("p", "", 0, DeployedGraph((), ()), "", (), DIGEST, DIGEST, DIGEST, 0, 0, True),
    *((), 0, 0, 0, 1.0, None, ()),
)
MUTANT = MutantResult("m", "model.core", "a", "b", "explorer", None, 1.0, 1, None)


def verdict(protocol: str, seconds: float, hunted: Sequence[float] | None) -> Verdict:
    mutants = None if hunted is None else tuple(replace(MUTANT, seconds=one) for one in hunted)
    return replace(NOTHING, protocol=protocol, seconds=seconds, mutants=mutants)


def proof(protocol: str, seconds: float) -> ProofResult:
    return ProofResult(protocol, (), (), seconds)


MACHINE = EngineMachine("2026-11-27", "Spark", "4.3.0", "25.0.2", "3.11.7", 2, 1.5)


def check(family: str, seconds: float) -> EngineCheck:
    return EngineCheck("c", family, "", "quick", True, (), (), None, seconds, MACHINE)


def run(protocol: str, seconds: float) -> RealRun:
    return replace(RUN, protocol=protocol, seconds=seconds)


def many(values: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(values, max_size=5).map(tuple)


seconds = st.integers(1, 100)
names = st.sampled_from(
    ["upstream-backup", "upstream-backup:pairs", "micro-batch", "micro-batch:x"]
)
families = st.sampled_from(["upstream-backup", "micro-batch", "operator"])
results = st.builds(
    ReportResults,
    version=st.just("1"),
    profile=st.just("quick"),
    seconds=seconds,
    verdicts=many(st.builds(verdict, names, seconds, st.none() | st.lists(seconds, max_size=3))),
    proofs=many(st.builds(proof, names, seconds)),
    engine=many(st.builds(check, families, seconds)),
    runs=many(st.builds(run, names, seconds)),
)


@given(results)
def test_every_second_counts_once(results: ReportResults) -> None:
    found = seconds_by_family(results)
    took = [one.seconds for one in results.verdicts]
    took += [one.seconds for one in results.proofs]
    took += [one.seconds for one in results.engine]
    took += [one.seconds for one in results.runs]
    took += [mutant.seconds for one in results.verdicts for mutant in one.mutants or ()]
    assert sum(one.total for one in found) == sum(took)
    assert [one.family for one in found] == sorted({one.family for one in found})
    assert all(seconds for one in found for _, seconds in one.parts)


def test_a_variant_counts_for_its_family() -> None:
    results = ReportResults(
        version="1",
        profile="quick",
        seconds=9.0,
        verdicts=(verdict("micro-batch:eager", 2.0, [3.0]),),
        engine=(check("micro-batch", 5.0),),
    )
    (one,) = seconds_by_family(results)
    assert one.family == "micro-batch"
    assert one.parts == (("worlds and attack", 2.0), ("mutants", 3.0), ("Spark", 5.0))
