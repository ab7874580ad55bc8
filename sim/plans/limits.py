"""The limits of an instance of `asif plan`: refused before anything is planned, with an estimate.

Rule of this file: magnitudes alone; the shape of a table is in sim.plans.tables.
"""

from __future__ import annotations

from collections.abc import Callable

from model.errors import Invalid
from model.limits import Limit
from sim.plans.tables import InstanceFile
from sim.scenarios.toml_lines import Path as Key

HOSTS = Limit(2_000, 0.01, 0, "give fewer hosts, each with a larger capacity")
TABLES = Limit(1_000, 0, 0, "give fewer")
FAILED = 30
"""Failed queries: an optimal plan tries all sets of them in the worst case."""
SET_S = 1e-6
"""The time of a set of queries."""


def check_tables(file: InstanceFile, wrong: Callable[[Key, str], Invalid]) -> None:
    """Raise Invalid, as `wrong` makes it, for too many hosts, operators or queries."""
    hosts = sum(table.count for table in file.hosts)
    asked = (
        (HOSTS, "hosts", hosts),
        (TABLES, "operators", len(file.operators)),
        (TABLES, "queries", len(file.queries)),
    )
    for limit, name, number in asked:
        if number > limit.most:
            raise wrong((name, 0), limit.complaint(f"{number} {name}", number))


def check_failed(queries: int, wrong: Callable[[Key, str], Invalid]) -> None:
    """Raise Invalid for too many failed queries."""
    if queries > FAILED:
        limit = Limit(FAILED, 2.0**queries / queries * SET_S, 0, "give the most urgent ones alone")
        raise wrong(("queries", 0), limit.complaint(f"{queries} failed queries", queries))
