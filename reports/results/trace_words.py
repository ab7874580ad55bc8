"""Two output logs compared, in sentences: what came, and with which columns left out rows agree.

Rule of this file: a value of model.results.trace in, a sentence out.  A sentence says no more than
the counts: a row that is in REFERENCE only is missing, or it came with other content.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from model.core import Guarantee
from model.recovery import WORDS
from model.results.trace import AskedColumns, RowCounts, SideCounts, TraceComparison, TraceReading
from model.words import listed


def everyday(result: TraceComparison) -> str:
    """The guarantee in everyday words, as the rows were counted."""
    rows = result.rows
    guarantee = Guarantee[result.guarantee.upper()]
    if guarantee <= Guarantee.REPEATING:
        return WORDS[guarantee]
    if result.lost_inputs:
        return "inputs are lost: at most once at best"
    others = rows.different + rows.unexpected
    if not rows.missing and not others:
        return ("at least once" if rows.duplicated else "exactly once") + ", in another order"
    if rows.missing and not others and not rows.duplicated:
        return "at most once"
    return ", ".join(_parts(result))


def _parts(result: TraceComparison) -> Iterator[str]:
    rows = result.rows
    stand_in = any(one.changed for one in result.readings)
    if not rows.missing:
        yield "at least once"
    elif rows.unexpected and (stand_in or not _identified(result.asked)):
        surely = rows.missing - rows.unexpected
        least = f" (at least {surely:,} are missing)" if surely > 0 else ""
        yield f"results are missing or have other content{least}"
    else:
        yield "results are missing"
        if rows.unexpected:
            yield "others came"
    if rows.different:
        yield "some with other content"
    if not rows.missing and rows.unexpected:
        yield "some that REFERENCE does not hold"
    if rows.duplicated:
        yield "some came again"
    if rows.out_of_order:
        yield "some in another order"


def _identified(asked: AskedColumns) -> bool:
    """Do the columns asked name results?"""
    return bool(asked.id) or (bool(asked.order) and not {*asked.order} & {*asked.ignore})


# --- readings --------------------------------------------------------------------------------
def sentences(result: TraceComparison) -> Iterator[str]:
    """Other readings, in which more rows agree; and the command that reads so."""
    last = result.asked
    for at, one in enumerate(result.readings):
        begin = "of the rest, " if at else ""
        yield begin + sentence(one, last)
        if one.again or _most(one) or not one.left_out:
            yield f"    {command(result, one.asked)}"
        last = one.asked
    rows = result.rows
    others = rows.missing + rows.different + rows.unexpected
    if rows.out_of_order and not others and not result.readings:
        came = "all rows came" if rows.duplicated else "the rows are the same"
        yield f"{came}, in another order; without an order:"
        yield f"    {command(result, result.asked._replace(sink='bag'))}"


def sentence(one: TraceReading, before: AskedColumns) -> str:
    """One reading.  before: the columns of the reading before."""
    then = f"{outcome(one)} ({one.guarantee} recovery)"
    if not one.left_out:
        (new,) = (name for name in one.asked.key if name not in before.key)
        return f"the rows of each `{new}` are in order: if it names streams, {then}"
    names = listed([f"`{name}`" for name in one.left_out])
    agree = "more" if _disagreeing(one.read, one.rows) else "all"
    if _most(one) or (one.changed and one.again):
        return f"{agree} rows agree if {names} {_role(one, before)}: then {then}"
    other = "a row of REFERENCE" if one.changed else "a row that came as well"
    differ = f"{_rows(one.changed or one.again)} from {other} in {names} alone"
    return f"{differ}; if {names} {_role(one, before)}, {then}"


def _rows(count: int) -> str:
    return "1 row differs" if count == 1 else f"{count:,} rows differ"


def _most(one: TraceReading) -> bool:
    """Do most rows differ in these columns?  Then they may be no part of a result."""
    return 2 * one.changed > one.read.reference


def _role(one: TraceReading, before: AskedColumns) -> str:
    """How the columns are read."""
    left, many = {*one.left_out}, len(one.left_out) > 1
    be = "are" if many else "is"
    if left <= {*before.order}:
        return f"{be} the order and no part of a result"
    if left <= {*before.id}:
        return f"{be} no identity of a result"
    return f"{be} left out"


def outcome(one: TraceReading) -> str:
    """The differences of a reading."""
    return listed([*_counts(one.rows)]) or "nothing differs"


def _counts(rows: RowCounts) -> Iterator[str]:
    if rows.missing and rows.unexpected:
        both = f"{rows.missing:,} in REFERENCE only and {rows.unexpected:,} in ACTUAL only"
        yield f"{both} (missing, or with other content)"
    elif rows.missing:
        yield f"{rows.missing:,} {_be(rows.missing)} missing"
    elif rows.unexpected:
        yield f"{rows.unexpected:,} {_be(rows.unexpected)} in ACTUAL only"
    if rows.different:
        yield f"{rows.different:,} came with other content"
    if rows.duplicated:
        yield f"{rows.duplicated:,} came twice"
    if rows.out_of_order:
        yield f"{rows.out_of_order:,} {_be(rows.out_of_order)} out of order"


def _be(count: int) -> str:
    return "is" if count == 1 else "are"


def _disagreeing(read: SideCounts, rows: RowCounts) -> int:
    foreign = rows.different + rows.unexpected
    return foreign + read.reference - (read.actual - foreign - rows.duplicated)


def command(result: TraceComparison, asked: AskedColumns) -> str:
    """The command line that compares the same logs with these columns."""
    words = ["asif", "verify-trace", result.reference.path, result.actual.path]
    for option in ("key", "order", "id", "ignore", "lineage"):
        names = getattr(asked, option)
        words += [f"--{option}", ",".join(names)] if names else []
    if asked.sink != "sequence":
        words += ["--sink", asked.sink]
    if result.close is not None:
        words += ["--close", f"{result.close:g}"]
    if result.expect != "precise":
        words += ["--expect", result.expect]
    return shlex.join(words)
