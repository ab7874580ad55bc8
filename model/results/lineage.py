"""The lineage of an event by a log of LOG.io, the ports of a log, and what is whole of it.

Rule of this file: fields alone; names are those of the log.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ListedPort:
    """A port.  kind: "output", "write" or "read".  to: the input port; None for external systems.
    first, last: the numbers of its events.  lineage: "captured", "source" or "not captured"."""

    port: str
    kind: str
    to: str | None
    first: int
    last: int
    events: int
    lineage: str


@dataclass(frozen=True, slots=True)
class PortsResult:
    """All ports of a log."""

    ports: tuple[ListedPort, ...]


@dataclass(frozen=True, slots=True)
class LineageEvent:
    """An event, or a record of a source.  source: nothing behind it is in the log.  base64: the
    bytes of a body that is not UTF-8."""

    event: str
    kind: str
    source: bool
    body: str
    base64: str | None


@dataclass(frozen=True, slots=True)
class LineageUse:
    """An event that was used for another one."""

    input: str
    output: str


@dataclass(frozen=True, slots=True)
class LineageResult:
    """event, forward, scope, record, depends: what was asked, as written.  reason: None, or why
    nothing was found: "source", "unused", "write" or "nothing known".  found: the events, each
    after those that it was made of."""

    event: str
    forward: bool
    scope: str | None
    record: str | None
    depends: tuple[str, ...]
    reason: str | None
    found: tuple[LineageEvent, ...]
    edges: tuple[LineageUse, ...]


@dataclass(frozen=True, slots=True)
class VerifiedTable:
    """A table of a log.  rows: how many were compared with their checksums; None: they cannot be
    read.  faults: in words."""

    table: str
    rows: int | None
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LogVerification:
    """whole: is all there that was written, and nothing else?  faults: those of no single table."""

    whole: bool
    faults: tuple[str, ...]
    tables: tuple[VerifiedTable, ...]
