"""The outside world of the second example: a slow bank.

Rule of this file: no import of the library; the bank knows nothing of recovery.

A request goes into a queue.  The bank executes requests in their order, when it comes to it, also
those of a client that is gone.  So who asks "is it paid?" and hears "no" cannot know whether a
request is still in the queue.  A client that begins a new session can: from then on, the bank
refuses requests of older sessions.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

TABLES = """
CREATE TABLE IF NOT EXISTS session (number INTEGER PRIMARY KEY);
CREATE TABLE IF NOT EXISTS request (
    id INTEGER PRIMARY KEY, session INTEGER, number INTEGER, text TEXT, answer TEXT);
CREATE TABLE IF NOT EXISTS payment (place INTEGER PRIMARY KEY, number INTEGER, text TEXT)"""


class Bank:
    """A queue and a book, both in a file.  It works while somebody waits for an answer."""

    def __init__(self, path: Path, watch: Callable[[str], None]) -> None:
        self._database = sqlite3.connect(path, isolation_level=None)
        self._database.executescript(f"PRAGMA synchronous = OFF; {TABLES}")
        self._watch = watch

    def close(self) -> None:
        self._database.close()

    def begin_session(self) -> int:
        """The number of a new session: requests of older ones are refused from now on."""
        self._watch("begin a session")
        return int(self._database.execute("INSERT INTO session DEFAULT VALUES").lastrowid or 0)

    def request(self, session: int, number: int, text: str) -> int:
        """Put a request into the queue, and return its id."""
        self._watch("send a request")
        found = self._database.execute(
            "INSERT INTO request (session, number, text) VALUES (?, ?, ?)", (session, number, text)
        )
        self._watch("wait: the request has left")
        return int(found.lastrowid or 0)

    def wait(self, request: int) -> str:
        """The answer to a request: "paid" or "refused"."""
        while (answer := self._answer(request)) is None:
            self._work()
        return answer

    def _answer(self, request: int) -> str | None:
        found = self._database.execute("SELECT answer FROM request WHERE id = ?", (request,))
        answer: str | None = found.fetchone()[0]
        return answer

    def _work(self) -> None:
        """Execute the oldest request that waits, or refuse it, at once."""
        self._watch("the bank works")
        self._database.execute("BEGIN IMMEDIATE")
        oldest, session, number, text = self._database.execute(
            "SELECT id, session, number, text FROM request WHERE answer IS NULL ORDER BY id"
        ).fetchone()
        (latest,) = self._database.execute("SELECT MAX(number) FROM session").fetchone()
        if session == latest:
            row = number, text
            self._database.execute("INSERT INTO payment (number, text) VALUES (?, ?)", row)
        answer = "paid" if session == latest else "refused"
        self._database.execute("UPDATE request SET answer = ? WHERE id = ?", (answer, oldest))
        self._database.execute("COMMIT")

    def has_paid(self, number: int) -> bool:
        found = self._database.execute("SELECT 1 FROM payment WHERE number = ?", (number,))
        return found.fetchone() is not None

    def payments(self) -> list[str]:
        """All payments, in their order, with their numbers."""
        found = self._database.execute("SELECT number, text FROM payment ORDER BY place")
        return [f"{number} {text}" for number, text in found]
