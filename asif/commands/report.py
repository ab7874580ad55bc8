"""`asif report`: run all checks, and write one page with their findings."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from asif.commands.check import in_processes
from asif.commands.flink import on_flink
from asif.commands.run import run_and_compare
from asif.commands.spark import on_spark
from asif.console import FreshOption, JsonOption, Profile, ProfileOption, publish
from asif.early import result_folder
from asif.force import forced, resumption
from asif.kept_reports import FOLDER, earlier, keep
from asif.processes import call_all
from model.calls import GatheredCalls, gather
from model.errors import Invalid
from model.progress import Progress, silent

if TYPE_CHECKING:
    from engine_check.check import Check
    from model.machine.journals import Resumption
    from model.results.bugs import BugResult
    from model.results.classes import OperatorResults
    from model.results.engine import EngineCheck
    from model.results.experiment import Reproduction
    from model.results.proofs import ProofResult
    from model.results.report import ReportResults
    from model.results.run import RealRun
    from model.results.simulation import Simulation
    from model.results.verdict import Verdict
    from reports.commands import Output

SCENARIOS = sorted((Path(__file__).parents[2] / "docs" / "scenarios").glob("*.toml"))
"""The scenarios; the report simulates those that name a protocol."""
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
    the checks on Spark, which run beside the other parts.  fresh: forget finished work."""

    quick: bool
    out: Path
    progress: Progress
    checked: Iterable[EngineCheck]
    fresh: bool = False


def report(
    profile: ProfileOption = Profile.QUICK,
    out: Annotated[
        Path,
        typer.Option(
            help="Write report.html, its data and report.md to this folder.", callback=result_folder
        ),
    ] = Path("build/report"),
    since: Annotated[
        str | None,
        typer.Option(
            metavar="DATE|COMMIT",
            help="Compare with the kept report that begins so; without it, with the last one.",
        ),
    ] = None,
    fresh: FreshOption = False,
    json_: JsonOption = None,
) -> None:
    """Check every protocol and variant, hunt the mutants, run on real input; write one page."""
    from asif.progress import show_progress
    from model.machine.locks import LOCK, held
    from reports import page
    from reports.page.changes import kept

    started, quick = perf_counter(), profile is Profile.QUICK
    wanted = _wanted(quick, profile, out)
    before = earlier(out, profile.value, since)
    with (
        held(out / LOCK, str(out)),
        show_progress() as progress,
        on_spark(wanted, profile, out / "spark", progress, fresh=fresh) as checked,
    ):
        os.nice(POLITE)
        job, found, over = Job(quick, out, progress, checked, fresh), [], 0
        for part in PARTS:
            progress("report", over, 100, part.name)
            found.append(part.run(job))
            over += part.share
        progress("report", over, 100, "page")
        results = _results(profile, found, perf_counter() - started)
        pictures = page.pictures(results)
        drawn: GatheredCalls[str, str] = gather(call_all, pictures, "drawing", progress)
        results = replace(results, lost=(*results.lost, *_lines(drawn.lost)))
        pages = page.write(results, out, drawn.found, before=before, force=forced())
        keep(out, kept(results))
        progress("report", 100, 100)
    words = (line for part, one in zip(PARTS, found, strict=True) for line in part.summary(one))
    publish(chain(words, _lost(results.lost), map(str, pages)), results, json_)
    if not results.fine:
        raise typer.Exit(1)


def _wanted(quick: bool, profile: Profile, out: Path) -> list[Check]:
    """The checks on Spark.  Raises Invalid if a folder of theirs, or of Flink's, is a user's."""
    from engine_check.campaign import folders_of
    from engine_check.known_checks import checks
    from flink_check.engine import ENGINE as FLINK
    from model.machine.files import refuse_unwritable
    from model.machine.folders import refuse_foreign
    from reports.page.writing import DATA
    from spark_check.engine import ENGINE as SPARK

    chosen = "report" if quick else profile.value
    refuse_unwritable([out / "report.html", out / "report.md"], force=forced())
    refuse_foreign([out / DATA, out / FOLDER])
    refuse_foreign(folders_of([*checks(FLINK, chosen).values()], out / "flink", 1))
    return [*checks(SPARK, chosen).values()]


def _results(profile: Profile, found: Sequence[Any], seconds: float) -> ReportResults:
    """The results of all parts, in their order."""
    from importlib.metadata import version

    from asif.origin import origin
    from model.results.report import ReportResults

    verdicts, bugs, proofs, operators, ran, spark, flink = found
    return ReportResults(
        version=version("asif-testbed"),
        profile=profile.value,
        verdicts=tuple(verdicts),
        bugs=tuple(bugs),
        proofs=tuple(proofs),
        operators=operators,
        simulated=ran.simulated,
        reproduced=ran.reproduced,
        engine=(*spark.checks, *flink.checks),
        skipped=(*spark.skipped, *flink.skipped),
        runs=ran.runs,
        lost=ran.lost,
        seconds=seconds,
        origin=origin(),
    )


# --- worlds, attacks and mutants -------------------------------------------------------------
def _check(job: Job) -> list[Verdict]:
    from model.registry import protocols
    from proofs.explore.verdict import verdicts

    return verdicts(
        [*protocols()],
        profile=(Profile.QUICK if job.quick else Profile.FULL).value,
        walks=WALKS if job.quick else None,
        examples=EXAMPLES if job.quick else None,
        mutants=True,
        once=job.quick,
        steps=True,
        execute=in_processes(),
        progress=job.progress,
    )


def _verdict_lines(verdicts: Sequence[Verdict]) -> Output:
    for one in verdicts:
        good = "as expected" if one.expected else "NOT AS EXPECTED"
        yield f"{one.protocol}: {one.outcome.value}, {good}"


# --- bugs of real engines --------------------------------------------------------------------
def _check_bugs(_: Job) -> list[BugResult]:
    from asif.engine_bugs import check_all

    return [*check_all()]


def _bug_lines(found: Sequence[BugResult]) -> Output:
    from reports.results.bugs import summary

    yield summary(found)


# --- lemmas ----------------------------------------------------------------------------------
def _prove(job: Job) -> list[ProofResult]:
    from proofs.prove.lemma_index import choose
    from proofs.prove.prover import WORLDS, prove

    worlds = 0 if job.quick else WORLDS
    return prove(
        choose(), mutants=not job.quick, worlds=worlds, execute=call_all, progress=job.progress
    )


def _proof_lines(proofs: Sequence[ProofResult]) -> Output:
    from proofs.prove.prover import summary

    for one in proofs:
        yield summary(one)
        yield from _lost(one.lost)


# --- operators -------------------------------------------------------------------------------
def _classify(_: Job) -> OperatorResults:
    from model.results.classes import OperatorResults
    from proofs.classify import figure2
    from proofs.classify.verdict import choose, verdict

    return OperatorResults(figure2.rows(), tuple(map(verdict, choose(None))))


def _class_lines(operators: OperatorResults) -> Output:
    from reports import commands

    yield from commands.classes(operators.figure_3, in_full=False)


# --- simulations, experiments, flights -------------------------------------------------------
class Ran(NamedTuple):
    """The simulations, experiments and flights of a report, and a line for each that was lost."""

    simulated: tuple[Simulation, ...]
    reproduced: tuple[Reproduction, ...]
    runs: tuple[RealRun, ...]
    lost: tuple[str, ...]


def _run(job: Job) -> Ran:
    """All in one pool: a process that waits for the last of one kind does nothing."""
    from model.evidence import Outcome
    from model.registry import modules
    from sim.experiments.experiment import experiments

    large, most, limit = (EVENTS, 1, DEPARTURES) if job.quick else (None, None, None)
    # What is expected to lose is not judged by whether it loses.
    names = [one.name for one in modules().values() if one.evidence.expected is Outcome.HOLDS]
    simulations = {
        f"simulating {at.stem}": partial(_simulate, at, large)
        for at in SCENARIOS
        if "protocol" in tomllib.loads(at.read_text(encoding="utf-8"))
    }
    reproductions = {
        f"reproducing {name}": partial(_reproduce, name, job.out, most, resumption(job.fresh))
        for name, experiment in experiments().items()
        if not (job.quick and experiment.ours)
    }
    runs = {f"flights: {name}": partial(_run_on_flights, name, limit) for name in names}
    calls: dict[str, Callable[[], Any]] = {**simulations, **reproductions, **runs}
    found, lost = gather(call_all, calls, "runs", job.progress)
    simulated, reproduced, ran = (
        tuple(found[name] for name in kind if found.get(name) is not None)
        for kind in (simulations, reproductions, runs)
    )
    return Ran(simulated, reproduced, ran, tuple(_lines(lost)))


def _run_lines(found: Ran) -> Output:
    from reports import commands
    from reports.results import experiments as experiment_results
    from reports.results import simulations as simulation_results

    for one in found.simulated:
        yield f"{one.scenario}: {simulation_results.verdict(one)}"
    yield experiment_results.score(found.reproduced)
    for run in found.runs:
        yield from commands.run(run)


# --- real engines ----------------------------------------------------------------------------
class CrashedEngine(NamedTuple):
    """The checks on an engine, or a line that says which were skipped, and why."""

    checks: tuple[EngineCheck, ...]
    skipped: tuple[str, ...] = ()


def _wait_for_spark(job: Job) -> CrashedEngine:
    return CrashedEngine((*job.checked,))


def _crash_flink(job: Job) -> CrashedEngine:
    """Nothing else of a report runs beside: a cluster is three processes."""
    from engine_check.campaign import folders_of
    from engine_check.known_checks import checks
    from flink_check.engine import ENGINE
    from model.machine.folders import refuse_foreign

    profile = Profile.QUICK if job.quick else Profile.FULL
    wanted = checks(ENGINE, "report" if job.quick else profile.value)
    if not wanted:
        return CrashedEngine(())
    refuse_foreign(folders_of([*wanted.values()], job.out / "flink", 1))
    with ExitStack() as running:
        try:
            results = running.enter_context(
                on_flink(
                    [*wanted.values()], profile, job.out / "flink", job.progress, fresh=job.fresh
                )
            )
        except Invalid as error:  # no environment, or another process runs Flink
            return CrashedEngine((), (f"{', '.join(wanted)}: {error}",))
        return CrashedEngine((*results,))


def _engine_lines(engine: CrashedEngine) -> Output:
    from reports.results.spark import summary_line

    yield from map(summary_line, engine.checks)
    yield from (f"skipped: {line}" for line in engine.skipped)


# --- the calls that were lost -------------------------------------------------------------------
def _lines(lost: Mapping[str, str]) -> Iterator[str]:
    """A line for each call that was lost."""
    return (f"{name}: {why}" for name, why in lost.items())


def _lost(lines: Iterable[str]) -> Output:
    return (f"LOST: {line}" for line in lines)


# --- the parts -------------------------------------------------------------------------------
class Part(NamedTuple):
    """A part of a report.

    share: of the time of a report, usually, in percent; the page takes the rest.  run: finds the
    results of the part.  summary: the output about them.
    """

    name: str
    share: int
    run: Callable[[Job], Any]
    summary: Callable[[Any], Output]


PARTS = (
    Part("worlds, attacks and mutants", 65, _check, _verdict_lines),
    Part("bugs of real engines", 1, _check_bugs, _bug_lines),
    Part("lemmas", 13, _prove, _proof_lines),
    Part("operators", 1, _classify, _class_lines),
    Part("simulations, experiments, flights", 14, _run, _run_lines),
    # These checks wait between their steps, so they run beside the others; here is their rest.
    Part("Spark", 1, _wait_for_spark, _engine_lines),
    Part("Flink", 1, _crash_flink, _engine_lines),
)


# --- in a process of its own -----------------------------------------------------------------
def _simulate(path: Path, most: int | None) -> Simulation | None:
    """A run that is long enough for each recovery to end, if one can be; None if the scenario has
    more than so many events."""
    from sim.scenarios.longer import simulate_until_caught_up
    from sim.scenarios.run import simulate
    from sim.scenarios.scenario import check_draft, draft

    asked = draft(path)
    scenario = check_draft(asked)
    if most and scenario.workload.size > most:
        return None
    try:
        return simulate_until_caught_up(asked)
    except Invalid:  # of real events, or of a node that never catches up: the result says so
        return simulate(scenario)


def _reproduce(name: str, out: Path, most: int | None, how: Resumption) -> Reproduction:
    from sim.experiments.campaign import reproduce
    from sim.experiments.experiment import experiments

    one = experiments()[name]
    return reproduce(one, out, seeds=min(one.seeds, most or one.seeds), how=how)


def _run_on_flights(name: str, limit: int | None) -> RealRun:
    from model.registry import protocols
    from sim.inputs.flights import flight_crashes, flight_workload

    workload = flight_workload(limit)
    usual = flight_crashes(workload.size)
    return run_and_compare(protocols()[name], None, workload, None, usual, silent)
