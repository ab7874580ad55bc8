"""Every scored number depends on the runs: other measurements give another value, or no trend.

Of CEC and LOG.io: an experiment of the others takes long.  Hwang's numbers have a stronger test, in
tests/families/standbys/test_numbers.py: there the prices of the model change.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import pytest

from model.results.table import Row
from sim.experiments.experiment import experiments
from sim.experiments.published import numbers

CEC_EVENTS = 200_000
TRIALS = 3


def _judged(name: str) -> bool:
    return name.startswith(("cec-fig", "logio-fig"))


@cache
def rows(name: str) -> tuple[Row, ...]:
    one = experiments()[name]
    return tuple(one.rows(0, CEC_EVENTS if name.startswith("cec") else one.events))


def summary(name: str, found: Sequence[Row]) -> dict[str, float]:
    return dict(experiments()[name].summary(found).values)


def changed(name: str) -> Iterator[dict[str, float]]:
    """The values after one column of measurements has become another one.

    A column that names a run, as a parameter does, is left out: the summary does not find its runs.
    """
    found, chance = rows(name), random.Random(1)
    for column in dict.fromkeys(column for row in found for column in row):
        for _ in range(TRIALS):
            other = [{**row, column: _another(row.get(column), chance)} for row in found]
            if other != list(found):
                try:
                    yield summary(name, other)
                except Exception:
                    break


def _another(one: Any, chance: random.Random) -> Any:
    if isinstance(one, bool) or one is None or isinstance(one, str):
        return one
    if isinstance(one, list):
        return [_another(each, chance) for each in one]
    return type(one)(one * chance.choice((0.01, 0.5, 2, 100)) + chance.choice((0, 1)))


LONG = ("cec-fig6", "cec-fig7")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.exhaustive if name in LONG else ())
        for name in experiments()
        if _judged(name)
    ],
)
def test_every_scored_number_could_fail(name: str) -> None:
    before = summary(name, rows(name))
    wanted = {
        value: number
        for number in numbers()
        for way, value in number.ours.items()
        if value in before and way not in number.marks
    }
    fixed = set(wanted)
    for values in changed(name):
        for value in [*fixed] if {*values} == {*before} else ():
            trend = wanted[value].kind == "trend"
            moved = values[value] != before[value]
            if moved if not trend else 0.0 in (values[value], before[value]):
                fixed.discard(value)
        if not fixed:
            break
    assert not fixed
