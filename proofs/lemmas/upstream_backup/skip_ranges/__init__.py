"""Skip ranges and SN_trim of several input edges (III-A)."""

READING_ORDER = ("ranges", "counterexamples")
