"""Logs that unpack to far more than they are: refused, unless the user asks for Spark.

Rule of this file: only the footers of Parquet files are read, which say all that is asked here.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow.parquet as pq

from spark_check.traces.logs import OutputLog

ROWS, BYTES = 100, 1_000
"""The most rows and bytes, unpacked, for each byte of the file ..."""
FREE_ROWS, FREE_BYTES = 1_000_000, 100_000_000
"""... and the number of them that any file may have."""


def refuse_swollen(logs: Sequence[OutputLog]) -> None:
    """Raises Invalid for a Parquet file with more rows or bytes than one of its size has."""
    for log in logs:
        for file in log.files if log.format == "parquet" else ():
            footer, size = pq.read_metadata(file), file.stat().st_size
            groups = [footer.row_group(at) for at in range(footer.num_row_groups)]
            unpacked = sum(group.total_byte_size for group in groups)
            if footer.num_rows > ROWS * size + FREE_ROWS or unpacked > BYTES * size + FREE_BYTES:
                raise log.complain(
                    f"{file.name} unpacks to {footer.num_rows:,} rows and {unpacked:,} bytes, and "
                    f"has {size:,} bytes itself; if that is right, give --master local[*]"
                )
