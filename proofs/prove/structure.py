"""Finite structures, and whether a formula of Z3 holds in one.

Rule of this file: it gives formulas the meaning that Z3 gives them, in plain Python and quickly, so
that proved formulas can be evaluated on the states of a program.  A formula is compiled, once, to a
Python function; quantifiers range over the carriers of the structure, those over integers over
the finite range that the structure gives, so a formula of integers is evaluated in part.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple, TypeAlias

import z3

Table: TypeAlias = Mapping[str, Any]
"""By name of the symbol: a value, a mapping from its argument (from the tuple of its arguments, if
there are several), or a function of its arguments."""

StateTable: TypeAlias = dict[str, Any]
"""The table of a state that an abstraction makes: all symbols of the state."""


class Structure(NamedTuple):
    """sorts: carriers by name of the sort; elements are any hashable values."""

    sorts: Mapping[str, Collection[Any]]
    symbols: Table


class Compiled(NamedTuple):
    """A formula as a function of its symbols and carriers, in the order in which they are named.

    symbols: by name, with the number of arguments.
    """

    symbols: tuple[tuple[str, int], ...]
    sorts: tuple[str, ...]
    function: Callable[..., Any]

    def holds(self, structure: Structure) -> bool:
        """Is it true?"""
        symbols = [_symbol(name, arity, structure) for name, arity in self.symbols]
        carriers = [_carrier(name, structure) for name in self.sorts]
        return bool(self.function(*symbols, *carriers))


_INFIX = {
    z3.Z3_OP_ADD: "+",
    z3.Z3_OP_SUB: "-",
    z3.Z3_OP_MUL: "*",
    z3.Z3_OP_LE: "<=",
    z3.Z3_OP_LT: "<",
    z3.Z3_OP_GE: ">=",
    z3.Z3_OP_GT: ">",
    z3.Z3_OP_EQ: "==",
    z3.Z3_OP_AND: " and ",
    z3.Z3_OP_OR: " or ",
    z3.Z3_OP_XOR: "!=",
}
_CONSTANT = {z3.Z3_OP_TRUE: "True", z3.Z3_OP_FALSE: "False"}


def holds(formula: Any, structure: Structure) -> bool:
    """Is it true?"""
    return compile_(formula).holds(structure)


def compile_(formula: Any) -> Compiled:
    """The formula as a function; remembered, because formulas are asked many times."""
    return _compiled(Term(formula))


class Term:
    """A formula as a key: equal if it is the same term; its own == builds another formula."""

    __slots__ = ("formula",)

    def __init__(self, formula: Any) -> None:
        self.formula = formula

    def __hash__(self) -> int:
        return int(self.formula.hash())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Term) and bool(self.formula.eq(other.formula))


@cache
def _compiled(term: Term) -> Compiled:
    symbols: dict[tuple[str, int], str] = {}
    sorts: dict[str, str] = {}
    body = _code(term.formula, [], symbols, sorts)
    names = ", ".join([*symbols.values(), *sorts.values()])
    function = eval(f"lambda {names}: {body}")
    return Compiled(tuple(symbols), tuple(sorts), function)


def _code(
    term: Any, bound: list[str], symbols: dict[tuple[str, int], str], sorts: dict[str, str]
) -> str:
    """Python for a term; `bound` are the variables of the quantifiers around it."""
    if z3.is_var(term):
        return str(bound[-1 - z3.get_var_index(term)])
    if z3.is_quantifier(term):
        return _quantify(term, bound, symbols, sorts)
    if z3.is_int_value(term):
        return f"({term.as_long()})"
    kind = term.decl().kind()
    parts = [_code(child, bound, symbols, sorts) for child in term.children()]
    if kind in _CONSTANT:
        return _CONSTANT[kind]
    if kind in (z3.Z3_OP_AND, z3.Z3_OP_OR) and not parts:
        return str(kind == z3.Z3_OP_AND)
    if kind in _INFIX:
        return "(" + _INFIX[kind].join(parts) + ")"
    if kind == z3.Z3_OP_NOT:
        return f"(not {parts[0]})"
    if kind == z3.Z3_OP_UMINUS:
        return f"(-{parts[0]})"
    if kind == z3.Z3_OP_IMPLIES:
        return f"((not {parts[0]}) or {parts[1]})"
    if kind == z3.Z3_OP_ITE:
        return f"({parts[1]} if {parts[0]} else {parts[2]})"
    if kind == z3.Z3_OP_DISTINCT:
        return f"(len({{{', '.join(parts)}}}) == {len(parts)})"
    if kind == z3.Z3_OP_UNINTERPRETED:
        name = (term.decl().name(), len(parts))
        local = symbols.setdefault(name, f"f{len(symbols)}")
        if not parts:
            return local
        return f"{local}[{', '.join(parts)}]"
    raise TypeError(f"no meaning for {term.decl().name()} in {term}")


def _quantify(
    term: Any, bound: list[str], symbols: dict[tuple[str, int], str], sorts: dict[str, str]
) -> str:
    inner = list(bound)
    loops = []
    for i in range(term.num_vars()):
        name = f"v{len(inner)}"
        inner.append(name)
        sort = term.var_sort(i).name()
        carrier = "(False, True)" if sort == "Bool" else sorts.setdefault(sort, f"s{len(sorts)}")
        loops.append(f"for {name} in {carrier}")
    body = _code(term.body(), inner, symbols, sorts)
    every = "all" if term.is_forall() else "any"
    return f"{every}({body} {' '.join(loops)})"


def _symbol(name: str, arity: int, structure: Structure) -> Any:
    """A value, or a table by argument (by the tuple of arguments)."""
    try:
        value = structure.symbols[name]
    except KeyError:
        known = ", ".join(sorted(structure.symbols))
        raise KeyError(f"the structure says nothing of {name}; it has {known}") from None
    if arity == 0 or isinstance(value, dict | Mapping):  # the first is quick, and nearly always so
        return value
    return _tabulated(value, arity)


class _Tabulated(dict[Any, Any]):
    """The values of a function, which is called once for each argument."""

    def __init__(self, function: Callable[..., Any], arity: int) -> None:
        super().__init__()
        self._function, self._arity = function, arity

    def __missing__(self, args: Any) -> Any:
        value = self[args] = self._function(args) if self._arity == 1 else self._function(*args)
        return value


_tabulated = lru_cache(maxsize=4096)(_Tabulated)


def _carrier(name: str, structure: Structure) -> Collection[Any]:
    try:
        return structure.sorts[name]
    except KeyError:
        raise KeyError(f"the structure has no carrier for the sort {name}") from None
