"""The command line: it wires the packages together and prints their results.

Rule of this file: no work of a command; the file names the commands, and asif.ending turns their
ends into exit codes.  It imports nothing that takes time before its process is supervised.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import typer

COMMANDS: Mapping[str, str] = {
    "init": "init",
    "list": "list_",
    "check": "check",
    "witness": "witness",
    "explore": "explore",
    "run": "run_",
    "classify": "classify",
    "prove": "prove",
    "plan": "plan",
    "lineage": "lineage",
    "simulate": "simulate",
    "calibrate": "calibrate",
    "sweep": "sweep",
    "choose": "choose",
    "reproduce": "reproduce",
    "spark": "spark",
    "flink": "flink",
    "verify-trace": "verify_trace",
    "report": "report",
}
"""The function of each command, in the file of asif.commands that has the name of the command."""


def application(names: Iterable[str] = tuple(COMMANDS)) -> typer.Typer:
    """The command line with these commands, which are imported."""
    import typer

    from asif.ending.codes import EPILOG
    from asif.ending.fence import FencedCommand
    from asif.help import HelpfulGroup
    from asif.root import root

    app = typer.Typer(
        help="Does a stream-recovery protocol behave as if nothing had failed, and at what cost?",
        cls=HelpfulGroup,
        no_args_is_help=True,
        add_completion=False,  # asif.completion has its own for bash
        pretty_exceptions_enable=False,
        callback=root,
        epilog=EPILOG,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name in names:
        home = import_module(f"asif.commands.{name.replace('-', '_')}")
        app.command(name, cls=FencedCommand)(getattr(home, COMMANDS[name]))
    return app


def _names_alone() -> typer.Typer:
    """The command line with the names of all commands, none of which is imported."""
    app = application(())
    for name in COMMANDS:
        app.command(name)(lambda: None)
    return app


def main() -> None:
    """Run the `asif` command; if it is the program of this process, supervised."""
    try:
        from asif.ending.streams import make_patient, open_all

        open_all()
        if "_ASIF_COMPLETE" in os.environ:
            sys.exit(_complete())
        if sys._getframe(1).f_globals["__name__"] == "__main__":
            # They wait from here on: the rest takes time.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
            from model.machine.supervision import supervise

            supervise()
        make_patient()
        sys.exit(_run())
    except KeyboardInterrupt:
        print("asif: interrupted; nothing half-written was left behind", file=sys.stderr)
        sys.exit(130)


def _complete() -> int:
    """Print the answer to a shell; the exit code."""
    from typer.main import get_command

    from asif.completion import complete, words_before

    asked = [name for name in (words_before(os.environ) or [])[:1] if name in COMMANDS]
    return complete(get_command(application(asked) if asked else _names_alone()))


def _run() -> int:
    """Run the command that the words name; its exit code."""
    from asif.ending.fence import end_of

    asked = [name for name in sys.argv[1:2] if name in COMMANDS]
    alone = sys.argv[1:] == ["--version"]

    def run() -> object:  # to import all takes longer than `asif list`
        from typer.main import get_command

        command = get_command(application(() if alone else asked or COMMANDS))
        return command.main(prog_name="asif", standalone_mode=False)

    return end_of(" ".join(["asif", *asked]), run, sys.argv)
