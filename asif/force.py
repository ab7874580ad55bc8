"""`--force`: the option of every command that lets it write over files that asif did not write.

Rule of this file: no file is written here; `forced` says what the user allows.
"""

from __future__ import annotations

from typing import Any

from typer._click.globals import get_current_context
from typer.core import TyperCommand, TyperOption

HELP = "Write over files that asif did not write."
_KEY = "asif.force"


class ForcibleCommand(TyperCommand):
    """A command with the option --force."""

    def __init__(self, *args: Any, **how: Any) -> None:
        super().__init__(*args, **how)
        force = TyperOption(
            param_decls=["--force"],
            is_flag=True,
            default=False,
            help=HELP,
            expose_value=False,
            callback=_note,
        )
        self.params.append(force)


def _note(context: Any, _: Any, value: bool) -> None:
    context.meta[_KEY] = value


def forced() -> bool:
    """Has the user given --force to the command that runs?"""
    context = get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_KEY))
