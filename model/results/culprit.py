"""The culprit of a run that violates a property: the thing that went wrong, by name.

Rule of this file: values alone; proofs.explore.culprit finds them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class CulpritKind(StrEnum):
    """MISSING: an expected result never comes.  TWICE: a result comes more often than expected.
    MADE_UP: a result that no run without failures has.  COUNTED_TWICE: a result that an event went
    into more than once.  OUT_OF_ORDER: expected results in another order.  STUCK: nodes wait for
    each other, or go on without end.  STATE: the nodes or messages themselves.  FAILED_STEP: a step
    that answers nothing, or nothing that can be used."""

    MISSING = "missing"
    TWICE = "twice"
    MADE_UP = "made up"
    COUNTED_TWICE = "counted twice"
    OUT_OF_ORDER = "out of order"
    STUCK = "stuck"
    STATE = "state"
    FAILED_STEP = "failed step"


class WrongResult(NamedTuple):
    """A wrong result in a story: the number of its moment from 0, and its place among the emits of
    this moment."""

    moment: int
    emit: int


class LostCopy(NamedTuple):
    """The moment in which a result was lost for ever: the last copy of its events went, or
    a crash came for which nothing makes up.  node: that held the copy, or that crashed."""

    moment: int
    node: str


@dataclass(frozen=True, slots=True)
class Culprit:
    """says: what happened, in a sentence or two that name results, events, nodes and steps.

    result: as the story shows it; "" without one.  made_of: the events that it is, or would be,
    made of, as the story shows them.  wrong: the results of the story that are wrong.  lost: where
    a missing result was lost.  decided: the first moment after which no continuation of the run is
    right; None: not known, or no run with these events is right.  everyday: the guarantee of this
    run in everyday words, at rest or so far; "" where it has none.
    """

    kind: CulpritKind
    says: str
    result: str = ""
    made_of: tuple[str, ...] = ()
    wrong: tuple[WrongResult, ...] = ()
    lost: LostCopy | None = None
    decided: int | None = None
    everyday: str = ""
