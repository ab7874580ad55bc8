"""Completion of words by bash, zsh and fish: the answers to a shell, and how it is set up.

Rule of this file: no word that is completed (asif.names); typer writes the scripts of zsh and fish.
Typer's own script of bash parts a word at its colons, and most names of variants have one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

import typer
from typer import _completion_shared as shells
from typer._click.core import Command
from typer._click.shell_completion import CompletionItem, add_completion_class
from typer._completion_classes import BashComplete, ZshComplete, completion_init

from model.errors import Invalid

VARIABLE = "_ASIF_COMPLETE"
"""The variable with which a shell starts asif to complete a word."""
LINE = "_TYPER_COMPLETE_ARGS"
"""The variable with the line up to the cursor."""
SHELLS = ("bash", "zsh", "fish")

BASH = """
%(complete_func)s() {
    local IFS=$'\\n'
    COMPREPLY=( $( env _TYPER_COMPLETE_ARGS="${COMP_LINE:0:COMP_POINT}" \\
                   _ASIF_BREAKS="$COMP_WORDBREAKS" \\
                   %(autocomplete_var)s=complete_bash $1 ) )
    [[ ${COMPREPLY[0]} == */ ]] && compopt -o nospace 2>/dev/null
    return 0
}

complete -o default -F %(complete_func)s %(prog_name)s
"""


class WholeWordComplete(BashComplete):
    """Completion of a word of the line, not of the part of it that bash takes for a word."""

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the cursor, and the word that is completed."""
        return ZshComplete.get_completion_args(self)  # type: ignore[arg-type]

    def format_completion(self, item: CompletionItem) -> str:
        """The part of a completion that bash puts in: behind the last character that ends its
        words."""
        word, breaks = self.get_completion_args()[1], os.environ.get("_ASIF_BREAKS", "")
        cut = max((word.rfind(one) + 1 for one in breaks if one in ":=@"), default=0)
        return str(item.value)[cut:].replace(" ", "\\ ")


def prepare() -> None:
    """Make the classes of shells known to typer, which has its own for bash."""
    completion_init()
    add_completion_class(WholeWordComplete, "bash")
    shells._completion_scripts["bash"] = BASH


def words_before(environment: Mapping[str, str]) -> list[str] | None:
    """The words of the line before the one that a shell completes; None: no shell asks."""
    if VARIABLE not in environment:
        return None
    line = environment.get(LINE, "")
    words = line.split()
    return words[1:] if line.endswith(" ") else words[1:-1]


def _shell(name: str) -> str:
    """The shell that the user names; "auto": the one that runs.  Raises Invalid."""
    found = shells._get_shell_name() if name == "auto" else name
    if found not in SHELLS:
        known = ", ".join(SHELLS)
        raise Invalid(f"completion: the shell {found or 'is not known'}; name one of {known}")
    return found


def show_script(_: typer.Context, value: str | None) -> None:
    """The callback of --show-completion: print the script of a shell, and end."""
    if value:
        prepare()
        names = {"prog_name": "asif", "complete_var": VARIABLE, "shell": _shell(value)}
        print(shells.get_completion_script(**names))
        raise typer.Exit


def install_script(_: typer.Context, value: str | None) -> None:
    """The callback of --install-completion: write the script where the shell finds it, and end."""
    if value:
        prepare()
        shell = _shell(value)
        try:
            place = shells.install(shell, "asif", VARIABLE)[1]
        except OSError as error:
            raise Invalid(f"completion: {error.filename}: {error.strerror}") from None
        print(f"{place}: completion for {shell}; it works in the next shell that you open")
        raise typer.Exit


def complete(command: Command) -> int:
    """Print the completions that a shell asks for; the exit code."""
    prepare()
    try:
        command.main(prog_name="asif", standalone_mode=False)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    finally:
        sys.stdout.flush()
    return 0
