"""How a Java of the environment is started: class path, options, main classes.

Rule of this file: words of a command line; no process.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from flink_check.environment import FlinkHome

HEAP_MB = 300
"""The largest heap of a process."""
ZOOKEEPER_HEAP_MB = 128
GATES = "flink_check.gates"
"""The system property that names the folder of the gates (java/gates/Gate.java)."""
_OPEN = (
    *("lang", "lang.reflect", "net", "io", "nio", "text", "time"),
    *("util", "util.concurrent", "util.concurrent.atomic", "util.concurrent.locks"),
)
OPENED = (*(f"java.base/java.{one}" for one in _OPEN), "java.base/sun.nio.ch")
EXPORTED = ("java.rmi/sun.rmi.registry", "java.security.jgss/sun.security.krb5")
OPTIONS = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Djava.net.preferIPv4Stack=true",
    # Flink ends a process after a fatal error by way of a security manager.
    "-Djava.security.manager=allow",
    *(f"--add-opens={one}=ALL-UNNAMED" for one in OPENED),
    *(f"--add-exports={one}=ALL-UNNAMED" for one in EXPORTED),
)
"""As in Flink's own conf/config.yaml, for processes that live some minutes on Java 21."""


class MainClass(StrEnum):
    """The program of a process."""

    JOB_MANAGER = "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"
    TASK_MANAGER = "org.apache.flink.runtime.taskexecutor.TaskManagerRunner"
    ZOOKEEPER = "org.apache.flink.runtime.zookeeper.FlinkZooKeeperQuorumPeer"
    COMPILER = "org.codehaus.janino.SimpleCompiler"


def class_path(home: FlinkHome, *first: Path) -> str:
    """The class path: these folders, then Flink's jars."""
    jars = (path for path in home.jars if not path.name.startswith("flink-scala"))
    return ":".join(map(str, (*first, *jars)))


def command(
    home: FlinkHome,
    main: MainClass,
    words: Sequence[str],
    *,
    classes: Sequence[Path] = (),
    options: Sequence[str] = (),
    heap_mb: int = HEAP_MB,
) -> list[str]:
    """The command line of a process of Flink."""
    return [
        *(str(home.java), f"-Xmx{heap_mb}m", *OPTIONS, *options),
        *("-cp", class_path(home, *classes), main.value, *words),
    ]
