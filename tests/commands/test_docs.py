"""The documentation is true: fresh pages, links that resolve, commands and examples that run."""

from __future__ import annotations

import ast
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main
from typer.core import TyperGroup

from asif import cli
from asif.console import console
from docs.examples import passive_standby
from engine_check import known_checks
from model.core import Guarantee
from model.events import Body
from model.evidence import Outcome
from model.machine.marks import marked
from model.protocol import Protocol
from model.recovery import classify
from model.registry import modules, protocols
from proofs.prove import lemma_page
from proofs.prove.lemma_index import theories
from reports import architecture, docs, engine_page
from reports.lines import wrap
from reports.results import plans
from sim.plans.compare import compare
from sim.plans.read import read
from spark_check.engine import ENGINE as SPARK

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
KINDS = ("tutorial", "how-to", "reference", "explanation")
PAGES = sorted(
    [
        *(ROOT / "README.md", ROOT / "CONTRIBUTING.md"),
        *(page for kind in KINDS for page in (DOCS / kind).rglob("*.md")),
    ]
)
PICTURES = ROOT / "docs" / "pictures"
QUOTED = re.compile(r"(?:\$ |bin/|^)asif ([a-z-]+)([^`#\n]*)", re.MULTILINE)

THEORIES = tuple(theories().values())

EXAMPLES = {
    "amnesia": (1, "gap"),
    "forgetful": (1, "repeating"),
    "mindful": (0, "precise"),
    "passive_standby": (0, "repeating"),
    "passive_standby:alone": (1, "gap"),
    "passive_standby:delta": (1, "gap"),
    "passive_standby:early": (1, "gap"),
    "passive_standby:precise": (0, "precise"),
    "relay": (0, "precise"),
    "relay:lazy": (0, "precise"),
    "standby": (0, "precise"),
    "standby:any": (1, "gap"),
    "write_ahead": (0, "precise"),
    "write_ahead:flushed": (0, "precise"),
}
"""Exit code, and the guarantee found."""
ELSEWHERE = {"once", "chaos_trace", "every_second"}
"""Examples of other things: test_cli.py and test_spark_traces.py run them, and operators.md."""


def commands(page: Path) -> list[tuple[str, list[str]]]:
    """(command, words that follow) of every `asif ...` on a page."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    code = re.findall(r"```.*?```|`[^`]+`", text, re.DOTALL)
    quoted = [found for part in code for found in QUOTED.findall(part.strip("`"))]
    return [(command, shlex.split(rest)) for command, rest in quoted]


def test_the_generated_page_is_fresh() -> None:
    text = docs.PAGE.read_text(encoding="utf-8")
    assert text == docs.page(text), "stale: run `make docs`"


def test_the_table_of_readings_is_fresh() -> None:
    text = docs.PLANS.read_text(encoding="utf-8")
    assert text == docs.plans_page(text), "stale: run `make docs`"
    assert docs.plans_page(text.replace("R = 2", "R = 3")) == text


def test_the_tables_of_guarantees_are_fresh() -> None:
    text = docs.STANDBYS.read_text(encoding="utf-8")
    assert text == docs.standbys_page(text), "stale: run `make docs`"
    assert docs.standbys_page(text.replace("| gap", "| precise")) == text


def test_the_terms_of_recoveries_are_fresh() -> None:
    text = docs.RECOVERIES.read_text(encoding="utf-8")
    assert text == docs.recoveries_page(text), "stale: run `make docs`"
    assert docs.recoveries_page(text.replace("| checkpoint", "| batch")) == text
    assert all(protocol.behaviour.outage for protocol in modules().values())


def test_the_table_of_pipelines_is_fresh() -> None:
    text = docs.PIPELINES.read_text(encoding="utf-8")
    assert text == docs.pipelines_page(text), "stale: run `make docs`"
    assert docs.pipelines_page(text.replace("| two |", "| no |")) == text


@pytest.mark.parametrize("engine", docs.ENGINES)
def test_the_results_on_engines_are_fresh(engine: str) -> None:
    text = docs.ENGINES[engine].read_text(encoding="utf-8")
    assert text == docs.results_page(text, engine), "stale: run `make docs`"
    assert docs.results_page(text.replace(docs.BEGIN, f"{docs.BEGIN}\n| old |"), engine) == text


def test_the_results_on_spark_are_of_all_quick_checks_and_none_failed() -> None:
    results = engine_page.kept(engine_page.RESULTS / "spark")
    quick = {one.check for one in results if one.profile == "quick"}
    assert set(known_checks.checks(SPARK, "quick")) <= quick <= set(known_checks.checks(SPARK))
    assert len({(one.check, one.profile) for one in results}) == len(results)
    assert [one.check for one in results if not one.holds or one.error] == []


def test_the_picture_of_a_plan_is_fresh() -> None:
    result = compare(read(ROOT / "docs" / "plans" / "priorities.toml"))
    path = PICTURES / "plan-priorities.svg"
    assert path.read_bytes() == marked(path, plans.picture(result).content(".svg")), (
        "stale: run `make docs`"
    )


def test_a_stale_page_is_noticed() -> None:
    text = docs.PAGE.read_text(encoding="utf-8")
    stale = text.replace("holds", "held")
    assert docs.page(stale) == text


def test_the_page_of_lemmas_is_fresh() -> None:
    """With the answers that test_prove.py compares with those of Z3."""
    text = lemma_page.PAGE.read_text(encoding="utf-8")
    assert text == lemma_page.page(text), "stale: run `make docs`"
    assert lemma_page.page(text.replace("| proved |", "| refuted |")) == text


def test_the_page_of_lemmas_has_each_lemma() -> None:
    text = lemma_page.PAGE.read_text(encoding="utf-8").replace("\\|", "|")
    for theory in THEORIES:
        for lemma in theory.lemmas:
            answer = "proved" if lemma.expect is Outcome.HOLDS else "refuted"
            anchor = f'<a id="lemma-{theory.of}-{lemma.name}"></a>'
            row = f"| {anchor}{theory.of}: {lemma.name} | {answer} |"
            assert row in text, "stale: run `make docs`"
            assert " ".join(lemma.statement.split()) in text, "stale: run `make docs`"


def test_the_long_page_has_each_protocol_scope_and_mutant() -> None:
    lines = docs.long_page().splitlines()
    for name, protocol in protocols().items():
        assert f"### {name}" in lines
        rows = lines[lines.index(f"### {name}") :]
        for pinned in protocol.evidence.scopes:
            assert any(line.startswith(f"| {pinned.name} | ") for line in rows)
    for protocol in modules().values():
        for mutant in protocol.evidence.mutants:
            assert f"- **{mutant.name}** (`{mutant.module}`)" in lines


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if not link.startswith("https:"):
            assert (page.parent / link).exists(), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_line_of_prose_is_long(page: Path) -> None:
    prose = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    lines = [line for line in prose.splitlines() if not line.startswith("|")]
    assert [line for line in lines if len(line) > 120] == []


def anchors(page: Path) -> set[str]:
    """What a link to a part of a page may name: its headings, as GitHub spells them, and ids."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    spelled = {re.sub(r"[^\w\- ]", "", one.lower()).strip().replace(" ", "-") for one in headings}
    return spelled | set(re.findall(r'<a id="([^"]+)"', text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_a_part_of_a_page_lead_there(page: Path) -> None:
    for name, part in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text(encoding="utf-8")):
        assert part in anchors(page.parent / name if name else page), f"{name}#{part}"


ROOMS = "asif|model|proofs|sim|engine_check|flink_check|spark_check|reports|tests|benchmarks|docs"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_and_modules_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for path in re.findall(rf"`((?:{ROOMS})/[\w./-]+)`", text):
        assert (ROOT / path).exists() or "NAME" in path, path
    for shown, path in re.findall(r"\[([\w.]+\.\w+)\]\(([^)#]+)\)", text):
        assert Path(path).name == Path(shown).name, shown
    for name in re.findall(rf"`((?:{ROOMS})(?:\.\w+)+)(?:\(.*?\))?`", text):
        assert pkgutil.resolve_name(name), name


def test_the_picture_of_the_packages_is_fresh() -> None:
    committed = architecture.PICTURE.read_text(encoding="utf-8")
    assert committed == architecture.picture().content(".svg"), "stale: run `make docs`"


def test_another_import_makes_the_picture_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    more = architecture.imports() | {("reports.docs", "sim.untimed")}
    monkeypatch.setattr(architecture, "imports", lambda: more)
    assert architecture.PICTURE.read_text(encoding="utf-8") != architecture.picture().content(
        ".svg"
    )
    assert "reports imports sim" in architecture.picture().svg


@pytest.mark.slow
def test_the_picture_of_the_small_counterexample_is_fresh(tmp_path: Path) -> None:
    (picture,) = PICTURES.glob("micro-batch-*.svg")
    name = picture.stem.replace("micro-batch-", "micro-batch:")
    command = [sys.executable, "-m", "asif", "check", name, "--out", str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert ran.returncode == 1, ran.stderr
    assert picture.read_text("utf-8") == (tmp_path / picture.name).read_text("utf-8")


def test_the_counterexample_on_the_first_page_is_the_protocol_s_shortest() -> None:
    (picture,) = PICTURES.glob("micro-batch-*.svg")
    drawn = re.search(r"Space-time diagram: (\d+) steps", picture.read_text("utf-8"))
    name = picture.stem.replace("micro-batch-", "micro-batch:")
    pinned = [one.steps for one in protocols()[name].evidence.scopes]
    assert drawn
    assert int(drawn[1]) == min(steps for steps in pinned if steps is not None)


def bodies(quoted: str) -> list[Body]:
    return [Body(0, type_) for type_ in quoted.split()]


def test_the_example_of_each_guarantee_has_that_guarantee() -> None:
    text = (DOCS / "reference" / "model.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| .* \| `([abc' ]+)` \|$", text, re.MULTILINE)
    assert [name for name, _ in rows] == [one.name.lower() for one in Guarantee]
    for name, seen in rows:
        assert classify(bodies("a b c"), bodies(seen)) is Guarantee[name.upper()]
    assert classify(bodies("a b c"), bodies("a b b' c'")) is Guarantee.GAP


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_quoted_commands_names_and_options_exist(page: Path) -> None:
    group = typer.main.get_command(cli.application())
    assert isinstance(group, TyperGroup)
    for command, words in commands(page):
        assert command in group.commands, command
        known = {option for p in group.commands[command].params for option in p.opts}
        assert {word for word in words if word.startswith("--")} <= known, words
        name = words[0] if words else "--all"
        if command == "check" and not name.startswith("--") and not name.isupper():
            file = name.partition(":")[0]
            made = page == TUTORIAL and file in ("relay.py", "broken.py", "hello.py")
            known_name = name in protocols() or (ROOT / file).is_file() or made
            assert known_name or name.startswith(("NAME", "FILE.py")), name


def test_the_tour_counts_all_protocols_and_variants() -> None:
    text = (DOCS / "tutorial" / "tour.md").read_text("utf-8")
    count = len(protocols())
    assert f"\n{count} of {count} protocols and variants are as expected\n" in text


def test_the_readme_quotes_every_command() -> None:
    group = typer.main.get_command(cli.application())
    assert isinstance(group, TyperGroup)
    assert {command for command, _ in commands(ROOT / "README.md")} >= set(group.commands)


def test_every_example_is_expected_to_do_something() -> None:
    assert {path.stem for path in (ROOT / "docs" / "examples").glob("*.py")} == {
        *(name for name in EXAMPLES if ":" not in name),
        *ELSEWHERE,
    }


SLOW = (
    *("upstream-backup --mutants", "upstream-backup:pairs", "--limit", "list"),
    *("asif spark", "asif flink", "asif sweep", "asif verify-trace", "two-sources.toml"),
)
"""Quoted commands that other tests run, or that take minutes, or that start Spark."""
COLUMNS = 100
"""The width for which a quoted line that is longer is wrapped."""


def blocks(page: Path) -> list[tuple[str, str]]:
    """(language, text) of the blocks of code of a page that name one, in order."""
    return re.findall(r"^```(\w+)\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def session(block: str) -> list[tuple[str, list[str]]]:
    """The commands of a console block, each with the lines that it prints."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    command = re.compile(r"(.*?(?:\\\n.*?|'[^']*'.*?)*)\n(.*)", re.DOTALL)
    found = [command.fullmatch(part) for part in parts]
    return [(m[1], m[2].splitlines()) for m in found if m]


TUTORIAL = DOCS / "tutorial" / "add-a-protocol.md"
RELAY = (ROOT / "docs" / "examples" / "relay.py").read_text("utf-8")
REFERENCE = DOCS / "reference" / "protocol-files.md"
OPERATORS = DOCS / "how-to" / "operators.md"
ENGINE = DOCS / "how-to" / "model-your-engine.md"
EVERY_SECOND = (ROOT / "docs" / "examples" / "every_second.py").read_text("utf-8")
STANDBY = (ROOT / "docs" / "examples" / "standby.py").read_text("utf-8")


def definitions(source: str) -> dict[str, str]:
    """The text of every class, function and constant of a module, by name, imports left out."""
    found: dict[str, str] = {}
    for node in ast.parse(source).body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                pass
            case ast.Assign(targets=[ast.Name(name)]):
                pass
            case _:
                continue
        found.pop(name, None)  # whoever defines it again may need what came in between
        found[name] = ast.get_source_segment(source, node) or ""
    return found


def assembled(before: int | None = None) -> dict[str, str]:
    """What the tutorial has of relay.py in its first `before` blocks, or in all."""
    parts = [text for language, text in blocks(TUTORIAL)[:before] if language == "python"]
    return definitions("\n".join(parts))


def test_the_blocks_of_the_tutorial_are_its_example() -> None:
    assert assembled() == definitions(RELAY)


def test_the_page_of_operators_quotes_its_example() -> None:
    quoted = [text for language, text in blocks(OPERATORS) if language == "python"]
    assert [*map(definitions, quoted)] == [definitions(EVERY_SECOND)]


def test_the_reference_of_a_protocol_s_file_quotes_the_standby() -> None:
    parts = [text for language, text in blocks(REFERENCE) if language == "python"]
    assert parts
    assert all(part in STANDBY for part in parts)


def test_the_tutorial_gives_the_steps_that_each_fault_takes() -> None:
    rows = re.findall(r"^\| `(\w+)` \| .* \| (\d+) \|$", TUTORIAL.read_text("utf-8"), re.MULTILINE)
    faults = {name: steps for name, steps in steps_of(passive_standby.PROTOCOL) if steps}
    assert {name: int(steps) for name, steps in rows} == faults


def steps_of(protocol: Protocol) -> Iterator[tuple[str, int | None]]:
    """For each variant its name and the pinned length of its shortest counterexample."""
    for one in protocol.variants:
        yield one.name.partition(":")[2], one.evidence.scopes[0].steps


def test_passive_standby_is_as_short_as_the_tutorial_says() -> None:
    count = len((ROOT / "docs" / "examples" / "passive_standby.py").read_text("utf-8").splitlines())
    said = re.search(r"passive standby \(.*?\) in (\d+)\s+lines", TUTORIAL.read_text("utf-8"))
    assert said
    assert count <= int(said[1])


LONG = ("standbys.md", "add-a-protocol.md", "costs.md", "my-engine-is-flink.md", "tour.md")
"""The pages whose commands take longest; `.ci/run` checks and simulates by the others, and has the
tour in test_tour.py."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.exhaustive if page.name in LONG else ())
        for page in PAGES
    ],
    ids=lambda page: page.name,
)
def test_quick_commands_print_what_is_quoted(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    shim = tmp_path / ".venv" / "bin" / "asif"
    shim.parent.mkdir(parents=True)
    shim.write_text(
        f"#!/bin/sh\nexec '{sys.executable}' -c 'from asif.cli import main; main()' \"$@\"\n"
    )
    shim.chmod(0o755)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join([str(shim.parent), os.environ["PATH"]]))
    monkeypatch.setenv("COLUMNS", str(COLUMNS))  # of processes that start
    monkeypatch.setattr(console, "width", COLUMNS)
    for at, (language, block) in enumerate(blocks(page)):
        if page == TUTORIAL:
            imports = RELAY[: RELAY.index("\n\n\nclass ")]
            text = "\n\n".join([imports, *assembled(before=at).values()])
            (tmp_path / "relay.py").write_text(text, encoding="utf-8")
        for command, lines in session(block) if language == "console" else ():
            if any(slow in command for slow in SLOW):
                continue
            words = shlex.split(command.replace("\\\n", " "))
            grows = page == TUTORIAL and "docs/examples" not in command
            if Path(words[0]).name != "asif" or grows:
                subprocess.run(["sh", "-c", command], check=False)
            else:  # here, since to start takes a second
                monkeypatch.setattr(sys, "argv", words)
                with pytest.raises(SystemExit):
                    cli.main()
            said = "".join(capfd.readouterr())
            printed = [untimed(line) for line in said.splitlines()]
            varying = ("┏", "┃", "┡", "│", "└", "random attack: ", "...")
            quoted = [line for line in lines if line and not line.startswith(varying)]
            rows = [row for line in quoted for row in wrap(line, COLUMNS).splitlines()]
            assert not [row for row in rows if untimed(row) not in printed], command


def untimed(line: str) -> str:
    return re.sub(r"\d+\.\d s$", "… s", line.rstrip())


def test_quoted_python_runs() -> None:
    for page in set(PAGES) - {TUTORIAL, REFERENCE, ENGINE}:  # whose blocks are parts of a file
        for language, block in blocks(page):
            if language == "python":
                subprocess.run([sys.executable, "-c", block], check=True, capture_output=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_protocols_do_what_they_say(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, guarantee = EXAMPLES[name]
    stem, colon, variant = name.partition(":")
    example = f"{ROOT / 'docs' / 'examples' / stem}.py{colon}{variant}"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["asif", "check", example])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == code
    printed = capsys.readouterr().out
    assert f"\n{name}: {'refuted' if code else 'holds'}\n" in printed
    assert f" operators: {guarantee} (claimed: " in printed
