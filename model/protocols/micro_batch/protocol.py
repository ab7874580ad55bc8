"""Micro-batch recovery, as Spark Structured Streaming does it, and its evidence.

Rule of this file: no design but Spark's, joined with its variants and mutants.
"""

from __future__ import annotations

from dataclasses import replace

from model.protocols.micro_batch.messages import (
    Design,
)
from model.protocols.micro_batch.mutants import MUTANTS
from model.protocols.micro_batch.scopes import SCOPES
from model.protocols.micro_batch.variants import DISCARDING, VARIANTS, build

PROTOCOL = replace(
    build(
        "",
        Design(),
        SCOPES,
        DISCARDING,
        "Offsets before the batch, the state before it kept, the commit log last, and a sink that "
        "takes no batch id twice: precise for every operator and set of crashes explored, although "
        "batches that were not logged regroup.",
    ),
    variants=VARIANTS,
    mutants=MUTANTS,
)
