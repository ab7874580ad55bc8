"""`asif lineage`: queries over the log of the example, and one clear line for bad input."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from asif import main
from docs.examples.log_io import pipeline
from spark_check.log_io.library import Log

Asked = Callable[..., tuple[int, str, str]]
LINE, SALE = "ledger.book#3", "shop.sales#2"


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
    alert = "sums.alerts#1"
    events = found(asked, tmp_path, alert)
    assert len(events) == 3
    greatest = max(one["amount"] for one in events.values())
    record = json.dumps({"greatest": greatest})
    refined = found(asked, tmp_path, alert, "--record", record, "--depends", "sums.amount=greatest")
    assert [one["amount"] for one in refined.values()] == [greatest]
    assert found(asked, tmp_path, alert, "--record", record) == events


def test_the_picture_shows_each_event(asked: Asked, tmp_path: Path) -> None:
    code, printed, _ = asked("LOG", LINE, "--out", "pictures")
    assert code == 0
    assert "pictures/ledger-book-3.svg" in printed
    drawn = (tmp_path / "pictures" / "ledger-book-3.svg").read_text("utf-8")
    assert "4 events, 3 uses" in drawn


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("LOG", "book"), "write OPERATOR.PORT#NUMBER, as in ledger.book#3"),
        (("LOG", "ledger.book#99"), "has no event ledger.book#99"),
        (("nowhere.db", LINE), "nowhere.db: no such file"),
        (("text.db", LINE), "text.db is no log of LOG.io: file is not a database"),
        (("LOG", LINE, "--scope", "shop.sales"), "write FROM:TO"),
        (("LOG", LINE, "--scope", "ledger.book:shop.sales"), "no path from ledger.book"),
        (("LOG", LINE, "--record", "{"), "not JSON"),
        (("LOG", LINE, "--record", "{}", "--forward"), "give it alone"),
        (("LOG", LINE, "--record", "{}", "--depends", "item"), "write OPERATOR.INPUT=OUTPUT"),
        (("LOG", LINE, "--record", "{}", "--depends", "ledger.x=item"), "no attribute 'x'"),
        (("LOG", SALE, "--forward", "--out", "pictures"), "leave --forward out"),
        (("postgresql://127.0.0.1:1/none", LINE), "is no log of LOG.io: connection"),
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
