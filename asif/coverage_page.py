"""The crash points of each mended protocol, in docs/reference/coverage.md: `python -m
asif.coverage_page` explores both profiles and renews it (minutes).

Rule of this file: no change outside the marks; people write nothing between the marks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from asif.progress import show_progress
from model.protocol import Protocol
from model.registry import modules
from model.results.verdict import Verdict
from proofs.explore.verdict import verdict
from reports.docs import between

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "coverage.md"


def page(text: str, found: Sequence[tuple[Verdict, Verdict]]) -> str:
    """The page with its tables between the marks.  found: of each protocol, the verdicts of the
    quick and of the full profile."""
    rows = ["| protocol | quick | full | missed in the full profile |", "|---|---|---|---|"]
    lists: list[str] = []
    for quick, full in found:
        reasons = Counter(one.why for one in full.missed).most_common()
        missed = "; ".join(f"{number} {why}" for why, number in reasons) or "none"
        cells = (f"{one.hit} of {one.points}" for one in (quick, full))
        rows.append(f"| {full.protocol} | {' | '.join(cells)} | {missed} |")
        lists += _listed(full)
    return between(text, [*rows, "", *lists])


def _listed(full: Verdict) -> Iterator[str]:
    if not full.missed:
        return
    yield f"Missed in the full profile of {full.protocol}:"
    yield ""
    yield from ("| point | why |", "|---|---|")
    for one in sorted(full.missed, key=lambda one: (one.why, one.point)):
        yield f"| `{one.point}` | {one.why} |"
    yield ""


def both(protocol: Protocol) -> tuple[Verdict, Verdict]:
    """The verdicts of the quick and of the full profile, without random runs."""
    quick, full = (verdict(protocol, profile=one, walks=0, examples=0) for one in ("quick", "full"))
    return quick, full


def main() -> None:
    known = [*modules().values()]
    found = []
    with show_progress() as progress:
        for done, protocol in enumerate(known):
            progress("exploring", done, len(known), protocol.name)
            found.append(both(protocol))
        progress("exploring", len(known), len(known), "done")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")


if __name__ == "__main__":
    main()
