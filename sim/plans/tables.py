"""The shape of an instance file of `asif plan`: its tables and their keys.

Rule of this file: nothing that needs another table than the one it is in (sim.plans.read).
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field

from sim.timed.costs import None_or_more, ScenarioTable, Some

Whole: TypeAlias = Annotated[int, Field(ge=1)]
Name: TypeAlias = Annotated[str, Field(min_length=1)]


class PlannedOperatorTable(ScenarioTable):
    """An operator.  costs: of each partition.  failed: the numbers of the failed partitions, from
    1; if missing, all."""

    name: Name
    costs: Annotated[tuple[Whole, ...], Field(strict=False)]
    failed: Annotated[tuple[Whole, ...], Field(strict=False)] | None = None


class QueryTable(ScenarioTable):
    """A query.  operators: the names of all its operators."""

    name: Name
    operators: Annotated[tuple[Name, ...], Field(strict=False)]
    priority: Whole = 1


class HostTable(ScenarioTable):
    """Hosts that come at one time.  at_min: in minutes since the failure.  capacity: of each."""

    at_min: None_or_more
    capacity: Whole
    count: Whole = 1


class InstanceFile(ScenarioTable):
    """A file.  operators: upstream ones first.  until_min: the end of the time that counts; if
    missing, a minute after the last host."""

    operators: Annotated[tuple[PlannedOperatorTable, ...], Field(strict=False)]
    queries: Annotated[tuple[QueryTable, ...], Field(strict=False)]
    hosts: Annotated[tuple[HostTable, ...], Field(strict=False)]
    until_min: Some | None = None
