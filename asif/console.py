"""The parts that the commands share: common options, printing, writing of files.

Rule of this file: no knowledge of a command.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import (
    Callable,
    Collection,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager, suppress
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from asif.force import forced
from asif.json_output import STANDARD, json_file, put_out
from asif.limits import finite
from model.calls import Execute
from model.errors import Invalid
from reports import lines, tables
from reports.safe_text import visible, visible_in_colour

if TYPE_CHECKING:
    from model.levels import StartLevels

console = Console(
    markup=False,  # a name may be "[red]"
    emoji=False,
    color_system=None if os.environ.get("NO_COLOR") else "auto",  # bold is an escape, too
)


class Profile(StrEnum):
    QUICK = "quick"
    FULL = "full"


PROFILE_HELP = "quick: small scopes; full: all scopes and more random runs."
JSON_HELP = "Write the result as JSON; - is the standard output."
CONF_HELP = "Set a Spark property, as KEY=VALUE; may be repeated."
ProfileOption: TypeAlias = Annotated[Profile, typer.Option(help=PROFILE_HELP)]
JsonOption: TypeAlias = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help=JSON_HELP, callback=json_file)
]
MasterOption: TypeAlias = Annotated[str, typer.Option(help="Set Spark's master, as in local[4].")]
FreshOption: TypeAlias = Annotated[
    bool, typer.Option("--fresh", help="Forget the runs that are finished.")
]
ConfOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=VALUE", help=CONF_HELP),
]
WAIT_HELP = "Wait no longer than that for a free worker of a cluster, in seconds."
WaitOption: TypeAlias = Annotated[
    float | None, typer.Option(min=0, metavar="SECONDS", help=WAIT_HELP, callback=finite)
]


def publish(
    words: Iterable[RenderableType],
    result: Any = None,
    json_: Path | None = None,
    files: Mapping[Path, str | bytes] | None = None,
    *,
    named: bool = True,
    as_json: Callable[[Any], str] | None = None,
) -> None:
    """Write the files of a result, each whole, then print its words and the names of the files.

    json_: the file of the user's for the result itself, if --json was given.  named: the names of
    `files` follow; else the words have them.  Whatever becomes of the words, the files are there.
    as_json: makes the JSON of the result; None: all its fields.
    Raises Invalid in the end for the first file that could not be written.
    """
    drawn = files or {}
    written = dict(drawn)
    if json_ is not None:
        text = (as_json or _as_json)(result)
        if json_ == STANDARD:
            put_out(text)
        else:
            written = {json_: text, **drawn}
    failed: list[Invalid] = []
    for path, content in written.items():
        try:
            write(path, content)
        except Invalid as error:  # the others are written, and the words printed
            failed.append(error)
    print_all(words)
    print_all(str(path) for path in drawn if named)
    print_all(str(path) for path in written if path not in drawn)
    if failed:
        raise failed[0]


class Exact(str):
    """Text that is printed as it is, however long its lines are: a file, or a change of one."""


def print_all(parts: Iterable[RenderableType]) -> None:
    """Print lines, tables and pictures as wide as the terminal; no word is cut.

    Without a terminal lines are printed as they are, unless COLUMNS says how wide they may be.
    """
    width = max(console.width, lines.LEAST)
    for part in parts:
        if isinstance(part, str):
            folded = _has_width() and not isinstance(part, Exact)
            print(visible(lines.wrap(part, width) if folded else part))
        else:
            with console.capture() as drawn:
                _draw(part, width)
            # A print stands above the lines of progress, if there are any.
            print(visible_in_colour(drawn.get()), end="")


def _has_width() -> bool:
    return sys.stdout.isatty() or bool(os.environ.get("COLUMNS"))


def _draw(part: RenderableType, width: int) -> None:
    if isinstance(part, Table):
        part = tables.fit(part, width)
    elif isinstance(part, Text):
        part = Text("\n").join(lines.wrapped(part, width, lines.HANGING))
    console.print(part, width=width, highlight=False, no_wrap=True, overflow="ignore", crop=False)


def settings(texts: Sequence[str] | None) -> dict[str, str]:
    """The Spark properties of --conf.  Raises Invalid for a text that is not KEY=VALUE."""
    for text in texts or ():
        if not re.match(r"[\w.]+=", text):
            raise Invalid(f"--conf {text}: write KEY=VALUE, as in spark.driver.memory=2g")
    return dict(text.split("=", 1) for text in texts or ())


def refuse_without_master(
    master: str | None, conf: Collection[str] | None, wait: float | None
) -> None:
    """Raise Invalid for options about Spark of a command that is to do without."""
    if master is None and (conf or wait is not None):
        raise Invalid(f"--{'conf' if conf else 'wait'} is for Spark: give --master, too")


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

    work: the folder for Spark's log and spills, of asif's own; raises Invalid if it is not.  size:
    calls of one of Spark's tasks.  wait: seconds for which the cluster may have no free worker;
    None: any time.
    """
    from model.machine import folders

    folders.refuse_foreign([work])

    def execute(call: Any, items: Sequence[Any]) -> Generator[Any, None, None]:
        if not items:  # Spark need not start
            return
        from spark_check.runtime.cluster.demand import ClusterDemand, needs_of
        from spark_check.runtime.parallel_calls import call_all
        from spark_check.runtime.session import BRIEF, session

        # BRIEF fits also long calls: Java only hands them out, and Python does the work.
        demand = ClusterDemand(needs_of(call), wait=wait, say=print_aside)
        with (
            folders.occupied(work),
            session(
                folders.emptied(work), master=master, conf={**BRIEF, **conf}, demand=demand
            ) as spark,
        ):
            yield from call_all(spark, call, items, size)

    return execute


@contextmanager
def levels_on_spark(
    work: Path, master: str, conf: Mapping[str, str], wait: float | None = None
) -> Iterator[StartLevels[Any]]:
    """A context in which Spark keeps the levels of a search.

    work: the folder for Spark's log and spills, and for the levels if `conf` names no other; of
    asif's own.  wait: as in calls_on_spark.  Raises Invalid if the folder is not asif's, or if
    another process works there.
    """
    from model.machine import folders
    from spark_check.runtime.cluster.demand import ROOMS, ClusterDemand
    from spark_check.runtime.levels import CONF, levels
    from spark_check.runtime.session import session

    demand = ClusterDemand(ROOMS["proofs"], wait=wait, say=print_aside)
    with folders.occupied(work):
        folders.emptied(work)  # a killed command leaves files
        try:
            with session(work, master=master, conf={**CONF, **conf}, demand=demand) as spark:
                yield partial(levels, spark, work / "levels")
        finally:
            folders.delete_inside(work / "levels")


def print_aside(line: str) -> None:
    """Print a line on standard error."""
    print(line, file=sys.stderr, flush=True)


def _as_json(result: Any) -> str:
    from model.results.plain import plain

    text = json.dumps(plain(result), indent=2, ensure_ascii=False)
    if not text.isascii() and re.search("[\ud800-\udfff]", text):  # half a character of UTF-16
        text = json.dumps(plain(result), indent=2)
    return f"{text}\n"


def write(path: Path, content: str | bytes) -> None:
    """Write a file whole, unless it is a pipe that nobody reads; --force: over any."""
    from model.machine import files

    with suppress(BrokenPipeError):
        files.write({path: content}, force=forced())
