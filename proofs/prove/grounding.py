"""Formulas over worlds of a given size, without quantifiers.

Rule of this file: every quantifier over an uninterpreted sort becomes a conjunction or disjunction
over its elements, and every symbol is said to have one of them as its value.  Such a formula is
decidable whatever it was before; it says nothing about larger worlds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, TypeAlias

import z3

from proofs.prove.structure import Term

Sizes: TypeAlias = Mapping[Any, int]
"""How many elements each uninterpreted sort has."""


def ground(formulas: Sequence[Any], sizes: Sizes) -> list[Any]:
    """The formulas in a world in which every sort has exactly the given size.

    Raises ValueError for a sort without a size.
    """
    return _grounding(tuple(sizes.items())).ground(formulas)


def element(sort: Any, i: int) -> Any:
    """The i-th element of a sort, counted from 0."""
    return z3.Const(f"{sort}#{i}", sort)


class _Grounding:
    """One world.  It remembers its results, because queries of a lemma share most formulas.

    The memos are by id of a term, which they keep alive, because Z3 uses ids again.
    """

    def __init__(self, sizes: Sizes) -> None:
        self._elements = {
            sort.name(): [element(sort, i) for i in range(size)] for sort, size in sizes.items()
        }
        self._expanded: dict[int, tuple[Any, Any]] = {}
        self._closed: dict[int, tuple[Any, list[Any]]] = {}

    def ground(self, formulas: Sequence[Any]) -> list[Any]:
        grounded = [self._expand(formula) for formula in formulas]
        claims = [z3.Distinct(*values) for values in self._elements.values() if len(values) > 1]
        for declaration in declarations(formulas):
            claims += self._close(declaration)
        return [*claims, *grounded]

    def _close(self, symbol: Any) -> list[Any]:
        """The claims that every value of the symbol is an element."""
        if symbol.get_id() not in self._closed:
            values, claims = self._elements.get(symbol.range().name()), []
            if values is not None:
                domains = [self._carrier(symbol.domain(i)) for i in range(symbol.arity())]
                for args in product(*domains):
                    claims.append(z3.Or(*(symbol(*args) == value for value in values)))
            self._closed[symbol.get_id()] = symbol, claims
        return self._closed[symbol.get_id()][1]

    def _expand(self, term: Any, bound: tuple[Any, ...] = ()) -> Any:
        """bound: the sorts of the variables of the quantifiers around it, the innermost last."""
        if term.get_id() in self._expanded:
            known, result = self._expanded[term.get_id()]
            return term if result is known else result
        result = term
        if z3.is_quantifier(term):
            own = tuple(term.var_sort(i) for i in range(term.num_vars()))
            domains = [self._carrier(sort) for sort in own]
            # Inner quantifiers first: each term is substituted once, by Z3.
            body = self._expand(term.body(), bound + own)
            # Variable 0 is the innermost one, so the arguments are substituted in reverse.
            around = [z3.Var(i, sort) for i, sort in enumerate(reversed(bound))]
            cases = [
                z3.substitute_vars(body, *reversed(args), *around) for args in product(*domains)
            ]
            result = z3.And(*cases) if term.is_forall() else z3.Or(*cases)
        elif z3.is_app(term) and term.num_args():
            children = term.children()
            parts = [self._expand(child, bound) for child in children]
            if any(part is not child for part, child in zip(parts, children, strict=True)):
                result = term.decl()(*parts)
        self._expanded[term.get_id()] = term, result
        return result

    def _carrier(self, sort: Any) -> Sequence[Any]:
        if sort == z3.BoolSort():
            return [z3.BoolVal(False), z3.BoolVal(True)]
        if sort.name() not in self._elements:
            known = ", ".join(self._elements)
            raise ValueError(f"the sort {sort} has no size; sizes are given for {known}")
        return self._elements[sort.name()]


@lru_cache(maxsize=128)
def _grounding(sizes: tuple[tuple[Any, int], ...]) -> _Grounding:
    return _Grounding(dict(sizes))


def declarations(formulas: Sequence[Any]) -> list[Any]:
    """Every uninterpreted symbol of some formulas, constants included."""
    found = {
        symbol.get_id(): symbol
        for formula in reversed(formulas)
        for symbol in _declarations(Term(formula))
    }
    return list(found.values())


@lru_cache(maxsize=4096)
def _declarations(term: Term) -> list[Any]:
    found: dict[int, Any] = {}
    seen: set[int] = set()
    stack = [term.formula]
    while stack:
        part = stack.pop()
        if part.get_id() in seen:
            continue
        seen.add(part.get_id())
        if z3.is_quantifier(part):
            stack.append(part.body())
        elif z3.is_app(part):
            if part.decl().kind() == z3.Z3_OP_UNINTERPRETED:
                found[part.decl().get_id()] = part.decl()
            stack += part.children()
    return list(found.values())
