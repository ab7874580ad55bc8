"""`Protocol` is a recovery protocol everywhere; that of `typing` is written `typing.Protocol`.

Rule of this file: it reads the source.  Ruff cannot ban the import and allow the attribute.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[2]
ROOMS = (
    "asif",
    "benchmarks",
    "docs",
    "model",
    "proofs",
    "reports",
    "sim",
    "engine_check",
    "flink_check",
    "spark_check",
    "tests",
)


def bare_imports(text: str) -> Iterator[int]:
    """The lines on which the name is imported from `typing`."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module == "typing":
            yield from (node.lineno for name in node.names if name.name == "Protocol")


def test_the_protocol_of_typing_is_never_imported_bare() -> None:
    paths = [path for room in ROOMS for path in sorted((PROJECT / room).rglob("*.py"))]
    assert len(paths) > 800
    assert [
        f"{path.relative_to(PROJECT)}:{line}"
        for path in paths
        for line in bare_imports(path.read_text(encoding="utf-8"))
    ] == []


def test_a_bare_import_is_found() -> None:
    assert [*bare_imports("import typing\nfrom typing import Any, Protocol\n")] == [2]
