"""The changelog from its fragments: `python -m reports.changelog` moves them into CHANGELOG.md.

Rule of this file: a fragment is a list item, and is copied as it is; people write the words.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from model.errors import Invalid

ROOT = Path(__file__).parent.parent
PAGE, FRAGMENTS = ROOT / "CHANGELOG.md", ROOT / "changelog.d"
HEADING = "### Changed\n\n"


def fragments() -> list[Path]:
    """The files with fragments, in the order of their names."""
    return sorted(path for path in FRAGMENTS.glob("*.md") if path.name != "README.md")


def assembled(page: str, items: Sequence[str]) -> str:
    """The page with these items first below its first "Changed".  Raises Invalid for a text that is
    no list item, or a page without that heading."""
    if HEADING not in page:
        raise Invalid(f"{PAGE.name}: no heading {HEADING.strip()!r}")
    for item in items:
        if not item.startswith("- "):
            raise Invalid(f"{FRAGMENTS.name}: a fragment begins with '- ', and this one does not")
    text = "".join(f"{item.rstrip()}\n" for item in items)
    return page.replace(HEADING, HEADING + text, 1)


if __name__ == "__main__":
    found = fragments()
    texts = [path.read_text(encoding="utf-8") for path in found]
    PAGE.write_text(assembled(PAGE.read_text(encoding="utf-8"), texts), encoding="utf-8")
    for path in found:
        path.unlink()
