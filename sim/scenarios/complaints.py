"""Complaints: what is wrong in a table of a TOML file, as one line.

Rule of this file: no check; pydantic has found the error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, get_args, get_origin

from pydantic import ValidationError

from model.errors import Invalid, nearest
from sim.scenarios.toml_lines import Path as Key
from sim.timed.costs import ScenarioTable

WORDS = (
    ("^(Value error, |Input |Tuple )", ""),
    (" after validation, not [0-9]+$", ""),
    ("valid tuple", "list"),
    ("valid dictionary or instance of [A-Za-z]+", "table"),
)
"""Words of pydantic about its own types, and those of users' files."""


class Complaint(Invalid):
    """An error about a key of a file: the place, and the mistake."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(where, why)
        self.where, self.why = where, why

    def __str__(self) -> str:
        return f"{self.where}: {self.why}"


def complaint(
    error: ValidationError, table: type[ScenarioTable], line: Callable[[Key], int], above: Key = ()
) -> tuple[Key, str]:
    """The first error in a table of this shape at `above`, in the order of the lines: (key, text).

    A missing key comes last, since it may only be misspelt.
    """
    found = error.errors(include_url=False, include_context=False)
    named = [((*above, *_locate(table, e["loc"])[0]), e) for e in found]
    key, first = min(named, key=lambda one: (one[1]["type"] == "missing", line(one[0])))
    name, message = _format_key(key), first["msg"]
    if first["type"] == "extra_forbidden":
        known = sorted(_locate(table, first["loc"][:-1])[1])
        return key, f"{name}: unknown key{nearest(str(key[-1]), known)}"
    if first["type"] == "missing":
        return key, f"{name} is missing; give it a value"
    for words, ours in WORDS:
        message = re.sub(words, ours, message)
    if first["type"] == "value_error":
        return key, f"{name}: {message}"
    return key, f"{name} = {_toml(first['input'])}: it {message}"


def _format_key(key: Key) -> str:
    """The key as text, as in failures[1].at_s; the tables of an array count from 1."""
    text = ""
    for part in key:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "scenario"


def _locate(table: type[ScenarioTable], found: Key) -> tuple[Key, list[str]]:
    """The key at which pydantic has found an error, and the keys that the table around it may have,
    as users write them.

    Where a table is one of several kinds, pydantic names the kind, too.
    """
    key: Key = ()
    tables: tuple[type[ScenarioTable], ...] = (table,)
    named = False  # is the next part a name that users choose, as in [costs.work.NAME]?
    for part in found:
        if len(tables) > 1 and isinstance(part, str):
            tables = tuple(one for one in tables if one.__name__ == part)
            continue
        key = (*key, part)
        if named:
            named = False
        elif isinstance(part, str):
            fields = tables[0].model_fields if tables else {}
            annotation = fields[part].annotation if part in fields else None
            tables, named = tuple(tables_in(annotation)), get_origin(annotation) is dict
    fields = tables[0].model_fields if tables else {}
    return key, [field.alias or name for name, field in fields.items()]


def tables_in(annotation: Any) -> Iterator[type[ScenarioTable]]:
    """The tables in `X | None`, `X | Y`, `tuple[X, ...]` or `dict[str, X]`."""
    if isinstance(annotation, type) and issubclass(annotation, ScenarioTable):
        yield annotation
    for inner in get_args(annotation):
        yield from tables_in(inner)


def _toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)
