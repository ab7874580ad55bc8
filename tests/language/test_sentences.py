"""The sentences that the style avoids become fewer: a ceiling for each word, which only falls."""

from __future__ import annotations

import pytest

from tests.language.sentences import WORDS, count, counts, prose

CEILING = {"what": 1240, "so many": 83, "tell": 7}
"""May only be lowered."""
SLACK = 25
"""How far a count may fall before its ceiling has to follow."""


@pytest.fixture(scope="module")
def found() -> dict[str, int]:
    return dict(counts())


@pytest.mark.slow
@pytest.mark.parametrize("word", WORDS)
def test_no_more_sentences_than_before(word: str, found: dict[str, int]) -> None:
    assert found[word] <= CEILING[word], f"{word!r}: write the new sentences without it"


@pytest.mark.slow
@pytest.mark.parametrize("word", WORDS)
def test_the_ceiling_follows(word: str, found: dict[str, int]) -> None:
    assert found[word] >= CEILING[word] - SLACK, f"{word!r}: lower the ceiling to {found[word]}"


def test_the_rule_of_the_count() -> None:
    assert count("He told us what it is.  What is it?") == {"what": 1, "so many": 0, "tell": 1}
    assert count("A what-if question.  So\nmany words.") == {"what": 0, "so many": 1, "tell": 0}
    source = '"""What it does."""\nx = "what"  # what it is\n# or not\n'
    assert [*prose(source)] == ["What it does.", "what it is or not"]
