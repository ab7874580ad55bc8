"""The exit codes of all commands, and what each one means.

Rule of this file: the one table; docs/reference/exit-codes.md and every help page show it.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """An exit code of asif.  meaning: in a few words."""

    meaning: str

    def __new__(cls, code: int, meaning: str) -> ExitCode:
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    HOLDS = 0, "holds, or done"
    REFUTED = 1, "refuted, or not as expected"
    INVALID = 2, "bad input, or output that cannot be written"
    FAULT = 70, "a fault of asif"
    HUNG_UP = 129, "its terminal was closed"
    INTERRUPTED = 130, "interrupted"
    KILLED = 137, "killed, as the system does without memory"
    TERMINATED = 143, "ended by SIGTERM"


_USUAL = (
    *(ExitCode.HOLDS, ExitCode.REFUTED, ExitCode.INVALID),
    *(ExitCode.FAULT, ExitCode.INTERRUPTED),
)
EPILOG = "Exit codes: " + "; ".join(f"{one.value} {one.meaning}" for one in _USUAL) + "."
"""The last lines of every help page."""
