"""TOML files: those of docs/ with changes, and tables of any keys that a scenario has.

Rule of this file: a real file is made small before it is changed, so that its run takes no time.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from datetime import date, time
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from sim.choose.workload import WorkloadFile
from sim.plans.tables import InstanceFile
from sim.scenarios.complaints import tables_in
from sim.scenarios.tables import ScenarioFile
from sim.timed.costs import ScenarioTable
from tests.fuzz.values import Raw, broken, key, number_near, value

DOCS = Path(__file__).parents[2] / "docs"
EVENTS = 60


def toml(content: Mapping[str, Any]) -> bytes:
    """The table as TOML; a Raw value as its text."""
    return "".join(f"{_key(name)} = {_text(one)}\n" for name, one in content.items()).encode(
        errors="surrogatepass"
    )


def _key(name: str) -> str:
    return _text(str(name))


def _text(one: Any) -> str:
    match one:
        case Raw():
            return one.text
        case dict():
            return "{" + ", ".join(f"{_key(n)} = {_text(v)}" for n, v in one.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_text, one)) + "]"
        case float():
            return repr(one)
        case date() | time():
            return one.isoformat()
        case _:
            return json.dumps(one, ensure_ascii=False).replace("\x7f", "\\u007f")


@cache
def seeds(folder: str) -> tuple[Mapping[str, Any], ...]:
    """The files of a folder of docs/, made small."""
    files = sorted((DOCS / folder).glob("*.toml"))
    return tuple(_small(tomllib.loads(file.read_text("utf-8"))) for file in files)


def _small(content: dict[str, Any]) -> dict[str, Any]:
    sources = [content.get("stream"), *content.get("source", ())]
    for stream in filter(None, sources):
        if "types" in stream:
            stream.pop("seconds", None)
            stream["events"] = EVENTS
    if "flights" in content:
        content["flights"]["departures"] = EVENTS
    for failure in content.get("failures", ()):
        if "at_event" in failure:
            failure["at_event"] = EVENTS // 2
        if "at_s" in failure:
            failure["at_s"] = 0.01
    if "grid" in content:
        content["grid"] = {"seed": [1, 2], "knobs": {}} | content["grid"]
    return content


def changed(pick: Random, seed: Mapping[str, Any]) -> dict[str, Any]:
    """The content with one to three changes."""
    content: dict[str, Any] = deepcopy(dict(seed))
    for _ in range(pick.choice((1, 1, 1, 2, 3))):
        _change(pick, content)
    return content


def _change(pick: Random, content: dict[str, Any]) -> None:
    home, at = pick.choice([*_places(content)] or [(content, "x")])
    match pick.randrange(8):
        case 0 | 1:
            home[at] = value(pick)
        case 2:
            old = home[at] if isinstance(home, list) or at in home else 1
            plain = isinstance(old, int | float) and not isinstance(old, bool) and abs(old) < 1e300
            home[at] = number_near(pick, old) if plain else value(pick)
        case 3:
            del home[at]
        case 4 if isinstance(home, dict):
            home[pick.choice((key(pick), *keys()))] = home.pop(at)
        case 5 if isinstance(home, dict):
            home[pick.choice(keys())] = value(pick)
        case 6:
            home[at] = pick.choice(([home[at]], {"x": home[at]}, [home[at], home[at]]))
        case _:
            other, there = pick.choice([*_places(content)])
            home[at] = deepcopy(other[there])


def _places(content: Any) -> Iterator[tuple[Any, Any]]:
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(content, dict):
        items = content.items()
    elif isinstance(content, list):
        items = enumerate(content)
    for at, inner in [*items]:
        yield content, at
        yield from _places(inner)


@cache
def keys() -> tuple[str, ...]:
    """The keys of all tables that a file may have."""
    found: dict[str, None] = {}

    def add(table: type[ScenarioTable], seen: frozenset[type]) -> None:
        for name, field in table.model_fields.items():
            found[field.alias or name] = None
            for inner in {*tables_in(field.annotation)} - seen:
                add(inner, seen | {table, inner})

    for table in (ScenarioFile, InstanceFile, WorkloadFile):
        add(table, frozenset())
    return tuple(found)


def invented(pick: Random) -> dict[str, Any]:
    """A table of any keys."""
    return {pick.choice(keys()): value(pick, 3) for _ in range(pick.randrange(1, 6))}


def file(pick: Random, folder: str) -> bytes:
    """A file like those of a folder of docs/."""
    kind = pick.randrange(10)
    if kind == 0:
        return toml(invented(pick))
    if kind == 1:
        return broken(pick, toml(pick.choice(seeds(folder))))
    if kind == 2:
        return broken(pick, pick.choice([*(DOCS / folder).glob("*.toml")]).read_bytes())
    if kind == 3:
        return pick.choice(ODD)
    return toml(changed(pick, pick.choice(seeds(folder))))


ODD = (
    *(b"", b"\n", b"\xff\xfe", b"\xef\xbb\xbfseed = 1\n", b"seed = " + b"[" * 1_000 + b"]" * 1_000),
    *(b"seed = " + b"1" * 5_000, b"a" + b".a" * 1_000 + b" = 1\n", b"x = " + b"{a = " * 500),
    *(
        b"[" + b"a." * 2_000 + b"b]\n",
        b"seed = 0x" + b"f" * 5_000,
        b'protocol = """' + b"a" * 10**5,
    ),
)
