"""Places in a TOML file: the line of each key, which tomllib does not report.

Rule of this file: no TOML parser.  A line is found by its own text (a table's header, or the key
before "="), so a key that is nested within a value has the line on which this value begins.
"""

from __future__ import annotations

import re
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""Keys, and for an array of tables the number of the table from 0, as pydantic reports them."""

_HEADER = re.compile(r"\s*(\[\[?)([^\[\]]+)\]")
_KEY = re.compile(
    r"\s*((?:[\w-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[\w-]+|\"[^\"]*\"|'[^']*'))*)\s*="
)
_PART = re.compile(r"[\w-]+|\"[^\"]*\"|'[^']*'")


def places(text: str) -> dict[Path, int]:
    """The line, from 1, of every table and key."""
    found: dict[Path, int] = {(): 1}
    tables: dict[Path, int] = {}
    table: Path = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _number_tables(tables, _parts(header[2]))
            if header[1] == "[[":
                tables[table] = tables.get(table, -1) + 1
                table = (*table, tables[table])
            found.setdefault(table, number)
        elif key := _KEY.match(line):
            path = table
            for part in _parts(key[1]):
                path = (*path, part)
                found.setdefault(path, number)
    return found


def line_of(found: dict[Path, int], path: Path) -> int:
    """The line of the key, or of the table or value that contains the key."""
    while path not in found:
        path = path[:-1]
    return found[path]


def _parts(dotted: str) -> Path:
    return tuple(part.strip("\"'") for part in _PART.findall(dotted))


def _number_tables(tables: dict[Path, int], parts: Path) -> Path:
    """The path of a table; [a.b] below several [[a]] belongs to the last [[a]]."""
    path: Path = ()
    for part in parts[:-1]:
        path = (*path, part)
        if path in tables:
            path = (*path, tables[path])
    return (*path, *parts[-1:])
