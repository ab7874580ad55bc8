"""`asif prove`: prove or refute lemmas with Z3."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from asif.console import JsonOption, print_all, publish
from asif.early import result_file, result_folder
from asif.force import forced
from asif.names import protocols
from asif.processes import call_all

if TYPE_CHECKING:
    from model.results.proofs import ProofResult
    from reports.commands import Output


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
    long: Annotated[
        bool,
        typer.Option("--long", help="Print all: each statement, and each counterexample."),
    ] = False,
    json_: JsonOption = None,
) -> None:
    """Prove or refute lemmas with Z3; an unbounded lemma is about worlds of any size."""
    from asif.progress import show_progress
    from model.machine import files
    from proofs.prove import prover as proving
    from proofs.prove.lemma_index import choose
    from reports import page

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
    whole = long or sum(len(one.lemmas) for one in results) == 1
    words = _words(results, whole=whole, all_=name is None)
    publish(words, results, json_, {} if markdown is None else {markdown: page.lemmas(results)})
    if not all(result.fine for result in results):
        raise typer.Exit(1)


def _words(results: Sequence[ProofResult], *, whole: bool, all_: bool) -> Output:
    """The output: a screen, or the whole of it.  all_: of all protocols, a line each."""
    from proofs.prove.prover import summary
    from reports import commands

    for one in results:
        if whole or not (all_ and one.fine):
            yield from commands.proofs(one, long=whole)
        yield summary(one)
    if not whole:
        yield "(--long: each statement, and each counterexample)"
