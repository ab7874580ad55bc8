"""The compiled search is compiled once an installation, before anybody waits for it.

Rule of this file: `make setup` runs it, and nothing depends on that but time.  A process that finds
the search not compiled, as after `make clean`, compiles it for itself, for half a minute.
"""

from __future__ import annotations

from importlib.util import find_spec

from model.registry import modules
from proofs.explore.explorer import explore

WORLDS = 40_000
"""The worlds after which an exploration ends: enough for all loops."""


def rehearse() -> None:
    """Explore a small scope of each family by the compiled search.

    Together they use all loops that take long to compile.  Without numba nothing is compiled.
    """
    if find_spec("numba") is None:
        return
    from proofs.explore.search import compiled  # noqa: F401  # explorations begin with it now

    for protocol in modules().values():
        scopes = sorted(protocol.evidence.scopes, key=lambda one: one.worlds or WORLDS)
        crashing = next((one for one in scopes if one.scope.crashes), scopes[0])
        explore(protocol, crashing.scope, limit=WORLDS)


if __name__ == "__main__":
    rehearse()
