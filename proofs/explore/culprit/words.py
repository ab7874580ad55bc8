"""Words of the sentences about a culprit.

Rule of this file: texts of texts, numbers and moments; no run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from model.results.story import MomentKind, StoryMoment
from model.words import listed

MANY = 4
"""The number of things that a sentence names at most."""


def some_of(items: Iterable[object], join: str = "and") -> str:
    """ "a, b and c"; of many, the first ones and the number of the others."""
    texts = [*map(str, items)]
    if len(texts) > MANY:
        texts = [*texts[: MANY - 1], f"{len(texts) - MANY + 1} more"]
    return listed(texts, join)


def in_steps(steps: Sequence[int]) -> str:
    """ "in step 7" or "in steps 7 and 8"."""
    return f"in step{'s' if len(steps) > 1 else ''} {some_of(steps)}"


def times(number: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(number, f"{number} times")


def deed(moment: StoryMoment) -> str:
    """The thing that happens in a moment, in a few words."""
    after = ", and crashes" if moment.kind is not MomentKind.CRASH and moment.down else ""
    match moment.kind:
        case MomentKind.DELIVER if moment.from_ is not None:
            text = f"{moment.node} takes {moment.label} of {moment.from_.node}"
        case MomentKind.TIMEOUT:
            text = f"the timer {moment.label} of {moment.node} runs out"
        case MomentKind.INJECT:
            text = f"{moment.label} comes to {moment.node}"
        case MomentKind.REREAD:
            text = f"{moment.node} reads {moment.label}"
        case MomentKind.DISTURB:
            text = f"{moment.label} on the way to {moment.node}"
        case MomentKind.SUSPECT:
            text = f"{moment.node} is {moment.label}"
        case MomentKind.CRASH:
            text = f"{some_of(moment.down)} crash{'es' * (len(moment.down) == 1)}"
        case _:
            text = f"{moment.node} restarts"
    return text + after
