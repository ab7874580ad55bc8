"""TOML that a user writes, as a table: a file, or the value of an option.

Rule of this file: no meaning of a key.  Values that TOML allows and no later part can show, pickle
or count with are refused here: numbers beyond 64 bits, and tables without a bottom.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any, TypeAlias

from model.errors import Invalid

TomlTable: TypeAlias = Mapping[str, Any]
"""A table as tomllib reads it, before pydantic checks it."""
DEEPEST = 32
"""The most tables and lists within each other."""
LARGEST = 2**63


def parse(text: str) -> TomlTable:
    """The table of a TOML text.  Raises Invalid with the reason."""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Invalid(f"not TOML: {error}") from None
    except RecursionError:
        raise Invalid(_TOO_DEEP) from None
    except ValueError:  # of int(), for thousands of digits
        raise Invalid(_TOO_LARGE) from None
    _check(found)
    return found


def _check(found: TomlTable) -> None:
    """Raise Invalid for a value that is too deep or too large; without recursion."""
    level: list[Any] = [found]
    depth = 0
    while level:
        if depth > DEEPEST:
            raise Invalid(_TOO_DEEP)
        below: list[Any] = []
        for one in level:
            below += one.values() if isinstance(one, Mapping) else one
        if any(isinstance(one, int) and not -LARGEST <= one < LARGEST for one in below):
            raise Invalid(_TOO_LARGE)
        level = [one for one in below if isinstance(one, Mapping | list)]
        depth += 1


_TOO_DEEP = f"not TOML that can be read: more than {DEEPEST} tables or lists within each other"
_TOO_LARGE = "not TOML that can be read: a whole number has more than 64 bits"
