"""Do the tests find a fault?  Each fault in a process of its own, that ends after a time limit.

Rule of this file: no import of the model; the process that runs the tests imports the module with
its fault in place of the real one, before anybody else has it.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent.parent
MEMORY = 4 << 30
"""A run that needs more bytes fails, and so counts as found."""
PASSED, FAILED, NOT_IMPORTED = 0, 1, 2
"""Exit codes of pytest."""
TOO_MUCH = (-signal.SIGXCPU, -signal.SIGKILL, -signal.SIGSEGV, -signal.SIGABRT)
"""Exit codes of a run that needs too much time or memory, in Python or in a library in C."""


class Suspect(NamedTuple):
    """module: as it is imported.  source: its text, with a fault.  tests: files, in the order
    in which they run; the first that fails ends the run.  limit_s: a run that takes more seconds of
    processor time is found; the clock is not asked, since on a busy machine a sound run would count
    as found."""

    module: str
    source: str
    tests: tuple[str, ...]
    limit_s: int


def hunt(
    suspects: Sequence[Suspect], workers: int, ended: Callable[[], None] = lambda: None
) -> Iterator[bool]:
    """Is the fault found?  One answer for each suspect, in their order.

    ended: called when a run ends.  Raises RuntimeError if a run neither passes nor fails.

    One thread starts all processes and waits for them: a start asks every process whether it has
    ended, and whoever waits for it in another thread may then never hear how.
    """
    context = get_context("forkserver")
    context.set_forkserver_preload(["pytest", "hypothesis", "networkx"])
    waiting = deque(enumerate(suspects))
    running: dict[Any, tuple[int, BaseProcess]] = {}
    found: dict[int, bool] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                number, suspect = waiting.popleft()
                begun = context.Process(target=_run_tests, args=(suspect,), daemon=True)
                begun.start()
                running[begun.sentinel] = number, begun
            for sentinel in wait([*running]):
                number, process = running.pop(sentinel)
                process.join()
                found[number] = _is_found(process.exitcode, suspects[number])
                ended()
        yield from (found[number] for number in range(len(suspects)))
    finally:
        for _, process in running.values():
            process.kill()


def _is_found(code: int | None, suspect: Suspect) -> bool:
    if code not in (PASSED, FAILED, NOT_IMPORTED, *TOO_MUCH):
        raise RuntimeError(f"pytest ended with {code} in {suspect.module}")
    return code != PASSED


class _Fault(MetaPathFinder, InspectLoader):
    """A finder that loads one module from another text."""

    def __init__(self, module: str, source: str) -> None:
        self.module = module
        self.source = source

    def find_spec(
        self, fullname: str, _path: object, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return spec_from_loader(fullname, self) if fullname == self.module else None

    def get_source(self, _fullname: str) -> str:
        return self.source


def _run_tests(suspect: Suspect) -> None:
    import pytest

    assert suspect.module not in sys.modules, "the fault comes too late"
    resource.setrlimit(resource.RLIMIT_CPU, (suspect.limit_s, suspect.limit_s + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.environ["HYPOTHESIS_PROFILE"] = "hunt"
    os.chdir(ROOT)
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    sys.meta_path.insert(0, _Fault(suspect.module, suspect.source))
    options = ["-x", "-q", "-p", "no:xdist", "--tb=no", "--assert=plain"]
    options += ["-o", "cache_dir=build/mutation", "-m", "not exhaustive"]
    runs = (int(pytest.main([*options, file])) for file in suspect.tests)
    os._exit(next(filter(None, runs), PASSED))
