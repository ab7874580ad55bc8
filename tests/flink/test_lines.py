"""Lines on a connection, without Flink: nobody reads a line again."""

from __future__ import annotations

import socket

import pytest

from flink_check.runtime.configuration import HOST
from flink_check.runtime.lines import LineServer


def received(reader: socket.socket, size: int) -> bytes:
    """So many bytes."""
    found = b""
    while len(found) < size:
        found += reader.recv(size - len(found))
    return found


def test_the_next_reader_receives_later_lines_alone() -> None:
    with LineServer() as server:
        with socket.create_connection((HOST, server.port)) as first:
            server.await_reader()
            server.write([1, 2])
            assert received(first, 4) == b"1\n2\n"
        with socket.create_connection((HOST, server.port)) as second:
            server.await_reader()
            server.write([3])
            assert received(second, 2) == b"3\n"


def test_a_line_for_nobody_is_refused() -> None:
    with LineServer() as server, pytest.raises(OSError, match="no reader has come"):
        server.write([1])


def test_the_port_is_of_this_machine_alone() -> None:
    with LineServer() as server:
        assert server._server.getsockname()[0] == HOST == "127.0.0.1"
