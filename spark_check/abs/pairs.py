"""The operator of the query, as Spark calls it for the events of one type.

Rule of this file: it imports little, since each task imports it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pandas as pd
from pyspark.sql.streaming.state import GroupState

from spark_check.log_io.external import WrittenPair


def pair(
    key: tuple[str], parts: Iterable[pd.DataFrame], state: GroupState
) -> Iterator[pd.DataFrame]:
    """The pairs of a type.  State: the event that waits for another one; 0: none."""
    waiting = state.get[0] if state.exists else 0
    found = []
    for number in sorted(pd.concat(parts)["number"].tolist()):
        if waiting:
            found.append((key[0], waiting, number))
        waiting = 0 if waiting else number
    state.update((waiting,))
    yield pd.DataFrame(found, columns=pd.Index(WrittenPair._fields))
