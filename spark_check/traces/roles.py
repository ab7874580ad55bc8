"""The columns of each option of a comparison, and whether two logs have them.

Rule of this file: it knows the names of columns alone, so that a wrong one is reported at once.

A name of --ignore may be a field of a column that holds objects: `source.ts_ms` is the field
`ts_ms` of `source`, unless a column has that name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from model.comparison import Shape
from model.errors import Invalid, some_of
from spark_check.traces.logs import OutputLog


class ColumnRoles(NamedTuple):
    """The columns that play a role in a comparison, by name.

    sink: the shape of the sink (model.comparison); a place counts in a sequence alone.
    """

    key: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    id: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    lineage: tuple[str, ...] = ()
    sink: str = Shape.SEQUENCE.value

    @property
    def by_option(self) -> dict[str, tuple[str, ...]]:
        """The columns of each option."""
        return {name: names for name, names in self._asdict().items() if name != "sink"}

    @property
    def shape(self) -> Shape:
        return Shape(self.sink)

    def ignored_fields(self, name: str, names: Sequence[str]) -> tuple[str, ...]:
        """The paths of --ignore into this column, without its name.  names: of all columns."""
        inside = (one for one in self.ignore if one.startswith(f"{name}.") and one not in names)
        return tuple(one[len(name) + 1 :] for one in inside)

    @property
    def sorted_by_content(self) -> bool:
        """Is the place of a row part of its content?  In a sink without order it counts nowhere."""
        if self.shape is not Shape.SEQUENCE:
            return True
        return bool(self.order) and not set(self.order) & set(self.ignore)

    @property
    def identity(self) -> tuple[str, ...]:
        """The columns that name a result, whatever its content; empty if there are none."""
        ordered = self.shape is Shape.SEQUENCE and self.sorted_by_content
        return self.id or (self.order if ordered else ())


class KnownColumns(NamedTuple):
    """The columns of a log.  fields: of columns that hold objects, as in `source.ts_ms`."""

    names: Sequence[str]
    fields: Sequence[str] = ()


def check_names(
    asked: ColumnRoles, logs: Sequence[OutputLog], columns: Sequence[KnownColumns]
) -> None:
    """Raises Invalid if a column is missing, has two roles, or is in one of the logs only."""
    check_roles(asked)
    every = sorted({name for one in columns for name in one.names})
    for option, names in asked.by_option.items():
        for name in names:
            holders = logs if option != "ignore" else ()
            for log, one in zip(holders, columns, strict=False):
                if name not in one.names:
                    raise has_none(log, option, name, one.names)
    fields = {name for one in columns for name in one.fields}
    for name in asked.ignore:
        if name not in every and name not in fields:
            raise Invalid(f"--ignore {name}: no such column; there are {some_of(every)}")
    only = [
        [name for name in one.names if name not in {*other.names, *asked.ignore}]
        for one, other in (columns, reversed(columns))
    ]
    if any(only):
        differences = "; ".join(
            f"only {log.side} has {', '.join(names)}"
            for log, names in zip(logs, only, strict=True)
            if names
        )
        raise Invalid(
            f"the logs have different columns: {differences} (--ignore what need not agree)"
        )
    if not {*columns[0].names} - {*asked.ignore, *asked.lineage}:
        raise Invalid("--ignore leaves no column to compare")


def check_roles(asked: ColumnRoles) -> None:
    """Raises Invalid if a column has two roles that exclude each other."""
    for option, names in asked.by_option.items():
        for name in names:
            if option != "lineage" and name in asked.lineage:
                raise Invalid(
                    f"--lineage {name}: it is a column of --{option} as well; give another"
                )
            if option in ("key", "id") and name in asked.ignore:
                raise Invalid(f"--{option} {name}: it is ignored as well, and cannot name anything")


def has_none(log: OutputLog, option: str, name: str, names: Sequence[str]) -> Invalid:
    return log.complain(f"has no column {name} (--{option}); it has {', '.join(names)}")


def no_field_left(name: str) -> Invalid:
    return Invalid(f"--ignore leaves no field of {name}: ignore {name} itself")
