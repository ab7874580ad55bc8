"""Completion of words by bash, zsh and fish: the answers to a shell, and how it is set up.

Rule of this file: no word that is completed (asif.names); typer writes the script of fish.  Typer's
own script of bash parts a word at its colons, and most names of variants have one; its script of
zsh loses quotes and backslashes.  Files of the user are imported to complete their names: whatever
they raise or print, the shell gets the names alone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import typer
from typer import _completion_shared as shells
from typer._click.core import Command
from typer._click.shell_completion import CompletionItem, ShellComplete, add_completion_class
from typer._completion_classes import (
    BashComplete,
    FishComplete,
    ZshComplete,
    _sanitize_help_text,
    completion_init,
)

from asif.shell_words import OpenLine, quoted, read_line
from model.errors import Invalid

VARIABLE = "_ASIF_COMPLETE"
"""The variable with which a shell starts asif to complete a word."""
LINE = "_TYPER_COMPLETE_ARGS"
"""The variable with the line up to the cursor."""
SHELLS = ("bash", "zsh", "fish")

BASH = """
%(complete_func)s() {
    local - IFS=$'\\n'
    set -f
    COMPREPLY=( $( env _TYPER_COMPLETE_ARGS="${COMP_LINE:0:COMP_POINT}" \\
                   _ASIF_BREAKS="$COMP_WORDBREAKS" \\
                   %(autocomplete_var)s=complete_bash $1 ) )
    [[ ${COMPREPLY[0]} == */ ]] && compopt -o nospace 2>/dev/null
    [[ "${COMP_LINE:0:COMP_POINT}" == *:*([! ]) ]] && compopt +o default 2>/dev/null
    return 0
}

complete -o default -F %(complete_func)s %(prog_name)s
"""
"""Behind a colon stands a variant, so bash offers no files there."""

ZSH = """
#compdef %(prog_name)s

%(complete_func)s() {
    local -a found
    found=(${(f)"$( env _TYPER_COMPLETE_ARGS="${words[1,CURRENT]}" \\
                    %(autocomplete_var)s=complete_zsh %(prog_name)s )"})
    if (( $#found )); then _describe %(prog_name)s found; else _files; fi
}

compdef %(complete_func)s %(prog_name)s
"""


@contextmanager
def _silent() -> Iterator[None]:
    """Nothing is printed within, in whatever way."""
    sys.stdout.flush()
    kept = [(stream, os.dup(stream)) for stream in (1, 2)]
    _drop_output()
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        for stream, copy in kept:
            os.dup2(copy, stream)
            os.close(copy)


def _drop_output() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


class _QuietComplete(ShellComplete):
    """Completion that finds nothing if it fails, and prints its answer alone."""

    def line(self) -> OpenLine:
        """The line up to the cursor."""
        return read_line(os.environ.get(LINE, ""), self.breaks())

    def breaks(self) -> str:
        """The characters at which the shell begins to complete a word anew."""
        return ""

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the cursor, and the word that is completed."""
        line = self.line()
        return [*line.words[1:]], line.last

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """The completions that a line of the answer can hold: whole words, as --option=value."""
        with _silent():
            try:
                found = super().get_completions(args, incomplete)
            except BaseException:  # a file of the user may raise anything
                return []
        option = incomplete.partition("=")
        before = "".join(option[:2]) if incomplete.startswith("-") and option[1] else ""
        whole = [CompletionItem(f"{before}{one.value}", help=one.help) for one in found]
        return [one for one in whole if str(one.value).isprintable()]


class WholeWordComplete(_QuietComplete, BashComplete):
    """Completion of a word of the line, not of the part of it that bash takes for a word."""

    def breaks(self) -> str:
        """The breaks of bash at which words stay whole for a command."""
        return "".join(one for one in os.environ.get("_ASIF_BREAKS", "") if one in ":=@")

    def format_completion(self, item: CompletionItem) -> str:
        """The part of a completion that bash puts in, with its escapes."""
        line = self.line()
        return quoted(str(item.value)[line.kept :], line.quote)


class DescribedComplete(_QuietComplete, ZshComplete):
    """Completion by _describe of zsh, which adds its own escapes."""

    def format_completion(self, item: CompletionItem) -> str:
        """A name and its help, with a colon between them."""
        name = str(item.value).replace("\\", r"\\").replace(":", r"\:")
        help_ = _sanitize_help_text(" ".join((item.help or "").split()))
        return f"{name}:{help_}" if help_ else name

    def complete(self) -> str:
        """The answer: a completion a line."""
        return ShellComplete.complete(self)


class TabbedComplete(_QuietComplete, FishComplete):
    """Completion by fish, which adds its own escapes."""


def prepare() -> None:
    """Make the classes of shells known to typer, which has its own."""
    completion_init()
    classes = {"bash": WholeWordComplete, "zsh": DescribedComplete, "fish": TabbedComplete}
    for shell, complete_ in classes.items():
        add_completion_class(complete_, shell)
    shells._completion_scripts |= {"bash": BASH, "zsh": ZSH}


def words_before(environment: Mapping[str, str]) -> list[str] | None:
    """The words of the line before the one that a shell completes; None: no shell asks."""
    if VARIABLE not in environment:
        return None
    return [*read_line(environment.get(LINE, "")).words[1:]]


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
        _drop_output()  # a file of the user may have functions at exit
    return 0
