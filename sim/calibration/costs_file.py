"""Measured costs as the [costs] of a scenario file.

Rule of this file: text only; sim.calibration.measure has the numbers.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from model.results.calibration import MeasuredCost

WIDTH = 78
"""The columns of a comment behind its "# "."""


def costs_toml(measured: Iterable[MeasuredCost], about: Sequence[str] = ()) -> str:
    """The tables of these costs, each with the measurement, the number of measurements, and the
    middle half.

    about: paragraphs of comment above them.
    """
    tables: dict[str, list[MeasuredCost]] = {}
    for one in measured:
        tables.setdefault(one.key.rpartition(".")[0], []).append(one)
    lines = [line for paragraph in about for line in _comment(paragraph)]
    for table, costs in tables.items():
        lines += ["", f"[{table}]"]
        for one in costs:
            name = one.key.rpartition(".")[2]
            lines += [*_comment(_measurement(one)), f"{name} = {_number(one.value, name)}"]
    return "\n".join(lines).lstrip("\n") + "\n"


def _comment(words: str) -> Iterator[str]:
    return (f"# {line}" for line in textwrap.wrap(words, WIDTH, break_long_words=False))


def _measurement(one: MeasuredCost) -> str:
    if one.low == one.high:
        return one.what
    return f"{one.what}: median of {one.times}, middle half {one.low:.3g} to {one.high:.3g}"


def _number(value: float, name: str) -> str:
    """Three digits; bytes of a value are whole."""
    return str(round(value)) if name.endswith("_bytes") else repr(float(f"{value:.3g}"))
