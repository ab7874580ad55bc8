"""All results of a report.

Rule of this file: a field for each part of the report.
"""

from __future__ import annotations

from dataclasses import dataclass

from model.results.bugs import BugResult
from model.results.classes import OperatorResults
from model.results.engine import EngineCheck
from model.results.experiment import Reproduction
from model.results.plain import key
from model.results.proofs import ProofResult
from model.results.run import RealRun
from model.results.simulation import Simulation
from model.results.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportResults:
    """version: of asif.  bugs: those of real engines.  simulated, reproduced: scenarios and
    experiments.  engine: the checks on Spark and Flink.  runs: those on real input.  lost: a line
    for each simulation, experiment, run or picture whose process died.  skipped: a line for each
    engine that is not installed: its checks, and why."""

    version: str
    profile: str
    verdicts: tuple[Verdict, ...] = ()
    bugs: tuple[BugResult, ...] = ()
    proofs: tuple[ProofResult, ...] = ()
    operators: OperatorResults = OperatorResults()
    simulated: tuple[Simulation, ...] = ()
    reproduced: tuple[Reproduction, ...] = ()
    engine: tuple[EngineCheck, ...] = ()
    runs: tuple[RealRun, ...] = ()
    lost: tuple[str, ...] = key(absent=True, default=())
    skipped: tuple[str, ...] = key(absent=True, default=())
    seconds: float

    @property
    def fine(self) -> bool:
        """Is everything as expected, with every hunted mutant found, and nothing lost?"""
        return (
            not self.lost
            and all(one.expected and one.killed == len(one.mutants or ()) for one in self.verdicts)
            and all(one.expected for one in self.bugs)
            and all(one.fine for one in self.proofs)
            and all(one.found is one.paper for one in self.operators.figure_2)
            and all(one.same for one in self.simulated)
            and all(one.same for one in self.runs)
            and all(one.holds for one in self.engine)
        )
