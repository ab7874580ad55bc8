"""The command line: it wires the packages together and prints their results.

Rule of this file: no work of a command; the file names the commands and turns errors into exit
codes.
Exit codes: 0 holds or done, 1 refuted, not as expected or a step of the protocol that fails, 2 bad
usage or bad input.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

import typer

from asif.commands import (
    calibrate,
    check,
    classify,
    init,
    lineage,
    plan,
    prove,
    report,
    reproduce,
    run,
    simulate,
    spark,
    sweep,
    verify_trace,
    witness,
)
from asif.commands import (
    list as list_,
)
from model.errors import Invalid, StepFailed

app = typer.Typer(
    help="Does a stream-recovery protocol behave as if nothing had failed, and at what cost?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
COMMANDS: Mapping[str, Callable[..., None]] = {
    "init": init.init,
    "list": list_.list_,
    "check": check.check,
    "witness": witness.witness,
    "run": run.run_,
    "classify": classify.classify,
    "prove": prove.prove,
    "plan": plan.plan,
    "lineage": lineage.lineage,
    "simulate": simulate.simulate,
    "calibrate": calibrate.calibrate,
    "sweep": sweep.sweep,
    "reproduce": reproduce.reproduce,
    "spark": spark.spark,
    "verify-trace": verify_trace.verify_trace,
    "report": report.report,
}
for name, command in COMMANDS.items():
    app.command(name)(command)


def main() -> None:
    """Run the `asif` command."""
    try:
        app()
    except Invalid as error:
        print(f"asif: {error}", file=sys.stderr)
        sys.exit(2)
    except StepFailed as error:
        print(f"asif: a step fails: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("asif: interrupted; nothing half-written was left behind", file=sys.stderr)
        sys.exit(130)
