"""The plans that the paper compares with: blocking, topological order, best case.

Rule of this file: no choice between queries.
"""

from __future__ import annotations

from model.plans.instance import Instance
from model.plans.plan import Plan


def blocking(instance: Instance, resources: int, before: Plan) -> Plan:
    """Nothing before there is enough for everything.  Sections 1 and 6 (OPC)."""
    return everything(instance) if resources >= instance.total else before


def topological(instance: Instance, resources: int, before: Plan) -> Plan:
    """Partition after partition, upstream operators first, until one does not fit.  Section 1: the
    "operator-centric paradigm".  It depends on the resources alone, and more recover more."""
    needed = instance.operators_of(instance.needs)
    partitions = [
        (operator.name, operator.costs[place])
        for operator in instance.operators
        if operator.name in needed
        for place in sorted(operator.failed)
    ]
    spent, unfinished = 0, list(partitions)
    while unfinished and spent + unfinished[0][1] <= resources:
        spent += unfinished.pop(0)[1]
    recovered = needed.difference(name for name, _ in unfinished)
    new = [query for query in instance.covered(recovered) if query not in before.queries]
    return Plan((*before.queries, *new), spent)


def best_case(instance: Instance, resources: int, before: Plan) -> Plan:
    """Everything as soon as anything is there: all hosts come with the first.  Section 6."""
    return everything(instance) if resources else before


def everything(instance: Instance) -> Plan:
    """The plan that recovers all failed queries."""
    return Plan(tuple(instance.needs), instance.total)
