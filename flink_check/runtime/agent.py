"""The Java agent that makes any method of Flink a gate.

Rule of this file: a jar and an option; java/gates/GateAgent.java changes the classes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile

from model.errors import Invalid

MANIFEST = "Manifest-Version: 1.0\nPremain-Class: gates.GateAgent\n\n"
METHOD = re.compile(r"[\w.$]+#[\w$<>]+")


def agent_option(jar: Path, points: Mapping[str, str]) -> str:
    """The option of Java by which methods become gates.

    points: gate -> "CLASS#METHOD", with the name of the class as Java loads it (Outer$Inner);
    a thread waits at the beginning of each method of this name.  Raises Invalid for another form.
    """
    for point, method in points.items():
        if METHOD.fullmatch(method) is None:
            raise Invalid(f"point {point!r}: {method!r} is not of the form CLASS#METHOD")
    return f"-javaagent:{jar}=" + ",".join(f"{method}={point}" for point, method in points.items())


def write_agent(jar: Path, classes: Path) -> Path:
    """Write the jar of the agent: its path.  classes: the compiled ones."""
    with ZipFile(jar, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", MANIFEST)
        for path in sorted((classes / "gates").glob("GateAgent*.class")):
            archive.write(path, f"gates/{path.name}")
    return jar
