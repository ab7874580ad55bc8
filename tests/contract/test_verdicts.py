"""What a verdict must not overlook: found by a review, each with the protocol that showed it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from docs.examples import forgetful, mindful
from model.core import Guarantee, OperatorClass, Property, When
from model.errors import Invalid
from model.evidence import Outcome
from model.observations import Looks, look_inside
from model.system import System, is_satisfied
from model.world import initial
from proofs.explore.collapse import Collapsed
from proofs.explore.verdict import verdict


class Empty(NamedTuple):
    pass


class Full(NamedTuple):
    pass


class Wrapped(NamedTuple):
    inner: Any


def test_worlds_that_differ_in_a_nested_type_are_two_worlds() -> None:
    system = System(mindful.PROTOCOL, forgetful.SMALL)
    collapsed = Collapsed(system)
    world = initial(system)
    packed = set()
    for inner in (Empty(), Full(), (), 1, True):
        node = world.nodes[-1]._replace(state=Wrapped(inner))
        packed.add(collapsed.pack(world._replace(nodes=(*world.nodes[:-1], node))))
        kept = world.nodes[-1]._replace(durable=Wrapped(inner))
        packed.add(collapsed.pack(world._replace(nodes=(*world.nodes[:-1], kept))))
    assert len(packed) == 10


def test_a_claim_about_a_class_is_refuted_by_operators_that_the_class_contains() -> None:
    own = {OperatorClass.REPEATABLE: Guarantee.REPEATING}
    larger = own | {OperatorClass.ARBITRARY: Guarantee.PRECISE}
    found = verdict(forgetful.PROTOCOL.vary(claims=larger), examples=5)
    assert (found.weaker, found.stronger) == ((OperatorClass.ARBITRARY,), ())
    assert any("ARBITRARY" in why for why in found.vacuous)
    assert not found.expected


def test_a_claim_that_is_too_weak_is_found_for_classes_that_were_explored_alone() -> None:
    weak = dict.fromkeys((OperatorClass.REPEATABLE, OperatorClass.ARBITRARY), Guarantee.GAP)
    found = verdict(forgetful.PROTOCOL.vary(claims=weak), examples=5)
    assert (found.weaker, found.stronger) == ((), (OperatorClass.REPEATABLE,))
    assert any("ARBITRARY" in why for why in found.vacuous)
    assert not found.expected


def test_a_profile_without_scopes_is_vacuous() -> None:
    slow = tuple(replace(pinned, quick=False) for pinned in mindful.PROTOCOL.evidence.scopes)
    found = verdict(mindful.PROTOCOL.vary(scopes=slow, must_occur=()), examples=5)
    assert found.outcome is Outcome.VACUOUS


def test_a_property_answers_true_or_false_and_sees_states_only_if_it_asks() -> None:
    system = System(mindful.PROTOCOL, forgetful.SMALL)
    seen = look_inside(system, initial(system), Looks(nodes=True))
    lazy = Property("lazy", When.ALWAYS, lambda *_: (False for _ in [1]))  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="return True or False"):
        is_satisfied(system, lazy, seen)
    blind = Property("blind", When.QUIESCENT, lambda _, seen: not seen.states)
    with pytest.raises(Invalid, match="without nodes=True"):
        is_satisfied(system, blind, seen)
    assert not is_satisfied(system, replace(blind, nodes=True), seen)
