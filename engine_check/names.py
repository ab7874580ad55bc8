"""The names of the checks of an engine, for those who only list them.

Rule of this file: no check is imported; each package of checks names its own as NAMES, and a test
compares them with the checks.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules


def check_names(package: str) -> tuple[str, ...]:
    """The names of all checks in a package of families, sorted."""
    homes = (
        f"{package}.{one.name}.checks" for one in iter_modules(import_module(package).__path__)
    )
    found = (import_module(home).NAMES for home in homes if _is_there(home))
    return tuple(sorted(name for names in found for name in names))


def _is_there(home: str) -> bool:
    family = home.rpartition(".")[0]
    spec = find_spec(family)
    return spec is not None and bool(spec.submodule_search_locations) and bool(find_spec(home))
