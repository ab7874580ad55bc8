"""The findings about LOG.io: writes that take time, and an operator with two processes.

Rule of this file: findings as data; docs/explanation/findings/log-io.md explains them.
"""

from __future__ import annotations

from model.finding import ByScope, Finding, FindingTable, Judgement

WRITES = FindingTable(
    "Writes under way, and two processes",
    (
        Finding(
            (
                "A write is checkable if the operator is able to access the status of the write "
                "action in the external system; the pending writes are done exactly once"
            ),
            Judgement.CONDITIONAL,
            section="4.3, Algorithm 8",
            quotes=("able to access the status of the write action in the external system",),
            remark=(
                "right if no older request takes effect after the answer no; a request that is "
                "under way takes effect later, and the write is executed twice"
            ),
            witnesses=(
                ByScope("log-io:slow-writes", "a relay", "a payment of one second"),
                ByScope(
                    "log-io:slow-writes-awaited-in-one-connection",
                    "a relay",
                    "the question waits in its own connection alone",
                ),
            ),
            mend=(
                "the question waits until all requests before it have taken effect, or its answer "
                "no is final: an older request is refused"
            ),
            mended=("log-io:slow-writes-awaited", "log-io:slow-writes-final"),
        ),
        Finding(
            "If the write action is idempotent, a correct rollback recovery is still possible",
            Judgement.CONDITIONAL,
            section="4.3",
            quotes=(
                "the write action is idempotent, a correct rollback recovery is still possible",
            ),
            remark=(
                "right if requests take effect in the order in which they were sent, also through "
                "another connection; else w1 of before the restart comes after w2: w1 w2 w1"
            ),
            witnesses=(ByScope("log-io:slow-idempotent-writes-without-order", "a relay"),),
            mend="requests take effect in their order",
            mended=("log-io:slow-idempotent-writes",),
        ),
        Finding(
            (
                "When an operator in a group (pod) fails, the Deployment Engine recreates the "
                "failed pod"
            ),
            Judgement.SILENT,
            section="6.4; 7.1",
            quotes=(
                "When an operator in a group (pod) fails, the Deployment Engine recreates the "
                "failed pod",
            ),
            remark=(
                "an operator that is cut off, or slow, is taken for dead: two processes take the "
                "same events and execute the same write; a transaction that fails without inputs "
                "(3.5.1) does not prevent it"
            ),
            witnesses=(
                ByScope("log-io:two-processes-without-a-rule", "an event and one fault"),
                ByScope("log-io:two-processes-published", "an event and one fault", "with 3.5.1"),
            ),
            mend=(
                "an epoch of each process that restores the operator; the log refuses the "
                "transactions of an older one, external systems its writes"
            ),
            mended=("log-io:two-processes", "log-io:two-processes-and-idempotent-writes"),
        ),
        Finding(
            "(mend) an epoch that every transaction of the log checks",
            Judgement.CONDITIONAL,
            remark=(
                "enough between operators, whose events have numbers; too late for a write: the "
                "older process has logged it, the newer one asks, gets no, and has it executed, "
                "and then the older one sends it; a lease has the same gap, unless a request "
                "takes less time than the lease has left"
            ),
            witnesses=(
                ByScope(
                    "log-io:two-processes-with-epochs-in-the-log",
                    "a relay before another one",
                    "between operators",
                ),
                ByScope("log-io:two-processes-with-epochs-in-the-log", "an event and one fault"),
                ByScope(
                    "log-io:two-processes-with-epochs-in-the-log-and-idempotent-writes",
                    "a relay and one fault",
                    "idempotent writes",
                ),
            ),
            mend="external systems check the epoch, too",
            mended=("log-io:two-processes",),
        ),
    ),
)
