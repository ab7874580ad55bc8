"""Lineage: its scopes, its queries, records by attribute dependencies, and the retention period."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.log_io import fill
from docs.examples.log_io import pipeline
from spark_check.log_io.library import (
    Connection,
    Context,
    Event,
    InputSet,
    Log,
    ReadEffect,
    Scope,
    capture,
    ports_between,
    write_action,
)
from spark_check.log_io.library.lineage import (
    Origin,
    backward,
    forward,
    graph,
    inputs_of,
    origin,
    ports,
)
from spark_check.log_io.library.records import Dependency, records_behind
from spark_check.log_io.library.retention import forget_lineage
from tests.families.log_io.library.children import do_nothing
from tests.families.log_io.library.tables import all_rows, log_outputs, store_knowing

# Figure 2: OP1 has two ports; OP2 and OP3 have two input ports each.
FIGURE2 = (
    Connection("OP0", "out", "OP2", "in1"),
    Connection("OP1", "out1", "OP2", "in2"),
    Connection("OP1", "out2", "OP3", "in2"),
    Connection("OP2", "out", "OP3", "in1"),
)
ENDS = [("OP3", "out")]


def test_a_scope_captures_the_ports_of_its_paths() -> None:
    """Example 5 has one output port of OP1; here its two are two scopes."""
    scopes = [Scope(("OP1", port), ("OP3", "out")) for port in ("out1", "out2")]
    found = capture(FIGURE2, *scopes, writes=ENDS)
    assert found.inputs == {("OP2", "in2"), ("OP3", "in1"), ("OP3", "in2")}
    assert found.outputs == {("OP2", "out"), ("OP3", "out")}
    assert found.kept - found.outputs == {("OP1", "out1"), ("OP1", "out2")}
    with pytest.raises(ValueError, match=r"no path from OP3.out to OP1.out1"):
        capture(FIGURE2, Scope(("OP3", "out"), ("OP1", "out1")))


def test_only_outputs_of_captured_inputs_have_lineage(place: str) -> None:
    """Example 5: an Input Set that has no event from a port of IN gives no lineage; one that has
    such an event gives a row, which does not name the events of other ports."""
    captured = capture(FIGURE2, Scope(("OP1", "out1"), ("OP3", "out")), writes=ENDS)
    with Log(place, captured) as log:
        first, second = (Event(*FIGURE2[0], at, b"") for at in (1, 2))
        third = Event(*FIGURE2[1], 1, b"")
        outputs = [Event(*FIGURE2[3], at, b"") for at in (1, 2)]
        with log.begin_transaction() as transaction:
            transaction.log_source_event(first, second, third)
            assert transaction.assign_in_sets(first, [InputSet(1)], 1)
            assert transaction.assign_in_sets(second, [InputSet(2)], 2)
            assert transaction.assign_in_sets(third, [InputSet(2)], 3)
            transaction.log_output_events("OP2", 1, outputs[:1])
            transaction.log_output_events("OP2", 2, outputs[1:])
            for operator in ("OP0", "OP1", "OP2"):
                store_knowing(log, transaction, operator, second, third, *outputs, in_sets=2)
        assert backward(log, outputs[0].key) == []
        assert [one.key for one in backward(log, outputs[1].key)] == [third.key]
        kept = log.database.execute("SELECT send_op, event_id FROM event_data ORDER BY 1, 2")
        assert [tuple(row) for row in kept] == [("OP1", 1), ("OP2", 1), ("OP2", 2)]


def run_example(place: str, folder: Path, times: int = 2) -> Log:
    folder.mkdir(exist_ok=True)
    log = Log(place, pipeline.captured(), synchronous="OFF")
    pipeline.run(log, folder, do_nothing, times=times)
    return log


def test_the_lineage_of_effects_is_the_sales_that_they_sum_up(place: str, tmp_path: Path) -> None:
    with run_example(place, tmp_path / "out", times=4) as log:
        for name, operator in (("book", "ledger"), ("alerts", "sums")):
            writes = [
                (row[0], json.loads(bytes(row[1])))
                for row in log.database.execute(
                    "SELECT event_id, body FROM event_data WHERE rec_port = ?", (name,)
                )
            ]
            assert writes
            for number, made in writes:
                found = backward(log, (operator, "", name, number))
                sales = [json.loads(one.body) for one in found if one.is_source]
                amounts = [sale["amount"] for sale in sales]
                if name == "book":
                    assert made == {"item": sales[0]["item"], "total": sum(amounts)}
                else:
                    assert made == {"least": min(amounts), "greatest": max(amounts)}


def test_a_question_takes_no_lease(place: str, tmp_path: Path) -> None:
    """The process of an operator may ask while others run."""
    with run_example(place, tmp_path / "out"), Log(place) as ledger:
        assert ledger.take("other") == [1]
        (write, *_) = [one for one in ports(ledger) if one.port == "book"]
        event = ("ledger", "", "book", write.numbers[1])
        assert len(graph(ledger, event)) > 1
        assert origin(ledger, ("shop", "sales", "sales", 1)) is Origin.SOURCE
    with Log(place) as ledger:
        assert {one.operator for one in ports(ledger)} == {"shop", "sums", "ledger"}
        with Log(place) as shop:
            shop.take("shop", "sums", "ledger")


def test_backward_and_forward_are_inverse(place: str, tmp_path: Path) -> None:
    with run_example(place, tmp_path / "out") as log:
        keys = [
            tuple(row)
            for row in log.database.execute(
                "SELECT send_op, send_port, rec_port, event_id FROM event_data"
                " WHERE send_port <> '' OR rec_port <> ''"
            )
        ]
        behind = {(one.key, key) for key in keys for one in backward(log, key)}
        after = {(key, one.key) for key in keys for one in forward(log, key)}
        assert behind == after
        assert behind
        for key in keys:
            direct = graph(log, key)
            assert {*direct} == {key, *(one.key for one in backward(log, key))}
            assert {one.key for one in inputs_of(log, key)} == {*direct.predecessors(key)}
            assert networkx.is_directed_acyclic_graph(direct)


def test_a_query_of_one_scope_leaves_out_the_ports_of_others(place: str, tmp_path: Path) -> None:
    with run_example(place, tmp_path / "out") as log:
        sale = ("shop", "sales", "sales", 1)
        book = ports_between(pipeline.CONNECTIONS, pipeline.SCOPES[0], pipeline.WRITES)
        assert {one.port for one in forward(log, sale)} == {"totals", "book", "alerts"}
        assert {one.port for one in forward(log, sale, book)} == {"totals", "book"}
        assert backward(log, ("sums", "", "alerts", 1), book) != []
        assert backward(log, ("sums", "", "alerts", 1), {("sums", "totals")}) == []
        assert not [*graph(log, ("sums", "", "alerts", 1), {("sums", "totals")}).edges]


def test_an_event_that_is_not_in_the_log_has_no_graph(place: str) -> None:
    with Log(place) as log, pytest.raises(KeyError, match="was it captured"):
        graph(log, ("nobody", "out", "in", 1))


def test_without_scopes_there_is_nothing_to_forget(place: str) -> None:
    with Log(place) as log:
        with_sales(log, 1)
        rows = all_rows(log)
        assert rows[4] == []
        forget_lineage(log, 1e9)
        assert all_rows(log) == rows
        assert [row[1] for row in rows[0]] == ["undone"]


# --- Examples 7 and 11 ------------------------------------------------------------------------
HOURS = (Connection("OP1", "out", "OP3", "in"), Connection("OP3", "out", "OP4", "in"))
RULES = (
    Dependency("OP3", "date", "hour", lambda date: date[:13]),
    Dependency("OP3", "item_ID", "item_ID"),
    Dependency("OP3", "state", "state"),
)


def sale(date: str, amount: int, item: str = "BZ234", state: str = "Ohio") -> dict[str, Any]:
    return {"date": f"2025-02-23T{date}", "item_ID": item, "state": state, "amount": amount}


BATCHES = (
    [sale("10:05", 400), sale("10:10", 7, "AA100")],
    [sale("10:50", 1029), sale("11:05", 5, state="Iowa"), sale("11:07", 50)],
    [sale("12:01", 3)],
)
WINDOWS = ("2025-02-23T10", "2025-02-23T11")


def log_example_7(log: Log) -> list[Event]:
    """Tables 4 and 5: the second event is in the windows of two hours."""
    inputs = [Event(*HOURS[0], at, json.dumps(b).encode()) for at, b in enumerate(BATCHES, 1)]
    outputs = []
    with log.begin_transaction() as transaction:
        transaction.log_source_event(*inputs)
        for event, in_sets in zip(inputs, ([1], [1, 2], [3]), strict=True):
            named = [InputSet(one) for one in in_sets]
            assert transaction.assign_in_sets(event, named, event.number)
        for at, hour in enumerate(WINDOWS, 1):
            totals: dict[tuple[str, str], int] = {}
            for one in (one for batch in BATCHES for one in batch if one["date"][:13] == hour):
                key = one["item_ID"], one["state"]
                totals[key] = totals.get(key, 0) + one["amount"]
            records = [
                {"hour": hour, "item_ID": item, "state": state, "total": total}
                for (item, state), total in totals.items()
            ]
            output = Event(*HOURS[1], at, json.dumps(records).encode())
            transaction.log_output_events("OP3", at, [output])
            outputs.append(output)
        for operator in ("OP1", "OP3"):
            store_knowing(log, transaction, operator, *inputs, *outputs, in_sets=3)
    return outputs


def test_attribute_dependencies_find_records(place: str) -> None:
    with Log(place, capture(HOURS, Scope(("OP1", "out"), ("OP3", "out")))) as log:
        outputs = log_example_7(log)
        lineage = [[one.number for one in backward(log, output.key)] for output in outputs]
        assert lineage == [[1, 2], [2]]  # "no record of" the first event is behind the second
        result = json.loads(outputs[0].body)[0]
        assert result["total"] == 1429
        whole = records_behind(log, outputs[0].key, result, [])
        found = records_behind(log, outputs[0].key, result, RULES)
        assert len(whole) == 5
        assert [one.record["amount"] for one in found] == [400, 1029]
        # Example 11 has no function of the date's hour: one record too many is left.
        coarse = records_behind(log, outputs[0].key, result, RULES[1:])
        assert [one.record["amount"] for one in coarse] == [400, 1029, 50]


def test_side_effect_reads_and_states_are_inputs(place: str) -> None:
    with Log(place, capture(HOURS, Scope(("OP1", "out"), ("OP3", "out")))) as log:
        input_, output = Event(*HOURS[0], 1, b"in"), Event(*HOURS[1], 1, b"out")
        state = log.get_state_id("OP3")
        with log.begin_transaction() as transaction:
            transaction.log_source_event(input_)
            assert transaction.assign_in_sets(input_, [InputSet(1)], 1)
            transaction.log_state_event(state, 1)
            reads = [ReadEffect("rates", 1, b"the rates of that day")]
            transaction.log_output_events("OP3", 1, [output], reads)
            store_knowing(log, transaction, "OP1", input_)
            again = [ReadEffect("rates", 2, b"not kept: no lineage")]
            other = Event("OP3", "self", "OP5", "in", 1, b"")
            transaction.log_source_event(other)
            context = Context({"in": 1}, {"out": 1, "self": 1}, 1)
            transaction.store_state(state, b"global", context)
            assert transaction.assign_in_sets(other, [InputSet(1)], 1)
            transaction.log_output_events("OP5", 1, [], again)
            store_knowing(log, transaction, "OP5", other, in_sets=1)
        found = backward(log, output.key)
        assert [one.body for one in found] == [b"in", b"the rates of that day"]
        assert log.fetch_ack_events("OP3", Context()) == []


# --- what a query reads -----------------------------------------------------------------------
BACK, AHEAD = ("ledger", "", "book", 7), ("shop", "sales", "sales", 700)


def plans(log: Log, explain: str) -> Iterator[tuple[int, list[Any]]]:
    """How many events each query finds, and its plan."""
    for ask, event in ((backward, BACK), (forward, AHEAD)):
        asked: list[tuple[str, Any]] = []
        execute = log.database.execute

        def keep(sql: str, parameters: Any = (), into: Any = asked, by: Any = execute) -> Any:
            into.append((sql, parameters))
            return by(sql, parameters)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(log.database, "execute", keep)
            found = ask(log, event)
        ((sql, parameters),) = asked
        yield len(found), [row[-1] for row in execute(f"{explain} {sql}", parameters)]


def test_sqlite_finds_inputs_and_outputs_by_their_keys(tmp_path: Path) -> None:
    with Log(str(tmp_path / "log.db"), synchronous="OFF") as log:
        fill(log, 2_000)
        for found, plan in plans(log, "EXPLAIN QUERY PLAN"):
            assert found in (110, 2)
            steps = [one for one in plan if one.startswith(("SEARCH log", "SEARCH made"))]
            assert len(steps) == 2
            assert all(re.search(r"(event_id|inset_id|<expr>)=\?", one) for one in steps), steps
            assert not [one for one in plan if one.startswith(("SCAN log", "SCAN made"))]


def test_postgresql_reads_few_rows(postgresql: str, tmp_path: Path) -> None:
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    with Log(postgresql) as log:
        whole = fill(log, 20_000)
        log.database.execute("ANALYZE")  # as PostgreSQL does by itself within a minute
        for found, (plan,) in plans(log, "EXPLAIN (ANALYZE, FORMAT JSON)"):
            assert found in (110, 2)
            assert rows_read(plan[0]["Plan"]) < whole / 20


def rows_read(node: dict[str, Any]) -> float:
    """The rows that the scans of a plan have read."""
    read = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
    mine = read * node["Actual Loops"] if "Scan" in node["Node Type"] else 0
    return float(mine + sum(rows_read(one) for one in node.get("Plans", ())))


# --- retention --------------------------------------------------------------------------------
@given(cut=st.integers(0, 40), times=st.integers(1, 4), late=st.integers(0, 3))
def test_a_retention_period_keeps_the_lineage_of_younger_outputs(
    tmp_path_factory: pytest.TempPathFactory, cut: int, times: int, late: int
) -> None:
    forget_and_compare(str(tmp_path_factory.mktemp("db") / "log.db"), cut, times, late)


def test_a_retention_period_on_postgresql(postgresql: str, fresh: Any) -> None:
    for cut in (0, 12, 99):
        forget_and_compare(fresh(), cut, 3, 2)


def forget_and_compare(place: str, cut: int, times: int, late: int) -> None:
    """Outputs after the cut have the lineage that they had; recovery reads what it read."""
    moments = iter(range(1_000))
    with Log(
        place, pipeline.captured(), synchronous="OFF", clock=lambda: float(next(moments))
    ) as log:
        with_sales(log, times)
        ends = [("ledger", "", "book", at) for at in range(1, times + 1)]
        logged = {
            tuple(row[:4]): row[4]
            for row in log.database.execute(
                "SELECT send_op, send_port, rec_port, event_id, logged_at FROM event_data"
            )
        }
        before = {key: backward(log, key) for key in ends}
        unassigned = log.fetch_new_events("sums")
        forget_lineage(log, float(cut))
        for key in ends:
            if logged[key] >= cut:
                assert backward(log, key) == before[key]
            else:
                assert backward(log, key) == []
        assert log.fetch_new_events("sums") == unassigned
        rows = all_rows(log)
        forget_lineage(log, float(cut))
        assert all_rows(log) == rows
        forget_lineage(log, 1e9)
        assert log.database.execute("SELECT * FROM event_lineage") == []
        left = log.database.execute("SELECT send_op FROM event_data")
        assert len(left) == len(unassigned.events)


def with_sales(log: Log, times: int) -> None:
    """So many lines of the book, each of its own two sales; one more sale is undone."""
    for at in range(1, times + 1):
        sales = [Event(*pipeline.SALES, 2 * at - 1 + more, b"") for more in (0, 1)]
        total = Event(*pipeline.TOTALS, at, b"")
        log_outputs(log, *sales)
        with log.begin_transaction() as transaction:
            for one in sales:
                assert transaction.assign_in_sets(one, [InputSet(at)], one.number)
            transaction.log_output_events("sums", at, [total])
            store_knowing(log, transaction, "sums", *sales, total, in_sets=at)
        with log.begin_transaction() as transaction:
            assert transaction.assign_in_sets(total, [InputSet(at)], at)
            line = write_action("ledger", "book", at, b"")
            transaction.log_output_events("ledger", at, [line])
            transaction.done_event(line)
            context = Context({"totals": at}, {"book": at}, at)
            transaction.store_state(log.get_state_id("ledger"), b"", context)
    log_outputs(log, Event(*pipeline.SALES, 2 * times + 1, b""))
