"""`asif reproduce`: run published experiments again."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from asif.console import (
    ConfOption,
    FreshOption,
    JsonOption,
    WaitOption,
    calls_on_spark,
    publish,
    refuse_without_master,
    settings,
)
from asif.drawings import FormatOption, pictures
from asif.early import result_folder
from asif.force import resumption
from asif.limits import EVENTS, SEEDS, at_most
from asif.names import of_command
from asif.processes import call_all
from model.errors import Invalid, some_of, unknown
from model.machine.supervision import resumable

if TYPE_CHECKING:
    from model.calls import Execute
    from model.results.experiment import Reproduction
    from sim.experiments.campaign import Rows
    from sim.experiments.experiment import Experiment


SeedsOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=1, help="Set the number of seeds; default: as published.", callback=at_most(SEEDS)
    ),
]
SizeOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--events",
        min=1000,
        help="Set the events a run; default: as published.",
        callback=at_most(EVENTS),
    ),
]


def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[EXPERIMENT]",
            help="An experiment, as named below.",
            autocompletion=of_command,
        ),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Run every experiment.")] = False,
    seeds: SeedsOption = None,
    size: SizeOption = None,
    out: Annotated[
        Path,
        typer.Option(help="Keep runs and write plots in this folder.", callback=result_folder),
    ] = Path("build/reproduce"),
    _format: FormatOption = "svg",
    master: Annotated[
        str | None,
        typer.Option(help="Run the seeds on Spark, as in local[*]; default: without Spark."),
    ] = None,
    conf: ConfOption = None,
    fresh: FreshOption = False,
    wait: WaitOption = None,
    json_: JsonOption = None,
) -> None:
    """Run a published experiment again and compare the numbers; an interrupted run is resumed."""
    from model.machine.locks import LOCK, held
    from reports.results import experiments as results_of
    from sim.experiments.experiment import experiments

    known = experiments()
    if name is not None and name not in known:
        raise unknown("experiment", name, known)
    if (name is None) != all_:
        raise Invalid(f"reproduce: give an experiment or --all; there are {some_of(known)}")
    execute: Execute[int, Rows] = call_all
    refuse_without_master(master, conf, wait)
    if master is not None:
        execute = calls_on_spark(out / "_spark", master, settings(conf), size=1, wait=wait)
    chosen = [known[name]] if name else [*known.values()]
    with held(out / LOCK, str(out)):
        results, lost = _reproduce(chosen, seeds, size, out, execute, fresh=fresh)
    publish([results_of.score(results)], results, json_)
    if lost:
        raise typer.Exit(1)


def _reproduce(
    chosen: Sequence[Experiment],
    seeds: int | None,
    size: int | None,
    out: Path,
    execute: Execute[int, Rows],
    *,
    fresh: bool,
) -> tuple[list[Reproduction], bool]:
    """Print and draw the results of the experiments as they come: those, and is a seed lost?"""
    from asif.progress import show_progress
    from reports import commands
    from reports.results import experiments as results_of
    from sim.experiments import campaign

    results, lost = [], False
    for experiment in chosen:
        try:
            with resumable(), show_progress() as progress:
                result = campaign.reproduce(
                    *(experiment, out),
                    seeds=seeds,
                    events=size,
                    execute=execute,
                    progress=progress,
                    how=resumption(fresh),
                )
        except campaign.LostSeeds as error:
            lost = True
            print(f"{error}\nasif: the same command goes on from there", file=sys.stderr)
            continue
        drawn = results_of.picture(result)
        files = {} if drawn is None else pictures(drawn, out / experiment.name)
        publish(commands.reproduction(result), files=files)
        results.append(result)
    return results, lost
