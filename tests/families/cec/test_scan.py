"""What a restart finds in a log is the operator's state once, whatever a crash left of the log."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given

from model.boxes.aggregate import Aggregate
from model.boxes.box import Item
from model.events import Body, Event
from model.log import Log
from model.protocols.cec.design import MENDED
from model.protocols.cec.keyed import rests
from model.protocols.cec.messages import Disk, Kind, NodeState, Segment
from model.protocols.cec.nodes import recover
from model.protocols.cec.operator import process
from model.protocols.cec.scan import reconstruct, repair
from tests.families.cec.logs import Written, aggregates, damaged, events, site, write, written


def parts(box: Aggregate, state: NodeState) -> object:
    """The state without footprints: the open windows, when the next ones open, the results."""
    turns = [
        (key, next_)
        for key, next_ in state.turns
        if rests(box, next_) or any(w.key == key and w.pane for w in state.windows)
    ]
    windows = {(w.key, w.opened): w.pane for w in state.windows if w.pane is not None}
    return windows, turns, state.results


def replayed(state: NodeState, box: Aggregate, given: Iterable[Event]) -> NodeState:
    """The state after the tuples that the restart asks for, up to the log's newest record."""
    request = state.inlets.ends[0].request
    assert request is not None
    for event in given:
        if request.wants(event) and event.sn[0] <= state.until:
            state, records = process(MENDED, box, state, event, frozenset())
            assert not records  # the log has them
    return state


def check(whole: Written, disk: Disk) -> None:
    """A restart from this log comes to the state after the log's newest tuple."""
    state = recover(site(whole.box), disk).state
    known = replayed(state, whole.box, whole.events)
    assert parts(whole.box, known) == parts(whole.box, whole.states[max(0, state.until)])


@given(written())
def test_a_restart_comes_to_the_state_at_the_newest_record(whole: Written) -> None:
    check(whole, whole.disk)


@given(written())
def test_every_beginning_of_a_log_is_a_state_gone_through(whole: Written) -> None:
    log: Log[Segment] = Log()
    for segment in whole.disk.log:
        log = log.append(segment)
        check(whole, Disk(1, log))


@given(damaged())
def test_a_damaged_log_is_cut_where_it_is_damaged(log: tuple[Written, Disk]) -> None:
    whole, disk = log
    good, cut = repair(MENDED, disk)
    assert len(good.log) + cut == len(disk.log)
    assert [*good.log] == [*whole.disk.log][: len(good.log)]
    check(whole, disk)


@given(written())
def test_a_scan_goes_through_the_extent_and_needs_nothing_before_it(whole: Written) -> None:
    found = reconstruct(MENDED, whole.box, whole.disk.log)
    assert found.complete
    assert len(found.windows) <= found.scanned
    oldest = min((window.at for window in found.windows), default=whole.states[-1].segments)
    kept = whole.disk.log.trim(lambda segment: segment.place < oldest)
    assert reconstruct(MENDED, whole.box, kept) == found
    check(whole, Disk(oldest, kept))
    fewer = whole.disk.log.trim(lambda segment: segment.place <= oldest)
    if found.windows and fewer:
        assert not reconstruct(MENDED, whole.box, fewer).complete


@given(written())
def test_n_is_the_number_of_windows_and_of_keys_between_windows(whole: Written) -> None:
    open_: dict[object, bool] = {}
    for segment in whole.disk.log:
        for record in segment.records:
            between = record.pane is None and rests(whole.box, record.next)
            open_ = {
                key: rest
                for key, rest in open_.items()
                if key[0] != record.key or not rest  # type: ignore[index]
            }
            open_.pop((record.key, record.opened), None)
            others = [key for key in open_ if key[0] == record.key]  # type: ignore[index]
            if record.pane is not None or (between and not others):
                open_[record.key, record.opened] = record.pane is None
        assert segment.records[-1].n == len(open_)


@given(aggregates(), events())
def test_windows_fed_one_by_one_give_what_the_aggregate_gives(
    box: Aggregate, given_: tuple[Event, ...]
) -> None:
    state = box.begin(1)
    expected: list[Body] = []
    for event in given_:
        (fed,) = box.feed(state, Item(0, event.body))
        state = fed.state
        expected += [out.body for out in fed.outs]
    log = write(box, given_, [0] * len(given_)).disk.log
    records = [record for segment in log for record in segment.records]
    assert [record.out.body for record in records if record.out] == expected
    assert [r.results for r in records if r.kind is Kind.RESULT] == [*range(1, len(expected) + 1)]
