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
)
from model.protocols.progressive.mutants import MUTANTS
from model.protocols.progressive.variants import SEEN, VARIANTS, Pin, build

PINS = (
    Pin("one partition", 1_596),
    Pin("one partition, twice", 13_241),
    Pin("one partition, the coordinator", 2_097),
    Pin("a chain", 42_115),
    Pin("a chain, three tuples", 20_414),
    Pin("a chain, the first twice", 5_780),
    Pin("a chain, the second twice", 5_834),
    Pin("a chain, the second twice, two tuples", 66_915),
    Pin("a chain, both", 433_550),
    Pin("a chain, both and one", 2_195_397),
    Pin("a chain, and the coordinator", 10_571),
    Pin("a chain, all three", 2_446_097),
    Pin("two queries", 11_432),
    Pin("two queries, both sinks", 1_300_754),
    Pin("a triangle, the side", 1_572),
    Pin("a triangle, the union", 1_964),
    Pin("a triangle, the side twice", 18_654),
    Pin("a triangle, the union twice", 28_509),
    Pin("a diamond", 8_975),
    Pin("a diamond, both sides", 558_828),
    Pin("two sources", 26_992),
    Pin("two sources, three tuples", 147_589),
    Pin("no crash", 541),
    Pin("no crash, two queries", 1_913),
    Pin("no crash, a diamond", 1_153),
)

PROTOCOL = replace(
    build(
        "",
        Design(),
        PINS,
        "With epochs, one order always, results that are known by number, of numbers only the next "
        "one taken, an application that takes part in checkpoints, a coordinator with stable "
        "storage, acknowledgements that a failure cancels, and a punctuation when it begins, "
        "progressive recovery is precise for every group of failures explored.",
        (*SEEN, DISCARDED, ROLLED_BACK, BLOCKING, PROGRESSIVE, REJOINED),
    ),
    variants=VARIANTS,
    mutants=MUTANTS,
    lemmas=10,
)
