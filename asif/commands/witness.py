"""`asif witness`: a shortest run which shows that a guarantee is no stronger."""

from __future__ import annotations

from typing import Annotated

import typer

from asif.console import JsonOption, publish
from asif.limits import WORLDS, at_most
from asif.names import protocols


def witness(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE.py", help="A protocol or variant.", autocompletion=protocols
        ),
    ],
    scope: Annotated[
        str | None, typer.Argument(help="One of its scopes; default: all of them.")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="End a search after this number of worlds.",
            callback=at_most(WORLDS),
        ),
    ] = None,
    json_: JsonOption = None,
) -> None:
    """Find the weakest guarantee of each scope, and draw a shortest run that has it.

    The exit code is 0 if every world was seen and each guarantee is the expected one.
    """
    from asif.progress import show_progress
    from model.registry import subject
    from proofs.explore import witness as witnesses
    from reports.results import verdicts

    protocol = subject(name).protocol
    chosen = witnesses.choose(protocol, scope)
    results = []
    with show_progress() as progress:
        for at, pinned in enumerate(chosen):
            progress("searching", at, len(chosen), pinned.name)
            results.append(witnesses.witness(protocol, pinned, limit))
        progress("searching", len(chosen), len(chosen))
    publish(verdicts.witnesses(protocol.name, results), results, json_)
    if not all(result.expected for result in results):
        raise typer.Exit(1)
