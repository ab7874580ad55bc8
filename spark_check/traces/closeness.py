"""Rows whose floats differ by little: they are given the floats of the row that they stand for.

Rule of this file: it decides which rows are close, on Spark; afterwards rows are compared exactly.

Numbers a and b are close if |a - b| <= close * max(1, |a|, |b|): close is a relative tolerance, and
an absolute one below 1.  A row is close to another if all floats are, and all other columns agree.
Floats in arrays, structs and maps are compared exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import inf

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from model.errors import Invalid
from spark_check.traces.columns import FILE, FLOATING, ROW, ComparedLogs, digest
from spark_check.traces.fields import col

NO_FLOATS = "no column that is compared holds floats"


def replace_close(both: ComparedLogs, close: float) -> ComparedLogs:
    """Rows of ACTUAL that REFERENCE does not hold get the floats of the row that they are close to.

    Raises Invalid if no column holds floats, or a row is close to two different ones.
    """
    floats = [name for name, type_ in both.compared if isinstance(type_, FLOATING)]
    exact = [column for column in both.compared if column[0] not in floats]
    if not floats:
        raise Invalid(f"--close {close:g}: {NO_FLOATS}")
    content = {"_asif_d1": digest(3, both.compared), "_asif_d2": digest(4, both.compared)}
    rest = {"e1": digest(5, exact), "e2": digest(6, exact)}
    reference, actual = (
        frame.select(
            *(value.alias(name) for name, value in {**content, **rest}.items()),
            F.array(*(col(name).cast(T.DoubleType()) for name in floats)).alias("floats"),
        ).distinct()
        for frame in (both.reference, both.actual)
    )
    new = actual.join(reference, [*content], "left_anti")
    by = F.struct(F.col("floats").alias("_asif_by"), *content)
    pairs = new.join(reference.select(*rest, by.alias("meant")), [*rest])
    found = (
        pairs.where(_are_close(F.col("floats"), F.col("meant._asif_by"), len(floats), close))
        .groupBy(*content, "floats")
        .agg(F.count("*").alias("rows"), F.first("meant._asif_by").alias("_asif_by"))
        .persist()
    )
    if undecided := found.where("rows > 1").first():
        raise is_close_to_two(close, dict(zip(floats, undecided["floats"], strict=True)))
    digests = [value.alias(name) for name, value in content.items()]
    joined = both.actual.select("*", *digests).join(
        found.select(*content, "_asif_by"), [*content], "left"
    )
    return both._replace(
        actual=joined.select(
            *(_replaced(name, both, floats) for name, _ in both.columns), FILE, ROW
        )
    )


def _replaced(name: str, both: ComparedLogs, floats: Sequence[str]) -> Column:
    """The column; a float of the row that is meant, if there is one."""
    if name not in floats:
        return col(name)
    meant = F.col("_asif_by")[floats.index(name)].cast(dict(both.columns)[name])
    return F.when(F.col("_asif_by").isNull(), col(name)).otherwise(meant).alias(name)


def _are_close(one: Column, other: Column, count: int, close: float) -> Column:
    """Are these so many numbers close, one by one?"""
    parts = []
    for at in range(count):
        a, b = one[at], other[at]
        off = F.abs(a - b)
        near = (off < inf) & (off <= close * F.greatest(F.lit(1.0), F.abs(a), F.abs(b)))
        parts.append(a.eqNullSafe(b) | F.coalesce(near, F.lit(False)))
    return reduce(Column.__and__, parts)


def is_close_to_two(close: float, floats: dict[str, float | None]) -> Invalid:
    values = ", ".join(f"{name}={value}" for name, value in floats.items())
    return Invalid(
        f"--close {close:g}: a row of ACTUAL with {values} is close to two different rows of "
        "REFERENCE; a smaller tolerance decides which one is meant"
    )
