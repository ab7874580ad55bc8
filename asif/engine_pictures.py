"""The pictures of the page "Bugs of real engines": `python -m asif.engine_pictures` draws them.

Rule of this file: a shortest run of each flawed form, and no choice of its own.
"""

from __future__ import annotations

from model.core import Guarantee
from proofs.explore.explorer import explore
from proofs.explore.story import story
from reports import engines
from reports.diagrams import spacetime


def picture(name: str) -> str:
    """A shortest run that refutes the flawed form in a file, as SVG."""
    protocol, pinned = engines.refuted(name)
    found = explore(protocol, pinned.scope, until=Guarantee.PRECISE).counterexample
    assert found is not None  # as pinned
    return spacetime.svg(story(found.trace), caption=found.property.name)


def write() -> None:
    engines.PICTURES.mkdir(parents=True, exist_ok=True)
    for bug in engines.BUGS:
        (engines.PICTURES / f"{bug.file}.svg").write_text(picture(bug.file), encoding="utf-8")


if __name__ == "__main__":
    write()
