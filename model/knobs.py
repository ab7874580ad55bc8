"""Knobs: the settings of a family that users may choose, read from its design and put into it.

Rule of this file: no family; a knob is a field of the design with which a protocol deploys.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from functools import partial
from typing import Any

from model.core import Knob, Protocol
from model.errors import Invalid, nearest


def settings(protocol: Protocol) -> dict[str, Any]:
    """The value of each knob, as users write it; None: off.

    A variant may have a value that users cannot write: it is there in its own words.
    """
    return {knob.name: _read(knob, _deploy(protocol).args[0]) for knob in protocol.knobs}


def turn(protocol: Protocol, name: str, value: Any) -> Protocol:
    """The protocol with this value of a knob.  Raises Invalid for an unknown knob or value."""
    known = {knob.name: knob for knob in protocol.knobs}
    if name not in known:
        fix = nearest(name, list(known)) if known else "; it has none"
        raise Invalid(f"{protocol.name} has no knob {name!r}{fix}")
    deploy = _deploy(protocol)
    design = replace(deploy.args[0], **{name: _parse(known[name], value)})
    return replace(protocol, deploy=partial(deploy.func, design))


def allowed(knob: Knob) -> str:
    """The values that users may write, for people."""
    if not knob.choices:
        return f"a whole number from {knob.least}"
    return " or ".join(_format(word) for word, _ in knob.choices)


def _deploy(protocol: Protocol) -> partial[Any]:
    assert isinstance(protocol.deploy, partial)  # as model.core.Protocol says
    return protocol.deploy


def _read(knob: Knob, design: Any) -> Any:
    value = getattr(design, knob.name)
    words = (word for word, choice in knob.choices if choice is value)
    return next(words, value.value if isinstance(value, Enum) else value)


def _parse(knob: Knob, value: Any) -> Any:
    for word, choice in knob.choices:
        if type(word) is type(value) and word == value:
            return choice
    if not knob.choices and type(value) is int and value >= knob.least:
        return value
    raise Invalid(f"{knob.name} = {_format(value)}: give {allowed(knob)}")


def _format(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)
