"""The one error for input that cannot be right: what is wrong, where, and what would be right."""

from __future__ import annotations


class Invalid(ValueError):
    """Bad input from the user; the command line prints it as one line and exits with code 2."""
