"""Reports: self-contained, the same twice, whole or not there at all, and they hide nothing."""

from __future__ import annotations

import html.parser
import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from reports.page import write, writing
from reports.page.encoding import script_text
from reports.page.shell import WEB
from reports.page.surprises import surprises
from reports.results import run as plots
from reports.safe_text import visible
from tests.reports.written import blocks_of, written


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
    made = written(_results(), tmp_path)
    for text in made.both:
        assert "t2' t3' t4' t5' t6'" in text
        assert "join" in text
        assert "differs" in text
        assert "two runs over the same streams put out different things" in text
    assert made.markdown.count("is not deterministic") == 1


def test_a_class_that_is_not_the_pinned_one_is_said(tmp_path: Path) -> None:
    unknown, other = (
        _verdict(name, scopes=(_scope("small", derived=derived),))
        for name, derived in (("p", None), ("p:other", OperatorClass.REPEATABLE))
    )
    for text in written(_results(verdicts=(unknown, other)), tmp_path).both:
        assert "(not derived)" in text
        assert "derived: repeatable" in text


def test_bugs_of_engines_have_symptom_and_verdicts(tmp_path: Path) -> None:
    made = written(_results(), tmp_path)
    for text in made.both:
        for said in (
            *("duplicates without a crash", "log-io:scale-down-of-what-was-chosen"),
            *("KIP-447", "Kafka", "it comes <twice>", "Who was taken for dead commits."),
            *("refuted in 3 steps, gap", "holds, precise", "✓ as expected"),
            *("2 of 2 forms", "asif check docs/how-to/engines/kip_447.py"),
        ):
            assert said in text
        assert "participants disagree" not in text  # no bug of these results shows it
    assert [*made.rooms["bugs"]["panels"]] == ["bugs/kip_447"]
    assert "KIP-447: after 3 steps this run violates" in made.said


def test_a_bug_that_is_not_as_pinned_or_not_found_is_said(tmp_path: Path) -> None:
    forms = _verdict("kip_447"), _verdict("kip_447:reported", expected=False)
    results = _results(verdicts=(), runs=(), bugs=(_bug(forms=forms),))
    assert not results.fine
    for text in written(results, tmp_path).both:
        assert "1 of 2 forms" in text
        assert "not refuted" in text
        assert "as expected" in text.partition("not refuted")[2].lower()
    no_stream = _results(bugs=(_bug(stream=False),))
    assert "refuted in 3 steps, no stream" in written(no_stream, tmp_path).markdown


def test_where_no_models_are_installed_the_report_says_where_they_are(tmp_path: Path) -> None:
    for text in written(_results(bugs=()), tmp_path).both:
        assert "docs/how-to/engines" in text
        assert "not in this installation" in text


def test_effects_of_pages_are_done_before_the_next_key() -> None:
    """None is left for after the paint, where it would undo a key that comes before."""
    found = {
        path.name: re.findall(r"\buse\w*Effect\b", path.read_text()) for path in WEB.glob("*.js")
    }
    assert {name for names in found.values() for name in names} == {"useLayoutEffect"}


def test_the_page_needs_no_network_and_says_where_to_read_without_scripts(tmp_path: Path) -> None:
    made = written(_results(), tmp_path)
    texts = [path.read_text("utf-8") for path in (tmp_path / "report").glob("*.js")]
    addresses = set(re.findall(r"https?://[^\s\"'\\\\<)]*", "".join([made.html, *texts])))
    assert addresses <= {
        *("http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"),
        *("http://www.w3.org/1998/Math/MathML", "http://www.w3.org/1999/xhtml"),
    }
    assert "http" not in made.markdown
    assert "@import" not in made.html
    outline = _Outline()
    outline.feed(made.html)
    outline.close()
    assert outline.open == []
    assert outline.links == ["report.md"]
    assert outline.scripts == []


class _Outline(html.parser.HTMLParser):
    """Checks that tags nest, and keeps links and the files of scripts."""

    VOID = frozenset({"meta", "br", "link", "img", "hr", "input"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.scripts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.links += [found["href"] or ""] if "href" in found else []
        self.scripts += [found["src"] or ""] if "src" in found else []
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_every_link_leads_to_something(tmp_path: Path) -> None:
    made = written(_results(), tmp_path)
    anchors = re.findall(r'<a id="([^"]*)"', made.markdown)
    assert len(anchors) == len({*anchors})
    assert {*re.findall(r"\]\(#([^)]*)\)", made.markdown)} <= {*anchors}
    known = {room["address"] for room in made.first["rooms"]}
    known |= {one["address"] for room in made.first["rooms"] for one in room["panels"]}
    assert {*_links([made.first["first"], made.rooms])} <= known


def _links(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from [value["to"]] if "to" in value and "from" not in value else []
        value = [*value.values()]
    if isinstance(value, list):
        for one in value:
            yield from _links(one)


def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    results = _results()
    assert written(results, tmp_path / "1") == written(results, tmp_path / "2")


@given(st.text())
def test_no_text_ends_a_script_or_is_lost(text: str) -> None:
    script = script_text({"text": text})
    assert "<" not in script
    assert "\n" not in script
    assert json.loads(script) == {"text": visible(text)}


def test_names_of_users_are_texts_in_the_page_and_in_its_data(tmp_path: Path) -> None:
    odd = "upstream-backup:a/b % # ? </script><script>alert(1)</script>\u2028\x1b[31m"
    results = _results(verdicts=(_verdict("upstream-backup"), _verdict(odd)), runs=())
    made = written(results, tmp_path)
    assert made.html.count("</script") == made.html.count("<script")
    (family,) = (room for room in made.first["rooms"] if room["family"])
    assert len(family["panels"]) == 2
    assert family["panels"][1]["address"] in made.rooms["upstream-backup"]["panels"]


def test_both_forms_say_everything(tmp_path: Path) -> None:
    made = written(_results(), tmp_path)
    for text in made.both:
        for said in (
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
            "right for <every> engine",
        ):
            assert said in text, said
    assert "<every>" not in made.html
    assert "<every>" not in made.markdown


def test_runs_that_differ_and_verdicts_that_surprise_are_said_first(tmp_path: Path) -> None:
    scopes = (
        _scope("small", states=1, complete=False, as_pinned=False, differs=(STATES, GUARANTEE)),
        _scope("a | b", expect=Outcome.REFUTED, as_pinned=False, differs=(Expectation.OUTCOME,)),
    )
    surprising = _verdict("p", expected=False, scopes=scopes)
    run = replace(_run(), same=False)
    made = written(_results(verdicts=(surprising,), runs=(run,)), tmp_path)
    for text in made.both:
        assert "0 of 1 protocols" in text
        assert "NOT the same as" in text
        assert "differs from the failure-free one" in text
        assert "incomplete" in text
        assert "✗ expected: refuted" in text
        assert "✗ pinned: 12,345 states" in text
        assert "✗ expected: precise" in text
    section = made.first["first"][1]
    assert section["title"] == "Not as expected: 3"  # a survivor among the mutants, too
    assert {one.get("tone") for one in section["blocks"]} == {"bad"}
    assert not any(one.get("tone") == "good" for one in blocks_of(made.first["first"], "Sentence"))


def test_a_report_is_fine_if_all_is_as_expected_and_no_mutant_survives(tmp_path: Path) -> None:
    good = _verdict("p", mutants=(MUTANT,))
    fine = _results(verdicts=(good,), runs=())
    assert fine.fine
    assert surprises(fine) == []
    first = written(fine, tmp_path).first["first"][1]
    assert first["tone"] == "good"
    assert first["words"].startswith("Everything is as expected: 1 of 1 protocols")
    wrong_type = replace(figure2.rows()[0], found=Guarantee.GAP)
    for changed in (
        {"verdicts": (_verdict("p"),)},
        {"verdicts": (replace(good, expected=False),)},
        {"operators": OperatorResults((wrong_type,))},
        {"bugs": (_bug(forms=(replace(good, expected=False),)),)},
        {"runs": (replace(_run(), same=False),)},
        {"lost": ("simulating x: killed",)},
    ):
        wrong = replace(fine, **changed)
        assert not wrong.fine
        assert len(surprises(wrong)) == 1, changed


def test_scopes_explored_until_they_were_refuted_are_not_called_incomplete(
    tmp_path: Path,
) -> None:
    ended = _scope("a | b", refuted=True, states=99, complete=False)
    refuted = _verdict("p", refuted=True, scopes=(ended,), attack=AttackResult())
    for text in written(_results(verdicts=(refuted,), bugs=()), tmp_path).both:
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
    made = written(results, tmp_path)
    assert "Space-time diagram" in made.said
    for text in made.both:
        assert "2 of 2 protocols and variants are as expected" in text
        for one in results.verdicts:
            assert one.protocol in text
            if one.shortest is not None:
                assert f"after {one.shortest.steps} steps this run violates" in text


def test_a_report_without_a_run_or_with_one_without_a_series(tmp_path: Path) -> None:
    assert "runs" not in written(_results(runs=()), tmp_path).rooms
    bare = replace(_run(), series=(), crashes=(), compared=None)
    made = written(_results(runs=(bare,)), tmp_path)
    assert "over the input" not in made.said + made.markdown


def test_data_of_a_room_that_is_gone_is_deleted_and_a_user_s_file_stays(tmp_path: Path) -> None:
    written(_results(), tmp_path)
    (tmp_path / "report" / "mine.js").write_text("my();")
    assert (tmp_path / "report" / "runs.js").exists()
    written(_results(runs=()), tmp_path)
    assert not (tmp_path / "report" / "runs.js").exists()
    assert (tmp_path / "report" / "mine.js").read_text() == "my();"


def test_nothing_half_written_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = written(_results(), tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(Invalid, match=r"cannot be written: No space left on device"):
        write(_results(version="1.3"), tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["report", "report.html", "report.md"]
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == before.html


def test_a_folder_that_cannot_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Invalid, match="cannot be written"):
        write(_results(), tmp_path / "file" / "out")


def test_a_folder_of_the_user_s_beside_the_page_is_refused(tmp_path: Path) -> None:
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "thesis.md").write_text("mine")
    with pytest.raises(Invalid, match="asif needs this name"):
        write(_results(), tmp_path)
    assert not (tmp_path / "report.html").exists()


def test_a_room_with_much_data_has_several_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "LARGEST", 20_000)
    many = tuple(_verdict(f"p:{name}", refuted=True) for name in "abcdefgh")
    made = written(_results(verdicts=(_verdict("p"), *many), runs=(), bugs=()), tmp_path)
    files = made.first["rooms"][0]["files"]
    assert files[:3] == ["p.js", "p-1.js", "p-2.js"]
    assert all((tmp_path / "report" / name).stat().st_size < 40_000 for name in files)
    assert [*made.rooms["p"]["panels"]] == ["p/itself", *(one.protocol for one in many)]


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
