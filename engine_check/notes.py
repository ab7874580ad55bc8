"""Notes of a run: JSON objects, a line each, in a file of the run's folder.

Rule of this file: it writes and reads lines, and knows no fact.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from model.results.table import Row


def add_note(folder: str, **facts: Any) -> None:
    """Add a note.  Several processes may do so: a line is written at once."""
    with (Path(folder) / "notes").open("a") as notes:
        notes.write(json.dumps(facts) + "\n")


def read_notes(folder: str) -> list[Row]:
    """All notes, in the order of time; none before the first one."""
    path = Path(folder) / "notes"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
