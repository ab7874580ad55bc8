"""What tests look at: in the quick profile (the default, and CI's) less than in the full one."""

from __future__ import annotations

import os

NAME = os.environ.get("HYPOTHESIS_PROFILE", "quick")
FULL = NAME == "full"
