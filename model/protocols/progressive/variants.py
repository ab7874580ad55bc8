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
from model.protocols.progressive.messages import GLOBAL, QUANTITIES, WITHDRAWN, show, size
from model.protocols.progressive.nodes import (
    TIMERS,
    boot,
    deploy,
    gauges,
    memory,
    needed,
    recover,
    step,
)
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
        memory=memory,
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
        timers=TIMERS,
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
        Pin("a triangle, the union", 1_994, 26, REPEATING),
        outputs=Outputs.AT_ONCE,
    ),
    build(
        "inside",
        Design(order=Order.RECOVERY, outputs=Outputs.AT_ONCE),
        (
            Pin("no crash", 541),
            Pin("one partition", 1_645, guarantee=REPEATING),
            Pin("a chain, three tuples", 21_204, guarantee=REPEATING),
        ),
        "If only the states of partitions count, the order may begin with the recovery, and "
        "results need no number: this is the exactly-once processing of the paper.",
        properties=(RESTED, INSIDE),
        claim=REPEATING,
    ),
    _change(
        "ordered-in-recovery",
        "An application that skips the numbers it has seen needs one order before and after the "
        "failure; an order that is turned on in recovery comes too late.",
        Pin("one partition", 1_596),
        Pin("a triangle, the union", 7_161, 19, DIVERGENT),
        order=Order.RECOVERY,
    ),
    _change(
        "unordered",
        "Without a fixed order, a partition that fails numbers other tuples in its second run: who "
        "has seen the number skips a tuple that it has not seen.",
        Pin("one partition", 1_596),
        Pin("a triangle, the union", 7_161, 19, DIVERGENT),
        order=Order.NEVER,
    ),
    build(
        "committed",
        Design(order=Order.RECOVERY, outputs=Outputs.COMMITTED),
        (
            Pin("no crash", 783),
            Pin("one partition", 2_488),
            Pin("one partition, twice", 17_486),
            Pin("one partition, the coordinator", 2_697),
            Pin("a chain", 49_744),
            Pin("a chain, three tuples", 28_599),
            Pin("a chain, both", 573_061),
            Pin("a triangle, the union", 6_715),
            Pin("a triangle, the union twice", 130_829),
            Pin("a diamond", 32_879),
            Pin("a diamond, both sides", 2_097_500),
            Pin("two sources, three tuples", 433_052),
        ),
        "If results wait for their global checkpoint, an order in recovery is enough.  But this "
        "checkpoint needs all partitions, so no query gets a result before all are back: the "
        "recovery is progressive in vain.",
        (*SEEN, WITHDRAWN),
    ),
    _change(
        "skip-seen",
        "Who skips only what it has seen takes what is sent before the replay begins, and then "
        "skips the replay.",
        Pin("one partition", 10_657, 14, GAP),
        Pin("a chain, the second twice", 39_965, 19),
        accepts=Accepts.UNSEEN,
        threshold=0,
    ),
    _change(
        "skip-nothing",
        "Without numbers, a tuple that comes live and in the replay is processed twice.",
        Pin("one partition", 19_637, 12, GAP),
        accepts=Accepts.ALL,
        threshold=0,
    ),
    _change(
        "no-epochs",
        "Tuples and acknowledgements from before the rollback are taken for those of the replay.",
        Pin("one partition", 2_507, 13, GAP),
        Pin("one partition, the coordinator", 3_488, 13),
        Pin("a chain, three tuples", 49_946, 17, GAP),
        fence=Fence.NONE,
    ),
    _change(
        "ends-at-checkpoint",
        "A partition stores its part and fails; the others complete the global checkpoint and turn "
        "their buffers off: what they send before it is back is lost.",
        Pin("one partition", 7_978),
        Pin("a chain, the second twice", 41_821, 30),
        Pin("a chain, the second twice, two tuples", 508_369, 30, GAP),
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
    ),
    _change(
        "stateless-coordinator",
        "A coordinator without stable storage does not know the last global checkpoint, and its "
        "second life begins with epochs that were in use.",
        Pin("one partition", 1_594, 13, GAP),
        Pin("one partition, the coordinator", 2_019, 6),
        coordinator=Coordinator.STATELESS,
    ),
    _change(
        "punctuated-by-data",
        "If only data is punctuated, a recovery without new data never ends: the buffers stay on.",
        Pin("one partition", 6_552, 8),
        punctuates=Punctuates.DATA,
        threshold=0,
    ),
    _change(
        "upstream-buffering",
        "Upstream buffering, the rival that the paper finds too expensive, is as right.",
        Pin("one partition", 2_215),
        Pin("a chain", 45_143),
        Pin("a chain, the second twice", 6_331),
        Pin("no crash", 1_339),
        buffering=Buffering.UPSTREAM,
    ),
    _change(
        "source-buffering",
        "Source buffering is right, if every recovery waits for all failed partitions.",
        Pin("no crash", 541),
        Pin("one partition", 1_596),
        Pin("a chain", 3_595),
        Pin("a chain, the second twice", 5_834),
        buffering=Buffering.SOURCE,
        threshold=0,
    ),
    _change(
        "late-failures-wait",
        "If failures after the window do not count, the recovery stays blocking, and right.",
        Pin("no crash", 541),
        Pin("one partition", 1_596),
        Pin("a chain", 16_388),
        late=Late.STAYS,
    ),
    _change(
        "overlapping-checkpoints",
        "Several checkpoints may be under way, if partitions keep all since the global one.",
        Pin("one partition", 4_821),
        Pin("a chain, the second twice", 6_331),
        Pin("no crash", 9_456),
        overlap=True,
    ),
    _change(
        "always-progressive",
        "With threshold 0, every recovery is progressive.",
        Pin("no crash", 541),
        Pin("one partition", 7_938),
        Pin("one partition, the coordinator", 18_630),
        Pin("a chain, the first twice", 33_944),
        Pin("a chain, the second twice", 33_534),
        Pin("a triangle, the side", 6_847),
        Pin("a triangle, the union", 35_415),
        Pin("a triangle, the side twice", 92_964),
        Pin("a triangle, the union twice", 860_436),
        threshold=0,
    ),
)
