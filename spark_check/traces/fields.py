"""Fields of columns that hold objects, on Spark: `source.ts_ms` is one of them.

Rule of this file: a path is names with points between them, and leads through structs alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from spark_check.traces.roles import KnownColumns, no_field_left


class LeafColumn(NamedTuple):
    """A value in a row that is no object.  path: None if it says whether an object is there."""

    path: str | None
    value: Column
    type: T.DataType


def col(name: str) -> Column:
    """The column with this name, whatever characters the name has."""
    return F.col(_quoted(name))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def known(schema: T.StructType) -> KnownColumns:
    """The names of a schema, with those of fields."""
    paths = (path for field in schema for path in _paths(field.name, field.dataType))
    return KnownColumns(schema.names, tuple(path for path in paths if path not in schema.names))


def _paths(path: str, type_: T.DataType) -> Iterator[str]:
    yield path
    if isinstance(type_, T.StructType):
        for field in type_:
            yield from _paths(f"{path}.{field.name}", field.dataType)


def type_without(name: str, type_: T.DataType, paths: Sequence[str]) -> T.DataType:
    """The type of a column without these fields.  Raises Invalid if no field is left."""
    if not paths or not isinstance(type_, T.StructType):
        return type_
    left = []
    for field in type_:
        if field.name not in paths:
            inner = [
                one[len(field.name) + 1 :] for one in paths if one.startswith(f"{field.name}.")
            ]
            kept = type_without(f"{name}.{field.name}", field.dataType, inner)
            left.append(T.StructField(field.name, kept, field.nullable))
    if not left:
        raise no_field_left(name)
    return T.StructType(left)


def drop(column: Column, type_: T.DataType, paths: Sequence[str]) -> Column:
    """The column without those of these fields that its type has."""
    there = {*_paths("", type_)}
    mine = [path for path in paths if f".{path}" in there]
    return (
        column.dropFields(*(".".join(map(_quoted, path.split("."))) for path in mine))
        if mine
        else column
    )


def leaves(name: str, type_: T.DataType, column: Column, path: str = "") -> Iterator[LeafColumn]:
    """The values of a column, and whether its objects are there."""
    path = path or name
    if not isinstance(type_, T.StructType):
        yield LeafColumn(path, column, type_)
        return
    yield LeafColumn(None, column.isNull(), T.BooleanType())
    for field in type_:
        inner = column.getField(field.name)
        yield from leaves(name, field.dataType, inner, f"{path}.{field.name}")
