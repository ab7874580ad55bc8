"""All results of a report.

Rule of this file: a field for each part of the report.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from model.results.bugs import BugResult
from model.results.classes import OperatorResults
from model.results.engine import EngineCheck
from model.results.experiment import Reproduction
from model.results.plain import key
from model.results.proofs import ProofResult
from model.results.run import RealRun
from model.results.simulation import Simulation
from model.results.verdict import Verdict


class ReportOrigin(NamedTuple):
    """Time, machine, commit and versions of a report.

    moment: as 2026-11-28T12:51:06Z.  commit: of the source, with "-dirty" if files of it
    differ; None: not known.  machine: the system, its processor and its memory,
    in words.  versions: of Python and of the libraries that decide results, by name.
    """

    moment: str
    commit: str | None
    machine: str
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class KeptReport:
    """The outcomes of a report, to compare later ones with.

    outcomes: by the address of each thing in the page, its outcome in a few words, without times.
    """

    version: str
    profile: str
    origin: ReportOrigin | None
    outcomes: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportResults:
    """version: of asif.  bugs: those of real engines.  simulated, reproduced: scenarios and
    experiments.  engine: the checks on Spark and Flink.  runs: those on real input.  lost: a line
    for each simulation, experiment, run or picture whose process died.  skipped: a line for each
    engine that is not installed: its checks, and why.  origin: None of results that no command
    made."""

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
    origin: ReportOrigin | None = key(absent=True, default=None)

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
