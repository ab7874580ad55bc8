"""Rows whose floats differ by little: they are given the floats of the row that they stand for.

Rule of this file: it decides which rows are close, on Spark; afterwards rows are compared exactly.

Numbers a and b are close if |a - b| <= close * max(1, |a|, |b|): close is a relative tolerance, and
an absolute one below 1.  A row is close to another if all floats are, and all other columns agree.
Floats in arrays, structs and maps are compared exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from math import isnan

import pandas as pd
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from model.errors import Invalid
from spark_check.traces.columns import FILE, FLOATING, ROW, ComparedLogs, digest
from spark_check.traces.fields import col
from spark_check.traces.near import Numbers, close_rows

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
    found = (
        new.groupBy(*rest)
        .cogroup(reference.groupBy(*rest))
        .applyInPandas(partial(_meant, close), FOUND)
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


FOUND = "_asif_d1 long, _asif_d2 long, floats array<double>, rows int, _asif_by array<double>"


def _meant(close: float, new: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    """The rows of `new` that are close to a known one, with its floats, and to how many: 1 or 2."""
    others = [_numbers(row) for row in known["floats"]]
    found = close_rows([_numbers(row) for row in new["floats"]], others, close)
    near = [*found]
    hit = new.assign(rows=[len(one) for one in near], at=[one[0] if one else -1 for one in near])
    hit = hit[hit["rows"] > 0]
    by = [known["floats"].iloc[at] for at in hit["at"]]
    return hit.assign(_asif_by=by)[["_asif_d1", "_asif_d2", "floats", "rows", "_asif_by"]]


def _numbers(row: Iterable[float | None]) -> Numbers:
    """Numbers that are equal if Spark calls them the same: NaN equals NaN."""
    return tuple(None if one is None else "NaN" if isnan(one) else float(one) for one in row)


def is_close_to_two(close: float, floats: dict[str, float | None]) -> Invalid:
    values = ", ".join(f"{name}={value}" for name, value in floats.items())
    return Invalid(
        f"--close {close:g}: a row of ACTUAL with {values} is close to two different rows of "
        "REFERENCE; a smaller tolerance decides which one is meant"
    )
