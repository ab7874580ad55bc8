"""Words that a run does not know are refused in one line, never left out in silence."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from model.core import CancelTimer, Effect, Emit, Fail, Group, Link, Rewind, Send, SetTimer, Sync
from model.errors import Invalid
from model.system import System
from sim.refusals import check_deployment, check_effects
from tests.contract.groups import ONE_EVENT, PROTOCOL, deploying

BOUND = (Group(frozenset({"A", "B"}), alone=False),)
WORDS: dict[str, dict[str, Any]] = {
    "patient timers": {"patient": frozenset({"t"})},
    "links that are not perfect": {"links": {("A", "B"): Link(lossy=True)}},
    "groups that only fall together": {"together": BOUND},
}


@pytest.mark.parametrize(("word", "changes"), WORDS.items(), ids=WORDS)
def test_a_deployment_is_refused(word: str, changes: dict[str, Any]) -> None:
    check_deployment(System(PROTOCOL, ONE_EVENT))
    with pytest.raises(
        Invalid, match=f"deploys {word}, which a run over a whole stream does not know"
    ):
        check_deployment(System(deploying(PROTOCOL, **changes), ONE_EVENT))


@pytest.mark.parametrize("effect", [CancelTimer("t"), Fail(), Rewind(0), Sync()])
def test_an_effect_is_refused(effect: Effect) -> None:
    system = cast(System, SimpleNamespace(protocol=PROTOCOL))
    check_effects(system, "A", (Send("B", 0), SetTimer("t"), Emit((0, 0))))
    with pytest.raises(Invalid, match=f"A has a {type(effect).__name__} among its effects"):
        check_effects(system, "A", (Send("B", 0), effect))
