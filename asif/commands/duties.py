"""`asif check --duties`: the rules that every protocol keeps, one line each.

Rule of this file: no rule (asif.duties); the file prints, and picks the exit code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from asif.console import publish
from model.errors import Invalid

if TYPE_CHECKING:
    from asif.duties.check import DutyResult


def print_duties(name: str | None, json_: Path | None, *, more: bool) -> None:
    """Check the duties of a protocol and its variants; exit with 1 if one is not kept.

    more: the user gave --all, --mutants or --operators, too.
    """
    from asif.duties.check import check_duties
    from model.registry import subject

    if more or name is None:
        raise Invalid(
            "--duties is for one protocol: give NAME or FILE.py, no --all, --mutants or --operators"
        )
    results = check_duties(name)
    publish(_lines(subject(name).protocol.name, results), results, json_)
    if any(result.faults for result in results):
        raise typer.Exit(1)


def _lines(name: str, results: Sequence[DutyResult]) -> Iterator[str]:
    for result in results:
        if not result.asked:
            yield f"{result.duty}: asked of the families in model/protocols alone"
        elif not result.faults:
            yield f"{result.duty}: kept"
        for fault in result.faults:
            yield f"{result.duty}: {fault}"
    asked = [result for result in results if result.asked]
    kept = sum(not result.faults for result in asked)
    yield f"duties of {name}: {kept} kept" + (f", {len(asked) - kept} not" * (kept < len(asked)))
