"""What the simulator can be asked to predict about a run elsewhere, by name.

Rule of this file: whoever runs the protocols on another engine is handed these functions, since
engines and the simulator do not know each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

PREDICTIONS: Mapping[str, Callable[..., Any]] = {}
