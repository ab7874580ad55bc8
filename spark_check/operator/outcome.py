"""Matches as numbers that can be compared, and the keys for which two results differ.

Rule of this file: nothing here knows who found the matches.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from model.events import Body
from model.results.engine import Facts
from spark_check.operator.sql import SqlMatch
from spark_check.operator.stateful import MatchRow

Rows: TypeAlias = Iterable[MatchRow] | Iterable[SqlMatch]


def outcome(rows: Rows) -> Facts:
    """keys: with anything found.  sha256: of a count and a hash for each of them."""
    digests = {
        name: (len(texts), hashlib.sha256("\n".join(texts).encode()).hexdigest())
        for name, texts in _by_key(rows).items()
    }
    listed = json.dumps(sorted(digests.items()))
    return {
        "keys": len(digests),
        "matches": sum(count for count, _ in digests.values()),
        "sha256": hashlib.sha256(listed.encode()).hexdigest(),
    }


def differing_keys(one: Rows, other: Rows) -> list[str]:
    """The keys for which two results differ."""
    ours, theirs = _by_key(one), _by_key(other)
    return sorted(
        f"{query} {key}".strip()
        for query, key in ours.keys() | theirs.keys()
        if ours.get((query, key)) != theirs.get((query, key))
    )


def _by_key(rows: Rows) -> Mapping[tuple[str, str], list[str]]:
    texts: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in rows:
        texts[one.query, one.key].append(json.dumps(one))
    return texts


def sent(bodies: Sequence[Body]) -> Facts:
    """Events at the sink as numbers that can be compared."""
    text = json.dumps(bodies, ensure_ascii=False)
    return {"matches": len(bodies), "sha256": hashlib.sha256(text.encode()).hexdigest()}
