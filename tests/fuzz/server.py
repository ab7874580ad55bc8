"""A process that has imported the commands; each case runs in a fork of it, as `asif` does.

Rule of this file: nothing is judged here.  A case has a new process of its own, so that it can end
that process, change its modules or need all of its memory; and no import is paid twice.  Spark is
not started: a case that goes on in Spark ends with ELSEWHERE, and the runs of a sweep are done here.
"""

from __future__ import annotations

import gc
import io
import os
import pickle
import resource
import select
import signal
import struct
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO, NoReturn

from tests.fuzz.case import ELSEWHERE, SLOW_S, Answered, Case, changed, snapshot

MOST_BYTES = 6 << 30
"""Of the memory of a case, which then has a MemoryError."""
SIZE = struct.Struct("<Q")
LOADED = (
    *("asif.cli", "asif.progress", "reports.commands", "reports.results.traces"),
    *("reports.results.simulation_plots", "reports.results.verdicts", "sim.sweeps.results"),
    *(
        "sim.sweeps.summary",
        "reports.results.sweep_plots",
        "sim.choose.choose",
        "sim.plans.compare",
    ),
    *("spark_check.traces.verify", "spark_check.log_io.library", "sim.inputs.files"),
    *("proofs.explore.verdict", "proofs.explore.witness", "proofs.classify.verdict"),
    *("matplotlib.figure", "matplotlib.backends.backend_svg", "reports.diagrams.lineage"),
    *("reports.results.choose", "reports.results.choose_plots", "reports.results.plans"),
    *("sim.scenarios.longer", "sim.scenarios.which", "sim.sweeps.study", "proofs.explore.asked"),
    *("sim.comparison", "sim.outputs", "reports.results.sweeps", "hypothesis.stateful"),
)


def send(file: BinaryIO, value: Any) -> None:
    text = pickle.dumps(value)
    file.write(SIZE.pack(len(text)) + text)
    file.flush()


def receive(file: BinaryIO) -> Any:
    """The next value.  Raises EOFError at the end."""
    size = file.read(SIZE.size)
    if len(size) < SIZE.size:
        raise EOFError
    return pickle.loads(file.read(SIZE.unpack(size)[0]))


def serve() -> None:
    """Answer cases until the input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    from asif import cli

    cli.application()
    for name in LOADED:
        import_module(name)
    _without_spark()
    gc.freeze()  # or each fork copies all that it has imported
    with suppress(EOFError):
        while True:
            send(answers, _answer(receive(sys.stdin.buffer)))


def _without_spark() -> None:
    from asif.commands import choose, sweep
    from model.calls import one_by_one
    from spark_check.traces import verify

    def elsewhere(*_: Any, **__: Any) -> NoReturn:
        raise SystemExit(ELSEWHERE)

    sweep.calls_on_spark = lambda *_: one_by_one  # type: ignore[assignment]
    choose.calls_on_spark = lambda *_: one_by_one  # type: ignore[assignment]
    verify._on_spark = elsewhere  # type: ignore[assignment]


def _answer(case: Case) -> Answered:
    with tempfile.TemporaryDirectory(prefix="asif-fuzz-") as home:
        folder = Path(home) / "here"
        folder.mkdir()
        for name in case.folders:
            (folder / name).mkdir(parents=True)
        for name, content in case.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        before = snapshot(folder)
        out, err = Path(home) / "out", Path(home) / "err"
        started = monotonic()
        pid = os.fork()
        if not pid:
            _be_asif(case, folder, out, err)
        code, kb = _wait(pid)
        seconds = monotonic() - started
        written = changed(before, snapshot(folder))
        texts = [one.read_text("utf-8", errors="replace") for one in (out, err)]
        return Answered(code, *texts, written, seconds, kb)


def _be_asif(case: Case, folder: Path, out: Path, err: Path) -> NoReturn:
    os.setsid()
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    sys.argv = ["asif", *case.argv]
    sys.stdin = open(0, encoding="utf-8", closefd=False)
    sys.stdout = io.TextIOWrapper(open(1, "wb", closefd=False), encoding="utf-8")
    sys.stderr = io.TextIOWrapper(
        open(2, "wb", closefd=False),
        encoding="utf-8",
        errors="backslashreplace",
        line_buffering=True,
    )
    from asif.cli import main

    code: Any = 0
    try:
        main()
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 1
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    with suppress(Exception):
        sys.stdout.flush()
    with suppress(Exception):
        sys.stderr.flush()
    os._exit((code or 0) & 255)


def _wait(pid: int) -> tuple[int | None, int]:
    """The exit code and the memory in kB of a process, which has SLOW_S."""
    with _fd(os.pidfd_open(pid)) as fd:
        ended = select.select([fd], [], [], SLOW_S)[0]
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)  # and the processes that it has started
        _, status, used = os.wait4(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if ended else None, used.ru_maxrss


@contextmanager
def _fd(number: int) -> Iterator[int]:
    try:
        yield number
    finally:
        os.close(number)


if __name__ == "__main__":
    serve()
