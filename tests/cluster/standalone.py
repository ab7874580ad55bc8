"""A standalone Spark cluster on this machine: a master and workers, started and stopped.

Rule of this file: no test.  Everything runs from the jars of pyspark, in a folder of the test.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil
import pyspark

from spark_check.runtime import java

CONF = {"spark.driver.host": "127.0.0.1", "spark.executor.memory": "512m"}
"""A session's configuration that fits the workers."""


class Cluster(NamedTuple):
    """master: its URL.  workers: the processes of the workers; executors are below them."""

    master: str
    workers: tuple[psutil.Process, ...]


@contextmanager
def standalone(folder: Path, workers: int = 1) -> Iterator[Cluster]:
    """A cluster of so many workers, each with a core; leaving the block kills what is left."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    master = f"spark://127.0.0.1:{port}"
    with ExitStack() as running:
        process = _start(running, folder, "Master", "--port", str(port))
        while not _answers(port):
            assert process.poll() is None
        started = [
            _start(running, folder, "Worker", "-c", "1", "-m", "1g", master) for _ in range(workers)
        ]
        yield Cluster(master, tuple(psutil.Process(worker.pid) for worker in started))


def kill(root: psutil.Process) -> list[psutil.Process]:
    """Send SIGKILL to a process and all below it, at once: the processes, which end."""
    root.suspend()  # so that it does not react to the end of another
    tree = [root, *root.children(recursive=True)]
    for process in tree:
        process.kill()
    return tree


def _start(running: ExitStack, folder: Path, part: str, *words: str) -> subprocess.Popen[bytes]:
    home = {"JAVA_HOME": str(java.java_home(folder)), "SPARK_WORKER_DIR": str(folder / "work")}
    place = {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    start_class = Path(pyspark.__file__).parent / "bin" / "spark-class"
    process = subprocess.Popen(
        [
            *(str(start_class), f"org.apache.spark.deploy.{part.lower()}.{part}"),
            *("--host", "127.0.0.1", "--webui-port", "0", *words),
        ],
        env={**os.environ, **home, **place},
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    running.callback(process.wait)
    running.callback(process.kill)
    return process


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
