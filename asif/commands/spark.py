"""`asif spark`: crash real Spark, and compare it with the model."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from asif.console import JsonOption, Profile, ProfileOption, print_all, save, write
from model.errors import Invalid, unknown

if TYPE_CHECKING:
    from spark_check.check import Check


def spark(
    name: Annotated[str | None, typer.Argument(metavar="[CHECK]", help="A check.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Run every check.")] = False,
    profile: ProfileOption = Profile.QUICK,
    out: Annotated[Path, typer.Option(help="Keep runs, logs and plots in this folder.")] = Path(
        "build/spark"
    ),
    json_: JsonOption = None,
) -> None:
    """Crash real Spark: does it do what the model and the simulator predict?"""
    from reports import commands
    from reports.results import spark as drawn
    from spark_check.campaign import checks

    known = checks()
    if name is not None and name not in known:
        raise unknown("check", name, known)
    if (name is None) != all_:
        raise Invalid(f"spark: give a check or --all; known: {', '.join(known)}")
    results = []
    for result in on_spark([known[name]] if name else [*known.values()], profile, out):
        print_all(commands.engine_check(result))
        if any(case["seconds"] for case in result["cases"]):
            write(out / f"{result['check']}.png", drawn.predicted_png(result))
        results.append(result)
    save(json_, results)
    if not all(result["holds"] for result in results):
        raise typer.Exit(1)


def on_spark(wanted: Sequence[Check], profile: Profile, out: Path) -> Iterator[dict[str, Any]]:
    import spark_check
    from reports.progress import progress
    from sim.sweeps.grid import version
    from spark_check.campaign import run_all
    from spark_check.training import train

    try:
        with progress() as watch:
            train(lambda: watch("Java learns to start Spark (once)", 0, 1))
        yield from run_all(wanted, out, profile.value, version(spark_check), progress)
    except KeyboardInterrupt:
        if len(wanted) > 1:
            print("asif: interrupted; the same command goes on from there", file=sys.stderr)
        raise
