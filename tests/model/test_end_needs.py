"""The facts of a family for `asif choose`: its interval, and its needs at both ends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from model.core import Role, Scope
from model.protocol import EndNeeds, Protocol, SinkNeed, SourceNeed
from model.registry import protocols
from model.system import System

ALL = [pytest.param(one, id=name) for name, one in protocols().items()]


def asked_sources(protocol: Protocol) -> Iterator[bool]:
    """For each scope with a stream: may a node send its source a message?"""
    for pinned in protocol.evidence.scopes:
        if pinned.operators is None:
            continue
        deployment = System(protocol, Scope(pinned.scope.graph, pinned.scope.inputs, 0)).deployment
        sources = {site.name for site in deployment.sites if site.role is Role.SOURCE}
        yield any(receiver in sources for _, receiver in deployment.channels)


@pytest.mark.parametrize("protocol", ALL)
def test_an_interval_is_a_timer_of_the_family(protocol: Protocol) -> None:
    interval = protocol.behaviour.interval
    assert not interval or interval in protocol.behaviour.timers


@pytest.mark.parametrize("protocol", ALL)
def test_a_source_that_needs_no_ability_is_never_asked(protocol: Protocol) -> None:
    needs = protocol.behaviour.ends(protocol.design)
    if protocol.promise.protects and needs.source is SourceNeed.NOTHING:
        assert protocol.design is not None  # a variant whose sources send nothing again
        return
    assert {*asked_sources(protocol)} <= {needs.source is not SourceNeed.NOTHING}


def test_what_protects_nothing_needs_nothing() -> None:
    for protocol in protocols().values():
        if not protocol.promise.protects:
            assert protocol.behaviour.ends(protocol.design) == EndNeeds()


def test_idempotent_writes_need_no_transactions() -> None:
    found = {one.name: one.behaviour.ends(one.design).sink for one in protocols().values()}
    assert found["abs"] is SinkNeed.TRANSACTS
    assert found["abs:idempotent"] is SinkNeed.REMEMBERS
