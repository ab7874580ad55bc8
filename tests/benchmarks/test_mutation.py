"""The hunt of one-line faults: which faults there are, and that the tests find what they must."""

from __future__ import annotations

import ast

import pytest

from benchmarks.mutation.faults import Fault, find_faults
from benchmarks.mutation.hunt import Suspect, hunt
from benchmarks.mutation.score import (
    MODULES,
    Judged,
    complaints,
    equivalents,
    files_of,
    score,
    source_of,
)

SAMPLE = '''
LIMIT: int = 3

def shorten(items: list[int], last: bool = False) -> list[int]:
    """Docstring with 1 number."""
    if len(items) <= LIMIT and not last:
        return items
    last = True
    return [*items[1:], 7]
'''


def test_the_faults_of_a_sample() -> None:
    assert [(fault.line, fault.where, fault.new) for fault in find_faults(SAMPLE)] == [
        (2, "", "LIMIT: int = 2"),
        (2, "", "LIMIT: int = 4"),
        (4, "shorten", "def shorten(items: list[int], last: bool = True) -> list[int]:"),
        (6, "shorten", "if ((len(items) <= LIMIT) or (not last)):"),
        (6, "shorten", "if ((len(items) <= LIMIT)):"),
        (6, "shorten", "if ((not last)):"),
        (6, "shorten", "if (len(items) < LIMIT) and not last:"),
        (6, "shorten", "if (len(items) > LIMIT) and not last:"),
        (6, "shorten", "if False:"),
        (6, "shorten", "if True:"),
        (6, "shorten", "if len(items) <= LIMIT and bool(last):"),
        (7, "shorten", "return None"),
        (8, "shorten", "last = False"),
        (8, "shorten", "pass"),
        (9, "shorten", "return None"),
        (9, "shorten", "return [*items[0:], 7]"),
        (9, "shorten", "return [*items[1:], 6]"),
        (9, "shorten", "return [*items[1:], 8]"),
        (9, "shorten", "return [*items[1:], ]"),
        (9, "shorten", "return [*items[2:], 7]"),
        (9, "shorten", "return [7, *items[1:], ]"),
        (9, "shorten", "return [7, ]"),
    ]


@pytest.mark.parametrize("module", MODULES)
def test_a_fault_is_another_program_of_as_many_lines(module: str) -> None:
    source = source_of(module)
    faults = find_faults(source)
    assert len({fault.source for fault in faults}) == len(faults) > 5
    for fault in faults:
        ast.parse(fault.source)
        assert fault.source != source


def test_a_listed_fault_exists_once_and_has_a_reason() -> None:
    faults = [(m, *fault.key) for m in MODULES for fault in find_faults(source_of(m))]
    for key, reason in equivalents().items():
        assert faults.count(key) == 1, key
        assert len(reason) > 20


def test_score_and_complaints() -> None:
    fault = Fault("f", 1, "a", "b", "")
    found, missed = Judged("m", fault, True, False), Judged("m", fault, False, False)
    listed, wrong = Judged("m", fault, False, True), Judged("m", fault, True, True)
    assert score([found, found, missed, listed]) == 2 / 3
    assert score([listed]) == 1
    assert complaints([found, missed, listed]) == []
    assert complaints([wrong]) == ["listed as equivalent, but found: m.py:1 f: a  ->  b"]
    (key, *_) = equivalents()
    assert complaints([Judged(key[0], fault, True, False)])[0].startswith("listed, but no such")


GUARANTEES = ("tests/model/test_guarantee_words.py",)
PROPERTIES = "model.properties"


@pytest.mark.slow
def test_a_fault_is_found_and_a_sound_module_is_not() -> None:
    source = source_of(PROPERTIES)
    wrong = source.replace("(bodies(want)) == one.content", "(bodies(want)) != one.content")
    missing = source.replace("import lru_cache", "import no_cache")
    sources = (source, wrong, missing, source)
    assert len({*sources}) == 3
    ended: list[None] = []
    suspects = [Suspect(PROPERTIES, text, GUARANTEES, 60) for text in sources]
    assert [*hunt(suspects, 2, lambda: ended.append(None))] == [False, True, True, False]
    assert len(ended) == len(sources)


def test_a_run_without_tests_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="pytest ended with 4"):
        list(hunt([Suspect(PROPERTIES, source_of(PROPERTIES), ("tests/no_such_file.py",), 60)], 1))


NAMED = {
    "a window on a grid that opens late": (
        "model.cep.windows",
        "start >= newest.start + self.slide",
        "start > newest.start + self.slide",
    ),
    "an opener that may not close its own window": (
        "model.cep.windows",
        "self.closes_on.holds(event)",
        "self.closes_on.holds(event) and window.events > 1",
    ),
    "a pattern window that forgets to count": (
        "model.cep.windows",
        "return self.size is not None\n",
        "return False\n",
    ),
    "a pattern window that never fills": (
        "model.cep.windows",
        "self.size is not None and window.events >= self.size",
        "self.size is not None and window.events > self.size",
    ),
    "a waiting match that is killed": (
        "model.cep.patterns",
        "if run.done < len(self.positive):",
        "if run.done:",
    ),
    "a waiting run that is killed": ("model.cep.one_run", " and run.done < whole", ""),
    "a run that blocks the others": (
        "model.cep.patterns",
        "for run in (*state, FRESH):",
        "for run in state or (FRESH,):",
    ),
    "a plus that goes on behind a gap": (
        "model.cep.patterns",
        "return (run._replace(over=self.positive[-1].plus),), ()",
        "return (run,), ()",
    ),
    "a skip that keeps the runs": (
        "model.cep.patterns",
        "return [], complete[:1]",
        "return runs, complete[:1]",
    ),
    "an event that is consumed twice": (
        "model.cep.patterns",
        "runs = [run for run in runs if set(taken).isdisjoint(run.places)]",
        "runs = list(runs)",
    ),
    "a plus in the wrong step": (
        "model.cep.patterns",
        "positive[done - 1].plus and",
        "positive[min(done, len(positive) - 1)].plus and",
    ),
    "a negation that looks one step too late": (
        "model.cep.patterns",
        "guards[-1] = step.predicate",
        "guards[-2] = step.predicate",
    ),
}
"""Faults that no run of a protocol can show: oracle and operator share them."""


SOON = "an opener that may not close its own window"
"""A fault that few tests find, and soon: `.ci/run` looks for this one."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=() if one == SOON else pytest.mark.exhaustive) for one in NAMED],
)
def test_faults_that_no_run_can_show_are_found(name: str) -> None:
    module, old, new = NAMED[name]
    source = source_of(module)
    assert source.count(old) == 1
    wrong = Suspect(module, source.replace(old, new), files_of(module)[:1], 120)
    assert [*hunt([wrong], 1)] == [True]
