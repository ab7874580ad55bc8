"""The parts that the commands share: common options, printing, writing of files.

Rule of this file: no knowledge of a command.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
from rich.console import Console, RenderableType

from model.calls import Execute
from model.errors import Invalid

if TYPE_CHECKING:
    from model.levels import StartLevels

console = Console()


class Profile(StrEnum):
    QUICK = "quick"
    FULL = "full"


PROFILE_HELP = "quick: small scopes; full: all scopes and more random runs."
JSON_HELP = "Write the result as JSON."
CONF_HELP = "Set a Spark property, as KEY=VALUE; may be repeated."
ProfileOption: TypeAlias = Annotated[Profile, typer.Option(help=PROFILE_HELP)]
JsonOption: TypeAlias = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help=JSON_HELP)
]
MasterOption: TypeAlias = Annotated[str, typer.Option(help="Set Spark's master, as in local[4].")]
ConfOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=VALUE", help=CONF_HELP),
]
WAIT_HELP = "Wait no longer than that for a free worker of a cluster, in seconds."
WaitOption: TypeAlias = Annotated[
    float | None, typer.Option(min=0, metavar="SECONDS", help=WAIT_HELP)
]


def print_all(parts: Iterator[RenderableType]) -> None:
    """Print lines as they are, however long, and everything else as wide as the terminal."""
    for part in parts:
        if isinstance(part, str):
            print(part)
        else:
            with console.capture() as drawn:
                console.print(part, highlight=False)
            print(drawn.get(), end="")  # which stands above the bars of progress, if there are any


def settings(texts: Sequence[str] | None) -> dict[str, str]:
    """The Spark properties of --conf.  Raises Invalid for a text that is not KEY=VALUE."""
    for text in texts or ():
        if not re.match(r"[\w.]+=", text):
            raise Invalid(f"--conf {text}: write KEY=VALUE, as in spark.driver.memory=2g")
    return dict(text.split("=", 1) for text in texts or ())


def read_bytes(text: str) -> int:
    """The number of bytes in a text such as 500MiB or 4 GiB.  Raises Invalid."""
    from pydantic import ByteSize, TypeAdapter, ValidationError

    invalid = Invalid(f"--memory {text}: write a number and a unit, as in 4GiB or 500MiB")
    if text[-1:].isdigit():
        raise invalid
    try:
        return int(TypeAdapter(ByteSize).validate_python(text))
    except ValidationError:
        raise invalid from None


def calls_on_spark(
    work: Path,
    master: str,
    conf: Mapping[str, str],
    size: int | None = None,
    wait: float | None = None,
) -> Execute[Any, Any]:
    """An Execute on Spark.

    work: the folder for Spark's log and spills.  size: calls of one of Spark's tasks.  wait:
    seconds for which the cluster may have no free worker; None: any time.
    """

    def execute(call: Any, items: Sequence[Any]) -> Generator[Any, None, None]:
        if not items:  # Spark need not start
            return
        from spark_check.runtime.cluster.demand import ClusterDemand, needs_of
        from spark_check.runtime.parallel_calls import call_all
        from spark_check.runtime.session import BRIEF, session

        shutil.rmtree(work, ignore_errors=True)  # a killed command leaves files
        # BRIEF fits also long calls: Java only hands them out, and Python does the work.
        demand = ClusterDemand(needs_of(call), wait=wait, say=print_aside)
        with session(work, master=master, conf={**BRIEF, **conf}, demand=demand) as spark:
            yield from call_all(spark, call, items, size)

    return execute


@contextmanager
def levels_on_spark(
    work: Path, master: str, conf: Mapping[str, str], wait: float | None = None
) -> Iterator[StartLevels[Any]]:
    """A context in which Spark keeps the levels of a search.

    work: the folder for Spark's log and spills, and for the levels if `conf` names no other.
    wait: as in calls_on_spark.
    """
    from spark_check.runtime.cluster.demand import ROOMS, ClusterDemand
    from spark_check.runtime.levels import CONF, levels
    from spark_check.runtime.session import session

    shutil.rmtree(work, ignore_errors=True)  # a killed command leaves files
    demand = ClusterDemand(ROOMS["proofs"], wait=wait, say=print_aside)
    try:
        with session(work, master=master, conf={**CONF, **conf}, demand=demand) as spark:
            yield partial(levels, spark, work / "levels")
    finally:
        shutil.rmtree(work / "levels", ignore_errors=True)


def print_aside(line: str) -> None:
    """Print a line on standard error: above the bars of progress, if there are any."""
    print(line, file=sys.stderr, flush=True)


def save(path: Path | None, result: Any) -> None:
    """Write the result of a command as JSON, if the user gave --json."""
    if path is not None:
        from model.results.plain import plain

        write(path, json.dumps(plain(result), indent=2, ensure_ascii=False) + "\n")


def write(path: Path, content: str | bytes) -> None:
    """Write a file whole and print its name."""
    from reports import files

    files.write({path: content})
    print(path)
