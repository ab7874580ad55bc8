"""The outputs of sinks, as a value that can be compared and named.

Rule of this file: no knowledge of a driver.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from tempfile import SpooledTemporaryFile
from typing import IO, Any, NamedTuple

from model.events import Body

Outputs = tuple[tuple[tuple[Body, ...], ...], ...]
"""The outputs by sink and input edge (the order between edges does not count)."""

MEGABYTE = 1 << 20


def digest(outputs: Outputs) -> str:
    """The SHA-256 of the outputs as compact JSON: [sink][edge][body], a body [time, type, data]."""
    return hashlib.sha256(_compact(outputs).encode()).hexdigest()


class RunningDigest:
    """The digest of outputs that come in pieces.

    edges: by sink, the number of its input edges.  The digest takes one edge after the other:
    outputs on other edges than the first wait in temporary files, beyond a megabyte on the disk.
    """

    def __init__(self, edges: Sequence[int]) -> None:
        self.edges = edges
        self.begun = [False] * sum(edges)
        self.hash = hashlib.sha256(b"[[[" if edges and edges[0] else b"")
        self.texts = [SpooledTemporaryFile(MEGABYTE) for _ in self.begun[1:]]  # noqa: SIM115
        weakref.finalize(self, _close, self.texts)

    def add(self, edge: int, bodies: Sequence[Body]) -> None:
        """Add the next bodies of an edge; edges are counted over all sinks."""
        text = _compact(bodies)[1:-1].encode()
        if self.begun[edge]:
            text = b"," + text
        self.begun[edge] = True
        if edge:
            self.texts[edge - 1].write(text)
        else:
            self.hash.update(text)

    def hexdigest(self) -> str:
        """The digest of all outputs; nothing may be added after it."""
        if not (self.edges and self.edges[0]):
            raise ValueError("a digest needs a first edge")
        edge = 0
        for sink, count in enumerate(self.edges):
            if sink:
                self.hash.update(b",[")
            for place in range(count):
                if edge:
                    self.hash.update(b",[" if place else b"[")
                    text = self.texts[edge - 1]
                    text.seek(0)
                    while piece := text.read(MEGABYTE):
                        self.hash.update(piece)
                self.hash.update(b"]")
                edge += 1
            self.hash.update(b"]")
        self.hash.update(b"]")
        return self.hash.hexdigest()


def _close(files: Iterable[IO[bytes]]) -> None:
    for file in files:
        file.close()


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


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
