"""LOG.io for your own pipeline: recovery and lineage, on SQLite or PostgreSQL.

Rule of this file: public names, and nothing else; docs/examples/log_io says how to use them.
"""

from spark_check.log_io.library import (
    ActionInfo,
    Capture,
    Connection,
    Context,
    Event,
    External,
    InputSetGone,
    Log,
    LogError,
    ReadAction,
    ReadEffect,
    Replay,
    Scope,
    StateInfo,
    Transaction,
    capture,
    execute_writes,
    lineage,
    ports_between,
    records,
    retention,
    write_action,
)
from spark_check.log_io.library.reading import read_log, without_password

__all__ = [
    "ActionInfo",
    "Capture",
    "Connection",
    "Context",
    "Event",
    "External",
    "InputSetGone",
    "Log",
    "LogError",
    "ReadAction",
    "ReadEffect",
    "Replay",
    "Scope",
    "StateInfo",
    "Transaction",
    "capture",
    "execute_writes",
    "lineage",
    "ports_between",
    "read_log",
    "records",
    "retention",
    "without_password",
    "write_action",
]
