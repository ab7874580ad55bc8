"""`asif sweep`: run a grid of timed runs on Spark."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from asif.console import (
    ConfOption,
    JsonOption,
    MasterOption,
    WaitOption,
    calls_on_spark,
    console,
    save,
    settings,
    write,
)
from model.errors import Invalid


def sweep(
    file: Annotated[Path, typer.Argument(metavar="SWEEP.toml", help="A sweep, as in docs/sweeps.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep results in this folder; default: build/sweep/NAME."),
    ] = None,
    master: MasterOption = "local[*]",
    conf: ConfOption = None,
    wait: WaitOption = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget earlier results.")] = False,
    summary: Annotated[
        bool, typer.Option("--summary", help="Print means over seeds, with intervals.")
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.png", help="Plot recovery over the overhead of protection, and more."
        ),
    ] = None,
    axes: Annotated[
        list[str] | None,
        typer.Option(
            metavar="x=NAME,y=METRIC[,colour=KEY]",
            help="Plot this instead: x is a key of the grid or a metric; may be repeated.",
        ),
    ] = None,
    json_: JsonOption = None,
) -> None:
    """Run a grid of timed runs on Spark, a row each; an interrupted sweep is resumed."""
    from asif.progress import show_progress
    from reports.results import sweep_plots, sweeps
    from sim.sweeps.grid import read
    from sim.sweeps.results import carry_out
    from sim.sweeps.summary import summarize

    if axes and plot is None:
        raise Invalid("--axes says what to plot; give --plot FILE.png, too")
    asked = read(file)
    charts = sweep_plots.charts(axes or ())
    folder = out or Path("build/sweep") / asked.name
    run_all = calls_on_spark(folder / "_spark", master, settings(conf), wait=wait)
    try:
        with show_progress() as progress:
            result = carry_out(asked, folder, run_all, fresh=fresh, progress=progress)
    except KeyboardInterrupt:
        print("asif: interrupted; the same command goes on from there", file=sys.stderr)
        raise
    if summary or plot is not None:
        names = (name for one in charts for name in one[:2])
        metrics = [name for name in names if name not in {axis.name for axis in asked.axes}]
        found = summarize(asked, Path(result.table), metrics)
        result = replace(result, summary=found)
        if summary:
            console.print(sweeps.table(found), highlight=False)
        if plot is not None:
            write(plot, sweep_plots.png(found, charts))
    print(f"{sweeps.summary_line(result)}\n{result.table}")
    save(json_, result)
    if result.failed or result.not_as_claimed:
        raise typer.Exit(1)
