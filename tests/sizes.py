"""How much a run of the tests draws.

Rule of this file: Hypothesis has its own profiles (tests/conftest.py); this is for all other sizes.
"""

from __future__ import annotations

import os

FULL = os.environ.get("HYPOTHESIS_PROFILE") == "full"
"""Is it `make test-all`?"""
