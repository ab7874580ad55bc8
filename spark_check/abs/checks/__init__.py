"""Checks of a family on a real engine; a module here has one as CHECK, and its name is in NAMES."""

NAMES = ("abs",)
