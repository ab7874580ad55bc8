"""`asif choose`: which protocol, and which interval, for a workload."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from asif.console import (
    ConfOption,
    JsonOption,
    WaitOption,
    calls_on_spark,
    publish,
    refuse_without_master,
    settings,
)
from asif.early import refuse_unusable, result_folder, result_picture
from asif.force import resumption
from asif.names import toml
from model.machine.supervision import resumable

WorkloadArgument: TypeAlias = Annotated[
    Path,
    typer.Argument(
        metavar="WORKLOAD.toml",
        help="A workload, as in docs/workloads.",
        autocompletion=toml("workloads"),
    ),
]
OutOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Keep runs in this folder; default: build/choose/NAME.",
        callback=result_folder,
    ),
]
PlotOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.SUFFIX",
        help="Plot recovery over overhead: svg, pdf, png.",
        callback=result_picture,
    ),
]


def choose(
    workload: WorkloadArgument,
    out: OutOption = None,
    master: Annotated[
        str | None,
        typer.Option(help="Run on Spark with this master, as in local[4]; default: here."),
    ] = None,
    conf: ConfOption = None,
    wait: WaitOption = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget earlier runs.")] = False,
    terms: Annotated[
        bool, typer.Option("--terms", help="Print the closed form alone, and simulate nothing.")
    ] = False,
    plot: PlotOption = None,
    json_: JsonOption = None,
) -> None:
    """Choose a protocol and its interval: the closed form, then the simulated frontier.

    The exit code is 0 if a setting meets all targets.  An interrupted search is resumed.
    """
    from asif.progress import show_progress
    from model.calls import one_by_one
    from model.errors import Invalid
    from reports.diagrams.picture import files as drawn
    from reports.results import choose as words
    from reports.results import choose_plots
    from sim.choose import choose as choosing
    from sim.choose.workload import read

    if terms and (plot or master or out or fresh):
        raise Invalid("--terms simulates nothing; give it with --json alone")
    asked = read(workload)
    if terms:
        result = choosing.terms_alone(asked)
        publish(words.terms(result), result, json_)
        return
    folder = out or Path("build/choose") / asked.name
    refuse_unusable(folder)
    refuse_without_master(master, conf, wait)
    on_spark = master and calls_on_spark(folder / "_spark", master, settings(conf), wait=wait)
    with resumable(), show_progress() as progress:
        result = choosing.choose(
            *(asked, folder, on_spark or one_by_one), how=resumption(fresh), progress=progress
        )
    files = {} if plot is None else drawn(choose_plots.picture(result), plot)
    publish(words.output(result), result, json_, files)
    if not result.best:
        raise typer.Exit(1)
