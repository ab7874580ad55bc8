"""Sequence numbers as published, on the smallest streams (III-B3 and III-B4)."""

READING_ORDER = ("streams", "schemes", "replays", "overtaking")
