"""Conditions on events as users write them: `value > 5 and key != 3`.

Rule of this file: a text becomes a predicate of model.predicates; no event is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from model.errors import Invalid
from model.predicates import COMPARISONS, Either, Every, Not, Predicate, Type, Where
from sim.toml_values import parse

_SIGNS = "|".join(sorted(COMPARISONS, key=len, reverse=True))
_COMPARISON = re.compile(rf"([\w-]+)\s*({_SIGNS})\s*(\S.*)")
_EXAMPLE = "give ATTRIBUTE COMPARISON VALUE, such as value > 5, joined by and, or"


def condition(text: str) -> Predicate:
    """The condition: comparisons joined by `and`, which binds more tightly, and `or`.

    A value is a number, true or false, or a text in quotes.  `type == 'a'` is about the type of the
    event.  Raises Invalid.
    """
    choices = tuple(
        _one_or(Every, tuple(map(_comparison, part.split(" and ")))) for part in text.split(" or ")
    )
    return _one_or(Either, choices)


def comparisons(predicate: Predicate) -> Iterator[Where]:
    """The comparisons of attributes in a condition."""
    if isinstance(predicate, Where):
        yield predicate
    elif isinstance(predicate, Every | Either):
        for part in predicate.parts:
            yield from comparisons(part)


def check_attributes(predicate: Predicate, attributes: Mapping[str, bool]) -> None:
    """Raise Invalid for a comparison that the events cannot have.

    attributes: of the events; is every value a number?
    """
    for one in comparisons(predicate):
        if one.attribute not in attributes:
            known = ", ".join(sorted(attributes)) or "none"
            raise Invalid(f"no event has the attribute {one.attribute!r}; there are {known}")
        number = isinstance(one.value, int | float)
        if one.comparison not in ("==", "!=") and number != attributes[one.attribute]:
            kind = "a number" if number else "a text"
            raise Invalid(f"{one}: {one.attribute!r} is not {kind} in every event; use == or !=")


def _one_or(kind: type[Every | Either], parts: tuple[Predicate, ...]) -> Predicate:
    return parts[0] if len(parts) == 1 else kind(parts)


def _comparison(text: str) -> Predicate:
    found = _COMPARISON.fullmatch(text.strip())
    if found is None:
        raise Invalid(f"condition {text.strip()!r}: {_EXAMPLE}")
    name, sign, written = found.groups()
    try:
        value = parse(f"value = {written}")["value"]
    except Invalid:
        raise Invalid(
            f"condition {text.strip()!r}: {written} is no value; give a number, true, false, or a "
            "text in quotes"
        ) from None
    if not isinstance(value, int | float | str):
        raise Invalid(f"condition {text.strip()!r}: {written} is no number and no text; {_EXAMPLE}")
    if name != "type":
        return Where(name, sign, value)
    if sign not in ("==", "!=") or not isinstance(value, str):
        raise Invalid(f"condition {text.strip()!r}: compare the type by == or != with a text")
    return Type(value) if sign == "==" else Not(Type(value))
