"""The SQL of the library and the table functions of the model are equal, transaction by
transaction; a second connection sees nothing of an open transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from model.core import Send
from model.events import Body
from model.protocols.log_io.design import LogIoDesign, Scaling
from model.protocols.log_io.lineage.queries import backward as model_backward
from model.protocols.log_io.lineage.queries import forward as model_forward
from model.protocols.log_io.log import transact
from model.protocols.log_io.messages import (
    Assign,
    Begin,
    Commit,
    Complete,
    Discard,
    Executed,
    Lineage,
    Restore,
    Restored,
    Store,
)
from model.protocols.log_io.scaling.messages import Committed
from model.protocols.log_io.tables import ContextRow, LogDatabase, LoggedEvent, Used
from spark_check.log_io.library import (
    ActionInfo,
    Capture,
    Event,
    InputSet,
    InputSetGone,
    Log,
    Transaction,
    lineage,
)
from spark_check.log_io.library.database import Database
from spark_check.log_io.library.values import Key
from tests.families.log_io.library.conftest import Fresh
from tests.families.log_io.library.tables import (
    MODEL_WHOLE,
    NOTHING,
    PREDS,
    SERVICE,
    SINK,
    SOURCE,
    SUCCS,
    WHOLE,
    WRITER,
    context_of,
    event_of,
    row_of,
    snapshot,
    tables_of,
    told_by_model,
)

ABORTS = st.sampled_from((False, False, False, True))
PLACES, ORDERS = st.integers(0, 1), st.integers(0, 9)
NEVER = 1_000
"""An Input Set that no event is assigned to."""
SMALL = settings(max_examples=20, stateful_step_count=25)


class Aborted(Exception):
    """The step fails before its transaction commits."""


class Machine(RuleBasedStateMachine):
    """One log, the model's tables, and a reader with a connection of its own."""

    def __init__(self, place: str, capture: Capture) -> None:
        super().__init__()
        self.log = Log(place, capture, synchronous="OFF", watch=self.look)
        self.reader = Log(place, capture, synchronous="OFF")
        self.design = LogIoDesign(
            lineage=MODEL_WHOLE if capture == WHOLE else None, scaling=Scaling()
        )
        self.tables = LogDatabase()
        self.numbers: dict[tuple[str, str], int] = {}
        self.before: list[Any] | None = None
        self.ended: dict[str, set[int]] = {node: set() for node in PREDS}
        self.queried = self.generated = 0
        self.looked = 0

    def look(self, statement: str) -> None:
        """Between the statements of a transaction, the reader sees what was there before it."""
        if getattr(self, "before", None) is not None:
            assert snapshot(self.reader) == self.before, statement
            self.looked += 1

    @contextmanager
    def step(self, aborts: bool = False) -> Any:
        """A transaction; one that aborts changes nothing."""
        with suppress(Aborted), self.log.begin_transaction() as transaction:
            self.before = snapshot(self.reader)
            try:
                yield transaction
                if aborts:
                    raise Aborted
                self.log.database.execute("SELECT 1")  # the reader looks before the commit, too
            finally:
                self.before = None

    def model(self, node: str, message: Any, aborts: bool = False) -> Any:
        tables, effects = transact(self.design, self.tables, node, message)
        if not aborts:
            self.tables = tables
        return [one.message for one in effects if isinstance(one, Send)]

    def outputs(self, node: str, counts: list[int]) -> tuple[LoggedEvent, ...]:
        rows = []
        for succ, times in zip(SUCCS[node], counts, strict=False):
            for _ in range(times):
                number = self.numbers.get((node, succ), 0) + 1
                self.numbers[node, succ] = number
                rows.append(LoggedEvent(node, succ, number, 0, Body(number, "a")))
        return tuple(rows)

    def context(self, node: str, box: int, insets: int) -> ContextRow:
        last = tuple(self.numbers.get((pred, node), 0) for pred in PREDS.get(node, ()))
        sent = tuple(self.numbers.get((node, succ), 0) for succ in SUCCS[node])
        return ContextRow(box, last, sent, insets)

    def open_sets(self, node: str) -> list[int]:
        """Input Sets that have not been used: no event is assigned to another one (2.3)."""
        return [one for one in range(1, 100) if one not in self.ended[node]][:2]

    def unassigned(self) -> list[LoggedEvent]:
        return [one for one in self.tables.events if one.receiver != SINK and not one.inset]

    def writes(self) -> list[LoggedEvent]:
        return [one for one in self.tables.events if one.receiver == SINK]

    def action(self) -> Any:
        return next(iter(self.tables.actions), None)

    @initialize(data=st.data())
    def begins(self, data: st.DataObject) -> None:
        self.source_generates([2, 2], 0, False, data)
        for _ in range(3):
            self.assigns({0}, 1, False, data)
        self.generates(1, 0, False, data)

    # --- transactions ----------------------------------------------------------------------
    @rule(
        counts=st.lists(st.integers(0, 2), min_size=2, max_size=2),
        box=st.integers(0, 9),
        aborts=ABORTS,
        data=st.data(),
    )
    def source_generates(
        self, counts: list[int], box: int, aborts: bool, data: st.DataObject
    ) -> None:
        action = self.action()
        may_end = action is not None and action.complete and not action.done
        ends = may_end and data.draw(st.booleans())
        rows = self.outputs(SOURCE, counts)
        context = self.context(SOURCE, box, 0)
        with self.step(aborts) as transaction:
            transaction.log_source_event(*map(event_of, rows))
            store(self.log, transaction, SOURCE, context)
            if ends:
                transaction.done_event(read_event(action.number))
        self.model(SOURCE, Commit(rows, context, ends=ends), aborts)

    @precondition(lambda self: self.unassigned())
    @rule(places=st.sets(PLACES, min_size=1), order=ORDERS, aborts=ABORTS, data=st.data())
    def assigns(self, places: set[int], order: int, aborts: bool, data: st.DataObject) -> None:
        row = data.draw(st.sampled_from(self.unassigned()))
        insets = {self.open_sets(row.receiver)[place] for place in places}
        named = [InputSet(one, f"window {one}") for one in insets]
        with self.step(aborts) as transaction:
            assert transaction.assign_in_sets(event_of(row), named, order)
            assert not transaction.assign_in_sets(event_of(row), named, order)
        message = Assign(row.sender, row.number, tuple(insets), order)
        self.model(row.receiver, message, aborts)

    @rule(count=st.integers(0, 2), box=st.integers(0, 9), aborts=ABORTS, data=st.data())
    def generates(self, count: int, box: int, aborts: bool, data: st.DataObject) -> None:
        under_way = {(one.receiver, one.inset) for one in self.tables.events if one.inset}
        node, inset = data.draw(st.sampled_from([*sorted(under_way), (WRITER, NEVER)]))
        rows = self.outputs(node, [count])
        context = self.context(node, box, inset)
        gone = False
        try:
            with self.step(aborts) as transaction:
                transaction.log_output_events(node, inset, [*map(event_of, rows)])
                store(self.log, transaction, node, context)
        except InputSetGone:
            gone = True
        named = (Used(*row[:3], inset, frozenset()) for row in rows)
        used = tuple(named) if self.design.lineage else ()
        (answer,) = self.model(node, Commit(rows, context, inset, Lineage(used), asks=1), aborts)
        assert answer == Committed(not gone)
        self.generated += not gone
        if not gone and not aborts:
            self.ended[node].add(inset)

    @precondition(lambda self: self.writes())
    @rule(aborts=ABORTS, data=st.data())
    def executes(self, aborts: bool, data: st.DataObject) -> None:
        row = data.draw(st.sampled_from(self.writes()))
        with self.step(aborts) as transaction:
            transaction.done_event(event_of(row))
        self.model(row.sender, Executed(row.receiver, row.number), aborts)

    @precondition(lambda self: self.action() is None or not self.action().complete)
    @rule(aborts=ABORTS)
    def begins_or_completes_a_read(self, aborts: bool) -> None:
        action, number = self.action(), 1 if self.action() is None else self.action().number
        info = ActionInfo(SOURCE, SERVICE, number, "read the till")
        context = self.context(SOURCE, 0, 0)
        with self.step(aborts) as transaction:
            if action is None:
                body, stored = context_of(SOURCE, context)
                state = self.log.get_state_id(SOURCE)
                transaction.initialize_read_action(info, state, body, stored)
            else:
                transaction.complete_read_action(info, b"where the effect is")
        if action is None:
            self.model(SOURCE, Commit((), context), aborts)
            self.model(SOURCE, Begin(number), aborts)
        else:
            self.model(SOURCE, Store((Body(1, "a"),)), aborts)
            self.model(SOURCE, Complete(), aborts)

    @precondition(lambda self: self.action() is not None and self.action().done)
    @rule()
    def drops_a_read_and_begins_the_next(self) -> None:
        number = self.action().number
        dropped: list[str] = []
        before = self.log.get_read_action(SOURCE, SERVICE)
        assert before is not None
        with self.step() as transaction:
            transaction.drop_read_action(before.info, lambda: dropped.append("the store"))
        assert dropped
        after = self.log.get_read_action(SOURCE, SERVICE)
        assert after == before._replace(reference=None)
        self.model(SOURCE, Discard())
        assert self.log.get_action_id(SOURCE, SERVICE) == number + 1
        context = self.context(SOURCE, 0, 0)
        body, stored = context_of(SOURCE, context)
        with self.step() as transaction:
            info = ActionInfo(SOURCE, SERVICE, number + 1, "")
            transaction.initialize_read_action(info, self.log.get_state_id(SOURCE), body, stored)
        self.model(SOURCE, Commit((), context))
        self.model(SOURCE, Begin(number + 1))

    # --- what recovery reads ---------------------------------------------------------------
    @rule(node=st.sampled_from(sorted(SUCCS)))
    def restarts(self, node: str) -> None:
        (found,) = self.model(node, Restore())
        assert isinstance(found, Restored)
        log = self.log
        resent = [row_of(one) for one in log.fetch_resend_events(node)]
        writes = [row_of(one) for one in log.get_write_actions(node)]
        assert sorted(resent + writes) == sorted(found.outputs)
        assert [one.number for one in resent] == sorted(one.number for one in resent)
        new = log.fetch_new_events(node)
        assert sorted(map(row_of, new.events)) == sorted(found.unassigned)
        assert not new.more
        stored = log.get_proc_state(node)
        assert (stored is None) == (found.context is None)
        if stored and found.context:
            replays = log.fetch_ack_events(node, stored[2])
            rows = [row_of(event, in_set.number) for event, in_set, _ in replays]
            assert all(one.in_set.key == f"window {one.in_set.number}" for one in replays)
            assert rows == [row._replace(order=0) for row in in_order(found.assigned)]
            assert stored[1:] == context_of(node, found.context)

    @precondition(lambda self: self.tables.used)
    @rule(data=st.data())
    def queries(self, data: st.DataObject) -> None:
        """Lineage backward and forward."""
        row = data.draw(st.sampled_from(self.tables.used))
        found = lineage.backward(self.log, key_of(row[:3]))
        sources = {(one.sender, one.sender_port, one.number) for one in found if one.is_source}
        assert sources == model_backward(self.tables, row[:3])
        input_ = data.draw(st.sampled_from(self.tables.assigned))
        after = lineage.forward(self.log, key_of(input_[:3]))
        made = {(one.sender, one.sender_port or SINK, one.number) for one in after}
        assert made == model_forward(self.tables, input_[:3])
        self.queried += 1

    @invariant()
    def tables_are_equal(self) -> None:
        assert tables_of(self.log) == told_by_model(self.tables)

    def teardown(self) -> None:
        self.log.close()
        self.reader.close()


def store(log: Log, transaction: Transaction, node: str, context: ContextRow) -> None:
    body, stored = context_of(node, context)
    transaction.store_state(log.get_state_id(node), body, stored)


def key_of(event: tuple[str, str, int]) -> Key:
    """A port is called by the operator at its other end."""
    sender, receiver, number = event
    return (sender, "", SINK, number) if receiver == SINK else (sender, receiver, sender, number)


def in_order(rows: tuple[LoggedEvent, ...]) -> list[LoggedEvent]:
    """The rows as an operator replays them: by assignment, and then by number."""
    return sorted(rows, key=lambda row: (row.order, row.sender, row.number, row.inset))


def read_event(number: int) -> Event:
    return Event(SOURCE, SERVICE, SOURCE, "", number, b"")


@pytest.mark.slow
@pytest.mark.parametrize("capture", [NOTHING, WHOLE], ids=["no lineage", "lineage"])
def test_sql_and_the_model_are_equal(fresh: Fresh, capture: Capture) -> None:
    counts: Counter[str] = Counter()

    class Counted(Machine):
        def __init__(self) -> None:
            super().__init__(fresh(), capture)

        def teardown(self) -> None:
            counts.update(looks=self.looked, sets=self.generated, queries=self.queried)
            assert self.log.inspect().all_faults == ()
            super().teardown()

    run_state_machine_as_test(Counted, settings=SMALL)
    assert counts["looks"] > 500
    assert counts["sets"] > 30
    assert bool(counts["queries"]) == (capture == WHOLE)


# --- the test above finds faults --------------------------------------------------------------
def first_set_only(self: Transaction, event: Event, in_sets: Any, order: int) -> bool:
    return original_assign(self, event, sorted(in_sets)[:1], order)


def without_order(self: Transaction, event: Event, in_sets: Any, _order: int) -> bool:
    return original_assign(self, event, in_sets, 0)


def do_nothing(self: Transaction, event: Event) -> None:
    """The event stays undone."""


@contextmanager
def all_or_nothing_not(
    _self: Database, write_waiting: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Each statement commits by itself."""
    yield
    write_waiting()


def without_lineage(self: Transaction, operator: str, in_set: int, outputs: Any) -> None:
    original_log(self, operator, in_set, [])
    self.log_source_event(*outputs)


original_assign, original_log = Transaction.assign_in_sets, Transaction.log_output_events
MUTANTS: dict[str, tuple[Any, str, Any]] = {
    "one Input Set of several": (Transaction, "assign_in_sets", first_set_only),
    "the order of assignment is not logged": (Transaction, "assign_in_sets", without_order),
    "a write stays undone": (Transaction, "done_event", do_nothing),
    "no lineage": (Transaction, "log_output_events", without_lineage),
    "others see an open transaction": (Database, "transaction", all_or_nothing_not),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_machine_finds_each_mutant(
    mutant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = count()

    class OnSqlite(Machine):
        def __init__(self) -> None:
            super().__init__(str(tmp_path / f"{next(files)}.db"), WHOLE)

    monkeypatch.setattr(*MUTANTS[mutant])
    with pytest.raises(AssertionError):
        run_state_machine_as_test(OnSqlite, settings=settings(SMALL, phases=[Phase.generate]))
