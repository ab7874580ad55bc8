"""Every protocol that holds could have been refuted: by a crash, in the scopes of each class.

Rule of this file: no whole check; `asif check --all` asks all questions of all scopes together.
"""

from __future__ import annotations

from model.evidence import PinnedScope
from model.protocol import Failures
from model.system import System
from tests.conformance.subjects import EVERY, PROTOCOLS, SAMPLES


@EVERY
def test_a_crash_may_come_for_each_class_of_operators(name: str) -> None:
    """In a scope of the class or of a wider one, where a protocol promises to survive crashes."""
    protocol = PROTOCOLS[name]
    if not SAMPLES[name].holds or protocol.promise.assumes.failures is Failures.NONE:
        return

    def crashes(pinned: PinnedScope) -> bool:
        return pinned.scope.crashes > 0 and bool(System(protocol, pinned.scope).victims)

    scopes = protocol.evidence.scopes
    for tried in ([one for one in scopes if one.quick], scopes):
        widest = max((one.operators for one in tried if one.operators), default=None)
        assert not tried or any(crashes(one) for one in tried if one.operators is widest)


def test_a_class_without_a_crash_is_found() -> None:
    calm = PROTOCOLS["unaligned-checkpoints:scale-up"]
    scopes = [one for one in calm.evidence.scopes if one.name != "pairs"]
    widest = max(one.operators for one in scopes if one.operators)
    assert not any(one.scope.crashes for one in scopes if one.operators is widest)
