"""What a scenario may say: tables, keys, units, defaults and meanings, and the knobs of a family.

Rule of this file: no text about a key; the tables themselves (sim.scenarios.tables) and the
families hold it.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from model.knobs import OFF, allowed, settings
from model.protocol import Protocol
from model.results.explanation import ExplainedKey, ExplainedTable
from sim.scenarios.complaints import tables_in
from sim.scenarios.tables import ScenarioFile
from sim.timed.costs import ScenarioTable

UNITS = {
    "_events_per_s": "events/s",
    "_bytes_per_s": "bytes/s",
    "rate_per_s": "events/s",
    "_bytes": "bytes",
    "seconds": "s",
    "_s": "s",
}
"""The unit of a key, by the end of its name: the first end that fits."""
WRITTEN = "as long as its writes take"
"""The default of a timer that stands for writes in the background."""
KINDS = {str: "text", float: "number", int: "whole number", bool: "true or false"}


def explain_tables() -> tuple[ExplainedTable, ...]:
    """Every table that a scenario may have, with its keys."""
    return tuple(_tables("", ScenarioFile))


def explain_knobs(protocol: Protocol) -> tuple[ExplainedTable, ...]:
    """The knobs of a protocol, and its timers, which [costs] gives their times."""
    found = settings(protocol)
    knobs = tuple(
        ExplainedKey(
            knob.name,
            allowed(protocol, knob),
            knob.unit,
            _format(OFF if found[knob.name] is None else found[knob.name]),
            knob.description,
        )
        for knob in protocol.behaviour.knobs
    )
    timers = tuple(
        ExplainedKey(
            f"costs.timers.{kind}",
            "after_s or every_s",
            "s",
            WRITTEN if kind in protocol.behaviour.background else "costs.timer_s",
            meaning,
        )
        for kind, meaning in protocol.behaviour.timers.items()
    )
    return (
        ExplainedTable("[knobs]", f"The settings of {protocol.name}.", knobs),
        ExplainedTable("timers", f"What {protocol.name} does by timers.", timers),
    )


def _tables(name: str, table: type[ScenarioTable]) -> Iterator[ExplainedTable]:
    """The table and all tables in it."""
    keys = []
    inner: list[ExplainedTable] = []
    for key, field in table.model_fields.items():
        whole = f"{name}.{key}" if name else key
        below = list(tables_in(field.annotation))
        if not below:
            keys.append(_key(key, field))
        elif get_origin(field.annotation) is dict:
            inner += _tables(f"{whole}.NAME", below[0])
        else:
            for one in below:
                inner += _tables(f"[{whole}]" if _is_array(field.annotation) else whole, one)
    meaning = " ".join((table.__doc__ or "").split())
    yield ExplainedTable(f"[{name}]" if name else "top", meaning, tuple(keys))
    yield from inner


def _key(key: str, field: FieldInfo) -> ExplainedKey:
    unit = next((UNITS[end] for end in UNITS if key.endswith(end)), "")
    default = "" if field.is_required() else _format(field.get_default(call_default_factory=True))
    meaning = " ".join((field.description or "").split())
    return ExplainedKey(key, _values(field.annotation), unit, default, meaning)


def _is_array(annotation: Any) -> bool:
    return get_origin(annotation) is tuple or any(map(_is_array, get_args(annotation)))


def _values(annotation: Any) -> str:
    """What may stand at a key, for people."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _values(inner[0])
    if origin is Literal:
        return " or ".join(map(_format, inner))
    if origin in (Union, UnionType):
        return " or ".join(_values(one) for one in inner if one is not type(None))
    if origin is tuple:
        return f"list of {_values(inner[0])}"
    if origin is dict:
        return f"{_values(inner[1])} by name"
    return KINDS.get(annotation, "value")


def _format(value: Any) -> str:
    """A value as TOML has it; "-" for none."""
    if value is None or value in ((), {}):
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else f"{value:g}"
