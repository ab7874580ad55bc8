"""The paper's words on each choice: do they state the reading that is refuted, or allow it?

Rule of this file: the paper's words; no verdict (variants.py has these), and no other choice than
those of design.py.
Sebepou and Magoutis, CEC, 2011.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

from model.protocols.cec.design import MENDED, PUBLISHED


class ReadingOrigin(Enum):
    """Whose the reading of a choice is that is not the mended one."""

    STATED = "the paper states it"
    ALLOWED = "the paper's words allow it"
    OURS = "the model adds it"


class Warrant(NamedTuple):
    """The words of the paper on a choice, and its section.

    right: is the published reading right, too?
    """

    origin: ReadingOrigin
    section: str
    words: str
    right: bool = False


WARRANTS: Mapping[str, Warrant] = {
    "count": Warrant(
        ReadingOrigin.STATED,
        "II.B, III",
        '"storing along with each checkpoint the number N"',
        right=True,
    ),
    "stamp": Warrant(
        ReadingOrigin.STATED, "II.B", '"replay of input tuples with timestamps t > T"'
    ),
    "replay": Warrant(
        ReadingOrigin.OURS, "II.B", "t >= T, where the paper has t > T, as is right", right=True
    ),
    "ignore": Warrant(ReadingOrigin.STATED, "II.B", '"ignores tuples with timestamps t < t_i"'),
    "checked": Warrant(
        ReadingOrigin.ALLOWED,
        "III",
        '"the tuple entering the operator"; also "last processed by the operator"',
    ),
    "closed": Warrant(
        ReadingOrigin.STATED, "II.B", "windows of the checkpoint ignore tuples, no others"
    ),
    "empty": Warrant(ReadingOrigin.ALLOWED, "II.B", "the least t_i, if there is one"),
    "write": Warrant(
        ReadingOrigin.STATED, "II.B", '"the entire checkpoint record ... is atomically written"'
    ),
    "background": Warrant(
        ReadingOrigin.STATED, "III", '"the choice of these parameters does not affect correctness"'
    ),
    "load": Warrant(
        ReadingOrigin.ALLOWED,
        "III",
        "an input stream; no word on the log (read as nothing)",
        right=True,
    ),
    "identity": Warrant(
        ReadingOrigin.ALLOWED, "II.B, IV", "footprints of a window; a window per item_id"
    ),
    "phase": Warrant(
        ReadingOrigin.OURS,
        "II",
        "windows that leave gaps: the paper has those that overlap",
        right=True,
    ),
    "content": Warrant(ReadingOrigin.STATED, "II.B", '"S is equal to the partial result"'),
    "damage": Warrant(ReadingOrigin.STATED, "II.B", '"in that case discard the record"'),
    "discard": Warrant(
        ReadingOrigin.ALLOWED, "II.B", "no word on when a discarded record is gone", right=True
    ),
    "forward": Warrant(ReadingOrigin.STATED, "IX", '"Once a completion of a write I/O is posted"'),
    "catch_up": Warrant(
        ReadingOrigin.ALLOWED,
        "IX",
        "a reader that catches up; no word on writes that complete meanwhile",
        True,
    ),
    "position": Warrant(
        ReadingOrigin.ALLOWED,
        "V",
        '"from which point in time"; also "the relevant position of the two windows"',
    ),
    "interleaving": Warrant(ReadingOrigin.ALLOWED, "V", "no word on the order of two inputs"),
    "index": Warrant(
        ReadingOrigin.OURS,
        "IX",
        'not to "reconcile the stream index", which the paper does',
        right=True,
    ),
    "unstored": Warrant(
        ReadingOrigin.STATED,
        "II, IX",
        '"until successfully sent"; also "until receiving an acknowledgment"',
    ),
    "log_trim": Warrant(ReadingOrigin.STATED, "II", '"until receiving an acknowledgment"'),
    "input_trim": Warrant(
        ReadingOrigin.OURS,
        "II.A",
        'tuples of other kinds than those it does "no longer depend on"',
        right=True,
    ),
    "resume": Warrant(ReadingOrigin.STATED, "IX", '"communicate the timestamp"'),
}
"""By field of CecDesign: of its readings but the mended one.  `right`: the reading of PUBLISHED."""


def flaws() -> tuple[str, ...]:
    """The choices in which the reading nearest to the paper's words is refuted."""
    return tuple(
        name
        for name, warrant in WARRANTS.items()
        if getattr(PUBLISHED, name) != getattr(MENDED, name) and not warrant.right
    )
