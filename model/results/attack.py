"""The results of a random attack, and of a hunt for a mutant.

Rule of this file: fields alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from model.results.culprit import Culprit
from model.results.plain import key
from model.results.steps import SteppedRun
from model.results.story import Story


@dataclass(frozen=True, slots=True)
class AttackFailure:
    """A random run that violates a property, shrunk.

    by: the finder, "walk" or "hypothesis".  property: its name.  pytest: the text of a module that
    replays the run.  run: by steps, if it was asked for.
    """

    by: str
    property: str
    steps: int
    story: Story
    pytest: str
    culprit: Culprit | None = key(absent=True, default=None)
    run: SteppedRun | None = key(absent=True, default=None)


@dataclass(frozen=True, slots=True)
class AttackResult:
    """walks, examples: runs made, by walking and by Hypothesis.  actions: in all runs together."""

    walks: int = 0
    examples: int = 0
    actions: int = 0
    seconds: float = 0.0
    failure: AttackFailure | None = None


@dataclass(frozen=True, slots=True)
class MutantResult:
    """A mutant: one line `old` of a module, replaced by `new`.

    by: the checker that found it: "explorer", "walk", "hypothesis" or "deployment"; None: nobody.
    scope: the scope in which the checker found it.  steps: of the run that shows it.
    """

    name: str
    module: str
    old: str
    new: str
    by: str | None
    scope: str | None
    seconds: float
    states: int
    steps: int | None
