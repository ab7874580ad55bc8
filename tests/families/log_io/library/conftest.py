"""Databases for the tests: a file of SQLite, and a PostgreSQL server that the session starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from spark_check.log_io.library.schema import ROWS
from tests.families.log_io.library.server import serve

NAMES = ("sqlite", "postgresql")
Fresh = Callable[[], str]
"""Returns the place of an empty database, a new one at each call."""


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The URL of a server of this session."""
    with serve() as url:
        yield url


@pytest.fixture(params=NAMES)
def fresh(request: pytest.FixtureRequest, tmp_path: Path) -> Fresh:
    if request.param == "sqlite":
        files = iter(range(1_000_000))
        return lambda: str(tmp_path / f"{next(files)}.db")
    url: str = request.getfixturevalue("postgresql")

    first = iter(("DROP SCHEMA public CASCADE; CREATE SCHEMA public",))
    again = "; ".join(f"DELETE FROM {table}" for table in (*ROWS, "log_account"))

    def empty() -> str:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(next(first, again))
        return url

    return empty


@pytest.fixture
def place(fresh: Fresh) -> str:
    return fresh()
