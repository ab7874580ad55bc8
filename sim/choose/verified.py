"""The guarantee that was verified for a protocol, and its counterexamples: from its pins alone.

Rule of this file: no promise is believed.  A pin is the finding of an exhaustive search, and
`asif check` finds it again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import NamedTuple

from model.boxes.reorder import Ordered
from model.cep.operator import Operator
from model.core import Guarantee, OperatorClass
from model.evidence import Outcome, PinnedScope
from model.graph import SINK, SOURCE, Graph
from model.protocol import Failures, Protocol
from model.results.choice import PinnedCounterexample, VerifiedGuarantee


class AskedEvidence(NamedTuple):
    """The demands of the workload on the evidence.  together: failures may overlap."""

    operators: OperatorClass
    together: bool


def class_of(graph: Graph) -> OperatorClass:
    """The class that holds for any operators of this graph: arbitrary if one takes several inputs
    as they come, else deterministic."""
    for name, spec in graph.nodes:
        if spec in (SOURCE, SINK) or len(graph.preds(name)) < 2:
            continue
        if not isinstance(spec, Operator | Ordered):
            return OperatorClass.ARBITRARY
    return OperatorClass.DETERMINISTIC


def verified(protocol: Protocol, family: Protocol, asked: AskedEvidence) -> VerifiedGuarantee:
    """The weakest guarantee in the pinned scopes with crashes of operators of this class.

    family: the protocol with the variants.
    """
    judges = [protocol]
    if asked.together and protocol.promise.assumes.failures is not Failures.ANY:
        judges = [one for one in same_designs(protocol, family.variants) if _any(one)]
        if not judges:
            return VerifiedGuarantee(None, 0, "no pin has failures that overlap")
    scopes = [scope for one in judges for scope in one.evidence.scopes if _counts(scope)]
    classes = sorted({scope.operators for scope in scopes if scope.operators is not None})
    enough = [one for one in classes if one >= asked.operators]
    refuted = [scope for scope in scopes if scope.expect is Outcome.REFUTED]
    if not enough and not refuted:
        best = classes[-1].word if classes else "no"
        return VerifiedGuarantee(
            None,
            len(scopes),
            f"its pins have {best} operators; here are {asked.operators.word} ones",
        )
    inside = [one for one in scopes if not enough or (one.operators or 0) <= enough[0]]
    found = max((one.guarantee or Guarantee.GAP for one in inside), default=Guarantee.GAP)
    by = "" if judges == [protocol] else f"by {judges[0].name}, the same with any failures"
    return VerifiedGuarantee(found, len(inside), by)


def same_designs(protocol: Protocol, known: Iterable[Protocol]) -> Iterator[Protocol]:
    """Those that do the same, and are judged under other assumptions or by other properties."""
    mine = protocol.behaviour
    for one in known:
        other = one.behaviour
        same = (mine.deploy, mine.step, mine.recover) == (other.deploy, other.step, other.recover)
        if same and one.design == protocol.design and one is not protocol:
            yield one


def knob_variants(protocol: Protocol) -> Iterator[Protocol]:
    """The variants that hold and differ from the protocol in knobs alone: settings with pins."""
    turned = {
        knob.name: [getattr(protocol.design, knob.name), *(choice for _, choice in knob.choices)]
        for knob in protocol.behaviour.knobs
    }
    seen = [protocol.design]
    for one in protocol.variants:
        if one.design in seen or type(one.design) is not type(protocol.design) or not turned:
            continue
        same = all(
            getattr(one.design, field.name)
            in turned.get(field.name, [getattr(protocol.design, field.name)])
            for field in fields(one.design)
        )
        if same and one.evidence.expected is Outcome.HOLDS:
            seen.append(one.design)
            yield one


def counterexamples(protocol: Protocol, family: Protocol) -> tuple[PinnedCounterexample, ...]:
    """A shortest pinned counterexample of each kind of which the protocol promises nothing:
    its own, more failures, and ends that can do less.  family: the protocol with the variants."""
    found = []
    if protocol.evidence.expected is Outcome.REFUTED:
        found.append(_shortest(protocol, "by its own pins"))
    refuted = [one for one in family.variants if one.evidence.expected is Outcome.REFUTED]
    same = [one for one in same_designs(protocol, family.variants) if one in refuted]
    overlapping = [one for one in same if _any(one) and not _any(protocol)]
    if overlapping:
        found.append(_shortest(overlapping[0], "when a failure comes during a recovery"))
    suspected = [one for one in same if one.promise.assumes.suspicions]
    if suspected:
        found.append(_shortest(suspected[0], "when a node that is up is taken for crashed"))
    needs = protocol.behaviour.ends(protocol.design)
    less = [one for one in refuted if one.behaviour.ends(one.design).source < needs.source]
    if less:
        found.append(_shortest(less[0], "when a source sends nothing again"))
    return tuple(one for one in found if one is not None)


def _shortest(protocol: Protocol, where: str) -> PinnedCounterexample | None:
    refuted = [one for one in protocol.evidence.scopes if one.expect is Outcome.REFUTED]
    if not refuted:
        return None
    scope = min(refuted, key=lambda one: one.steps or 10**9)
    return PinnedCounterexample(
        protocol.name,
        scope.name,
        where,
        scope.steps,
        None if scope.guarantee is None else scope.guarantee.word,
        protocol.words.finding,
    )


def _any(protocol: Protocol) -> bool:
    return protocol.promise.assumes.failures is Failures.ANY


def _counts(scope: PinnedScope) -> bool:
    return scope.operators is not None and scope.scope.crashes > 0
