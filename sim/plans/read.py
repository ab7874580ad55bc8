"""Read and check an instance file of `asif plan`.

Rule of this file: no unchecked instance; an error about a file is one line: which line, what is
wrong, and what would be right.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from model.errors import Invalid
from model.plans.instance import Instance, PlanOperator, PlanQuery
from model.plans.supply import Host, Supply
from sim.plans.limits import check_failed, check_tables
from sim.plans.tables import InstanceFile, PlannedOperatorTable, QueryTable
from sim.scenarios.scenario import draft
from sim.scenarios.toml_lines import Path as Key


class PlannedTask(NamedTuple):
    """What a file asks for: plans for an instance, as hosts come."""

    name: str
    instance: Instance
    supply: Supply


def read(path: Path) -> PlannedTask:
    """Read and check a file.  Raises Invalid."""
    written = draft(path)
    file = written.table(InstanceFile)
    check_tables(file, written.wrong)
    operators = tuple(map(_operator, file.operators))
    queries = tuple(map(_query, file.queries))
    key: Key = ()
    try:  # one more each time, so that the error is in the last one
        for number in range(len(operators)):
            key = ("operators", number)
            Instance(operators[: number + 1], ())
        for number in range(len(queries)):
            key = ("queries", number)
            Instance(operators, queries[: number + 1])
        instance = Instance(operators, queries)
        key = ("until_min",)
        supply = _supply(file)
    except Invalid as error:
        raise written.wrong(key, str(error)) from None
    if not instance.needs:
        raise written.wrong(
            ("queries", 0), "no query has failed; give an operator of one failed partitions"
        )
    check_failed(len(instance.needs), written.wrong)
    return PlannedTask(path.stem, instance, supply)


def _operator(table: PlannedOperatorTable) -> PlanOperator:
    every = range(1, len(table.costs) + 1)
    failed = every if table.failed is None else table.failed
    return PlanOperator(table.name, table.costs, frozenset(number - 1 for number in failed))


def _query(table: QueryTable) -> PlanQuery:
    return PlanQuery(table.name, frozenset(table.operators), table.priority)


def _supply(file: InstanceFile) -> Supply:
    hosts = tuple(
        host
        for table in file.hosts
        for host in [Host(_exact(table.at_min), table.capacity)] * table.count
    )
    last = max((host.at for host in hosts), default=Fraction(0))
    return Supply(hosts, last + 1 if file.until_min is None else _exact(file.until_min))


def _exact(minutes: float) -> Fraction:
    """The decimal number that a person has written."""
    return Fraction(str(minutes))
