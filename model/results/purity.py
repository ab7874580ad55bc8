"""Functions of a protocol that are not pure: the same question has two answers.

Rule of this file: fields alone; proofs.explore.purity finds them.
"""

from __future__ import annotations

from typing import NamedTuple


class ImpureAnswer(NamedTuple):
    """function: its role: step, recover, boot, deploy, gauges, holds, needed, allowed outputs.

    node: whose call it is; "" for none.  on: its input, in a few words.  place: FILE:LINE of the
    function.  answers: two answers, each where it differs from the other one.
    """

    function: str
    node: str
    on: str
    place: str
    answers: tuple[str, str]
