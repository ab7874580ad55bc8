"""Who holds whose savepoints, and what may be trimmed (II-B and II-C)."""

READING_ORDER = ("replicas", "counterexamples")
