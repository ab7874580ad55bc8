"""Continuous eventual checkpointing, mended, and its evidence.

Sebepou and Magoutis: "CEC: Continuous Eventual Checkpointing for Data Stream Processing
Operators", DSN 2011.

Rule of this file: no design but the mended one, joined with its variants and mutants.
"""

from __future__ import annotations

from dataclasses import replace

from model.core import CHECKPOINTED, REPLAYED, SPANNED
from model.protocols.cec.design import MENDED
from model.protocols.cec.messages import CUT, EARLY, IGNORED, LOG_TRIMMED, NO_WINDOWS
from model.protocols.cec.mutants import MUTANTS
from model.protocols.cec.variants import SEEN, VARIANTS, Pin, build
from model.queues import TRIMMED

PINS = (
    Pin("windows of one tuple", 3_832),
    Pin("windows of two tuples", 10_380),
    Pin("five tuples", 36_726),
    Pin("equal times", 18_730),
    Pin("background", 7_228),
    Pin("background, windows of three", 1_764),
    Pin("background, two crashes", 22_650),
    Pin("two crashes", 34_288),
    Pin("queues let go", 34_722),
    Pin("queues let go, two crashes", 73_262),
    Pin("windows of three, queues let go", 19_604),
    Pin("results alone", 2_978),
    Pin("outstanding writes", 7_380),
    Pin("outstanding writes, queues let go", 6_440),
    Pin("catching up", 947),
    Pin("catching up, queues let go", 8_619),
    Pin("all at once", 163_642),
    Pin("windows by time", 14_528),
    Pin("windows by time, background", 43_872),
    Pin("windows from the first tuple", 9_198),
    Pin("sliding windows", 6_572),
    Pin("windows that overlap in part", 8_666),
    Pin("sliding windows by time", 32_460),
    Pin("gaps between windows", 13_998),
    Pin("gaps between windows, queues let go", 12_850),
    Pin("a filter upstream", 4_606),
    Pin("an aggregate of an aggregate", 1_775),
    Pin("adjacent crashes", 12_251),
    Pin("a join", 3_095),
    Pin("a join of near tuples", 9_777),
    Pin("a join by count", 8_060),
    Pin("a join, background", 9_194),
    Pin("a join, queues let go", 90_970),
    Pin("a join, two crashes", 107_816),
    Pin("a join, outstanding writes", 6_947),
    Pin("a join behind an operator, adjacent crashes", 54_418),
    Pin("a join by time", 2_874),
    Pin("a join by time, distinct times", 6_452),
    Pin("a union", 3_979),
    Pin("no crash", 695),
    Pin("no crash, gaps between windows", 1_577),
)

PROTOCOL = replace(
    build(
        "",
        MENDED,
        PINS,
        "With places for times, N in every record, floors for closed keys and between windows, "
        "one write a tuple, a log that is cut at its first hole, queues that keep the extent, and "
        "a place in each of several inputs, the eventual checkpoint is precise for every window, "
        "join and set of crashes explored.",
        (
            *SEEN,
            SPANNED,
            REPLAYED,
            CHECKPOINTED,
            IGNORED,
            EARLY,
            NO_WINDOWS,
            CUT,
            LOG_TRIMMED,
            TRIMMED,
        ),
    ),
    variants=VARIANTS,
    mutants=MUTANTS,
    lemmas=27,
)
