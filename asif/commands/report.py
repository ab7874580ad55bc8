"""`asif report`: run all checks, and write one page with their findings."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from asif.commands.run import run_and_compare
from asif.commands.spark import on_spark
from asif.console import JsonOption, Profile, ProfileOption, console, print_all, save

SCENARIOS = sorted((Path(__file__).parents[2] / "docs" / "scenarios").glob("*.toml"))
"""The scenarios that the report simulates."""


def report(
    profile: ProfileOption = Profile.QUICK,
    out: Annotated[
        Path, typer.Option(help="Write report.html and report.md to this folder.")
    ] = Path("build/report"),
    json_: JsonOption = None,
) -> None:
    """Check every protocol and variant, hunt the mutants, run on real input; write one page."""
    from importlib.metadata import version

    from model.registry import modules, protocols
    from proofs.explore import verdict as checking
    from proofs.prove import prover as proving
    from proofs.prove.lemma_index import choose
    from reports import commands, page
    from reports.progress import progress
    from reports.results import experiments as experiment_results
    from reports.results import simulations as simulation_results
    from reports.results import spark as spark_results
    from sim.experiments import campaign
    from sim.experiments.experiment import experiments
    from sim.inputs import flights
    from sim.scenarios import run as timed
    from sim.scenarios import scenario as scenarios
    from spark_check.campaign import checks

    started = perf_counter()
    with progress() as watch:
        verdicts = checking.verdicts(
            [*protocols()],
            profile=profile.value,
            mutants=True,
            execute=checking.local(),
            progress=watch,
        )
        proofs = proving.prove(choose(), mutants=True, worlds=proving.WORLDS, progress=watch)
        simulations = []
        for path in SCENARIOS:
            part = partial(watch, f"simulating {path.stem}")
            simulations.append(timed.simulate(scenarios.read(path), watch=part))
        seeds = 5 if profile is Profile.QUICK else None
        reproductions = [
            campaign.reproduce(one, out, seeds=seeds, watch=partial(watch, one.name))
            for one in experiments().values()
        ]
    checked = [*on_spark([*checks().values()], profile, out / "spark")]
    workload = flights.flight_workload(flights.QUICK if profile is Profile.QUICK else None)
    usual = flights.flight_crashes(workload.size)
    runs = [
        run_and_compare(protocol, None, workload, None, usual) for protocol in modules().values()
    ]
    results = {
        "version": version("asif-testbed"),
        "profile": profile.value,
        "verdicts": verdicts,
        "proofs": proofs,
        "simulated": simulations,
        "reproduced": reproductions,
        "engine": checked,
        "runs": runs,
        "seconds": perf_counter() - started,
    }
    html, markdown = page.write(results, out)
    for result in verdicts:
        good = "as expected" if result["expected"] else "NOT AS EXPECTED"
        console.print(f"{result['protocol']}: {result['outcome']}, {good}", highlight=False)
    for entry in proofs:
        print(proving.summary(entry))
    for one in simulations:
        print(f"{one['scenario']}: {simulation_results.verdict(one)}")
    print(experiment_results.score(reproductions))
    for one in checked:
        print(spark_results.summary_line(one))
    for ran in runs:
        print_all(commands.run(ran))
    console.print(f"{html}\n{markdown}", highlight=False)
    save(json_, results)
    survivors = [m for v in verdicts for m in v["mutants"] or () if m["by"] is None]
    fine = all(result["expected"] for result in verdicts) and all(map(proving.good, proofs))
    same = all(one["same"] for one in (*runs, *simulations))
    fine = fine and all(one["holds"] for one in checked)
    if survivors or not same or not fine:
        raise typer.Exit(1)
