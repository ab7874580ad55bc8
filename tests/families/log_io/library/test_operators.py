"""Operators and sources that a user subclasses: recovery in a step, windows, readings, mistakes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_check.log_io.library import (
    Connection,
    Context,
    Event,
    InputSet,
    Log,
    LogError,
    Made,
    Operator,
    Scope,
    Sink,
    Source,
    StateInfo,
    capture,
    write_action,
)
from spark_check.log_io.library.lineage import backward
from spark_check.log_io.library.obligations import Obligations
from tests.families.log_io.library.tables import all_rows, log_outputs, store_knowing

IN, OUT = Connection("a", "out", "b", "in"), Connection("b", "out", "c", "in")
WHOLE = capture((IN, OUT), Scope(IN.start, OUT.start))


class Crash(Exception):
    """The operator is gone; its transaction has been rolled back."""


class Windows(Operator):
    """An input is a list of numbers, which are windows; a negative one closes all windows, and is
    in none.  Global state: how many inputs there were."""

    fails = False

    def new_state(self) -> int:
        return 0

    def in_sets(self, event: Event) -> Iterable[str]:
        return [str(one) for one in numbers(event) if one >= 0]

    def update(self, _event: Event) -> None:
        self.state += 1

    def completed(self, event: Event) -> Iterable[str]:
        return [*self.inputs] if min(numbers(event)) < 0 else []

    def generate(self, key: str, inputs: Sequence[Event]) -> Iterable[Made]:
        if self.fails:
            raise Crash
        found = key, [one.number for one in inputs], self.state
        return [(OUT, json.dumps(found).encode())]


def numbers(event: Event) -> list[int]:
    found: list[int] = json.loads(event.body)
    return found


def log_inputs(log: Log, *bodies: list[int]) -> None:
    made = (Event(*IN, at, json.dumps(one).encode()) for at, one in enumerate(bodies, 1))
    log_outputs(log, *made)


def outputs(log: Log) -> list[Any]:
    return [json.loads(one.body) for one in log.fetch_new_events("c").events]


BODIES = [[1], [1, 2], [-1], [3, 2, 3], [-1]]
EXPECTED = [["1", [1, 2], 3], ["2", [2], 3], ["3", [4], 5], ["2", [4], 5]]


class CrashAt:
    """A watch that raises before one statement, once it is armed."""

    def __init__(self) -> None:
        self.left: int | None = None

    def __call__(self, _statement: str) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                self.left = None
                raise Crash


def run_to_end(operator: Operator | Source) -> None:
    while operator.step():
        pass


def test_an_input_may_complete_windows_that_it_is_not_in(tmp_path: Path) -> None:
    """It may be in no window, too; an operator goes on for one that crashed at any statement."""
    crash, crashed = 0, True
    while crashed:
        watch = CrashAt()
        with Log(tmp_path / f"{crash}.db", synchronous="OFF", watch=watch) as log:
            log_inputs(log, *BODIES)
            watch.left = crash
            with suppress(Crash):
                run_to_end(Windows(log, "b"))
            crashed, watch.left = watch.left is None, None
            run_to_end(Windows(log, "b"))
            assert outputs(log) == EXPECTED, crash
        crash += 1
    assert crash > 30


BODY = st.lists(st.integers(-1, 3), min_size=1, max_size=3)


@given(st.lists(BODY, max_size=6), st.lists(st.integers(0, 40), max_size=4))
def test_outputs_of_windows_are_as_without_crashes(
    tmp_path_factory: pytest.TempPathFactory, bodies: list[list[int]], crashes: list[int]
) -> None:
    """crashes: before these statements, each counted from a restart."""
    watch = CrashAt()
    place = tmp_path_factory.mktemp("log") / "log.db"
    with Log(place, synchronous="OFF", watch=watch) as log:
        log_inputs(log, *bodies)
        for watch.left in (*crashes, None):
            with suppress(Crash):
                run_to_end(Windows(log, "b"))
        assert outputs(log) == [*outputs_of(bodies)]


def outputs_of(bodies: Sequence[Sequence[int]]) -> Iterator[list[Any]]:
    """The outputs, computed without a log."""
    windows: dict[str, list[int]] = {}
    for at, body in enumerate(bodies, 1):
        for one in dict.fromkeys(one for one in body if one >= 0):
            windows.setdefault(str(one), []).append(at)
        if min(body) < 0:
            yield from ([key, inputs, at] for key, inputs in windows.items())
            windows.clear()


def test_an_operator_recovers_in_the_step_after_an_exception(place: str) -> None:
    with Log(place) as log:
        log_inputs(log, *BODIES)
        operator = Windows(log, "b")
        operator.fails = True
        for _ in range(2):
            with pytest.raises(Crash):
                operator.step()
        assert outputs(log) == []
        operator.fails = False
        assert operator.step()
        assert outputs(log) == EXPECTED
        assert not operator.step()


def test_an_input_set_has_its_key_after_a_restart(place: str) -> None:
    with Log(place) as log:
        log_inputs(log, [7], [7, 9])
        assert Windows(log, "b").step()
        replays = log.fetch_ack_events("b", Context())
        assert [(one.event.number, one.in_set) for one in replays] == [
            (1, InputSet(1, "7")),
            (2, InputSet(1, "7")),
            (2, InputSet(2, "9")),
        ]
        operator = Windows(log, "b")
        operator.step()
        assert {key: [one.number for one in found] for key, found in operator.inputs.items()} == {
            "7": [1, 2],
            "9": [2],
        }


def test_the_state_of_several_output_sets_is_logged_once(place: str) -> None:
    with Log(place, WHOLE) as log:
        log_inputs(log, *BODIES)
        run_to_end(Windows(log, "b"))
        assert [row[0] for row in log.database.execute("SELECT state_id FROM state")]
        first = log.fetch_new_events("c").events[0]
        assert [one.number for one in backward(log, first.key)] == [1, 2]
        rows = "SELECT event_id, inset_id FROM event_log WHERE send_port = '' AND rec_port = ''"
        logged = [tuple(row) for row in log.database.execute(f"{rows} ORDER BY 1, 2")]
        assert [in_set for _, in_set in logged] == [1, 2, 3, 4]
        assert len({state for state, _ in logged}) == 2


def test_a_window_that_is_not_open_is_not_complete(place: str) -> None:
    class Wrong(Windows):
        def completed(self, _event: Event) -> Iterable[str]:
            return ["8"]

    with Log(place) as log:
        log_inputs(log, [7])
        with pytest.raises(ValueError, match="b: completed gives '8': no such Input Set is open"):
            Wrong(log, "b").step()


def test_one_key_is_no_list_of_keys(place: str) -> None:
    class Wrong(Windows):
        def in_sets(self, event: Event) -> Iterable[str]:
            return str(numbers(event)[0])

    with Log(place) as log:
        log_inputs(log, [10])
        with pytest.raises(TypeError, match="'10' is one key: return a list of keys"):
            Wrong(log, "b").step()


def test_new_events_say_that_there_are_more(place: str) -> None:
    with Log(place) as log:
        log_inputs(log, [1], [2], [3])
        for limit, more in ((2, True), (3, False), (4, False)):
            found = log.fetch_new_events("b", limit)
            assert (len(found.events), found.more) == (min(limit, 3), more)


class Words:
    """An external system that keeps its writes, and fails once."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.asked = 0
        self.fails = True

    def execute(self, write: Event) -> None:
        self.written.append(write.body)
        if self.fails:
            self.fails = False
            raise OSError("the answer was lost")

    def is_done(self, write: Event) -> bool:
        self.asked += 1
        return write.body in self.written


def test_a_write_whose_answer_was_lost_is_asked_for(place: str) -> None:
    with Log(place) as log:
        log_inputs(log, [1], [2])
        words = Words()
        sink = Sink(log, "b", "words", words)
        with pytest.raises(OSError, match="was lost"):
            sink.step()
        run_to_end(sink)
        assert (words.written, words.asked) == ([b"[1]", b"[2]"], 1)


# --- sources ------------------------------------------------------------------------------------
class Queue(Source):
    """Readings that are given, in turn."""

    readings: Sequence[Sequence[bytes]] = ((), (b"one", b"two"), ())

    def ready(self, number: int) -> bool:
        return number <= len(self.readings)

    def read(self) -> Sequence[bytes]:
        return self.readings[self.log.get_action_id(self.name, self.connection) - 2]


class Undone(Queue):
    """An empty reading is not marked as done, as in the paper: only a last event marks one."""

    def _step(self) -> bool:
        if self._action and not self._effect:
            self._drop(self._action)
            return True
        return super()._step()


def test_an_empty_reading_ends(place: str) -> None:
    with Log(place) as log:
        run_to_end(Queue(log, IN, "queue"))
        assert [one.body for one in log.fetch_new_events("b").events] == [b"one", b"two"]
        assert log.get_action_id("a", "queue") == 4
        action = log.get_read_action("a", "queue")
        assert action is not None
        assert (action.done, action.reference) == (True, None)


def test_an_empty_reading_ends_after_a_crash_at_any_statement(tmp_path: Path) -> None:
    crash, crashed = 0, True
    while crashed:
        watch = CrashAt()
        with Log(tmp_path / f"{crash}.db", synchronous="OFF", watch=watch) as log:
            watch.left = crash
            with suppress(Crash):
                run_to_end(Queue(log, IN, "queue"))
            crashed, watch.left = watch.left is None, None
            run_to_end(Queue(log, IN, "queue"))
            assert [one.body for one in log.fetch_new_events("b").events] == [b"one", b"two"]
        crash += 1
    assert crash > 60


def test_a_reading_that_is_never_done_is_found(place: str) -> None:
    with Log(place) as log:
        for _ in range(3):  # it raises at every start
            source = Undone(log, IN, "queue")
            source.recover()
            with pytest.raises(LogError, match="itself if it has read no event"):
                run_to_end(source)


def test_a_source_without_its_read_action_is_refused(place: str) -> None:
    with Log(place) as log:
        log_outputs(log, Event(*IN, 1, b""))
        with pytest.raises(LogError, match="a: it has a state, and no read action on queue"):
            Queue(log, IN, "queue").step()


# --- mistakes that were silent --------------------------------------------------------------------
FIRST, MADE = Event(*IN, 1, b"first"), Event(*OUT, 1, b"made")
MISTAKES = {
    "store_state is forgotten": (None, "no state: call store_state"),
    "send is dropped": (
        Context({"in": 1}, {}, 1),
        "given number 1 on out: store the one that send",
    ),
    "see is dropped": (Context({}, {"out": 1}, 1), "seen input 1 on in: store the one that see"),
    "new_in_set is dropped": (
        Context({"in": 1}, {"out": 1}),
        "not know Input Set 1: store the one",
    ),
}


@pytest.mark.parametrize("before", [True, False], ids=["assigned before", "in one transaction"])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_changes_nothing(place: str, mistake: str, before: bool) -> None:
    context, message = MISTAKES[mistake]
    in_sets = [InputSet(1)]
    with Log(place) as log:
        log_outputs(log, FIRST)
        assert not before or log.assign_in_sets(FIRST, in_sets, 1)
        rows = all_rows(log)
        with pytest.raises(LogError, match=f"b: .*{message}"):
            generate(log, context, () if before else in_sets)
        assert all_rows(log) == rows
        generate(log, Context({"in": 1}, {"out": 1}, 1), () if before else in_sets)
        assert log.fetch_new_events("c").events == [MADE]


def generate(log: Log, context: Context | None, in_sets: Sequence[InputSet]) -> None:
    with log.begin_transaction() as transaction:
        assert not in_sets or transaction.assign_in_sets(FIRST, in_sets, 1)
        transaction.log_output_events("b", 1, [MADE])
        if context:
            transaction.store_state(log.get_state_id("b"), b"", context)


def test_a_source_that_stores_no_state_is_refused(place: str) -> None:
    with Log(place) as log:
        with pytest.raises(LogError, match="a: outputs are logged, and no state"):
            source_event(log, lambda _transaction: None)
        old = Context(sent={"out": 0})
        with pytest.raises(LogError, match="a: the stored context has not given number 1 on out"):
            source_event(log, lambda one: one.store_state(StateInfo("a", 1), b"", old))
        assert log.fetch_new_events("b").events == []


def source_event(log: Log, store: Any) -> None:
    with log.begin_transaction() as transaction:
        transaction.log_source_event(FIRST)
        store(transaction)


def test_a_step_of_a_group_commit_that_stores_no_state_is_refused(place: str) -> None:
    with Log(place) as log:
        log_inputs(log, [1], [2])
        with pytest.raises(LogError, match="b: the stored context has not given number 2 on out"):
            two_steps(log, stores=1)
        assert log.fetch_new_events("c").events == []
        two_steps(log, stores=2)
        assert [one.number for one in log.fetch_new_events("c").events] == [1, 2]


def two_steps(log: Log, stores: int) -> None:
    events = log.fetch_new_events("b").events
    with log.begin_transaction() as transaction:
        for at, one in enumerate(events, 1):
            assert transaction.assign_in_sets(one, [InputSet(at)], at)
            made = MADE._replace(number=at)
            transaction.log_output_events("b", at, [made])
            if at <= stores:
                store_knowing(log, transaction, "b", one, made, in_sets=at)


def test_a_context_alone_may_know_the_outputs(place: str) -> None:
    """UpdateContext stores a context, too; a write counts as an output."""
    write = write_action("a", "book", 1, b"")
    with Log(place) as log:
        with pytest.raises(LogError, match="a: the stored context has not given number 1 on book"):
            update_context(log, write, Context())
        update_context(log, write, Context(sent={"book": 1}))
        assert log.get_write_actions("a") == [write]


def update_context(log: Log, write: Event, context: Context) -> None:
    with log.begin_transaction() as transaction:
        transaction.log_source_event(write)
        transaction.update_context("a", context)


def test_a_log_of_another_version_is_refused(tmp_path: Path) -> None:
    with Log(tmp_path / "log.db") as log:
        log.database.execute("ALTER TABLE event_log DROP COLUMN inset_key")
    with pytest.raises(LogError, match=r"it has no event_log\.inset_key"):
        Log(tmp_path / "log.db")


def test_an_obligation_that_nobody_checks_is_found(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Obligations, "check", lambda _self: None)
    with pytest.raises(pytest.fail.Exception):
        test_a_source_that_stores_no_state_is_refused(place)
