"""Window aggregates and two-step sequences a second time, in Spark SQL.

Rule of this file: nothing of the model is imported or translated; where the model walks through a
stream and keeps a state, this joins, groups and looks at neighbours.  So a mistake in what windows
and sequences mean cannot hide by being made twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession


class Simple(NamedTuple):
    """A query that SQL can express as well; sizes and slides are events or time units.

    windows: "count" (`size` events, every `slide`), "grid" (a start at each multiple of `slide`),
    "anchored" (the first event at or after `slide` since the last start), "opened" (by each `a`).
    Those in time are half-open.
    finds: "how many" (`a` in a window, at its close), or `a` then `b`: "strict" (neighbours),
    "next" (skip till next match), "any" (skip till any match).
    but_not: no such event between the two; empty for none.
    parallel: matches come with their last event, otherwise when the window closes.
    """

    windows: str
    size: int
    slide: int
    finds: str
    a: str
    b: str = ""
    but_not: str = ""
    parallel: bool = True


class SqlMatch(NamedTuple):
    """A match that SQL found.  n: the place of the event that triggered it.  number: of the window,
    from 1.  time: of the trigger.  data: the events, as JSON: [time, type, attributes] each."""

    query: str
    key: str
    n: int
    number: int
    time: int
    data: str


# The hints: Spark knows no size of `simple`, and would send the events to it.
QUESTION = """
WITH stream AS (
  SELECT /*+ BROADCAST(simple) */ *,
    lag(time) OVER line AS time_before, lead(time) OVER line AS time_after
  FROM events JOIN simple USING (query)
  WINDOW line AS (PARTITION BY query, key ORDER BY n)
),

-- The events that open windows.  Where the next start depends on the last one, the starts of a
-- whole stream are folded out of it.
timelines AS (
  SELECT query, key, first(slide) AS slide, array_sort(collect_list(struct(n, time))) AS line
  FROM stream WHERE windows = 'anchored' GROUP BY query, key
),
anchors AS (
  SELECT query, key, explode(aggregate(
    line, CAST(array() AS array<struct<n: bigint, time: bigint>>),
    (kept, e) -> IF(
      cardinality(kept) = 0 OR e.time >= element_at(kept, -1).time + slide,
      concat(kept, array(e)), kept)
  )) AS opener FROM timelines
),
openers AS (
  SELECT query, key, n AS opener, IF(windows = 'grid', time - time % slide, time) AS start
  FROM stream
  WHERE windows = 'count' AND (n - 1) % slide = 0
    OR windows = 'opened' AND type = a
    OR windows = 'grid' AND time % slide < size
      AND (time_before IS NULL OR time_before DIV slide < time DIV slide)
  UNION ALL
  SELECT query, key, opener.n, opener.time FROM anchors
),
numbered AS (
  SELECT *, row_number() OVER (PARTITION BY query, key ORDER BY opener) AS number FROM openers
),

-- A row an event in a window.  A window lies in two stretches of the stream, each as long as a
-- window, so that it need not be compared with every event of its key.
searched AS (
  SELECT /*+ BROADCAST(simple) */ w.*, explode(sequence(
    IF(windows = 'count', opener, start) DIV size,
    (IF(windows = 'count', opener, start) + size - 1) DIV size)) AS stretch
  FROM numbered w JOIN simple USING (query)
),
laid AS (SELECT *, IF(windows = 'count', n, time) DIV size AS stretch FROM stream),
members AS (
  SELECT *, max(n) OVER window AS newest, max(time) OVER window AS newest_time,
    max_by(time_after, n) OVER window AS after
  FROM searched JOIN laid USING (query, key, stretch)
  WHERE n >= opener AND IF(windows = 'count', n < opener + size, time < start + size)
  WINDOW window AS (PARTITION BY query, key, number)
),

-- What the events are among those of their window that matter.  `closer` closes the window: its
-- last event or the next one, NULL while it is open.
ranked AS (
  SELECT *, lag(struct(type, n, time)) OVER past AS before, row_number() OVER past AS at,
    sum(IF(type = a, 1, 0)) OVER past AS count,
    sum(IF(type = but_not, 1, 0)) OVER past AS epoch,
    CASE WHEN windows <> 'count' THEN IF(after IS NULL, NULL, newest + 1)
      WHEN newest = opener + size - 1 THEN newest END AS closer,
    IF(windows = 'count', newest_time, after) AS closed
  FROM members
  WHERE finds IN ('how many', 'strict') OR type IN (a, b, but_not)
  WINDOW past AS (PARTITION BY query, key, number ORDER BY n)
),
-- begin: the first of the neighbouring `a` that came last; streak: how many they are.
seen AS (
  SELECT *, max(IF(type = a AND before.type IS DISTINCT FROM a, struct(n, time), NULL))
      OVER past AS begin,
    at - coalesce(max(IF(type <> a, at, NULL)) OVER past, 0) AS streak,
    collect_list(IF(finds = 'any' AND type = a, time, NULL)) OVER (
      PARTITION BY query, key, number, epoch ORDER BY n
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS earlier
  FROM ranked
  WINDOW past AS (PARTITION BY query, key, number ORDER BY n)
),
matched AS (
  SELECT query, key, number, a, b, finds, count, time AS last,
    IF(parallel AND finds <> 'how many', n, closer) AS n,
    IF(parallel AND finds <> 'how many', time, closed) AS time,
    CASE WHEN finds = 'how many' THEN IF(n = newest, array(time), NULL)
      WHEN finds = 'any' THEN IF(type = b, earlier, NULL)
      WHEN a = b THEN IF(type = a AND streak % 2 = 0, array(before.time), NULL)
      WHEN type = b AND before.type = a
        THEN array(IF(finds = 'strict', before.time, begin.time))
    END AS firsts
  FROM seen
)
SELECT query, key, n, number, time,
  IF(finds = 'how many',
    concat('[[', last, ',"events",[["count",', count, ']]]]'),
    concat('[[', first, ',"', a, '",[]],[', last, ',"', b, '",[]]]')) AS data
FROM matched LATERAL VIEW explode(firsts) AS first
WHERE n IS NOT NULL
"""


def answer(
    spark: SparkSession, queries: Iterable[tuple[str, Simple]], events: DataFrame
) -> list[SqlMatch]:
    """The matches of the queries in the events (query, key, n, time, type) of their names, sorted.
    `n` is the place in the stream of (query, key), from 1."""
    spark.createDataFrame(
        [(name, *simple) for name, simple in queries],
        "query string, windows string, size long, slide long, finds string, a string, b string,"
        " but_not string, parallel boolean",
    ).createOrReplaceTempView("simple")
    wanted = ("query", "key", "n", "time", "type")
    events.select(*wanted).createOrReplaceTempView("events")
    frame = spark.sql(QUESTION).toPandas()
    return sorted(map(SqlMatch._make, frame.itertuples(index=False, name=None)))
