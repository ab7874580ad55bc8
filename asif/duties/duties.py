"""The duties of a protocol, in one table.

Rule of this file: no check; the table alone says which duties there are.
"""

from __future__ import annotations

from asif.duties.runs import IN_RUNS
from asif.duties.words import IN_WORDS
from asif.duties.worlds import IN_WORLDS

DUTIES = (*IN_WORDS, *IN_WORLDS, *IN_RUNS)
