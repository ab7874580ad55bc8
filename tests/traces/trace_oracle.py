"""What a comparison of two logs must find, one row at a time, and logs to try it on.

What is to be found is defined in spark_check/traces/verify.py; types come from
`model.recovery.classify`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

from hypothesis import strategies as st

from model.core import Guarantee
from model.recovery import classify
from spark_check.traces.roles import ColumnRoles

Row: TypeAlias = Mapping[str, Any]
Values: TypeAlias = tuple[Any, ...]


class StreamVerdict(NamedTuple):
    """Of one stream."""

    guarantee: str
    missing: int = 0
    different: int = 0
    duplicated: int = 0
    unexpected: int = 0
    out_of_order: int = 0


def judge(
    reference: Sequence[Row], actual: Sequence[Row], asked: ColumnRoles
) -> dict[Values, StreamVerdict]:
    """By key, in the order of --key."""
    streams: dict[Values, tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for side, rows in enumerate((reference, actual)):
        for row in rows:
            streams[_values(row, asked.key)][side].append(row)
    return {key: _stream(*rows, asked) for key, rows in streams.items()}


def _stream(reference: Sequence[Row], actual: Sequence[Row], asked: ColumnRoles) -> StreamVerdict:
    names = [name for name in (*reference, *actual)[0] if name not in asked.ignore]
    known = {_values(row, names) for row in reference}

    def place(row: Row) -> Any:
        """Nulls first; rows that tie stay, or, if they have no order, foreign ones come last."""
        order = [(row[name] is not None, row[name]) for name in asked.order]
        if not asked.sorted_by_content:
            return order
        content = _values(row, names)
        return order, content not in known, repr(content)

    e, o = sorted(reference, key=place), sorted(actual, key=place)
    expected, observed = ([_values(row, names) for row in rows] for rows in (e, o))
    identities = {_values(row, names): _values(row, asked.identity) for row in (*e, *o)}
    lacking = Counter(expected) - Counter(observed)
    surplus = Counter(observed) - Counter(expected)
    foreign = Counter({row: count for row, count in surplus.items() if row not in known})
    missing, different = lacking.total(), 0
    if asked.identity:
        lacks, comes = (_by_identity(rows, identities) for rows in (lacking, foreign))
        missing = (lacks - comes).total()
        held = {identities[row] for row in known}
        different = sum(count for identity, count in comes.items() if identity in held)
    kind = classify(expected, observed)  # type: ignore[arg-type]
    if kind is Guarantee.GAP and not missing:
        kind = Guarantee.DIVERGENT
    return StreamVerdict(
        kind.name.lower(),
        missing,
        different,
        surplus.total() - foreign.total(),
        foreign.total() - different,
        0 if kind <= Guarantee.REPEATING else _crossed(expected, observed),
    )


def _by_identity(rows: Counter[Values], identities: Mapping[Values, Values]) -> Counter[Values]:
    counts: Counter[Values] = Counter()
    for row, count in rows.items():
        counts[identities[row]] += count
    return counts


def _crossed(expected: Sequence[Values], observed: Sequence[Values]) -> int:
    """How often a row comes directly behind one that is expected later."""
    places: dict[Values, list[int]] = defaultdict(list)
    for at, row in enumerate(expected):
        places[row].append(at)
    paired = [places[row].pop(0) for row in observed if places[row]]
    return sum(one > other for one, other in pairwise(paired))


def _values(row: Row, names: Sequence[str]) -> Values:
    return tuple(row[name] for name in names)


# --- logs ------------------------------------------------------------------------------------
NAMES = ("u", "n", "v", "t")
"""A key, a number in its stream, a value, and the time of output."""


class TraceCase(NamedTuple):
    reference: tuple[Row, ...]
    actual: tuple[Row, ...]
    faults: tuple[str, ...]


def case(expected: str, observed: str) -> TraceCase:
    """Rows as digits, each a result; a mark behind one is other content of it."""
    reference, actual = (
        tuple(
            {"u": "a", "n": int(word[0]), "v": 2.0 if word[1:] else 0.5, "t": at}
            for at, word in enumerate(text.split())
        )
        for text in (expected, observed)
    )
    return TraceCase(reference, actual, ())


FIGURE_2 = {
    "precise": case("1 2 3 4 5 6", "1 2 3 4 5 6"),
    "gap": case("1 2 3 4 5 6", "1 2 3 5 6"),
    "repeating": case("1 2 3 4 5 6", "1 2 3 2 3 4 5 6"),
    "convergent": case("1 2 3 4 5 6", "1 2 3 2' 3' 4 5 6"),
    "divergent": case("1 2 3 4 5 6", "1 2 3 2' 3' 4' 5' 6'"),
}
"""Hwang et al., Fig. 2: what each type of recovery looks like."""
KNOWN = (*FIGURE_2.values(), case("1 2 1 3", "1 1 2 1 3"))
"""The last one repeats, although its copies, paired in order, cross."""

ROWS = st.tuples(
    st.sampled_from(["a", "b", None]),
    st.one_of(st.none(), st.integers(0, 3)),
    st.sampled_from([None, 0.5, 1.0]),
)
FAULTS = ("drop", "duplicate", "replay", "swap", "change", "invent")


@st.composite
def cases(draw: st.DrawFn) -> TraceCase:
    """A log, and the same after a few faults; the numbers may count up or repeat."""
    rows = draw(st.lists(ROWS, min_size=0, max_size=10))
    if draw(st.booleans()):
        counts: Counter[Any] = Counter()
        for at, (u, _, v) in enumerate(rows):
            rows[at] = (u, counts[u], v)
            counts[u] += 1
    broken = list(rows)
    faults = draw(st.lists(st.sampled_from(FAULTS), max_size=4))
    happened = [fault for fault in faults if _strike(draw, fault, broken)]
    times = draw(
        st.lists(st.integers(0, 9), min_size=len(broken), max_size=len(broken)).map(sorted)
    )
    return TraceCase(
        tuple(dict(zip(NAMES, (*row, at), strict=True)) for at, row in enumerate(rows)),
        tuple(
            dict(zip(NAMES, (*row, t), strict=True)) for row, t in zip(broken, times, strict=True)
        ),
        tuple(happened),
    )


def _strike(draw: st.DrawFn, fault: str, rows: list[Any]) -> bool:
    """Did it do anything?"""
    if fault == "invent":
        rows.insert(draw(st.integers(0, len(rows))), draw(ROWS))
        return True
    if not rows:
        return False
    before = list(rows)
    at = draw(st.integers(0, len(rows) - 1))
    match fault:
        case "drop":
            del rows[at]
        case "duplicate":
            rows.insert(draw(st.integers(0, len(rows))), rows[at])
        case "replay":  # from an earlier row on
            start = draw(st.integers(0, at))
            rows[at + 1 : at + 1] = rows[start : at + 1]
        case "swap":
            other = draw(st.integers(0, len(rows) - 1))
            rows[at], rows[other] = rows[other], rows[at]
        case "change":
            rows[at] = (*rows[at][:2], 2.0)
    return rows != before
