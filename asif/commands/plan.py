"""`asif plan`: in which order to recover failed queries as hosts come back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from asif.console import JsonOption, publish
from asif.early import result_folder
from asif.names import toml


def plan(
    instance: Annotated[
        Path,
        typer.Argument(
            metavar="INSTANCE.toml",
            help="An instance, as in docs/plans.",
            autocompletion=toml("plans"),
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Draw the schedule into this folder.", callback=result_folder
        ),
    ] = None,
    json_: JsonOption = None,
) -> None:
    """Plan a recovery: the published algorithm, its rivals and the optimum, as hosts come back."""
    from asif.progress import show_progress
    from reports import commands
    from reports.results import plans
    from sim.plans.compare import compare
    from sim.plans.read import read

    task = read(instance)
    with show_progress() as progress:
        result = compare(task, progress)
    files = {} if out is None else {out / f"{result.name}.svg": plans.picture(result)}
    publish(commands.recovery_plan(result), result, json_, files)
    if result.below_bound:
        raise typer.Exit(1)
