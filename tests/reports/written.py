"""A report that is written, as its readers get it: the page with its data, and Markdown.

Rule of this file: it reads files, and knows no result.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from model.results.report import ReportResults
from reports import page


class WrittenReport(NamedTuple):
    """html: the text of report.html.  first: the data in it.  rooms: the data beside it, by
    address.  said: all words of the page and of its rooms.  markdown: the text of report.md."""

    html: str
    first: dict[str, Any]
    rooms: dict[str, dict[str, Any]]
    said: str
    markdown: str

    @property
    def both(self) -> tuple[str, str]:
        """The words of both forms; those of Markdown without its escapes and stress."""
        plain = self.markdown.replace("\\", "").replace("**", "")
        return self.said, " ".join(plain.split())


def written(results: ReportResults, out: Path, **how: Any) -> WrittenReport:
    """Write the report into the folder, and read it."""
    html, markdown = page.write(results, out, **how)
    text = html.read_text("utf-8")
    found = re.search(r"^asif\.open\((.*)\);$", text, re.MULTILINE)
    assert found is not None
    index = json.loads(found[1])
    rooms: dict[str, dict[str, Any]] = {}
    for room in index["rooms"]:
        whole = rooms.setdefault(room["address"], {"blocks": [], "panels": {}})
        for name in room["files"]:
            address, content = _room((out / "report" / name).read_text("utf-8"))
            assert address == room["address"]
            whole["blocks"] += content["blocks"]
            whole["panels"] |= content["panels"]
        assert [*whole["panels"]] == [one["address"] for one in room["panels"]]
    said = " ".join(" ".join(_words([index, rooms])).split())
    return WrittenReport(text, index, rooms, said, markdown.read_text("utf-8"))


def _room(text: str) -> tuple[str, dict[str, Any]]:
    mark, call, *rest = text.splitlines()
    assert mark == "// made by asif"
    assert rest == []
    address, content = json.loads(f"[{call.removeprefix('asif.room(').removesuffix(');')}]")
    return address, content


def _words(value: Any) -> list[str]:
    """The texts of blocks; parts of a sentence are one."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        if "cells" in value:
            return [" | ".join(" ".join(_words(one)) for one in value["cells"])]
        if "text" in value:
            return [value["text"]]
        return [word for one in value.values() for word in _words(one)]
    if isinstance(value, list):
        if any(isinstance(one, dict) and "text" in one for one in value):
            return ["".join("".join(_words(one)) for one in value)]
        return [word for one in value for word in _words(one)]
    return []


def blocks_of(value: Any, kind: str) -> list[dict[str, Any]]:
    """All blocks of a kind within some data."""
    found = []
    if isinstance(value, dict):
        found += [value] if value.get("is") == kind else []
        value = [*value.values()]
    if isinstance(value, list):
        found += [block for one in value for block in blocks_of(one, kind)]
    return found
