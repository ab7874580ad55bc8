"""LOG.io as a library: recovery and lineage for a pipeline, on SQLite or PostgreSQL.

Rule of this file: names that users import, and nothing else.  The library imports the standard
library, and psycopg and networkx where a caller uses them.
"""

from spark_check.log_io.library.capture import Capture, Connection, Scope, capture, ports_between
from spark_check.log_io.library.context import Context
from spark_check.log_io.library.log import Log
from spark_check.log_io.library.operators import Made, Operator, Sink
from spark_check.log_io.library.sources import Source
from spark_check.log_io.library.transaction import Transaction
from spark_check.log_io.library.values import (
    ActionInfo,
    Event,
    InputSet,
    InputSetGone,
    LogError,
    LogInterrupted,
    NewEvents,
    ReadAction,
    ReadEffect,
    Replay,
    StateInfo,
    write_action,
)
from spark_check.log_io.library.writes import External, execute_writes

__all__ = [
    "ActionInfo",
    "Capture",
    "Connection",
    "Context",
    "Event",
    "External",
    "InputSet",
    "InputSetGone",
    "Log",
    "LogError",
    "LogInterrupted",
    "Made",
    "NewEvents",
    "Operator",
    "ReadAction",
    "ReadEffect",
    "Replay",
    "Scope",
    "Sink",
    "Source",
    "StateInfo",
    "Transaction",
    "capture",
    "execute_writes",
    "ports_between",
    "write_action",
]
