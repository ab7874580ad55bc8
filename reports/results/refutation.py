"""The culprit of a run that violates a property, then the run, drawn.

Rule of this file: the first lines of a verdict, and of no other output.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from rich.console import RenderableType
from rich.text import Text

from model.results.attack import AttackFailure
from model.results.verdict import ScopeCounterexample
from reports.diagrams import terminal
from reports.results.words import steps

MOST_ROWS = 25
"""A run with more rows is not drawn whole, unless that is asked for."""

RunThatFails: TypeAlias = ScopeCounterexample | AttackFailure


def refutation(found: RunThatFails, where: str, *, long: bool = False) -> Iterator[RenderableType]:
    """The culprit by name, the violated property, and the run.

    where: the scope or the attack that has the run.  long: draw the run whole.
    """
    yield from _culprit(found, where)
    yield ""
    most = None if long else MOST_ROWS
    yield terminal.style(found.story, culprit=found.culprit, most=most)
    yield ""


def _culprit(found: RunThatFails, where: str) -> Iterator[RenderableType]:
    """The fault by name, then the property, then the guarantee of this run."""
    culprit = found.culprit
    happened = found.property if culprit is None else culprit.says
    yield Text(f"Violated in {steps(found.steps)} ({where}): {happened}", style="red")
    if culprit is not None:
        yield Text(f"Property: {found.property}")
        if culprit.everyday:
            yield Text(f"This run in everyday words: {culprit.everyday}")
