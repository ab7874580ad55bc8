"""The origin of a result: the moment, the commit of the source, the machine, and the versions.

Rule of this file: an unknown version is None, and no command fails because of it.
"""

from __future__ import annotations

import platform
from datetime import UTC, datetime

import psutil

from asif.versions import commit, versions
from model.results.report import ReportOrigin


def origin() -> ReportOrigin:
    """The origin of a result that is made now."""
    moment = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return ReportOrigin(moment, commit(), machine(), versions())


def machine() -> str:
    """The system, the processor and the memory in words."""
    cores = f"{psutil.cpu_count() or 1} cores"
    memory = f"{psutil.virtual_memory().total / 2**30:.1f} GiB"
    return f"{platform.system()} {platform.release()}, {platform.machine()}, {cores}, {memory}"
