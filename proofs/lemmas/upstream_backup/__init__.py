"""Upstream backup with savepoints (Lima et al.): a folder for each piece of the protocol."""

READING_ORDER = (
    "acknowledgements",
    "duplicates",
    "skip_ranges",
    "windows",
    "numbering",
    "replay",
)
"""The order of the folders: so the lemmas of one section of the paper are listed."""
