"""`asif report`: run all checks, and write one page with their findings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from asif.commands.run import run_and_compare
from asif.commands.spark import on_spark
from asif.console import JsonOption, Profile, ProfileOption, console, print_all, save
from asif.side_by_side import side_by_side
from model.progress import Progress, silent

if TYPE_CHECKING:
    from model.results.classes import OperatorResults
    from model.results.engine import EngineCheck
    from model.results.experiment import Reproduction
    from model.results.proofs import ProofResult
    from model.results.run import RealRun
    from model.results.simulation import Simulation
    from model.results.verdict import Verdict

SCENARIOS = sorted((Path(__file__).parents[2] / "docs" / "scenarios").glob("*.toml"))
"""The scenarios that the report simulates."""
EVENTS = 10_000
"""Scenarios of more events are simulated in the full profile alone."""
DEPARTURES = 5_000
"""Real events that each protocol processes in the quick profile."""
WALKS, EXAMPLES = 100, 20
"""Random runs of each protocol in the quick profile: half of those of `asif check`."""

POLITE = 5
"""So much nicer than those of Spark are this thread and the processes that it starts: Spark gives
up on a process that does not start within ten seconds."""


class Job(NamedTuple):
    """What the parts of a report share.  out: the folder of the report.  checked: the results of
    the checks on Spark, which run beside the other parts."""

    quick: bool
    out: Path
    watch: Progress
    checked: Iterable[EngineCheck]


def report(
    profile: ProfileOption = Profile.QUICK,
    out: Annotated[
        Path, typer.Option(help="Write report.html and report.md to this folder.")
    ] = Path("build/report"),
    json_: JsonOption = None,
) -> None:
    """Check every protocol and variant, hunt the mutants, run on real input; write one page."""
    from importlib.metadata import version

    from model.results.report import ReportResults
    from reports import page
    from reports.progress import progress
    from spark_check.known_checks import checks

    started, quick = perf_counter(), profile is Profile.QUICK
    wanted = [*checks("report" if quick else profile.value).values()]
    with progress() as watch, on_spark(wanted, profile, out / "spark", watch) as checked:
        os.nice(POLITE)
        job, found, over = Job(quick, out, watch, checked), [], 0
        for part in PARTS:
            watch("report", over, 100, part.name)
            found.append(part.run(job))
            over += part.share
        watch("report", over, 100, "page")
        verdicts, proofs, operators, (simulated, reproduced, ran), engine = found
        results = ReportResults(
            version=version("asif-testbed"),
            profile=profile.value,
            verdicts=tuple(verdicts),
            proofs=tuple(proofs),
            operators=operators,
            simulated=tuple(simulated),
            reproduced=tuple(reproduced),
            engine=tuple(engine),
            runs=tuple(ran),
            seconds=perf_counter() - started,
        )
        pages = page.write(results, out, partial(_draw, watch))
        watch("report", 100, 100)
    for part, one in zip(PARTS, found, strict=True):
        part.summary(one)
    console.print("\n".join(map(str, pages)), highlight=False)
    save(json_, results)
    if not results.fine:
        raise typer.Exit(1)


# --- worlds, attacks and mutants -------------------------------------------------------------
def _check(job: Job) -> list[Verdict]:
    from model.registry import protocols
    from proofs.explore.verdict import local, verdicts

    return verdicts(
        [*protocols()],
        profile=(Profile.QUICK if job.quick else Profile.FULL).value,
        walks=WALKS if job.quick else None,
        examples=EXAMPLES if job.quick else None,
        mutants=True,
        once=job.quick,
        execute=local(),
        progress=job.watch,
    )


def _print_verdicts(verdicts: Sequence[Verdict]) -> None:
    for one in verdicts:
        good = "as expected" if one.expected else "NOT AS EXPECTED"
        console.print(f"{one.protocol}: {one.outcome.value}, {good}", highlight=False)


# --- lemmas ----------------------------------------------------------------------------------
def _prove(job: Job) -> list[ProofResult]:
    from proofs.prove.lemma_index import choose
    from proofs.prove.prover import WORLDS, prove

    worlds = 0 if job.quick else WORLDS
    return prove(choose(), mutants=not job.quick, worlds=worlds, progress=job.watch)


def _print_proofs(proofs: Sequence[ProofResult]) -> None:
    from proofs.prove.prover import summary

    for one in proofs:
        print(summary(one))


# --- operators -------------------------------------------------------------------------------
def _classify(_: Job) -> OperatorResults:
    from model.results.classes import OperatorResults
    from proofs.classify import figure2
    from proofs.classify.verdict import choose, verdict

    return OperatorResults(figure2.rows(), tuple(map(verdict, choose(None))))


def _print_classes(operators: OperatorResults) -> None:
    from reports import commands

    print_all(commands.classes(operators.figure_3, in_full=False))


# --- simulations, experiments, flights -------------------------------------------------------
def _run(job: Job) -> list[list[Any]]:
    """All in one pool: a process that waits for the last of one kind does nothing."""
    from model.evidence import Outcome
    from model.registry import modules
    from sim.experiments.experiment import experiments

    large, most, limit = (EVENTS, 1, DEPARTURES) if job.quick else (None, None, None)
    # What is expected to lose is not judged by whether it loses.
    names = [one.name for one in modules().values() if one.evidence.expected is Outcome.HOLDS]
    simulations = {f"simulating {at.stem}": partial(_simulate, at, large) for at in SCENARIOS}
    reproductions = {
        f"reproducing {name}": partial(_reproduce, name, job.out, most)
        for name, experiment in experiments().items()
        if not (job.quick and experiment.ours)
    }
    runs = {f"flights: {name}": partial(_run_on_flights, name, limit) for name in names}
    calls: dict[str, Callable[[], Any]] = {**simulations, **reproductions, **runs}
    found = side_by_side("runs", calls, job.watch)
    return [
        [found[name] for name in kind if found[name] is not None]
        for kind in (simulations, reproductions, runs)
    ]


def _print_runs(found: Sequence[Sequence[Any]]) -> None:
    from reports import commands
    from reports.results import experiments as experiment_results
    from reports.results import simulations as simulation_results

    simulated, reproduced, ran = found
    for one in simulated:
        print(f"{one.scenario}: {simulation_results.verdict(one)}")
    print(experiment_results.score(reproduced))
    for one in ran:
        print_all(commands.run(one))


# --- Spark -----------------------------------------------------------------------------------
def _wait_for_spark(job: Job) -> list[EngineCheck]:
    return [*job.checked]


def _print_engine(engine: Sequence[EngineCheck]) -> None:
    from reports.results.spark import summary_line

    for one in engine:
        print(summary_line(one))


# --- the parts -------------------------------------------------------------------------------
class Part(NamedTuple):
    """A part of a report.

    share: of the time of a report, usually, in percent; the page takes the rest.  run: finds the
    results of the part.  summary: prints them.
    """

    name: str
    share: int
    run: Callable[[Job], Any]
    summary: Callable[[Any], None]


PARTS = (
    Part("worlds, attacks and mutants", 67, _check, _print_verdicts),
    Part("lemmas", 13, _prove, _print_proofs),
    Part("operators", 1, _classify, _print_classes),
    Part("simulations, experiments, flights", 14, _run, _print_runs),
    # These checks wait between their steps, so they run beside the others; here is their rest.
    Part("Spark", 1, _wait_for_spark, _print_engine),
)


def _draw(watch: Progress, call: Callable[[Any], Any], many: Sequence[Any]) -> Iterable[Any]:
    calls = {f"picture {n}": partial(call, one) for n, one in enumerate(many, 1)}
    return side_by_side("drawing", calls, watch).values()


# --- in a process of its own -----------------------------------------------------------------
def _simulate(path: Path, most: int | None) -> Simulation | None:
    """None if the scenario has more than so many events."""
    from sim.scenarios.run import simulate
    from sim.scenarios.scenario import read

    scenario = read(path)
    return None if most and scenario.workload.size > most else simulate(scenario)


def _reproduce(name: str, out: Path, most: int | None) -> Reproduction:
    from sim.experiments.campaign import one_by_one, reproduce
    from sim.experiments.experiment import experiments

    one = experiments()[name]
    return reproduce(one, out, seeds=min(one.seeds, most or one.seeds), execute=one_by_one)


def _run_on_flights(name: str, limit: int | None) -> RealRun:
    from model.registry import protocols
    from sim.inputs.flights import flight_crashes, flight_workload

    workload = flight_workload(limit)
    usual = flight_crashes(workload.size)
    return run_and_compare(protocols()[name], None, workload, None, usual, silent)
