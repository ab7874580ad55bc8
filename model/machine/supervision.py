"""A command in a child of its process: a signal to that one ends the child and all that it started.

Rule of this file: it imports little and does no work of a command; it is there before all else.

Python runs no handler of a signal while C code runs or a library is loaded, and an exception that
it raises anywhere may be lost, or printed, by whatever it meets.  So the process that a user starts
only waits: the command runs in a child, and Ctrl-C, SIGTERM and SIGHUP kill that child, whatever it
is doing.  Then the processes below it end, and its temporary folders are removed.
"""

from __future__ import annotations

import mmap
import os
import signal
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any, NamedTuple

from model.machine import temporary

ENDED_BY = {
    signal.SIGINT: "interrupted",
    signal.SIGTERM: "terminated",
    signal.SIGHUP: "the terminal is closed",
}
"""The signals that end a command, as its last line names them."""
WHOLE = "nothing half-written was left behind"
FAULTS = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT)
"""The signals by which the system ends a program that is wrong."""
FAULT = 70
"""The exit code of a fault of asif."""
PATIENCE_S = 1.0
"""The longest time in which a child may complete its work on files."""
BELOW_S = 0.5
"""The time in which the processes below an ended child end by themselves."""
POLL_S = 0.005
PDEATHSIG, CHILD_SUBREAPER = 1, 36
"""Of Linux: end with the parent; adopt the processes below a child that has ended."""


class _Page:
    """A page of memory that the two processes share: the child writes, and its parent reads."""

    def __init__(self) -> None:
        self._bytes = mmap.mmap(-1, mmap.PAGESIZE)
        self._lock = Lock()

    def add(self, at: int, change: int) -> None:
        with self._lock:
            self._bytes[at] += change

    def __getitem__(self, at: int) -> int:
        return self._bytes[at]


WRITING, RESUMABLE, POLITE = range(3)
"""The bytes of the page: how many files are half written now; whether the same command goes on
where this one ends; whether the command itself ends on Ctrl-C."""
_page: _Page | None = None
"""Of this process; None: nobody supervises it."""


# --- words of a command about itself --------------------------------------------------------------
@contextmanager
def undisturbed() -> Iterator[None]:
    """A context of moments that a signal does not end in the middle, such as the writing of files.

    It waits for PATIENCE_S at the longest; SIGKILL waits for nothing.
    """
    if _page:
        _page.add(WRITING, 1)
    try:
        yield
    finally:
        if _page:
            _page.add(WRITING, -1)


@contextmanager
def resumable(*, polite: bool = False) -> Iterator[None]:
    """A context of work with which the same command goes on; the last line says so.

    polite: Ctrl-C raises KeyboardInterrupt here, and the command has PATIENCE_S to end itself,
    also after this context.
    """
    if _page is None:
        yield
        return
    _page.add(RESUMABLE, 1)
    if polite:
        signal.signal(signal.SIGINT, _interrupt_once)
        _page.add(POLITE, 1)
    over = 1
    try:
        yield
    except KeyboardInterrupt:
        over = 0  # the supervisor's last line, which may come later, is about this work
        raise
    finally:
        if polite:
            _page.add(POLITE, -over)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        _page.add(RESUMABLE, -over)


def _interrupt_once(*_: object) -> None:
    """The supervisor has the last word: Python's own words about the exception are lost."""
    signal.signal(signal.SIGINT, lambda *_: None)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    raise KeyboardInterrupt


def started() -> int:
    """The number of the process that a user has started: of this one, or of its supervisor."""
    return os.getppid() if _page else os.getpid()


# --- the two processes --------------------------------------------------------------------------
class _Supervised(NamedTuple):
    """The child, and the settings of the terminal when it began; None: there is no terminal."""

    child: int
    terminal: list[Any] | None


def supervise() -> None:
    """Return in a child of this process, which ends as the child does.

    Where no process can be started, it returns in this one, and nobody supervises it.  The signals
    may be blocked before: none is lost.
    """
    global _page
    heard = {one for one in ENDED_BY if signal.getsignal(one) is not signal.SIG_IGN}
    blocked = {*heard, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
    page, parent = _Page(), os.getpid()
    reading, writing = os.pipe()
    control = _control()
    try:
        child = os.fork()
    except OSError:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, blocked)
        return
    if child:
        os.close(reading)
        control(CHILD_SUBREAPER, 1)
        code = FAULT
        try:
            code = _watch(_Supervised(child, _terminal()), heard, page)
        finally:
            os._exit(code)
    os.close(writing)
    for one in heard:
        # Ctrl-C is also ignored by all that starts below.
        signal.signal(one, signal.SIG_IGN if one is signal.SIGINT else _pass_on(parent))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, blocked)
    _end_with(parent, reading, control)
    temporary.take_place()
    _page = page


def _pass_on(parent: int) -> Callable[[int, object], None]:
    """A handler by which the supervisor alone ends this process, which may be writing a file.

    It is no handler of a forked child, which ends.
    """
    child = os.getpid()

    def pass_on(number: int, _: object) -> None:
        if os.getpid() == child:
            os.kill(parent, number)
        else:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    return pass_on


def _control() -> Any:
    """The function prctl of Linux; elsewhere, one that does nothing."""
    if not sys.platform.startswith("linux"):
        return _no_control
    import ctypes  # before the fork: it takes some time

    return ctypes.CDLL(None).prctl


def _no_control(*_: object) -> None:
    pass


def _end_with(parent: int, pipe: int, control: Any) -> None:
    """Have this process end with its parent, however that ends."""
    control(PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    if control is not _no_control:
        return
    from threading import Thread  # no other system has that signal

    def wait() -> None:
        os.read(pipe, 1)
        os._exit(1)

    Thread(target=wait, daemon=True).start()


def _terminal() -> list[Any] | None:
    with suppress(termios.error, OSError):
        return termios.tcgetattr(0)
    return None


def _watch(run: _Supervised, heard: set[signal.Signals], page: _Page) -> int:
    """Wait for the end of the child, or end it: the exit code."""
    signal.signal(signal.SIGCHLD, lambda *_: None)  # some systems drop it otherwise
    while True:
        number = signal.sigwait({*heard, signal.SIGCHLD})
        if number != signal.SIGCHLD:
            return _end(run, signal.Signals(number), page)
        if (status := _reap(run.child)) is not None:
            return _leave(run, status)


def _reap(child: int) -> int | None:
    """Wait for all processes that have ended: the status of the child, if it is one of them."""
    found = None
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == child:
                found = ended[1]
    return found


def _end(run: _Supervised, number: signal.Signals, page: _Page) -> int:
    """End the child and all below it: the exit code.  Further signals wait, for ever."""
    until, status, goes_on = time.monotonic() + PATIENCE_S, None, bool(page[RESUMABLE])
    if page[POLITE]:
        os.kill(run.child, signal.SIGINT)
    while (page[WRITING] or page[POLITE]) and time.monotonic() < until:
        if (status := _reap(run.child)) is not None:
            break
        time.sleep(POLL_S)
    if status is None:
        os.kill(run.child, signal.SIGKILL)
        os.waitpid(run.child, 0)
    return _stopped(run, number, goes_on)


def _stopped(run: _Supervised, number: signal.Signals, goes_on: bool) -> int:
    _clean(run)
    lasting = "the same command goes on from there"
    _say(f"asif: {ENDED_BY[number]}; {lasting if goes_on else WHOLE}")
    return 128 + number


def _leave(run: _Supervised, status: int) -> int:
    """The exit code after a child that ended by itself, or that somebody else has killed."""
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        _end_below()
        temporary.remove_left()
        return code
    number = signal.Signals(-code)
    _clean(run)
    memory = " (is there enough memory?)" if number == signal.SIGKILL else ""
    _say(f"asif: its process was ended by {number.name}{memory}")
    return FAULT if number in FAULTS else 128 + number


def _clean(run: _Supervised) -> None:
    """Remove the remains of a killed child: processes, folders, the state of the terminal."""
    _end_below()
    temporary.remove_left()
    with suppress(termios.error, OSError):
        if run.terminal is not None and os.tcgetpgrp(0) == os.getpgrp():
            termios.tcsetattr(0, termios.TCSANOW, run.terminal)
    if os.isatty(2):
        os.write(2, b"\r\x1b[K\x1b[?25h")  # an empty line with a cursor


def _end_below() -> None:
    """Wait until the processes below an ended child have ended too, and kill those that do not."""
    until = time.monotonic() + BELOW_S
    with suppress(ChildProcessError):
        while (now := time.monotonic()) < until + BELOW_S:
            if os.waitpid(-1, os.WNOHANG)[0]:
                continue
            if now > until:
                _kill_below()
            time.sleep(POLL_S)


def _kill_below() -> None:
    from psutil import NoSuchProcess, Process  # seldom needed

    for process in Process().children(recursive=True):
        with suppress(NoSuchProcess):
            process.kill()


def _say(line: str) -> None:
    """Print a line on standard error, unless nobody reads it there."""
    from select import select

    with suppress(OSError, ValueError):
        if select([], [2], [], 0)[1]:
            os.write(2, f"{line}\n".encode())
