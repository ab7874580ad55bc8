"""The settings of one protocol, in a scenario that several protocols run.

Rule of this file: nothing of the rest of a scenario.  [protocols.NAME] may stand for any
number of protocols; those of the protocol that runs replace the common ones, and the others say
nothing about this run.  A key that the user has set beside the file stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

from model.errors import Invalid, nearest
from model.knobs import turn
from model.protocol import Protocol
from model.registry import is_file, protocols
from sim.scenarios.overrides import put
from sim.scenarios.tables import OwnSettings
from sim.scenarios.toml_lines import Path as Key
from sim.toml_values import TomlTable

TABLE = "protocols"
PLACES: Mapping[str, Key] = {
    "knobs": ("knobs",),
    "timers": ("costs", "timers"),
    "stores": ("costs", "stores"),
    "notes": ("costs", "notes"),
    "work": ("costs", "work"),
}
"""The tables of a protocol's own settings, and where a scenario for one protocol has them."""
WHOLE = ("work",)
"""Tables that replace the common one whole: the other nodes that it names may not be there."""


class PlacedSettings(NamedTuple):
    """The content of a scenario of one protocol, and the line of each key."""

    content: TomlTable
    lines: dict[Key, int]


def place_settings(
    content: TomlTable, lines: Mapping[Key, int], overridden: Collection[Key]
) -> PlacedSettings:
    """The content with the settings of its protocol in their places, and without their table.

    A variant has the settings of its family, then its own.  overridden: keys that keep their
    values.  Without such a table, or without a protocol, the content is returned as it is.
    """
    tables, name = content.get(TABLE), content.get("protocol")
    placed = dict(lines)
    if not isinstance(tables, Mapping) or not isinstance(name, str):
        return PlacedSettings(content, placed)
    found_content: Any = {key: value for key, value in content.items() if key != TABLE}
    for called in dict.fromkeys((name.partition(":")[0], name)):
        for found, place, value in _settings(tables.get(called)):
            at = (TABLE, called, *found)
            if any(_touch(place, one) for one in overridden):
                continue
            found_content = put(found_content, place, value)
            placed |= {
                (*place, *key[len(at) :]): line
                for key, line in lines.items()
                if key[: len(at)] == at
            }
    return PlacedSettings(found_content, placed)


def check_settings(tables: Mapping[str, OwnSettings], wrong: Callable[[Key, str], Invalid]) -> None:
    """Raise Invalid for settings of a protocol that is not known, and for knobs and timers that a
    registered one has not.  Those of a user's file are checked when it runs."""
    known = protocols()
    for name, own in tables.items():
        if is_file(name):
            continue
        if name not in known:
            key = (TABLE, name, *sorted(own.model_fields_set)[:1])  # its header has a line
            raise wrong(key, f"no protocol {name!r}{nearest(name, sorted(known))}")
        for knob, value in own.knobs.items():
            try:
                turn(known[name], knob, value)
            except Invalid as error:
                raise wrong((TABLE, name, "knobs", knob), str(error)) from None
        for kind in own.timers:
            if why := no_timer(known[name], kind):
                raise wrong((TABLE, name, "timers", kind), why)


def no_timer(protocol: Protocol, kind: str) -> str:
    """Why the protocol sets no timer of this kind; empty if it sets one."""
    timers = sorted(protocol.behaviour.timers)
    if kind in timers:
        return ""
    return f"timers: {protocol.name} sets no timer {kind!r}{nearest(kind, timers)}"


def _settings(table: Any) -> Iterator[tuple[Key, Key, Any]]:
    """(the key within the table, its place in a scenario, the value) of each setting."""
    for kind, place in PLACES.items():
        own: TomlTable = table.get(kind, {}) if isinstance(table, Mapping) else {}
        if kind in WHOLE:
            if own:
                yield (kind,), place, own
        else:
            yield from (((kind, name), (*place, name), value) for name, value in own.items())


def _touch(one: Key, other: Key) -> bool:
    """Is one of the keys the other one, or within it?"""
    both = min(len(one), len(other))
    return one[:both] == other[:both]
