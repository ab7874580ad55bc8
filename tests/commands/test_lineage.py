"""`asif lineage`: queries over the log of the example, and one clear line for bad input."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from base64 import b64decode
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from asif.cli import main
from docs.examples.log_io import pipeline
from spark_check.log_io.library import (
    Capture,
    Connection,
    Context,
    Event,
    Log,
    Scope,
    StateInfo,
    capture,
)

Asked = Callable[..., tuple[int, str, str]]
LINE, SALE, ALERT = "ledger.book#3", "shop.sales#2", "sums.alerts#1"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The log of the example, run to its end."""
    folder = tmp_path_factory.mktemp("shop")
    with Log(str(folder / "log.db"), pipeline.captured(), synchronous="OFF") as log:
        pipeline.run(log, folder, lambda _what: None, pipeline.OPERATORS)
    return str(folder / "log.db")


@pytest.fixture
def asked(
    place: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Asked:
    """Exit code and what `asif lineage` printed; "LOG" stands for the example's log."""

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.chdir(tmp_path)
        words = [place if one == "LOG" else one for one in arguments]
        monkeypatch.setattr(sys, "argv", ["asif", "lineage", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    return call


def found(asked: Asked, tmp_path: Path, *arguments: str) -> dict[str, Any]:
    """The events of a query, by name, with their bodies."""
    code, _, errors = asked("LOG", *arguments, "--json", "found.json")
    assert (code, errors) == (0, "")
    result = json.loads((tmp_path / "found.json").read_text("utf-8"))
    return {one["event"]: json.loads(one["body"]) for one in result["found"]}


def test_backward_goes_to_the_sales(asked: Asked, tmp_path: Path) -> None:
    events = found(asked, tmp_path, LINE)
    assert events.keys() == {SALE, "shop.sales#5", "sums.totals#3"}
    amounts = [events[name]["amount"] for name in (SALE, "shop.sales#5")]
    assert sum(amounts) == events["sums.totals#3"]["total"]


def test_forward_goes_to_everything_made_of_a_sale(asked: Asked, tmp_path: Path) -> None:
    events = found(asked, tmp_path, SALE, "--forward")
    assert events.keys() == {LINE, "sums.alerts#1", "sums.totals#3"}
    for name in events:
        assert SALE in found(asked, tmp_path, name)


def test_a_scope_ends_where_it_says(asked: Asked, tmp_path: Path) -> None:
    events = found(asked, tmp_path, LINE, "--scope", "sums.totals:ledger.book")
    assert events.keys() == {"sums.totals#3"}
    whole = found(asked, tmp_path, LINE, "--scope", "shop.sales:ledger.book")
    assert whole == found(asked, tmp_path, LINE)


def test_a_record_keeps_what_the_dependencies_allow(asked: Asked, tmp_path: Path) -> None:
    events = found(asked, tmp_path, ALERT)
    assert len(events) == 3
    greatest = max(one["amount"] for one in events.values())
    record = json.dumps({"greatest": greatest})
    refined = found(asked, tmp_path, ALERT, "--record", record, "--depends", "sums.amount=greatest")
    assert [one["amount"] for one in refined.values()] == [greatest]
    assert found(asked, tmp_path, ALERT, "--record", record) == events


def test_the_picture_shows_each_event(asked: Asked, tmp_path: Path) -> None:
    code, printed, _ = asked("LOG", LINE, "--out", "pictures")
    assert code == 0
    assert "pictures/ledger.book.3.svg" in printed
    drawn = (tmp_path / "pictures" / "ledger.book.3.svg").read_text("utf-8")
    assert "4 events, 3 uses" in drawn


def test_each_question_has_its_own_picture(asked: Asked, tmp_path: Path) -> None:
    record = ("--record", '{"greatest": 103}', "--depends", "sums.amount=greatest")
    uses = []
    for arguments in (
        (SALE, "--forward"),
        (LINE, "--scope", "sums.totals:ledger.book"),
        (ALERT, *record),
        (ALERT, *record[:2]),
        (ALERT,),
    ):
        code, printed, _ = asked("LOG", *arguments, "--out", "pictures")
        assert code == 0
        drawn = (tmp_path / printed.splitlines()[-1]).read_text("utf-8")
        uses += re.findall(r"\d+ uses", drawn)[:1]  # the title, which is drawn and named
    assert uses == ["3 uses", "1 uses", "1 uses", "3 uses", "3 uses"]
    assert len([*(tmp_path / "pictures").iterdir()]) == len(uses)


def test_the_edges_of_a_lineage_are_in_the_json(asked: Asked, tmp_path: Path) -> None:
    for arguments in ((LINE,), (SALE, "--forward")):
        assert asked("LOG", *arguments, "--json", "found.json")[0] == 0
        result = json.loads((tmp_path / "found.json").read_text("utf-8"))
        edges = {(one["input"], one["output"]) for one in result["edges"]}
        assert {(SALE, "sums.totals#3"), ("sums.totals#3", LINE)} <= edges
        assert len(edges) == 3


def test_a_log_alone_is_listed(asked: Asked, tmp_path: Path) -> None:
    code, printed, errors = asked("LOG", "--json", "ports.json")
    assert (code, errors) == (0, "")
    assert "│ sums.totals │ ledger.totals │ 1–4     │      4 │ captured │" in printed
    ports = json.loads((tmp_path / "ports.json").read_text("utf-8"))["ports"]
    kinds = {one["port"]: (one["kind"], one["to"], one["lineage"]) for one in ports}
    assert kinds == {
        "ledger.book": ("write", None, "captured"),
        "shop.sales": ("output", "sums.sales", "source"),
        "sums.alerts": ("write", None, "captured"),
        "sums.totals": ("output", "ledger.totals", "captured"),
    }


def test_why_an_event_has_no_lineage_is_said(asked: Asked, tmp_path: Path) -> None:
    assert "is a source event" in asked("LOG", SALE)[1]
    assert "is a write" in asked("LOG", LINE, "--forward")[1]
    log_odd(tmp_path / "odd.db", [b"{}"])
    code, _, errors = asked("odd.db", "a.left#1")
    assert (code, "has no event" in errors) == (2, True)  # done, and not kept
    assert "has not been used yet" in asked("odd.db", "m.out#1", "--forward")[1]
    code, _, errors = asked("odd.db", "m.out#1")
    assert (code, "the lineage of m.out was not captured" in errors) == (2, True)


def test_an_argument_that_is_no_text_is_one_line(place: str) -> None:
    """Of a real process: its standard error prints what it cannot encode in another way."""
    command: list[str | bytes] = [sys.executable, "-m", "asif", "lineage", place]
    command.append(b"ledger.\xff#3")
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert b"write OPERATOR.PORT#NUMBER" in done.stderr


# --- odd names and bodies ---------------------------------------------------------------------
ODD = Connection("[red]a[/x]", "le/ft $1", "m", "in")


def log_odd(place: Path, bodies: Sequence[bytes], captured: bool = False) -> None:
    """Events with these bodies went into m.out#1; their port has an odd name."""
    out = Connection("m", "out", "z", "in")
    captures = capture([ODD, out], Scope(ODD.start, out.start)) if captured else Capture()
    with Log(place, captures) as log, log.begin_transaction() as transaction:
        events = [Event(*ODD, at, body) for at, body in enumerate(bodies, 1)]
        transaction.log_source_event(*events)
        transaction.store_state(
            StateInfo(ODD.sender, 1), b"", Context(sent={"le/ft $1": len(events)})
        )
        context, in_set = Context().new_in_set()
        for event in events:
            assert transaction.assign_in_sets(event, [in_set], event.number)
            context = context.see(event, [in_set])
        context, number = context.send("out")
        transaction.log_output_events("m", in_set.number, [Event(*out, number, b'{"sum": 3}')])
        transaction.store_state(StateInfo("m", 1), b"", context)


def test_names_and_bodies_are_no_markup(asked: Asked, tmp_path: Path) -> None:
    bodies = [b"[red]x[/y] $\\frac{1}$", b"\x00\x1b[31mred", b"line\nline", b"\xff", b"x" * 9_000]
    log_odd(tmp_path / "odd.db", bodies, captured=True)
    code, printed, errors = asked("odd.db", "m.out#1", "--out", "p", "--json", "found.json")
    assert (code, errors) == (0, "")
    assert "[red]a[/x].le/ft $1#1" in printed
    assert "[red]x[/y] $" in printed
    assert "��[31mred" in printed
    assert len(printed) < 5_000
    ElementTree.fromstring((tmp_path / "p" / "m.out.1.svg").read_text("utf-8"))
    found = json.loads((tmp_path / "found.json").read_text("utf-8"))["found"]
    assert [one["body"].encode() for one in found if one["base64"] is None] == [
        *bodies[:3],
        bodies[4],
    ]
    assert b64decode(found[3]["base64"]) == b"\xff"
    assert asked("odd.db", "[red]a[/x].le/ft $1#1", "--forward", "--out", "p")[0] == 0
    assert {one.name for one in (tmp_path / "p").iterdir()} == {
        "m.out.1.svg",
        "%5Bred%5Da%5B%2Fx%5D.le%2Fft %241.1.forward.svg",
    }
    assert "[red]a[/x].le/ft $1" in asked("odd.db")[1]


def test_a_record_is_printed_as_it_was_logged(asked: Asked, tmp_path: Path) -> None:
    bodies = ['{"k":  "Müller"}'.encode(), '[{"k": "ä"}, {"k": "ö"}]'.encode()]
    log_odd(tmp_path / "odd.db", bodies, captured=True)
    refine = ("--record", '{"sum": 3}')
    code, printed, _ = asked("odd.db", "m.out#1", *refine, "--json", "found.json")
    assert code == 0
    result = json.loads((tmp_path / "found.json").read_text("utf-8"))
    assert {one["body"] for one in result["found"]} == {
        bodies[0].decode(),
        '{"k": "ä"}',
        '{"k": "ö"}',
    }
    assert (result["record"], result["depends"]) == ('{"sum": 3}', [])
    assert "Müller" in printed


def test_a_dependency_keeps_a_record_without_its_attribute(asked: Asked, tmp_path: Path) -> None:
    """The other inputs of an operator have other attributes."""
    log_odd(tmp_path / "odd.db", [b'{"n": 3}', b'{"n": 4}', b'{"rate": 1}'], captured=True)
    arguments = ("m.out#1", "--record", '{"sum": 3}', "--json", "found.json", "--depends")
    assert asked("odd.db", *arguments, "m.n=sum")[0] == 0
    found = json.loads((tmp_path / "found.json").read_text("utf-8"))["found"]
    assert [one["body"] for one in found] == ['{"n": 3}', '{"rate": 1}']
    code, _, errors = asked("odd.db", *arguments, "m.typo=sum")
    assert (code, errors.count("\n")) == (2, 1)
    assert "no input of m with an attribute 'typo' went into an output with 'sum'" in errors


@pytest.mark.parametrize("body", [b"null", b"3", b'"x"', b"[[1]]", b"{", b"\xff", b"[" * 100_000])
def test_a_body_without_records_is_one_line(asked: Asked, tmp_path: Path, body: bytes) -> None:
    log_odd(tmp_path / "odd.db", [body], captured=True)
    code, printed, errors = asked("odd.db", "m.out#1", "--record", "{}")
    assert (code, printed, errors.count("\n")) == (2, "", 1)
    assert "[red]a[/x].le/ft $1#1 has no records of JSON" in errors


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("LOG", "book"), "write OPERATOR.PORT#NUMBER, as in ledger.book#3"),
        (("LOG", "ledger.book#²"), "write OPERATOR.PORT#NUMBER"),
        (("LOG", "ledger.book#" + "9" * 5000), "write OPERATOR.PORT#NUMBER"),
        (("LOG", "ledger.book#99"), "the log has no event ledger.book#99"),
        (("LOG", "ledger.book#" + "9" * 18), "the log has no event"),
        (("nowhere.db", LINE), "nowhere.db: no such file"),
        (("text.db", LINE), "text.db is no log of LOG.io: file is not a database"),
        (("LOG", LINE, "--scope", "shop.sales"), "write FROM:TO"),
        (("LOG", LINE, "--scope", "ledger.book:shop.sales"), "no path from ledger.book"),
        (("LOG", LINE, "--scope", "shop.sales:ledger.nosuch"), "ledger.nosuch: give an output"),
        (("LOG", LINE, "--scope", "shop.sales:sums.sales"), "sums.sales: give an output"),
        (("LOG", LINE, "--scope", "shop.sales:sums.alerts"), "ledger.book#3 is not in this scope"),
        (("LOG", LINE, "--record", "{"), "no JSON object"),
        (("LOG", LINE, "--record", "null"), "no JSON object"),
        (("LOG", LINE, "--record", "[]"), "give one JSON object"),
        (("LOG", LINE, "--record", "[{}]"), "give one JSON object"),
        (("LOG", LINE, "--record", "[" * 100_000), "no JSON object"),
        (("LOG", ALERT, "--record", '{"greatest": 999}'), "sums.alerts#1 has no such record"),
        (("LOG", ALERT, "--record", '{"greatest": "103"}'), "sums.alerts#1 has no such record"),
        (("LOG", LINE, "--record", "{}", "--forward"), "give it alone"),
        (("LOG", LINE, "--depends", "sums.amount=greatest"), "give the record too"),
        (("LOG", LINE, "--record", "{}", "--depends", "item"), "write OPERATOR.INPUT=OUTPUT"),
        (("LOG", LINE, "--record", "{}", "--depends", "no.x=item"), "the log has no operator no"),
        (("LOG", LINE, "--record", "{}", "--depends", "ledger.x=item"), "an attribute 'x'"),
        (("LOG", "--forward"), "give an event"),
        (("LOG", "--out", "pictures"), "give an event"),
        (("postgresql://me:secret@127.0.0.1:1/none", LINE), "me:***@127.0.0.1:1/none cannot be op"),
    ],
)
def test_bad_input_is_one_line(
    asked: Asked, tmp_path: Path, arguments: tuple[str, ...], expected: str
) -> None:
    (tmp_path / "text.db").write_text("no database\n" * 100)
    code, printed, errors = asked(*arguments)
    assert (code, printed, errors.count("\n")) == (2, "", 1)
    assert expected in errors
    assert not (tmp_path / "nowhere.db").exists()
