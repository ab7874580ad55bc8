"""All files of a report: the page, the data of its rooms beside it, and Markdown.

Rule of this file: it reads results and writes files; the same results give the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from model.machine import files, folders
from model.machine.marks import is_ours
from model.results.report import KeptReport, ReportResults
from reports.page import family, markdown, shell
from reports.page.blocks import PageRoom
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
    data = {room.address: _files(room) for room in rooms}
    title = f"asif {results.version}: correctness report"
    panels = {
        address: {name: one.panels for name, one in made.items()} for address, made in data.items()
    }
    html, text = out / "report.html", out / "report.md"
    beside = {out / DATA / name: one.text for made in data.values() for name, one in made.items()}
    # The data comes first: a page that is there finds its data.
    pages = {
        **beside,
        html: shell.page(title, TITLE, first, rooms, panels),
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


class _DataFile(NamedTuple):
    """A file of data: its text, and the addresses of the panels in it."""

    text: str
    panels: Sequence[str]


def _files(room: PageRoom) -> dict[str, _DataFile]:
    """The data of a room in as many files as it takes, by their names; the first file has the
    blocks of the room, and each as many panels as fit."""
    blocks = script_text(encoded(room.blocks))
    parts: list[dict[str, str]] = [{}]
    size = _bytes(blocks)
    for panel in room.panels:
        content = script_text(encoded(panel.blocks))
        if size and size + _bytes(content) > LARGEST:
            parts.append({})
            size = 0
        parts[-1][panel.address] = content
        size += _bytes(content)
    name = slug(room.address)
    return {
        f"{name}-{at}.js" if at else f"{name}.js": _DataFile(
            _script(room.address, "[]" if at else blocks, part), [*part]
        )
        for at, part in enumerate(parts)
    }


def _bytes(text: str) -> int:
    return len(text.encode())


def _script(address: str, blocks: str, panels: Mapping[str, str]) -> str:
    inside = ",".join(f"{script_text(one)}:{content}" for one, content in panels.items())
    return f'asif.room({script_text(address)},{{"blocks":{blocks},"panels":{{{inside}}}}});\n'
