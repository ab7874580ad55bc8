"""Pins: the text of a protocol's file after a check, with the numbers that the check found.

Rule of this file: nothing is written here; the new text is run before anybody sees it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import TypeAlias

from asif.pins.arguments import Pins, edits, opaque
from asif.pins.made import MadeScope, MadeScopes, run_text
from asif.pins.text import Edit, PythonText
from model.errors import Invalid
from model.evidence import Outcome
from model.results.verdict import ScopeResult, Verdict

_All: TypeAlias = Mapping[tuple[str, str], Pins]
"""Pins by the names of a protocol and a scope."""


@dataclass(frozen=True)
class Pinning:
    """The text of a file before and after.  pinned: the scopes whose pins change.

    refused: why other scopes cannot be pinned, a line each.
    """

    before: PythonText
    after: PythonText
    pinned: tuple[str, ...]
    refused: tuple[str, ...]

    def diff(self, name: str) -> str:
        """The change as people read it."""
        before, after = self.before.lines, self.after.lines
        return "\n".join(unified_diff(before, after, name, name, "", "", 1, ""))


class _Refused(Exception):
    """The reason for which a scope cannot be pinned."""


def pin(path: Path, source: PythonText, result: Verdict) -> Pinning:
    """The text with the pins that were found in the protocol or variant of the result."""
    made = run_text(path, source)
    old = {place: Pins.of(pinned) for place, pinned in made.pins.items()}
    found: dict[tuple[str, str], Pins] = {}
    changed: list[Edit] = []
    refused: list[str] = []
    for row in result.scopes:
        if row.derived is not None and row.derived is not row.operators:
            refused.append(f"{row.name}: correct the class of operators in its case")
        try:
            new = [*_edits(source, made, result.protocol, row)]
        except _Refused as why:
            refused.append(f"{row.name}: {why}")
        else:
            if new:
                changed += new
                found[result.protocol, row.name] = _found(row)
    after = source.edited(changed)
    differs = _difference(path, after, {**old, **found}) if found else ""
    if differs:
        return Pinning(source, source, (), (*refused, differs))
    return Pinning(source, after, tuple(name for _, name in found), tuple(refused))


def _found(row: ScopeResult) -> Pins:
    """The pins of a scope as it was found."""
    steps = None if row.counterexample is None else row.counterexample.steps
    return Pins(row.outcome, row.states, steps, row.guarantee)


def _edits(source: PythonText, made: MadeScopes, protocol: str, row: ScopeResult) -> Iterator[Edit]:
    """The edits of the call that made the scope; none if all is as it says.  Raises _Refused."""
    pinned, found = made.pins[protocol, row.name], _found(row)
    present, call = Pins.of(pinned), made.of(pinned)
    if present == found or (row.as_pinned and not row.complete):
        return
    if Outcome.UNFINISHED in (found.outcome, present.outcome) or (
        found.outcome is present.outcome and not row.complete
    ):
        raise _Refused(f"not all worlds were seen: {row.spent or 'a step fails'}")
    if found.outcome is not present.outcome:
        raise _Refused(_other_verdict(row, found, call))
    if call is None:
        raise _Refused("no call of holds or fails in this file makes it; pin it where it is made")
    where = f"the call in line {call.line}"
    if (several := made.results(call)) > 1:
        raise _Refused(f"{where} makes {several} scopes; write a call for each")
    if others := [name for name in made.users(pinned) if name != protocol]:
        raise _Refused(f"{', '.join(others)} has it, too; write a call for each protocol")
    if opaque(call.node):
        raise _Refused(f"{where} has arguments by *; write each one")
    weakest = found.guarantee
    if weakest is not None and weakest is not present.guarantee and weakest not in call.words:
        guarantee = weakest.name.lower()
        raise _Refused(f"the guarantee is {guarantee}; import Guarantee, so that it can be named")
    yield from edits(source, call.node, present.changes(found, call.words))


def _other_verdict(row: ScopeResult, found: Pins, call: MadeScope | None) -> str:
    """The difference in the verdict, and the change that is left to a person."""
    differs = f"expected: {row.expect.value}; found: {found.outcome.value}"
    if call is None or found.outcome is Outcome.VACUOUS:
        return differs
    written = found.written(call.words) if row.complete else found.method
    return f"{differs}; if that is right, write {written} in line {call.line}"


def _difference(path: Path, after: PythonText, wanted: _All) -> str:
    """How the scopes of a text, which is run, differ from those that are wanted; empty: not."""
    try:
        pins = run_text(path, after).pins
    except Invalid as error:
        return f"the changed file cannot be imported: {error}"
    for (protocol, name), one in wanted.items():
        if (protocol, name) not in pins or Pins.of(pins[protocol, name]) != one:
            return f"the change does not reach {protocol}: {name}"
    return "" if len(pins) == len(wanted) else "the change adds or removes scopes"
