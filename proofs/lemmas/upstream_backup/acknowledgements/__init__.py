"""The holders of savepoints, and the events that may be trimmed (II-B and II-C)."""

READING_ORDER = ("replicas", "counterexamples")
