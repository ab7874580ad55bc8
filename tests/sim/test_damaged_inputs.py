"""A Parquet file with any one bit changed is read, or refused as bad input."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from model.errors import Invalid
from sim.inputs.files import load

EVERY = 13
"""One bit of this number is changed: in the end, each of the eight of a byte."""


def test_a_changed_bit_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    pq.write_table(pa.table({"type": ["a", "b"], "time": [1, 2]}), path)
    whole = path.read_bytes()
    for bit in range(32, 8 * len(whole), EVERY):
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        with suppress(Invalid):
            load(path, "type", "time")
