"""Limits: how much of something a command takes, with an estimate for more.

Rule of this file: no number of a domain; each domain has a file with its limits.
"""

from __future__ import annotations

from typing import NamedTuple

from model.errors import Invalid

TIMES = (
    (365.25 * 86_400, "years"),
    (86_400, "days"),
    (3_600, "hours"),
    (60, "minutes"),
    (1, "seconds"),
)
VAST = 1e300
"""Estimates go no further; an integer may be larger than every float."""
SIZES = ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"))


class Ceiling(NamedTuple):
    """The most of something that is taken.

    each_s, each_bytes: the usual time and memory of one; 0: they do not matter.  instead: the
    remedy, as an imperative.
    """

    most: float
    each_s: float = 0.0
    each_bytes: float = 0.0
    instead: str = "give fewer"

    def refuse(self, words: str, asked: float) -> None:
        """Raise Invalid if this is more than the limit.  words: as the user has written it."""
        if asked > self.most:
            raise Invalid(self.complaint(words, asked))

    def complaint(self, words: str, asked: float) -> str:
        """The words about more than the limit."""
        asked = min(asked, VAST)
        costs = [one for one in (self._time(asked), self._memory(asked)) if one]
        estimate = f", and this needs about {' and '.join(costs)}" if costs else ""
        return f"{words}: at most {amount(self.most)}{estimate}; {self.instead}"

    def _time(self, asked: float) -> str:
        return _scaled(asked * self.each_s, TIMES)

    def _memory(self, asked: float) -> str:
        return f"{memory} of memory" if (memory := _scaled(asked * self.each_bytes, SIZES)) else ""


def amount(number: float) -> str:
    """A number as people read it: 20,000 or 1e+18."""
    return f"{number:,.0f}" if 1 <= number < 1e12 and number == int(number) else f"{number:.3g}"


def _scaled(value: float, units: tuple[tuple[float, str], ...]) -> str:
    for unit, name in units:
        if value >= unit:
            return f"{amount(float(f'{value / unit:.2g}'))} {name}"
    return ""
