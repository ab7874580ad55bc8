"""What an operator goes by (q, u) is what a restart of the model finds in its log."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from model.boxes.aggregate import Aggregate
from model.events import Event
from model.log import Log
from model.protocols.cec.design import MENDED
from model.protocols.cec.messages import Kind, NodeState, Segment
from model.protocols.cec.operator import checkpoint, process
from model.protocols.cec.policy import Positions, due
from model.protocols.cec.scan import reconstruct
from tests.families.cec.logs import events

TARGETS = st.integers(0, 12)


@given(events(30), st.integers(1, 4), TARGETS, TARGETS)
def test_q_and_u_are_what_a_restart_scans_and_replays(
    tuples: tuple[Event, ...], size: int, q_target: int, u_target: int
) -> None:
    """With the G_checks that the targets ask for, at most one of each window after a tuple."""
    box = Aggregate("count", size, size, group="type")
    state, positions = NodeState(), Positions()
    log: Log[Segment] = Log()
    for event in tuples:
        before = state.segments
        state, records = process(MENDED, box, state, event, frozenset())
        state = state._replace(mark=before, stamp=event.sn[0])
        positions = positions.enter()
        while records:
            state = state._replace(segments=state.segments + 1)
            log = log.append(Segment(state.segments, tuple(records)))
            for record in records:
                follow = positions.close if record.kind is Kind.RESULT else positions.leave
                positions = follow(record.key)
            q, u = positions.sizes()
            found = reconstruct(MENDED, box, log)
            assert found.start is not None
            if found.windows:
                assert (q, u) == (found.scanned, event.sn[0] - found.start)
                assert [key for key, _ in positions.windows] == [w.key for w in found.windows]
            records = []
            if due(q, u, q_target, u_target):
                state, records = checkpoint(MENDED, box, state, state.stamp)
        if positions.windows:
            _, u = positions.sizes()
            start = reconstruct(MENDED, box, log).start
            assert start is not None
            assert u == event.sn[0] - start
