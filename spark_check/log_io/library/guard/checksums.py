"""The checksums of the rows of a log.

Rule of this file: pure functions of a row; nothing is read or written here.

A checksum has 62 bits, so that the sum of two is a number of any database.  It is of all columns
but one: the status of an event or a read action is a number that is added, since a statement marks
rows as done that nobody has read.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

MASK = (1 << 62) - 1
"""Checksums and their sums are modulo 2**62."""
ENDED = 0x1B873593CC9E2D51
"""The number that a row gains when it is "done" or "complete"."""
END = f"checksum = (checksum + {ENDED}) & {MASK}"
"""The same in SQL; the table that is changed has the only `checksum` there."""

Key = tuple[str, str, str, int]


def of_values(*values: str | int | float) -> int:
    """The checksum of a row of texts and numbers, of which the first names the table."""
    return _number(blake2b(_bytes(values), digest_size=8))


def of_data(key: Key, header: bytes, body: bytes, logged_at: float) -> int:
    """The checksum of a row of EVENT_DATA."""
    found = blake2b(_bytes((*_plain(key), len(header), float(logged_at))), digest_size=8)
    found.update(header)
    found.update(body)
    return _number(found)


def of_event(
    key: Key, receiver: str, in_set: int, in_set_key: str, assigned_as: int, *, done: bool = False
) -> int:
    """The checksum of a row of EVENT_LOG."""
    found = of_values(
        "event_log", *_plain(key), receiver, int(in_set), in_set_key, int(assigned_as)
    )
    return _ended(found) if done else found


def of_lineage(key: Key, in_set: int) -> int:
    """The checksum of a row of EVENT_LINEAGE."""
    return of_values("event_lineage", *_plain(key), int(in_set))


def of_action(
    operator: str, connection: str, number: int, description: str, *, complete: bool = False
) -> int:
    """The checksum of a row of READ_ACTION."""
    found = of_values("read_action", operator, connection, int(number), description)
    return _ended(found) if complete else found


def of_state(operator: str, number: int, body: bytes, context: str, logged_at: float) -> int:
    """The checksum of a row of STATE."""
    found = blake2b(_bytes((operator, int(number), context, float(logged_at))), digest_size=8)
    found.update(body)
    return _number(found)


def _plain(key: Key) -> Key:
    """The key as a database returns it: True, for one, comes back as 1."""
    return *key[:3], int(key[3])


def _bytes(values: tuple[str | int | float, ...]) -> bytes:
    """Other bytes for other values: repr quotes each text."""
    return repr(values).encode("utf-8", "surrogatepass")


def _number(found: Any) -> int:
    return int.from_bytes(found.digest(), "big") & MASK


def _ended(found: int) -> int:
    return (found + ENDED) & MASK
