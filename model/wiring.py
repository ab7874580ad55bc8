"""The checks of a deployment: every site, channel and fault that it names exists and makes sense.

Rule of this file: one clear line for a deployment that is none; no step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from model.comparison import Compare
from model.core import Deployment, File, Group, Link, NodeName, Role, Scope, When
from model.errors import Invalid, brief, nearest
from model.graph import NO_GRAPH, SINK
from model.protocol import Failures, Protocol
from model.timers import parse_timer


def check_wiring(protocol: Protocol, scope: Scope, deployment: Deployment) -> None:
    """Raise Invalid for a scope or deployment that names an unknown site."""
    names = [site.name for site in deployment.sites]
    sources = [site.name for site in deployment.sites if site.role is Role.SOURCE]
    sinks = [site.name for site in deployment.sites if site.role is Role.SINK]
    if scope.graph != NO_GRAPH and not (sources or sinks):
        raise Invalid(
            f"{protocol.name}: deploy gives no source and no sink; a protocol without a stream "
            "takes no events, and asif check explores it"
        )
    for name, spec in scope.graph.nodes:
        if spec is SINK and name not in sinks:
            raise Invalid(f"{protocol.name}: deploy gives no sink {name!r}, which the graph has")
    for name in names:
        if names.count(name) > 1:
            raise Invalid(f"{protocol.name}: deploy gives two sites called {name!r}")
    for ends in deployment.channels:
        if deployment.channels.count(ends) > 1:
            raise Invalid(f"{protocol.name}: deploy gives the channel {ends[0]} -> {ends[1]} twice")
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
    _check_jobs(protocol, scope, deployment)
    _check_crashes(protocol, deployment)
    _check_prompt(protocol, deployment)
    _check_files(protocol, deployment)
    _check_links(protocol, deployment)
    _check_patient(protocol, deployment)
    _check_budgets(protocol, scope, deployment)
    _check_sinks(scope)
    for one in protocol.promise.properties:
        if not isinstance(one.when, When):
            raise Invalid(
                f"{protocol.name}: property {one.name!r} is about {brief(one.when)}; give "
                "When.ALWAYS or When.QUIESCENT"
            )
    crashable = [name for name in names if name in deployment.crashable]
    for name in sorted((scope.victims or frozenset()) - {*crashable}):
        raise Invalid(f"victims: no node {name!r} that may crash{nearest(name, crashable)}")


def _check_jobs(protocol: Protocol, scope: Scope, deployment: Deployment) -> None:
    """Raise Invalid for a site that runs an unknown operator, or one that stores and is none."""
    names = [site.name for site in deployment.sites]
    for name, operators in deployment.runs.items():
        if name not in names:
            raise Invalid(f"{protocol.name}: runs names no site {name!r}{nearest(name, names)}")
        for one in operators:
            if one not in scope.graph.specs:
                known = sorted(scope.graph.specs)
                raise Invalid(
                    f"{protocol.name}: {name} runs {one!r}, which is no operator of the graph"
                    f"{nearest(one, known)}"
                )
    for name in sorted(deployment.storing - ({*names} - deployment.prompt)):
        raise Invalid(f"{protocol.name}: storing names {name!r}; give a site that is not prompt")


def _check_budgets(protocol: Protocol, scope: Scope, deployment: Deployment) -> None:
    """Raise Invalid for a budget of faults that is no number, or of faults that cannot come."""
    budgets = {name: getattr(scope, name) for name in ("crashes", "early", "disturbances")}
    for name, number in budgets.items():
        if not isinstance(number, int):
            raise Invalid(f"scope: {name} {brief(number)}; give a whole number, 0 or more")
        if number < 0:
            raise Invalid(f"scope: {name} {number}; give 0 or more")
    if scope.early and not deployment.patient:
        raise Invalid(f"scope: early {scope.early}, and {protocol.name} has no patient timers")
    if scope.disturbances and not any(map(any, deployment.links.values())):
        raise Invalid(
            f"scope: disturbances {scope.disturbances}, and {protocol.name} has no links that are "
            "lossy, doubling, unordered or reset"
        )
    if scope.crashes and protocol.promise.assumes.failures is Failures.NONE:
        raise Invalid(
            f"scope with crashes ({scope.crashes}): {protocol.name} assumes that nothing fails "
            "(Failures.NONE)"
        )


def _check_sinks(scope: Scope) -> None:
    """Raise Invalid for a comparison of no such sink, or for a sink with two."""
    known = [name for name, spec in scope.graph.nodes if spec is SINK]
    given: Any = scope.sinks
    pairs = isinstance(given, tuple) and all(isinstance(one, tuple) for one in given)
    if not pairs or any(len(one) != 2 for one in given):
        raise Invalid(f"scope: sinks {brief(given)}; give pairs (sink, comparison)")
    for name, how in scope.sinks:
        if name not in known:
            raise Invalid(f"scope: sinks: the graph has no sink {name!r}{nearest(name, known)}")
        if not isinstance(how, Compare):
            raise Invalid(
                f"scope: sinks: {name!r} compares as {brief(how)}; give SEQUENCE, BAG, SET or "
                "table(key)"
            )
        if [one for one, _ in scope.sinks].count(name) > 1:
            raise Invalid(f"scope: sinks: {name!r} stands there twice; give it one comparison")


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
                f"{protocol.name}: deploy gives a failure group {brief(group)}; give a "
                "Group(frozenset of sites)"
            )
        if not isinstance(group.members, frozenset):
            raise Invalid(
                f"{protocol.name}: deploy gives a failure group of {brief(group.members)}; give a "
                "frozenset of sites"
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
    bound = [group.members for group in deployment.together if not group.alone]
    for name in names:
        if sum(name in members for members in bound) > 1:
            raise Invalid(
                f"{protocol.name}: deploy gives {name!r} to two failure groups with alone=False; "
                "give it to one"
            )
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


def _check_files(protocol: Protocol, deployment: Deployment) -> None:
    """Raise Invalid for files that are none, or that share a name."""
    for site in deployment.sites:
        gives = f"{protocol.name}: deploy gives {site.name!r}"
        given: Any = site.files
        if not isinstance(given, tuple) or not all(isinstance(one, File) for one in given):
            raise Invalid(f"{gives} the files {brief(given)}; give a tuple of File(name)")
        names = [file.name for file in site.files]
        for name in names:
            if names.count(name) > 1:
                raise Invalid(f"{gives} two files called {name!r}")


def _check_links(protocol: Protocol, deployment: Deployment) -> None:
    """Raise Invalid for a link that is no channel, or that ends at a prompt site."""
    given: Any = deployment.links
    if not isinstance(given, Mapping):
        raise Invalid(
            f"{protocol.name}: deploy gives the links {brief(given)}; give a mapping "
            "{(sender, receiver): Link(...)}"
        )
    for ends, link in given.items():
        if ends not in deployment.channels:
            ways = ", ".join(f"{sender} -> {receiver}" for sender, receiver in deployment.channels)
            shown = " -> ".join(ends) if isinstance(ends, tuple) else repr(ends)
            raise Invalid(
                f"{protocol.name}: deploy gives a link {shown}, and there is no such channel; "
                f"there are {ways or 'none'}"
            )
        gives = f"{protocol.name}: deploy gives a link {ends[0]} -> {ends[1]}"
        if not isinstance(link, Link):
            raise Invalid(f"{gives} that is {brief(link)}; give a Link(lossy=True) or the like")
        if ends[1] in deployment.prompt:
            raise Invalid(
                f"{gives} to a prompt site, which takes a message as it is sent; let an ordinary "
                "site take it, or the sender leave it out"
            )


def _check_patient(protocol: Protocol, deployment: Deployment) -> None:
    """Raise Invalid for patient timers of a kind that is none, or that the behaviour lacks."""
    gives = f"{protocol.name}: deploy gives patient timers"
    if not isinstance(deployment.patient, frozenset):
        raise Invalid(f"{gives} {brief(deployment.patient)}; give a frozenset of kinds")
    known = protocol.behaviour.timers
    for kind in sorted(deployment.patient):
        if parse_timer(kind).kind != kind:
            raise Invalid(f"{gives} {kind!r}; give the kind alone, {parse_timer(kind).kind!r}")
        if known and kind not in known:
            raise Invalid(
                f"{gives} {kind!r}, of which its behaviour has none{nearest(kind, [*known])}"
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
