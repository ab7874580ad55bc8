"""The table in docs/reference/proved.md: `python -m proofs.prove.lemma_page` writes it.

Rule of this file: the pinned answers alone; no solver is asked.
"""

from __future__ import annotations

from pathlib import Path

from model.evidence import Outcome
from proofs.prove.lemma import Lemma
from proofs.prove.lemma_index import theories

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "proved.md"
BEGIN = "<!-- generated -->\n"
"""The table stands below this mark, to the end of the page."""
HEAD = """
| lemma | answer | smallest size, or sizes covered | statement |
|---|---|---|---|
"""


def page(text: str) -> str:
    """The page with a line for each lemma below its mark.  Raises ValueError without the mark."""
    before, _ = text.split(BEGIN)
    rows = [_row(theory.of, lemma) for theory in theories().values() for lemma in theory.lemmas]
    return before + BEGIN + HEAD + "".join(rows)


def _row(family: str, lemma: Lemma) -> str:
    cells = (
        f'<a id="lemma-{family}-{lemma.name}"></a>{family}: {lemma.name}',
        "proved" if lemma.expect is Outcome.HOLDS else "refuted",
        lemma.erratum.size if lemma.erratum else lemma.scope,
        " ".join(lemma.statement.split()),
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
