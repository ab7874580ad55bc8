from __future__ import annotations

import pytest

from model.errors import Invalid
from reports.changelog import PAGE, assembled, fragments


def test_fragments_come_first_below_changed() -> None:
    page = "# Changelog\n\n### Changed\n\n- Old.\n"
    found = assembled(page, ["- One,\n  two lines.\n", "- Two."])
    assert found == "# Changelog\n\n### Changed\n\n- One,\n  two lines.\n- Two.\n- Old.\n"


@pytest.mark.parametrize(
    ("page", "item"), [("# Changelog\n", "- One."), ("### Changed\n\n", "No item.")]
)
def test_a_page_or_fragment_of_another_form_is_refused(page: str, item: str) -> None:
    with pytest.raises(Invalid):
        assembled(page, [item])


def test_the_fragments_that_wait_fit_the_page() -> None:
    texts = [path.read_text("utf-8") for path in fragments()]
    page = assembled(PAGE.read_text("utf-8"), texts)
    assert all(text.rstrip() in page for text in texts)
