"""Commands of asif with bad standard streams: `python -m tests.ending.forked` reads cases, and
answers them.

Rule of this file: nothing is judged here.  Each case is a process of its own, forked after all
imports, with real descriptors: the streams of a case are those that a shell gives a command.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any, NamedTuple
from unittest import mock

KINDS = ("read", "pipe without a reader", "full", "closed", "no errors", "full errors")
"""The standard output is: read to its end, one of three bad ones, or read while the standard error
is closed or full."""


IMPORTED = (
    *("asif.ending.fence", "proofs.explore.verdict", "proofs.prove.prover", "reports.commands"),
    *("sim.scenarios.run", "model.results.plain"),
)
"""The modules that many commands import when they run."""


class Ended(NamedTuple):
    """The end of a command: its exit code, and its output on each stream that is a file."""

    code: int
    out: str
    errors: str


def end(argv: list[str], folder: str, kind: str) -> Ended:
    """Run a command in this folder with such streams."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        child = os.fork()
        if not child:
            code = 99
            try:
                code = _run(argv, folder, kind, out.fileno(), errors.fileno())
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        return Ended(os.waitstatus_to_exitcode(status), _text(out), _text(errors))


def _text(file: Any) -> str:
    file.seek(0)
    return str(file.read().decode())


def _run(argv: list[str], folder: str, kind: str, out: int, errors: int) -> int:
    os.chdir(folder)
    os.dup2(out, 1)
    os.dup2(errors, 2)
    if kind == "pipe without a reader":
        reading, writing = os.pipe()
        os.close(reading)
        os.dup2(writing, 1)
    for name, at in (("full", 1), ("full errors", 2)):
        if kind == name:
            os.dup2(os.open("/dev/full", os.O_WRONLY), at)
    for name, at in (("closed", 1), ("no errors", 2)):
        if kind == name:
            os.close(at)
    for name, at in (("stdout", 1), ("stderr", 2)):
        gone = kind == {1: "closed", 2: "no errors"}[at]
        stream: Any = None if gone else open(at, "w", closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    from asif.cli import main

    sys.argv = ["asif", *argv]
    with _without_engines():
        try:
            main()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 98
    # As Python does at its end: it flushes, and complains if it cannot.
    for last in (sys.stdout, sys.stderr):
        if last is not None:
            try:
                last.flush()
            except Exception:
                code = 120
    return code


@contextmanager
def _without_engines() -> Iterator[None]:
    """A context in which no engine starts: runs are executed here, and checks find nothing."""
    from asif.commands import calibrate, flink, report, reproduce, spark, sweep
    from model.calls import one_by_one
    from model.results.classes import OperatorResults

    @contextmanager
    def nothing(*_: object, **__: object) -> Iterator[Any]:
        yield iter(())

    found = {
        **{part.name: () for part in report.PARTS},
        "operators": OperatorResults((), ()),
        "simulations, experiments, flights": report.Ran((), (), (), ()),
        **dict.fromkeys(("Spark", "Flink"), report.CrashedEngine(())),
    }
    parts = [part._replace(run=mock.Mock(return_value=found[part.name])) for part in report.PARTS]
    with (
        mock.patch.object(sweep, "calls_on_spark", return_value=one_by_one),
        mock.patch.object(reproduce, "call_all", one_by_one),
        mock.patch.object(spark, "on_spark", nothing),
        mock.patch.object(flink, "on_flink", nothing),
        mock.patch.object(report, "on_spark", nothing),
        mock.patch.object(report, "PARTS", parts),
        mock.patch.object(os, "nice"),
        mock.patch.object(calibrate, "_operator", return_value=("nothing", None, ())),
        mock.patch("sim.calibration.measure.measure_link", return_value=[]),
        mock.patch("sim.calibration.measure.measure_disk", return_value=[]),
        mock.patch("sim.calibration.measure.measure_operator", return_value=[]),
    ):
        yield


def _import_all() -> None:
    from asif.cli import application

    for name in IMPORTED:
        import_module(name)
    application()


def main() -> None:
    """Answer the cases of the input, a line of JSON each."""
    _import_all()
    assert threading.active_count() == 1
    for line in sys.stdin:
        with suppress(BrokenPipeError):
            print(json.dumps(end(*json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
