"""Formulas over worlds of a given size, without quantifiers.

Rule of this file: every quantifier over an uninterpreted sort becomes a conjunction or disjunction
over its elements, and every symbol is said to have one of them as its value.  Such a formula is
decidable whatever it was before; it says nothing about larger worlds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any, TypeAlias

import z3

Sizes: TypeAlias = Mapping[Any, int]
"""How many elements each uninterpreted sort has."""


def ground(formulas: Sequence[Any], sizes: Sizes) -> list[Any]:
    """The formulas in a world in which every sort has exactly the given size.

    Raises ValueError for a sort without a size.
    """
    elements = {
        sort.name(): [element(sort, i) for i in range(size)] for sort, size in sizes.items()
    }
    memo: dict[int, tuple[Any, Any]] = {}
    grounded = [_expand(formula, elements, memo) for formula in formulas]
    claims = [z3.Distinct(*values) for values in elements.values() if len(values) > 1]
    for declaration in declarations(formulas):
        values = elements.get(declaration.range().name())
        if values is None:
            continue
        domains = [_elements(declaration.domain(i), elements) for i in range(declaration.arity())]
        claims += [z3.Or(*(declaration(*args) == e for e in values)) for args in product(*domains)]
    return [*claims, *grounded]


def element(sort: Any, i: int) -> Any:
    """The i-th element of a sort, counted from 0."""
    return z3.Const(f"{sort}#{i}", sort)


def _expand(
    term: Any,
    elements: Mapping[str, Sequence[Any]],
    memo: dict[int, tuple[Any, Any]],
    bound: tuple[Any, ...] = (),
) -> Any:
    """memo: by id of a term, which it keeps alive, because Z3 uses ids again.  bound: the sorts of
    the variables of the quantifiers around it, the innermost last."""
    if term.get_id() in memo:
        return memo[term.get_id()][1]
    result = term
    if z3.is_quantifier(term):
        own = tuple(term.var_sort(i) for i in range(term.num_vars()))
        domains = [_elements(sort, elements) for sort in own]
        # Inner quantifiers first: what is substituted is substituted once, by Z3.
        body = _expand(term.body(), elements, memo, bound + own)
        # Variable 0 is the innermost one, so the arguments are substituted in reverse.
        around = [z3.Var(i, sort) for i, sort in enumerate(reversed(bound))]
        cases = [z3.substitute_vars(body, *reversed(args), *around) for args in product(*domains)]
        result = z3.And(*cases) if term.is_forall() else z3.Or(*cases)
    elif z3.is_app(term) and term.num_args():
        children = term.children()
        parts = [_expand(child, elements, memo, bound) for child in children]
        if any(part is not child for part, child in zip(parts, children, strict=True)):
            result = term.decl()(*parts)
    memo[term.get_id()] = term, result
    return result


def _elements(sort: Any, elements: Mapping[str, Sequence[Any]]) -> Sequence[Any]:
    if sort == z3.BoolSort():
        return [z3.BoolVal(False), z3.BoolVal(True)]
    if sort.name() not in elements:
        raise ValueError(f"the sort {sort} has no size; sizes are given for {', '.join(elements)}")
    return elements[sort.name()]


def declarations(formulas: Iterable[Any]) -> list[Any]:
    """Every uninterpreted symbol of some formulas, constants included."""
    found: dict[int, Any] = {}
    seen: set[int] = set()
    stack = list(formulas)
    while stack:
        term = stack.pop()
        if term.get_id() in seen:
            continue
        seen.add(term.get_id())
        if z3.is_quantifier(term):
            stack.append(term.body())
        elif z3.is_app(term):
            if term.decl().kind() == z3.Z3_OP_UNINTERPRETED:
                found[term.decl().get_id()] = term.decl()
            stack += term.children()
    return list(found.values())
