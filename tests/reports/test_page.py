"""Reports: self-contained, the same twice, whole or not there at all, and they hide nothing."""

from __future__ import annotations

import html.parser
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from docs.examples import relay
from model.core import Guarantee, OperatorClass
from model.costs import MessageKind
from model.errors import Invalid
from model.evidence import Outcome
from model.registry import protocols
from model.results.attack import AttackFailure, AttackResult, MutantResult
from model.results.bugs import BugResult
from model.results.classes import OperatorResults
from model.results.report import ReportResults
from model.results.run import (
    BackupSample,
    ComparedRun,
    DeployedGraph,
    OutputDigest,
    RealRun,
    RunCrash,
)
from model.results.story import MomentKind, SentFrom, Story, StoryMessage, StoryMoment
from model.results.verdict import (
    Expectation,
    MissedPoint,
    ScopeCounterexample,
    ScopeResult,
    Verdict,
)
from proofs.classify import figure2
from proofs.classify import verdict as classifying
from proofs.classify.figure3 import BOXES
from proofs.explore.verdict import verdict
from reports import palette
from reports.page import write
from reports.results import run as plots


def _story() -> Story:
    message = StoryMessage("sink", "m1", False, MessageKind.EVENT)
    return Story(
        ("A", "sink"),
        (
            StoryMoment("A", MomentKind.TIMEOUT, "t", sends=(message,), backup=1),
            StoryMoment("A", MomentKind.CRASH),
            StoryMoment(
                "sink",
                MomentKind.DELIVER,
                "m1",
                from_=SentFrom("A", 0),
                emits=("match@1",),
                backup=0,
            ),
        ),
    )


STATES, GUARANTEE = Expectation.STATES, Expectation.GUARANTEE


def _scope(name: str, *, refuted: bool = False, **changed: Any) -> ScopeResult:
    found = ScopeCounterexample("as if", 3, 0, 3, _story()) if refuted else None
    outcome = Outcome.REFUTED if refuted else Outcome.HOLDS
    guarantee = Guarantee.GAP if refuted else Guarantee.PRECISE
    scope = ScopeResult(
        name=name,
        operators=OperatorClass.DETERMINISTIC,
        derived=OperatorClass.DETERMINISTIC,
        crashes=1,
        expect=outcome,
        outcome=outcome,
        as_pinned=True,
        differs=(),
        states=12_345,
        pinned=12_345,
        reduced=False,
        transitions=23_456,
        depth=17,
        quiescent=40,
        seconds=0.5,
        states_per_second=24_690,
        guarantee=guarantee,
        expect_guarantee=guarantee,
        points=7,
        hit=6,
        missed=(MissedPoint("A: on restart, after Hello to sink", "a <reason>"),),
        notes={"crashes": 3},
        complete=True,
        spent=None,
        counterexample=found,
    )
    return replace(scope, **changed)


MUTANT = MutantResult(
    name="trim one too many",
    module="model.cep.operator",
    old="if a < b & c:",
    new="if a <= b & c:",
    by="explorer",
    scope="small",
    seconds=0.04,
    states=99,
    steps=11,
)
SURVIVOR = replace(MUTANT, name="lose a <replica>", by=None, scope=None, steps=None)


def _verdict(name: str, *, refuted: bool = False, **changed: Any) -> Verdict:
    failure = AttackFailure("walk", "as if", 3, _story(), "build/test_found.py")
    deterministic = OperatorClass.DETERMINISTIC
    verdict = Verdict(
        protocol=name,
        title="Upstream backup",
        source="Lima et al.",
        finding="right for <every> engine",
        outcome=Outcome.REFUTED if refuted else Outcome.HOLDS,
        expected=True,
        claims={deterministic: Guarantee.PRECISE},
        found={deterministic: Guarantee.GAP if refuted else Guarantee.PRECISE},
        weaker=(),
        stronger=(),
        unclaimed=(),
        vacuous=(),
        points=14,
        hit=12,
        missed=(MissedPoint("A: on restart, after Hello to sink", "a <reason>"),),
        scopes=(_scope("small"), _scope("a | b", refuted=refuted)),
        standard=(),
        untried_classes=(),
        attack=AttackResult(400, 40, 2_000, 130.0, failure if refuted else None),
        evidence={"crashes": 4_321},
        missing=("events replayed",),
        mutants=None if refuted else (MUTANT, SURVIVOR),
        seconds=140.0,
    )
    return replace(verdict, **changed)


def _bug(**changed: Any) -> BugResult:
    bug = BugResult(
        file="kip_447",
        report="KIP-447",
        engine="Kafka",
        symptom="it comes <twice>",
        about="Who was taken for dead commits.",
        stream=True,
        forms=(_verdict("kip_447"), _verdict("kip_447:reported", refuted=True)),
    )
    return replace(bug, **changed)


def _run() -> RealRun:
    digest = OutputDigest(42, "ab" * 32)
    return RealRun(
        protocol="upstream-backup",
        input="flights & more",
        events=600,
        graph=DeployedGraph(("s", "A", "t"), (("s", "A"), ("A", "t"))),
        pattern="late → cancelled",
        left_out=(),
        expected=digest,
        failure_free=digest,
        with_crashes=digest,
        missing_outputs=0,
        surplus_outputs=0,
        same=True,
        crashes=(RunCrash("A", 100), RunCrash("A<1>", 101)),
        replayed=5,
        discarded=2,
        peak_backup=6,
        seconds=12.0,
        compared=ComparedRun("no-skips", True, 0, 0, 9, 12),
        series=tuple(BackupSample(event, event % 7, event % 13) for event in range(1, 601)),
    )


def _results(**changed: Any) -> ReportResults:
    results = ReportResults(
        version="1.2",
        profile="quick",
        verdicts=(_verdict("upstream-backup"), _verdict("upstream-backup:pairs", refuted=True)),
        bugs=(_bug(),),
        operators=OperatorResults(figure2.rows(), tuple(map(classifying.verdict, BOXES[:4]))),
        runs=(_run(),),
        seconds=61.0,
    )
    return replace(results, **changed)


def test_operators_have_their_classes_and_witnesses(tmp_path: Path) -> None:
    html, markdown = _written(_results(), tmp_path)
    for page in (html, markdown):
        assert "t2' t3' t4' t5' t6'" in page.replace("&#39;", "'")
        assert "join" in page
        assert "differs" in page
    assert markdown.count("is not deterministic") == 1
    assert "two runs over the same streams put out different things" in html


def test_a_class_that_is_not_the_pinned_one_is_said(tmp_path: Path) -> None:
    unknown, other = (
        _verdict(name, scopes=(_scope("small", derived=derived),))
        for name, derived in (("p", None), ("p:other", OperatorClass.REPEATABLE))
    )
    html, markdown = _written(_results(verdicts=(unknown, other)), tmp_path)
    assert "(not derived)" in html
    assert "(not derived)" in markdown
    for page in (html, markdown):
        assert "derived: repeatable" in page


def test_bugs_of_engines_have_symptom_and_verdicts(tmp_path: Path) -> None:
    html, markdown = _written(_results(), tmp_path)
    outline = _outline(html)
    for text in (" ".join(outline.text.split()), markdown.replace("\\", "")):
        for said in (
            *("duplicates without a crash", "log-io:scale-down-of-what-was-chosen"),
            *("KIP-447", "Kafka", "it comes <twice>", "Who was taken for dead commits."),
            *("refuted in 3 steps, gap", "holds, precise", "✓ as expected"),
            *("2 of 2 forms", "asif check docs/how-to/engines/kip_447.py"),
        ):
            assert said in text
        assert "participants disagree" not in text  # no bug of these results shows it
    assert "bug-kip-447" in outline.ids
    assert "KIP-447: after 3 steps this run violates" in " ".join(outline.text.split())


def test_a_bug_that_is_not_as_pinned_or_not_found_is_said(tmp_path: Path) -> None:
    forms = _verdict("kip_447"), _verdict("kip_447:reported", expected=False)
    results = _results(verdicts=(), runs=(), bugs=(_bug(forms=forms),))
    assert not results.fine
    html, markdown = _written(results, tmp_path)
    for text in (" ".join(_outline(html).text.split()), markdown):
        assert "1 of 2 forms" in text
        assert "not refuted" in text
        assert "as expected" in text.partition("not refuted")[2].lower()
    no_stream = _results(bugs=(_bug(stream=False),))
    assert "refuted in 3 steps, no stream" in _written(no_stream, tmp_path)[1]


def test_where_no_models_are_installed_the_report_says_where_they_are(tmp_path: Path) -> None:
    for text in _written(_results(bugs=()), tmp_path):
        assert "docs/how-to/engines" in text
        assert "not in this installation" in text


def _written(results: ReportResults, out: Path) -> tuple[str, str]:
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
    assert _written(results, tmp_path / "1") == _written(results, tmp_path / "2")


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
    scopes = (
        _scope("small", states=1, complete=False, as_pinned=False, differs=(STATES, GUARANTEE)),
        _scope("a | b", expect=Outcome.REFUTED, as_pinned=False, differs=(Expectation.OUTCOME,)),
    )
    surprising = _verdict("p", expected=False, scopes=scopes)
    run = replace(_run(), same=False)
    page, markdown = _written(_results(verdicts=(surprising,), runs=(run,)), tmp_path)
    shown = " ".join(_outline(page).text.split())
    for text in (shown, markdown.replace("**", "")):
        assert "0 of 1 protocols" in text
        assert "NOT the same as" in text
        assert "differs from the failure-free one" in text
        assert "incomplete" in text
        assert "✗ expected: refuted" in text
        assert "✗ pinned: 12,345 states" in text
        assert "✗ expected: precise" in text
    assert 'class="lead wrong"' in page
    assert 'class="lead fine"' not in page


def test_a_report_is_fine_if_all_is_as_expected_and_no_mutant_survives(tmp_path: Path) -> None:
    good = _verdict("p", mutants=(MUTANT,))
    fine = _results(verdicts=(good,), runs=())
    assert fine.fine
    assert '<p class="lead fine">1 of 1 protocols' in _written(fine, tmp_path)[0]
    for wrong in (_verdict("p"), replace(good, expected=False)):
        assert not replace(fine, verdicts=(wrong,)).fine
    wrong_type = replace(figure2.rows()[0], found=Guarantee.GAP)
    assert not replace(fine, operators=OperatorResults((wrong_type,))).fine
    assert not replace(fine, bugs=(_bug(forms=(replace(good, expected=False),)),)).fine
    assert not replace(fine, runs=(replace(_run(), same=False),)).fine


def test_what_was_explored_until_it_was_refuted_is_not_called_incomplete(tmp_path: Path) -> None:
    ended = _scope("a | b", refuted=True, states=99, complete=False)
    refuted = _verdict("p", refuted=True, scopes=(ended,), attack=AttackResult())
    page, markdown = _written(_results(verdicts=(refuted,)), tmp_path)
    for text in (" ".join(_outline(page).text.split()), markdown):
        assert "until refuted" in text
        assert "incomplete" not in text
        assert "✗ pinned" not in text
        assert "✗ expected" not in text
        assert "The random attack took" not in text


@pytest.mark.slow
def test_real_verdicts_are_on_both_pages(tmp_path: Path) -> None:
    """Of a small protocol that holds, and of one that is refuted."""
    both = (relay.PROTOCOL, protocols()["micro-batch:commit-first"])
    results = _results(verdicts=tuple(verdict(one, examples=5) for one in both), runs=())
    page, markdown = _written(results, tmp_path)
    assert "Space-time diagram" in page
    for text in (" ".join(_outline(page).text.split()), markdown):
        assert "2 of 2 protocols and variants are as expected" in text
        for one in results.verdicts:
            assert one.protocol in text
            if one.shortest is not None:
                assert f"after {one.shortest.steps} steps this run violates" in text


def test_a_report_without_a_run_or_with_one_without_a_series(tmp_path: Path) -> None:
    page, markdown = _written(_results(runs=()), tmp_path)
    assert "real input" not in page + markdown
    bare = replace(_run(), series=(), crashes=(), compared=None)
    page, markdown = _written(_results(runs=(bare,)), tmp_path)
    assert "over the input" not in page + markdown
    _outline(page)


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
def test_plots_are_well_formed_with_colours_as_attributes(plot: Any) -> None:
    drawn = plot(_run())
    root = ElementTree.fromstring(drawn)
    assert root.attrib["aria-label"]
    assert palette.FG in drawn
    assert "style=" not in drawn
    assert "<metadata" not in drawn
    assert drawn == plot(_run())


def test_sparklines_are_on_the_scale_they_are_given() -> None:
    assert plots.sparkline([], 5) == ""
    assert plots.sparkline([0, 4, 8], 8, width=3) == "▁▅█"
    assert plots.sparkline([0, 0], 0, width=2) == "▁▁"
    assert len(plots.sparkline([1, 2], 2)) == 60
    assert plots.sparkline([1, 9, 2, 0], 9, width=2) == "█▂"
