"""A standalone Spark cluster on this machine: a master and workers, started and killed.

Rule of this file: no session and no query.  Everything runs from the jars of pyspark, in a folder
of the caller, and ends with the caller's process, however that ends.
"""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import sleep

import psutil

from engine_check.breakpoints import POLL_S
from model.machine.children import alive, end, start
from spark_check.runtime import java
from spark_check.runtime.home import spark_home

CONF = {"spark.driver.host": "127.0.0.1", "spark.executor.memory": "512m"}
"""A session's configuration that fits the workers."""


class Cluster:
    """A running cluster.  Use `standalone`.

    master: its URL.  workers: the processes of the workers, which also the killed ones are in;
    executors are below them.
    """

    def __init__(self, running: ExitStack, folder: Path, port: int, cores: int) -> None:
        self.master, self.workers = f"spark://127.0.0.1:{port}", list[psutil.Process]()
        self._running, self._folder, self._cores = running, folder, cores

    def start_worker(self) -> None:
        """Start another worker; it needs some time until it has executors."""
        words = ("-c", str(self._cores), "-m", "1g", self.master)
        worker = _start(self._running, self._folder, "Worker", *words)
        self.workers.append(psutil.Process(worker.pid))

    def fail(self) -> None:
        """Raise RuntimeError if one of the workers has ended; its log is in the folder."""
        for worker in self.workers:
            if not alive(worker):
                raise RuntimeError(f"{self._folder}: a worker of the cluster has ended")


@contextmanager
def standalone(folder: Path, workers: int = 1, cores: int = 1) -> Iterator[Cluster]:
    """A cluster of workers with these cores each; leaving the block kills the rest."""
    folder.mkdir(parents=True, exist_ok=True)
    port = _free_port()
    with ExitStack() as running:
        process = _start(running, folder, "Master", "--port", str(port))
        while not _answers(port):
            if process.poll() is not None:
                raise RuntimeError("the master of the cluster has ended")
            sleep(POLL_S)
        cluster = Cluster(running, folder, port, cores)
        for _ in range(workers):
            cluster.start_worker()
        yield cluster


def _start(running: ExitStack, folder: Path, part: str, *words: str) -> subprocess.Popen[bytes]:
    home = spark_home(folder)
    environment = {
        "JAVA_HOME": str(java.java_home(folder)),
        "SPARK_HOME": str(home),
        "SPARK_WORKER_DIR": str(folder / "work"),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_DAEMON_JAVA_OPTS": f"{java.BRIEF} {java.learned()}",
    }
    start_class = home / "bin" / "spark-class"
    command = [
        *(str(start_class), f"org.apache.spark.deploy.{part.lower()}.{part}"),
        *("--host", "127.0.0.1", "--webui-port", "0", *words),
    ]
    log = folder / f"{part.lower()}.log"
    process = start(command, output=log, folder=folder, environment=environment)
    running.callback(end, process)
    return process


def _free_port() -> int:
    """A port of 127.0.0.1 that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
