"""The installed Spark, in a folder of ours.

Rule of this file: everything that starts Spark on this machine starts it from here.
"""

from __future__ import annotations

from pathlib import Path

from pyspark.find_spark_home import _find_spark_home


def spark_home(work: Path) -> Path:
    """A Spark home in `work`: links to the installed one, but for two of its folders.

    Executors of a local cluster run in `work`.  In `python` is a packed copy of pyspark, which each
    Python that Spark starts would compile anew (0.4 s of processor time); without it they import
    the installed one.
    """
    home = work / "spark-home"
    home.mkdir(parents=True, exist_ok=True)
    for entry in Path(_find_spark_home()).iterdir():
        if entry.name not in {"work", "python"} and not (home / entry.name).exists():
            (home / entry.name).symlink_to(entry)
    return home
