"""Progressive recovery, mended, and its evidence.

Li Su and Yongluan Zhou: "Progressive Recovery of Correlated Failures in Distributed Stream
Processing Engines", EDBT 2017.

Rule of this file: no design but the mended one, joined with its variants and mutants.
"""

from __future__ import annotations

from dataclasses import replace

from model.core import DISCARDED
from model.protocols.progressive.design import Design
from model.protocols.progressive.messages import (
    BLOCKING,
    PROGRESSIVE,
    REJOINED,
    ROLLED_BACK,
    WITHDRAWN,
)
from model.protocols.progressive.mutants import MUTANTS
from model.protocols.progressive.variants import SEEN, VARIANTS, Pin, build

PINS = (
    Pin("one partition", 2_488),
    Pin("one partition, twice", 17_486),
    Pin("one partition, the coordinator", 2_697),
    Pin("a chain", 49_744),
    Pin("a chain, three tuples", 28_599),
    Pin("a chain, the first twice", 6_140),
    Pin("a chain, the second twice", 6_194),
    Pin("a chain, the second twice, two tuples", 82_605),
    Pin("a chain, both", 573_061),
    Pin("a chain, both and one", 2_918_645),
    Pin("a chain, and the coordinator", 12_527),
    Pin("a chain, all three", 3_322_897),
    Pin("two queries", 11_753),
    Pin("two queries, both sinks", 1_577_019),
    Pin("a triangle, the side", 6_175),
    Pin("a triangle, the union", 6_715),
    Pin("a triangle, the side twice", 127_594),
    Pin("a triangle, the union twice", 130_829),
    Pin("a diamond", 32_879),
    Pin("a diamond, both sides", 2_097_500),
    Pin("two sources", 60_038),
    Pin("two sources, three tuples", 433_052),
    Pin("no crash", 783),
    Pin("no crash, two queries", 2_754),
    Pin("no crash, a diamond", 5_493),
)

PROTOCOL = replace(
    build(
        "",
        Design(),
        PINS,
        "With epochs, numbers of which only the next one is taken, one order during the recovery, "
        "a coordinator with stable storage, acknowledgements that a failure cancels, and results "
        "that wait for a global checkpoint, progressive recovery is precise for every group of "
        "failures explored.",
        (*SEEN, DISCARDED, ROLLED_BACK, BLOCKING, PROGRESSIVE, REJOINED, WITHDRAWN),
    ),
    variants=VARIANTS,
    mutants=MUTANTS,
)
