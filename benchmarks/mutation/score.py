"""The mutation score of modules that no protocol can show to be wrong, by their tests alone: those
that oracle and protocols share, the boxes, and the classifier of boxes.

Rule of this file: no test of a protocol or a driver counts here; such tests compare the operator
with the oracle, and a fault in what both share has no effect on the result.
`python -m benchmarks.mutation [GROUP|MODULE ...]` exits with 1 if too few faults are found, or if
the list of equivalent faults (equivalent.toml) is out of date.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, groupby
from pathlib import Path
from typing import NamedTuple

from rich.console import RenderableType
from rich.table import Table

from asif.console import print_all
from asif.progress import show_progress
from benchmarks.mutation.faults import Fault, find_faults
from benchmarks.mutation.hunt import ROOT, Suspect, hunt
from model.errors import Invalid, unknown
from model.progress import Progress


class Group(NamedTuple):
    """tests: of each module the file that runs first; those of the others come next, and then
    `others`.  limit_s: of processor time, three times what the tests alone take or more."""

    tests: Mapping[str, str]
    others: tuple[str, ...]
    limit_s: int


GROUPS = {
    "shared": Group(
        {
            "model.cep.windows": "tests/model/test_window_words.py",
            "model.cep.engines": "tests/model/test_engine_words.py",
            "model.predicates": "tests/model/test_engine_words.py",
            "model.cep.merge": "tests/model/test_operator_words.py",
            "model.cep.operator": "tests/model/test_operator_words.py",
            "model.cep.denotation": "tests/model/test_operator_words.py",
            "model.recovery": "tests/model/test_guarantee_words.py",
            "model.properties": "tests/model/test_guarantee_words.py",
            "model.oracle": "tests/boxes/test_allowed.py",
            "model.cep.patterns": "tests/model/test_pattern_words.py",
            "model.cep.one_run": "tests/model/test_pattern_words.py",
        },
        tuple(f"tests/model/test_{name}.py" for name in ("windows", "patterns", "operator")),
        limit_s=120,
    ),
    "boxes": Group(
        {
            "model.boxes.aggregate": "tests/boxes/test_denotations.py",
            "model.boxes.box": "tests/boxes/test_denotations.py",
            "model.boxes.folds": "tests/boxes/test_denotations.py",
            "model.boxes.hourly": "tests/boxes/test_waiting.py",
            "model.boxes.join": "tests/boxes/test_denotations.py",
            "model.boxes.network": "tests/boxes/test_networks.py",
            "model.boxes.reorder": "tests/boxes/test_waiting.py",
            "model.boxes.stateless": "tests/boxes/test_denotations.py",
            "model.boxes.triggered": "tests/boxes/test_waiting.py",
        },
        tuple(f"tests/boxes/test_{name}.py" for name in ("frames", "allowed", "long_runs")),
        limit_s=40,
    ),
    "classifier": Group(
        {
            "proofs.classify.classes": "tests/boxes/test_classes.py",
            "proofs.classify.pairs": "tests/boxes/test_classes.py",
            "proofs.classify.streams": "tests/boxes/test_streams.py",
            "proofs.classify.witness": "tests/boxes/test_pictures.py",
        },
        ("tests/boxes/test_frames.py",),
        limit_s=20,
    ),
}
MODULES = {module: group for group in GROUPS.values() for module in group.tests}
NEEDED = 0.95
EQUIVALENT = Path(__file__).parent / "equivalent.toml"


class Judged(NamedTuple):
    module: str
    fault: Fault
    found: bool
    equivalent: bool


def files_of(module: str) -> tuple[str, ...]:
    """All test files of the module's group, the module's own first."""
    tests, others, _ = MODULES[module]
    return tuple(dict.fromkeys((tests[module], *tests.values(), *others)))


def suspect(module: str, source: str) -> Suspect:
    return Suspect(module, source, files_of(module), MODULES[module].limit_s)


def source_of(module: str) -> str:
    return (ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")


def equivalents() -> dict[tuple[str, str, str, str], str]:
    """The faults that change nothing: (module, where, old, new) -> reason."""
    rows = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["fault"]
    return {(r["module"], r["where"], r["old"], r["new"]): r["reason"] for r in rows}


def judge(module: str, progress: Progress, workers: int = 2) -> list[Judged]:
    """Every fault of the module."""
    faults = find_faults(source_of(module))
    suspects = [suspect(module, fault.source) for fault in faults]
    listed = equivalents()
    stage, done = f"faults of {module}", count(1)
    progress(stage, 0, len(suspects))
    answers = [*hunt(suspects, workers, lambda: progress(stage, next(done), len(suspects)))]
    return [
        Judged(module, fault, found, (module, *fault.key) in listed)
        for fault, found in zip(faults, answers, strict=True)
    ]


def is_sound(module: str) -> bool:
    """Do the tests pass without a fault?"""
    return not any(hunt([suspect(module, source_of(module))], 1))


def score(judged: Sequence[Judged]) -> float:
    """The share of found faults among those that change something."""
    counted = [one for one in judged if not one.equivalent]
    return sum(one.found for one in counted) / len(counted) if counted else 1.0


def complaints(judged: Sequence[Judged]) -> list[str]:
    """What is wrong with the list of equivalent faults."""
    modules = {one.module for one in judged}
    there = {(one.module, *one.fault.key) for one in judged}
    gone = [key for key in equivalents() if key[0] in modules and key not in there]
    return [
        *(f"listed, but no such fault exists: {' | '.join(key)}" for key in gone),
        *(f"listed as equivalent, but found: {_line(one)}" for one in judged if _is_wrong(one)),
    ]


def _is_wrong(one: Judged) -> bool:
    return one.equivalent and one.found


def _line(one: Judged) -> str:
    path = f"{one.module.replace('.', '/')}.py"
    return f"{path}:{one.fault.line} {one.fault.where}: {one.fault.old}  ->  {one.fault.new}"


def _row(name: str, judged: Sequence[Judged]) -> tuple[str, ...]:
    equivalent = sum(one.equivalent for one in judged)
    found = sum(one.found for one in judged if not one.equivalent)
    counts = (len(judged), equivalent, found, len(judged) - equivalent - found)
    return (name, *map(str, counts), f"{score(judged):.1%}")


def judge_all(names: Sequence[str], progress: Progress) -> list[Judged]:
    """Every fault of these modules and groups.  Raises Invalid for an unknown name, or if tests
    fail without a fault."""
    modules = [one for name in names for one in (GROUPS[name].tests if name in GROUPS else [name])]
    for name in modules:
        if name not in MODULES:
            raise unknown("module or group", name, [*GROUPS, *MODULES])
    for group in GROUPS.values():
        asked = [module for module in modules if module in group.tests]
        if asked and not is_sound(asked[0]):
            raise Invalid(f"the tests of {asked[0]} fail, and there is no fault yet")
    return [one for module in modules for one in judge(module, progress)]


def is_good(judged: Sequence[Judged]) -> bool:
    """Are enough faults found, and is the list of equivalent ones up to date?"""
    return score(judged) >= NEEDED and not complaints(judged)


def report(judged: Sequence[Judged]) -> Iterator[RenderableType]:
    """The score of each module, the faults that survive, and what is wrong."""
    table = Table("one-line faults", "all", "equivalent", "found", "survive", "score")
    for module, own in groupby(judged, lambda one: one.module):
        table.add_row(*_row(module, [*own]))
    table.add_section()
    table.add_row(*_row("together", judged))
    yield table
    for one in judged:
        if not one.found and not one.equivalent:
            yield f"survives: {_line(one)}"
    yield from complaints(judged)
    if score(judged) < NEEDED:
        yield f"fewer than {NEEDED:.0%} are found"


def main(names: Sequence[str] = tuple(GROUPS)) -> int:
    """Print the report; return the exit code.  names: of modules and groups."""
    try:
        with show_progress() as progress:
            judged = judge_all(names, progress)
    except Invalid as error:
        print(f"mutation: {error}", file=sys.stderr)
        return 2
    print_all(report(judged))
    return int(not is_good(judged))
