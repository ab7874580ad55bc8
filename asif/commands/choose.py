"""`asif choose`: which protocol, and which interval, for a workload."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

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


def choose(
    workload: Annotated[
        Path, typer.Argument(metavar="WORKLOAD.toml", help="A workload, as in docs/workloads.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep runs in this folder; default: build/choose/NAME."),
    ] = None,
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
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Plot recovery over overhead.")
    ] = None,
    json_: JsonOption = None,
) -> None:
    """Choose a protocol and its interval: the closed form, then the simulated frontier.

    The exit code is 0 if a setting meets all targets.  An interrupted search is resumed.
    """
    from asif.progress import show_progress
    from model.calls import one_by_one
    from model.errors import Invalid
    from reports.results import choose as words
    from reports.results import choose_plots
    from sim.choose import choose as choosing
    from sim.choose.workload import read

    if terms and (plot or master or out or fresh):
        raise Invalid("--terms simulates nothing; give it with --json alone")
    asked = read(workload)
    if terms:
        result = choosing.terms_alone(asked)
        print_all(words.terms(result))
        save(json_, result)
        return
    folder = out or Path("build/choose") / asked.name
    on_spark = master and calls_on_spark(folder / "_spark", master, settings(conf), wait=wait)
    try:
        with show_progress() as progress:
            result = choosing.choose(
                asked, folder, on_spark or one_by_one, fresh=fresh, progress=progress
            )
    except KeyboardInterrupt:
        print("asif: interrupted; the same command goes on from there", file=sys.stderr)
        raise
    print_all(words.output(result))
    if plot is not None:
        write(plot, choose_plots.png(result))
    save(json_, result)
    if not result.best:
        raise typer.Exit(1)
