"""What a replay operator logs when it generates outputs.

Rule of this file: the adapted step 4 of Algorithm 3, and no other.
LOG.io, Sections 5.1 and 5.2.
"""

from __future__ import annotations

from model.core import Effect, Send, Site
from model.protocols.log_io.design import Logs
from model.protocols.log_io.messages import Commit, transaction
from model.protocols.log_io.places import LOG
from model.protocols.log_io.replaying.messages import LogData


def log_a_part(
    site: Site, commits: tuple[Commit, ...], effects: tuple[Effect, ...]
) -> tuple[Effect, ...]:
    """Steps 4 to 6: the transaction has the data of writes alone.

    effects: of steps 5 and 6.
    """
    rows = tuple(row for commit in commits for row in commit.outputs)
    logged = Send(LOG, transaction(tuple(_without_data(site, one) for one in commits)))  # step 4
    if site.spec.design.replaying.logs is Logs.DATA:  # optimistic logging
        return (logged, *effects, Send(LOG, LogData(rows)))
    return (logged, *effects)


def _without_data(site: Site, commit: Commit) -> Commit:
    sinks, rows = site.spec.sinks, commit.outputs
    bare = tuple(row if row.receiver in sinks else row._replace(body=None) for row in rows)
    return commit._replace(outputs=bare)
