"""The checks of a deployment: every site, channel and fault that it names exists and makes sense.

Rule of this file: one clear line for a deployment that is none; no step.
"""

from __future__ import annotations

from collections.abc import Sequence

from model.core import Deployment, Group, NodeName, Role, Scope
from model.errors import Invalid, nearest
from model.graph import SINK
from model.protocol import Failures, Protocol
from model.timers import parse_timer


def check_wiring(protocol: Protocol, scope: Scope, deployment: Deployment) -> None:
    """Raise Invalid for a scope or deployment that names an unknown site."""
    if scope.crashes < 0:
        raise Invalid(f"scope: crashes {scope.crashes}; give 0 or more")
    names = [site.name for site in deployment.sites]
    sources = [site.name for site in deployment.sites if site.role is Role.SOURCE]
    sinks = [site.name for site in deployment.sites if site.role is Role.SINK]
    for name, spec in scope.graph.nodes:
        if spec is SINK and name not in sinks:
            raise Invalid(f"{protocol.name}: deploy gives no sink {name!r}, which the graph has")
    for name in names:
        if names.count(name) > 1:
            raise Invalid(f"{protocol.name}: deploy gives two sites called {name!r}")
    for ends in deployment.channels:
        if ends[0] == ends[1]:
            raise Invalid(f"{protocol.name}: deploy gives a channel from {ends[0]!r} to itself")
        for end in ends:
            if end not in names:
                raise Invalid(
                    f"{protocol.name}: deploy gives a channel {ends[0]} -> {ends[1]} and no site "
                    f"{end!r}{nearest(end, names)}"
                )
    for name, _ in scope.inputs:
        if name not in sources:
            raise Invalid(f"inputs: there is no source {name!r}{nearest(name, sources)}")
    _check_crashes(protocol, deployment)
    _check_prompt(protocol, deployment)
    _check_links(protocol, deployment)
    crashable = [name for name in names if name in deployment.crashable]
    for name in sorted((scope.victims or frozenset()) - {*crashable}):
        raise Invalid(f"victims: no node {name!r} that may crash{nearest(name, crashable)}")
    sinks_of = [name for name, spec in scope.graph.nodes if spec is SINK]
    for name, _ in scope.sinks:
        if name not in sinks_of:
            raise Invalid(f"scope: sinks: the graph has no sink {name!r}{nearest(name, sinks_of)}")
    for budget, least in (("early", scope.early), ("disturbances", scope.disturbances)):
        if least < 0:
            raise Invalid(f"scope: {budget} {least}; give 0 or more")
    if scope.early and not deployment.patient:
        raise Invalid(f"scope: early {scope.early}, and {protocol.name} has no patient timers")
    if scope.disturbances and not deployment.links:
        raise Invalid(f"scope: disturbances {scope.disturbances}, and {protocol.name} has no links")
    if scope.crashes and protocol.promise.assumes.failures is Failures.NONE:
        raise Invalid(
            f"scope with crashes ({scope.crashes}): {protocol.name} assumes that nothing fails "
            "(Failures.NONE)"
        )


def _check_crashes(protocol: Protocol, deployment: Deployment) -> None:
    """Raise Invalid for a crash, a failure group, a watched channel or a return of no such site."""
    names = [site.name for site in deployment.sites]
    crashable = [name for name in names if name in deployment.crashable]
    for name in sorted(deployment.crashable - {*names}):
        raise Invalid(
            f"{protocol.name}: deploy lets {name!r} crash, which is no site{nearest(name, names)}"
        )
    for group in deployment.together:
        if not isinstance(group, Group):
            raise Invalid(
                f"{protocol.name}: deploy gives a failure group {group!r:.60}; give a "
                "Group(frozenset of sites)"
            )
        shown = ", ".join(sorted(group.members))
        for name in sorted(group.members - {*crashable}):
            raise Invalid(
                f"{protocol.name}: deploy gives a failure group {shown}, and no site {name!r} may "
                f"crash{nearest(name, crashable)}"
            )
        if len(group.members) < 2:
            raise Invalid(
                f"{protocol.name}: deploy gives a failure group of {len(group.members)} ({shown}); "
                "give two sites or more"
            )
        if [other.members for other in deployment.together].count(group.members) > 1:
            raise Invalid(f"{protocol.name}: deploy gives the failure group {shown} twice")
    for ends in sorted(deployment.watched - {*deployment.channels}):
        raise Invalid(
            f"{protocol.name}: deploy watches a channel {ends[0]} -> {ends[1]}, and there is none"
        )
    for name in sorted((deployment.returning or frozenset()) - {*names}):
        raise Invalid(
            f"{protocol.name}: deploy lets {name!r} return from a crash, which is no site"
            f"{nearest(name, names)}"
        )


def _check_prompt(protocol: Protocol, deployment: Deployment) -> None:
    """Raise Invalid for a prompt site that is none, or that something else would move."""
    sites = {site.name: site for site in deployment.sites}
    for name in sorted(deployment.prompt):
        gives = f"{protocol.name}: deploy gives a prompt site {name!r}"
        if name not in sites:
            raise Invalid(f"{gives}, which is no site{nearest(name, [*sites])}")
        if name in deployment.crashable:
            raise Invalid(f"{gives} that may crash; a prompt site never does")
        if sites[name].role is Role.SOURCE:
            raise Invalid(f"{gives} that is a source; a prompt site only takes messages")
        for timer in sites[name].timers:
            if parse_timer(timer).kind not in deployment.patient:
                raise Invalid(f"{gives} with a timer {timer!r}; its timers must be patient")
        if sites[name].files:
            raise Invalid(f"{gives} with files; its state survives without them")
    for name in sorted(deployment.connections):
        gives = f"{protocol.name}: deploy gives a connection {name!r}"
        if name not in deployment.prompt:
            raise Invalid(f"{gives}, which is no prompt site{nearest(name, [*deployment.prompt])}")
        receivers = sum(sender == name for sender, _ in deployment.channels)
        if receivers != 1:
            raise Invalid(f"{gives} with {receivers} receivers; give it one")
    between = [ends for ends in deployment.channels if deployment.prompt.issuperset(ends)]
    if not in_order(names := [*sites], between):
        shown = ", ".join(name for name in names if any(name in ends for ends in between))
        raise Invalid(
            f"{protocol.name}: deploy gives channels between the prompt sites {shown} in a circle; "
            "each answers at once, so none can wait for another"
        )


def _check_links(protocol: Protocol, deployment: Deployment) -> None:
    """Raise Invalid for a link that is no channel, or that ends at a prompt site."""
    for ends in deployment.links:
        gives = f"{protocol.name}: deploy gives a link {ends[0]} -> {ends[1]}"
        if ends not in deployment.channels:
            raise Invalid(f"{gives}, and there is no such channel")
        if ends[1] in deployment.prompt:
            raise Invalid(
                f"{gives} to a prompt site, which takes a message as it is sent; let an ordinary "
                "site take it, or the sender leave it out"
            )


def in_order(
    names: Sequence[NodeName], channels: Sequence[tuple[NodeName, NodeName]]
) -> list[NodeName]:
    """The names in their order, but each before those to which it sends; empty for a circle."""
    found: list[NodeName] = []
    while len(found) < len(names):
        later = {receiver for sender, receiver in channels if sender not in found}
        first = next((name for name in names if name not in found and name not in later), None)
        if first is None:
            return []
        found.append(first)
    return found
