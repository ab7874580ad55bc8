"""Upstream backup (Hwang et al.): indicators, what upstream keeps, and duplicates."""

READING_ORDER = ("indicators", "next_failure", "duplicates")
