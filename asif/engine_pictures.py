"""The pictures of the page "Bugs of real engines": `python -m asif.engine_pictures` draws them.

Rule of this file: a shortest run of each flawed form, and no choice of its own.
"""

from __future__ import annotations

from asif.engine_bugs import check
from reports import engines
from reports.diagrams import spacetime


def picture(bug: engines.Bug) -> str:
    """A shortest run that refutes the first flawed form of a bug, as a file of SVG."""
    flawed = check(bug).flawed
    assert flawed is not None  # as pinned
    found = flawed.shortest
    assert found is not None
    drawn = spacetime.picture(
        found.story,
        title=f"{bug.report}: {bug.symptom}",
        caption=found.property,
        culprit=found.culprit,
    )
    return str(drawn.content(".svg"))


def write() -> None:
    engines.PICTURES.mkdir(parents=True, exist_ok=True)
    for bug in engines.BUGS:
        (engines.PICTURES / f"{bug.file}.svg").write_text(picture(bug), encoding="utf-8")


if __name__ == "__main__":
    write()
