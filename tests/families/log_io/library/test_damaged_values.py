"""A value of a log that no library has written is named in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_check.log_io.library import LogError
from tests.families.log_io.library.test_reading import log_one

DAMAGED = {
    *("", "{", "[" * 10_000, "null", "3", "{}", "[1]", "[[], [], 0]", "[{}, {}, 0.5]"),
    *('[{"in": -1}, {}, 0]', '[{}, {"out": "1"}, 0]', "[{}, {}, 0, 0]", "[{}, {}, NaN]"),
}


@pytest.mark.parametrize("context", sorted(DAMAGED))
def test_a_damaged_context_is_named(context: str, tmp_path: Path) -> None:
    place = tmp_path / "log.db"
    with log_one(place) as log:
        log.database.execute("UPDATE state SET context = ?", (context,))
        with pytest.raises(LogError, match=r"log.db: state \d+ of a: its context is damaged$"):
            log.get_proc_state("a")


@pytest.mark.parametrize("value", [5, 10**15, 0.5])
def test_a_number_in_place_of_bytes_is_damage(value: float, tmp_path: Path) -> None:
    with log_one(tmp_path / "log.db") as log:
        log.database.execute("UPDATE event_data SET body = ?", (value,))
        with pytest.raises(LogError, match=r"the log is damaged: it has (int|float) in place of"):
            log.fetch_new_events("b")
