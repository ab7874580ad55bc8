"""The stepper in a real browser: keys, slider, hover, address, narrow width, accessibility."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from model.core import Guarantee
from model.registry import protocols
from model.results.plain import plain
from proofs.explore.culprit.find import find_culprit
from proofs.explore.explorer import explore
from proofs.explore.stepping.run import stepped_failure
from proofs.explore.story import story
from reports import palette

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WEB = Path(palette.__file__).parent / "web"
SCRIPTS = (
    *("vendor/preact.js", "vendor/preact-hooks.js", "vendor/htm.js"),
    *("steps.js", "scrolls.js", "lanes.js", "step-parts.js", "stepper.js"),
)
START = """
const seen = window.seen = [];
preact.render(asif.html`<${asif.Stepper} run=${window.run} at=${AT}
  link=${(n) => "#run/" + n} onStep=${(n) => seen.push(n)} />`, document.getElementById("here"));
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with the stepper and a field: a message is lost with query in step 5 of 7."""
    protocol = protocols()["micro-batch:commit-first"]
    pinned = next(one for one in protocol.evidence.scopes if one.steps)
    found = explore(protocol, pinned.scope, until=Guarantee.PRECISE).counterexample
    assert found is not None
    run = stepped_failure(found, find_culprit(found, story(found.trace)))
    scripts = "".join(f'<script src="{WEB.as_uri()}/{name}"></script>' for name in SCRIPTS)
    sheet = palette.css() + (WEB / "stepper.css").read_text("utf-8")
    path = tmp_path_factory.mktemp("stepper") / "page.html"
    path.write_text(
        f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A run</title>
<style>{sheet} body {{ background: var(--bg); color: var(--fg); }}</style></head>
<body><main><h1>A run</h1><h2>Here</h2><label>Search <input id="field"></label>
<div id="here"></div></main>{scripts}<script>window.run = {json.dumps(plain(run))};
{START.replace("AT", "0")}</script></body></html>""",
        encoding="utf-8",
    )
    return path


@pytest.fixture
def page(browser: Browser, file: Path) -> Iterator[Page]:
    """The page, which logs nothing to its console."""
    opened = browser.new_page(viewport={"width": 1400, "height": 900})
    said: list[str] = []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.goto(file.as_uri())
    yield opened
    opened.close()
    assert said == []


def status(page: Page) -> str:
    return page.locator(".sp-say [role=status]").inner_text()


def test_buttons_keys_and_the_slider_go_to_steps(page: Page) -> None:
    count = page.locator(".sp-count")
    expect(count).to_have_text("step 0 of 7")
    expect(page.get_by_role("button", name="Previous step")).to_be_disabled()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(count).to_have_text("step 2 of 7")
    assert "the timer trigger of source runs out" in status(page)
    page.keyboard.press("ArrowLeft")
    expect(count).to_have_text("step 1 of 7")
    page.keyboard.press("End")
    expect(count).to_have_text("step 7 of 7")
    expect(page.get_by_role("button", name="Next step")).to_be_disabled()
    page.keyboard.press("Home")
    page.get_by_role("button", name="Next step").click()
    expect(count).to_have_text("step 1 of 7")
    slider = page.get_by_role("slider", name="Step")
    slider.fill("4")
    expect(count).to_have_text("step 4 of 7")
    slider.press("ArrowRight")
    expect(count).to_have_text("step 5 of 7")
    assert page.evaluate("window.seen") == [1, 2, 1, 7, 0, 1, 4, 5]
    expect(page.get_by_role("link", name="link to this step")).to_have_attribute("href", "#run/5")


def test_keys_belong_to_a_field_that_has_the_focus(page: Page) -> None:
    page.locator("#field").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    expect(page.locator(".sp-count")).to_have_text("step 0 of 7")


def test_changed_values_and_nodes_that_are_down_are_marked(page: Page) -> None:
    page.get_by_role("slider").fill("1")
    changed = page.locator("[data-node=source] .sp-changed dt")
    expect(changed.first).to_contain_text("latest (changed)")
    expect(page.locator("[data-node=query] .sp-changed")).to_have_count(0)
    page.get_by_role("slider").fill("5")
    expect(page.locator("[data-node=query] h3")).to_contain_text("down")


def test_the_culprit_and_the_first_difference_are_marked_and_have_buttons(page: Page) -> None:
    page.get_by_role("button", name="culprit: step 5").click()
    expect(page.locator(".sp-count")).to_have_text("step 5 of 7")
    said = status(page)
    assert "culprit" in said
    assert "first fault" in said
    assert "before sending write #0 1-1 to sink" in said
    expect(page.locator(".sp-row.sp-blamed.sp-now")).to_have_count(1)
    expect(page.locator(".sp-beside")).to_contain_text("The runs part in step 5")
    page.keyboard.press("End")
    expect(page.locator(".sp-beside .sp-results li")).to_contain_text("match@1(a@1) its step 6")
    expect(page.locator(".sp-outputs .sp-waits")).to_have_text("match@1(a@1) not yet seen")
    expect(page.locator(".sp-broken")).to_contain_text("all failure-free outputs have been seen")


def test_a_message_marks_both_its_ends_by_mouse_and_by_focus(page: Page) -> None:
    page.get_by_role("slider").fill("2")
    message = page.locator(".sp-message")
    expect(message).to_have_count(1)
    expect(page.locator(".sp-end")).to_have_count(0)
    message.hover()
    expect(page.locator(".sp-end")).to_have_count(2)
    expect(page.locator("[data-node=source] .sp-endword")).to_have_text("sender")
    expect(page.locator("[data-node=query] .sp-endword")).to_have_text("receiver")
    page.mouse.move(5, 5)
    expect(page.locator(".sp-end")).to_have_count(0)
    message.focus()
    expect(page.locator(".sp-end")).to_have_count(2)


def test_a_picture_that_scrolls_can_be_seen_as_a_whole(page: Page) -> None:
    whole = page.get_by_role("button", name="The whole run in one picture")
    picture = page.locator(".sp-lanes")
    expect(whole).to_have_count(0)
    page.evaluate("document.documentElement.style.fontSize = '6px'")  # 35rem are less than the run
    expect(picture).to_have_attribute("tabindex", "0")
    page.locator(".sp-row").first.click(position={"x": 4, "y": 10})
    page.keyboard.press("ArrowRight")  # the picture has the focus, and scrolls up and down alone
    expect(page.locator(".sp-count")).to_have_text("step 1 of 7")
    whole.click()
    expect(picture).not_to_have_attribute("tabindex", "0")
    assert picture.evaluate("box => box.scrollHeight <= box.clientHeight + 1")
    page.get_by_role("button", name="A part of the picture").click()
    expect(picture).to_have_attribute("tabindex", "0")


def test_a_row_of_the_picture_and_a_line_of_the_words_lead_to_their_step(page: Page) -> None:
    page.locator(".sp-row").nth(3).click(position={"x": 4, "y": 10})
    expect(page.locator(".sp-count")).to_have_text("step 3 of 7")
    page.get_by_text("All steps in words").click()
    page.locator(".sp-words button").nth(6).click()
    expect(page.locator(".sp-count")).to_have_text("step 6 of 7")
    expect(page.locator(".sp-words [aria-current=step]")).to_contain_text("query restarts")


@pytest.mark.parametrize("width", [1400, 420])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_page(
    page: Page, width: int, scheme: str
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.get_by_role("slider").fill("5")
    expect(page.locator(".sp-count")).to_have_text("step 5 of 7")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    faults = Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in faults] == []
