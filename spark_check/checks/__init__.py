"""A check a file."""
