"""Joins, unions, conditions, keyed patterns and several inputs in scenarios, under crashes."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.errors import Invalid
from model.events import Body
from model.oracle import oracle
from model.registry import modules
from reports.pipelines import KINDS, answer
from sim.scenarios.run import simulate
from sim.scenarios.scenario import Scenario, draft
from sim.scenarios.which import which
from tests.sim.test_scenarios import written

PRECISE = [
    *("abs", "active-standby", "cec", "crb", "log-io", "micro-batch", "passive-standby"),
    *("progressive", "unaligned-checkpoints", "uncoordinated", "upstream-backup"),
]
"""The families that run several inputs, and are precise for operators of all classes here."""

PATTERN = "window = 60\nslide = 30"
OPERATORS = {
    "pattern": (f'pattern = "a, b"\n{PATTERN}', 2),
    "keyed pattern": (f'pattern = "a, b where key > 1"\ngroup = "key"\n{PATTERN}', 2),
    "aggregate": (f'aggregate = "count"\ngroup = "key"\n{PATTERN}', 2),
    "where": ("where = \"key >= 3 or type == 'b'\"", 1),
    "where of two": ('where = "key >= 2"', 2),
    "selectivity": ("selectivity = 0.5", 1),
    "gathers": ('gathers = 3\ngroup = "key"', 2),
    "union": ("union = true", 3),
    "join": ('join = 40\non = "key"', 2),
}
"""Each kind of operator, with the number of its inputs."""
SOURCES = {"left": (120, 100.0, "a"), "right": (60, 50.0, "b"), "third": (20, 16.0, "c")}


def pipeline(protocol: str, operator: str, inputs: int) -> str:
    """A scenario of one operator that crashes at 0.4 s and at 0.7 s."""
    names = [*SOURCES][:inputs]
    text = f'protocol = "{protocol}"\nseed = 1\n'
    for name in names:
        events, rate, kind = SOURCES[name]
        more = ", b = 1.0" if inputs == 1 else ""
        text += f'[[source]]\nname = "{name}"\nevents = {events}\nrate_per_s = {rate}\n'
        text += f"types = {{ {kind} = 3.0{more} }}\nkeys = 3\n"
    listed = ", ".join(f'"{name}"' for name in names)
    text += f'[[operators]]\nname = "op"\ninputs = [{listed}]\n{operator}\n'
    text += "[costs]\ntimer_s = 0.05\n[costs.service]\nevent_s = 1e-4\n"
    text += "[detector]\nkeep_alive_s = 0.02\nmisses = 2\nrestart_s = 0.05\n"
    return f'{text}[[failures]]\nnodes = ["op"]\nat_s = 0.4\ntimes = 2\nevery_s = 0.3\n'


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("protocol", PRECISE)
def test_every_operator_runs_with_crashes_as_if_nothing_had_failed(
    protocol: str, operator: str, tmp_path: Path
) -> None:
    table, inputs = OPERATORS[operator]
    text = pipeline(protocol, table, inputs)
    if protocol == "upstream-backup" and operator in ("aggregate", "gathers"):
        with pytest.raises(Invalid, match="give a CEP operator"):
            written(tmp_path, text)
        return
    result = simulate(written(tmp_path, text))
    assert result.same
    assert result.expected_outputs > 5
    assert result.metrics.crashes + result.metrics.crashes_missed == 2
    assert result.metrics.crashes


def test_a_run_without_recovery_is_found(tmp_path: Path) -> None:
    """The oracle does not pass everything: amnesia loses results of each kind."""
    for operator, (table, inputs) in OPERATORS.items():
        result = simulate(written(tmp_path, pipeline("amnesia", table, inputs)))
        assert not result.same, operator
        assert result.missing_outputs, operator


# --- a pipeline with a pencil ----------------------------------------------------------------
SHOP = """\
protocol = "{protocol}"
unit_s = 1.0

[[source]]
name = "orders"
path = "orders.csv"

[[source]]
name = "payments"
path = "payments.csv"

[[operators]]
name = "large"
where = "value > 10"
inputs = ["orders"]

[[operators]]
name = "paid"
join = 5
on = "who"
inputs = ["large", "payments"]
{behind}
[[failures]]
nodes = ["{node}"]
at_s = 6.5
"""
ORDERS = "order,0,u,11\norder,1,v,5\norder,3,v,20\norder,6,u,30\norder,11,v,40\norder,20,u,99\n"
PAYMENTS = "paid,0,z\npaid,2,u\npaid,4,v\npaid,8,u\npaid,17,v\npaid,21,u\n"
PAIRS = ((2, "u", 11), (4, "v", 20), (6, "u", 30), (8, "u", 30))
"""(time, who, value), by hand: orders at 0, 3, 6 and 6 with payments at 2, 4, 2 and 8.

v at 1 is too small; v at 11 is 6 from v at 17; u at 20 is taken, and u at 21 waits for an order
that may still come before it."""
SUMS = '\n[[operators]]\nname = "sums"\naggregate = "sum"\nof = "value"\ngroup = "who"\n'
SUMS += 'windows = "count"\nwindow = 2\nslide = 2\n'


def shop(folder: Path, protocol: str, behind: str = "", node: str = "paid") -> Scenario:
    for name, rows in (("orders", f",value\n{ORDERS}"), ("payments", f"\n{PAYMENTS}")):
        (folder / f"{name}.csv").write_text(f"type,time,who{rows}", encoding="utf-8")
    return written(folder, SHOP.format(protocol=protocol, behind=behind, node=node))


@pytest.mark.parametrize("protocol", PRECISE)
def test_a_join_behind_a_filter_is_as_counted_by_hand(protocol: str, tmp_path: Path) -> None:
    node = "large" if protocol == "micro-batch" else "paid"
    scenario = shop(tmp_path, protocol, node=node)
    (outs,) = oracle(scenario.workload.graph, scenario.workload.events)["sink"]
    expected = [Body(at, "paid", (("value", value), ("who", who))) for at, who, value in PAIRS]
    assert [*outs] == expected
    result = simulate(scenario)
    assert result.same
    assert result.metrics.crashes == 1
    assert result.expected_outputs == 4


def test_an_aggregate_reads_the_attributes_of_a_join(tmp_path: Path) -> None:
    scenario = shop(tmp_path, "abs", SUMS)
    (outs,) = oracle(scenario.workload.graph, scenario.workload.events)["sink"]
    assert outs == (Body(6, "sums", (("who", "u"), ("value", 11 + 30))),)
    assert simulate(scenario).same


# --- which protocols run it ------------------------------------------------------------------
def test_which_lists_every_family_with_all_reasons(tmp_path: Path) -> None:
    shop(tmp_path, "abs", SUMS)
    found = {one.protocol: one for one in which(draft(tmp_path / "bad.toml"))}
    runs = {name for name, one in found.items() if one.runs}
    assert {*PRECISE} - {"upstream-backup"} <= runs
    assert found["upstream-backup"].why == (
        "sums is of type Aggregate, and savepoints are of windows; give a CEP operator",
    )
    assert len(found["two-phase-sink"].why) == 3
    assert found["cec"].keys == ""
    assert found["micro-batch"].keys == ""  # a failure of an operator is one of the node with it
    shop(tmp_path, "abs", f"{SUMS}\n[costs.work.paid]\nevent_s = 1e-3\n")
    found = {one.protocol: one for one in which(draft(tmp_path / "bad.toml"))}
    assert {name for name, one in found.items() if one.runs} == runs
    assert "'paid' within another node; name 'large'" in found["micro-batch"].keys


def test_a_refusal_has_all_reasons_in_one_line(tmp_path: Path) -> None:
    more = f'{SUMS}\n[[operators]]\nname = "twos"\ngathers = 2\n'
    with pytest.raises(Invalid) as error:
        shop(tmp_path, "upstream-backup", more)
    why = "and savepoints are of windows; give a CEP operator"
    assert str(error.value) == (
        f"{tmp_path / 'bad.toml'}:1: upstream-backup: sums is of type Aggregate, {why}; also: "
        f"twos is of type Triggered, {why}"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_scenarios_run_what_the_table_of_the_docs_says(kind: str, tmp_path: Path) -> None:
    """The table asks families without a scenario (reports.pipelines)."""
    table, _ = OPERATORS[kind]
    words = {1: "one", 2: "two", 3: "several"}
    runs: dict[str, list[str]] = {}
    for inputs in KINDS[kind]:
        (tmp_path / "kind.toml").write_text(pipeline("abs", table, inputs), encoding="utf-8")
        for one in which(draft(tmp_path / "kind.toml")):
            runs.setdefault(one.protocol, []).extend([words[inputs]] * one.runs)
    cells = {protocol.name: answer(protocol, kind).cell for protocol in modules().values()}
    assert {name: ", ".join(found) or "no" for name, found in runs.items()} == cells


# --- what is wrong ---------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('where = "value > 10"', 'where = "value"', "large: where: condition 'value': give ATTR"),
        ("value > 10", "value > x", "large: where: condition 'value > x': x is no value; give a"),
        ("value > 10", "valu > 10", "orders.csv: no column 'valu'; did you mean 'value'?"),
        ("value > 10", "value > 'x'", "large: where: value > 'x': 'value' is not a text in every"),
        ("value > 10", "who > 10", "large: where: who > 10: 'who' is not a number in every event"),
        ("value > 10", "type > 'a'", "large: where: condition \"type > 'a'\": compare the type by"),
        ("join = 5", "join = -1", "operators[2].join = -1: it should be greater than or equal to"),
        ('on = "who"', 'on = "whom"', "orders.csv: no column 'whom'; did you mean 'who'?"),
        (
            'inputs = ["large", "payments"]',
            'inputs = ["large", "payments", "orders"]',
            "paid: a join has two inputs; here are 3",
        ),
        ('join = 5\non = "who"', "union = false", "operators[2].union = false: it should be True"),
        (
            'inputs = ["large", "payments"]',
            'inputs = ["large"]',
            "paid: a join has two inputs; here are 1",
        ),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    shop(tmp_path, "abs")
    text = (tmp_path / "bad.toml").read_text()
    assert old in text
    with pytest.raises(Invalid) as error:
        written(tmp_path, text.replace(old, new))
    assert message in str(error.value)
    assert "\n" not in str(error.value)
