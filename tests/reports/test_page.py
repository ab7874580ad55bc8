"""Reports: self-contained, the same twice, whole or not there at all, and they hide nothing."""

from __future__ import annotations

import copy
import html.parser
import os
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from model.errors import Invalid
from proofs.classify import figure2
from proofs.classify import verdict as classifying
from proofs.classify.figure3 import BOXES
from reports.page import write
from reports.results import run as plots


def _story() -> dict[str, Any]:
    event = {"to": "sink", "label": "m1", "lost": False, "kind": "event"}
    blank: dict[str, Any] = {
        "cut": None,
        "from": None,
        "sends": [],
        "emits": [],
        "state": "",
        "windows": None,
    }
    return {
        "lanes": ["A", "sink"],
        "moments": [
            {**blank, "node": "A", "kind": "timeout", "label": "t", "sends": [event], "backup": 1},
            {**blank, "node": "A", "kind": "crash", "label": "", "backup": None},
            {
                **blank,
                "node": "sink",
                "kind": "deliver",
                "label": "m1",
                "from": {"node": "A", "sent_at": 0},
                "emits": ["match@1"],
                "backup": 0,
            },
        ],
    }


def _scope(name: str, *, refuted: bool = False) -> dict[str, Any]:
    found = {"property": "as if", "steps": 3, "pinned": 3, "story": _story()} if refuted else None
    outcome = "refuted" if refuted else "holds"
    return {
        "name": name,
        "operators": "DETERMINISTIC",
        "derived": "DETERMINISTIC",
        "crashes": 1,
        "expect": outcome,
        "outcome": outcome,
        "states": 12_345,
        "pinned": 12_345,
        "transitions": 23_456,
        "depth": 17,
        "quiescent": 40,
        "seconds": 0.5,
        "states_per_second": 24_690,
        "guarantee": "GAP" if refuted else "PRECISE",
        "points": 7,
        "hit": 6,
        "missed": ["A: on restart, after Hello to sink"],
        "notes": {"crashes": 3},
        "complete": True,
        "counterexample": found,
    }


def _verdict(name: str, *, refuted: bool = False) -> dict[str, Any]:
    failure = {"property": "as if", "story": _story(), "pytest": "build/test_found.py"}
    mutant = {
        "name": "trim one too many",
        "module": "model.cep.operator",
        "old": "if a < b & c:",
        "new": "if a <= b & c:",
        "by": "explorer",
        "scope": "small",
        "seconds": 0.04,
        "states": 99,
        "steps": 11,
    }
    survivor = {**mutant, "name": "lose a <replica>", "by": None, "scope": None, "steps": None}
    return {
        "protocol": name,
        "title": "Upstream backup",
        "source": "Lima et al.",
        "finding": "right for <every> engine",
        "outcome": "refuted" if refuted else "holds",
        "expected": True,
        "claims": {"DETERMINISTIC": "PRECISE"},
        "found": {"DETERMINISTIC": "GAP" if refuted else "PRECISE"},
        "scopes": [_scope("small"), _scope("a | b", refuted=refuted)],
        "attack": {
            "walks": 400,
            "examples": 40,
            "actions": 2_000,
            "seconds": 130.0,
            "failure": failure if refuted else None,
        },
        "evidence": {"crashes": 4_321},
        "missing": ["events replayed"],
        "mutants": None if refuted else [mutant, survivor],
        "seconds": 140.0,
    }


def _run() -> dict[str, Any]:
    series = [
        {"event": event, "backup": event % 7, "compared": event % 13} for event in range(1, 601)
    ]
    digest = "ab" * 32
    return {
        "protocol": "upstream-backup",
        "left_out": [],
        "input": "flights & more",
        "events": 600,
        "graph": {"nodes": ["s", "A", "t"], "edges": [["s", "A"], ["A", "t"]]},
        "pattern": "late → cancelled",
        "failure_free": {"count": 42, "sha256": digest},
        "with_crashes": {"count": 42, "sha256": digest},
        "same": True,
        "crashes": [{"node": "A", "at_event": 100}, {"node": "A<1>", "at_event": 101}],
        "replayed": 5,
        "discarded": 2,
        "peak_backup": 6,
        "seconds": 12.0,
        "compared": {"protocol": "no-skips", "same": True, "replayed": 9, "peak_backup": 12},
        "series": series,
    }


def _results(**changed: Any) -> dict[str, Any]:
    verdicts = [_verdict("upstream-backup"), _verdict("upstream-backup:pairs", refuted=True)]
    results = {"version": "1.2", "profile": "quick", "verdicts": verdicts, "runs": [_run()]}
    none: dict[str, Any] = {name: [] for name in ("proofs", "simulated", "reproduced", "engine")}
    operators = {"figure_2": figure2.rows(), "figure_3": [*map(classifying.verdict, BOXES[:4])]}
    return {**results, **none, "operators": operators, "seconds": 61.0, **changed}


def test_operators_have_their_classes_and_witnesses(tmp_path: Path) -> None:
    html, markdown = _written(_results(), tmp_path)
    for page in (html, markdown):
        assert "t2' t3' t4' t5' t6'" in page.replace("&#39;", "'")
        assert "join" in page
        assert "differs" in page
    assert markdown.count("is not deterministic") == 1
    assert "two runs over the same streams put out different things" in html


def test_a_class_that_is_not_the_pinned_one_is_said(tmp_path: Path) -> None:
    results = _results()
    first, second = (one["scopes"][0] for one in results["verdicts"])
    first["derived"], second["derived"] = None, "REPEATABLE"
    html, markdown = _written(results, tmp_path)
    assert "(pinned, not derived)" in html
    assert "(not derived)" in markdown
    for page in (html, markdown):
        assert "derived: repeatable" in page


def _written(results: dict[str, Any], out: Path) -> tuple[str, str]:
    page, markdown = write(results, out)
    assert (page, markdown) == (out / "report.html", out / "report.md")
    return page.read_text(encoding="utf-8"), markdown.read_text(encoding="utf-8")


class _Outline(html.parser.HTMLParser):
    """Checks that tags nest, and keeps ids, links and text."""

    VOID = frozenset({"meta", "br", "link", "img", "hr", "input"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "xlink:href", "src"):
                self.links.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def _outline(page: str) -> _Outline:
    outline = _Outline()
    outline.feed(page)
    outline.close()
    assert outline.open == []
    return outline


def test_the_page_is_one_file_that_needs_no_network(tmp_path: Path) -> None:
    page, markdown = _written(_results(), tmp_path)
    addresses = set(re.findall(r"https?://[^\s\"'<)]*", page))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "http" not in markdown
    assert "<script" not in page
    assert "@import" not in page
    outline = _outline(page)
    assert len(outline.ids) == len(set(outline.ids))
    assert all(link.startswith("#") and link[1:] in outline.ids for link in outline.links)


def test_every_link_of_the_markdown_has_its_anchor(tmp_path: Path) -> None:
    _, markdown = _written(_results(), tmp_path)
    anchors = re.findall(r'<a id="([^"]*)"', markdown)
    assert set(re.findall(r"\]\(#([^)]*)\)", markdown)) == set(anchors)


def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    results = _results()
    kept = copy.deepcopy(results)
    assert _written(results, tmp_path / "1") == _written(results, tmp_path / "2")
    assert results == kept


def test_both_forms_tell_everything(tmp_path: Path) -> None:
    page, markdown = _written(_results(), tmp_path)
    shown = " ".join(_outline(page).text.split())
    for told in (
        "upstream-backup:pairs",
        "2 of 2 protocols and variants are as expected",
        "12,345",
        "crashes",
        "12 of 14",
        "2,000 actions in 400 walks and 40 runs of Hypothesis (2 min 10 s)",
        "build/test_found.py",
        "1 of 2 killed",
        "- if a < b & c:",
        "+ if a <= b & c:",
        "after 40 ms, 99 worlds, in a run of 11 steps",
        "survived",
        "events replayed: this should have happened",
        "⇒ match@1",
        "ab" * 32,
        "44.4 %",
        "A at event 100",
    ):
        assert told in shown, told
        assert told in markdown.replace("**", ""), told
    assert "right for <every> engine" in shown
    assert "&lt;every&gt;" in page


def test_a_run_that_differs_and_verdicts_that_surprise_are_said_first(tmp_path: Path) -> None:
    surprising = {**_verdict("p"), "expected": False}
    surprising["scopes"][0].update(states=1, complete=False)
    surprising["scopes"][1]["expect"] = "refuted"
    run = {**_run(), "same": False}
    page, markdown = _written(_results(verdicts=[surprising], runs=[run]), tmp_path)
    shown = " ".join(_outline(page).text.split())
    for text in (shown, markdown.replace("**", "")):
        assert "0 of 1 protocols" in text
        assert "NOT the same as" in text
        assert "differs from the failure-free one" in text
        assert "incomplete" in text
        assert "expected: refuted" in text
        assert text.count("✗ not as pinned") == 2
    assert 'class="lead wrong"' in page
    assert 'class="lead fine"' not in page


def test_what_was_explored_until_it_was_refuted_is_not_called_incomplete(tmp_path: Path) -> None:
    refuted = _verdict("p", refuted=True)
    refuted["scopes"][1].update(states=99, complete=False, spent=None, as_pinned=True)
    refuted["attack"].update(walks=0, examples=0, actions=0, failure=None)
    page, markdown = _written(_results(verdicts=[refuted]), tmp_path)
    for text in (" ".join(_outline(page).text.split()), markdown):
        assert "until refuted" in text
        assert "incomplete" not in text
        assert "not as pinned" not in text
        assert "The random attack took" not in text


def test_a_report_without_a_run_or_with_one_without_a_series(tmp_path: Path) -> None:
    page, markdown = _written(_results(runs=[]), tmp_path)
    assert "real input" not in page + markdown
    bare = {**_run(), "series": [], "crashes": []}
    bare["compared"] = None
    page, markdown = _written(_results(runs=[bare]), tmp_path)
    assert "over the input" not in page + markdown
    _outline(page)


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        (lambda r: r.pop("seconds"), "results: no field 'seconds'"),
        (
            lambda r: r["verdicts"][1].pop("claims"),
            "verdict of upstream-backup:pairs: no .*'claims'",
        ),
        (lambda r: r["verdicts"][0]["scopes"][0].pop("depth"), "scope small: no field 'depth'"),
        (lambda r: r["runs"][0].pop("series"), "run: no field 'series'"),
    ],
)
def test_results_that_lack_a_field_are_refused(broken: Any, complaint: str, tmp_path: Path) -> None:
    results = _results()
    broken(results)
    with pytest.raises(Invalid, match=complaint):
        write(results, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_nothing_half_written_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _written(_results(), tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(Invalid, match=r"report.html: cannot be written: No space left on device"):
        write(_results(version="1.3"), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "report.md"]
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == before[0]


def test_a_folder_that_cannot_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Invalid, match="cannot be written"):
        write(_results(), tmp_path / "file" / "out")


# --- plots -------------------------------------------------------------------------------------
@pytest.mark.parametrize("plot", [plots.backup_over_input, plots.compare_bars])
def test_plots_are_well_formed_and_take_the_colours_of_the_page(plot: Any) -> None:
    drawn = plot(_run())
    root = ElementTree.fromstring(drawn)
    assert root.attrib["aria-label"]
    assert "currentColor" in drawn
    assert "#0102" not in drawn
    assert "<metadata" not in drawn
    assert drawn == plot(_run())


def test_sparklines_are_on_the_scale_they_are_given() -> None:
    assert plots.sparkline([], 5) == ""
    assert plots.sparkline([0, 4, 8], 8, width=3) == "▁▅█"
    assert plots.sparkline([0, 0], 0, width=2) == "▁▁"
    assert len(plots.sparkline([1, 2], 2)) == 60
    assert plots.sparkline([1, 9, 2, 0], 9, width=2) == "█▂"
