"""The server of the tests ends with them, even if they are killed."""

from __future__ import annotations

import subprocess
import sys

import psycopg
import pytest

KILLED = """
import os, signal
from tests.families.log_io.library.server import serve
with serve() as url:
    print(url, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
@pytest.mark.exhaustive  # `.ci/run` ends each of its servers by the same pipe, not by a kill
def test_a_killed_process_leaves_no_server() -> None:
    """`run` returns when the last process that may write to the standard error has ended."""
    done = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True)
    assert done.stdout.startswith("postgresql://"), done.stderr
    with pytest.raises(psycopg.OperationalError, match="connection"):
        psycopg.connect(done.stdout.strip())
