"""One operator twice: the original run and a replay (III-A and III-B4)."""

READING_ORDER = ("skipping", "counterexamples")
