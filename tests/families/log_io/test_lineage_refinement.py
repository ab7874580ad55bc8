"""Lineage of LOG.io at the level of records: Example 11, and when refinement is right."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import find, given
from hypothesis import strategies as st

from model.events import Body
from model.protocols.log_io.design import LineageCapture, LogIoDesign, Ports
from model.protocols.log_io.lineage.refinement import AttributeDependency, records_behind, refine
from model.protocols.log_io.log import transact
from model.protocols.log_io.messages import Assign, Commit, Lineage
from model.protocols.log_io.tables import ContextRow, Key, LogDatabase, LoggedEvent, Used

DAY = "2025-02-23T"
OFFSET = "+03:00"
CONTEXT = ContextRow((), (0,), (0,))
PORTS = Ports(frozenset({("OP1", "OP3")}), frozenset({("OP3", "OP4")}))
ITEM, STATE = AttributeDependency("item_ID", "item_ID"), AttributeDependency("state", "state")


def hour(date: str) -> str:
    """The hour of a date, as OP3 writes it."""
    return f"{date.partition(':')[0]}:00:00{OFFSET}"


HOUR = AttributeDependency("date", "hour", hour)
TOTAL = AttributeDependency("amount", "total")
"""It does not hold: amounts are added up."""


def sale(time: str, item: str, state: str, amount: int) -> Body:
    """A record of Example 2's schema."""
    data = (("date", f"{DAY}{time}{OFFSET}"), ("item_ID", item), ("state", state))
    return Body(0, "sale", (*data, ("amount", amount)))


class Sums(NamedTuple):
    """An output of OP3 in Example 4, as records, each with the input records that it used."""

    records: tuple[tuple[Body, frozenset[Body]], ...]


def sums(window: str, batches: tuple[tuple[Body, ...], ...]) -> Sums:
    """The window of an hour: sum(amount) by item and state."""
    groups: dict[tuple[str, str], list[Body]] = {}
    for one in (one for batch in batches for one in batch):
        known = dict(one.data)
        if hour(known["date"]) == window:
            groups.setdefault((known["item_ID"], known["state"]), []).append(one)
    found = []
    for (item, state), used in sorted(groups.items()):
        total = sum(dict(one.data)["amount"] for one in used)
        data = (("hour", window), ("item_ID", item), ("state", state), ("total", total))
        found.append((Body(0, "sum", data), frozenset(used)))
    return Sums(tuple(found))


def logged(window: str, batches: tuple[tuple[Body, ...], ...]) -> tuple[LogDatabase, Sums]:
    """The tables after OP3 has put out the window of an hour, and what was really used."""
    found = sums(window, batches)
    events = (
        LoggedEvent("OP1", "OP3", at, 0, Body(0, "batch", batch))
        for at, batch in enumerate(batches, 1)
    )
    tables, design = LogDatabase(tuple(events)), LogIoDesign(lineage=LineageCapture(ports=PORTS))
    for at in range(1, len(batches) + 1):
        tables, _ = transact(design, tables, "OP3", Assign("OP1", at, (1,)))
    body = Body(0, "batch", tuple(record for record, _ in found.records))
    used = Used("OP3", "OP4", 1, 1, frozenset(("OP1", at) for at in range(1, len(batches) + 1)))
    rows = (LoggedEvent("OP3", "OP4", 1, 0, body),)
    tables, _ = transact(design, tables, "OP3", Commit(rows, CONTEXT, 1, Lineage((used,))))
    return tables, found


OUTPUT: Key = ("OP3", "OP4", 1)
TEN = f"{DAY}10:00:00{OFFSET}"
LATE = sale("11:05:00", "BZ234", "Ohio", 300)
EVENTS = (
    (sale("10:10:00", "BZ234", "Ohio", 1_000), sale("10:20:00", "BZ234", "Utah", 70)),
    (sale("10:50:00", "BZ234", "Ohio", 429), sale("10:55:00", "AX1", "Ohio", 5), LATE),
)


def test_example_11() -> None:
    """The record [10:00, BZ234, Ohio, 1,429]: its item and its state leave three records, and the
    one of 11:05 did not contribute, as the paper says; the hour leaves it out."""
    tables, found = logged(TEN, EVENTS)
    record, used = next(one for one in found.records if ("total", 1_429) in one[0].data)
    assert record.data[:3] == (("hour", TEN), ("item_ID", "BZ234"), ("state", "Ohio"))
    refined = records_behind(tables, OUTPUT, record, {"OP3": (ITEM, STATE)})
    assert {one for _, one in refined} == {EVENTS[0][0], EVENTS[1][0], LATE}
    assert used == {EVENTS[0][0], EVENTS[1][0]}
    exact = records_behind(tables, OUTPUT, record, {"OP3": (ITEM, STATE, HOUR)})
    assert exact == {(("OP1", "OP3", 1), EVENTS[0][0]), (("OP1", "OP3", 2), EVENTS[1][0])}


SALES = st.builds(
    sale,
    st.sampled_from(["10:10:00", "10:50:00", "11:05:00"]),
    st.sampled_from(["BZ234", "AX1"]),
    st.sampled_from(["Ohio", "Utah"]),
    st.integers(1, 3),
)
BATCHES = st.lists(st.lists(SALES, min_size=1, max_size=4).map(tuple), min_size=1, max_size=3).map(
    tuple
)
DEPENDENCIES = st.sets(st.sampled_from([ITEM, STATE, HOUR])).map(tuple)


@given(BATCHES, DEPENDENCIES)
def test_refinement_drops_no_record_that_was_used_if_the_dependencies_hold(
    batches: tuple[tuple[Body, ...], ...], dependencies: tuple[AttributeDependency, ...]
) -> None:
    tables, found = logged(TEN, batches)
    for record, used in found.records:
        refined = records_behind(tables, OUTPUT, record, {"OP3": dependencies})
        assert used <= {one for _, one in refined}
        if len(dependencies) == 3:
            assert used == {one for _, one in refined}


@given(BATCHES, DEPENDENCIES, DEPENDENCIES)
def test_more_dependencies_leave_fewer_records(
    batches: tuple[tuple[Body, ...], ...],
    some: tuple[AttributeDependency, ...],
    more: tuple[AttributeDependency, ...],
) -> None:
    inputs = [one for batch in batches for one in batch]
    for record, _ in sums(TEN, batches).records:
        assert {*refine((*some, *more), record, inputs)} <= {*refine(some, record, inputs)}


def test_a_dependency_that_does_not_hold_drops_a_record_that_was_used() -> None:
    def drops(batches: tuple[tuple[Body, ...], ...]) -> bool:
        inputs = [one for batch in batches for one in batch]
        return any(
            not used <= {*refine((TOTAL,), record, inputs)}
            for record, used in sums(TEN, batches).records
        )

    smallest = find(BATCHES, drops)
    assert sum(map(len, smallest)) == 2  # of one record, the sum is its amount


def test_refinement_goes_on_over_several_operators() -> None:
    """OP4 relays the window of OP3, and asks for the records behind one of its own."""
    tables, found = logged(TEN, EVENTS)
    ports = Ports(PORTS.ins | {("OP3", "OP4")}, PORTS.outs | {("OP4", "end")})
    design = LogIoDesign(lineage=LineageCapture(ports=ports))
    tables, _ = transact(design, tables, "OP4", Assign("OP3", 1, (1,)))
    (batch,) = (row.body for row in tables.events if row.sender == "OP3")
    used = Used("OP4", "end", 1, 1, frozenset({("OP3", 1)}))
    commit = Commit((LoggedEvent("OP4", "end", 1, 0, batch),), CONTEXT, 1, Lineage((used,)))
    tables, _ = transact(design, tables, "OP4", commit)
    same = tuple(AttributeDependency(name, name) for name in ("hour", "item_ID", "state"))
    for record, really in found.records:
        behind = records_behind(
            tables, ("OP4", "end", 1), record, {"OP4": same, "OP3": (ITEM, STATE, HOUR)}
        )
        assert {one for event, one in behind if event[0] == "OP1"} == really
        assert {one for event, one in behind if event == OUTPUT} == {record}
