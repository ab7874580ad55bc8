"""`asif sweep`: run a grid of timed runs on Spark."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, TypeAlias

import typer
from rich.console import RenderableType

from asif.console import (
    ConfOption,
    JsonOption,
    MasterOption,
    WaitOption,
    calls_on_spark,
    publish,
    settings,
)
from asif.early import refuse_unusable, result_folder, result_picture
from asif.force import resumption
from asif.names import toml
from model.errors import Invalid
from model.machine.supervision import resumable

SweepArgument: TypeAlias = Annotated[
    Path,
    typer.Argument(
        metavar="SWEEP.toml", help="A sweep, as in docs/sweeps.", autocompletion=toml("sweeps")
    ),
]
OutOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Keep results in this folder; default: build/sweep/NAME.",
        callback=result_folder,
    ),
]
PlotOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.png",
        help="Plot recovery over the overhead of protection, and more.",
        callback=result_picture,
    ),
]
AxesOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="x=NAME,y=METRIC[,colour=KEY]",
        help="Plot this instead: x is a key of the grid or a metric; may be repeated.",
    ),
]


def sweep(
    file: SweepArgument,
    out: OutOption = None,
    master: MasterOption = "local[*]",
    conf: ConfOption = None,
    wait: WaitOption = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget earlier results.")] = False,
    summary: Annotated[
        bool, typer.Option("--summary", help="Print means over seeds, with intervals.")
    ] = False,
    plot: PlotOption = None,
    axes: AxesOption = None,
    json_: JsonOption = None,
) -> None:
    """Run a grid of timed runs on Spark, a row each; an interrupted sweep is resumed."""
    from asif.progress import show_progress
    from reports.results import sweep_plots, sweeps
    from sim.sweeps.grid import read
    from sim.sweeps.results import carry_out, metric_columns
    from sim.sweeps.summary import summarize

    if axes and plot is None:
        raise Invalid("--axes says what to plot; give --plot FILE.png, too")
    asked = read(file)
    charts = sweep_plots.charts(axes or ())
    sweep_plots.check_charts(charts, asked.varied, metric_columns(asked))
    folder = out or Path("build/sweep") / asked.name
    refuse_unusable(folder)
    execute = calls_on_spark(folder / "_spark", master, settings(conf), wait=wait)
    with resumable(polite=True), show_progress() as progress:
        result = carry_out(asked, folder, execute, resumption(fresh), progress=progress)
    words: list[RenderableType] = []
    files: dict[Path, str | bytes] = {}
    if summary or plot is not None:
        names = (name for one in charts for name in one[:2])
        metrics = [name for name in names if name not in {axis.name for axis in asked.axes}]
        found = summarize(asked, Path(result.table), metrics)
        result = replace(result, summary=found)
        words += [sweeps.table(found)] * summary
        if plot is not None:
            files[plot] = sweep_plots.png(found, charts)
    publish([*words, sweeps.summary_line(result), result.table], result, json_, files)
    if result.failed or result.not_as_claimed:
        raise typer.Exit(1)
