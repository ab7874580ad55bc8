"""Patterns against independent definitions, over every word of a few letters, and by example.

Rule of this file: a definition is written by hand for the patterns that it covers; the one that
covers all is in denotations.patterns.
"""

from __future__ import annotations

from itertools import combinations, product

import pytest

from model.cep.engines import Engine, Matches
from model.cep.one_run import one_run
from model.cep.patterns import AfterMatch, Pattern, PatternStep, Strategy, sequence
from model.errors import Invalid
from model.events import Body
from model.predicates import Type, Where

STEPS = [
    ("a",),
    ("a", "b"),
    ("a", "a"),
    ("a", "b", "a"),
    ("a", "!c", "b"),
    ("a", "!b", "a"),
    ("a", "b", "!c"),
    ("a", "!a"),
]


def bodies(word: str) -> list[Body]:
    return [Body(time, type_) for time, type_ in enumerate(word, 1)]


def found(pattern: Engine, word: str) -> list[tuple[int, ...]]:
    """All matches of a window, as times, in the order in which they come."""
    state = pattern.begin()
    matches: list[Matches] = []
    for body in bodies(word):
        after, now, used = pattern.feed(state, body)
        assert used == (after != state or bool(now))
        state = after
        matches.append(now)
    matches.append(pattern.close(state))
    return [tuple(body.time for body in match) for now in matches for match in now]


def declared(types: tuple[str, ...], word: str) -> set[tuple[int, ...]]:
    """Skip-till-any-match, declaratively: all choices of positions with no negated type between."""
    positive = [t for t in types if not t.startswith("!")]
    matches = set()
    for places in combinations(range(len(word)), len(positive)):
        if any(word[at] != t for at, t in zip(places, positive, strict=True)):
            continue
        good = True
        done = 0
        for type_ in types:
            if type_.startswith("!"):
                end = places[done] + 1 if done < len(positive) else len(word)
                good = good and type_[1:] not in word[places[done - 1] + 1 : end]
            else:
                done += 1
        if good:
            matches.add(tuple(at + 1 for at in places))
    return matches


@pytest.mark.parametrize("types", STEPS, ids=" ".join)
def test_any_match_is_every_choice_of_positions(types: tuple[str, ...]) -> None:
    pattern = sequence(*types, strategy=Strategy.ANY)
    for length in range(6):
        for word in map("".join, product("abc", repeat=length)):
            matches = found(pattern, word)
            assert len(matches) == len(set(matches))
            assert set(matches) == declared(types, word)


def scanned(types: tuple[str, ...], word: str, strict: bool) -> list[tuple[int, ...]]:
    """One run at a time, by hand: for patterns without negation."""
    matches, taken = [], list[int]()
    for time, letter in enumerate(word, 1):
        if letter == types[len(taken)]:
            taken.append(time)
        elif strict:
            taken = [time] if letter == types[0] else []
        if len(taken) == len(types):
            matches.append(tuple(taken))
            taken = []
    return matches


@pytest.mark.parametrize("types", [t for t in STEPS if "!" not in "".join(t)], ids=" ".join)
@pytest.mark.parametrize("strategy", [Strategy.STRICT, Strategy.NEXT])
def test_one_run_at_a_time(types: tuple[str, ...], strategy: Strategy) -> None:
    pattern = one_run(*types, strategy=strategy)
    for length in range(7):
        for word in map("".join, product("abc", repeat=length)):
            expected = scanned(types, word, strategy is Strategy.STRICT)
            assert found(pattern, word) == expected


@pytest.mark.parametrize("strategy", Strategy)
@pytest.mark.parametrize("types", [*STEPS, ("a+", "b"), ("a", "b+", "!c")], ids=" ".join)
def test_leaving_out_an_unused_event_cannot_be_noticed(
    types: tuple[str, ...], strategy: Strategy
) -> None:
    pattern = sequence(*types, strategy=strategy)
    for word in product("abc", repeat=5):
        state = pattern.begin()
        for body in bodies("".join(word)):
            after, matches, used = pattern.feed(state, body)
            if not used:
                assert after == state
                assert not matches
            state = after


STRICT, NEXT, ANY = Strategy
PAST_LAST_EVENT = AfterMatch.PAST_LAST_EVENT


@pytest.mark.parametrize(
    ("types", "strategy", "word", "matches", "one"),
    [
        ("a+ b", NEXT, "aacab", [(1, 2, 4, 5), (2, 4, 5), (4, 5)], [(1, 2, 4, 5)]),
        ("a+ b", STRICT, "aacab", [(4, 5)], [(4, 5)]),
        ("a !c b", NEXT, "acab", [(3, 4)], [(3, 4)]),
        ("a !b", NEXT, "aca", [(1,), (3,)], [(1,)]),
        ("a !b", NEXT, "ab", [], []),
        # a killed run takes with it the events that it has in common with a later one
        ("a a b", STRICT, "aaab", [(2, 3, 4)], []),
        ("a b !c b", NEXT, "abacbb", [(3, 5, 6)], []),
        # a final plus that waits, under strict contiguity without a gap
        ("a+ !b", STRICT, "aca", [(1,), (3,)], [(1, 3)]),
        ("a+ !b", STRICT, "aaca", [(1, 2), (2,), (4,)], [(1, 2, 4)]),
        ("a+ !b", NEXT, "aca", [(1, 3), (3,)], [(1, 3)]),
        # a run that waits blocks no other
        ("a !c", NEXT, "aa", [(1,), (2,)], [(1,)]),
        # Lima et al., III-A, the word marked with a dagger: their automaton follows one run
        (
            *("a b c", NEXT, "aaababddbc"),
            *([(1, 4, 10), (2, 4, 10), (3, 4, 10), (5, 6, 10)], [(1, 4, 10)]),
        ),
    ],
)
def test_examples(
    types: str,
    strategy: Strategy,
    word: str,
    matches: list[tuple[int, ...]],
    one: list[tuple[int, ...]],
) -> None:
    """Of independent runs, and of one."""
    assert found(sequence(*types.split(), strategy=strategy), word) == matches
    assert found(one_run(*types.split(), strategy=strategy), word) == one


@pytest.mark.parametrize(
    ("types", "word", "matches"),
    [("a+ b", "aab", [(1, 3), (1, 2, 3), (2, 3)]), ("a b+", "abb", [(1, 2), (1, 3), (1, 2, 3)])],
)
def test_examples_of_every_choice(types: str, word: str, matches: list[tuple[int, ...]]) -> None:
    assert found(sequence(*types.split(), strategy=ANY), word) == matches


@pytest.mark.parametrize(
    ("types", "strategy", "word", "every", "skips", "consumes"),
    [
        # Flink's example of its skip strategies, with b+ c on b1 b2 b3 c
        ("b+ c", NEXT, "bbbc", [(1, 2, 3, 4), (2, 3, 4), (3, 4)], [(1, 2, 3, 4)], [(1, 2, 3, 4)]),
        ("a b", NEXT, "aabb", [(1, 3), (2, 3)], [(1, 3)], [(1, 3)]),
        ("a b", ANY, "aabb", [(1, 3), (2, 3), (1, 4), (2, 4)], [(1, 3)], [(1, 3), (2, 4)]),
        ("a b c", NEXT, "abacbc", [(1, 2, 4), (3, 5, 6)], [(1, 2, 4)], [(1, 2, 4), (3, 5, 6)]),
        ("a b !c", NEXT, "aabab", [(1, 3), (2, 3), (4, 5)], [(1, 3), (4, 5)], [(1, 3), (4, 5)]),
        ("a !c", NEXT, "aa", [(1,), (2,)], [(1,), (2,)], [(1,), (2,)]),
        ("a+ !c", NEXT, "aab", [(1, 2), (2,)], [(1, 2)], [(1, 2)]),
    ],
)
def test_examples_of_skips_and_consumption(
    types: str,
    strategy: Strategy,
    word: str,
    every: list[tuple[int, ...]],
    skips: list[tuple[int, ...]],
    consumes: list[tuple[int, ...]],
) -> None:
    steps = types.split()
    assert found(sequence(*steps, strategy=strategy), word) == every
    skipping = sequence(*steps, strategy=strategy, after_match=PAST_LAST_EVENT)
    assert found(skipping, word) == skips
    assert found(sequence(*steps, strategy=strategy, consumes=True), word) == consumes


@pytest.mark.parametrize("types", [t for t in STEPS if "!" not in "".join(t)], ids=" ".join)
def test_one_run_without_negation_skips_past_the_last_event(types: tuple[str, ...]) -> None:
    """Under skip-till-next-match: so the automaton of Lima et al., Fig. 5, has a name elsewhere."""
    one, skipping = one_run(*types), sequence(*types, after_match=PAST_LAST_EVENT)
    for word in map("".join, product("abc", repeat=6)):
        assert found(one, word) == found(skipping, word)


@pytest.mark.parametrize("types", STEPS, ids=" ".join)
@pytest.mark.parametrize("strategy", Strategy)
def test_consumption_adds_nothing_to_the_skip(types: tuple[str, ...], strategy: Strategy) -> None:
    skipping, both = (
        Pattern(sequence(*types).steps, strategy, PAST_LAST_EVENT, consumes)
        for consumes in (False, True)
    )
    for word in map("".join, product("abc", repeat=5)):
        assert found(skipping, word) == found(both, word)


def test_predicates_over_attributes() -> None:
    late = PatternStep(Where("delay", ">=", 15))
    pattern = Pattern((late, late))
    state = pattern.begin()
    for time, delay in enumerate((20, 3, 15), 1):
        state, matches, _ = pattern.feed(state, Body(time, "flight", (("delay", delay),)))
    assert [[body.time for body in match] for match in matches] == [[1, 3]]


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ((), "empty"),
        (
            (PatternStep(Type("a"), negated=True), PatternStep(Type("b"))),
            "begins with a negated step",
        ),
        (
            (PatternStep(Type("a")), PatternStep(Type("b"), negated=True, plus=True)),
            "negated and plus",
        ),
    ],
)
def test_impossible_patterns(steps: tuple[PatternStep, ...], message: str) -> None:
    with pytest.raises(Invalid, match=message):
        Pattern(steps)


def test_a_pattern_is_printed_as_its_steps() -> None:
    """And not as what is made of them."""
    pattern = sequence("a", "!b", "c")
    assert repr(pattern) == (
        f"Pattern(steps={pattern.steps!r}, strategy={pattern.strategy!r}, "
        f"after_match={pattern.after_match!r}, consumes=False)"
    )
    one = one_run("a", "!b", "c")
    assert repr(one) == f"OneRun(steps={one.steps!r}, strategy={one.strategy!r})"
