"""How much a run of the tests draws.

Rule of this file: Hypothesis has its own profiles (tests/conftest.py); this is for all other sizes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from model.evidence import PinnedScope

FULL = os.environ.get("HYPOTHESIS_PROFILE") == "full"
"""Is it `make test-all`?"""


def smallest(
    scopes: Iterable[tuple[str, PinnedScope]],
) -> dict[str, tuple[str, PinnedScope]]:
    """The scope with the fewest worlds of each family; of equal ones, the first.

    scopes: (protocol, scope), with a pinned number of worlds.
    """
    found: dict[str, tuple[str, PinnedScope]] = {}
    for name, pinned in scopes:
        family = name.partition(":")[0]
        if family not in found or pinned.worlds < found[family][1].worlds:
            found[family] = name, pinned
    return found
