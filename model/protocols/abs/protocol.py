"""Asynchronous barrier snapshotting, with every mend, and its evidence.

Rule of this file: no design but the mended one, joined with its variants and mutants.
"""

from __future__ import annotations

from dataclasses import replace

from model.protocols.abs.design import Design
from model.protocols.abs.scopes import hold
from model.protocols.abs.variants import VARIANTS, build

PROTOCOL = replace(
    build(
        "",
        Design(),
        hold(a_relay=None, pairs=None, two_relays=None, a_union=None, a_coin=None),
        "Aligned markers, an epoch that is complete when all nodes have made their snapshots, a "
        "restart of all nodes, and a restart that settles what is pre-committed: precise.",
    ),
    variants=VARIANTS,
)
