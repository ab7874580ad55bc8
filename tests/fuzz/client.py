"""The server of cases, as a context.

Rule of this file: it knows the server's pipes alone.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.fuzz.case import Answered, Case
from tests.fuzz.server import receive, send


@contextmanager
def answering() -> Iterator[Callable[[Case], Answered]]:
    """A context with the function that answers a case."""
    command = [sys.executable, "-m", "tests.fuzz.server"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        stdin, stdout = server.stdin, server.stdout

        def answer(case: Case) -> Answered:
            send(stdin, case._replace(files=dict(case.files)))  # a mappingproxy cannot be sent
            found = receive(stdout)
            assert isinstance(found, Answered)
            return found

        yield answer
