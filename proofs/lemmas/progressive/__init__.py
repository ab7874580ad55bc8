"""Progressive recovery (Su and Zhou): numbers, buffers and cuts, in graphs of any size."""

READING_ORDER = ("numbers", "buffers", "cut")
