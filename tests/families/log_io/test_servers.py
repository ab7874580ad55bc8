"""A PostgreSQL server that a check starts ends with it, however that ends, and so do its files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from model.machine.children import is_named, tree, wait_ended
from model.machine.temporary import remove_left

OWNER = """
import os, signal, sys
from spark_check.log_io.databases import new_database, postgresql
from spark_check.log_io.library.database import connect
with postgresql() as url:
    connect(new_database(url, "other")).execute("CREATE TABLE t (n INTEGER)")
    print("open", flush=True)
    sys.stdin.readline()
    {end}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "end", ["pass", "1 / 0", "os._exit(3)", "os.kill(os.getpid(), 9)", "os.kill(os.getpid(), 15)"]
)
def test_a_server_ends_with_its_owner(
    end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here a connection is open; the server listens on no port."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.delenv("ASIF_POSTGRESQL", raising=False)
    with subprocess.Popen(
        [sys.executable, "-c", OWNER.format(end=end)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "open\n"
        below = tree(psutil.Process(owner.pid))[1:]  # some of the server's own end at any time
        assert sum(is_named(process, "postgres") for process in below) > 3
        owner.communicate("\n", timeout=60)
    wait_ended(below)
    remove_left(tmp_path)
    assert [*tmp_path.iterdir()] == []
