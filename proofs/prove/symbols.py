"""Symbols: the parts of a state, each a function of Z3 or a constant at every time.

Rule of this file: a symbol describes a state, and not its changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import z3

Axioms: TypeAlias = Mapping[str, Any]
"""Formulas about the symbols that never change, by name."""


class Symbol:
    """A part of the state: a relation, a function, or (without arguments) a value.

    Symbol("held", NODE, NODE, SAVE): the name, the sorts of the arguments, the sort of the value.
    """

    __slots__ = ("domain", "name", "range")

    def __init__(self, name: str, *sorts: Any) -> None:
        self.name = name
        self.domain = sorts[:-1]
        self.range = sorts[-1]

    def at(self, time: int) -> Any:
        """Its value at that time: a function of Z3, or a constant."""
        name = f"{self.name}@{time}"
        if not self.domain:
            return z3.Const(name, self.range)
        return z3.Function(name, *self.domain, self.range)

    def same(self, before: int, after: int) -> Any:
        """It does not change."""
        if not self.domain:
            return self.at(after) == self.at(before)
        args = [z3.Const(f"x{i}", sort) for i, sort in enumerate(self.domain)]
        return z3.ForAll(args, self.at(after)(*args) == self.at(before)(*args))


class AtTime:
    """The state at one time: `moment.held(n, m)`, `moment.heard`."""

    def __init__(self, symbols: Iterable[Symbol], times: Mapping[str, int] | int) -> None:
        self._symbols = {
            symbol.name: symbol.at(times if isinstance(times, int) else times[symbol.name])
            for symbol in symbols
        }

    def __getattr__(self, name: str) -> Any:
        try:
            return self._symbols[name]
        except KeyError:
            known = ", ".join(self._symbols)
            raise AttributeError(f"the state has no symbol {name!r}; it has {known}") from None
