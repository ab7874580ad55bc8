"""Checks on real engines: what `asif spark`, `asif flink` and `asif report` share.

Rule of this file: no engine is named here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from asif.console import Profile, publish
from asif.early import result_folder
from asif.force import resumption
from asif.names import of_command
from model.errors import Invalid, some_of, unknown
from model.machine.supervision import resumable

if TYPE_CHECKING:
    from engine_check.check import Check
    from engine_check.engine import CheckedEngine
    from model.progress import Progress
    from model.results.engine import EngineCheck

StartChecks: TypeAlias = Callable[["Progress"], AbstractContextManager[Iterator["EngineCheck"]]]
"""Makes a context in which checks run; it holds their results, in order."""
ChecksArgument: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(metavar="[CHECK]...", help="Checks, as named below.", autocompletion=of_command),
]
AllOption: TypeAlias = Annotated[bool, typer.Option("--all", help="Run every check.")]
OutOption: TypeAlias = Annotated[
    Path, typer.Option(help="Keep runs, logs and plots in this folder.", callback=result_folder)
]


def chosen(
    engine: CheckedEngine, names: Sequence[str], all_: bool, profile: Profile
) -> list[Check]:
    """The checks with these names, in their order, each once; all_: all of the profile instead.

    Raises Invalid for another name, and if the user gives both or neither.
    """
    from engine_check.known_checks import checks
    from model.registry import is_file, protocols

    known = checks(engine)
    for name in names:
        if name not in known and (is_file(name) or name in protocols()):
            raise Invalid(
                f"{engine.name}: {name} is a protocol, and no check; give one of "
                f"{some_of(known)}; `asif check {name}` explores the protocol, with "
                "--master local[2] on Spark"
            )
        if name not in known:
            raise unknown("check", name, known)
    if bool(names) == all_:
        raise Invalid(f"{engine.name}: give checks or --all; there are {some_of(known)}")
    return [known[name] for name in dict.fromkeys(names or checks(engine, profile.value))]


def print_checks(start: StartChecks, out: Path, json_: Path | None) -> None:
    """Print and draw results as they come, and write them.  Exits with 1 if one does not hold."""
    # Before the start: an import that Ctrl-C interrupts may hide from Python that it was handled.
    from asif.progress import show_progress
    from reports import commands
    from reports.results import spark as drawn

    printed = []
    with show_progress() as progress, start(progress) as results:
        for result in results:
            files = {}
            if any(case.seconds for case in result.cases):
                files[out / f"{result.check}.png"] = drawn.predicted_png(result)
            if any(case.over_time for case in result.cases):
                files[out / f"{result.check}-over-time.png"] = drawn.over_time_png(result)
            publish(commands.engine_check(result), files=files)
            printed.append(result)
    publish([], printed, json_)
    if not all(result.holds for result in printed):
        raise typer.Exit(1)


@contextmanager
def on_engine(
    engine: CheckedEngine,
    wanted: Sequence[Check],
    profile: Profile,
    out: Path,
    progress: Progress,
    *,
    at_once: int = 1,
    fresh: bool = False,
) -> Iterator[Iterator[EngineCheck]]:
    """A context in which the checks run beside what it holds; their results, in order.

    at_once: how many of them run at once.  fresh: forget finished checks.
    """
    import engine_check
    from engine_check.campaign import campaign
    from sim.sweeps.grid import version

    code = version(engine_check, import_module(engine.package))
    goes_on = resumable() if len(wanted) > 1 else nullcontext()
    results = campaign(
        *(engine, wanted, out, profile.value, code, progress),
        at_once=at_once,
        how=resumption(fresh),
    )
    with goes_on, results as ended:
        yield ended
