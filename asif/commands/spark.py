"""`asif spark`: crash real Spark, and compare it with the model."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from asif.console import JsonOption, Profile, ProfileOption, print_all, save, write
from model.errors import Invalid, unknown

if TYPE_CHECKING:
    from model.progress import Progress
    from model.results.engine import EngineCheck
    from spark_check.check import SparkCheck

AT_ONCE = {Profile.QUICK: 2, Profile.FULL: 1}
"""Checks that run at once.  Those of the full profile measure seconds, so each runs alone."""


def spark(
    names: Annotated[list[str] | None, typer.Argument(metavar="[CHECK]...", help="Checks.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Run every check.")] = False,
    profile: ProfileOption = Profile.QUICK,
    out: Annotated[Path, typer.Option(help="Keep runs, logs and plots in this folder.")] = Path(
        "build/spark"
    ),
    json_: JsonOption = None,
) -> None:
    """Crash real Spark: does it do what the model and the simulator predict?"""
    from asif.progress import show_progress
    from model.registry import is_file, protocols
    from reports import commands
    from reports.results import spark as drawn
    from spark_check.known_checks import checks

    known = checks()
    for name in names or ():
        if name not in known and (is_file(name) or name in protocols()):
            raise Invalid(
                f"spark: {name} is a protocol, and no check; give one of {', '.join(known)}; "
                f"`asif check {name} --master local[2]` explores the protocol on Spark"
            )
        if name not in known:
            raise unknown("check", name, known)
    if bool(names) == all_:
        raise Invalid(f"spark: give checks or --all; known: {', '.join(known)}")
    results = []
    wanted = [known[name] for name in dict.fromkeys(names or checks(profile.value))]
    with show_progress() as progress, on_spark(wanted, profile, out, progress) as checked:
        for result in checked:
            print_all(commands.engine_check(result))
            if any(case.seconds for case in result.cases):
                write(out / f"{result.check}.png", drawn.predicted_png(result))
            if any(case.over_time for case in result.cases):
                write(out / f"{result.check}-over-time.png", drawn.over_time_png(result))
            results.append(result)
    save(json_, results)
    if not all(result.holds for result in results):
        raise typer.Exit(1)


@contextmanager
def on_spark(
    wanted: Sequence[SparkCheck], profile: Profile, out: Path, progress: Progress
) -> Iterator[Iterator[EngineCheck]]:
    """A context in which the checks run beside what it holds; their results, in order."""
    import spark_check
    from sim.sweeps.grid import version
    from spark_check.campaign import campaign
    from spark_check.training import train

    train(progress)
    at_once = AT_ONCE[profile]
    try:
        with campaign(
            wanted, out, profile.value, version(spark_check), progress, at_once=at_once
        ) as results:
            yield results
    except KeyboardInterrupt:
        if len(wanted) > 1:
            print("asif: interrupted; the same command goes on from there", file=sys.stderr)
        raise
