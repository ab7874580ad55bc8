"""The words for a value: the protocol's own, or else its type in words, then its small fields.

Rule of this file: no knowledge of any protocol.  Words that are made here are one line of bounded
length, and the same in every process.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from itertools import islice
from numbers import Number
from typing import Any

from model.core import Lost
from model.errors import Invalid, brief, describe_error
from model.events import Body, Event
from model.log import Log
from model.protocol import Protocol

ROOM = 24
"""The length of the words for a message, a state or a saved value."""
MANY_ITEMS = 60
"""The items of a container that `in_full` has."""
_ITEMS, _INSIDE = 3, 16
_FLAT = (str, Number, Enum, Event, Body)
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_")


def show_value(protocol: Protocol, value: Any) -> str:
    """The words for a message, an output or a state: the protocol's own, or else those of
    `generic`.  Raises Invalid if the protocol cannot show it.

    A notice, which no protocol sends, is "lost NODE".
    """
    if isinstance(value, Lost):
        return f"lost {value.node}"
    return own_words(protocol, value) or generic(value)


def own_words(protocol: Protocol, value: Any) -> str:
    """The protocol's own words for a value, "" if it has none.  Raises Invalid if it fails."""
    try:
        text = protocol.behaviour.show(value)
    except BaseException as error:  # of a protocol, which may be anybody's
        raise Invalid(
            f"{protocol.name}: show raises {describe_error(error)} for {brief(value)}"
        ) from error
    if not isinstance(text, str):
        raise Invalid(f"{protocol.name}: show returns {brief(text)}; return a str")
    return text


def listed(texts: Sequence[str], join: str = "and") -> str:
    """The texts in a row: "a, b and c"; "" of none."""
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} {join} {texts[-1]}"


def generic(value: object, room: int = ROOM) -> str:
    """The value in at most `room` characters: `Commit 2` for Commit(number=2)."""
    parts = record_of(value)
    if parts is None:
        return cut(_small(value), room)
    return cut(_joined([type_words(value), *_texts(parts)], room), room)


def changes(before: object, after: object, room: int = ROOM) -> str:
    """The fields of a state that differ, in at most `room` characters; "" if none does; the whole
    state if it has no fields, or is of another type."""
    if before == after:
        return ""
    old, new = record_of(before), record_of(after)
    if new is None:
        return cut(f"state {_small(after)}", room)
    if old is None or type(before) is not type(after):
        return generic(after, room)
    differing = (_named(name, found) for name, found in new.items() if found != old[name])
    return cut(_joined(differing, room, ", "), room)


def in_full(value: object, most: int = MANY_ITEMS) -> str:
    """The value on one line with all its parts: `Commit(number 2, keys {a b})`.

    Empty parts of a record are left out.  most: the items of a container that are there, half as
    many of one within it.
    """
    inner = partial(in_full, most=max(most // 2, _ITEMS))
    match value:
        case Body(_, _, data) if data:
            return f"{_small(value)}({' '.join(map(inner, data))})"
        case Event() | Body():
            return _small(value)
        case Log():
            return _items("()", map(inner, value), value.length, most)
        case Mapping():
            pairs = sorted(f"{inner(one)}: {inner(found)}" for one, found in value.items())
            return _items("{}", pairs, len(value), most)
        case AbstractSet():
            return _items("{}", sorted(map(inner, value)), len(value), most)
    parts = record_of(value)
    if parts is not None:
        shown = (
            f"{name.strip('_').replace('_', ' ')} {inner(found)}"
            for name, found in parts.items()
            if found is not None and not (isinstance(found, Sized) and not len(found))
        )
        return f"{type_words(value)}({', '.join(shown)})"
    if isinstance(value, tuple | list):
        return _items("()", map(inner, value), len(value), most)
    return " ".join(_small(value).split())


def cut(text: str, room: int) -> str:
    """The text on one line of at most `room` characters."""
    line = " ".join(text.split())
    return line if len(line) <= room else f"{line[: room - 1].rstrip(' …')}…"


def record_of(value: object) -> Mapping[str, object] | None:
    """The fields of a named tuple or a dataclass; None of anything else."""
    if isinstance(value, Event | Body | Log | type):
        return None
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return dict(zip(value._fields, value, strict=True))
    if is_dataclass(value):
        return {one.name: getattr(value, one.name) for one in fields(value) if one.repr}
    return None


def type_words(value: object) -> str:
    """The name of the type in words: `Roll back` for RollBack."""
    first, *others = [part for part in _WORD.split(type(value).__name__) if part]
    return " ".join([first, *(one if one.isupper() else one.lower() for one in others)])


def _texts(parts: Mapping[str, object]) -> Iterator[str]:
    """A text for each field that is there and not empty; a truth value by the field's name."""
    for name, found in parts.items():
        if isinstance(found, bool):
            yield _named(name, found)
        elif found is not None and not (isinstance(found, Sized) and not len(found)):
            yield _small(found)


def _named(name: str, found: object) -> str:
    """A field with its name."""
    name = name.strip("_").replace("_", " ")
    if isinstance(found, bool):
        return name if found else f"not {name}"
    return f"{name} {_small(found)}"


def _joined(texts: Iterable[str], room: int, between: str = " ") -> str:
    """The first text, those of the others for which there is room, and a sign for the rest."""
    first, *others = texts
    line, whole = first, True
    for text in others:
        longer = f"{line}{between}{text}"
        if len(longer) < room:
            line = longer
        else:
            whole = False
    return line if whole else _more(line)


def _more(line: str) -> str:
    """The line with a sign that there is more."""
    return line if line.endswith("…") else f"{line}…"


def _small(value: object) -> str:
    """A value inside another one; of a record the type and the fields that hold no others."""
    match value:
        case None:
            return "none"
        case bool():
            return str(value).lower()
        case Enum():
            return value.name.lower().replace("_", " ")
        case str() | Number():
            return str(value)
        case Event(sn, body):
            return body.type + ".".join(map(str, sn))
        case Body(time, kind):
            return f"{kind}@{time}"
        case Log():
            return _items("()", map(_small, value), value.length)
        case Mapping():
            pairs = sorted(f"{_small(one)}: {_small(found)}" for one, found in value.items())
            return _items("{}", pairs, len(value))
        case AbstractSet():
            return _items("{}", sorted(map(_small, value)), len(value))
    parts = record_of(value)
    if parts is not None:
        flat = {name: found for name, found in parts.items() if isinstance(found, _FLAT)}
        line = _joined([type_words(value), *_texts(flat)], _INSIDE)
        return line if len(flat) == len(parts) else _more(line)
    if isinstance(value, tuple | list):
        return _items("()", map(_small, value), len(value))
    return type_words(value)


def _items(brackets: str, texts: Iterable[str], count: int, most: int = _ITEMS) -> str:
    """All of few items; of many the first ones."""
    shown = " ".join(islice(texts, count if count <= most else most - 1))
    return brackets[0] + (_more(shown) if count > most else shown) + brackets[1]
