"""Sweeps: a TOML file that says over which values of which keys a scenario is run.

Rule of this file: a sweep is data; it lists the runs, and executes none.  All that decides the
outcome of a run identifies it: the scenario with everything set in it, the content of its event
file, and the version of the code.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from importlib import metadata
from itertools import product
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, NamedTuple

from pydantic import Field, ValidationError, model_validator

import model
import sim
from model.errors import Invalid
from model.limits import Ceiling
from model.machine.input_files import require_file
from model.progress import Progress, silent
from sim.scenarios.complaints import complaint
from sim.scenarios.overrides import Override
from sim.scenarios.scenario import Draft, check_draft, draft
from sim.scenarios.toml_lines import Path as Key
from sim.scenarios.toml_lines import line_of
from sim.timed.costs import ScenarioTable
from sim.toml_values import TomlTable

PROTOCOL = ("protocol",)
CODE = (".java", ".py")
"""The files of a package that decide outcomes."""
Number = Annotated[int | float, Field(allow_inf_nan=False)]
VALUES = Ceiling(100_000, 1.0, 0, "give a longer step")
RUNS = Ceiling(1_000_000, 1.0, 10_000, "give fewer values")
"""The values of a key, and the runs of a sweep."""


class ValueRange(ScenarioTable):
    """From, to and the step; `to` is included if a step ends there."""

    from_: Annotated[Number, Field(alias="from")]
    to: Number
    step: Annotated[Number, Field(gt=0)] = 1

    @model_validator(mode="after")
    def _not_backwards(self) -> ValueRange:
        if self.to < self.from_:
            raise ValueError(f"to = {self.to} is below from = {self.from_}; exchange them")
        return self

    def values(self) -> list[int | float]:
        """In decimal, so that ten steps of 0.1 are 1.  Raises Invalid for too many."""
        start, end, step = (Decimal(str(n)) for n in (self.from_, self.to, self.step))
        whole = all(isinstance(n, int) for n in (self.from_, self.step))
        VALUES.refuse(f"from {start} to {end}, step {step}", float((end - start) / step))
        count = int((end - start) / step) + 1
        return [(int if whole else float)(start + turn * step) for turn in range(count)]


class SweepFile(ScenarioTable):
    """All that may stand in a file.  scenario: its path, relative to this file.  grid: dotted
    keys of the scenario, each with a list of values or a range.  protocols: by protocol, further
    keys of a grid that this protocol alone has; the sweep is over these protocols then."""

    scenario: str
    grid: dict[str, Any] = Field(default_factory=dict)
    protocols: dict[str, dict[str, object]] = Field(default_factory=dict)


class Axis(NamedTuple):
    """A key of the grid and its values, in order."""

    key: tuple[str, ...]
    values: tuple[Override, ...]

    @property
    def name(self) -> str:
        return self.values[0].name


class SweepRun(NamedTuple):
    """A run of a sweep.  id: the same for two runs if and only if they give the same outcome."""

    id: str
    overrides: tuple[Override, ...]


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep.  base: the scenario, with nothing set in it.  grids: the runs are those of each grid
    after the other; there are several if protocols have keys of their own."""

    name: str
    base: Draft
    grids: tuple[tuple[Axis, ...], ...]

    @property
    def axes(self) -> tuple[Axis, ...]:
        """All keys, each with all values that any grid has for it."""
        found: dict[tuple[str, ...], dict[str, Override]] = {}
        for axis in (axis for grid in self.grids for axis in grid):
            known = found.setdefault(axis.key, {})
            for one in axis.values:
                known.setdefault(str(one), one)
        return tuple(Axis(key, tuple(known.values())) for key, known in found.items())

    @property
    def varied(self) -> dict[str, bool]:
        """The keys with several values, without the seed; are their values numbers?"""
        return {
            axis.name: all(type(one.value) in (int, float) for one in axis.values)
            for axis in self.axes
            if axis.name != "seed" and len(axis.values) > 1
        }

    def runs(self) -> tuple[SweepRun, ...]:
        """All combinations; the runs with the same value of the first key follow each other."""
        files: dict[Path, str] = {}
        return tuple(
            SweepRun(_id(self.base, chosen, files), chosen)
            for grid in self.grids
            for chosen in product(*(axis.values for axis in grid))
        )

    def replay(self, run: SweepRun) -> str:
        """The command that repeats the run, in the folder in which the sweep was started."""
        words = ["asif", "simulate", str(self.base.path)]
        for override in run.overrides:
            words += ["--set", str(override)]
        return shlex.join(words)


def read(path: Path | str) -> Sweep:
    """Read a sweep.  Raises Invalid with the line, what is wrong there, and what would be right."""
    written = draft(path)
    file = written.table(SweepFile)
    try:
        base = draft(os.path.normpath(written.path.parent / file.scenario))
    except Invalid as error:
        raise written.wrong(("scenario",), f"scenario: {error}") from None
    if not file.grid and not file.protocols:
        raise written.wrong(("grid",), "grid: no keys; write at least one, as in seed = [1, 2]")
    common = tuple(_axes(written, file.grid, ("grid",)))
    grids = tuple(_grids(written, file.protocols, common)) if file.protocols else (common,)
    runs = sum(prod(len(axis.values) for axis in grid) for grid in grids)
    if runs > RUNS.most:
        raise written.wrong(("grid",), RUNS.complaint(f"a sweep of {runs:,} runs", runs))
    return Sweep(written.path.stem, base, grids)


def check(sweep: Sweep, known: Container[str], progress: Progress = silent) -> None:
    """Raise Invalid if a value is impossible: each value is tried once, while all other keys have
    their first value.  Runs that are `known` are possible.  Combinations are not tried, for there
    may be very many: an impossible combination is a run that fails."""
    tried: dict[str, tuple[Override, ...]] = {}
    for grid in sweep.grids:
        first = tuple(axis.values[0] for axis in grid)
        tried.setdefault(" ".join(map(str, first)), first)
        for at, axis in enumerate(grid):
            for value in axis.values:
                chosen = (*first[:at], value, *first[at + 1 :])
                tried.setdefault(" ".join(map(str, chosen)), chosen)
    for done, chosen in enumerate(tried.values()):
        if _id(sweep.base, chosen, {}) not in known:
            check_draft(sweep.base.override(chosen))
        progress("checking", done + 1, len(tried))


@lru_cache
def version(*packages: ModuleType) -> str:
    """The version of the distribution, and of the code that decides outcomes: 0.1.0+1a2b3c4d.

    That code is the model, the simulator, and the packages that are given.
    """
    digest = hashlib.sha256()
    for package in (model, sim, *packages):
        root = Path(package.__path__[0])
        for file in sorted(path for path in root.rglob("*") if path.suffix in CODE):
            digest.update(f"{file.relative_to(root)}\n".encode() + file.read_bytes())
    return f"{metadata.version('asif-testbed')}+{digest.hexdigest()[:8]}"


# --- reading ---------------------------------------------------------------------------------
def _grids(
    written: Draft, protocols: Mapping[str, TomlTable], common: tuple[Axis, ...]
) -> Iterator[tuple[Axis, ...]]:
    """The grid of each protocol: the protocol, the common keys, and its own."""
    known = [axis.name for axis in common]
    for name, table in protocols.items():
        at = ("protocols", name)
        own = tuple(_axes(written, table, at))
        for axis in own:
            if axis.name in known:
                raise written.wrong(
                    (*at, *axis.key), f"{axis.name} is in [grid], too; leave it out in one of them"
                )
        if PROTOCOL in {axis.key for axis in (*common, *own)}:
            raise written.wrong(
                ("grid", *PROTOCOL), "protocol: [protocols.NAME] says which ones; leave it out"
            )
        where = f"{written.path}:{line_of(written.lines, at)}"
        yield (Axis(PROTOCOL, (Override(PROTOCOL, name, where),)), *common, *own)


def _axes(written: Draft, table: TomlTable, above: Key) -> Iterator[Axis]:
    for name, value in table.items():
        at = (*above, name)
        key = tuple(str(part) for part in at[1 if at[0] == "grid" else 2 :])
        if isinstance(value, Mapping) and not value.keys() & {"from", "to", "step"}:
            yield from _axes(written, value, at)
            continue
        values = value
        if isinstance(value, Mapping):
            try:
                values = ValueRange.model_validate(value).values()
            except Invalid as error:
                raise written.wrong(at, f"{Override(key, 0).name}: {error}") from None
            except ValidationError as error:
                raise written.wrong(at, complaint(error, ValueRange, lambda _: 0, key)[1]) from None
        shown = Override(key, value).name
        if not isinstance(values, list):
            raise written.wrong(
                at, f"{shown} has one value; write a list, [{values!r}], or a range"
            )
        if not values:
            raise written.wrong(at, f"{shown} has no values; write at least one, or leave it out")
        where = f"{written.path}:{line_of(written.lines, at)}"
        overrides = tuple(Override(key, one, where) for one in values)
        counts = Counter(map(str, overrides))
        twice = next((text for text, count in counts.items() if count > 1), None)
        if twice is not None:
            raise written.wrong(at, f"{twice} is there twice; every value once")
        yield Axis(key, overrides)


# --- identity --------------------------------------------------------------------------------
def _id(base: Draft, chosen: tuple[Override, ...], files: dict[Path, str]) -> str:
    """files: digests of event files that were read before."""
    try:
        content = base.override(chosen).for_its_protocol().content
    except Invalid:  # the run will fail, and its overrides identify it
        content = {"scenario": base.content, "overrides": list(map(str, chosen))}
    return identify(base.path, content, files)


def identify(path: Path, content: TomlTable, files: dict[Path, str]) -> str:
    """The identity of the content of a scenario file: that, its event files, and the code.

    files: digests of event files that were read before; others are added.
    """
    sources = content.get("source")
    tables = [content.get("file"), *(sources if isinstance(sources, list) else ())]
    names = [table.get("path") for table in tables if isinstance(table, Mapping)]
    read = [path.parent / name for name in names if isinstance(name, str)]
    files |= {one: _digest(one) for one in read if one not in files}
    whole = [version(), content, [files[one] for one in read]]
    text = json.dumps(whole, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _digest(path: Path) -> str:
    try:
        require_file(path)
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, Invalid):  # the run will report the cause
        return ""
