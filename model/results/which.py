"""The result of `asif simulate --which`: which protocols can run a scenario.

Rule of this file: values only; sim.scenarios.which makes them.
"""

from __future__ import annotations

from typing import NamedTuple


class ProtocolFit(NamedTuple):
    """Can a protocol run the operators of a scenario, with its inputs?

    why: all reasons why not.  keys: the first thing in the file that is another protocol's, such as
    a timer; "" if nothing is.
    """

    protocol: str
    runs: bool
    why: tuple[str, ...] = ()
    keys: str = ""
