"""Tables whose columns their makers name: the runs of an experiment, the outcomes of a sweep.

Rule of this file: nothing but the type of a row.  A value whose fields are known is a dataclass.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Row: TypeAlias = Mapping[str, Any]
"""A row of a table, by column: numbers, texts, truth values, None, and lists of these."""
