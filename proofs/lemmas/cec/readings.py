"""Readings of the paper's section on continuous eventual checkpointing that are refuted.

Rule of this file: the section, and nothing else.
"""

from __future__ import annotations

from functools import partial

from proofs.lemmas.readings import refuted as refuted_in

PAPER = "Sebepou and Magoutis, II.B"
refuted = partial(refuted_in, PAPER)
