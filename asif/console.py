"""What the commands share: their common options, how they print, how they write files.

Rule of this file: it knows no command.
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
    Profile, typer.Option(help="quick: the small scopes; full: all of them, more random runs.")
]
JsonOption: TypeAlias = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON.")
]
MasterOption: TypeAlias = Annotated[str, typer.Option(help="As Spark writes it.")]
ConfOption: TypeAlias = Annotated[
    list[str] | None, typer.Option(metavar="KEY=VALUE", help="Of Spark; repeatable.")
]


def print_all(parts: Iterator[RenderableType]) -> None:
    """Lines as they are, however long; everything else as wide as the terminal."""
    for part in parts:
        if isinstance(part, str):
            print(part)
        else:
            console.print(part, highlight=False)


def settings(texts: Sequence[str] | None) -> dict[str, str]:
    """The Spark properties that --conf gives."""
    for text in texts or ():
        if not re.match(r"[\w.]+=", text):
            raise Invalid(f"--conf {text}: write KEY=VALUE, as in spark.driver.memory=2g")
    return dict(text.split("=", 1) for text in texts or ())


def save(path: Path | None, result: Any) -> None:
    """Write the result of a command as JSON, if it is asked for."""
    if path is not None:
        write(path, json.dumps(result, indent=2, ensure_ascii=False) + "\n")


def write(path: Path, content: str | bytes) -> None:
    """Write a file whole and print its name."""
    from reports import files

    files.write({path: content})
    print(path)
