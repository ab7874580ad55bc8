"""Spark's errors about a cluster, as one line each.

Rule of this file: texts alone; nobody else reads Spark's words about a failure.
"""

from __future__ import annotations

import re

MOST = 200
"""Characters of an error of an unknown kind."""

KINDS = (
    (
        r"Python in worker has different version: (\S+) than that in driver: ([\d.]+)",
        r"Python \1 runs there, and Python \2 here: name a Python \2 of the workers in "
        "PYSPARK_PYTHON or --conf spark.pyspark.python=...",
    ),
    (
        r'Cannot run program "([^"]+)"',
        r"\1 cannot be run: name the workers' Python in PYSPARK_PYTHON or --conf "
        "spark.pyspark.python=...",
    ),
    (
        r"No module named '?([\w.]+)",
        r"the Python there lacks the module \1: install it there, or name another Python in "
        "PYSPARK_PYTHON",
    ),
    (
        r"No space left on device",
        "no space is left on the disk of spark.local.dir: free some, or name another folder",
    ),
    (
        r"OutOfMemoryError: ([\w ]+)",
        r"Java has not enough memory (\1): raise --conf spark.executor.memory=...",
    ),
    (
        r"Master removed our application|All masters are unresponsive|stopped SparkContext|"
        r"SparkContext was shut down",
        "the master does not answer as one of this version of Spark, or it ended the application; "
        "can the workers reach this machine (--conf spark.driver.host=...)?",
    ),
    (r"ExecutorLostFailure \(executor (\S+) ([^\n]{1,120})", r"executor \1 \2"),
    (
        r"Answer from Java side is empty|error while trying to connect to the Java server",
        "the Java of this process ended",
    ),
)
"""Patterns in an error's text, the first that is found counts; and the words for each."""
PROCESS = r"Python worker (?:exited unexpectedly|failed to connect)|ExecutorLostFailure"
"""A process ended: the calls that it performed may be the reason."""
PLACE = re.compile(r"Lost task [^:\n]*\(TID \d+\) \((\S+) executor \S+\)")
LOST = re.compile(
    rf"Task (\d+) in stage \S+ failed \d+ times, most recent failure: Lost task [^:\n]*: "
    rf"[^\n]*?((?:{PROCESS})[^\n]*?)(?:\. |\n|$)"
)


def lost_task(text: str) -> tuple[int, str] | None:
    """The task that ended for good with the process that ran it, and why; else None."""
    found = LOST.search(text)
    return (int(found[1]), found[2]) if found else None


def explain(text: str) -> str | None:
    """The cause of an error of a known kind, with the host; None: of no known kind."""
    for pattern, words in KINDS:
        if found := re.search(pattern, text):
            place = PLACE.search(text)
            where = f"{place[1]}: " if place else ""
            return where + found.expand(words)
    return None


def first_line(text: str) -> str:
    """The first line of an error's text that says something, cut short."""
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if line), "no reason given")[:MOST]
