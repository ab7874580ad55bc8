"""`asif check`: explore every small world, and attack at random."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from asif.console import JsonOption, Profile, ProfileOption, console, print_all, save, write
from model.errors import Invalid


def check(
    name: Annotated[str, typer.Argument(metavar="NAME|FILE.py[:VARIANT]")],
    mutants: Annotated[bool, typer.Option("--mutants", help="Hunt the mutants as well.")] = False,
    profile: ProfileOption = Profile.QUICK,
    walks: Annotated[
        int | None, typer.Option(min=0, help="Set the number of random walks.")
    ] = None,
    examples: Annotated[
        int | None, typer.Option(min=1, help="Set the number of random runs by Hypothesis.")
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Write diagrams and replaying tests to this folder.")
    ] = Path("build/check"),
    json_: JsonOption = None,
) -> None:
    """Explore every small world, and attack at random: verdict, coverage, counterexample."""
    from model.core import Outcome
    from model.registry import absolute, subject
    from proofs.explore.verdict import mutation, verdict
    from reports import commands
    from reports.progress import progress

    chosen = subject(name)
    if mutants and not chosen.protocol.mutants:
        raise Invalid(f"{chosen.protocol.name} has no mutants")
    with progress() as watch:
        result = verdict(
            chosen.protocol,
            profile=profile.value,
            walks=walks,
            examples=examples,
            called=absolute(name),
            progress=watch,
        )
        if mutants:
            result["mutants"] = mutation(chosen.protocol, chosen.home, watch)
    print_all(commands.verdict(result))
    if result["outcome"] == Outcome.REFUTED.value:
        _write_failures(result, out)
    if mutants:
        print_all(commands.mutants(result["mutants"]))
    save(json_, result)
    survived = mutants and any(row["by"] is None for row in result["mutants"])
    if result["outcome"] != Outcome.HOLDS.value or not result["expected"] or survived:
        raise typer.Exit(1)


def _write_failures(result: Mapping[str, Any], out: Path) -> None:
    """Write the shortest counterexample as a diagram, and a test that replays the failure of the
    attack."""
    from reports.diagrams import spacetime, terminal

    failed = [row["counterexample"] for row in result["scopes"] if row["counterexample"]]
    failure = result["attack"]["failure"]
    if failed or failure:
        shortest = min(failed, key=lambda counterexample: counterexample["steps"], default=failure)
        caption = shortest["property"]
        console.print(terminal.style(shortest["story"], caption=caption))
        stem = result["protocol"].replace(":", "-")
        write(out / f"{stem}.svg", spacetime.svg(shortest["story"], caption=caption))
    if failure is not None:
        stem = "test_" + result["protocol"].replace(":", "_").replace("-", "_")
        write(out / f"{stem}.py", failure["pytest"])
