"""Knobs: the settings of a family that users may choose, read from its design and put into it.

Rule of this file: no family; a knob is a field of a protocol's design.
"""

from __future__ import annotations

from dataclasses import fields, replace
from enum import Enum
from typing import Any

from model.errors import Invalid, nearest
from model.protocol import Knob, Protocol

OFF = "off"
"""The word for a number that is missing."""


def settings(protocol: Protocol) -> dict[str, Any]:
    """The value of each knob, as users write it; None: off.

    A variant may have a value that users cannot write: it is there in its own words.
    """
    return {knob.name: _read(knob, protocol.design) for knob in protocol.behaviour.knobs}


def turn(protocol: Protocol, name: str, value: Any) -> Protocol:
    """The protocol with this value of a knob.  Raises Invalid for an unknown knob or value."""
    known = {knob.name: knob for knob in protocol.behaviour.knobs}
    if name not in known:
        fix = nearest(name, list(known)) if known else "; it has none"
        raise Invalid(f"{protocol.name} has no knob {name!r}{fix}")
    knob, design = known[name], protocol.design
    if value == OFF and _may_be_off(knob, design):
        value = None
    elif value is None or not _fits(knob, value):
        raise Invalid(f"{name} = {_format(value)}: give {_allowed(knob, design)}")
    return replace(protocol, design=replace(design, **{name: _choice(knob, value)}))


def allowed(protocol: Protocol, knob: Knob) -> str:
    """The values that users may write, for people."""
    return _allowed(knob, protocol.design)


def _allowed(knob: Knob, design: Any) -> str:
    if not knob.choices:
        off = f" or {OFF!r}" if _may_be_off(knob, design) else ""
        return f"a whole number from {knob.least}{off}"
    return " or ".join(_format(word) for word, _ in knob.choices)


def _may_be_off(knob: Knob, design: Any) -> bool:
    """Is the knob a number that may be missing?"""
    (default,) = (field.default for field in fields(design) if field.name == knob.name)
    return not knob.choices and default is None


def _read(knob: Knob, design: Any) -> Any:
    value = getattr(design, knob.name)
    words = (word for word, choice in knob.choices if choice is value)
    return next(words, value.value if isinstance(value, Enum) else value)


def _fits(knob: Knob, value: Any) -> bool:
    if knob.choices:
        return any(type(word) is type(value) and word == value for word, _ in knob.choices)
    return type(value) is int and value >= knob.least


def _choice(knob: Knob, value: Any) -> Any:
    return next((choice for word, choice in knob.choices if word == value), value)


def _format(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)
