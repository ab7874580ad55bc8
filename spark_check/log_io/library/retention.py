"""Which lineage is kept: that of the outputs of the last so many seconds.

Rule of this file: rows are deleted here that only lineage needs; recovery never misses one.

LOG.io, Section 3.6: "the lineage of events along the data lineage paths defined by a data lineage
scope is kept for the output events produced at port p within a sliding window of time".  Kept are
the outputs at the ends of scopes that are younger than that, everything behind them, and
everything behind an undone event, which may come to be behind an output.
"""

from __future__ import annotations

from spark_check.log_io.library.guard.accounts import ADD, EVENTS, LINEAGE, Account
from spark_check.log_io.library.log import Log
from spark_check.log_io.library.schema import ROWS
from spark_check.log_io.library.values import LogError

SAME = """{0}.send_op = {1}.send_op AND {0}.send_port = {1}.send_port
    AND {0}.rec_port = {1}.rec_port AND {0}.event_id = {1}.event_id"""
TABLE = """CREATE TEMPORARY TABLE kept (
    send_op TEXT, send_port TEXT, rec_port TEXT, event_id BIGINT,
    PRIMARY KEY (send_op, send_port, rec_port, event_id))"""
KEEP = f"""INSERT INTO kept
    WITH RECURSIVE found (send_op, send_port, rec_port, event_id) AS (
        SELECT send_op, send_port, rec_port, event_id FROM event_data
        WHERE logged_at >= ? AND (send_op,
            CASE send_port WHEN '' THEN rec_port ELSE send_port END) IN (VALUES {{ends}})
        UNION SELECT send_op, send_port, rec_port, event_id FROM event_log WHERE status = 'undone'
        UNION SELECT log.send_op, log.send_port, log.rec_port, log.event_id
        FROM found CROSS JOIN event_lineage AS made CROSS JOIN event_log AS log
        WHERE {SAME.format("made", "found")} AND log.rec_op = made.send_op
            AND log.status = 'done' AND log.inset_id + 0 = made.inset_id + 0)
    SELECT send_op, send_port, rec_port, event_id FROM found"""
UNUSED = f"""logged_at < ?
    AND NOT EXISTS (SELECT 1 FROM kept WHERE {SAME.format("kept", "event_data")})
    AND NOT EXISTS (SELECT 1 FROM event_log AS log WHERE {SAME.format("log", "event_data")})
    AND NOT EXISTS (SELECT 1 FROM read_action AS action WHERE rec_port = ''
        AND action.op_id = send_op AND action.conn_id = send_port
        AND action.action_id = event_id)"""
FORGET_EVENTS, FORGET_LINEAGE = (
    f"""DELETE FROM event_log WHERE status = 'done'
        AND NOT EXISTS (SELECT 1 FROM kept WHERE {SAME.format("kept", "event_log")})
        AND EXISTS (SELECT 1 FROM event_data AS data
            WHERE {SAME.format("data", "event_log")} AND data.logged_at < ?) RETURNING checksum""",
    f"""DELETE FROM event_lineage WHERE EXISTS (SELECT 1 FROM event_data
        WHERE {SAME.format("event_lineage", "event_data")} AND {UNUSED}) RETURNING checksum""",
)
FORGET = (
    # The effect of a source's read is drop_read_action's.
    f"DELETE FROM event_data WHERE {UNUSED}",
    """DELETE FROM state WHERE logged_at < ?
        AND state_id < (SELECT MAX(last.state_id) FROM state AS last
            WHERE last.op_id = state.op_id)
        AND NOT EXISTS (SELECT 1 FROM event_data AS data WHERE data.send_op = state.op_id
            AND data.send_port = '' AND data.rec_port = '' AND data.event_id = state.state_id)""",
)

NOBODY = """INSERT INTO log_account (op_id, epoch, holder, held_since, transactions, events,
    lineage, actions, checksum, state_checksum) VALUES ('', 0, '', '', 0, 0, 0, 0, 0, 0)
    ON CONFLICT (op_id) DO NOTHING"""
"""The account of nobody: of rows that no operator removes."""


def forget_lineage(log: Log, older_than_s: float) -> None:
    """Delete what only the lineage of older outputs needs, in one transaction.

    older_than_s: a moment of the log's clock.  The operators may run on meanwhile: an event that
    is logged meanwhile is younger, and one that is undone is kept with what is behind it.
    """
    ends = sorted(log.capture.ends)
    if not ends:
        return  # nothing is captured: 3.6 has removed everything at once
    listed = ", ".join("(?, ?)" for _ in ends)
    ports = [name for port in ends for name in port]
    with log.database.transaction():
        log.database.execute(TABLE)
        log.database.change(KEEP.format(ends=listed), (older_than_s, *ports))
        account = Account()
        for table, statement in ((EVENTS, FORGET_EVENTS), (LINEAGE, FORGET_LINEAGE)):
            rows = log.database.execute(statement, (older_than_s,))
            account.remove(table, (one for (one,) in rows))
        for statement in FORGET:
            log.database.change(statement, (older_than_s,))
        log.database.execute(NOBODY)
        log.database.change(ADD, account.parameters("", 0))
        log.database.execute("DROP TABLE kept")


def forget_everything(log: Log) -> None:
    """Empty a log, in one transaction: its pipeline begins as new.

    Raises LogError, and deletes nothing, if another process runs one of its operators, or comes to
    run one before the end of the transaction.
    """
    operators = _operators(log)
    log.take(*operators)  # it may wait, as nobody does in a transaction
    with log.begin_transaction() as transaction:
        transaction.hold(*operators)
        for table in ROWS:
            log.database.change(f"DELETE FROM {table}")
        log.database.change(
            "UPDATE log_account SET events = 0, lineage = 0, actions = 0, checksum = 0,"
            " state_checksum = 0"
        )
        if begun := sorted({*_operators(log)} - {*operators}):
            raise LogError(f"{begun[0]}: another process has begun to run it: empty the log again")


def _operators(log: Log) -> list[str]:
    rows = log.database.execute("SELECT op_id FROM log_account WHERE op_id <> '' ORDER BY op_id")
    return [name for (name,) in rows]
