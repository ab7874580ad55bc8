"""A Java process for Spark: of one session, or kept for the next ones.

Rule of this file: nothing else starts a Java for a session, or ends it.  It ends on leaving the
block, and with this process (model.machine.children).

To start it takes most of the processor time of a short session, and the first query the rest, since
nothing is compiled yet.  So checks that run one after the other in a process keep it.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pyspark import SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.find_spark_home import _find_spark_home
from pyspark.java_gateway import launch_gateway

from model.machine.children import POLL_S, end, start
from spark_check.runtime import java
from spark_check.runtime.home import spark_home

OPTIONS = "spark.driver.extraJavaOptions"
OF_A_SESSION = ("spark.sql.", "spark.local.dir", "spark.master", "spark.app.name")
"""Settings that a Java does not need when it starts."""

END_S = 20.0
"""The longest time in which a Java may end by itself, if it has nothing to write."""

LOG4J = """\
rootLogger.level = {level}
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = {log}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{{HH:mm:ss.SSS}} %p %c{{1}}: %m%n%ex
"""


class Jvm:
    """A Java that sessions of one process share, one after the other: `with Jvm() as jvm`.

    The first session starts it, with the files in that session's folder.  A session that needs it
    started otherwise has one of its own; one that an exception leaves ends it.

    end_s: the longest time in which it may end by itself.
    """

    def __init__(self, end_s: float = END_S) -> None:
        self._end_s = end_s
        self._gateway: Any = None
        self._started: Mapping[str, str] = {}

    def __enter__(self) -> Jvm:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    @contextmanager
    def gateway(self, work: Path, settings: Mapping[str, str], level: str) -> Iterator[Any]:
        """A gateway of py4j for one session, which logs to work/spark.log from this level on.

        settings: of the session.
        """
        started = {
            key: value for key, value in settings.items() if not key.startswith(OF_A_SESSION)
        }
        if self._gateway is not None and self._gateway.proc.poll() is not None:
            self._end()  # somebody killed it
        if self._gateway is not None and started != self._started:
            with Jvm() as other, other.gateway(work, settings, level) as gateway:
                yield gateway
            return
        logging = work / "log4j2.properties"
        logging.write_text(LOG4J.format(level=level, log=work / "spark.log"))
        if self._gateway is None:
            master = settings["spark.master"]
            self._gateway, self._started = _launch(work, started, master, logging), started
        else:
            java_ = self._gateway.jvm
            configurator = java_.org.apache.logging.log4j.core.config.Configurator
            configurator.reconfigure(java_.java.net.URI(logging.as_uri()))
        try:
            yield self._gateway
        except BaseException:
            self._end()
            raise
        finally:  # pyspark would take it for the next session, whatever that needs
            SparkContext._gateway = SparkContext._jvm = None

    def _end(self) -> None:
        if self._gateway is not None:
            gateway, self._gateway = self._gateway, None
            gateway.shutdown()
            _end(gateway.proc, self._end_s)


def _launch(work: Path, settings: Mapping[str, str], master: str, logging: Path) -> Any:
    """Start a Java, and connect pyspark with it: the gateway, whose `proc` is the process."""
    scratch = work / "temporary"
    scratch.mkdir(exist_ok=True)
    options = [
        f'"-Dlog4j2.configurationFile=file:{logging}"',
        f'"-Dderby.system.home={work}"',
        f'"-Djava.io.tmpdir={scratch}"',
        settings.get(OPTIONS, ""),
        java.learned(),
    ]
    place = scratch / "connection"
    place.unlink(missing_ok=True)
    home = Path(_find_spark_home())
    if master.startswith(("local", "spark:")):  # the others send Spark's home
        home = spark_home(work)
    variables = {
        "JAVA_HOME": str(java.java_home(work)),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_HOME": str(home),
        "SPARK_CONNECT_MODE": "0",
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(place),
    }
    if master.startswith("local"):
        variables["SPARK_LOCAL_IP"] = "127.0.0.1"
    conf = {**settings, "spark.master": master, OPTIONS: " ".join(options)}
    words = [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
    command = [str(home / "bin" / "spark-submit"), *words, "pyspark-shell"]
    process = start(command, output=work / "jvm.log", text=None, environment=variables)
    try:
        while not place.exists():
            if process.poll() is not None:
                raise PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})
            time.sleep(POLL_S)
        return _connect(place, process)
    except BaseException:
        end(process)
        raise


def _connect(place: Path, process: subprocess.Popen[bytes]) -> Any:
    """The gateway of a Java that has written its port and its secret there."""
    written = place.read_bytes()  # a number, and a text behind its length
    place.unlink()
    port, _ = struct.unpack_from(">ii", written)
    named = {
        "PYSPARK_GATEWAY_PORT": str(port),
        "PYSPARK_GATEWAY_SECRET": written[8:].decode(),
    }
    connect: Any = launch_gateway
    with environment(named):
        gateway = connect()
    gateway.proc = process
    return gateway


def _end(process: subprocess.Popen[bytes], end_s: float) -> None:
    """End a Java, which removes its files first."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(end_s)
    end(process)


def kill(gateway: Any) -> None:
    """End the Java of a gateway, whatever it is doing."""
    gateway.proc.kill()
    gateway.proc.wait()


@contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """A context in which environment variables have these values."""
    before = {key: os.environ.get(key) for key in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = value
