"""Values that give any answer: a property that asks them something may be broken by them.

Rule of this file: the answers depend on the seed and on the order of the questions alone.  No
corruption reaches each bound and each combination of values; a property that holds whatever its
values answer depends on none of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from itertools import count
from random import Random
from typing import Any

from model.core import Observation
from model.world import replace_item
from proofs.explore.corruption import record_of, with_value

SEEDS = range(60)
"""The seeds for an observation: each one gives other answers."""
QUESTIONS = 10_000
"""The questions that a property may ask before it is called one that looks."""
MANY = 1_000
"""The least length of a long container."""
MOST_NAMED = 1_000_000
"""The largest bound that a long container exceeds by one."""
HASHES = 1_700_000_000_000_000_000
"""The hash of the first value: in a cache of a property no other key is likely to have it."""


class Endless(Exception):
    """A property asks on and on."""


class AnyAnswers:
    """The answers to the questions that a property asks.  kinds: types that a value may have.
    bounds: numbers that a long container exceeds."""

    def __init__(self, seed: int, kinds: Sequence[type], bounds: Sequence[int]) -> None:
        self.random, self.kinds = Random(seed), kinds
        self.sizes = (0, 1, 2, 1 + max((MANY, *(n for n in bounds if n <= MOST_NAMED))))
        self.chances: dict[str, float] = {}
        self.serial = count()

    def ask(self, question: str) -> bool:
        """An answer; some questions always get the same one."""
        if next(self.serial) > QUESTIONS:
            raise Endless
        if question not in self.chances:
            self.chances[question] = self.random.choice((0, 0, 0.5, 1, 1))
        return self.random.random() < self.chances[question]

    def size(self) -> int:
        self.ask("size")
        return self.random.choice(self.sizes)

    def value(self) -> AnyAnswer:
        self.ask("value")
        return AnyAnswer(self)


class AnyAnswer:
    """A value of any type, length, order and content, equal to any other one or not."""

    def __init__(self, answers: AnyAnswers) -> None:
        self._answers = answers
        self._serial = next(answers.serial)
        self._kind = answers.random.choice((AnyAnswer, *answers.kinds))

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return self._kind

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._answers.value()

    def __hash__(self) -> int:
        return HASHES + self._serial

    def __bool__(self) -> bool:
        return self._answers.ask("bool")

    def __len__(self) -> int:
        return self._answers.size()

    def __index__(self) -> int:
        return self._answers.size()

    __int__ = __index__

    def __float__(self) -> float:
        return float(self._answers.size())

    def __iter__(self) -> Iterator[Any]:
        return (self._answers.value() for _ in range(self._answers.size()))

    __reversed__ = __iter__

    def __repr__(self) -> str:
        return f"any answer {self._serial}"


def _asked(name: str) -> Any:
    return lambda self, _: self._answers.ask(name)


def _valued() -> Any:
    return lambda self, *_: self._answers.value()


for _name in ("eq", "ne", "lt", "le", "gt", "ge", "contains"):
    setattr(AnyAnswer, f"__{_name}__", _asked(_name))
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"):
    setattr(AnyAnswer, f"__{_name}__", _valued())
    setattr(AnyAnswer, f"__r{_name}__", _valued())
for _name in ("getitem", "call", "neg", "pos", "invert"):
    setattr(AnyAnswer, f"__{_name}__", _valued())


def with_any_answer(seen: Observation, named: Sequence[Any]) -> Iterator[Observation]:
    """The observation with such values everywhere, and in one place.  named: values that the
    property names."""
    kinds = [*dict.fromkeys(one if isinstance(one, type) else type(one) for one in named)]
    bounds = [one for one in named if isinstance(one, int)]
    for seed in SEEDS:
        yield _everywhere(seen, AnyAnswers(seed, kinds, bounds), whole=seed % 2 == 0)
    for seed in SEEDS:
        yield from with_value(seen, AnyAnswers(seed, kinds, bounds).value())
        for at, _ in enumerate(seen.outputs):
            put: Any = AnyAnswers(seed, kinds, bounds).value()
            yield seen._replace(outputs=replace_item(seen.outputs, at, put))


def _everywhere(seen: Observation, answers: AnyAnswers, whole: bool) -> Observation:
    """whole: instead of a record, not in each field of it."""

    def pairs(items: Any) -> Any:
        return tuple((name, _filled(one, answers, whole)) for name, one in items)

    outputs: Any = tuple(answers.value() for _ in seen.outputs)
    return seen._replace(
        outputs=outputs,
        states=pairs(seen.states),
        durable=pairs(seen.durable),
        messages=pairs(seen.messages),
    )


def _filled(before: Any, answers: AnyAnswers, whole: bool) -> Any:
    if not whole and isinstance(before, tuple) and hasattr(before, "_fields"):
        record: Any = before
        return record._replace(**{name: answers.value() for name in record._fields})
    if not whole and is_dataclass(before) and not isinstance(before, type):
        changes = {one.name: answers.value() for one in fields(before) if one.init}
        return next(record_of(before, **changes), answers.value())
    return answers.value()
