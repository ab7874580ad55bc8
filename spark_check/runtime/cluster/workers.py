"""Workers that can do a job: each is asked for its Python, and receives all that it lacks.

Rule of this file: nothing of the job.  All that is sent comes from this machine: a worker
that has the same Python on the same kind of machine needs nothing of its own.
"""

from __future__ import annotations

import sysconfig
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException

from model.errors import Invalid
from spark_check.runtime.cluster.demand import ClusterDemand
from spark_check.runtime.cluster.failures import explain, first_line
from spark_check.runtime.cluster.packing import pack_distributions, pack_ours, with_requirements
from spark_check.runtime.cluster.survey import WorkerPython, survey, this_python
from spark_check.runtime.cluster.user_files import pack_user_files

LIBRARIES = "asif-libraries"
"""The folder, in that of an executor, with distributions that were sent."""
SPARK = ("py4j", "pyspark")
"""Distributions of Spark itself, which most clusters have in Spark's own folder."""
_PATH = "spark.executorEnv.PYTHONPATH"


def library_path(conf: Mapping[str, str]) -> dict[str, str]:
    """The setting with which workers find the libraries sent, before their own."""
    given = conf.get(_PATH)
    return {_PATH: f"{LIBRARIES}:{given}" if given else LIBRARIES}


def prepare(
    context: SparkContext, demand: ClusterDemand, work: Path, for_workers: Callable[[], None]
) -> None:
    """Send our packages, the user's files, and the distributions that the workers lack.

    work: a folder for the files that are sent.  for_workers: waits until there are some.  Raises
    Invalid, in a line with the host, if a worker then cannot do the job.
    """
    ours = work / "asif.zip"
    pack_ours(ours)
    context.addPyFile(str(ours))
    if not demand.needs:
        return
    of_user = work / "asif-files.zip"
    if pack_user_files(of_user):
        context.addPyFile(str(of_user))
    for_workers()
    names = with_requirements(demand.needs)
    here = this_python(names)
    try:
        found = _ask(context, names)
        lacking = sorted({name for one in found for name in _other_versions(here, one)})
        _refuse_others(here, found, lacking)
    except _NoSpark:
        lacking = sorted({*names, *SPARK})
    if not lacking:
        return
    packed = work / f"{LIBRARIES}.zip"
    pack_distributions(lacking, packed)
    size = packed.stat().st_size / 1e6
    shown = ", ".join(lacking[:4]) + (", ..." if len(lacking) > 4 else "")
    demand.say(f"asif: the workers receive libraries that they lack: {shown} ({size:.0f} MB)")
    context.addArchive(f"{packed}#{LIBRARIES}")
    try:
        found = _ask(context, names)
    except _NoSpark:
        raise Invalid("the workers' Python cannot import pyspark, though it was sent") from None
    for one in found:
        if others := _other_versions(here, one):
            raise Invalid(f"{one.host}: its Python does not find {others[0]}, though it was sent")
    _refuse_others(here, found, [])


class _NoSpark(Exception):
    """The Python of a worker has no pyspark."""


def _ask(context: SparkContext, names: tuple[str, ...]) -> set[WorkerPython]:
    """The Pythons of the workers that are there now.  Raises Invalid, or _NoSpark."""
    count = 2 * context.defaultParallelism
    asked = context.parallelize(range(count), count).mapPartitions(partial(survey, names))
    try:
        return {*asked.collect()}
    except (Py4JError, PySparkException) as error:
        text = str(error)
        if "No module named" in text and "pyspark" in text.partition("No module named")[2][:40]:
            raise _NoSpark from None
        raise Invalid(explain(text) or f"the workers do not answer: {first_line(text)}") from None


def _other_versions(here: WorkerPython, there: WorkerPython) -> list[str]:
    """The distributions that a worker lacks, or has in another version."""
    versions = dict(there.versions)
    return [name for name, version in here.versions if versions[name] != version]


def _refuse_others(
    here: WorkerPython, found: Iterable[WorkerPython], lacking: Iterable[str]
) -> None:
    """Raise Invalid for a worker that runs other code, or cannot use the libraries sent."""
    for one in found:
        if one.code != here.code:
            raise Invalid(f"{one.host}: another asif is in {one.home}; remove it from there")
        others = [name for name in lacking if name in _other_versions(here, one)]
        if others and one.machine != here.machine:
            raise Invalid(
                f"{one.host}: its Python lacks {', '.join(others[:4])}, and those of this machine "
                f"({sysconfig.get_platform()}) do not fit ({one.machine}): install them there"
            )
