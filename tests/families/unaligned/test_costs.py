"""The price of unaligned checkpoints under back pressure, beside aligned ones."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

