"""The roles of nodes around a replica that comes or goes away, and what a role decides.

Rule of this file: questions about a node; no step.  The role of a node stands in its site's spec.
LOG.io, Sections 7.1 and 7.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from model.core import NodeName, Site
from model.events import Body
from model.protocols.log_io.design import Fencing, Replicas
from model.protocols.log_io.states import RunningOperator


class Place(Enum):
    """What a node is for in scaling."""

    DISPATCHER = "it sends each event to one of the replicas"
    FIRST = "the replica that stays"
    SECOND = "the replica that comes or goes away"
    MERGER = "it takes what the replicas send"


def places(replicas: Replicas) -> Mapping[NodeName, Place]:
    return {
        replicas.dispatcher: Place.DISPATCHER,
        replicas.first: Place.FIRST,
        replicas.second: Place.SECOND,
        replicas.merger: Place.MERGER,
    }


def receives(site: Site, state: RunningOperator, succ: NodeName, body: Body) -> bool:
    """Does the successor get the output?  A dispatcher sends it to one of its replicas."""
    if site.spec.place is not Place.DISPATCHER:
        return True
    replicas = site.spec.design.scaling.replicas
    second = body.type == replicas.key and not state.alone
    return bool(succ == (replicas.second if second else replicas.first))


def may_fail(site: Site) -> bool:
    """May a transaction of the node fail, since its inputs may have moved, or another process has
    used them?"""
    scaling, place = site.spec.design.scaling, site.spec.place
    processes = site.spec.design.processes
    if site.spec.process and processes.fencing is Fencing.INPUTS:
        return True
    return place is Place.SECOND or (place is Place.FIRST and scaling.adds)


def is_absent(site: Site) -> bool:
    """Is it a replica that is not there at first?"""
    return site.spec.place is Place.SECOND and site.spec.design.scaling.adds


def is_alone(site: Site) -> bool:
    """Is it a dispatcher or a merger that has one replica at first?"""
    ends = (Place.DISPATCHER, Place.MERGER)
    return site.spec.place in ends and site.spec.design.scaling.adds


def reads(site: Site, state: RunningOperator, pred: NodeName) -> bool:
    """Does the node know this connection?  A merger does not know a replica before step 2."""
    if site.spec.place is not Place.MERGER or not state.alone:
        return True
    return bool(pred != site.spec.design.scaling.replicas.second)
