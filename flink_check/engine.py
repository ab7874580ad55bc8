"""Flink, as an engine whose checks are in the folders of the families here.

Rule of this file: it reads the environment, and starts nothing.
"""

from __future__ import annotations

import re

from engine_check.engine import CheckedEngine
from flink_check.environment import installed

JAR = re.compile(r"flink-dist-([\d.]+)\.jar")
RELEASE = re.compile(r'^JAVA_VERSION="([\d.]+)"$', re.MULTILINE)


def _version() -> str:
    names = (JAR.fullmatch(jar.name) for jar in installed().jars)
    return next(name[1] for name in names if name)


def _java() -> str:
    release = installed().java.parents[1] / "release"
    found = RELEASE.search(release.read_text(encoding="utf-8"))
    return found[1] if found else "unknown"


ENGINE = CheckedEngine("flink", "Flink", "flink_check", _version, _java)
