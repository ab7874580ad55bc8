"""One edge: every event has its effect once (III-B2)."""

READING_ORDER = ("edge", "counterexamples")
