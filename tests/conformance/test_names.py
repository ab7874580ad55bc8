"""No file outside a family's own folders names one of its messages, notes or modules.

Rule of this file: it reads the source and knows no family; what a family's names are follows from
its modules.  Tests, benchmarks and docs are outside the rule.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pytest

from model.registry import modules

PROJECT = Path(__file__).parents[2]
PACKAGES = (
    "asif",
    "model",
    "proofs",
    "reports",
    "sim",
    "engine_check",
    "flink_check",
    "spark_check",
)
FAMILIES = [home.split(".")[-2] for home in modules()]
ROOMS = ("model/protocols", "proofs/lemmas", "sim/predictions", "spark_check", "flink_check")
PAPERS = {
    "abs": Path("sim/experiments/logio"),
    "active_standby": Path("sim/experiments/hwang"),
    "amnesia": Path("sim/experiments/hwang"),
    "cec": Path("sim/experiments/sebepou"),
    "log_io": Path("sim/experiments/logio"),
    "passive_standby": Path("sim/experiments/hwang"),
    "progressive": Path("sim/experiments/su"),
    "upstream_backup": Path("sim/experiments/lima"),
    "upstream_backup_acks": Path("sim/experiments/hwang"),
}
"""An experiment runs the method whose published numbers it reproduces, so it names it."""
STANDBYS = ("active_standby", "amnesia", "passive_standby", "upstream_backup_acks")
JOBS = {
    "log_io": (
        Path("spark_check/abs"),
        Path("asif/commands/lineage.py"),
        Path("asif/lineage_answers.py"),
        Path("asif/log_io.py"),
    ),
    "micro_batch": tuple(Path("spark_check") / family for family in STANDBYS),
}
"""Families whose Spark checks run the job of another family, or its stream and its sink; and the
command that asks a family's library, which users run without the model."""
TEXTS = (".j2", ".css")


class Names(NamedTuple):
    """Of a family.  classes: those of its modules that no other part of the project defines, too.
    constants: its quantities, by the name in the module.  texts: how its quantities are called."""

    classes: frozenset[str]
    constants: frozenset[str]
    texts: frozenset[str]

    @property
    def identifiers(self) -> frozenset[str]:
        return self.classes | self.constants


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def names(family: str) -> Names:
    classes, constants, texts = set(), set(), set()
    for path in sorted((PROJECT / "model/protocols" / family).rglob("*.py")):
        for statement in parsed(path).body:
            match statement:
                case ast.ClassDef(name):
                    classes.add(name)
                case ast.Assign([ast.Name(constant)], ast.Call(ast.Name("Quantity"), [text, *_])):
                    constants.add(constant)
                    texts.add(ast.literal_eval(text))
    return Names(frozenset(classes) - of_others(), frozenset(constants), frozenset(texts))


@cache
def of_others() -> frozenset[str]:
    """Classes that are defined in no family's rooms."""
    return frozenset(
        statement.name
        for path in sources()
        if path.suffix == ".py" and not any(own(family, path) for family in FAMILIES)
        for statement in parsed(path).body
        if isinstance(statement, ast.ClassDef)
    )


def own(family: str, path: Path) -> bool:
    """Is the file in one of the family's rooms?"""
    relative = path.relative_to(PROJECT)
    if family in PAPERS and relative.is_relative_to(PAPERS[family]):
        return True
    if any(relative.is_relative_to(room) for room in JOBS.get(family, ())):
        return True
    return any(
        relative.is_relative_to(f"{room}/{family}") or relative == Path(f"{room}/{family}.py")
        for room in ROOMS
    )


def sources() -> Iterator[Path]:
    for package in PACKAGES:
        for path in sorted((PROJECT / package).rglob("*")):
            if path.suffix in (".py", *TEXTS):
                yield path


# --- what a file names -----------------------------------------------------------------------
Nodes: TypeAlias = Sequence[ast.AST]
"""All nodes of a file: to walk through its tree takes most of the time."""


def docstrings(nodes: Nodes) -> set[int]:
    """Strings that stand alone: they explain, and nothing depends on them."""
    return {
        id(node.value)
        for node in nodes
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def imported(nodes: Nodes) -> Iterator[tuple[str, int]]:
    for node in nodes:
        match node:
            case ast.Import(aliases):
                yield from ((alias.name, node.lineno) for alias in aliases)
            case ast.ImportFrom(module, aliases):
                yield from ((f"{module}.{alias.name}", node.lineno) for alias in aliases)


def bound(nodes: Nodes) -> frozenset[str]:
    """Identifiers that the file defines itself, or has from a file of no family."""
    found = set()
    for node in nodes:
        match node:
            case ast.ClassDef(name) | ast.FunctionDef(name) | ast.arg(name):
                found.add(name)
            case ast.Name(name, ast.Store()):
                found.add(name)
            case ast.Import(aliases) | ast.ImportFrom(_, aliases):
                found |= {alias.asname or alias.name for alias in aliases}
    return frozenset(found)


def identifiers(nodes: Nodes) -> Iterator[tuple[str, int]]:
    known = bound(nodes)
    for node in nodes:
        match node:
            case ast.Name(name) if name not in known:
                yield name, node.lineno
            case ast.Attribute(_, name):
                yield name, node.lineno


def strings(nodes: Nodes) -> Iterator[tuple[str, int]]:
    explaining = docstrings(nodes)
    for node in nodes:
        match node:
            case ast.Constant(str(text)) if id(node) not in explaining:
                yield text, node.lineno


class Words(NamedTuple):
    """What may name something of a family in a file, each with its line."""

    imported: tuple[tuple[str, int], ...]
    identifiers: tuple[tuple[str, int], ...]
    strings: tuple[tuple[str, int], ...]


@cache  # every family asks about every file
def words(path: Path) -> Words:
    nodes = [*ast.walk(parsed(path))]
    return Words((*imported(nodes),), (*identifiers(nodes),), (*strings(nodes),))


def mentions(family: str, path: Path) -> Iterator[str]:
    """What the file names of the family: the line, and what."""
    its = names(family)
    if path.suffix in TEXTS:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield from (f"{number}: {what}" for what in in_text(family, its, line))
        return
    package = f"model.protocols.{family}"
    rooms = (package, *(f"{room.replace('/', '.')}.{family}" for room in ROOMS[1:]))
    for name, at in words(path).imported:
        if any(f"{name}.".startswith(f"{room}.") for room in rooms):
            yield f"{at}: imports {name}"
    yield from (f"{at}: {name}" for name, at in words(path).identifiers if name in its.identifiers)
    for text, at in words(path).strings:
        yield from (f"{at}: {what!r} in a string" for what in in_text(family, its, text))


def in_text(family: str, its: Names, text: str) -> Iterator[str]:
    """A module, a quantity, or a class's name as what a string is."""
    if re.search(rf"(^|[./]){family}([./]|$)", text):
        yield family
    yield from (what for what in sorted(its.texts) if what in text)
    if text in its.classes:
        yield text


# --- the rule --------------------------------------------------------------------------------
@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_has_names(family: str) -> None:
    """The test below could otherwise not fail."""
    its = names(family)
    assert len(its.classes) > 2
    assert its.constants
    assert its.texts


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_nobody_else_names_what_is_a_family_s(family: str) -> None:
    found = [
        f"{path.relative_to(PROJECT)}:{mention}"
        for path in sources()
        if not own(family, path)
        for mention in mentions(family, path)
    ]
    assert found == []


def test_a_folder_has_the_name_of_its_family() -> None:
    """A name on the command line imports this folder alone."""
    assert [one.family.replace("-", "_") for one in modules().values()] == FAMILIES


@pytest.mark.parametrize("family", FAMILIES)
def test_a_name_that_is_the_family_s_is_found(family: str, tmp_path: Path) -> None:
    its = names(family)
    message, constant, text = (min(kind) for kind in its)
    lines = (
        f"import model.protocols.{family}.protocol",
        f"from sim.predictions import {family}",
        f"kind = isinstance(message, messages.{message})",
        f"same = type(message).__name__ == {message!r}",
        f"count = {constant}.times",
        f"row = notes[{text!r}]",
        f"path = 'model/protocols/{family}/nodes.py'",
    )
    for number, line in enumerate(lines):
        (tmp_path / f"driver{number}.py").write_text(f"{line}\n")
        assert [*mentions(family, tmp_path / f"driver{number}.py")]
    (tmp_path / "page.j2").write_text(f"{{{{ notes[{text!r}] }}}}")
    assert [*mentions(family, tmp_path / "page.j2")]
    own_name = f"class {message}: pass\nx = {message}()\n"
    (tmp_path / "other.py").write_text(f'"""Like {message}."""\n{own_name}')
    assert not [*mentions(family, tmp_path / "other.py")]
