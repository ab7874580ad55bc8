"""`asif explore` in a real browser: choose, crash at an effect, go back, save, replay."""

from __future__ import annotations

import json
import runpy
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from asif.explore.answers import PageAnswers
from asif.explore.server import address as server_address
from asif.explore.server import listen
from asif.replay import replay
from model.properties import COMPLETE
from model.registry import subject

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ASIF = [sys.executable, "-m", "asif"]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of the page of a server that ends with the tests, by Ctrl-C."""
    command = [
        *ASIF,
        "explore",
        "micro-batch:commit-first",
        "stateless",
        "--no-open",
        "--port",
        "0",
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    ) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 130


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    opened = browser.new_page(viewport={"width": 1400, "height": 900}, accept_downloads=True)
    said: list[str] = []
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.goto(address)
    expect(opened.locator(".sp-count")).to_have_text("step 0 of 0")
    yield opened
    opened.close()
    assert said == []


def choose(page: Page, *texts: str) -> None:
    for text in texts:
        steps = int(page.locator(".sp-count").inner_text().split()[-1])
        page.get_by_role("button", name=text, exact=True).click()
        expect(page.locator(".sp-count")).to_have_text(f"step {steps + 1} of {steps + 1}")


WAY = (
    *("a (gap 1) comes to source", "the timer trigger of source runs out"),
    *("query takes latest 1 of source", "source takes read #0 1-1 of query"),
)


def crash(page: Page) -> None:
    """Crash query as it has saved all, and before it sends its result."""
    choose(page, *WAY)
    card = page.locator(".ex-choice", has_text="query takes events #0 1-1 of source")
    card.locator("summary").click()
    effects = card.locator(".ex-effects > li")
    texts = [text.strip() for text in effects.all_inner_texts()]
    place = next(at for at, text in enumerate(texts) if text.startswith("sending write"))
    assert "crash" in texts[place - 1]
    effects.nth(place - 1).get_by_role("button").click()
    expect(page.locator(".sp-count")).to_have_text("step 5 of 5")


def test_choose_crash_at_an_effect_and_go_back(page: Page) -> None:
    crash(page)
    expect(page.locator(".sp-say [role=status]")).to_contain_text(
        "before sending write #0 1-1 to sink"
    )
    expect(page.locator("[data-node=query] h3")).to_contain_text("down")
    expect(page.locator(".ex-state")).to_contain_text("No crash of this scope is left.")
    page.go_back()
    expect(page.locator(".sp-count")).to_have_text("step 4 of 4")
    expect(page.locator(".ex-state")).to_contain_text("Left: 1 crash.")
    page.go_forward()
    expect(page.locator(".sp-count")).to_have_text("step 5 of 5")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".sp-count")).to_have_text("step 4 of 4")


def test_an_address_opened_anew_is_the_same_state(page: Page, browser: Browser) -> None:
    crash(page)
    other = browser.new_page()
    other.goto(page.url)
    expect(other.locator(".sp-count")).to_have_text("step 5 of 5")
    assert other.locator(".sp-nodes").inner_text() == page.locator(".sp-nodes").inner_text()
    assert other.locator(".ex-state").inner_text() == page.locator(".ex-state").inner_text()
    other.close()


def test_a_step_before_the_end_leads_to_another_run(page: Page) -> None:
    crash(page)
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".sp-count")).to_have_text("step 4 of 5")
    page.get_by_role("link", name="Go on from step 4").click()
    expect(page.locator(".sp-count")).to_have_text("step 4 of 4")


def test_the_shortest_counterexample_and_its_saved_run(page: Page, tmp_path: Path) -> None:
    page.get_by_role("button", name="Shortest counterexample").click()
    expect(page.locator(".sp-count")).to_have_text("step 7 of 7", timeout=60_000)
    expect(page.locator(".ex-state")).to_contain_text("Step 7 violates a property")
    expect(page.locator(".ex-state")).to_contain_text("Guarantee of this run: gap")
    files = {}
    for name in ("Save as JSON", "Save as a test"):
        with page.expect_download() as begun:
            page.get_by_role("link", name=name).click()
        files[name] = tmp_path / begun.value.suggested_filename
        begun.value.save_as(files[name])
    assert json.loads(files["Save as JSON"].read_text("utf-8"))["scope"] == "stateless"
    result, _ = replay(None, files["Save as JSON"], long=False)
    assert result.counterexample is not None
    assert (result.steps, result.counterexample.property) == (7, COMPLETE.name)
    test = runpy.run_path(str(files["Save as a test"]))
    with pytest.raises(AssertionError):
        test["test_the_run_is_as_if_nothing_had_failed"]()


def held_search(page: Page) -> list[Callable[[], None]]:
    """Begin a search whose answer waits until somebody calls what is returned."""
    held: list[Callable[[], None]] = []
    page.route("**/shortest?*", lambda route: held.append(route.continue_))
    page.get_by_role("button", name="Shortest counterexample").click()
    expect(page.locator(".ex-note[role=status]")).to_contain_text("Searching “stateless”")
    page.wait_for_function("document.querySelector('.ex-bar button:nth-of-type(3)').disabled")
    return held


def test_a_search_moves_nobody_who_looks_at_another_scope(page: Page) -> None:
    held = held_search(page)
    page.get_by_label("Scope").select_option("time windows on a grid")
    expect(page.locator(".sp-count")).to_have_text("step 0 of 0")
    page.wait_for_url("**#time%20windows%20on%20a%20grid/")
    held[0]()
    expect(page.get_by_role("button", name="Shortest counterexample")).to_be_enabled()
    expect(page.locator(".ex-note[role=status]")).to_have_text("")
    expect(page.locator(".sp-count")).to_have_text("step 0 of 0")
    assert page.url.endswith("#time%20windows%20on%20a%20grid/")


def test_a_search_moves_nobody_who_walks_on_in_its_scope(page: Page) -> None:
    held = held_search(page)
    choose(page, "a (gap 1) comes to source")
    held[0]()
    said = page.locator(".ex-note[role=status]")
    expect(said).to_contain_text("The shortest counterexample in “stateless” has 7 steps.")
    expect(page.locator(".sp-count")).to_have_text("step 1 of 1")
    said.get_by_role("link", name="Go to its end").click()
    expect(page.locator(".sp-count")).to_have_text("step 7 of 7")
    expect(said).to_have_text("")


def test_the_answer_of_a_search_is_gone_where_the_place_changes(page: Page) -> None:
    page.get_by_role("button", name="Shortest counterexample").click()
    expect(page.locator(".sp-count")).to_have_text("step 7 of 7", timeout=60_000)
    said = page.locator(".ex-note[role=status]")
    expect(said).to_contain_text("in “stateless” has 7 steps")
    page.get_by_label("Scope").select_option("time windows on a grid")
    expect(page.locator(".sp-count")).to_have_text("step 0 of 0")
    expect(said).to_have_text("")


def test_undo_is_back_and_forward_does_the_choice_again(page: Page) -> None:
    choose(page, *WAY[:2])
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".sp-count")).to_have_text("step 1 of 1")
    page.go_forward()
    expect(page.locator(".sp-count")).to_have_text("step 2 of 2")


def test_undo_goes_to_the_state_before_where_a_link_opened_the_page(
    browser: Browser, address: str
) -> None:
    page = browser.new_page()
    page.goto(f"{address}0.0")
    expect(page.locator(".sp-count")).to_have_text("step 2 of 2")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".sp-count")).to_have_text("step 1 of 1")
    page.close()


def test_the_reason_stands_where_no_crash_may_come(page: Page) -> None:
    choose(page, *WAY[:1])
    card = page.locator(".ex-choice", has_text="the timer trigger of source runs out")
    expect(card.locator("summary")).to_have_text("1 effect, no place for a crash")
    card.locator("summary").click()
    expect(card.locator(".ex-note")).to_have_text("source does not crash in this scope.")


def box(page: Page, selector: str) -> dict[str, float]:
    found = page.locator(selector).first.bounding_box()
    assert found is not None
    return {side: found[side] for side in ("x", "y", "width", "height")}


def test_the_bar_the_picture_and_its_key_fit(page: Page) -> None:
    choose(page, *WAY)
    heights = {box(page, f".ex-bar > {one}")["height"] for one in ("button", "a", "a:last-child")}
    assert len(heights) == 1
    frame, picture = box(page, ".sp-lanes"), box(page, ".sp-lanes .sp-names")
    assert picture["width"] > 0.95 * frame["width"]
    assert page.locator(".sp-key li").all_inner_texts() == ["control", "event"]
    sign = box(page, ".sp-message .sp-sign")
    assert box(page, ".sp-message b")["x"] >= sign["x"] + sign["width"] + 4
    message, heading = box(page, ".sp-messages"), box(page, ".sp-outputs h3")
    assert heading["y"] >= message["y"] + message["height"] + 8
    page.set_viewport_size({"width": 420, "height": 900})
    bar, select = box(page, ".ex-bar"), box(page, ".ex-bar select")
    assert select["x"] + select["width"] <= bar["x"] + bar["width"]


WIDE = """
from docs.examples.forgetful import PROTOCOL as OTHER

TITLE = "w" * 240 + " \\u202edrow"
PROTOCOL = OTHER.vary(family="wide", title=TITLE, show=lambda _value: "v" * 200, variants=())
"""


def test_long_words_stay_on_the_page_and_turn_nothing_around(
    browser: Browser, tmp_path: Path
) -> None:
    file = tmp_path / "wide.py"
    file.write_text(WIDE, encoding="utf-8")
    protocol = subject(str(file)).protocol
    first = protocol.evidence.scopes[0]
    with listen(PageAnswers(str(file), protocol, first), 0) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        page = browser.new_page(viewport={"width": 420, "height": 900})
        page.goto(server_address(server, first.name))
        for steps in range(3):
            expect(page.locator(".sp-count")).to_have_text(f"step {steps} of {steps}")
            assert page.evaluate("document.documentElement.scrollWidth") == 420
            page.locator(".ex-choice > button").first.click()
        expect(page.locator(".ex-title")).to_contain_text("\\u202edrow")
        page.close()
        server.shutdown()


def test_an_illegal_address_is_a_line_on_the_page(page: Page, address: str) -> None:
    page.goto(f"{address}0.99")
    expect(page.get_by_role("alert")).to_contain_text("choice 2 is 99, and the world there offers")
    page.goto(f"{address}0/0/3")
    expect(page.get_by_role("alert")).to_contain_text("'0/0/3' is no address of a state")
    page.get_by_role("alert").get_by_role("link", name="Begin").click()
    expect(page.locator(".sp-count")).to_have_text("step 0 of 0")


@pytest.mark.parametrize("words", ["Load failed", "NetworkError when attempting to fetch"])
def test_a_server_that_is_gone_has_the_same_words_in_every_browser(page: Page, words: str) -> None:
    page.evaluate("words => { window.fetch = () => Promise.reject(new TypeError(words)); }", words)
    page.locator(".ex-choice > button").first.click()
    expect(page.get_by_role("alert")).to_contain_text("asif explore does not answer: it has ended.")


@pytest.mark.parametrize("width", [1400, 420])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_page(
    page: Page, width: int, scheme: str
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    choose(page, *WAY)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    faults = Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in faults] == []
