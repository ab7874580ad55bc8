"""The classes of operators, and the types of recovery: Figures 3 and 2 of Hwang et al.

Rule of this file: fields alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from model.core import Guarantee, OperatorClass
from model.results.grid import Grid
from model.results.plain import key


@dataclass(frozen=True, slots=True)
class ClassWitness:
    """Why a box is not of a smaller class.  circle: the number of the last rows that repeat without
    end."""

    not_of: OperatorClass
    why: str
    circle: int
    grid: Grid


@dataclass(frozen=True, slots=True)
class BoxResult:
    """The class of a box.  paper: the class in the paper; None: the paper does not speak of it.
    undecided: None, or why the class is None.  pairs: the number of pairs of states that were
    compared."""

    name: str
    title: str
    box: str
    paper: OperatorClass | None
    class_: OperatorClass | None = key("class", default=None)
    pairs: int | None = None
    undecided: str | None = None
    witnesses: tuple[ClassWitness, ...] = ()

    @property
    def differs(self) -> bool:
        """Is the class another one than in the paper?"""
        return None not in (self.class_, self.paper) and self.class_ is not self.paper


@dataclass(frozen=True, slots=True)
class RecoveryTypeResult:
    """An output before and after a failure, with its type in the paper, the type found, and the one
    by values alone."""

    paper: Guarantee
    before: str
    after: str
    found: Guarantee
    by_values: Guarantee


@dataclass(frozen=True, slots=True)
class OperatorResults:
    """What operators mean: the rows of both figures."""

    figure_2: tuple[RecoveryTypeResult, ...] = ()
    figure_3: tuple[BoxResult, ...] = ()
