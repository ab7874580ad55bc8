"""The arguments of a call of `holds` or `fails`: the edits that make it pin other numbers.

Rule of this file: only an argument that differs is touched; `holds` stays `holds`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from asif.pins.text import Edit, PythonText, Span
from model.core import Guarantee
from model.evidence import Outcome, PinnedScope


class Pins(NamedTuple):
    """The part of a pinned scope that a check finds.

    steps: None where a scope holds.  guarantee: None where nothing streams.
    """

    outcome: Outcome
    states: int | None
    steps: int | None
    guarantee: Guarantee | None

    @property
    def method(self) -> str:
        """The call without pins."""
        return ".holds()" if self.outcome is Outcome.HOLDS else ".fails()"

    @classmethod
    def of(cls, pinned: PinnedScope) -> Pins:
        return cls(pinned.expect, pinned.states, pinned.steps, pinned.guarantee)

    def changes(self, found: Pins, words: Mapping[Guarantee, str]) -> dict[str, str]:
        """The words of the arguments that differ, by name."""
        changes = {}
        for name in ("states", "steps"):
            number = getattr(found, name)
            if number is not None and number != getattr(self, name):
                changes[name] = f"{number:_}"
        if found.guarantee is not None and found.guarantee is not self.guarantee:
            changes["guarantee"] = words[found.guarantee]
        return changes

    def written(self, words: Mapping[Guarantee, str]) -> str:
        """A call that has these pins, without the case."""
        numbers = [f"{one:_}" for one in (self.states, self.steps) if one is not None]
        if self.guarantee is not None and self.guarantee is not Guarantee.PRECISE:
            numbers.append(words.get(self.guarantee, f"Guarantee.{self.guarantee.name}"))
        return self.method.replace("()", f"({', '.join(numbers)})")


PARAMETERS = {"holds": ("states", "guarantee"), "fails": ("states", "steps", "guarantee")}


def opaque(call: ast.Call) -> bool:
    """Does the call have arguments by * or **, whose names do not stand in it?"""
    starred = any(isinstance(one, ast.Starred) for one in call.args)
    return starred or any(one.arg is None for one in call.keywords)


def edits(source: PythonText, call: ast.Call, changes: Mapping[str, str]) -> Iterator[Edit]:
    """The edits that give the arguments these words.

    A new argument stands at its place, if those before it do; else it has a name and is the last.
    """
    assert isinstance(call.func, ast.Attribute)
    parameters = PARAMETERS[call.func.attr]
    given = dict(zip(parameters, call.args, strict=False))
    given |= {one.arg: one.value for one in call.keywords if one.arg in parameters}
    placed: list[str] = []
    named: list[str] = []
    for at, name in enumerate(parameters):
        if name in changes and name in given:
            yield Edit(source.span(given[name]), changes[name])
        elif name in changes and at == len(call.args) + len(placed):
            placed.append(changes[name])
        elif name in changes:
            named.append(f"{name}={changes[name]}")
    begin, spans = source.arguments(call)
    if placed and call.args:
        yield _insert(spans[len(call.args) - 1].end, ", ".join(["", *placed]))
    elif placed and spans:
        yield _insert(spans[0].start, ", ".join([*placed, ""]))
    elif placed:
        yield _insert(begin, ", ".join(placed))
    if named:
        yield _insert(spans[-1].end, ", ".join(["", *named]))


def _insert(place: int, words: str) -> Edit:
    return Edit(Span(place, place), words)
