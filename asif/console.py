"""The parts that the commands share: common options, printing, writing of files.

Rule of this file: no knowledge of a command.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer
from rich.console import Console, RenderableType

from model.errors import Invalid

console = Console()


class Profile(StrEnum):
    QUICK = "quick"
    FULL = "full"


ProfileOption: TypeAlias = Annotated[
    Profile, typer.Option(help="quick: small scopes; full: all scopes and more random runs.")
]
JsonOption: TypeAlias = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON.")
]
MasterOption: TypeAlias = Annotated[str, typer.Option(help="Set Spark's master, as in local[4].")]
ConfOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=VALUE", help="Set a Spark property, as KEY=VALUE; may be repeated."),
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


def save(path: Path | None, result: Any) -> None:
    """Write the result of a command as JSON, if the user gave --json."""
    if path is not None:
        write(path, json.dumps(result, indent=2, ensure_ascii=False) + "\n")


def write(path: Path, content: str | bytes) -> None:
    """Write a file whole and print its name."""
    from reports import files

    files.write({path: content})
    print(path)
