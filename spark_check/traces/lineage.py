"""Lineage: which inputs each row was made of, and the recovery type of a stream that says so.

Rule of this file: `model.recovery.beside` decides; each stream that is not precise is handed to it
whole, in the memory of one task.  A row is as in `spark_check.traces.streams`, with `of`: digests
of its inputs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

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
    """Per stream whose rows all name inputs and that is not precise: JUDGED."""
    unknown = rows.where("size(of) = 0").select("k").distinct()
    left = streams.where(F.col("guarantee") != Guarantee.PRECISE.value).select("k")
    place = F.col("place")
    if "o" in rows.columns:
        place = F.dense_rank().over(Window.partitionBy("k").orderBy("o")).cast("long")
    chosen = rows.join(left.join(unknown, "k", "left_anti"), "k", "left_semi")
    return (
        chosen.select("k", "side", place.alias("place"), "d1", "d2", "of")
        .groupBy("k")
        .applyInPandas(_judge, JUDGED)
    )


def _judge(rows: pd.DataFrame) -> pd.DataFrame:
    type_, lost = judge_stream(rows)
    return pd.DataFrame({"k": rows["k"][:1], "by_lineage": [type_.value], "lost": [lost]})


def judge_stream(rows: pd.DataFrame) -> tuple[Guarantee, int]:
    """The type of one stream, and how many inputs of its reference went into no actual row."""
    expected, observed = (_by_place(rows[rows["side"] == side]) for side in (0, 1))
    want = [out for place in sorted(expected) for out in sorted(expected[place], key=_body)]
    got = _settle_ties(expected, observed)
    lost = len(inputs_of(want) - inputs_of(got))
    return beside(want, got), lost


def _by_place(rows: pd.DataFrame) -> dict[int, list[Out]]:
    found: dict[int, list[Out]] = {}
    columns = zip(rows["place"], rows["d1"], rows["d2"], rows["of"], strict=True)
    for place, d1, d2, of in columns:
        out = Out(Body(0, "", (int(d1), int(d2))), frozenset(Of(0, int(one)) for one in of))
        found.setdefault(place, []).append(out)
    return found


def _settle_ties(
    expected: Mapping[int, Sequence[Out]], observed: Mapping[int, Sequence[Out]]
) -> list[Out]:
    """The observed rows in an order in which they are of the strongest type.

    Rows at one place have no order.  So the expected ones come first, and all others are duplicates
    if they can be: of equal rows those that name inputs of their own are not.
    """
    found: list[Out] = []
    made: set[Of] = set()
    for place in sorted({*expected, *observed}):
        here = expected.get(place, ())
        made |= inputs_of(here)
        left = Counter(map(_body, here))
        others = []
        for out in sorted(observed.get(place, ()), key=lambda out: (_body(out), out.of <= made)):
            if left[_body(out)]:
                left[_body(out)] -= 1
                found.append(out)
            else:
                others.append(out)
        found += others
    return found


def _body(out: Out) -> tuple[int, int]:
    """The digests of the content."""
    return out.body.data
