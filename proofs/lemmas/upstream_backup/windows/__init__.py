"""The windows of an operator: kept, trimmed, and split again in a replay."""

READING_ORDER = ("first_window", "layouts", "counterexamples")
