"""Is a stream the expected one, or the expected one with rewinds?  One pass in constant memory.

Rule of this file: it equals `model.recovery.classify` on finished streams that hold every expected
row and no foreign one: PRECISE, REPEATING or neither.  Rows are 64-bit digests of their content.

Why one pass is enough: of the rows so far, only the furthest position F of the expected stream
matters that they may stand for.  The next row either continues, because it is the expected row F,
or rewinds to just after the last expected row before F that is the same.  (A row that could do
either continues: from a further position, all is possible that is possible from a nearer one.)
Each step back needs a later row to make up for it, so the search backwards takes no more steps than
there are rows.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

Digests: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

CHUNK = 1 << 16
"""Digests read at once."""
IN_MEMORY = 1 << 24
"""Bytes of an expected stream that stay in memory; longer ones go to a temporary file."""
FIRST_STEP = 16
"""Digests compared at once after a rewind; the number doubles as long as they agree."""


class ExpectedStream:
    """The expected stream: written once from its beginning, then read anywhere."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115
        self._from, self._chunk = 0, np.empty(0, np.int64)
        self.length = 0

    def append(self, digests: Digests) -> None:
        self._file.write(digests.tobytes())
        self.length += len(digests)

    def read(self, at: int, count: int) -> Digests:
        """At least one from `at` on, at most `count`; none at the end."""
        if not self._from <= at < self._from + len(self._chunk):
            self._load(at)
        return self._chunk[at - self._from : at - self._from + count]

    def last(self, digest: int, before: int) -> int | None:
        """The last position < before where the row is `digest`."""
        end = before
        count = FIRST_STEP
        while end > 0:
            if not self._from < end <= self._from + len(self._chunk):
                self._load(max(0, end - CHUNK))
            start = max(self._from, end - count)
            found = np.flatnonzero(self._chunk[start - self._from : end - self._from] == digest)
            if len(found):
                return start + int(found[-1])
            end = start
            count *= 2
        return None

    def _load(self, at: int) -> None:
        self._file.seek(at * 8)
        self._from, self._chunk = at, np.frombuffer(self._file.read(CHUNK * 8), np.int64)

    def close(self) -> None:
        self._file.close()


class Follower:
    """Follows an observed stream along the expected one, which is complete by then."""

    def __init__(self, expected: ExpectedStream) -> None:
        self.expected = expected
        self.at = 0
        self.rewinds = 0
        self.lost = False

    def follow(self, digests: Digests) -> None:
        done, step = 0, FIRST_STEP
        while done < len(digests) and not self.lost:
            want = self.expected.read(self.at, min(step, len(digests) - done))
            unequal = np.flatnonzero(want != digests[done : done + len(want)])
            agreed = int(unequal[0]) if len(unequal) else len(want)
            self.at += agreed
            done += agreed
            step *= 2
            if len(unequal) or not len(want):
                self._rewind(int(digests[done]))
                done += 1
                step = FIRST_STEP

    def _rewind(self, digest: int) -> None:
        found = self.expected.last(digest, self.at)
        if found is None:
            self.lost = True
        else:
            self.at = found + 1
            self.rewinds += 1

    @property
    def whole(self) -> bool:
        """Does it end where the expected stream ends?"""
        return not self.lost and self.at == self.expected.length


SCHEMA = "k long, same boolean, rewinds boolean"


def judge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """(k: stream, side: 0 expected or 1 observed, d: digest), sorted by stream, side and place ->
    per stream: is it the same, does it only rewind?
    """
    stream: int | None = None
    expected = ExpectedStream()
    follower = Follower(expected)
    verdicts: list[tuple[int, bool, bool]] = []
    for batch in batches:
        ks, sides, ds = (column.to_numpy(zero_copy_only=False) for column in batch.columns)
        borders = np.flatnonzero((ks[1:] != ks[:-1]) | (sides[1:] != sides[:-1])) + 1
        for start, end in zip([0, *borders], [*borders, len(ks)], strict=True):
            if start == end:
                continue
            if ks[start] != stream:
                if stream is not None:
                    verdicts.append(_verdict(stream, follower))
                expected.close()
                stream, expected = int(ks[start]), ExpectedStream()
                follower = Follower(expected)
            if sides[start] == 0:
                expected.append(ds[start:end])
            else:
                follower.follow(ds[start:end])
        yield _batch(verdicts)
        verdicts = []
    if stream is not None:
        yield _batch([_verdict(stream, follower)])
    expected.close()


def _verdict(stream: int, follower: Follower) -> tuple[int, bool, bool]:
    same = follower.whole and follower.rewinds == 0
    return stream, same, follower.whole and not same


def _batch(verdicts: list[tuple[int, bool, bool]]) -> pa.RecordBatch:
    columns = list(zip(*verdicts, strict=True)) or [(), (), ()]
    types = (pa.int64(), pa.bool_(), pa.bool_())
    arrays = [pa.array(column, type_) for column, type_ in zip(columns, types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=["k", "same", "rewinds"])
