"""Lineage: which inputs each row was made of, and the recovery type of a stream that says so.

Rule of this file: `model.recovery.beside` decides; each stream that is not precise is handed to it
whole, in the memory of one task.  A row is as in `spark_check.traces.streams`, with `of`: digests
of its inputs.
"""

from __future__ import annotations

import pandas as pd
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

from model.boxes.box import Of, Out
from model.core import Guarantee
from model.errors import Invalid
from model.events import Body
from model.recovery import beside, inputs_of

INPUTS = T.ArrayType(T.StringType())
JUDGED = "k long, by_lineage int, lost long"


def inputs(column: Column, name: str, type_: T.DataType) -> Column:
    """The inputs of a row as texts.  Raises Invalid if values of this type name none."""
    if isinstance(type_, T.StringType):
        found = F.split(column, r"\s+")
    elif isinstance(type_, T.ArrayType) and isinstance(type_.elementType, T.AtomicType):
        found = column.cast(INPUTS)
    elif isinstance(type_, T.AtomicType):
        found = F.array(column.cast("string"))
    else:
        raise Invalid(
            f"--lineage {name}: a column of {type_.simpleString()} names no inputs; an array does, "
            "and so does text with spaces between them"
        )
    named = F.filter(found, lambda one: one.isNotNull() & (one != ""))
    return F.coalesce(named, F.array().cast(INPUTS))


def digest_inputs(column: Column) -> Column:
    return F.transform(column, lambda one: F.xxhash64(one))


def judge_streams(rows: DataFrame, streams: DataFrame) -> DataFrame:
    """Per stream that has lineage and is not precise: JUDGED."""
    made = rows.where("side = 1 and size(of) > 0").select("k").distinct()
    left = streams.where(F.col("guarantee") != Guarantee.PRECISE.value).select("k")
    place = F.col("place")
    if "o" in rows.columns:
        place = F.dense_rank().over(Window.partitionBy("k").orderBy("o")).cast("long")
    chosen = rows.join(left.join(made, "k"), "k", "left_semi")
    return (
        chosen.select("k", "side", place.alias("place"), "d1", "d2", "of")
        .groupBy("k")
        .applyInPandas(_judge, JUDGED)
    )


def _judge(rows: pd.DataFrame) -> pd.DataFrame:
    """The type of one stream, and how many inputs of its reference went into no actual row.

    Rows that tie have no order; those of the reference come first.
    """
    known = set(zip(rows["d1"], rows["d2"], rows["side"], strict=True))
    foreign = [(d1, d2, 0) not in known for d1, d2 in zip(rows["d1"], rows["d2"], strict=True)]
    rows = rows.assign(foreign=foreign).sort_values(["place", "foreign", "d1", "d2"])
    expected, observed = (_outs(rows[rows["side"] == side]) for side in (0, 1))
    lost = len(inputs_of(expected) - inputs_of(observed))
    return pd.DataFrame(
        {"k": rows["k"][:1], "by_lineage": [beside(expected, observed).value], "lost": [lost]}
    )


def _outs(rows: pd.DataFrame) -> list[Out]:
    columns = zip(rows["d1"], rows["d2"], rows["of"], strict=True)
    return [
        Out(Body(0, "", (int(d1), int(d2))), frozenset(Of(0, int(one)) for one in of))
        for d1, d2, of in columns
    ]
