"""The algorithms of the LOG.io paper in the model: where each one stands, and its steps there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from model.protocols.log_io import nodes

HOME = Path(nodes.__file__).parent
STEPS = {
    1: "1 2.a 2.b 2.c 2.d 3",
    2: "1 2 3",
    3: "1 2 3 4 5 6",
    4: "1 2 3",
    5: "1 2 3",
    6: "1 2 3.a 3.b 4.a 4.b",
    7: "1 2",
    8: "1 2.a 2.b",
    9: "1 2.a 2.b 2.c 3",
    10: "1 2 3 4 5",
    11: "1 2 3 4.a 4.b 5",
    12: "1 2 3",
    13: "1.a 1.b 1.c 1.d 2 3",
}
"""The steps of the paper, by algorithm."""
STEP = r"\d(?:\.[a-d])?"
NAMED = re.compile(rf"Algorithm\s+(\d+)|[Ss]teps? ({STEP}(?:(?:, | and ){STEP})*)")


class Place(NamedTuple):
    """A function that has a part of an algorithm."""

    algorithm: int
    file: str
    function: str


def places() -> Iterator[Place]:
    """The table in the theory of operation."""
    assert nodes.__doc__ is not None
    table = nodes.__doc__.split("Where the algorithms stand\n")[1]
    for number, row in re.findall(r"^ ?(\d+)  (.*(?:\n    .*)*)", table, re.MULTILINE):
        for part in row.split(";"):
            file, _, functions = part.strip().partition(": ")
            for function in functions.split(", "):
                yield Place(int(number), file, function)


PLACES = [*places()]


def source(place: Place) -> str:
    """The text of the function, with its comments."""
    text = (HOME / place.file).read_text("utf-8")
    (found,) = (
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name == place.function
    )
    assert found.end_lineno is not None
    return "\n".join(text.splitlines()[found.lineno - 1 : found.end_lineno])


def steps(place: Place) -> Iterator[tuple[int, str]]:
    """The steps (algorithm, step) that the function names.

    A step without an algorithm is one of the algorithm named last, or of the only one that the
    function is a part of.
    """
    of = {one.algorithm for one in PLACES if one[1:] == place[1:]}
    algorithm = place.algorithm if len(of) == 1 else 0
    for named in NAMED.finditer(source(place)):
        if named[1]:
            algorithm = int(named[1])
        else:
            yield from ((algorithm, step) for step in re.findall(STEP, named[2]))


def test_the_table_has_every_algorithm() -> None:
    assert [*dict.fromkeys(place.algorithm for place in PLACES)] == [*STEPS]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: ":".join(map(str, place)))
def test_a_function_names_a_step_of_its_algorithm(place: Place) -> None:
    known = STEPS[place.algorithm].split()
    named = {step for algorithm, step in steps(place) if algorithm == place.algorithm}
    assert any(step.split(".")[0] in {one.split(".")[0] for one in known} for step in named)
    parents = {one.split(".")[0] for one in known}
    assert named <= {*known, *parents}


@pytest.mark.parametrize("algorithm", STEPS)
def test_every_step_bears_its_number(algorithm: int) -> None:
    mine = (place for place in PLACES if place.algorithm == algorithm)
    named = {step for place in mine for of, step in steps(place) if of == algorithm}
    assert not set(STEPS[algorithm].split()) - named
