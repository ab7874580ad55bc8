"""The command line: it wires the packages together and prints their results.

Rule of this file: no work of a command; the file names the commands and turns errors into exit
codes.  It imports nothing that takes time before its process is supervised.
Exit codes: 0 holds or done, 1 refuted, not as expected or a step of the protocol that fails, 2 bad
usage or bad input.
"""

from __future__ import annotations

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

    app = typer.Typer(
        help="Does a stream-recovery protocol behave as if nothing had failed, and at what cost?",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        callback=lambda: None,  # with one command, too, it is a group of commands
    )
    for name in names:
        home = import_module(f"asif.commands.{name.replace('-', '_')}")
        app.command(name)(getattr(home, COMMANDS[name]))
    return app


def main() -> None:
    """Run the `asif` command; if it is the program of this process, supervised."""
    try:
        if sys._getframe(1).f_globals["__name__"] == "__main__":
            # They wait from here on: the rest takes time.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
            from model.machine.supervision import supervise

            supervise()
        _run()
    except KeyboardInterrupt:
        print("asif: interrupted; nothing half-written was left behind", file=sys.stderr)
        sys.exit(130)


def _run() -> None:
    """Run the command that the words name."""
    from model.errors import Invalid, StepFailed

    asked = [name for name in sys.argv[1:2] if name in COMMANDS]
    try:
        application(asked or COMMANDS)()  # to import all takes longer than `asif list`
    except Invalid as error:
        print(f"asif: {error}", file=sys.stderr)
        sys.exit(2)
    except StepFailed as error:
        print(f"asif: a step fails: {error}", file=sys.stderr)
        sys.exit(1)
