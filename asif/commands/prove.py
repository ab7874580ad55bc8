"""`asif prove`: prove or refute lemmas with Z3."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from asif.console import JsonOption, print_all, publish
from asif.early import result_file, result_folder
from asif.force import forced
from asif.names import protocols
from asif.processes import call_all


def prove(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME|FILE.py]",
            help="A protocol or a lemma; default: all.",
            autocompletion=protocols,
        ),
    ] = None,
    mutants: Annotated[
        bool, typer.Option("--mutants", help="Also drop each hypothesis: is it needed?")
    ] = False,
    cvc5: Annotated[bool, typer.Option("--cvc5", help="Also ask a second solver.")] = False,
    drift: Annotated[
        bool, typer.Option("--drift", help="Compare the formulas with the Python code.")
    ] = False,
    smtlib: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write every query as SMT-LIB.", callback=result_folder),
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write lemmas and counterexamples.", callback=result_file
        ),
    ] = None,
    json_: JsonOption = None,
) -> None:
    """Prove or refute lemmas with Z3; an unbounded lemma is about worlds of any size."""
    from asif.progress import show_progress
    from model.machine import files
    from proofs.prove import prover as proving
    from proofs.prove.lemma_index import choose
    from reports import commands, page

    subjects = choose(name)
    if smtlib is not None:
        queries = proving.smtlib(subjects)
        files.write({smtlib / path: text for path, text in queries.items()}, force=forced())
        print_all([f"{smtlib}: {len(queries)} queries"])
    with show_progress() as progress:
        worlds = proving.WORLDS if drift else 0
        results = proving.prove(
            subjects,
            mutants=mutants,
            opinion=cvc5,
            worlds=worlds,
            execute=call_all,
            progress=progress,
        )
    words = (line for one in results for line in (*commands.proofs(one), proving.summary(one)))
    publish(words, results, json_, {} if markdown is None else {markdown: page.lemmas(results)})
    if not all(result.fine for result in results):
        raise typer.Exit(1)
