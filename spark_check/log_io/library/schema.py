"""The tables of a log and their indexes: one text for SQLite and PostgreSQL.

Rule of this file: SQL that makes tables; the words in which the databases differ are in Dialect.

LOG.io, Section 3.2.  Each column has the paper's name; "" is the paper's null port and 0 its null
InSet_ID, since no key holds null.  EVENT_DATA names the receiver's port, too: it distinguishes the
write actions of one operator on several connections.  Added: STATE.context, since the context
must outlive done events (context.py); EVENT_LOG.assigned_as, the place of an assignment among those
of all ports of the operator, in which the inputs are replayed; EVENT_LOG.inset_key, the user's name
of an Input Set; the time of an event for the retention period of 3.6; and in each row the checksum
of its other columns (guard/checksums.py).

The paper's tables are five.  LOG_FORMAT has the version of all these tables.  LOG_ACCOUNT has a row
for each operator: its lease (guard/lease.py), and the rows that it has added less those that it
has removed, with the sum of their checksums (guard/accounts.py).

event_log_by_input_set finds the inputs of an operator: those that wait (undone, Input Set 0),
those to replay (undone), those of an Input Set that an Output Set is made of (undone, and done for
lineage).  It holds inset_id + 0, and its queries say so: PostgreSQL 18, while its statistics are of
a small log, would look for an inset_id in the whole primary key.  event_log_waiting finds what a
restarted operator sends or writes again.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Dialect(NamedTuple):
    """placeholder: of a parameter.  blob: the type of bytes.  pipelines: can the client send a
    statement with many parameters at once, and receive the rows of each?  begin: the statement that
    begins a transaction which writes.  lock: a statement after `begin`, so that two processes do
    not make the tables at once; "" where `begin` does that.  columns: the query for all tables and
    their columns."""

    placeholder: str
    blob: str
    pipelines: bool
    begin: str
    lock: str
    columns: str


SQLITE = Dialect(
    "?",
    "BLOB",
    False,
    "BEGIN IMMEDIATE",
    "",
    """SELECT made.name, has.name FROM sqlite_master AS made, pragma_table_info(made.name) AS has
        WHERE made.type = 'table'""",
)
POSTGRESQL = Dialect(
    "%s",
    "BYTEA",
    True,
    "BEGIN",
    "SELECT pg_advisory_xact_lock(7063105)",
    """SELECT made.relname, has.attname FROM pg_attribute AS has
        JOIN pg_class AS made ON made.oid = has.attrelid
        WHERE has.attnum > 0 AND pg_table_is_visible(made.oid)""",
)

FORMAT = 2
"""The version of the tables.  Version 1 had no checksums, and no row that says so."""

TABLES = """
CREATE TABLE IF NOT EXISTS event_data (
    event_id BIGINT NOT NULL CHECK (event_id >= 1),
    send_op TEXT NOT NULL,
    send_port TEXT NOT NULL,
    rec_port TEXT NOT NULL,
    header {blob} NOT NULL,
    body {blob} NOT NULL,
    logged_at DOUBLE PRECISION NOT NULL,
    checksum BIGINT NOT NULL,
    PRIMARY KEY (send_op, send_port, rec_port, event_id)
);
CREATE TABLE IF NOT EXISTS event_log (
    event_id BIGINT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('undone', 'done')),
    send_op TEXT NOT NULL,
    send_port TEXT NOT NULL,
    rec_op TEXT NOT NULL,
    rec_port TEXT NOT NULL,
    inset_id BIGINT NOT NULL CHECK (inset_id >= 0),
    inset_key TEXT NOT NULL,
    assigned_as BIGINT NOT NULL CHECK (assigned_as >= 0),
    checksum BIGINT NOT NULL,
    PRIMARY KEY (send_op, send_port, rec_port, event_id, inset_id),
    FOREIGN KEY (send_op, send_port, rec_port, event_id)
        REFERENCES event_data (send_op, send_port, rec_port, event_id),
    CHECK ((send_port <> '' AND rec_port <> '') OR send_op = rec_op),
    CHECK (send_port <> '' OR rec_port = '' OR inset_id = 0),
    CHECK (send_port <> '' OR rec_port <> '' OR inset_id > 0)
);
CREATE INDEX IF NOT EXISTS event_log_by_input_set
    ON event_log (rec_op, status, (inset_id + 0), event_id);
CREATE INDEX IF NOT EXISTS event_log_waiting
    ON event_log (send_op, event_id) WHERE status = 'undone' AND inset_id = 0;
CREATE TABLE IF NOT EXISTS read_action (
    action_id BIGINT NOT NULL CHECK (action_id >= 1),
    status TEXT NOT NULL CHECK (status IN ('complete', 'incomplete')),
    op_id TEXT NOT NULL,
    conn_id TEXT NOT NULL CHECK (conn_id <> ''),
    action_desc TEXT NOT NULL,
    checksum BIGINT NOT NULL,
    PRIMARY KEY (op_id, conn_id, action_id)
);
CREATE TABLE IF NOT EXISTS state (
    state_id BIGINT NOT NULL CHECK (state_id >= 1),
    op_id TEXT NOT NULL,
    state {blob} NOT NULL,
    context TEXT NOT NULL,
    logged_at DOUBLE PRECISION NOT NULL,
    checksum BIGINT NOT NULL,
    PRIMARY KEY (op_id, state_id)
);
CREATE TABLE IF NOT EXISTS event_lineage (
    event_id BIGINT NOT NULL,
    send_op TEXT NOT NULL,
    send_port TEXT NOT NULL,
    rec_port TEXT NOT NULL,
    inset_id BIGINT NOT NULL CHECK (inset_id >= 1),
    checksum BIGINT NOT NULL,
    PRIMARY KEY (send_op, send_port, rec_port, event_id, inset_id),
    FOREIGN KEY (send_op, send_port, rec_port, event_id)
        REFERENCES event_data (send_op, send_port, rec_port, event_id) ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS event_lineage_by_input_set
    ON event_lineage (send_op, inset_id, send_port, rec_port, event_id);
CREATE TABLE IF NOT EXISTS log_format (
    version BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS log_account (
    op_id TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    holder TEXT NOT NULL,
    held_since TEXT NOT NULL,
    transactions BIGINT NOT NULL,
    events BIGINT NOT NULL,
    lineage BIGINT NOT NULL,
    actions BIGINT NOT NULL,
    checksum BIGINT NOT NULL,
    state_checksum BIGINT NOT NULL,
    PRIMARY KEY (op_id)
);
"""
ROWS = ("event_lineage", "event_log", "event_data", "read_action", "state")
"""The paper's tables.  In this order, their rows can be deleted."""


def statements(dialect: Dialect) -> list[str]:
    """The statements that make the tables and indexes, and say their version."""
    version = f"SELECT {FORMAT} WHERE NOT EXISTS (SELECT 1 FROM log_format)"
    return [*_made(dialect), f"INSERT INTO log_format (version) {version}"]


def made_by(dialect: Dialect) -> set[str]:
    """The statements of the tables and indexes, as SQLite keeps them."""
    return {one.replace("IF NOT EXISTS ", "") for one in _made(dialect)}


def _made(dialect: Dialect) -> list[str]:
    return [one.strip() for one in TABLES.format(blob=dialect.blob).split(";") if one.strip()]


def columns() -> set[tuple[str, str]]:
    """Each table of a log with each of its columns."""
    tables = re.findall(r"EXISTS (\w+) \((.*?)\n\);", TABLES, re.DOTALL)
    return {
        (table, column)
        for table, body in tables
        for column in re.findall(r"\n    ([a-z]\w+)", body)
    }
