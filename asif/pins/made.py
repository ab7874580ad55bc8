"""The calls of `holds` and `fails` in a protocol's file, and the scopes that each one makes.

Rule of this file: the code of the file is run as it is, but for a note of each such call's result.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from asif.pins.text import PythonText
from model.core import Guarantee
from model.errors import Invalid
from model.evidence import PinnedScope
from model.protocol import Protocol
from model.registry import module_of

_NOTE = "__made_by_call__"


class MadeScope(NamedTuple):
    """A scope and the call that made it.  words: how the file may name each guarantee there."""

    node: ast.Call
    result: PinnedScope
    words: Mapping[Guarantee, str]

    @property
    def line(self) -> int | None:
        return self.node.func.end_lineno


@dataclass(frozen=True)
class MadeScopes:
    """The protocol of a file, and the results of all calls that made scopes, in their order."""

    protocol: Protocol
    calls: tuple[MadeScope, ...]

    @property
    def protocols(self) -> tuple[Protocol, ...]:
        return self.protocol, *self.protocol.variants

    @property
    def pins(self) -> dict[tuple[str, str], PinnedScope]:
        """All scopes by the names of their protocol and their own."""
        return {
            (one.name, pinned.name): pinned
            for one in self.protocols
            for pinned in one.evidence.scopes
        }

    def of(self, pinned: PinnedScope) -> MadeScope | None:
        """The call that made this very scope; None: it stands in no call of the file."""
        return next((made for made in self.calls if made.result is pinned), None)

    def results(self, call: MadeScope) -> int:
        """How many scopes the call made."""
        return sum(made.node is call.node for made in self.calls)

    def users(self, pinned: PinnedScope) -> list[str]:
        """The names of the protocols that have this very scope."""
        return [
            one.name
            for one in self.protocols
            if any(scope is pinned for scope in one.evidence.scopes)
        ]


def run_text(path: Path, source: PythonText) -> MadeScopes:
    """The scopes that a text makes in the place of the file's.  Raises Invalid if it cannot run."""
    made: list[MadeScope] = []
    with module_of(path) as module:
        noting = _Noting()
        tree = ast.fix_missing_locations(noting.visit(source.parse()))

        def note(number: int, result: Any) -> Any:
            if isinstance(result, PinnedScope):
                made.append(MadeScope(noting.calls[number], result, _words(module)))
            return result

        setattr(module, _NOTE, note)
        exec(compile(tree, str(path.resolve()), "exec", dont_inherit=True), vars(module))
    protocol = getattr(module, "PROTOCOL", None)
    if not isinstance(protocol, Protocol):
        raise Invalid(f"{path}: it has no PROTOCOL when it is imported again")
    return MadeScopes(protocol, tuple(made))


class _Noting(ast.NodeTransformer):
    """The transformation that hands the result of each call of `holds` and `fails` to a function,
    with the number of the call."""

    def __init__(self) -> None:
        self.calls: list[ast.Call] = []

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if not (isinstance(node.func, ast.Attribute) and node.func.attr in ("holds", "fails")):
            return node
        self.calls.append(node)
        number = ast.Constant(len(self.calls) - 1)
        return ast.copy_location(ast.Call(ast.Name(_NOTE, node.func.ctx), [number, node], []), node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        return node  # Python 3.11 does not know where its parts stand


def _words(module: ModuleType) -> dict[Guarantee, str]:
    """How the code of a module may name the guarantees at this moment: as it does, if it can."""
    known = vars(module)
    homes = [name for name, value in known.items() if value is Guarantee]
    homes += [
        f"{name}.Guarantee"
        for name, value in known.items()
        if isinstance(value, ModuleType) and getattr(value, "Guarantee", None) is Guarantee
    ]
    own = {one: one.name for one in Guarantee if known.get(one.name) is one}
    return {one: f"{homes[0]}.{one.name}" for one in Guarantee if homes} | own
