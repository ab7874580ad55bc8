"""The generator of docs/protocols.md: `python -m reports.docs` writes the page from the registry.

Rule of this file: no change outside the marks; people write nothing between the marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from model.core import Outcome, PinnedScope, Protocol
from model.registry import modules

PAGE = Path(__file__).parent.parent / "docs" / "protocols.md"
BEGIN, END = "<!-- generated -->", "<!-- end of generated -->"


def page(text: str) -> str:
    """The page with all protocols between its marks."""
    return between(text, [*_overview(), *_protocols()])


def between(text: str, lines: Sequence[str]) -> str:
    """The text with these lines between its marks.  Raises ValueError unless it has both marks."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return "\n".join([before + BEGIN, "", *lines, END + after])


def _overview() -> list[str]:
    rows = [
        "| protocol | expected | scopes | of them refuted |",
        "|---|---|---|---|",
    ]
    for protocol in modules().values():
        for variant in (protocol, *protocol.variants):
            refuted = sum(pinned.expect is Outcome.REFUTED for pinned in variant.scopes)
            expected = Outcome.REFUTED if refuted else Outcome.HOLDS
            cells = (variant.name, expected.value, str(len(variant.scopes)), str(refuted or ""))
            rows.append(_join(*cells))
    return [*rows, ""]


def _protocols() -> list[str]:
    parts: list[str] = []
    for protocol in modules().values():
        parts += [f"## {protocol.title}", "", f"{protocol.source}.", ""]
        for variant in (protocol, *protocol.variants):
            parts += _variant(variant)
        if protocol.mutants:
            parts += ["### Mutants", "", "One line of a module each, replaced.", ""]
        for mutant in protocol.mutants:
            parts += [f"- **{mutant.name}** (`{mutant.module}`)", "", "  ```diff"]
            parts += [f"  - {mutant.old}", f"  + {mutant.new}", "  ```", ""]
    return parts


def _variant(variant: Protocol) -> list[str]:
    head = [f"### {variant.name}", "", variant.finding, ""]
    table = [
        "| scope | operators | crashes | expected | worlds | guarantee | profile |",
        "|---|---|---|---|---|---|---|",
    ]
    return [*head, *table, *(_row(pinned) for pinned in variant.scopes), ""]


def _row(pinned: PinnedScope) -> str:
    expected = pinned.expect.value
    if pinned.expect is Outcome.REFUTED and pinned.steps is not None:
        expected += f" in {pinned.steps} steps"
    return _join(
        pinned.name,
        pinned.operators.name.lower().replace("_", "-"),
        str(pinned.scope.crashes),
        expected,
        f"{pinned.states:,}" if pinned.states is not None else "",
        pinned.guarantee.name.lower(),
        "quick" if pinned.quick else "full",
    )


def _join(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
