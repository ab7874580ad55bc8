"""A network between a client and a PostgreSQL server that is cut at a moment.

Rule of this file: bytes; nothing is known of a log.
"""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class CutNetwork:
    """`cut` ends all connections; after `cut_at_answer`, the next answer ends them and is lost."""

    def __init__(self, server: Path) -> None:
        self._server = server
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._lock, self._losing, self.cuts = threading.Lock(), False, 0
        self._ended, self._wake = socket.socketpair()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self._listener.getsockname()[1]}/postgres"

    def cut(self) -> None:
        with self._lock:
            self._cut()

    def _cut(self) -> None:
        self.cuts += bool(self._pairs)
        for pair in self._pairs:
            for one in pair:
                one.close()
        self._pairs.clear()
        self._losing = False

    def cut_at_answer(self) -> None:
        self._losing = True

    def _run(self) -> None:
        while True:
            with self._lock:
                ends = {one: other for pair in self._pairs for one, other in (pair, pair[::-1])}
                servers = {pair[1] for pair in self._pairs}
            with suppress(OSError, ValueError):  # one of them was cut meanwhile
                ready, _, _ = select.select([self._listener, self._ended, *ends], [], [], 0.2)
                for one in ready:
                    if one is self._ended:
                        return
                    if one is self._listener:
                        self._accept()
                    else:
                        self._pass(one, ends[one], one in servers)

    def _accept(self) -> None:
        client, _ = self._listener.accept()
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(str(self._server))
        except OSError:
            client.close()
            return
        with self._lock:
            self._pairs.append((client, server))

    def _pass(self, one: socket.socket, other: socket.socket, from_server: bool) -> None:
        with self._lock:
            if from_server and self._losing:
                self._cut()
                return
            try:
                data = one.recv(65536)
            except OSError:
                data = b""
            if data:
                with suppress(OSError):
                    other.sendall(data)
                return
            self._pairs = [pair for pair in self._pairs if one not in pair]
            one.close()
            other.close()

    def close(self) -> None:
        self._wake.close()
        self._thread.join()
        self.cut()
        self._listener.close()
        self._ended.close()


@contextmanager
def cut_network(server: Path) -> Iterator[CutNetwork]:
    """A network to the server with this socket."""
    network = CutNetwork(server)
    try:
        yield network
    finally:
        network.close()
