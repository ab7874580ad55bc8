"""Rows whose floats differ by little: they are given the floats of the row that they stand for.

Rule of this file: it decides which rows are close, on Spark; afterwards rows are compared exactly.

Numbers a and b are close if |a - b| <= close * max(1, |a|, |b|): close is a relative tolerance, and
an absolute one below 1.  A row is close to another if all floats are, and all other columns agree.
Floats in arrays, structs and maps are compared exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pandas as pd
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from model.errors import Invalid
from spark_check.traces.columns import FILE, FLOATING, ROW, ComparedLogs, digest
from spark_check.traces.fields import col
from spark_check.traces.near import close_rows

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
    numbers = [col(name).cast(T.DoubleType()) for name in floats]
    rest = {
        "e1": digest(5, exact),
        "e2": digest(6, exact),
        "no_number": F.array(*(number.isNull() for number in numbers), *map(F.isnan, numbers)),
    }
    reference, actual = (
        frame.select(
            *(value.alias(name) for name, value in {**content, **rest}.items()),
            F.array(*map(_number, numbers)).alias("floats"),
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
    digests = [value.alias(name) for name, value in content.items()]
    joined = both.actual.select("*", *digests).join(found, [*content], "left")
    if found.where("rows > 1").first():
        undecided = joined.where("rows > 1").select(*numbers).first()
        raise is_close_to_two(close, dict(zip(floats, undecided or (), strict=True)))
    return both._replace(
        actual=joined.select(
            *(_replaced(name, both, floats) for name, _ in both.columns), FILE, ROW
        )
    )


def _replaced(name: str, both: ComparedLogs, floats: Sequence[str]) -> Column:
    """The column; a number of the row that is meant, if there is one."""
    if name not in floats:
        return col(name)
    meant = F.col("_asif_by")[floats.index(name)].cast(dict(both.columns)[name])
    stays = F.col("_asif_by").isNull() | col(name).isNull() | F.isnan(col(name))
    return F.when(stays, col(name)).otherwise(meant).alias(name)


def _number(value: Column) -> Column:
    """0 for null and NaN, which pandas takes for the same: rows are grouped by them before."""
    return F.when(value.isNull() | F.isnan(value), 0.0).otherwise(value)


FOUND = "_asif_d1 long, _asif_d2 long, rows int, _asif_by array<double>"


def _meant(close: float, new: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    """The rows of `new` that are close to a known one, with its floats, and to how many: 1 or 2."""
    found = [*close_rows([*map(tuple, new["floats"])], [*map(tuple, known["floats"])], close)]
    hit = new.assign(rows=[len(one) for one in found])
    hit = hit[hit["rows"] > 0]
    by = [known["floats"].iloc[one[0]] for one in found if one]
    hit = hit.assign(_asif_by=pd.Series(by, hit.index, object))  # of lists, also if there are none
    return hit[["_asif_d1", "_asif_d2", "rows", "_asif_by"]]


def is_close_to_two(close: float, floats: dict[str, float | None]) -> Invalid:
    values = ", ".join(f"{name}={value}" for name, value in floats.items())
    return Invalid(
        f"--close {close:g}: a row of ACTUAL with {values} is close to two different rows of "
        "REFERENCE; a smaller tolerance decides which one is meant"
    )
