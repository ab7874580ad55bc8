"""`asif spark`: crash real Spark, and compare it with the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

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

AT_ONCE = {Profile.QUICK: 2, Profile.FULL: 1}
"""Checks that run at once.  Those of the full profile measure seconds, so each runs alone."""


def spark(
    names: ChecksArgument = None,
    all_: AllOption = False,
    profile: ProfileOption = Profile.QUICK,
    out: OutOption = Path("build/spark"),
    _format: FormatOption = "svg",
    fresh: FreshOption = False,
    json_: JsonOption = None,
) -> None:
    """Crash real Spark: does it do what the model and the simulator predict?"""
    from spark_check.engine import ENGINE

    wanted = chosen(ENGINE, names or (), all_, profile)
    print_checks(partial(on_spark, wanted, profile, out, fresh=fresh), out, json_)


@contextmanager
def on_spark(
    wanted: Sequence[Check], profile: Profile, out: Path, progress: Progress, *, fresh: bool
) -> Iterator[Iterator[EngineCheck]]:
    """A context in which checks run on Spark beside what it holds; their results, in order."""
    from engine_check.campaign import folders_of
    from model.machine.folders import refuse_foreign
    from spark_check.engine import ENGINE
    from spark_check.training import train

    at_once = AT_ONCE[profile]
    refuse_foreign(folders_of(wanted, out, at_once))
    train(progress)
    with on_engine(ENGINE, wanted, profile, out, progress, at_once=at_once, fresh=fresh) as results:
        yield results
