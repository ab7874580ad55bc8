"""A Flink cluster on this machine: a JobManager, TaskManagers, and a ZooKeeper if wanted.

Rule of this file: processes and their files; no job.  Each process listens on 127.0.0.1 alone, has
a heap of 300 MB, and ends with the caller's process, however that ends.

    with cluster(work, points={"ack": "CLASS#METHOD"}) as flink:
        flink.gates.hold("ack")
        ...
        flink.kill_task_manager("tm0")
"""

from __future__ import annotations

import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import psutil

from flink_check.environment import FlinkHome, installed
from flink_check.runtime import configuration
from flink_check.runtime.agent import agent_option, write_agent
from flink_check.runtime.compiler import compiled
from flink_check.runtime.configuration import ClusterFolders, ClusterPorts, FlinkSettings
from flink_check.runtime.gates import Gates
from flink_check.runtime.java import GATES, HEAP_MB, ZOOKEEPER_HEAP_MB, MainClass, command
from flink_check.runtime.rest import Rest
from flink_check.runtime.waiting import wait_for
from model.machine.children import end, start
from model.machine.folders import emptied

T = TypeVar("T")
START_S = 120
"""The longest time in which a cluster must be up, on a busy machine."""
JOB_MANAGER, ZOOKEEPER = "job-manager", "zookeeper"


class FlinkCluster:
    """A running cluster.  Use `cluster`.

    folders: its files; the output of the process NAME is logs/NAME.log.  rest: requests to the
    JobManager, whose port stays the same when it is started again.  gates: its named points.
    home, classes: the files that its processes
    are started from.
    """

    def __init__(
        self,
        home: FlinkHome,
        folders: ClusterFolders,
        ports: ClusterPorts,
        points: Mapping[str, str],
    ) -> None:
        self.home, self.folders, self._ports = home, folders, ports
        self.classes = compiled(home)
        self.rest, self.gates = Rest(ports.rest), Gates(folders.gates, self.fail)
        self._children, self._starts = dict[str, subprocess.Popen[bytes]](), count()
        self._options = [
            f"-D{GATES}={folders.gates}",
            f"-Dlog4j.configurationFile=file://{folders.configuration}/log4j.properties",
        ]
        if points:
            jar = write_agent(folders.temporary / "agent.jar", self.classes)
            self._options.append(agent_option(jar, points))

    # --- processes -----------------------------------------------------------------------------
    def start_job_manager(self) -> None:
        """Start the JobManager; it answers some seconds later."""
        self._start(JOB_MANAGER, MainClass.JOB_MANAGER, self._configured())

    def start_task_manager(self, name: str) -> None:
        """Start a TaskManager; it registers some seconds later."""
        resource = f"taskmanager.resource-id={name}.{next(self._starts)}"
        self._start(name, MainClass.TASK_MANAGER, (*self._configured(), "-D", resource))

    def kill_job_manager(self) -> float:
        """Send SIGKILL to the JobManager and wait for its end: seconds since the epoch."""
        return self._kill(JOB_MANAGER)

    def kill_task_manager(self, name: str) -> float:
        """Send SIGKILL to a TaskManager and wait for its end: seconds since the epoch."""
        return self._kill(name)

    def suspend(self, name: str) -> None:
        """Send SIGSTOP to a process: it neither works nor answers until `resume`."""
        self._children[name].send_signal(signal.SIGSTOP)

    def resume(self, name: str) -> None:
        """Send SIGCONT to a suspended process."""
        self._children[name].send_signal(signal.SIGCONT)

    def processes(self) -> Mapping[str, psutil.Process]:
        """The processes that were started and not killed, by name."""
        return {name: psutil.Process(child.pid) for name, child in self._children.items()}

    def name_of(self, pid: int) -> str:
        """The name of the process; a gate knows the pid.  Raises KeyError if it is none of ours."""
        for name, child in self._children.items():
            if child.pid == pid:
                return name
        raise KeyError(pid)

    def log(self, name: str) -> str:
        """All output of the processes that had this name."""
        return (self.folders.logs / f"{name}.log").read_text(errors="replace")

    # --- states --------------------------------------------------------------------------------
    def wait_for(self, read: Callable[[], T | None], state: str, timeout_s: float = 60) -> T:
        """`waiting.wait_for`, which also ends with RuntimeError if a process ends by itself."""
        return wait_for(read, state, timeout_s, self.fail)

    def await_task_managers(self, number: int, timeout_s: float = START_S) -> None:
        """Wait until this number of TaskManagers is registered, no killed one among them."""
        self.wait_for(
            lambda: self.rest.size().task_managers == number,
            f"{number} TaskManagers are registered",
            timeout_s,
        )

    def await_free_slots(self, number: int, timeout_s: float = START_S) -> None:
        """Wait until at least this number of slots is free."""
        self.wait_for(
            lambda: self.rest.size().free_slots >= number, f"{number} slots are free", timeout_s
        )

    def await_running(self, job: str, timeout_s: float = START_S) -> None:
        """Wait until every task of the job runs."""
        self.wait_for(lambda: self.rest.all_running(job), f"job {job} runs", timeout_s)

    def fail(self) -> None:
        """Raise RuntimeError, with its reason, if a process has ended by itself."""
        for name, child in self._children.items():
            if child.poll() is not None:
                log = self.folders.logs / f"{name}.log"
                raise RuntimeError(
                    f"{name} has ended with exit code {child.returncode}: "
                    f"{last_error(self.log(name))} (log: {log})"
                )

    # --- inside --------------------------------------------------------------------------------
    def start_zookeeper(self) -> None:
        words = ("--zkConfigFile", str(self.folders.configuration / "zoo.cfg"), "--peerId", "1")
        self._start(ZOOKEEPER, MainClass.ZOOKEEPER, words, ZOOKEEPER_HEAP_MB)

    def end(self) -> None:
        """Kill all processes."""
        for name in [*self._children]:
            self._kill(name)

    def _kill(self, name: str) -> float:
        child = self._children.pop(name)
        at = time.time()
        child.kill()
        end(child)
        return at

    def _configured(self) -> tuple[str, ...]:
        return ("--configDir", str(self.folders.configuration))

    def _start(
        self, name: str, main: MainClass, words: Sequence[str], heap_mb: int = HEAP_MB
    ) -> None:
        if name in self._children:
            raise RuntimeError(f"{name} of the Flink cluster is running: kill it first")
        line = command(
            *(self.home, main, words),
            classes=[self.classes],
            options=self._options,
            heap_mb=heap_mb,
        )
        environment = {"FLINK_CONF_DIR": str(self.folders.configuration)}
        log = self.folders.logs / f"{name}.log"
        self._children[name] = start(
            line, output=log, folder=self.folders.work, environment=environment
        )


@contextmanager
def cluster(
    work: Path,
    settings: FlinkSettings = MappingProxyType({}),
    *,
    task_managers: int = 2,
    points: Mapping[str, str] = MappingProxyType({}),
    zookeeper: bool = False,
) -> Iterator[FlinkCluster]:
    """A cluster whose TaskManagers "tm0", "tm1", ... are registered; leaving the block kills it.

    work: a folder of its own, which is emptied.  settings: options of Flink, beyond
    configuration.settings; a TaskManager has one slot without another one.  points: gate ->
    "CLASS#METHOD" of Flink, beyond gates.POINTS.  zookeeper: high availability; a JobManager that
    starts again finds its jobs.  Raises Invalid without an environment, RuntimeError if a process
    ends, TimeoutError if the cluster is not up in START_S.
    """
    home = installed()
    folders = ClusterFolders(emptied(work))
    folders.make()
    ports = ClusterPorts(*configuration.free_ports(3 if zookeeper else 2))
    _write_configuration(folders, ports, settings)
    flink = FlinkCluster(home, folders, ports, points)
    try:
        if zookeeper:
            flink.start_zookeeper()
        flink.start_job_manager()
        for number in range(task_managers):
            flink.start_task_manager(f"tm{number}")
        flink.await_task_managers(task_managers)
        yield flink
    finally:
        flink.end()


def last_error(log: str) -> str:
    """The cause of the last error in a log, or the error; without one, the last line."""
    lines = [line.strip() for line in log.splitlines() if line.strip()] or ["its log is empty"]
    errors = [at for at, line in enumerate(lines) if re.search(r" (ERROR|FATAL) |^Error", line)]
    block = lines[errors[-1] :] if errors else lines[-1:]
    causes = (line for line in block if line.startswith("Caused by: "))
    return next(causes, block[0])


def _write_configuration(
    folders: ClusterFolders, ports: ClusterPorts, settings: FlinkSettings
) -> None:
    options = configuration.settings(folders, ports, settings)
    texts = {
        "config.yaml": configuration.as_yaml(options),
        "log4j.properties": configuration.LOGGING,
        "zoo.cfg": configuration.as_zookeeper(folders, ports.zookeeper),
    }
    for name, text in texts.items():
        (folders.configuration / name).write_text(text, encoding="utf-8")
