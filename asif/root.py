"""The options of `asif` itself: its version, and the completion of words by a shell.

Rule of this file: no command and no work.
"""

from __future__ import annotations

from typing import Annotated

import typer

from asif.completion import SHELLS, install_script, show_script

SHELL = "|".join(("auto", *SHELLS))


def _show_version(_: typer.Context, value: bool) -> None:
    if value:
        from asif.versions import lines

        for line in lines():
            print(line)
        raise typer.Exit


def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Print the versions of asif, of Python and of its libraries, and the commit.",
            callback=_show_version,
            is_eager=True,
        ),
    ] = False,
    install_completion: Annotated[
        str | None,
        typer.Option(
            metavar=SHELL,
            help="Have a shell complete commands, options and names.",
            callback=install_script,
            is_eager=True,
        ),
    ] = None,
    show_completion: Annotated[
        str | None,
        typer.Option(
            metavar=SHELL,
            help="Print the script that does so.",
            callback=show_script,
            is_eager=True,
        ),
    ] = None,
) -> None:
    """The options are callbacks: each ends the program."""
