"""The page around the data: its scripts, its styles, and the data of the index, in one file.

Rule of this file: no content but the line for readers without scripts.  The page works from a file,
without network: it has no address of another host, and loads the data of a room by a script tag.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from model.results.plain import Plain
from reports.page.blocks import Block, PageRoom
from reports.page.encoding import encoded, script_text
from reports.palette import css

WEB = Path(__file__).parents[1] / "web"
SCRIPTS = (
    "vendor/preact.js",
    "vendor/preact-hooks.js",
    "vendor/htm.js",
    "words.js",
    "steps.js",
    "scrolls.js",
    "step-parts.js",
    "lanes.js",
    "stepper.js",
    "blocks.js",
    "rooms.js",
    "search.js",
    "report.js",
)
STYLES = ("report.css", "stepper.css")
MOST_WORDS = 110
"""Characters of the text that a search reads beside a title."""

_SHELL = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
{styles}
</style>
</head>
<body>
<div id="report"><noscript><main class="plain"><h1>{heading}</h1>
<p>This page needs scripts.  Without them: <a href="report.md">report.md</a> has the same content.
</p>
</main></noscript></div>
{scripts}
</body>
</html>
"""


def page(
    title: str,
    heading: str,
    first: Sequence[Block],
    rooms: Sequence[PageRoom],
    files: Mapping[str, Mapping[str, Sequence[str]]],
) -> str:
    """The text of report.html.  files: of each room, by its address, the files in order, with the
    addresses of the panels that each has."""
    data = {
        "title": title,
        "heading": heading,
        "first": encoded(first),
        "rooms": [_entry(room, files[room.address]) for room in rooms],
    }
    texts = [(WEB / name).read_text(encoding="utf-8") for name in SCRIPTS]
    texts.append(f"asif.open({script_text(data)});")
    return _SHELL.format(
        title=escape(title),
        heading=escape(heading),
        styles="\n".join([css(), *((WEB / name).read_text(encoding="utf-8") for name in STYLES)]),
        scripts="\n".join(f"<script>\n{one.strip()}\n</script>" for one in texts),
    )


def _entry(room: PageRoom, files: Mapping[str, Sequence[str]]) -> Plain:
    """A room as the menu and the search know it; its content is in its files."""
    place = {one: number for number, inside in enumerate(files.values()) for one in inside}
    panels = [
        {
            "address": one.address,
            "file": place[one.address],
            "title": one.title,
            "words": _cut(one.words),
            "mark": None if one.mark is None else encoded(one.mark),
        }
        for one in room.panels
    ]
    return {
        "address": room.address,
        "title": room.title,
        "family": room.family,
        "files": [*files],
        "panels": panels,
    }


def _cut(words: str) -> str:
    return words if len(words) <= MOST_WORDS else f"{words[:MOST_WORDS]}…"
