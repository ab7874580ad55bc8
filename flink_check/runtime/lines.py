"""A source that nobody can read again: lines on a connection.

Rule of this file: a line is written once, to the connection that is there; nothing is kept.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable
from types import TracebackType

from flink_check.runtime.configuration import HOST

TIMEOUT_S = 60


class LineServer:
    """A server on a port of 127.0.0.1 for one reader, and for its successor after a crash."""

    def __init__(self) -> None:
        self._server = socket.create_server((HOST, 0))
        self._server.settimeout(TIMEOUT_S)
        self._reader: socket.socket | None = None

    @property
    def port(self) -> int:
        return int(self._server.getsockname()[1])

    def await_reader(self) -> None:
        """Wait for the next reader; the connection to the last one ends.  Raises TimeoutError."""
        reader, _ = self._server.accept()
        if self._reader is not None:
            self._reader.close()
        self._reader = reader

    def write(self, lines: Iterable[object]) -> None:
        """Write lines to the reader.  Raises OSError if the reader is gone or never came."""
        if self._reader is None:
            raise OSError("no reader has come")
        self._reader.sendall("".join(f"{line}\n" for line in lines).encode())

    def __enter__(self) -> LineServer:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        for one in (self._reader, self._server):
            if one is not None:
                one.close()
