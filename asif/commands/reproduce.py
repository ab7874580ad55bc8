"""`asif reproduce`: run published experiments again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from asif.console import (
    ConfOption,
    JsonOption,
    WaitOption,
    calls_on_spark,
    print_all,
    save,
    settings,
    write,
)
from asif.processes import call_all
from model.errors import Invalid, unknown

if TYPE_CHECKING:
    from model.calls import Execute
    from sim.experiments.campaign import Rows


def reproduce(
    name: Annotated[
        str | None, typer.Argument(metavar="[EXPERIMENT]", help="An experiment, as in lima-fig9.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Run every experiment.")] = False,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Set the number of seeds; default: as published.")
    ] = None,
    size: Annotated[
        int | None,
        typer.Option("--events", min=1000, help="Set the events a run; default: as published."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Keep runs and write plots in this folder.")] = Path(
        "build/reproduce"
    ),
    master: Annotated[
        str | None,
        typer.Option(help="Run the seeds on Spark, as in local[*]; default: without Spark."),
    ] = None,
    conf: ConfOption = None,
    wait: WaitOption = None,
    json_: JsonOption = None,
) -> None:
    """Run a published experiment again and compare the numbers; an interrupted run is resumed."""
    from asif.progress import show_progress
    from reports import commands
    from reports.results import experiments as results_of
    from sim.experiments import campaign
    from sim.experiments.experiment import experiments

    known = experiments()
    if name is not None and name not in known:
        raise unknown("experiment", name, known)
    if (name is None) != all_:
        raise Invalid(f"reproduce: give an experiment or --all; known: {', '.join(known)}")
    execute: Execute[int, Rows] = call_all
    if master is not None:
        execute = calls_on_spark(out / "_spark", master, settings(conf), size=1, wait=wait)
    elif conf or wait is not None:
        raise Invalid(f"--{'conf' if conf else 'wait'} is for Spark: give --master, too")
    results, lost = [], False
    for experiment in [known[name]] if name else known.values():
        try:
            with show_progress() as progress:
                result = campaign.reproduce(
                    experiment, out, seeds=seeds, events=size, execute=execute, progress=progress
                )
        except campaign.LostSeeds as error:
            lost = True
            print(f"{error}\nasif: the same command goes on from there", file=sys.stderr)
            continue
        print_all(commands.reproduction(result))
        if (drawn := results_of.figure(result)) is not None:
            write(out / f"{experiment.name}.svg", drawn)
        results.append(result)
    print(results_of.score(results))
    save(json_, results)
    if lost:
        raise typer.Exit(1)
