"""The rows that each operator has added to a log, and the sum of their checksums.

Rule of this file: numbers of one transaction, and the statement that adds them to the account.

An account counts the rows that its operator adds, less those that it removes from any operator.  So
two operators never wait for each other's account, and the sum of all accounts is that of all rows.
EVENT_DATA is not counted: a row of it that is needed is named by a row that is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from spark_check.log_io.library.guard.checksums import MASK

EVENTS, LINEAGE, ACTIONS = range(3)
ADD = f"""
    UPDATE log_account SET
        transactions = CASE WHEN epoch = ? THEN transactions + 1 END,
        events = events + ?, lineage = lineage + ?, actions = actions + ?,
        checksum = (checksum + ?) & {MASK}, state_checksum = COALESCE(?, state_checksum)
    WHERE op_id = ?"""
"""It fails, and so does its transaction, if the lease has another epoch: `transactions` is never
null."""


class Account:
    """The changes of one operator in a transaction."""

    def __init__(self) -> None:
        self._rows, self._checksum = [0, 0, 0], 0
        self._state: int | None = None

    def add(self, table: int, checksums: Iterable[int]) -> None:
        """Rows with these checksums are added."""
        for one in checksums:
            self._rows[table] += 1
            self._checksum += one

    def remove(self, table: int, checksums: Iterable[int]) -> None:
        """Rows with these checksums are removed."""
        for one in checksums:
            self._rows[table] -= 1
            self._checksum -= one

    def change(self, by: int) -> None:
        """The checksums of rows that stay grow by so much."""
        self._checksum += by

    def store(self, checksum: int) -> None:
        """The latest state of the operator has this checksum."""
        self._state = checksum

    def parameters(self, operator: str, epoch: int) -> tuple[Any, ...]:
        """The parameters of ADD."""
        return (epoch, *self._rows, self._checksum & MASK, self._state, operator)


class Accounts:
    """The changes of one transaction, by operator.  take: receives each operator, before the first
    statement about it, and returns the epoch of its lease."""

    def __init__(self, take: Callable[[str], int]) -> None:
        self._take = take
        self._accounts: dict[str, tuple[int, Account]] = {}

    def of(self, operator: str) -> Account:
        """The account of an operator, which this process may write as."""
        if operator not in self._accounts:
            self._accounts[operator] = self._take(operator), Account()
        return self._accounts[operator][1]

    @property
    def operators(self) -> Iterable[str]:
        return self._accounts.keys()

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Parameters of ADD, in one order, so that no two transactions wait for each other."""
        for operator, (epoch, account) in sorted(self._accounts.items()):
            yield account.parameters(operator, epoch)
