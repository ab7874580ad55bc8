"""Progressive recovery as published, and with one choice less mended.

Rule of this file: no design without the verdict that is expected of it.
Su and Zhou, Progressive Recovery, 2016.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from model.core import (
    CHECKPOINTED,
    CRASHED,
    REPLAYED,
    RESTORED,
    STALE,
    Assumptions,
    Failures,
    Guarantee,
    Outcome,
    PinnedScope,
    Property,
    Protocol,
    Quantity,
)
from model.properties import AS_IF, COMPLETE
from model.protocols.progressive.design import (
    PUBLISHED,
    Accepts,
    Buffering,
    Coordinator,
    Design,
    Ends,
    Fence,
    Late,
    Order,
    Outputs,
    Punctuates,
    Sinks,
)
from model.protocols.progressive.inside import INSIDE, RESTED
from model.protocols.progressive.messages import GLOBAL, QUANTITIES, show, size
from model.protocols.progressive.nodes import boot, deploy, gauges, needed, recover, step
from model.protocols.progressive.scopes import SCOPES

SEEN = (CRASHED, RESTORED, CHECKPOINTED, GLOBAL, REPLAYED, STALE)
PROPERTIES = (AS_IF, COMPLETE, RESTED, INSIDE)
GAP, DIVERGENT, REPEATING = Guarantee.GAP, Guarantee.DIVERGENT, Guarantee.REPEATING


class Pin(NamedTuple):
    """What is expected in a scope: so many worlds; and, if the protocol is refuted, the steps of a
    shortest counterexample; and the guarantee that is left."""

    scope: str
    states: int
    steps: int | None = None
    guarantee: Guarantee = Guarantee.PRECISE

    def pinned(self) -> PinnedScope:
        scope, operators, quick = SCOPES[self.scope]
        expect = Outcome.HOLDS if self.steps is None else Outcome.REFUTED
        return PinnedScope(
            self.scope, scope, operators, expect, self.states, self.steps, self.guarantee, quick
        )


def build(
    name: str,
    design: Design,
    pins: tuple[Pin, ...],
    finding: str,
    must_occur: tuple[Quantity, ...] = SEEN,
    properties: tuple[Property, ...] = PROPERTIES,
    claim: Guarantee = Guarantee.PRECISE,
) -> Protocol:
    scopes = tuple(pin.pinned() for pin in pins)
    return Protocol(
        name=f"progressive:{name}" if name else "progressive",
        title="Progressive recovery",
        source="Su and Zhou, Progressive Recovery, 2016",
        deploy=partial(deploy, design),
        boot=boot,
        recover=recover,
        step=step,
        gauges=gauges,
        show=show,
        assumes=Assumptions(Failures.ANY),
        claims=dict.fromkeys(sorted({scope.operators for scope in scopes}), claim),
        properties=properties,
        needed=needed,
        scopes=scopes,
        must_occur=must_occur,
        finding=finding,
        size=size,
        quantities=QUANTITIES,
    )


def _change(name: str, finding: str, *pins: Pin, **choice: Any) -> Protocol:
    """The mended protocol with other choices."""
    return build(name, replace(Design(), **choice), pins, finding)


VARIANTS = (
    build(
        "published",
        PUBLISHED,
        (
            Pin("one partition", 3_029, 12, GAP),
            Pin("a chain, three tuples", 123_288, 15, GAP),
            Pin("a triangle, the union", 29_334, 18, GAP),
        ),
        "Every choice in the reading nearest to the paper's words: results come twice or never, "
        "and states count tuples twice, with one partition and one failure.",
    ),
    _change(
        "at-once",
        "Results that are handed on before a global checkpoint contains them are handed on again "
        "after the rollback: exactly once inside, at least once outside.",
        Pin("one partition", 1_645, 13, REPEATING),
        Pin("a chain, three tuples", 21_204, 22, REPEATING),
        Pin("a triangle, the union", 7_671, 15, REPEATING),
        outputs=Outputs.AT_ONCE,
    ),
    build(
        "inside",
        Design(outputs=Outputs.AT_ONCE),
        (
            Pin("no crash", 541),
            Pin("one partition", 1_645, guarantee=REPEATING),
            Pin("a chain, three tuples", 21_204, guarantee=REPEATING),
        ),
        "The same protocol, if only the states of partitions count: this is the exactly-once "
        "processing of the paper.",
        properties=(RESTED, INSIDE),
        claim=REPEATING,
    ),
    _change(
        "numbered",
        "An application that skips the numbers it has seen needs one order before and after the "
        "failure; an order that is turned on in recovery comes too late.",
        Pin("one partition", 1_596),
        Pin("a triangle, the union", 7_161, 19, DIVERGENT),
        outputs=Outputs.NUMBERED,
    ),
    _change(
        "numbered-ordered",
        "With one order always, numbers identify tuples: the application needs no checkpoint.",
        Pin("no crash", 541),
        Pin("one partition", 1_596),
        Pin("a chain, the first twice", 5_780),
        Pin("a triangle, the union", 1_964),
        Pin("a diamond", 8_975),
        outputs=Outputs.NUMBERED,
        order=Order.ALWAYS,
    ),
    _change(
        "ordered",
        "With one order always, fewer runs are possible; results wait for a checkpoint as well.",
        Pin("a triangle, the side", 1_615),
        Pin("a triangle, the union", 2_007),
        Pin("no crash, a diamond", 1_295),
        order=Order.ALWAYS,
    ),
    _change(
        "unordered",
        "Without a fixed order, a partition that fails during the recovery numbers other tuples in "
        "its second run: who has seen the number skips a tuple that it has not seen.",
        Pin("a chain, the second twice", 53_729),
        Pin("a triangle, the union twice", 4_301_766, 33, DIVERGENT),
        order=Order.NEVER,
        threshold=0,
    ),
    _change(
        "skip-seen",
        "Who skips only what it has seen takes what is sent before the replay begins, and then "
        "skips the replay.",
        Pin("one partition", 14_809, 14, GAP),
        Pin("a chain, the second twice", 62_406, 19),
        accepts=Accepts.UNSEEN,
        threshold=0,
    ),
    _change(
        "skip-nothing",
        "Without numbers, a tuple that comes live and in the replay is processed twice.",
        Pin("one partition", 30_726, 18, GAP),
        accepts=Accepts.ALL,
        threshold=0,
    ),
    _change(
        "no-epochs",
        "Tuples and acknowledgements from before the rollback are taken for those of the replay.",
        Pin("one partition", 4_285, 14, GAP),
        Pin("one partition, the coordinator", 4_779, 14),
        Pin("a chain, three tuples", 75_335, 17, GAP),
        fence=Fence.NONE,
    ),
    _change(
        "no-epochs-ordered",
        "Numbers and one order do not replace epochs: acknowledgements have no number.",
        Pin("one partition", 2_507, 13, GAP),
        Pin("one partition, the coordinator", 3_488, 13),
        fence=Fence.NONE,
        order=Order.ALWAYS,
        outputs=Outputs.NUMBERED,
    ),
    _change(
        "ends-at-checkpoint",
        "A partition stores its part and fails; the others complete the global checkpoint and turn "
        "their buffers off: what they send before it is back is lost.",
        Pin("one partition", 11_826),
        Pin("a chain, the first twice", 72_041, 32),
        Pin("a chain, the second twice", 69_817, 31),
        Pin("a chain, the second twice, two tuples", 898_929, 31, GAP),
        ends=Ends.CHECKPOINT,
        threshold=0,
    ),
    _change(
        "silent-sinks",
        "If only partitions take part in a checkpoint, results on their way to the application are "
        "in no checkpoint and in no replay.",
        Pin("one partition", 2_040, 16, GAP),
        Pin("a chain, three tuples", 30_440, 22, GAP),
        sinks=Sinks.SILENT,
        order=Order.ALWAYS,
        outputs=Outputs.NUMBERED,
    ),
    _change(
        "stateless-coordinator",
        "A coordinator without stable storage does not know the last global checkpoint, and its "
        "second life begins with epochs that were in use.",
        Pin("one partition", 2_265, 12, GAP),
        Pin("one partition, the coordinator", 2_353, 6),
        coordinator=Coordinator.STATELESS,
    ),
    _change(
        "punctuated-by-data",
        "If only data is punctuated, a recovery without new data never ends: the buffers stay on.",
        Pin("one partition", 8_821, 8),
        punctuates=Punctuates.DATA,
        threshold=0,
    ),
    _change(
        "upstream-buffering",
        "Upstream buffering, the rival that the paper finds too expensive, is as right.",
        Pin("one partition", 4_076),
        Pin("a chain", 56_313),
        Pin("a chain, the second twice", 7_188),
        Pin("no crash", 2_679),
        buffering=Buffering.UPSTREAM,
    ),
    _change(
        "source-buffering",
        "Source buffering is right, if every recovery waits for all failed partitions.",
        Pin("no crash", 783),
        Pin("one partition", 2_488),
        Pin("a chain", 4_032),
        Pin("a chain, the second twice", 6_194),
        buffering=Buffering.SOURCE,
        threshold=0,
    ),
    _change(
        "late-failures-wait",
        "If failures after the window do not count, the recovery stays blocking, and right.",
        Pin("no crash", 783),
        Pin("one partition", 2_488),
        Pin("a chain", 20_026),
        late=Late.STAYS,
    ),
    _change(
        "overlapping-checkpoints",
        "Several checkpoints may be under way, if partitions keep all since the global one.",
        Pin("one partition", 8_554),
        Pin("a chain, the second twice", 7_188),
        Pin("no crash", 19_922),
        overlap=True,
    ),
    _change(
        "always-progressive",
        "With threshold 0, every recovery is progressive.",
        Pin("no crash", 783),
        Pin("one partition", 11_774),
        Pin("one partition, the coordinator", 28_843),
        Pin("a chain, the first twice", 51_809),
        Pin("a chain, the second twice", 53_729),
        Pin("a triangle, the side", 24_376),
        Pin("a triangle, the union", 96_100),
        Pin("a triangle, the side twice", 385_956),
        Pin("a triangle, the union twice", 2_629_016),
        threshold=0,
    ),
)
