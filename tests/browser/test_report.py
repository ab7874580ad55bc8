"""The report in a browser, from a file: addresses, steps, search, narrow windows, axe, budgets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from reports import page as report_page
from reports.page.blocks import TableRow, table
from reports.page.encoding import encoded
from tests.browser.report_pages import REFUTED, large, small
from tests.reports.written import blocks_of, written

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WIDE, NARROW = {"width": 1400, "height": 900}, {"width": 420, "height": 900}
MOST_BYTES, MOST_NODES, MOST_SCREENS = 1_000_000, 15_000, 8
OPEN_ALL = """() => {
  document.querySelectorAll("main details").forEach((one) => (one.open = true));
  return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""
VIEWS = ("", "#micro-batch", f"#{REFUTED}", "#proofs", "#bugs/kip_447", "#runs", "#operators")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a small report in a file."""
    html, _ = report_page.write(small(), tmp_path_factory.mktemp("a report"))
    return html.as_uri()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A wide window, which must see no error of a script."""
    with browser.new_context(viewport=WIDE, offline=True) as context:  # type: ignore[arg-type]
        opened = context.new_page()
        errors: list[str] = []
        opened.on("pageerror", lambda error: errors.append(str(error)))
        yield opened
        assert errors == []


def go(page: Page, address: str) -> None:
    """Open an address as a link from elsewhere does."""
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector("main h1")
    page.wait_for_function("!document.querySelector('.view > [role=status]')")


def test_the_index_leads_with_surprises_and_findings(page: Page, report: str) -> None:
    go(page, report)
    assert page.title() == "asif 1.2: correctness report"
    headings = page.locator("main h2").all_inner_texts()
    assert headings[0].startswith("Not as expected: ")
    assert headings[1].startswith("What was found: ")
    assert "Families, guarantees and costs" in headings
    assert page.locator("article.finding").first.locator("svg path").count() > 0
    about = page.locator("#about ~ dl").inner_text()
    for fact in ("2026-11-28T12:51:06Z", "0123456789ab", "Linux, 2 cores", "Python 3.11", "quick"):
        assert fact in about


def test_a_family_and_a_panel_open_by_their_addresses(page: Page, report: str) -> None:
    go(page, f"{report}#micro-batch")
    assert page.locator("h1").inner_text() == "Micro-batches with an offset log and a commit log"
    page.get_by_role("link", name=REFUTED, exact=True).first.click()
    page.wait_for_selector(".stepper")
    assert page.url.endswith(f"#{REFUTED}")
    assert page.locator("h1").inner_text().startswith(REFUTED)
    assert page.evaluate("document.activeElement.tagName") == "H1"
    page.go_back()
    page.wait_for_selector("h1:has-text('Micro-batches')")
    go(page, f"{report}#{REFUTED}")
    assert page.locator("h1").inner_text().startswith(REFUTED)


def test_a_step_has_an_address(page: Page, report: str) -> None:
    go(page, f"{report}#{REFUTED}")
    page.get_by_label("Next step (right arrow)").click()
    page.keyboard.press("ArrowRight")
    assert page.locator(".sp-count").inner_text().startswith("step 2 of")
    address = page.url
    assert address.endswith("/2")
    go(page, address)
    assert page.locator(".sp-count").inner_text().startswith("step 2 of")


def test_a_followed_address_shows_its_step_whatever_was_shown(page: Page, report: str) -> None:
    count, follow = page.locator(".sp-count"), "address => (location.hash = address)"
    go(page, f"{report}#{REFUTED}/stateless/3")
    expect(count).to_have_text("step 3 of 7")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    expect(count).to_have_text("step 5 of 7")
    part = page.locator("main summary", has_text="stateless")
    for _ in range(2):  # closed and opened again, it shows the step of the address
        part.click()
    expect(count).to_have_text("step 5 of 7")
    part.click()
    page.evaluate(follow, f"{REFUTED}/stateless/3")
    expect(count).to_have_text("step 3 of 7")
    for step, shown in (("abc", 0), ("-1", 0), ("2.5", 0), ("99", 7)):
        go(page, f"{report}#{REFUTED}/stateless/{step}")
        expect(count).to_have_text(f"step {shown} of 7")
        page.keyboard.press("ArrowLeft" if shown else "ArrowRight")
        expect(count).to_have_text(f"step {6 if shown else 1} of 7")


def test_the_page_draws_a_run_with_steps_itself(tmp_path: Path) -> None:
    pictures = blocks_of(written(small(), tmp_path).rooms, "DrawnPicture")
    assert any("steps" in one for one in pictures)
    assert all(("steps" in one) != ("svg" in one) for one in pictures)


def test_keys_go_to_one_of_two_open_runs(page: Page, report: str) -> None:
    go(page, f"{report}#{REFUTED}")
    counts = page.locator(".sp-count")
    page.locator("main summary", has_text="time windows on a grid").click()
    expect(counts).to_have_text(["step 0 of 7", "step 0 of 9"])
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(counts).to_have_text(["step 0 of 7", "step 3 of 9"])
    page.get_by_label("Next step (right arrow)").first.click()
    page.keyboard.press("ArrowRight")
    expect(counts).to_have_text(["step 2 of 7", "step 3 of 9"])
    page.locator("h1").focus()
    page.keyboard.press("ArrowRight")
    expect(counts).to_have_text(["step 3 of 7", "step 3 of 9"])


QUICK = """async (count) => {
  for (let n = 0; n < count; n += 1) {
    document.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true}));
    await new Promise(function (done) {
      const next = new MessageChannel();
      next.port1.onmessage = done;
      next.port2.postMessage(null);
    });
  }
}"""
"""Keys, each a task of its own, that come more quickly than the browser paints."""


def test_no_key_is_lost_however_quickly_they_come(page: Page, report: str) -> None:
    for keys in range(1, 8):
        go(page, f"{report}#{REFUTED}/stateless/0")
        count = page.locator(".sp-count")
        expect(count).to_have_text("step 0 of 7")
        page.evaluate(QUICK, keys)
        expect(count).to_have_text(f"step {keys} of 7")
        assert page.url.endswith(f"/{keys}")


def test_an_address_that_is_nowhere_is_named(page: Page, report: str) -> None:
    for address in ("nowhere", "micro-batch:nowhere", "micro-batch/nowhere"):
        go(page, f"{report}#{address}")
        expect(page.get_by_role("alert")).to_contain_text(f"This report has no “{address}”")
    go(page, f"{report}#families")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_paper_has_no_buttons(page: Page, report: str) -> None:
    go(page, f"{report}#{REFUTED}")
    page.emulate_media(media="print")
    expect(page.get_by_label("Next step (right arrow)").first).to_be_hidden()


def test_a_file_of_data_that_is_missing_is_named(browser: Browser, tmp_path: Path) -> None:
    html, _ = report_page.write(small(), tmp_path)
    (tmp_path / "report" / "micro-batch.js").unlink()
    page = browser.new_page()
    go(page, f"{html.as_uri()}#micro-batch")
    told = page.locator(".lead.bad").inner_text()
    assert "report/micro-batch.js" in told
    assert page.locator(".lead.bad a").get_attribute("href") == "report.md"
    page.close()


def test_the_search_finds_names_and_claims_by_keys_alone(page: Page, report: str) -> None:
    go(page, report)
    page.keyboard.press("/")
    page.keyboard.type("commit-first")
    page.wait_for_selector(f".hits a:has-text('{REFUTED}')")
    page.keyboard.press("Escape")
    assert page.locator(".hits").count() == 0
    page.keyboard.type("commit log may be written before")  # a claim
    page.wait_for_selector(".hits a:has-text('The commit log may be written before the sink')")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"h1:has-text('{REFUTED}')")
    page.keyboard.press("/")
    page.keyboard.type("nobody has this word")
    assert page.locator(".hits [role=status]").inner_text().startswith("0 hits: try")


def test_a_narrow_window_has_a_menu_and_cards_and_nothing_beside_it(
    page: Page, report: str
) -> None:
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    go(page, f"{report}#micro-batch")
    menu = page.get_by_role("navigation", name="Contents")
    assert not menu.is_visible()
    button = page.get_by_role("button", name="Menu")
    button.click()
    assert button.get_attribute("aria-expanded") == "true"
    menu.get_by_role("link", name="Terms").click()
    page.wait_for_selector("h1:has-text('Terms')")
    assert not menu.is_visible()
    for view in VIEWS:
        go(page, report + view)
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"], view
        rows = page.locator("main table[role=table] tbody tr")
        if rows.count():
            assert rows.first.evaluate("row => getComputedStyle(row).display") == "block"


def test_without_scripts_there_is_a_link_to_markdown(browser: Browser, report: str) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(report)
        page.get_by_role("link", name="report.md").click()
        assert page.url.endswith("/report.md")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_axe_finds_nothing(browser: Browser, report: str, size: Any, scheme: Any) -> None:
    page = browser.new_page(viewport=size, color_scheme=scheme)
    for view in VIEWS:
        go(page, report + view)
        while page.locator("main details:not([open])").count():  # a part may have parts
            page.evaluate(OPEN_ALL)
        found = Axe().run(page).response["violations"]
        said = [(one["id"], [node["html"][:120] for node in one["nodes"]][:3]) for one in found]
        assert said == [], view
    page.close()


SHOWN = """address => location.hash === address && document.querySelector(".view, #about")
  && Boolean(document.querySelector("#about")) === (address === "" || address === "#")
  && !document.querySelector(".view > [role=status]")"""
DRAW = """block => {
  const place = document.body.appendChild(document.createElement("div"));
  place.id = "drawn";
  preact.render(preact.h(asif.Blocks, { blocks: [block], depth: 2 }), place);
}"""
IDLE_STOPS = """[...document.querySelectorAll("main *")].filter((box) => {
  const style = getComputedStyle(box), may = /auto|scroll/.test(style.overflowX + style.overflowY);
  const sideways = box.scrollWidth > box.clientWidth + 1;
  const scrolls = may && (sideways || box.scrollHeight > box.clientHeight + 1);
  const stop = box.tabIndex === 0 && (may || box.matches("[role=region]"));
  return !box.matches("nav, input") && scrolls !== stop;
}).map((box) => box.className)"""


def test_only_what_scrolls_is_a_stop_of_the_tab_key(page: Page, report: str) -> None:
    for size in (WIDE, NARROW):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        for view in (*VIEWS, f"#{REFUTED}/stateless/7"):
            go(page, report + view)
            page.wait_for_function(f"{IDLE_STOPS}.length === 0")
    tables = page.locator(".sp-table")
    expect(tables).to_have_attribute("role", "region")  # narrow: the fields that differ scroll
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    expect(tables).not_to_have_attribute("tabindex", "0")
    page.locator(".sp-lanes").click(position={"x": 4, "y": 60})
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".sp-count")).to_have_text("step 1 of 7")


def test_a_report_of_everything_keeps_its_budgets(browser: Browser, tmp_path: Path) -> None:
    html, _ = report_page.write(large(), tmp_path)
    for file in (html, *(tmp_path / "report").glob("*.js")):
        assert file.stat().st_size <= MOST_BYTES, file.name
    for size in (WIDE, NARROW):
        page = browser.new_page(viewport=size)  # type: ignore[arg-type]
        go(page, html.as_uri())
        links = page.locator("#menu a").evaluate_all("all => all.map((one) => one.hash)")
        assert "#log-io" in links
        families = page.locator("#menu p + ul").first.locator("a").all_inner_texts()
        longest = [f"#{family}/itself" for family in families]
        for view in ("#log-io:published", f"#{REFUTED}", *longest, *links):
            page.evaluate("address => { location.hash = address; }", view)
            page.wait_for_function(SHOWN, arg=view)
            nodes = page.evaluate("document.querySelectorAll('*').length")
            height = page.evaluate("document.documentElement.scrollHeight")
            assert nodes <= MOST_NODES, (view, size)
            assert height <= MOST_SCREENS * size["height"], (view, size)
            if view in longest:  # what is not as expected is never behind a button
                expect(page.get_by_text("✗ survived")).to_be_visible()
                expect(page.get_by_text("this should have happened")).to_be_visible()
        page.close()


def test_rows_stay_in_their_order_below_the_headings_of_their_groups(
    browser: Browser, tmp_path: Path
) -> None:
    rows = [
        row
        for group in range(4)
        for row in (
            TableRow([f"group {group}"], group=True),
            *(TableRow([f"row {group}.{at}", "is"], off=(group, at) == (3, 8)) for at in range(9)),
        )
    ]
    html, _ = report_page.write(small(), tmp_path)
    page = browser.new_page(viewport=WIDE)  # type: ignore[arg-type]
    go(page, html.as_uri())
    block = encoded(table("Rows", ("Row", "Is"), rows))
    page.evaluate(DRAW, block)
    names = page.locator("#drawn tbody th")
    first = names.all_inner_texts()
    page.get_by_role("button", name="Show 12 more rows").click()
    assert names.all_inner_texts() == [row.cells[0] for row in rows]
    assert first == [row.cells[0] for row in (*rows[:26], rows[30], rows[-1])]
    page.close()
