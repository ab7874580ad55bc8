"""A connection to PostgreSQL is cut, an answer is lost, a server crashes or hangs: a pipeline goes
on to the exactly right result, and a reader ends with one line."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from docs.examples.log_io import pipeline
from spark_check.log_io.library import Log, LogError, LogInterrupted
from spark_check.log_io.library.lineage import ports
from spark_check.log_io.library.reading import read_log
from spark_check.log_io.library.sessions import server as sessions
from spark_check.log_io.library.sessions import session
from tests.families.log_io.library.children import do_nothing
from tests.families.log_io.library.proxy import CutNetwork, cut_network
from tests.families.log_io.library.server import TestedServer, served

pytestmark = pytest.mark.slow
STATEMENTS = 227
"""Of a run without troubles, or fewer."""


@pytest.fixture(scope="module")
def server() -> Iterator[TestedServer]:
    with served() as found:
        yield found


@pytest.fixture
def network(server: TestedServer) -> Iterator[CutNetwork]:
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    with cut_network(server.socket) as found:
        yield found


def run(url: str, folder: Path, at: int, happens: Callable[[], object]) -> int:
    """Run the pipeline, with something that happens before its statement `at`; how many statements
    were executed."""
    folder.mkdir()
    count = 0

    def watch(_statement: str) -> None:
        nonlocal count
        count += 1
        if count == at:
            happens()

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    Log(url, pipeline.captured()).close()
    with Log(url, pipeline.captured(), watch=watch) as log:
        pipeline.run(log, folder, do_nothing)
    readings = pipeline.used_readings(folder)
    assert len(readings) == 2
    for name, file in pipeline.BOOKS.items():
        assert (folder / file).read_text().splitlines() == pipeline.expected(readings)[name]
    return count


@pytest.mark.parametrize("how", ["the connection is cut", "an answer is lost"])
def test_a_pipeline_goes_on_after_a_cut(network: CutNetwork, tmp_path: Path, how: str) -> None:
    cut = network.cut if how == "the connection is cut" else network.cut_at_answer
    moments = range(15, STATEMENTS, 70)
    for at in moments:
        run(network.url, tmp_path / str(at), at, cut)
    assert network.cuts >= len(moments)


@pytest.mark.exhaustive  # .ci/run cuts at some of the statements, in the test above
def test_a_pipeline_goes_on_after_a_cut_at_any_statement(
    network: CutNetwork, tmp_path: Path
) -> None:
    for at in range(15, STATEMENTS):
        run(network.url, tmp_path / f"{at} cut", at, network.cut)
        run(network.url, tmp_path / f"{at} lost", at, network.cut_at_answer)


@pytest.mark.parametrize(
    "at", [60, *(pytest.param(at, marks=pytest.mark.exhaustive) for at in range(15, 227, 10))]
)
def test_a_pipeline_goes_on_after_a_crash(server: TestedServer, tmp_path: Path, at: int) -> None:
    starting = threading.Thread(target=server.start)

    def crash() -> None:
        server.crash()
        starting.start()

    try:
        run(server.url, tmp_path / "run", at, crash)
    finally:
        starting.join()


def test_a_pipeline_goes_on_when_a_server_hangs_for_a_while(
    server: TestedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client gives the connection up, and waits for the end of its session at the server."""
    impatient(monkeypatch)
    go_on = threading.Timer(4, lambda: server.signal(signal.SIGCONT))

    def hang() -> None:
        server.signal(signal.SIGSTOP)
        go_on.start()

    run(server.url, tmp_path / "run", 100, hang)
    go_on.join()


def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "SILENCE_S", 0.2)
    monkeypatch.setattr(sessions, "PINGS", 1)
    monkeypatch.setattr(session, "READ_PATIENCE_S", 2.0)


def test_a_reader_gives_up_a_server_that_hangs(
    server: TestedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Log(server.url).close()
    impatient(monkeypatch)
    with read_log(server.url) as log:
        server.signal(signal.SIGSTOP)
        try:
            with pytest.raises(LogError) as raised:
                ports(log)
        finally:
            server.signal(signal.SIGCONT)
    assert str(raised.value).isprintable()
    assert "cannot be opened again" in str(raised.value)


def test_a_writer_gives_up_a_session_that_hangs(
    server: TestedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other processes of the server answer, and so only time says that this one does not."""
    impatient(monkeypatch)
    monkeypatch.setattr(sessions, "STATEMENT_S", 0.5)
    with Log(server.url) as log:
        ((pid,),) = log.database.execute("SELECT pg_backend_pid()")
        (hanging,) = (one for one in server.processes() if one.pid == pid)

        def ask() -> None:
            with log.database.transaction():
                hanging.send_signal(signal.SIGSTOP)
                log.database.execute("SELECT 1")

        with pytest.raises(LogInterrupted, match="does not answer: the transaction did not happen"):
            ask()
        hanging.send_signal(signal.SIGCONT)
        assert log.database.execute("SELECT 2") == [(2,)]
        assert log.database.execute("SELECT pg_backend_pid()") != [(pid,)]


def test_a_session_that_is_ended_is_opened_again(server: TestedServer) -> None:
    """By an administrator, within a transaction and outside of one."""
    end = "SELECT pg_terminate_backend(%s)"
    with Log(server.url) as log, psycopg.connect(server.url, autocommit=True) as other:
        for _ in range(2):
            ((pid,),) = log.database.execute("SELECT pg_backend_pid()")
            other.execute(end, (pid,))
            assert log.database.execute("SELECT 1") == [(1,)]

        def ended() -> None:
            with log.database.transaction():
                ((pid,),) = log.database.execute("SELECT pg_backend_pid()")
                other.execute(end, (pid,))
                log.database.execute("SELECT 1")

        with pytest.raises(LogInterrupted, match="the transaction did not happen: step again"):
            ended()
        assert log.database.execute("SELECT 1") == [(1,)]


def test_a_server_that_stays_away_is_one_line(
    server: TestedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "PATIENCE_S", 2.0)
    log = Log(server.url)
    server.crash()
    try:
        with pytest.raises(LogError, match="cannot be opened again") as raised:
            log.fetch_new_events("b")
    finally:
        server.start()
    assert str(raised.value).isprintable()
    assert log.fetch_new_events("b").events == []
    log.close()
