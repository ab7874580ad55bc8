"""The help page of a command: typer's, then the names that it takes, examples and exit codes.

Rule of this file: no word of a command; a bracket in a help text is no markup.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from rich.console import Console
from rich.markup import escape
from typer.core import TyperCommand, TyperGroup, TyperOption

from asif.examples import examples
from asif.names import listed
from reports.lines import LEAST, wrap

COMMENT = 36
"""The column of the comments behind examples."""


class HelpfulCommand(TyperCommand):
    """A command whose help page has names, examples and exit codes."""

    def __init__(self, *args: Any, **how: Any) -> None:
        super().__init__(*args, **how)
        self.help = escape(self.help or "")
        for param in self.params:
            if getattr(param, "help", None):
                param.help = escape(param.help)  # type: ignore[attr-defined]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the page."""
        _without_escapes()
        _group(self.params)
        end, self.epilog = self.epilog, None  # typer would print it in front of the examples
        super().format_help(ctx, formatter)
        _print_end([*_names_and_examples(self.name or ""), end or ""])


def _group(params: Iterable[Any]) -> None:
    """Put options that many commands share into the group of --out, where a command has groups."""
    options = [one for one in params if isinstance(one, TyperOption)]
    group = next((one.rich_help_panel for one in options if one.name == "out"), None)
    for one in options:
        one.rich_help_panel = one.rich_help_panel or group


class HelpfulGroup(TyperGroup):
    """All commands, whose help page has the exit codes."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the page."""
        _without_escapes()
        end, self.epilog = self.epilog, None
        super().format_help(ctx, formatter)
        more = "`asif COMMAND -h` has the options of a command, and examples."
        _print_end([more, "", end or ""])


def _without_escapes() -> None:
    """Have typer print no escape where the user wants none: NO_COLOR alone leaves bold ones."""
    from typer import rich_utils

    if os.environ.get("NO_COLOR"):
        rich_utils.COLOR_SYSTEM = None


def _names_and_examples(command: str) -> Iterator[str]:
    for line in listed(command):
        yield from (line, "")
    if found := [*examples(command)]:
        yield "Examples:"
        yield from (f"  {_aligned(line)}" for line in found)
        yield ""


def _aligned(line: str) -> str:
    """An example with its comment in the column of comments."""
    words, hash_, comment = line.partition("  #")
    return f"{words.rstrip():{COMMENT}} # {comment.strip()}" if hash_ else line


def _print_end(found: Iterable[str]) -> None:
    width = max(Console().width, LEAST) - 1
    for line in found:
        print("\n".join(f" {part}" if part else "" for part in wrap(line, width).split("\n")))
    print()
