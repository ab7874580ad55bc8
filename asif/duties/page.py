"""The table of duties in docs/reference/duties.md: `python -m asif.duties.page` renews it.

Rule of this file: no change outside the marks; people write nothing between the marks.
"""

from __future__ import annotations

from pathlib import Path

from asif.duties.duties import DUTIES
from reports.docs import between

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "duties.md"


def page(text: str) -> str:
    """The page with the table of duties between its marks."""
    rows = ["| duty | rule | reason | asked of |", "|---|---|---|---|"]
    for duty in DUTIES:
        asked = "files and families" if duty.of_files else "families"
        rows.append(f"| {duty.name} | {duty.rule} | {duty.reason} | {asked} |")
    return between(text, [*rows, ""])


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
