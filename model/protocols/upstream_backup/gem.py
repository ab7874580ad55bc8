"""The five calls of libgem, for people who only want the operator.

Rule of this file: no logic but an output queue; the file is a thin, mutable shell around
model.protocols.upstream_backup.savepoints.  Lima et al., Section IV.

>>> from model.events import Body, Event
>>> from model.cep.patterns import sequence
>>> gem = Gem.new(sequence("e", "f"), size=5, slide=2)
>>> for time, type_ in enumerate("abcdef", 1):
...     gem.push(Event((time,), Body(time, type_)))
>>> theta = gem.pop()
>>> [body.type for body in theta.body.data]
['e', 'f']
>>> savepoint = gem.save(theta)
>>> savepoint.trim
(2,)
>>> gem.restore(savepoint)
>>> gem.pop() is None
True
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from model.cep.engines import Engine
from model.cep.numbering import TRIGGERED, Numbering, Seed
from model.cep.operator import Operator
from model.cep.savepoint import Layout, Savepoint
from model.cep.skips import Ranges
from model.cep.windows import Splitter, TimeWindows
from model.errors import Invalid
from model.events import SN, Event
from model.protocols.upstream_backup.savepoints import (
    Scheme,
    Skipping,
    origin,
    push,
    restore,
    save,
)


class GemSavepoint(NamedTuple):
    """SN_seed, SN_trim and v_skip; layout: the windows, if the splitter counts events."""

    seed: Seed
    trim: SN
    skips: Ranges
    layout: Layout | None


class Gem:
    """One operator with one input.  Not safe to share between threads."""

    def __init__(self, operator: Operator, scheme: Scheme) -> None:
        self._operator = operator
        self._scheme = scheme
        self._state = restore(scheme, origin(scheme, 1))
        self._queue: deque[Event] = deque()
        self._popped: set[SN] = set()

    @classmethod
    def new(
        cls,
        engine: Engine,
        size: int = 1,
        slide: int = 1,
        *,
        skip: bool = True,
        parallel: bool = True,
        splitter: Splitter | None = None,
        numbering: Numbering = TRIGGERED,
    ) -> Gem:
        """An operator with windows of `size` time units every `slide`, unless `splitter` is given.

        skip: collect skip ranges.  Raises Invalid for impossible windows.
        """
        windows = TimeWindows(size, slide) if splitter is None else splitter
        skipping = Skipping.PER_EDGE if skip else Skipping.OFF
        return cls(Operator(engine, windows, parallel=parallel), Scheme(numbering, skipping))

    def push(self, event: Event) -> None:
        """Process a primitive event.

        Raises Invalid unless its number is greater than that of every event before it.
        """
        (last,) = self._state.last
        if event.sn <= last:
            raise Invalid(f"push: event {event.sn} after {last}; sequence numbers must increase")
        self._state, produced = push(self._operator, self._scheme, self._state, 0, event)
        self._queue.extend(produced)

    def pop(self) -> Event | None:
        """The next complex event, None if there is none."""
        if not self._queue:
            return None
        theta = self._queue.popleft()
        self._popped.add(theta.sn)
        return theta

    def save(self, theta: Event) -> GemSavepoint:
        """Acknowledge `theta`, which has been popped, and all complex events before `theta`.

        Raises Invalid if `theta` has not been popped, or is already acknowledged.
        """
        if theta.sn not in self._popped:
            raise Invalid(f"save: {theta.sn} has not been popped, or is already acknowledged")
        saved = save(self._scheme, self._operator.splitter, self._state, theta.sn)
        assert saved is not None  # whatever was popped and not acknowledged is pending
        self._popped = {sn for sn in self._popped if sn > theta.sn}
        self._state, savepoint, (skips,) = saved
        return GemSavepoint(savepoint.seed, savepoint.trim[0], skips, savepoint.layout)

    def restore(self, savepoint: GemSavepoint) -> None:
        """Replace the whole state by the savepoint's; push the events after its trim next."""
        seed, trim, _, layout = savepoint
        self._state = restore(self._scheme, Savepoint(seed, (trim,), layout))
        self._queue.clear()
        self._popped.clear()
