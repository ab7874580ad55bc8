"""A Spark session anywhere: with no Java installed, quiet, on loopback, and gone when it ends.

Rule of this file: nothing else starts Spark.  A session has a folder of its own for its log and
whatever it spills, and a JVM, which ends with it unless it is kept (spark_check.runtime.jvm).
"""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from model.errors import Invalid
from spark_check.runtime import java
from spark_check.runtime.cluster.demand import NOTHING, ClusterDemand
from spark_check.runtime.cluster.failures import explain, first_line
from spark_check.runtime.cluster.waiting import waiting
from spark_check.runtime.cluster.workers import library_path, prepare
from spark_check.runtime.jvm import Jvm, environment, kill

LOCAL = "local[2]"
BRIEF = {
    "spark.driver.defaultJavaOptions": java.BRIEF,
    "spark.executor.defaultJavaOptions": java.BRIEF,
}
"""Configuration of a session of seconds."""
INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Configuration of a session with few rows: Spark compiles longer than it would compute."""
GONE = "Exception while sending command."
"""The message of py4j if the JVM ends in the middle of a call."""
ANSWER_S = 5.0
"""Seconds that a master may take to answer."""


@contextmanager
def session(
    work: Path,
    *,
    master: str = LOCAL,
    conf: Mapping[str, str] | None = None,
    level: str = "warn",
    jvm: Jvm | None = None,
    demand: ClusterDemand = NOTHING,
) -> Iterator[SparkSession]:
    """A Spark session; its log is work/spark.log.

    master: as Spark writes it.  local[n] and local-cluster[n,cores,MB] stay on loopback; the
    workers of any other receive what `demand` says.
    jvm: it is kept for the next session; None: this session has one of its own.
    Raises Invalid if there is no Java, nobody answers at the master, or a port in `conf` is taken;
    if the workers of a cluster cannot do the work, or the cluster fails.
    """
    work = work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    wanted = dict(conf or {})
    _free(wanted)
    _reachable(master)
    settings = _settings(work, master, wanted)
    with (
        keep_ctrl_c(),
        _quiet_py4j() as expected,
        nullcontext(jvm) if jvm else Jvm() as java_,
        java_.gateway(work, settings, level) as gateway,
    ):
        context, wait = None, None
        try:
            with (
                nullcontext()
                if _is_local(master)
                else waiting(
                    master, settings, gateway, demand, partial(_give_up, gateway, expected)
                )
            ) as wait:
                context = _context(settings, gateway, _python(master, wanted))
                if wait is not None:
                    wait.context = context
                    prepare(context, demand, work, wait.for_workers)
                yield SparkSession(context)
        except BaseException as error:
            if _interrupted(error):
                _give_up(gateway, expected)  # it is busy with the call, and answers no other
                raise KeyboardInterrupt from None
            if wait is not None and wait.over:
                raise Invalid(wait.over) from None
            if (why := _cause(error, master)) is not None:
                raise Invalid(why) from None
            raise
        finally:
            if context is not None:
                _stop(context, gateway)


def _settings(work: Path, master: str, wanted: Mapping[str, str]) -> dict[str, str]:
    return {
        "spark.master": master,
        "spark.app.name": "asif",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.warehouse.dir": str(work / "warehouse"),
        "spark.local.dir": str(work / "spill"),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        **_place(master),
        **wanted,
        **({} if _is_local(master) else library_path(wanted)),
    }


def _context(settings: Mapping[str, str], gateway: Any, python: str) -> SparkContext:
    settled = SparkConf(loadDefaults=False).setAll([*settings.items()])
    with _restore_ctrl_c(), environment({"PYSPARK_PYTHON": python}):
        return SparkContext(conf=settled, gateway=gateway)


def _give_up(gateway: Any, expected: set[str]) -> None:
    """End the Java of a session, whatever it does; py4j's messages about that are expected."""
    expected.add(GONE)
    kill(gateway)


def _is_local(master: str) -> bool:
    return master.startswith("local")


def _python(master: str, conf: Mapping[str, str]) -> str:
    """The Python of the workers: the user's choice, as Spark reads it, or this one."""
    given = conf.get("spark.pyspark.python")
    if given or _is_local(master):  # on this machine our own has all that is needed
        return given or sys.executable
    return os.environ.get("PYSPARK_PYTHON") or sys.executable


def _cause(error: BaseException, master: str) -> str | None:
    """The error of a session in a line, if it comes from the cluster."""
    if not isinstance(error, Py4JError | PySparkException):
        return None
    text = str(error)
    why = explain(text)
    if why is None and isinstance(error, Py4JError) and not _is_local(master):
        why = first_line(text)
    return None if why is None else f"--master {master}: {why}"


def _place(master: str) -> dict[str, str]:
    if not _is_local(master):
        return {}
    return {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


def _free(conf: Mapping[str, str]) -> None:
    """Raise Invalid if a port that `conf` names is taken: Spark would silently try the next 16."""
    for key, port in conf.items():
        if not key.endswith(".port") or port == "0":
            continue
        if not port.isdecimal() or int(port) > 65535:
            raise Invalid(f"{key}={port} is not a port: a number up to 65535 would be")
        with closing(socket.socket()) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", int(port)))
            except OSError as error:
                raise Invalid(
                    f"{key}={port}: the port cannot be used ({error.strerror}); "
                    "0 or no such setting takes any that is free"
                ) from None


def _reachable(master: str) -> None:
    """Raise Invalid if nobody answers at the master: Spark would try for a minute, and print a page
    of errors."""
    if re.fullmatch(r"local(\[(\d+|\*)(,\d+)?\])?|local-cluster\[\d+,\d+,\d+\]|yarn", master):
        return
    scheme, _, rest = master.partition("://")
    if scheme == "k8s":
        return
    if scheme != "spark" or not rest:
        raise Invalid(
            f"--master {master}: Spark knows local[n], local-cluster[n,cores,MB], "
            "spark://host:port, k8s://... and yarn"
        )
    for place in rest.split(","):
        try:
            url = urlsplit(f"//{place}")
            with closing(socket.create_connection((url.hostname, url.port or 7077), ANSWER_S)):
                return
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
    raise Invalid(f"--master {master}: nobody answers there ({why})")


@contextmanager
def _restore_ctrl_c() -> Iterator[None]:
    """Keep the handler of Ctrl-C: pyspark's calls the JVM, possibly in the middle of a call."""
    before = signal.getsignal(signal.SIGINT)
    yield
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, before)


@contextmanager
def _quiet_py4j() -> Iterator[set[str]]:
    """Suppress expected messages of py4j, which come with a traceback: after Ctrl-C, and after the
    JVM was ended while another thread called it."""
    expected = {"KeyboardInterrupt while sending command."}

    def other(record: logging.LogRecord) -> bool:
        return record.msg not in expected

    logging.getLogger().addFilter(other)
    try:
        yield expected
    finally:
        logging.getLogger().removeFilter(other)


@contextmanager
def keep_ctrl_c() -> Iterator[None]:
    """Raise Ctrl-C again if Python ignored it: KeyboardInterrupt is raised wherever Python is then,
    and Python ignores it in a finalizer (those of py4j call the JVM)."""
    before = sys.unraisablehook

    def hook(ignored: Any) -> None:
        if ignored.exc_type is KeyboardInterrupt:
            # Not from here, where it would be ignored, too.
            threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        else:
            before(ignored)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


def _interrupted(error: BaseException | None) -> bool:
    """Is the error Ctrl-C, or a consequence of it?"""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _stop(context: SparkContext, gateway: Any) -> None:
    """Stop Spark, also if the JVM has ended already, so that the first error is reported."""
    try:
        context.stop()
    except OSError:
        if gateway.proc.poll() is None:
            raise
        context.stop()  # the second time without the JVM
