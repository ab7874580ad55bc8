"""All files of a report: the page, the data of its rooms beside it, and Markdown.

Rule of this file: it reads results and writes files; the same results give the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from model.machine import files, folders
from model.machine.marks import is_ours
from model.results.report import KeptReport, ReportResults
from reports.page import family, markdown, shell
from reports.page.blocks import PagePanel, PageRoom
from reports.page.encoding import encoded, script_text
from reports.page.formats import slug
from reports.page.index import TITLE, first_screen
from reports.page.parts import bugs, costs, engine, errata, operators, proofs, runs, terms
from reports.page.parts.costs import Drawn, pictures
from reports.results.families import family_of

DATA = "report"
"""The folder of the data, beside the page."""
LARGEST = 900_000
"""Bytes of a file of data; a room with more has several files."""


def write(
    results: ReportResults,
    out: Path,
    drawn: Drawn | None = None,
    *,
    before: KeptReport | None = None,
    force: bool = False,
) -> tuple[Path, Path]:
    """Write report.html, its data and report.md into the folder `out`: the paths of both pages.

    drawn: the results of `pictures`, of which some may be missing; None: they are drawn here.
    before: the report to compare with.  All files are rendered before any is written, and each
    replaces an older one at once; data of rooms that are gone is deleted.  force: also over files
    that asif did not write.  Raises Invalid if `out` cannot be written to.
    """
    if drawn is None:
        drawn = {name: draw() for name, draw in pictures(results).items()}
    rooms = rooms_of(results, drawn)
    first = first_screen(results, before)
    data = {room.address: _data(room) for room in rooms}
    title = f"asif {results.version}: correctness report"
    names = {address: [*texts] for address, texts in data.items()}
    html, text = out / "report.html", out / "report.md"
    beside = {
        out / DATA / name: content for texts in data.values() for name, content in texts.items()
    }
    # The data comes first: a page that is there finds its data.
    pages = {
        **beside,
        html: shell.page(title, TITLE, first, rooms, names),
        text: markdown.document(TITLE, first, rooms),
    }
    folders.claimed(out / DATA)
    files.write(pages, force=force)
    for old in (out / DATA).glob("*.js"):
        if old not in beside and is_ours(old):
            old.unlink()
    return html, text


def rooms_of(results: ReportResults, drawn: Drawn) -> list[PageRoom]:
    """The rooms of the report: the families, then the other parts that have something."""
    names = [*dict.fromkeys(family_of(one.protocol) for one in results.verdicts)]
    found = [*family.rooms(results), errata.room(names), bugs.room(results.bugs)]
    if results.proofs:
        found.append(proofs.room(results.proofs))
    found.append(operators.room(results.operators))
    if results.simulated or results.reproduced:
        found.append(costs.room(results, drawn))
    if results.engine:
        found.append(engine.room(results.engine))
    if results.runs:
        found.append(runs.room(results.runs))
    return [room for room in (*found, terms.room()) if room is not None]


def _data(room: PageRoom) -> dict[str, str]:
    """The files of a room by name: its blocks in the first, and its panels in as many as it
    takes."""
    parts: list[list[PagePanel]] = [[]]
    size = len(script_text(encoded(room.blocks)).encode())
    for panel in room.panels:
        more = len(script_text(encoded(panel.blocks)).encode())
        if size + more > LARGEST and (parts[-1] or len(parts) == 1):
            parts.append([])
            size = 0
        parts[-1].append(panel)
        size += more
    name = slug(room.address)
    return {
        f"{name}.js" if not at else f"{name}-{at + 1}.js": _script(room, at, panels)
        for at, panels in enumerate(parts)
    }


def _script(room: PageRoom, at: int, panels: Sequence[PagePanel]) -> str:
    content = {
        "blocks": [] if at else encoded(room.blocks),
        "panels": {one.address: encoded(one.blocks) for one in panels},
    }
    return f"asif.room({script_text(room.address)}, {script_text(content)});\n"
