"""The wait for a cluster: a line when it has no free worker for some seconds, and an end to it.

Rule of this file: it starts nothing.  A thread looks on from before the registration at the master
until the session ends, since workers may be lost at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum, auto
from threading import Event, Thread
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import pyspark
from py4j.protocol import Py4JError
from pyspark import SparkContext

from spark_check.runtime.cluster.demand import ClusterDemand

POLL_S = 0.5
SAY_S = 5.0
"""Seconds without a master's answer, or without a worker, after which that is said."""
REGISTERING, SENDING = "appclient-registration", "dispatcher-event-loop"
"""In the names of Spark's threads: to register at a master of its own; to send messages, which
the way to any other cluster begins with."""
STEADY_S = 1.0
"""Seconds without another executor after which no more are expected."""
ANSWER_S = 5.0
"""Seconds that a master may take to report its workers."""


class WaitStage(Enum):
    """Spark starts, registers at the master, lacks workers, has some."""

    STARTS = auto()
    REGISTERS = auto()
    LACKS = auto()
    WORKS = auto()


class ClusterWait:
    """The wait of a session.  gateway: of its Java.  context: set as soon as Spark has one.
    over: why the wait ended the session; empty if it did not."""

    def __init__(self, master: str, settings: Mapping[str, str], gateway: Any) -> None:
        self.master, self.settings, self._gateway = master, settings, gateway
        self.context: SparkContext | None = None
        self.over = ""

    def executors(self) -> int:
        """The number of executors; 0 if nobody knows."""
        if self.context is None:
            return 0
        try:
            jsc: Any = self.context._jsc
            return len(jsc.sc().statusTracker().getExecutorInfos()) - 1  # one is this process
        except (Py4JError, OSError, AttributeError):
            return 0

    def stage(self) -> WaitStage:
        """The stage of the session."""
        if self.context is not None:
            return WaitStage.WORKS if self.executors() else WaitStage.LACKS
        return WaitStage.REGISTERS if self._has_started() else WaitStage.STARTS

    def _has_started(self) -> bool:
        """Does Spark have the thread with which it registers?  It has no context before it is
        registered, and its constructor does not return."""
        try:
            threads = self._gateway.jvm.java.lang.Thread.getAllStackTraces().keySet().toString()
        except (Py4JError, OSError):
            return False
        return (REGISTERING if self.is_standalone else SENDING) in threads

    @property
    def is_standalone(self) -> bool:
        """Is the master one of Spark's own?"""
        return self.master.startswith("spark:")

    def for_workers(self) -> None:
        """Wait until there are executors, and until no more come for STEADY_S; or Spark ends."""
        count, since = 0, monotonic()
        while not self.over and (not count or monotonic() - since < STEADY_S):
            if (now := self.executors()) != count:
                count, since = now, monotonic()
            elif not count and self._stopped():
                return
            Event().wait(POLL_S / 2)

    def _stopped(self) -> bool:
        try:
            jsc: Any = self.context._jsc if self.context else None
            return bool(jsc.sc().isStopped())
        except (Py4JError, OSError, AttributeError):
            return True

    def lack(self) -> str:
        """The words for that which lacks."""
        if not self.is_standalone:
            return "the cluster has given no executor yet"
        if self.context is None:
            return f"not registered; is it a Spark master of version {pyspark.__version__}?"
        answers: list[str] = []
        Thread(target=lambda: answers.append(self._ask_master()), daemon=True).start()
        until = monotonic() + ANSWER_S
        while not answers and monotonic() < until:
            Event().wait(0.05)
        return answers[0] if answers else "the master does not answer"

    def _ask_master(self) -> str:
        assert self.context is not None
        try:
            state = _master_state(self.context, self.master)
            workers = [one for one in state.workers() if one.isAlive()]
            apps = [(one.id(), one.desc().name(), one.coresGranted()) for one in state.activeApps()]
            free = [one.cores() - one.coresUsed() for one in workers]
            memory = [one.memory() - one.memoryUsed() for one in workers]
        except (Py4JError, OSError):
            return "the master does not answer"
        mine = sum(cores for id_, _, cores in apps if id_ == self.context.applicationId)
        others = [name for id_, name, cores in apps if id_ != self.context.applicationId and cores]
        if not workers:
            return "the master has no worker: start one"
        cores = sum(one.cores() for one in workers)
        host = self.settings.get("spark.driver.host", "its own address")
        if mine:
            return (
                "executors start there, and none has answered yet; can they reach this machine at "
                f"{host} (--conf spark.driver.host=...)?"
            )
        if not sum(free):
            whose = f" by {', '.join(others[:3])}" if others else ""
            return f"all {cores} cores of its {len(workers)} workers are taken{whose}"
        needs = self.settings.get("spark.executor.memory", "1g")
        if _megabytes(needs) > max(memory):
            return f"no worker has spark.executor.memory={needs} free; at most {max(memory)} MB are"
        return f"the master has not started one yet on its {len(workers)} workers"


@contextmanager
def waiting(
    master: str,
    settings: Mapping[str, str],
    gateway: Any,
    demand: ClusterDemand,
    end: Callable[[], None],
) -> Iterator[ClusterWait]:
    """A context in which a thread looks on.  end: ends a session that has waited too long, from
    another thread."""
    wait, ended = ClusterWait(master, settings, gateway), Event()

    def look() -> None:
        since, said, before = monotonic(), False, WaitStage.STARTS
        while not ended.wait(POLL_S):
            stage = wait.stage()
            if stage in (WaitStage.STARTS, WaitStage.WORKS) or stage is not before:
                since, said, before = monotonic(), False, stage
                continue
            elapsed = monotonic() - since
            if not said and elapsed >= SAY_S:
                said = True
                demand.say(f"asif: waiting for {master}: {wait.lack()}")
            if demand.wait is not None and elapsed >= demand.wait:
                lack = wait.lack()
                wait.over = f"--master {master}: {lack}; --wait {demand.wait:g} is over"
                end()
                return

    thread = Thread(target=look, daemon=True)
    thread.start()
    try:
        yield wait
    finally:
        ended.set()
        thread.join(ANSWER_S + 1)


def _master_state(context: SparkContext, master: str) -> Any:
    """The standalone master's own report: workers and applications."""
    jsc: Any = context._jsc
    java: Any = context._jvm
    place = urlsplit(f"//{master.removeprefix('spark://').split(',')[0]}")
    address = java.org.apache.spark.rpc.RpcAddress(place.hostname, place.port or 7077)
    endpoint = jsc.sc().schedulerBackend().rpcEnv().setupEndpointRef(address, "Master")
    home = "org.apache.spark.deploy.DeployMessages"
    messages: Any = java.org.apache.spark.deploy
    question = getattr(getattr(messages, "DeployMessages$RequestMasterState$"), "MODULE$")
    answer = java.java.lang.Class.forName(f"{home}$MasterStateResponse")
    return endpoint.askSync(question, java.scala.reflect.ClassTag.apply(answer))


def _megabytes(text: str) -> int:
    """The megabytes in a text as Spark writes it: 512m, 2g."""
    number, unit = text.rstrip("bB")[:-1], text.rstrip("bB")[-1:].lower()
    factors = {"k": 1 / 1024, "m": 1, "g": 1024, "t": 1024**2}
    return int(float(number) * factors[unit]) if unit in factors and number else 0
