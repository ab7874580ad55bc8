"""`asif classify`: the class of an operator, derived from its code."""

from __future__ import annotations

from typing import Annotated

import typer

from asif.console import JsonOption, publish
from asif.limits import PAIRS, at_most
from asif.names import boxes


def classify(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[BOX|FILE.py]", help="A box; default: all.", autocompletion=boxes),
    ] = None,
    limit: Annotated[
        int,
        typer.Option(min=1, help="Give up after so many pairs of states.", callback=at_most(PAIRS)),
    ] = 50_000,
    json_: JsonOption = None,
) -> None:
    """Derive the class of an operator: repeatable, convergent-capable, deterministic, arbitrary."""
    from asif.progress import show_progress
    from proofs.classify import verdict as classifying
    from reports import commands

    chosen = classifying.choose(name)
    results = []
    with show_progress() as progress:
        for at, one in enumerate(chosen):
            progress("classifying", at, len(chosen), one.name)
            results.append(classifying.verdict(one, limit))
        progress("classifying", len(chosen), len(chosen))
    publish(commands.classes(results, in_full=name is not None), results, json_)
    if any(result.class_ is None for result in results):
        raise typer.Exit(1)
