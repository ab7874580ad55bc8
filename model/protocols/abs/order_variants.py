"""Designs without two-phase commit behind an operator that counts the events of two inputs.

Rule of this file: no design without its claim and the verdict expected of it; the value of an
output depends on the order in which two inputs arrive.
"""

from __future__ import annotations

from model.core import Guarantee, OperatorClass
from model.properties import at_least
from model.protocols.abs import scopes
from model.protocols.abs.design import AbsDesign, WriteMode
from model.protocols.abs.family import ABS

CONVERGENT, DIVERGENT = Guarantee.CONVERGENT, Guarantee.DIVERGENT
CONVERGES = {OperatorClass.ARBITRARY: CONVERGENT}

ORDER_VARIANTS = (
    ABS.design(
        "at-once-any",
        AbsDesign(writes=WriteMode.AT_ONCE),
        (scopes.A_COUNT_OF_A_UNION.fails(42_127, 19, DIVERGENT),),
        "A union that restarts in another order gives an event another count: the event is there "
        "with two counts, and the outputs of no run without failures have both.",
        claims=CONVERGES,
        properties=(at_least(CONVERGENT),),
    ),
    ABS.design(
        "transactional-any",
        AbsDesign(writes=WriteMode.WITH_SNAPSHOT),
        (scopes.A_COUNT_OF_A_UNION.fails(21_981, 23, DIVERGENT),),
        "A transaction with the snapshot of the writer does not help: the epoch is not complete, "
        "and the count comes again as another one.",
        claims=CONVERGES,
        properties=(at_least(CONVERGENT),),
    ),
)
