"""The outputs of sinks, as a value that can be compared and named.

Rule of this file: no knowledge of a driver.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from model.events import Body

Outputs = tuple[tuple[tuple[Body, ...], ...], ...]
"""The outputs by sink and input edge (the order between edges does not count)."""


def digest(outputs: Outputs) -> str:
    """The SHA-256 of the outputs as compact JSON: [sink][edge][body], a body [time, type, data]."""
    text = json.dumps(outputs, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


class OutputDifferences(NamedTuple):
    """How many outputs are missing, and how many are too many, by sink and input edge; if none are,
    only the order differs."""

    missing: int
    surplus: int


def differences(expected: Outputs, observed: Outputs) -> OutputDifferences:
    wanted, got = _tally(expected), _tally(observed)
    return OutputDifferences((wanted - got).total(), (got - wanted).total())


def _tally(outputs: Outputs) -> Counter[tuple[int, int, Body]]:
    return Counter(
        (sink, edge, body)
        for sink, edges in enumerate(outputs)
        for edge, bodies in enumerate(edges)
        for body in bodies
    )


def as_csv(outputs: Outputs, show: Callable[[int], Any]) -> str:
    """The outputs as CSV, a row each, in the order of each input edge of a sink.

    show: a time of the model as a user has it.  Columns: edge: of which sink, from 0, and which
    input.  n: the place there.  content: the arrivals that the output was made of, as JSON; an
    event is [time, type, content].
    """
    lines = io.StringIO()
    rows = csv.writer(lines, lineterminator="\n")
    rows.writerow(("edge", "n", "time", "type", "content"))
    for sink, edges in enumerate(outputs):
        for edge, bodies in enumerate(edges):
            for n, body in enumerate(bodies, 1):
                content = json.dumps(_shown(body.data, show), ensure_ascii=False, default=str)
                rows.writerow((f"{sink}.{edge}", n, show(body.time), body.type, content))
    return lines.getvalue()


def _shown(value: Any, show: Callable[[int], Any]) -> Any:
    if isinstance(value, Body):
        return show(value.time), value.type, _shown(value.data, show)
    return [_shown(part, show) for part in value] if isinstance(value, tuple) else value


def count(outputs: Outputs) -> int:
    return sum(len(bodies) for edges in outputs for bodies in edges)
