"""Blocks as JSON for the scripts of the page (reports/web/blocks.js draws them).

Rule of this file: it knows no kind of block but those that hold a value of another room: an
object has the name of its class as `is`, and a key for each field that is not empty.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum

from model.results.grid import Grid
from model.results.plain import Plain, plain
from model.results.steps import SteppedRun
from reports.diagrams import grid
from reports.page.blocks import Word
from reports.safe_text import visible

PLAIN = "plain"
"""The field of a picture for readers without pictures; a page has the picture."""


def encoded(value: object) -> Plain:
    """The value as JSON has it."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Grid):
        return encoded(grid.laid_out(value))
    if isinstance(value, SteppedRun):
        return plain(value)
    if isinstance(value, Word):
        return {"text": value.text, **_full({"tone": value.tone, "to": value.to})}
    if is_dataclass(value):
        found = {one.name: getattr(value, one.name) for one in fields(value) if one.name != PLAIN}
        return {"is": type(value).__name__, **_full(found)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return _full(dict(zip(value._fields, value, strict=True)))
    if isinstance(value, Mapping):
        return {name: encoded(one) for name, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [encoded(one) for one in value]
    return value


def _full(found: Mapping[str, object]) -> dict[str, Plain]:
    """The keys with something in them."""
    return {name: encoded(one) for name, one in found.items() if one not in ("", False, None, ())}


def script_text(value: Plain) -> str:
    """The JSON of a value as a part of a script, also of one within a page: no text of it ends the
    script, and every control character is shown as its number."""
    text = json.dumps(_shown(value), ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _shown(value: Plain) -> Plain:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(name): _shown(one) for name, one in value.items()}
    return [*map(_shown, value)] if isinstance(value, list) else value
