"""Columns of two logs: read alike, checked whether they compare, and made into digests.

Rule of this file: it decides when two rows are the same, and nothing else.

A row is compared by all columns but those to be ignored.  Values are the same if Spark's `<=>` says
so: null equals null and nothing else, NaN equals NaN, 0.0 equals -0.0, and any other floats are
compared exactly.  Arrays, structs and maps are compared by their JSON text.  Text files have no
types: CSV is compared as text (1.0 and 1 differ), unless the other log has types, which then hold
for both.  Whole numbers of different widths compare, as do floats of different widths.

Rows are compared by digests of 128 bits (two xxHash64 with different seeds), streams and identities
by 64: two different rows among 10^9 pass for the same with a chance below 10^-20, two streams among
10^6 with one below 10^-7.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

from model.comparison import Shape
from model.errors import Invalid
from spark_check.traces.fields import col, drop, known, type_without
from spark_check.traces.lineage import INPUTS, digest_inputs, inputs
from spark_check.traces.logs import OutputLog
from spark_check.traces.roles import ColumnRoles, check_names
from spark_check.traces.unreadable import explain_errors

FILE, ROW = "_asif_file", "_asif_row"
BLOCK_BYTES = 1 << 24
"""Text is read in blocks of this size, and Parquet in no larger ones."""
FILE_BITS, BLOCK_BITS, TASK_BITS = 40, 26, 33
"""A place: number of the file, then number of the row in a Parquet file or, in a text file, of the
block and of the row in the task that reads it.  A task reads no more than BLOCK_BYTES, unless a
file is packed and cannot be divided, and is one block.  Places grow along a log, with holes."""

READING = {
    "spark.sql.caseSensitive": "true",
    "spark.sql.ansi.enabled": "true",  # text that is no number fails, and does not become null
    "spark.sql.files.maxPartitionBytes": str(BLOCK_BYTES),
    "spark.sql.files.minPartitionNum": "1",  # or else blocks would be of any size
    "spark.sql.csv.parser.columnPruning.enabled": "false",  # each line is read, and is whole
    "spark.sql.legacy.parquet.nanosAsLong": "true",  # pandas writes nanoseconds, unknown to Spark
}
"""The settings of Spark on which this file relies."""


class ComparedLogs(NamedTuple):
    """Two logs read alike; `columns` are (name, type) of all columns that are used, in order."""

    reference: DataFrame
    actual: DataFrame
    columns: tuple[tuple[str, T.DataType], ...]
    asked: ColumnRoles

    @property
    def compared(self) -> tuple[tuple[str, T.DataType], ...]:
        left_out = (*self.asked.ignore, *self.asked.lineage)
        return tuple(column for column in self.columns if column[0] not in left_out)


def read_alike(
    spark: SparkSession,
    reference: OutputLog,
    actual: OutputLog,
    asked: ColumnRoles,
    *,
    as_numbers: bool = False,
) -> ComparedLogs:
    """as_numbers: columns of two CSV logs are floats if all of their values are numbers, and not
    all of them whole.  Raises Invalid if a column is missing, or the two cannot be compared."""
    logs = (reference, actual)
    schemas = [_schema(spark, log) for log in logs]
    check_names(asked, logs, [known(schema) for schema in schemas])
    types: dict[str, T.DataType] = {}
    for name in schemas[0].names:
        if name in asked.lineage:
            types[name] = INPUTS
        elif name not in asked.ignore or name in asked.order:
            types[name] = _common(spark, name, logs, schemas, asked)
    for name in asked.order:
        if not isinstance(types[name], T.AtomicType):
            kind = types[name].simpleString()
            raise Invalid(f"--order {name}: a column of {kind} has no order; a number or time has")
    if all(log.format == "json" for log in logs):  # objects in them may have different fields
        schemas = [_widened(schema, types, asked) for schema in schemas]
    read = [_read(spark, log, schema) for log, schema in zip(logs, schemas, strict=True)]
    frames = [
        frame.select(*(_used(n, t, schema, asked).alias(n) for n, t in types.items()), FILE, ROW)
        for frame, schema in zip(read, schemas, strict=True)
    ]
    both = ComparedLogs(frames[0], frames[1], tuple(types.items()), asked)
    if as_numbers and all(log.format == "csv" for log in logs):
        return _floats_of_text(both)
    return both


def _floats_of_text(both: ComparedLogs) -> ComparedLogs:
    names = [name for name, _ in both.compared]
    floats = {name for name, kind in numeric_columns(both, names).items() if kind == "double"}
    columns = tuple((n, T.DoubleType() if n in floats else t) for n, t in both.columns)
    frames = [
        frame.select(*(col(n).cast(t).alias(n) for n, t in columns), FILE, ROW)
        for frame in (both.reference, both.actual)
    ]
    return both._replace(reference=frames[0], actual=frames[1], columns=columns)


def _used(name: str, type_: T.DataType, schema: T.StructType, asked: ColumnRoles) -> Column:
    if name in asked.lineage:
        return inputs(col(name), name, schema[name].dataType)
    type_here = schema[name].dataType
    left = drop(col(name), type_here, asked.ignored_fields(name, schema.names))
    return left.cast(type_)


def _widened(
    schema: T.StructType, types: Mapping[str, T.DataType], asked: ColumnRoles
) -> T.StructType:
    """The schema with the types that both logs have."""
    fields = [
        T.StructField(one.name, one.dataType if one.name in asked.lineage else types[one.name])
        if one.name in types
        else one
        for one in schema
    ]
    return T.StructType(fields)


# --- reading ---------------------------------------------------------------------------------
def _schema(spark: SparkSession, log: OutputLog) -> T.StructType:
    if log.format == "csv":
        return T.StructType([T.StructField(name, T.StringType()) for name in log.names])
    with explain_errors(f"{log.side} {log.root}", log):
        return _frame(spark, log, None).schema


def _frame(spark: SparkSession, log: OutputLog, schema: T.StructType | None) -> DataFrame:
    reader = spark.read.format(log.format).option("mode", "FAILFAST")
    if log.root.is_dir():
        reader = reader.option("basePath", str(log.root.resolve()))
    if log.format == "parquet":
        reader = reader.option("mergeSchema", True)
    if log.format == "csv":
        reader = reader.option("header", True).option("escape", '"')
    if schema is not None:
        reader = reader.schema(schema)
    return reader.load([str(file.resolve()) for file in log.files])


def _read(spark: SparkSession, log: OutputLog, schema: T.StructType) -> DataFrame:
    """The rows with their place: FILE, a path, and ROW, a number that grows along the file."""
    if log.format == "parquet":
        row = F.col("_metadata.row_index")
    else:
        block = F.floor(F.col("_metadata.file_block_start") / BLOCK_BYTES).cast("long")
        counted = F.monotonically_increasing_id().bitwiseAND((1 << TASK_BITS) - 1)
        row = F.shiftleft(block, BLOCK_BITS) + counted
    return _frame(spark, log, schema).select(
        "*", F.col("_metadata.file_path").alias(FILE), row.alias(ROW)
    )


# --- comparable? -----------------------------------------------------------------------------
WHOLE = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)
FLOATING = (T.FloatType, T.DoubleType)


def _common(
    spark: SparkSession,
    name: str,
    logs: Sequence[OutputLog],
    schemas: Sequence[T.StructType],
    asked: ColumnRoles,
) -> T.DataType:
    """A type that both columns have without loss, and without the fields that are ignored."""
    one, other = (
        type_without(name, schema[name].dataType, asked.ignored_fields(name, schema.names))
        for schema in schemas
    )
    if one == other:
        return one
    formats = [log.format for log in logs]
    if "csv" in formats:
        typed = other if formats[0] == "csv" else one
        if isinstance(typed, T.AtomicType) and not isinstance(typed, T.BinaryType):
            return typed
    if formats == ["json", "json"]:  # one may be all null, or all whole: infer from both
        files = tuple(file for log in logs for file in log.files)
        both = logs[0]._replace(files=files, root=files[0])
        wide = _frame(spark, both, None).schema
        return type_without(name, wide[name].dataType, asked.ignored_fields(name, wide.names))
    for family, widest in ((WHOLE, T.LongType()), (FLOATING, T.DoubleType())):
        if isinstance(one, family) and isinstance(other, family):
            return widest
    kinds = f"{one.simpleString()} in REFERENCE and {other.simpleString()} in ACTUAL"
    raise Invalid(f"column {name} is {kinds}, which cannot be compared (--ignore {name} would do)")


# --- digests ---------------------------------------------------------------------------------
def digest(seed: int, columns: Iterable[tuple[str, T.DataType]]) -> Column:
    """64 bits of the values of some columns.

    xxhash64 alone passes over nulls, so that (null, 1) and (1, null) would be the same.
    """
    return hash_value(seed, [(col(name), type_) for name, type_ in columns])


def hash_value(seed: int, values: Iterable[tuple[Column, T.DataType]]) -> Column:
    """64 bits of some values."""
    parts = [F.lit(seed)]
    for column, type_ in values:
        value = column
        if not isinstance(type_, T.AtomicType):
            value = F.to_json(F.struct(value), {"ignoreNullFields": "false"})
        parts += [column.isNull(), value]
    return F.xxhash64(*parts)


def digest_rows(both: ComparedLogs, side: int, rank: Sequence[Column]) -> DataFrame:
    """The rows of one log: k (stream), i (identity), d1 and d2 (content), side, o (the sort key),
    of (the inputs, if there is lineage) and row, all columns.
    """
    frame = (both.reference, both.actual)[side]
    types = dict(both.columns)

    def some(names: Sequence[str]) -> list[tuple[str, T.DataType]]:
        return [(name, types[name]) for name in names]

    named = both.asked.identity
    return frame.select(
        digest(1, some(both.asked.key)).alias("k"),
        (digest(2, some((*both.asked.key, *named))) if named else F.lit(0)).cast("long").alias("i"),
        digest(3, both.compared).alias("d1"),
        digest(4, both.compared).alias("d2"),
        F.lit(side).alias("side"),
        F.struct(*rank).alias("o") if rank else F.lit(None).alias("o"),
        *(digest_inputs(col(name)).alias("of") for name in both.asked.lineage),
        F.struct(*(col(name) for name in types)).alias("row"),
        FILE,
        ROW,
    )


# --- order -----------------------------------------------------------------------------------
def rank(both: ComparedLogs) -> tuple[Column, ...]:
    """The sort key for --order: CSV columns as numbers if all of their values are numbers."""
    if not both.asked.order:
        return ()
    numeric = numeric_columns(both, both.asked.order)
    return tuple(
        col(name).cast(numeric[name]) if name in numeric else col(name) for name in both.asked.order
    )


def numeric_columns(both: ComparedLogs, names: Sequence[str]) -> dict[str, str]:
    """Those of the columns that are text and hold nothing but numbers: "bigint" or "double"."""
    text = [name for name in names if isinstance(dict(both.columns)[name], T.StringType)]
    numeric: dict[str, str] = {}
    if text:
        rows = both.reference.select(*map(col, text)).unionAll(both.actual.select(*map(col, text)))
        bad = {
            (name, kind): F.count_if(col(name).isNotNull() & col(name).try_cast(kind).isNull())
            for name in text
            for kind in ("bigint", "double")
        }
        found = rows.agg(*bad.values()).first()
        assert found is not None
        for (name, kind), count in zip(bad, found, strict=True):
            if not count:
                numeric.setdefault(name, kind)
    return numeric


def content(rows: DataFrame, log: OutputLog, asked: ColumnRoles) -> DataFrame:
    """The rows that a sink of this shape holds after the log: all, each once, or the last one of
    each identity; without an order, they all tie."""
    if asked.shape is Shape.SEQUENCE:
        return rows
    if asked.shape is Shape.SET:
        rows = rows.dropDuplicates(["k", "d1", "d2"])
    if asked.shape is Shape.TABLE:
        last = Window.partitionBy("k", "i").orderBy(F.desc("o"), F.desc("place"))
        placed = add_places(rows, log).withColumn("age", F.row_number().over(last))
        rows = placed.where("age = 1").drop("age", "place")
    return rows.withColumn("o", F.lit(0))


def add_places(frame: DataFrame, log: OutputLog) -> DataFrame:
    """The rows with `place`, a number that grows along the log."""
    numbers = {str(file.resolve()): number for number, file in enumerate(log.files)}
    paths = [urlsplit(uri).path for uri in frame.inputFiles()]
    # Spark names files in both ways, file:///path here and file:/path in _metadata.
    # Rows that are close to others were joined with the reference, so there are its files, too.
    mine = [path for path in paths if unquote(path) in numbers]
    known = [(f"file:{path}", numbers[unquote(path)]) for path in mine]
    files = frame.sparkSession.createDataFrame(known, f"{FILE} string, n long")
    number = F.coalesce("n", F.raise_error(F.concat(F.lit("unknown file "), FILE)).cast("long"))
    place = F.shiftleft(number, FILE_BITS) + F.col(ROW)
    return frame.join(F.broadcast(files), FILE, "left").withColumn("place", place).drop("n")
