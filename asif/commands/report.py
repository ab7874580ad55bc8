"""`asif report`: run all checks, and write one page with their findings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from asif.commands.run import run_and_compare
from asif.commands.spark import on_spark
from asif.console import JsonOption, Profile, ProfileOption, console, print_all, save
from asif.side_by_side import side_by_side
from model.progress import Progress, silent

SCENARIOS = sorted((Path(__file__).parents[2] / "docs" / "scenarios").glob("*.toml"))
"""The scenarios that the report simulates."""
EVENTS = 10_000
"""Scenarios of more events are simulated in the full profile alone."""
BEGINS = {
    "worlds, attacks and mutants": 0,
    "lemmas": 67,
    "operators": 80,
    "simulations, experiments, flights": 81,
    "Spark": 95,
    "page": 96,
}
"""The parts of a report, and how many percent of its time are usually over when each begins.

Checks on Spark wait between their steps, so they run beside the others; their rest is a part of its
own."""

DEPARTURES = 5_000
"""Real events that each protocol processes in the quick profile."""
WALKS, EXAMPLES = 100, 20
"""Random runs of each protocol in the quick profile: half of those of `asif check`."""

POLITE = 5
"""So much nicer than those of Spark are this thread and the processes that it starts: Spark gives
up on a process that does not start within ten seconds."""


def report(
    profile: ProfileOption = Profile.QUICK,
    out: Annotated[
        Path, typer.Option(help="Write report.html and report.md to this folder.")
    ] = Path("build/report"),
    json_: JsonOption = None,
) -> None:
    """Check every protocol and variant, hunt the mutants, run on real input; write one page."""
    from importlib.metadata import version

    from model.evidence import Outcome
    from model.registry import modules, protocols
    from proofs.classify import figure2
    from proofs.classify import verdict as classifying
    from proofs.explore import verdict as checking
    from proofs.prove import prover as proving
    from proofs.prove.lemma_index import choose
    from reports import commands, page
    from reports.progress import progress
    from reports.results import experiments as experiment_results
    from reports.results import simulations as simulation_results
    from reports.results import spark as spark_results
    from sim.experiments.experiment import experiments
    from spark_check.campaign import checks

    started, quick = perf_counter(), profile is Profile.QUICK
    wanted = [*checks("report" if quick else profile.value).values()]
    with progress() as watch, on_spark(wanted, profile, out / "spark", watch) as checked:

        def begin(part: str) -> None:
            watch("report", BEGINS[part], 100, part)

        os.nice(POLITE)
        begin("worlds, attacks and mutants")
        verdicts = checking.verdicts(
            [*protocols()],
            profile=profile.value,
            walks=WALKS if quick else None,
            examples=EXAMPLES if quick else None,
            mutants=True,
            once=quick,
            execute=checking.local(),
            progress=watch,
        )
        begin("lemmas")
        proofs = proving.prove(
            choose(),
            mutants=not quick,
            worlds=0 if quick else proving.WORLDS,
            progress=watch,
        )
        begin("operators")
        operators = {
            "figure_2": figure2.rows(),
            "figure_3": [classifying.verdict(one) for one in classifying.choose(None)],
        }
        begin("simulations, experiments, flights")
        large, most, limit = (EVENTS, 1, DEPARTURES) if quick else (None, None, None)
        # What is expected to lose is not judged by whether it loses.
        names = [one.name for one in modules().values() if one.evidence.expected is Outcome.HOLDS]
        simulations = {f"simulating {at.stem}": partial(_simulate, at, large) for at in SCENARIOS}
        reproductions = {
            f"reproducing {n}": partial(_reproduce, n, out, most)
            for n, experiment in experiments().items()
            if not (quick and experiment.ours)
        }
        runs = {f"flights: {name}": partial(_run_on_flights, name, limit) for name in names}
        # All in one pool: a process that waits for the last of one kind does nothing.
        calls: dict[str, Callable[[], Any]] = {**simulations, **reproductions, **runs}
        found = side_by_side("runs", calls, watch)
        simulated, reproduced, ran = (
            [found[name] for name in kind if found[name] is not None]
            for kind in (simulations, reproductions, runs)
        )
        begin("Spark")
        engine = [*checked]
        begin("page")
        results = {
            "version": version("asif-testbed"),
            "profile": profile.value,
            "verdicts": verdicts,
            "proofs": proofs,
            "operators": operators,
            "simulated": simulated,
            "reproduced": reproduced,
            "engine": engine,
            "runs": ran,
            "seconds": perf_counter() - started,
        }
        html, markdown = page.write(results, out, partial(_draw, watch))
        watch("report", 100, 100)
    for result in verdicts:
        good = "as expected" if result["expected"] else "NOT AS EXPECTED"
        console.print(f"{result['protocol']}: {result['outcome']}, {good}", highlight=False)
    for entry in proofs:
        print(proving.summary(entry))
    print_all(commands.classes(operators["figure_3"], in_full=False))
    for one in simulated:
        print(f"{one['scenario']}: {simulation_results.verdict(one)}")
    print(experiment_results.score(reproduced))
    for one in engine:
        print(spark_results.summary_line(one))
    for one in ran:
        print_all(commands.run(one))
    console.print(f"{html}\n{markdown}", highlight=False)
    save(json_, results)
    survivors = [m for v in verdicts for m in v["mutants"] or () if m["by"] is None]
    fine = all(result["expected"] for result in verdicts) and all(map(proving.good, proofs))
    same = all(one["same"] for one in (*ran, *simulated))
    fine = fine and all(one["holds"] for one in engine)
    fine = fine and all(one["found"] == one["paper"] for one in operators["figure_2"])
    if survivors or not same or not fine:
        raise typer.Exit(1)


def _draw(watch: Progress, call: Callable[[Any], Any], many: Sequence[Any]) -> Iterable[Any]:
    calls = {f"picture {n}": partial(call, one) for n, one in enumerate(many, 1)}
    return side_by_side("drawing", calls, watch).values()


# --- in a process of its own -----------------------------------------------------------------
def _simulate(path: Path, most: int | None) -> dict[str, Any] | None:
    """None if the scenario has more than so many events."""
    from sim.scenarios.run import simulate
    from sim.scenarios.scenario import read

    scenario = read(path)
    return None if most and scenario.workload.size > most else simulate(scenario)


def _reproduce(name: str, out: Path, most: int | None) -> dict[str, Any]:
    from sim.experiments.campaign import one_by_one, reproduce
    from sim.experiments.experiment import experiments

    one = experiments()[name]
    return reproduce(one, out, seeds=min(one.seeds, most or one.seeds), execute=one_by_one)


def _run_on_flights(name: str, limit: int | None) -> dict[str, Any]:
    from model.registry import protocols
    from sim.inputs.flights import flight_crashes, flight_workload

    workload = flight_workload(limit)
    usual = flight_crashes(workload.size)
    return run_and_compare(protocols()[name], None, workload, None, usual, silent)
