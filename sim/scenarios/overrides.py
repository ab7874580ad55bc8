"""Overrides: values set in place of those in a scenario file, by `--set` or by a sweep.

Rule of this file: no check of a value (sim.scenarios.scenario); an override is a key and a value.
Keys are dotted, as in TOML.  The number of a table in an array, from 1, or its name selects the
table: `failures.1.at_s`, `operators.match.window`.  Values are written as in TOML; a value that is
not TOML is text, so that `protocol=upstream-backup` needs no quotes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from typing import Any, NamedTuple

from model.errors import Invalid, nearest
from sim.scenarios.toml_lines import Path as Key
from sim.toml_values import TomlTable, parse

_PART = re.compile(r"""\s*(?:([\w-]+)|"([^"]*)"|'([^']*)')\s*(?:\.|$)""", re.ASCII)


class Override(NamedTuple):
    """A value set in place of one in the file.  where: the place that an error message about the
    override names: the option, or file and line."""

    key: tuple[str, ...]
    value: Any
    where: str = ""

    @property
    def name(self) -> str:
        """The key as the user wrote it."""
        return ".".join(p if re.fullmatch(r"[\w-]+", p, re.ASCII) else f'"{p}"' for p in self.key)

    def __str__(self) -> str:
        return f"{self.name}={_format(self.value)}"


def overrides(texts: Sequence[str]) -> tuple[Override, ...]:
    """The overrides of `--set`, each KEY=VALUE."""
    return tuple(map(_override, texts))


def place(content: TomlTable, key: Sequence[str]) -> Key:
    """The path of the key, with the tables of arrays by their number from 0.

    Raises Invalid if the content cannot have the key.
    """
    path: Key = ()
    at: Any = content
    for depth, part in enumerate(key):
        if isinstance(at, list):
            number = _number(at, part, key[:depth])
            path, at = (*path, number), at[number]
        elif isinstance(at, Mapping):
            path, at = (*path, part), at.get(part, {})
        else:
            whole = ".".join(key[:depth])
            raise Invalid(f"{whole} = {_toml(at)} has nothing in it; set {whole} itself")
    return path


def put(content: Any, path: Key, value: Any) -> Any:
    """A copy of the content with the value at the path; missing tables are added."""
    if not path:
        return value
    first, rest = path[0], path[1:]
    if isinstance(content, list):
        return [put(one, rest, value) if at == first else one for at, one in enumerate(content)]
    return {**content, first: put(content.get(first, {}), rest, value)}


def _override(text: str) -> Override:
    name, equals, value = text.partition("=")
    where = f"--set {text}"
    parts = _parts(name)
    if not equals or not parts:
        raise Invalid(f"{where}: write KEY=VALUE, as in seed=7 or failures.1.at_s=0.5")
    return Override(parts, _value(value), where)


def _parts(name: str) -> tuple[str, ...]:
    """The parts of a dotted key; no parts if the name is no dotted key."""
    parts: list[str] = []
    at = 0
    while at < len(name):
        part = _PART.match(name, at)
        if part is None:
            return ()
        parts.append(next(text for text in part.groups() if text is not None))
        at = part.end()
    return () if name.rstrip().endswith(".") else tuple(parts)


def _number(tables: list[Any], part: str, key: Sequence[str]) -> int:
    """The number of the table, from 0.  Raises Invalid if there is no such table."""
    whole = ".".join(key)
    names = [str(one["name"]) for one in tables if isinstance(one, Mapping) and "name" in one]
    if part in names:
        return names.index(part)
    if part.isdecimal() and 1 <= int(part) <= len(tables):
        return int(part) - 1
    if names and not part.isdecimal():
        raise Invalid(f"{whole}: there is no {part!r}{nearest(part, names)}")
    count = f"there are 1 to {len(tables)}" if tables else "there are none"
    raise Invalid(f"{whole}.{part}: there is no such one; {count}")


def _value(text: str) -> Any:
    try:
        read = parse(f"value = {text}")
    except Invalid:
        return text.strip()
    return read["value"] if read.keys() == {"value"} else text.strip()


def _format(value: Any) -> str:
    """The value as text that `_value` reads back."""
    if isinstance(value, str) and _value(value) == value:
        return value
    return _toml(value)


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_toml(k)} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if isinstance(value, float):
        return repr(value)  # also inf and nan
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # as TOML escapes
