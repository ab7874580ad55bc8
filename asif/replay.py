"""`asif check --run FILE`: a run that `asif explore` saved, once more.

Rule of this file: nothing is explored; proofs.explore.stepping replays the run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType

from model.errors import Invalid, words_of
from model.machine.input_files import read_text

if TYPE_CHECKING:
    from model.results.explored import ReplayedRun, SavedRun


def read_run(path: Path) -> SavedRun:
    """The saved run in a file.  Raises Invalid."""
    from model.results.explored import SavedRun
    from model.results.plain import read

    text = read_text(path)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"{path}: it is no JSON: {error}") from None
    return read(SavedRun, value, str(path))


def replay(name: str | None, path: Path, *, long: bool) -> tuple[ReplayedRun, list[RenderableType]]:
    """The result of the replay, and its output.

    name: the protocol that runs it; None: the one that the file names.  long: the run is drawn
    whole.  Raises Invalid if the protocol does not offer one of its actions.
    """
    from model.registry import subject
    from model.results.explored import ReplayedRun
    from model.results.verdict import ScopeCounterexample
    from proofs.explore.culprit.find import find_culprit
    from proofs.explore.stepping.saved_runs import replay_saved
    from proofs.explore.story import story

    saved = read_run(path)
    protocol = subject(name or saved.subject).protocol
    try:
        trace, broken = replay_saved(protocol, saved)
    except Invalid as error:
        raise Invalid(f"{path}: {words_of(error)}") from None
    steps, shown = len(trace.actions), None
    if broken is not None:
        drawn = story(trace, broken.circle)
        culprit = find_culprit(broken, drawn)
        name = broken.property.name
        shown = ScopeCounterexample(name, steps, broken.circle, None, drawn, culprit)
    result = ReplayedRun(protocol.name, saved.scope, steps, shown)
    return result, [*_words(result, saved.violates, long=long)]


def _words(result: ReplayedRun, violates: str, *, long: bool) -> Iterator[RenderableType]:
    """violates: the property that the run violated when it was saved."""
    from reports.one_line import one_line
    from reports.results.refutation import refutation
    from reports.results.words import steps

    if result.counterexample is not None:
        yield from refutation(result.counterexample, "the saved run", long=long)
    broken = result.counterexample.property if result.counterexample else ""
    if violates not in ("", broken):
        yield f"when it was saved, it violated: {one_line(violates)}"
    ends = "refuted" if broken else "violates nothing"
    yield f"{result.protocol}, {one_line(result.scope)}: {steps(result.steps)}, {ends}"
