"""Continuous eventual checkpointing (Sebepou and Magoutis): a file for each piece of a restart."""

READING_ORDER = ("scan", "prefix", "replay")
"""The order of the files: so the lemmas of one section of the paper are listed."""
