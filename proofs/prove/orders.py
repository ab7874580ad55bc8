"""Total orders in Z3: one relation, and all that is said with it.

Rule of this file: an order is a reflexive relation `le` of one sort; whoever needs another form of
it (less, the later of two, a comparison of tuples) finds it here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import z3
from z3 import And, ForAll, Implies, Not, Or


class TotalOrder:
    """The total order of a sort.  name: of the relation in formulas and structures."""

    __slots__ = ("le", "sort")

    def __init__(self, sort: Any, name: str = "le") -> None:
        self.sort = sort
        self.le = z3.Function(name, sort, sort, z3.BoolSort())

    def less(self, one: Any, other: Any) -> Any:
        """`one` comes before `other`."""
        return And(self.le(one, other), one != other)

    def later(self, one: Any, other: Any) -> Any:
        """The later of the two."""
        return z3.If(self.le(one, other), other, one)

    def prefix(self, done: Any) -> Any:
        """`done` holds of all elements before one of which it holds."""
        a, b = z3.Consts("a b", self.sort)
        return ForAll([a, b], Implies(And(done(b), self.le(a, b)), done(a)))

    def follows(self, element: Any, before: Any, after: Any) -> Any:
        """`before` holds of all elements before this one, `after` of this one, too."""
        a = z3.Const("a", self.sort)
        first = ForAll([a], Implies(self.less(a, element), before(a)))
        return And(
            Not(before(element)), first, ForAll([a], after(a) == Or(before(a), a == element))
        )

    @property
    def axiom(self) -> Any:
        """The relation is a total order."""
        a, b, c = z3.Consts("a b c", self.sort)
        le = self.le
        return And(
            ForAll([a], le(a, a)),
            ForAll([a, b], Or(le(a, b), le(b, a))),
            ForAll([a, b], Implies(And(le(a, b), le(b, a)), a == b)),
            ForAll([a, b, c], Implies(And(le(a, b), le(b, c)), le(a, c))),
        )


def lexical(ones: Sequence[Any], others: Sequence[Any], otherwise: Any) -> Any:
    """The tuple of numbers `ones` is less than `others`: the first difference decides.

    otherwise: what is so if there is none.
    """
    smaller = otherwise
    for one, other in reversed(list(zip(ones, others, strict=True))):
        smaller = Or(one < other, And(one == other, smaller))
    return smaller
