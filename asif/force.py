"""`--force`: the option of every command that lets it write over files that asif did not write.

Rule of this file: no file is written here; `forced` has the answer of the user.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typer._click.globals import get_current_context
from typer.core import TyperOption

from asif.help import HelpfulCommand

if TYPE_CHECKING:
    from model.machine.journals import Resumption

HELP = "Write over files that asif did not write."
_KEY = "asif.force"


class ForcibleCommand(HelpfulCommand):
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


def resumption(fresh: bool) -> Resumption:
    """How the command that runs opens its journals, with --fresh or without."""
    from model.machine.journals import Resumption

    return Resumption(fresh, forced())
