"""`python -m benchmarks.mutation [GROUP|MODULE ...]`: the mutation score of groups of modules.

Rule of this file: only the start; the work is in benchmarks.mutation.score.
"""

from __future__ import annotations

import sys

from benchmarks.mutation.score import main

if __name__ == "__main__":
    sys.exit(main(*filter(None, [sys.argv[1:]])))
