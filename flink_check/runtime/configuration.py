"""Flink's configuration of a cluster of this machine, as its file config.yaml.

Rule of this file: settings and their text; every address is 127.0.0.1, and nothing is started.
"""

from __future__ import annotations

import json
import random
import socket
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

HOST = "127.0.0.1"
FlinkSettings: TypeAlias = Mapping[str, str]
"""Options of Flink -> their values, as in its own documentation."""

INTERVAL = "execution.checkpointing.interval"
ON_REQUEST = MappingProxyType({INTERVAL: "1 h", "execution.checkpointing.min-pause": "1 h"})
"""Checkpoints by REST alone: no check lasts an hour, and with the pause a job begins with none."""
MEMORY = MappingProxyType(
    {
        # Flink's own start script computes these; without all of them a TaskManager ends at once.
        "taskmanager.cpu.cores": "1",
        "taskmanager.memory.framework.heap.size": "128m",
        "taskmanager.memory.framework.off-heap.size": "64m",
        "taskmanager.memory.task.heap.size": "128m",
        "taskmanager.memory.task.off-heap.size": "0m",
        "taskmanager.memory.network.min": "32m",
        "taskmanager.memory.network.max": "32m",
        "taskmanager.memory.managed.size": "32m",
        "taskmanager.memory.jvm-metaspace.size": "128m",
        "taskmanager.memory.jvm-overhead.min": "64m",
        "taskmanager.memory.jvm-overhead.max": "64m",
        "jobmanager.memory.heap.size": "300m",
    }
)
PROMPT = MappingProxyType(
    {
        "web.refresh-interval": "100",  # else an answer of REST is up to 3 s old
        "cluster.registration.error-delay": "500",  # a TaskManager that is too early waits 10 s
        "cluster.registration.refused-registration-delay": "500",
        "execution.buffer-timeout.interval": "0 ms",  # each row is sent on at once
        "rest.flamegraph.enabled": "false",
    }
)
RECOVERY = MappingProxyType(
    {
        "heartbeat.interval": "1000",
        "heartbeat.timeout": "8000",
        "heartbeat.rpc-failure-threshold": "2",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "1000",
        # Longer than the detection (1.1 s): one restart for each kill, not a first one that still
        # sends tasks to the killed process.
        "restart-strategy.fixed-delay.delay": "2 s",
        "execution.checkpointing.timeout": "10 min",
        "execution.checkpointing.num-retained": "3",
        "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
        # Else small state is in _metadata, and no state file is written.
        "execution.checkpointing.data-inline-threshold": "0 b",
        "parallelism.default": "1",
        "taskmanager.numberOfTaskSlots": "1",
    }
)


class ClusterPorts(NamedTuple):
    """Ports of 127.0.0.1.  rest, rpc: of the JobManager.  zookeeper: 0 without it."""

    rest: int
    rpc: int
    zookeeper: int = 0


class ClusterFolders(NamedTuple):
    """The folders of a cluster, below its work folder.

    checkpoints, savepoints, high_availability: files that outlive processes.
    """

    work: Path

    @property
    def configuration(self) -> Path:
        return self.work / "configuration"

    @property
    def temporary(self) -> Path:
        return self.work / "temporary"

    @property
    def logs(self) -> Path:
        return self.work / "logs"

    @property
    def gates(self) -> Path:
        return self.work / "gates"

    @property
    def checkpoints(self) -> Path:
        return self.work / "checkpoints"

    @property
    def savepoints(self) -> Path:
        return self.work / "savepoints"

    @property
    def high_availability(self) -> Path:
        return self.work / "high-availability"

    @property
    def zookeeper(self) -> Path:
        return self.work / "zookeeper"

    def make(self) -> None:
        """Make all of them."""
        for one in (
            *(self.configuration, self.temporary, self.logs, self.gates, self.checkpoints),
            *(self.savepoints, self.high_availability, self.zookeeper),
        ):
            one.mkdir(parents=True, exist_ok=True)


def settings(
    folders: ClusterFolders, ports: ClusterPorts, given: FlinkSettings = MappingProxyType({})
) -> FlinkSettings:
    """All options of a cluster; the given ones come last.

    Without a given interval, a checkpoint is taken only on request.  Checkpoints are written
    through the file system "gate" (java/gates), which can be held.
    """
    temporary = str(folders.temporary)
    return {
        "jobmanager.rpc.address": HOST,
        "jobmanager.bind-host": HOST,
        "jobmanager.rpc.port": str(ports.rpc),
        "rest.address": HOST,
        "rest.bind-address": HOST,
        "rest.port": str(ports.rest),
        "rest.bind-port": str(ports.rest),
        "taskmanager.host": HOST,
        "taskmanager.bind-host": HOST,
        "web.upload.dir": temporary,
        "io.tmp.dirs": temporary,
        "blob.storage.directory": temporary,
        "execution.checkpointing.dir": gated(folders.checkpoints),
        "execution.checkpointing.savepoint-dir": gated(folders.savepoints),
        **MEMORY,
        **PROMPT,
        **RECOVERY,
        **({} if INTERVAL in given else ON_REQUEST),
        **(_high_availability(folders, ports.zookeeper) if ports.zookeeper else {}),
        **given,
    }


def gated(path: Path) -> str:
    """The address of a folder or file in the file system that can be held at its points."""
    return f"gate://{path}"


def as_yaml(options: FlinkSettings) -> str:
    """The text of config.yaml."""
    return "".join(f"{name}: {json.dumps(value)}\n" for name, value in options.items())


def as_zookeeper(folders: ClusterFolders, port: int) -> str:
    """The text of zoo.cfg, for one server."""
    lines = {
        "dataDir": folders.zookeeper,
        "clientPort": port,
        "clientPortAddress": HOST,
        "tickTime": 500,
        "initLimit": 10,
        "syncLimit": 5,
        "maxSessionTimeout": 10_000,
        "admin.enableServer": "false",
        "server.1": f"{HOST}:1:2",  # must be named; a single server does not open these ports
    }
    return "".join(f"{name}={value}\n" for name, value in lines.items())


LOWEST_PORT = 20_000
"""Of the ports on which a cluster listens; few servers have one above it."""
PORT_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
"""Linux's file with the first and the last port of outgoing connections."""
LOGGING = """\
rootLogger.level = INFO
rootLogger.appenderRef.c.ref = C
appender.c.name = C
appender.c.type = CONSOLE
appender.c.layout.type = PatternLayout
appender.c.layout.pattern = %d{yyyy-MM-dd HH:mm:ss.SSS} %-5p %c{1} %m%n
"""
"""The text of log4j.properties: everything to the output of the process."""


def free_ports(count: int) -> tuple[int, ...]:
    """Different ports of 127.0.0.1 on which nobody listens now.

    No outgoing connection takes one of them before a process listens on it: they lie below the
    ports that such connections get.
    """
    candidates = random.sample(range(LOWEST_PORT, _first_outgoing()), 50 * count)
    free = (port for port in candidates if _is_free(port))
    return tuple(islice(free, count))


def _first_outgoing() -> int:
    """The lowest port that an outgoing connection gets by itself."""
    try:
        return max(LOWEST_PORT + 1000, int(PORT_RANGE.read_text().split()[0]))
    except OSError:
        return 32_768


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def _high_availability(folders: ClusterFolders, port: int) -> FlinkSettings:
    return {
        "high-availability.type": "zookeeper",
        "high-availability.zookeeper.quorum": f"{HOST}:{port}",
        "high-availability.storageDir": f"file://{folders.high_availability}",
        "high-availability.cluster-id": "/cluster",
        "high-availability.zookeeper.client.session-timeout": "4000",
    }
