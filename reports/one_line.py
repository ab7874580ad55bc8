"""Text of users on one line: names and bodies, for tables and pictures.

Rule of this file: it does not know where the line stands.
"""

from __future__ import annotations

from rich.cells import cell_len


def one_line(text: str, cells: int | None = None) -> str:
    """The text without line breaks and control characters, cut to so many cells of a terminal.

    A control character becomes "�": it would act on the terminal, and XML does not allow it.
    """
    words = " ".join(text.split())
    line = "".join(one if one.isprintable() else "�" for one in words)
    if cells is None or cell_len(line) <= cells:
        return line
    while cell_len(line) > cells - 1:
        line = line[: min(len(line) - 1, cells)]
    return f"{line}…"
