"""`asif flink`: crash a real Flink, and compare it with the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from asif.console import FreshOption, JsonOption, Profile, ProfileOption
from asif.drawings import FormatOption
from asif.engine_checks import (
    AllOption,
    ChecksArgument,
    OutOption,
    chosen,
    on_engine,
    print_checks,
)

if TYPE_CHECKING:
    from engine_check.check import Check
    from model.progress import Progress
    from model.results.engine import EngineCheck


def flink(
    names: ChecksArgument = None,
    all_: AllOption = False,
    setup: Annotated[
        bool,
        typer.Option("--setup", help="Install Flink and its Java first (460 MB, once)."),
    ] = False,
    profile: ProfileOption = Profile.QUICK,
    out: OutOption = Path("build/flink"),
    _format: FormatOption = "svg",
    fresh: FreshOption = False,
    json_: JsonOption = None,
) -> None:
    """Crash real Flink: does it do what the model and the simulator predict?"""
    from flink_check.engine import ENGINE

    ended = setup and not names and not all_
    wanted = [] if ended else chosen(ENGINE, names or (), all_, profile)
    if setup:
        _set_up()
    if not ended:
        print_checks(partial(on_flink, wanted, profile, out, fresh=fresh), out, json_)


def _set_up() -> None:
    from asif.progress import show_progress
    from flink_check.engine import ENGINE
    from flink_check.environment import alone, set_up

    with alone(), show_progress() as progress:
        folder = set_up(progress=progress).folder
    print(f"Flink {ENGINE.version()} with Java {ENGINE.java()}: {folder}")


@contextmanager
def on_flink(
    wanted: Sequence[Check], profile: Profile, out: Path, progress: Progress, *, fresh: bool
) -> Iterator[Iterator[EngineCheck]]:
    """A context in which checks run on Flink, one after the other; their results, in order.

    Raises Invalid without a complete environment, and if another process runs Flink from here.
    """
    from flink_check.engine import ENGINE
    from flink_check.environment import alone, installed

    installed()
    with alone(), on_engine(ENGINE, wanted, profile, out, progress, fresh=fresh) as results:
        yield results
